// A program with threads and a panic: what the views have for those, and the moves that a person makes with the editor's menu.

import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { until } from './until.mjs';

/** Makes the program's folder in `work`. */
function prepare(work) {
    const folder = join(work, 'bakery');
    cpSync(fileURLToPath(new URL('bakery', import.meta.url)), folder, { recursive: true });
    execFileSync('mkfifo', [join(folder, 'go')]);
    return folder;
}

function steps({ page, workbench, debugging, path }) {
    const source = readFileSync(join(path, 'src/main.rs'), 'utf8').split('\n');
    const line = (text) => {
        const number = source.findIndex((one) => one.includes(text)) + 1;
        ok(number > 0, `no line has ${text}`);
        return number;
    };
    const [bakes, one, ten, hundred, says] = ['let mut loaf', 'loaf += 1;', 'loaf += 10;', 'loaf += 100;', 'println!("a loaf'].map(line);

    return [
        ['progress of the build', async () => {
            await workbench.openFile('src/main.rs');
            await workbench.setBreakpoint(bakes);
            await debugging.press('F5');
            const said = await workbench.notified(/^cargo build .*: bakery\(build/);
            const buttons = await workbench.notificationButtons();
            match(buttons.join(), /Cancel/);
            // Until then, the build goes on.
            writeFileSync(join(path, 'go'), '');
            await workbench.stoppedAt(bakes);
            await workbench.notNotified(/^cargo build .*: bakery/);
            return `${said} [${buttons.join('] [')}]`;
        }],
        ['threads in the call stack', async () => {
            const threads = await until('all threads', () => debugging.threads(), ({ length }) => length === 3);
            deepEqual(threads.map(({ name }) => name), ['bakery', 'Sally', 'Bob']);
            match(threads[2].state, /breakpoint/);
            // VS Code does so by itself where its views were open before the first stop.
            await debugging.openThread('Bob');
            await until('the frames of the one that has stopped', () => debugging.stack(), ([frame]) => frame?.name === 'bakery::bake');
            return threads.map(({ name, state }) => `${name}: ${state}`).join('; ');
        }],
        ['frames of another thread', async () => {
            await debugging.openThread('Sally');
            const frames = await until('its frames', () => debugging.stack(), (frames) => frames.some(({ name }) => name === 'bakery::sell'));
            return frames.filter(({ name }) => name.startsWith('bakery::')).map(({ name, line }) => `${name} ${line}`);
        }],
        ['step into target', async () => {
            await workbench.menuAt(bakes, 'baked', 'Step Into Target');
            await workbench.stoppedAt(line('let lost'));
            const dough = await debugging.value('dough', (value) => value === '750');
            await debugging.press('Shift+F11');
            await workbench.stoppedAt(bakes);
            await debugging.press('F10');
            await workbench.stoppedAt(one);
            return `in baked, dough = ${dough}`;
        }],
        ['jump to cursor', async () => {
            await workbench.menuAt(ten, 'loaf', 'Jump to Cursor');
            await workbench.stoppedAt(ten);
            const loaf = await debugging.value('loaf', (value) => value === '675');
            return `line ${ten}, and loaf = ${loaf} without line ${one}`;
        }],
        ['run to cursor', async () => {
            await workbench.menuAt(says, 'loaf', 'Run to Cursor');
            await workbench.stoppedAt(says);
            const loaf = await debugging.value('loaf', (value) => value === '785');
            return `line ${says}, loaf = ${loaf}, without line ${one}`;
        }],
        ['memory of a variable', async () => {
            await debugging.openMemory('loaf');
            const said = await workbench.notified(/^vscode-debug-memory: 11 03 00 00$/);
            await workbench.closeTab();
            return said;
        }],
        ['exception breakpoints', async () => {
            const shown = await debugging.exceptionBreakpoints();
            equal(shown['Rust: panic'], true);
            equal(shown['Rust: uncaught panic'], false);
            return shown;
        }],
        ['panic', async () => {
            await workbench.focusEditor();
            await debugging.press('F5');
            const said = await debugging.exception();
            match(said, /not enough flour/);
            const marked = await workbench.stoppedAt(line('.expect('));
            await debugging.value('sold', (value) => value === '785');
            return `line ${marked}: ${said}`;
        }],
        ['the program ends by its panic', async () => {
            await workbench.focusEditor();
            await debugging.press('F5');
            await debugging.ended();
            await debugging.terminal();
            const lines = await debugging.inTerminal(/^not enough flour/);
            return lines.find((one) => /^not enough flour/.test(one));
        }],
    ];
}

export const bakery = { prepare, steps };
