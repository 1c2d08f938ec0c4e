// The server side of the protocol library, by way of its example adapter: each assertion that the test client has.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Session, tiny } from './session.mjs';

const timeout = 60_000;
const { program } = tiny;
const threadId = 1;

/** The line of the program with this text. */
function line(text) {
  const index = readFileSync(program, 'utf8').split('\n').indexOf(text);
  assert.ok(index >= 0, `${program} has a line '${text}'`);
  return index + 1;
}

/** Runs a test with a session, which ends by itself when told to. */
function session(name, run) {
  test(name, { timeout }, async () => {
    const client = new Session(tiny.adapter, '--stdio');
    await client.start();
    try {
      await run(client);
      await client.disconnectRequest();
      assert.equal(await client.gone(), 0, 'the adapter ends by itself');
    } finally {
      client.stopAdapter();
    }
  });
}

session('the configuration sequence lets a program run to its end', async (client) => {
  await Promise.all([
    client.configurationSequence(),
    client.launch({ program }),
    client.assertOutput('stdout', '9\n4\n1\n100\n'),
    client.waitForEvent('terminated'),
  ]);
  assert.deepEqual(client.seen, ['initialized', 'exited', 'terminated']);
});

session('a program stops on entry, and steps', async (client) => {
  await Promise.all([
    client.configurationSequence(),
    client.launch({ program, stopOnEntry: true }),
    client.assertStoppedLocation('entry', { path: program, line: line('let n = 3'), column: 1 }),
  ]);
  await client.until('step', { line: line('call report') }, client.nextRequest({ threadId }));
  const frames = await client.until('step', { line: line('let square = n * n') }, client.stepInRequest({ threadId }));
  assert.deepEqual(frames.map(({ name }) => name), ['report', 'main']);
  await client.until('step', { line: line('let n = n - 1') }, client.stepOutRequest({ threadId }));
});

session('a breakpoint is hit, moved to where it can be, and the values are there', async (client) => {
  const wanted = { path: program, line: line('report:') };
  const found = { path: program, line: line('let square = n * n') };
  await client.hitBreakpoint({ program }, wanted, found, { line: found.line });
  const [top] = (await client.stackTraceRequest({ threadId })).body.stackFrames;
  assert.equal((await client.locals(top)).n.value, '3');
  const sum = await client.evaluateRequest({ expression: 'n + 4', frameId: top.id, context: 'watch' });
  assert.equal(sum.body.result, '7');
  await client.until('breakpoint', found, client.continueRequest({ threadId }));
  await client.setVariableRequest({ variablesReference: 1, name: 'n', value: '1' });
  await client.setBreakpointsRequest({ source: { path: program }, breakpoints: [] });
  await Promise.all([client.waitForEvent('terminated'), client.continueRequest({ threadId })]);
  assert.equal(client.stdout, '9\n1\n100\n');
});

session('a breakpoint in another file is not verified', async (client) => {
  const initialized = client.waitForEvent('initialized');
  await client.launch({ program, stopOnEntry: true });
  await initialized;
  const answer = await client.setBreakpointsRequest({ source: { path: '/elsewhere' }, breakpoints: [{ line: 2 }] });
  assert.equal(answer.body.breakpoints[0].verified, false);
  await assert.rejects(client.launchRequest({ program: '/no/such/program' }), /\/no\/such\/program/);
});

session('a call without an end is cancelled', async (client) => {
  await Promise.all([
    client.configurationSequence(),
    client.launch({ program, stopOnEntry: true }),
    client.waitForEvent('stopped'),
  ]);
  // What the client sends next has the next number.
  const requestId = client.sequence;
  const endless = client.evaluateRequest({ expression: 'call forever', context: 'repl' });
  const cancelled = assert.rejects(endless, /cancelled/);
  await client.customRequest('cancel', { requestId });
  await cancelled;
});
