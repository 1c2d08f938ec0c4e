// What `dapple trace` and `dapple replay` say about the recordings of one adapter, held against the files themselves.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { equal, match, ok } from 'node:assert/strict';
import { until } from './until.mjs';

/** The flaws that flawed.mjs has: the rules that these break, and what `dapple trace` says of them. */
const FLAWS = [
    ['response-to-nothing', /! response-to-nothing: /],
    ['shape', /! shape: .*variablesReference/],
];

/** The messages of a recording. */
export function messages(file) {
    return readFileSync(file, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line).message);
}

/**
 * The checks: `[name, what is done and resolves to what was seen]`.
 *
 * @param dapple the binary
 * @param command the adapter's command
 * @param flawed the command of the flawed adapter that is made of it
 * @param file the path of a file of this adapter, by its name
 * @param page where pages are shown
 */
export function recorded({ dapple, command, flawed, file, page }) {
    const run = (...args) => {
        const done = spawnSync(dapple, args, { encoding: 'utf8', maxBuffer: 1 << 28 });
        return { ...done, said: `dapple ${args.join(' ')}: ${done.status}\n${done.stdout}${done.stderr}` };
    };
    const first = file('first.ndjson');
    const shown = (path, ...options) => run('trace', path, ...options).stdout.split('\n').filter((line) => /^ *\d+\.\d{3} [→←]/.test(line));

    const minimized = (rule, says, ...adapter) => async () => {
        const short = file(`${adapter.length === 0 ? '' : 'live-'}${rule}.ndjson`);
        const cut = run('replay', '--minimize', '--violation', rule, '--timeout', '2', '-o', short, file('flawed.ndjson'), ...adapter);
        equal(cut.status, 0, cut.said);
        match(run('trace', short).stdout, says, cut.said);
        const [left, all] = [short, file('flawed.ndjson')].map((path) => messages(path).length);
        ok(left * 4 < all, cut.said);
        // Played to its own client, the recording shows the same.
        const played = file('played.ndjson');
        const replayed = run('replay', '--as', 'client', '--timeout', '2', '-o', played, short, '--', dapple, 'replay', short);
        match(run('trace', played).stdout, says, replayed.said);
        return `${cut.stderr.trim().split('\n').at(-1)}: ${messages(short).map(({ command, event, type }) => `${type[0]}:${command ?? event}`).join(' ')}`;
    };

    return [
        ['the recording as lines', async () => {
            const counts = {};
            for (const type of ['request', 'response', 'event']) {
                counts[type] = messages(first).filter((message) => message.type === type).length;
                equal(shown(first, '--only', `${type}s`).length, counts[type]);
            }
            equal(shown(first).length, messages(first).length);
            // After `disconnect`, VS Code may still ask, and nobody answers.
            const said = messages(first);
            const end = said.findIndex(({ type, command }) => type === 'response' && command === 'disconnect') + 1;
            const of = (kind) => said.slice(0, end).filter(({ type }) => type === kind).length;
            equal(of('request'), of('response'));
            ok(!/! unanswered/.test(run('trace', first).stdout));
            return counts;
        }],
        ['the recording as a page', async () => {
            const html = file('first.html');
            const wrote = run('trace', '--html', '-o', html, first);
            equal(wrote.status, 0, wrote.said);
            await page.goto(pathToFileURL(html).href);
            const read = () => page.locator('output').innerText();
            return until('the number of messages', read, (said) => said === `${messages(first).length} messages`);
        }],
        ['two sessions compared', async () => {
            const compared = run('trace', '--diff', first, file('again.ndjson'));
            equal(compared.status, 0, compared.said);
            const flaws = run('trace', '--diff', first, file('flawed.ndjson'));
            equal(flaws.status, 1, flaws.said);
            match(flaws.stdout, /^\+ +\d+  ← scopes ok/m, flaws.said);
            match(flaws.stdout, /`variablesReference` is 0 in A and absent in B/, flaws.said);
            return `${compared.stdout.trim()}; with flaws: ${flaws.stderr.trim().split('\n').at(-1)}`;
        }],
        ['the adapter driven by the recording', async () => {
            const driven = run('replay', '--as', 'client', first, '-o', file('driven.ndjson'), '--', ...command);
            equal(driven.status, 0, driven.said);
            match(driven.stdout, /^the adapter says the same/);
            return driven.stdout.trim();
        }],
        ...FLAWS.map(([rule, says]) => [`${rule} cut down`, minimized(rule, says)]),
        // By what the adapter says each time: some minutes.
        ['cut down with the adapter', minimized(...FLAWS[0], '--', ...flawed)],
    ];
}
