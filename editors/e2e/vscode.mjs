// Debugs a small Rust program in VS Code as a person would, with mouse and keyboard, and checks what the page shows.
//
//   node vscode.mjs FOLDER EXTENSION.vsix [WINDOW…]
//
// The windows' names are their folders'; without any, all are opened one after the other.
// What the run makes is kept in FOLDER: pictures of each step, the adapter's log, the server's.

import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { backwards } from './backwards.mjs';
import { bakery } from './bakery.mjs';
import { browser, settings, viewport } from './browser.mjs';
import { Checks } from './checks.mjs';
import { Debugging } from './debugging.mjs';
import { packed } from './packed.mjs';
import { Server } from './server.mjs';
import { on } from './on.mjs';
import { orders } from './orders.mjs';
import { others } from './others.mjs';
import { till } from './session.mjs';
import { Workbench } from './workbench.mjs';

const [folder, extension] = process.argv.slice(2, 4).map((path) => resolve(path));
const wanted = process.argv.slice(4);
if (extension === undefined) {
    console.error('usage: node vscode.mjs FOLDER EXTENSION.vsix [WINDOW…]');
    process.exit(2);
}

const pictures = join(folder, 'screenshots');
const log = join(folder, 'adapter.log');
for (const old of ['server', 'work', 'adapter.log']) rmSync(join(folder, old), { recursive: true, force: true });
mkdirSync(join(folder, 'work'), { recursive: true });

// VS Code has these commands neither on a key nor in the palette.
const keys = [
    { key: 'shift+f10', command: 'workbench.action.debug.stepBack', when: "debugState == 'stopped'" },
    { key: 'ctrl+shift+f10', command: 'workbench.action.debug.reverseContinue', when: "debugState == 'stopped'" },
];
const server = new Server(join(folder, 'server'), settings, { 'dapple.log': log }, keys);
const checks = new Checks(pictures);
let shown;
try {
    server.install(extension);
    server.install(await packed(fileURLToPath(new URL('hexview', import.meta.url)), join(folder, 'hexview.vsix')));
    const address = await server.start();
    shown = await browser();
    const context = await shown.newContext({ viewport });
    /** A window on a folder: what is done there, on a page of its own. */
    const window = async (path, make) => {
        const page = await context.newPage();
        const workbench = new Workbench(page);
        const debugging = new Debugging(workbench);
        const opened = async () => {
            await workbench.open(address, path, server.password);
            return path;
        };
        const steps = make({ page, workbench, debugging, server, path, picture: (name) => join(folder, name) });
        await checks.all(page, [['folder opened', opened], ...steps]);
        await page.close();
    };
    for (const { prepare, steps } of [till, bakery, orders, backwards, on, ...others]) {
        const path = prepare(join(folder, 'work'));
        if (wanted.length === 0 || wanted.includes(basename(path))) await window(path, steps);
    }
} finally {
    await shown?.close();
    const left = await server.stop();
    if (left.length > 0) console.log(`ended by force: ${JSON.stringify(left)}`);
}
if (!checks.finish()) {
    console.log(`the adapter's log: ${log}\n${lastLines(log)}`);
    process.exit(1);
}

function lastLines(path) {
    try {
        return readFileSync(path, 'utf8').trimEnd().split('\n').slice(-5).map((line) => line.slice(0, 400)).join('\n');
    } catch {
        return 'there is none';
    }
}
