// One program from its first breakpoint to its end, in a folder that has a Cargo.toml and no launch.json.

import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { equal, match, ok } from 'node:assert/strict';
import { until } from './until.mjs';

/** Makes the program's folder in `work`. */
function prepare(work) {
    const folder = join(work, 'till');
    cpSync(fileURLToPath(new URL('project', import.meta.url)), folder, { recursive: true });
    return folder;
}

/** The checks, in their order: `[name, what is done and resolves to what was seen]`. */
function steps({ page, workbench, debugging, server, path, picture }) {
    const source = readFileSync(join(path, 'src/main.rs'), 'utf8').split('\n');
    const line = (text) => source.findIndex((one) => one.includes(text)) + 1;
    const at = {
        customer: line('let customer ='),
        price: line('let price ='),
        each: line('let each ='),
        add: line('total += price'),
        print: line('println!("{} {}: {price}"'),
    };
    for (const [name, number] of Object.entries(at)) ok(number > 0, `no line for ${name}`);

    /** Answers the program's question in its terminal. */
    const answer = async (name) => {
        await debugging.terminal();
        await until('the question', () => debugging.terminalLines(), (lines) => lines.at(-1) === 'Whose is it?');
        await debugging.typeInTerminal(name);
        await workbench.focusEditor();
    };
    const top = (name, number) => async () => {
        const [frame] = await debugging.stack();
        return frame.name === name && frame.line.startsWith(`${number}:`) ? frame : undefined;
    };

    return [
        ['breakpoint set with the mouse', async () => {
            await workbench.openFile('src/main.rs');
            await workbench.setBreakpoint(at.price);
            return `a dot in the margin of line ${at.price}`;
        }],
        ['F5 without a launch.json builds and starts', async () => {
            await debugging.press('F5');
            await debugging.running();
            const wanted = await until("the program's question", () => debugging.terminalLines(), (lines) => lines.includes('Whose is it?'));
            await debugging.console();
            const lines = await debugging.printed(/Compiling till/);
            return `${lines.find((one) => /Compiling till/.test(one))}; in front is the terminal: ${wanted.at(-1)}`;
        }],
        ['input typed in the terminal', async () => {
            await answer('Ada');
            await workbench.stoppedAt(at.price);
            const lines = await debugging.terminalLines();
            match(lines[0], / sh \/\S+\/till$/);
            return lines.join(' / ');
        }],
        ['line marked', async () => {
            equal(await workbench.markedLine(), at.price);
            match(await workbench.glyphs(at.price), /debug-breakpoint.*stackframe|stackframe/);
            return `line ${at.price}, ${await debugging.reason()}`;
        }],
        ['call stack', async () => {
            const frame = await until('the innermost frame', top('till::main', at.price));
            await debugging.fold('Breakpoints');
            return frame;
        }],
        ['variable: HashMap', async () => {
            const value = await debugging.value('prices');
            match(value, /^len = 3 \{("(tea|scone|jam)": \d+(, )?){3}\}$/);
            await debugging.expand('prices');
            equal(await debugging.value('["scone"]'), '320');
            return value;
        }],
        ['variable: String', async () => {
            await debugging.expand('prices', 'debug-variables', false);
            equal(await debugging.value('customer'), '"Ada"');
            return `customer = ${await debugging.value('customer')}`;
        }],
        ['inline values', async () =>
            until('the value of customer', () => workbench.shownLine(at.customer), (shown) => /; ?customer = "Ada", line = "Ada\\n"$/.test(shown)).then((shown) => shown.trim())],
        ['hover', async () => {
            const shown = await workbench.hover(at.customer, 'customer');
            match(shown, /^"Ada"/);
            return shown.split('\n')[0];
        }],
        ['watch', async () => {
            equal(await debugging.watch('total + 5'), '5');
            return 'total + 5 = 5';
        }],
        ['step in', async () => {
            await workbench.focusEditor();
            await debugging.press('F11');
            await workbench.stoppedAt(at.each);
            const stack = await until('both frames', () => debugging.stack(), (frames) => frames[0]?.name === 'till::price_of' && frames[1]?.name === 'till::main');
            await debugging.inScope('item', 'Locals');
            return stack.slice(0, 2).map(({ name, line }) => `${name} ${line}`).join(' < ');
        }],
        ['step out', async () => {
            await debugging.press('Shift+F11');
            await workbench.stoppedAt(at.price);
            await until('main', top('till::main', at.price));
            return `price_of() = ${await debugging.value('returned by till::price_of()', (value) => value === '500')}`;
        }],
        ['step over', async () => {
            await debugging.press('F10');
            await workbench.stoppedAt(at.add);
            return `line ${at.add}, price = ${await debugging.value('price', (value) => value === '500')}`;
        }],
        ['set value', async () => {
            await debugging.setValue('total', '1000');
            await debugging.value('total', (value) => value === '1000');
            const watched = await debugging.value('total + 5', (value) => value === '1005', 'debug-watch');
            return `total = 1000, and the watch says total + 5 = ${watched}`;
        }],
        ['console evaluation', async () => {
            const lines = await debugging.evaluate('total + price', /^1500$/);
            return lines.slice(-2).join(' = ');
        }],
        ['picture for the README', async () => {
            await debugging.expand('prices');
            await debugging.evaluate('prices["scone"] * 2', /^640$/);
            await page.setViewportSize({ width: 1280, height: 800 });
            await workbench.goToLine(at.add);
            await workbench.stoppedAt(at.add);
            await page.mouse.move(900, 440);
            await page.screenshot({ path: picture('readme.png') });
            await page.setViewportSize({ width: 1440, height: 1100 });
            await debugging.expand('prices', 'debug-variables', false);
            return picture('readme.png');
        }],
        ['conditional breakpoint', async () => {
            await workbench.removeBreakpoint(at.price);
            await workbench.addBreakpoint(at.add, 'Add Conditional Breakpoint...', 'item.count == 3');
            await debugging.press('F5');
            const price = await debugging.value('price', (value) => value === '240');
            await workbench.stoppedAt(at.add);
            return `line ${at.add}, price = ${price}, item = ${await debugging.value('item')}`;
        }],
        ['log point', async () => {
            await workbench.removeBreakpoint(at.add);
            await workbench.addBreakpoint(at.print, 'Add Logpoint...', '{item.name} costs {price}');
            return `a diamond at line ${at.print}`;
        }],
        ['data breakpoint', async () => {
            await debugging.contextMenu('total', 'Break on Value Change');
            await workbench.focusEditor();
            await debugging.press('F5');
            const reason = await until('the reason', () => debugging.reason(), (said) => /changed/.test(said));
            match(reason, /total.* changed from 1820 to 2060/);
            equal(await debugging.value('total', (value) => value === '2060'), '2060');
            return `${reason}, line ${await workbench.markedLine()}`;
        }],
        ['disassembly view', async () => {
            await debugging.openDisassembly();
            return until('the next instruction', () => debugging.instruction());
        }],
        ['instruction stepped', async () => {
            const before = await debugging.instruction();
            await debugging.press('F10');
            const after = await until('another instruction', () => debugging.instruction(), (shown) => shown !== before);
            const address = (shown) => Number.parseInt(/0x[0-9a-f]+/.exec(shown)[0], 16);
            const length = address(after) - address(before);
            ok(length > 0 && length < 16, `from ${before} to ${after}`);
            await debugging.closeDisassembly();
            return after;
        }],
        ['text of the log point in the console', async () => {
            await debugging.press('F5');
            await debugging.console();
            await debugging.printed(/"jam" costs 240/);
            const reason = await until('the next change', () => debugging.reason(), (said) => /2060 to 2310/.test(said));
            await debugging.settled();
            return `${(await debugging.consoleLines()).at(-1)}; then ${reason}`;
        }],
        ["the set value's effect in the program's output", async () => {
            await workbench.focusEditor();
            await debugging.press('F5');
            // What is watched ends with `main`, which is no stop.
            await debugging.ended();
            await debugging.printed(/`total` is gone: its function has returned/);
            match(await workbench.openEditor(), /^main\.rs/);
            await debugging.terminal();
            const lines = await debugging.inTerminal(/^Ada pays 2310$/);
            return lines.filter((one) => /pays/.test(one)).join();
        }],
        ['restart', async () => {
            await workbench.openFile('src/main.rs');
            await workbench.setBreakpoint(at.price);
            await debugging.press('F5');
            await answer('Bob');
            await debugging.value('customer', (value) => value === '"Bob"');
            await debugging.press('Control+Shift+F5');
            await answer('Eve');
            await debugging.value('customer', (value) => value === '"Eve"');
            await workbench.stoppedAt(at.price);
            return `customer = "Bob", then customer = "Eve" at line ${at.price}`;
        }],
        ['stop', async () => {
            await debugging.press('Shift+F5');
            await debugging.ended();
            return 'the toolbar is gone';
        }],
        ['no process is left', async () => {
            const isEditor = ({ name }) => ['node', 'bash', 'sh'].includes(name);
            const left = await until('all to end', () => server.processes(), (processes) => processes.every(isEditor));
            return `of ${left.length} processes all are VS Code's and its shells`;
        }],
    ];
}

export const till = { prepare, steps };
