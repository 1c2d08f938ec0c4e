// A program on tokio: its tasks among the threads, a step over an await that suspends, and the frames of libraries.

import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { equal, match, ok } from 'node:assert/strict';
import { until } from './until.mjs';

/** Makes the program's folder in `work`, with tokio compiled. */
function prepare(work) {
    const folder = join(work, 'orders');
    cpSync(fileURLToPath(new URL('orders', import.meta.url)), folder, { recursive: true });
    execFileSync('cargo', ['build', '--quiet'], { cwd: folder, stdio: 'inherit' });
    return folder;
}

function steps({ workbench, debugging, path }) {
    const source = readFileSync(join(path, 'src/main.rs'), 'utf8').split('\n');
    const line = (text) => {
        const number = source.findIndex((one) => one.includes(text)) + 1;
        ok(number > 0, `no line has ${text}`);
        return number;
    };
    const [awaits, behind, receives] = ['baked(wanted).await', 'let price', 'paid.recv().await'].map(line);
    const tasks = async () => (await debugging.threads()).filter(({ name }) => /^task \d/.test(name));
    const task = (part) => until(`a task of ${part}`, async () => (await tasks()).find(({ name }) => name.includes(part)));

    return [
        ['breakpoint in one of three tasks', async () => {
            await workbench.openFile('src/main.rs');
            await workbench.addBreakpoint(awaits, 'Add Conditional Breakpoint...', 'name == "Bo"');
            await debugging.press('F5');
            await workbench.stoppedAt(awaits);
            return debugging.value('name', (value) => /Bo/.test(value));
        }],
        ['tasks among the threads', async () => {
            const till = await task('till');
            match(till.name, /waiting for a message|main\.rs/);
            const all = await tasks();
            return all.map(({ name, state }) => `${name}: ${state}`).join('; ');
        }],
        ['frames of libraries are folded', async () => {
            const stopped = (await debugging.threads()).find(({ state }) => /breakpoint/.test(state));
            await debugging.openThread(stopped.name);
            const folded = await until('a row for them', () => debugging.folded(), ({ length }) => length > 0);
            ok(folded.some((text) => /Show 1\d More/.test(text)), folded.join());
            return folded.join('; ');
        }],
        ['frames of a suspended task', async () => {
            const { name } = await task('till');
            await debugging.openThread(name);
            const frames = await until('its frames', () => debugging.stack(), (frames) => frames.some((frame) => frame.name === 'orders::till (async)'));
            const till = frames.find((frame) => frame.name === 'orders::till (async)');
            equal(till.line.split(':')[0], String(receives));
            return frames.slice(0, 12).map(({ name, line }) => `${name} ${line}`);
        }],
        ['step over an await that suspends', async () => {
            await workbench.focusEditor();
            await debugging.press('F10');
            await workbench.stoppedAt(behind);
            const name = await debugging.value('name', (value) => /Bo/.test(value));
            return `line ${behind}, name = ${name}`;
        }],
        ['the next one', async () => {
            await debugging.press('F10');
            await workbench.stoppedAt(behind + 1);
            return debugging.value('price', (value) => value === '18');
        }],
        ['the program goes on to its end', async () => {
            await workbench.focusEditor();
            await debugging.press('F5');
            await debugging.ended();
            await debugging.terminal();
            const lines = await debugging.inTerminal(/in the till/);
            return lines.find((one) => /in the till/.test(one));
        }],
    ];
}

export const orders = { prepare, steps };
