// Programs that are elsewhere, by a configuration's `on`: on a machine behind ssh with their sources here, and in a container with all they have.

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { basket } from './basket.mjs';
import { Board, Container } from './elsewhere.mjs';
import { QuickInput } from './quick_input.mjs';
import { until } from './until.mjs';

const SOURCE = 'basket.c';

/** A program that runs until it is killed. */
const CLOCK = `#include <unistd.h>

static volatile int ticks;

int main(void)
{
    for (;;) {
        ticks++;
        usleep(10000);
    }
}
`;

/** Makes the folder in `work`: a source with its program, and configurations for the places in the folders beside it. */
function prepare(work) {
    const folder = join(work, 'on');
    mkdirSync(join(folder, '.vscode'), { recursive: true });
    cpSync(fileURLToPath(new URL(`basket/${SOURCE}`, import.meta.url)), join(folder, SOURCE));
    execFileSync('cc', ['-g', '-o', join(folder, 'basket'), join(folder, SOURCE)]);
    writeFileSync(join(folder, 'clock.c'), CLOCK);
    const { board, container } = places(folder);
    const launch = (name, more) => ({ type: 'dapple', request: 'launch', name, ...more });
    const configurations = [
        launch('On the board', { on: 'ssh://board', program: '${workspaceFolder}/basket' }),
        launch('By a command', { on: board.words, program: '${workspaceFolder}/basket', stopAtEntry: true }),
        launch('In the container', { on: container.words, program: join(container.folder, 'program'), stopAtEntry: true }),
        { type: 'dapple', request: 'attach', name: 'Attach in the container', on: container.words, pid: '${command:pickProcess}', stopOnEntry: true },
    ];
    writeFileSync(join(folder, '.vscode/launch.json'), JSON.stringify({ version: '0.2.0', configurations }));
    writeFileSync(join(folder, '.vscode/settings.json'), JSON.stringify({ 'dapple.path': adapter(folder) }));
    return folder;
}

/** The places of the window's folder, and the adapter that reaches them. */
const places = (folder) => ({ board: new Board(`${folder}-board`), container: new Container(`${folder}-container`) });
const adapter = (folder) => `${folder}-dapple`;

function steps({ page, workbench, debugging, server, path }) {
    const { board, container } = places(path);
    const quick = new QuickInput(page);
    const source = readFileSync(join(path, SOURCE), 'utf8');
    const line = (text) => {
        const number = source.split('\n').findIndex((one) => one.includes(text)) + 1;
        ok(number > 0, `no line has ${text}`);
        return number;
    };
    const start = async (name) => {
        await debugging.press('Control+p');
        await workbench.pick(`debug ${name}`, name);
    };
    /** Checks that the sent adapter runs there, and the program below it. */
    const runs = async (place, program) => {
        const exes = place.processes().map(({ exe }) => exe.replace(`${place.folder}/`, ''));
        ok(exes.some((exe) => /^cache\/dapple\/far\/[0-9a-f]{64}\/dapple$/.test(exe)), exes.join());
        ok(exes.some((exe) => exe.endsWith(program)), exes.join());
        return exes.map((exe) => exe.replace(/[0-9a-f]{60}/, '…')).join(', ');
    };
    /** Waits until no process of a session is left there or here, and checks which files are. */
    const left = async (place) => {
        await until('the processes there to end', () => place.processes(), ({ length }) => length === 0);
        if (place === board) await until('the connections to end', () => board.connections(), ({ length }) => length === 0);
        const isEditor = ({ name }) => ['node', 'bash', 'sh'].includes(name);
        await until('the processes here to end', () => server.processes(), (processes) => processes.every(isEditor));
        const files = place.files().map((file) => file.replace(`${place.folder}/`, '').replace(/[0-9a-f]{64}/, 'HASH'));
        // An empty folder for the indexes of large programs, which are kept there as they are here.
        deepEqual(files.filter((file) => file !== 'cache/dapple/index'), ['cache/dapple', 'cache/dapple/far', 'cache/dapple/far/HASH', 'cache/dapple/far/HASH/dapple']);
        return files.join(', ');
    };

    const finding = ['adapter that finds the machine', async () => {
        const [dapple] = globSync(join(server.folder, 'extensions/*/bin/dapple'));
        ok(dapple !== undefined, 'the extension brings no adapter');
        board.writeAdapter(adapter(path), dapple);
        return `${adapter(path)} runs ${dapple}`;
    }];
    const own = basket({ workbench, debugging }, SOURCE, source);
    const overSsh = [
        ['sshd on the loopback', async () => {
            const port = await board.start();
            deepEqual(board.processes(), []);
            return `board is port ${port}`;
        }],
        ...own.slice(0, 2).map(([name, check]) => [`ssh: ${name}`, check]),
        ['ssh: adapter and program run there', () => runs(board, 'on/basket')],
        ...own.slice(2).map(([name, check]) => [`ssh: ${name}`, check]),
        ['ssh: only the adapter is left there', () => left(board)],
        ['ssh by a command: stop at the entry, and stopped by its button', async () => {
            await start('By a command');
            await workbench.stoppedAt(line('struct item basket[]'));
            const there = await runs(board, 'on/basket');
            await debugging.press('Shift+F5');
            await debugging.ended();
            return there;
        }],
        ['ssh by a command: nothing more is left', () => left(board)],
        ['ssh by a command: a lost connection is told, and ends the program there', async () => {
            await start('By a command');
            await workbench.stoppedAt(line('struct item basket[]'));
            for (const pid of board.connections()) process.kill(pid, 'SIGKILL');
            await debugging.ended();
            await debugging.console();
            const lines = await debugging.printed(/is gone: /);
            await left(board);
            return lines.find((one) => /is gone: /.test(one));
        }],
        ['a machine that cannot be reached is told', async () => {
            await board.stop();
            await start('On the board');
            const { message, buttons } = await workbench.dialog();
            match(message, /^ssh:\/\/board can't be reached: `ssh .*Connection refused/);
            await debugging.press('Escape');
            await debugging.ended();
            return `${message} [${buttons.join('] [')}]`;
        }],
    ];

    const inContainer = [
        ['a container of namespaces', async () => {
            const copies = [[SOURCE, 'main.c', 'program'], ['clock.c', 'clock.c', 'clock']];
            const setups = copies.map(([from, to, program]) => `cp ${path}/${from} ${to} && cc -g -o ${program} "$PWD/${to}"`);
            await container.start(`${setups.join(' && ')} && { ./clock >/dev/null </dev/null & }`);
            ok(!existsSync(join(container.folder, 'main.c')) && !existsSync(join(container.folder, 'program')), 'they are only there');
            return container.run('find', container.folder, '-type', 'f').split('\n').filter(Boolean).join(', ');
        }],
        ['container: the source is shown that is only there', async () => {
            await workbench.openFile(SOURCE);
            await start('In the container');
            await workbench.stoppedAt(line('struct item basket[]'));
            match(await workbench.openEditor(), /^main\.c/);
            await workbench.focusEditor();
            await page.keyboard.type('x');
            // It has no text to be seen until it has faded in.
            const message = page.locator('.monaco-editor-overlaymessage');
            const said = await until('what is said of typing', () => message.innerText(), (text) => /read-only/.test(text));
            return `line ${line('struct item basket[]')} of main.c; ${said}`;
        }],
        ['container: a breakpoint set in it stops', async () => {
            await workbench.setBreakpoint(line('price = price_of('));
            await debugging.press('F5');
            await workbench.stoppedAt(line('price = price_of('));
            equal(await debugging.value('each', (value) => value === '250'), '250');
            return `each = 250; there: ${await runs(container, 'program')}`;
        }],
        ['container: step over', async () => {
            await debugging.press('F10');
            await workbench.stoppedAt(line('total += price'));
            return `line ${line('total += price')}, price = ${await debugging.value('price', (value) => value === '500')}`;
        }],
        ['container: stopped, and only the adapter is left', async () => {
            await debugging.press('Shift+F5');
            await debugging.ended();
            return left(container);
        }],
        ['container: the breakpoint stops the next session, too', async () => {
            await start('In the container');
            await workbench.stoppedAt(line('struct item basket[]'));
            await debugging.press('F5');
            await workbench.stoppedAt(line('price = price_of('));
            await debugging.value('each', (value) => value === '250');
            const tab = await workbench.openEditor();
            await debugging.press('Shift+F5');
            await debugging.ended();
            return tab;
        }],
        ['container: attached to a process of its list', async () => {
            await start('Attach in the container');
            const { entries } = await quick.shown(/^Attach to a Process$/);
            const labels = entries.map(({ label, description }) => `${label} ${description}`);
            await quick.choose('clock');
            await debugging.standing();
            const ticks = await debugging.evaluate('ticks > 0', /^(true|1)$/);
            await debugging.press('Shift+F5');
            await debugging.ended();
            return `of ${labels.join(', ')}; ${ticks.slice(-2).join(' = ')}`;
        }],
        ['container: the process goes on', async () => {
            const pid = container.run('pgrep', 'clock').trim();
            const status = container.run('cat', `/proc/${pid}/status`);
            match(status, /TracerPid:\t0/);
            return `${pid}: ${/State:.*/.exec(status)}; ${await left(container)}`;
        }],
        ['the container ends', async () => {
            await container.stop();
            return 'it was killed';
        }],
    ];
    const possible = [
        [Board, overSsh, 'there is no ssh with sshd; DAPPLE_SSHD may name the latter'],
        [Container, inContainer, 'the kernel has no namespaces for this user'],
    ];
    const checks = possible.flatMap(([place, its, why]) => {
        if (place.isPossible()) return its;
        console.log(`skipped ${its.length} checks: ${why}`);
        return [];
    });
    return [finding, ...checks];
}

export const on = { prepare, steps };
