// An adapter with two flaws, made of another one: it stands before COMMAND and passes on what that says, but
// answers the first `scopes` twice, and leaves `variablesReference` out of the first value of an evaluation.
//
//   node flawed.mjs COMMAND…

import { spawn } from 'node:child_process';

const [command, ...args] = process.argv.slice(2);
const adapter = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
process.stdin.pipe(adapter.stdin);
// Either side may be gone before the other one has said all.
for (const end of [adapter.stdin, process.stdout]) end.on('error', () => {});
adapter.on('exit', (code) => {
    process.exitCode = code ?? 1;
    process.stdin.destroy();
});

const flaws = {
    scopes: (message) => [message, message],
    evaluate: ({ body: { variablesReference: _, ...body }, ...message }) => [{ ...message, body }],
};

/** What goes to the client for a message. */
function flawed(text) {
    const message = JSON.parse(text);
    const flaw = message.type === 'response' && message.success ? flaws[message.command] : undefined;
    if (flaw === undefined) return [text];
    delete flaws[message.command];
    return flaw(message).map((one) => JSON.stringify(one));
}

let waiting = Buffer.alloc(0);
adapter.stdout.on('data', (bytes) => {
    waiting = Buffer.concat([waiting, bytes]);
    for (;;) {
        const end = waiting.indexOf('\r\n\r\n');
        if (end < 0) return;
        const start = end + 4;
        const length = Number(/Content-Length: *(\d+)/i.exec(waiting.toString('latin1', 0, end))[1]);
        if (waiting.length < start + length) return;
        for (const text of flawed(waiting.toString('utf8', start, start + length))) {
            process.stdout.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
        }
        waiting = waiting.subarray(start + length);
    }
});
