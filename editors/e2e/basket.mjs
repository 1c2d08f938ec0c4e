// A short session with the program of the folder basket: the same steps in C and in Python. What is seen in each is a text, to compare sessions by.

import { equal, match, ok } from 'node:assert/strict';
import { until } from './until.mjs';

/**
 * The steps: `[name, what is done and resolves to what was seen]`.
 *
 * @param file the source's name
 * @param source its text
 */
export function basket({ workbench, debugging }, file, source) {
    const line = (text) => {
        const number = source.split('\n').findIndex((one) => one.includes(text)) + 1;
        ok(number > 0, `no line has ${text}`);
        return number;
    };
    const [calls, adds, multiplies] = ['price = price_of(', 'total += price', 'price = item.count'].map(line);
    const is = (wanted) => (value) => value === wanted;
    const stack = async (...names) => {
        // While VS Code shows them anew, `__libc_start_call_main` may be where `main` will be.
        const isNamed = (frame, name) => new RegExp(`\\b${name}\\b`).test(frame?.name);
        const frames = await until('the frames', () => debugging.stack(), (frames) => names.every((name, at) => isNamed(frames[at], name)));
        return frames.slice(0, names.length).map(({ name, line }) => `${name} ${line}`).join(' < ');
    };
    const go = async (key, to) => {
        await workbench.focusEditor();
        await debugging.press(key);
        await workbench.stoppedAt(to);
    };

    return [
        ['breakpoint', async () => {
            await workbench.openFile(file);
            await workbench.setBreakpoint(calls);
            return `a dot in the margin of line ${calls}`;
        }],
        ['stop', async () => {
            await go('F5', calls);
            await debugging.fold('Breakpoints');
            return `line ${calls}: ${await stack('main')}; total = ${await debugging.value('total', is('0'))}`;
        }],
        ['variables opened', async () => {
            await debugging.expand('item');
            return `count = ${await debugging.value('count', is('2'))}, name = ${await debugging.value('name', (value) => /tea/.test(value))}`;
        }],
        ['watch', async () => {
            equal(await debugging.watch('total + 5'), '5');
            return 'total + 5 = 5';
        }],
        ['step over', async () => {
            await go('F10', adds);
            return `line ${adds}, price = ${await debugging.value('price', is('500'))}`;
        }],
        ['next stop', async () => {
            await go('F5', calls);
            const count = await debugging.value('count', is('1'));
            return `line ${calls}, count = ${count}, total + 5 = ${await debugging.value('total + 5', is('505'), 'debug-watch')}`;
        }],
        ['step in', async () => {
            await go('F11', multiplies);
            return `line ${multiplies}: ${await stack('price_of', 'main')}`;
        }],
        ['hover', async () => {
            const shown = await workbench.hover(multiplies, 'each');
            match(shown, /^320/);
            return `each = ${shown}`;
        }],
        ['end', async () => {
            await workbench.focusEditor();
            await debugging.press('F5');
            await debugging.ended();
            await debugging.console();
            const lines = await debugging.printed(/the basket costs 820/);
            return lines.filter((one) => /tea|scone|basket/.test(one)).join(' / ');
        }],
    ];
}
