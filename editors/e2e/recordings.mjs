// Records sessions of VS Code with three adapters by `dapple trace`, plays them to VS Code again, and checks what the recordings are good for.
//
//   node recordings.mjs FOLDER DAPPLE LLDB-DAP PYTHON [ADAPTER…]
//
// What the run makes is kept in FOLDER: the recordings, their pages, pictures of each step.

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deepEqual } from 'node:assert/strict';
import { basket } from './basket.mjs';
import { browser, settings, viewport } from './browser.mjs';
import { Checks } from './checks.mjs';
import { Debugging } from './debugging.mjs';
import { packed } from './packed.mjs';
import { messages, recorded } from './recorded.mjs';
import { Server } from './server.mjs';
import { until } from './until.mjs';
import { Workbench } from './workbench.mjs';

const [folder, dapple, lldbDap, python] = process.argv.slice(2, 6).map((path) => resolve(path));
const wanted = process.argv.slice(6);
if (python === undefined) {
    console.error('usage: node recordings.mjs FOLDER DAPPLE LLDB-DAP PYTHON [ADAPTER…]');
    process.exit(2);
}
const here = (name) => fileURLToPath(new URL(name, import.meta.url));

const adapters = [
    { name: 'dapple', command: [dapple, 'dap'], source: 'basket.c', program: 'basket' },
    { name: 'lldb-dap', command: [lldbDap], source: 'basket.c', program: 'basket' },
    { name: 'debugpy', command: [python, '-m', 'debugpy.adapter'], source: 'basket.py', program: 'basket.py', also: { console: 'internalConsole' } },
];

rmSync(folder, { recursive: true, force: true });
const server = new Server(join(folder, 'server'), settings, {}, []);
const checks = new Checks(join(folder, 'screenshots'));
let shown;
try {
    server.install(await packed(here('traced'), join(folder, 'traced.vsix')));
    const address = await server.start();
    shown = await browser();
    for (const adapter of adapters) {
        if (wanted.length === 0 || wanted.includes(adapter.name)) await all(address, adapter);
    }
} finally {
    await shown?.close();
    const left = await server.stop();
    if (left.length > 0) console.log(`ended by force: ${JSON.stringify(left)}`);
}
process.exit(checks.finish() ? 0 : 1);

/** Records, plays and checks the sessions of one adapter. */
async function all(address, { name, command, source, program, also }) {
    const [work, recordings] = ['work', 'recordings'].map((part) => join(folder, part, name));
    const file = (name) => join(recordings, name);
    mkdirSync(recordings, { recursive: true });
    mkdirSync(join(work, '.vscode'), { recursive: true });
    cpSync(here(`basket/${source}`), join(work, source));
    const launch = { type: `traced-${name}`, request: 'launch', name: 'basket', program: join(work, program), cwd: work, ...also };
    writeFileSync(join(work, '.vscode/launch.json'), JSON.stringify({ version: '0.2.0', configurations: [launch] }, null, 4));
    if (program !== source) execFileSync('cc', ['-g', '-O0', '-o', program, source], { cwd: work, stdio: 'inherit' });
    const flawed = [process.execPath, here('flawed.mjs'), ...command];

    /** A session in a window that knows of no other one. Resolves to what was seen in each step. */
    const session = async (title, adapter, between = []) => {
        writeFileSync(join(work, 'adapters.json'), JSON.stringify({ [`traced-${name}`]: adapter }));
        const context = await shown.newContext({ viewport });
        const page = await context.newPage();
        const workbench = new Workbench(page);
        const debugging = new Debugging(workbench);
        const opened = async () => {
            await workbench.open(address, work, server.password);
            return work;
        };
        const seen = [];
        const steps = basket({ workbench, debugging }, source, readFileSync(join(work, source), 'utf8')).map(([step, check]) => [
            step,
            async () => {
                seen.push(await check());
                return seen.at(-1);
            },
        ]);
        // The adapter behind `dapple trace`, if it is traced: both have it in their command lines.
        const own = adapter.slice(adapter.indexOf('--') + 1).join(' ');
        const ended = async () => {
            await until('the adapter to end', () => server.processes(), (all) => all.every(({ command }) => !command.includes(own)));
            return adapter.join(' ');
        };
        const named = [['folder opened', opened], ...steps.slice(0, 2), ...between, ...steps.slice(2), ['adapter ended', ended]];
        await checks.all(page, named.map(([step, check]) => [`${name}, ${title}: ${step}`, check]));
        await context.close();
        return seen;
    };
    const traced = (to, adapter) => [dapple, 'trace', '-q', '-o', file(to), '--', ...adapter];

    const seen = await session('recorded', traced('first.ndjson', command));
    await session('recorded again', traced('again.ndjson', command));
    await session('recorded with flaws', traced('flawed.ndjson', flawed));

    if (program !== source) rmSync(join(work, program));
    const alone = async () => {
        const others = server.processes().filter(({ command }) => [program, 'debugpy', 'lldb'].some((part) => command.split(' ')[0].includes(part)));
        deepEqual(others, []);
        return 'neither the program nor its adapter runs';
    };
    const again = await session('played', [dapple, 'replay', file('first.ndjson')], [['nothing else runs', alone]]);
    if (program !== source) execFileSync('cc', ['-g', '-O0', '-o', program, source], { cwd: work, stdio: 'inherit' });

    const page = await shown.newPage({ viewport });
    const same = async () => {
        deepEqual(again, seen);
        return `${messages(file('first.ndjson')).length} messages`;
    };
    const held = [['what is seen is what was seen then', same], ...recorded({ dapple, command, flawed, file, page })];
    // None of them begins where another one ends.
    for (const [step, check] of held) await checks.all(page, [[`${name}: ${step}`, check]]);
    await page.close();
}
