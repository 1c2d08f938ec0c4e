// A recorded program: VS Code's own buttons for steps back, and the extension's commands: who wrote a value, bookmarks, moments.

import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { QuickInput } from './quick_input.mjs';
import { until } from './until.mjs';

const SOURCES = ['who.c', 'overrun.c'];

/** A program that computes for seconds after `early` is written. */
const LONG = `static int early;
static volatile long turns;

int main(void)
{
    early = 1;
    for (turns = 0; turns < 3000000000; turns++)
        ;
    return early - 1;
}
`;

/** Makes the programs' folder in `work`. */
function prepare(work) {
    const folder = join(work, 'backwards');
    mkdirSync(join(folder, '.vscode'), { recursive: true });
    for (const name of SOURCES) cpSync(fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url)), join(folder, name));
    writeFileSync(join(folder, 'long.c'), LONG);
    const launch = (name, more) => ({ type: 'dapple', request: 'launch', name, program: '${file}', ...more });
    const configurations = [launch('Record', { record: true }), launch('Do not record', {})];
    writeFileSync(join(folder, '.vscode/launch.json'), JSON.stringify({ version: '0.2.0', configurations }));
    return folder;
}

function steps({ page, workbench, debugging, path, picture }) {
    const quick = new QuickInput(page);
    const text = Object.fromEntries(SOURCES.map((name) => [name, readFileSync(join(path, name), 'utf8').split('\n')]));
    const line = (name, part) => {
        const number = text[name].findIndex((one) => one.includes(part)) + 1;
        ok(number > 0, `no line of ${name} has ${part}`);
        return number;
    };
    const at = (mark) => line('who.c', `// stop: ${mark}`);
    /** The toolbar's buttons for running backwards that can be pressed. */
    const backwards = async () => (await debugging.toolbar()).map((name) => name.replace(/ \(.*/, '')).filter((name) => ['Step Back', 'Reverse'].includes(name));

    return [
        ['a recorded program has buttons to run backwards', async () => {
            await workbench.openFile('who.c');
            await workbench.setBreakpoint(at('result'));
            await workbench.setBreakpoint(at('last'));
            await debugging.press('F5');
            await workbench.stoppedAt(at('result'));
            const shown = await until('both buttons', backwards, ({ length }) => length === 2);
            deepEqual(shown.toSorted(), ['Reverse', 'Step Back']);
            return shown;
        }],
        ['step back by its button', async () => {
            await debugging.pressButton('Step Back');
            await workbench.stoppedAt(at('doubles'));
            equal(await debugging.value('result', (value) => value === '1'), '1');
            await debugging.pressButton('Step Back');
            await workbench.stoppedAt(at('first'));
            return `line ${at('doubles')}, result = 1, and line ${at('first')}`;
        }],
        ['step back by its command', async () => {
            await debugging.press('F5');
            // The present, and its breakpoint's next hit.
            await workbench.stoppedAt(at('result'));
            await debugging.press('F5');
            await debugging.value('result', (value) => value === '4');
            await debugging.press('Shift+F10');
            await workbench.stoppedAt(at('doubles'));
            equal(await debugging.value('result', (value) => value === '2'), '2');
            return `line ${at('doubles')}, result = 2`;
        }],
        ['reverse by its button', async () => {
            await debugging.pressButton('Reverse');
            await workbench.stoppedAt(at('result'));
            const result = await debugging.value('result', (value) => value === '2');
            return `line ${at('result')}, result = ${result}, which it was a call before`;
        }],
        ['reverse by its command, to the beginning', async () => {
            await debugging.press('Control+Shift+F10');
            return until('the beginning', () => debugging.reason(), (said) => /beginning|entry/i.test(said));
        }],
        ['forward again to the last line', async () => {
            await workbench.openFile('who.c');
            await workbench.removeBreakpoint(at('result'));
            await debugging.press('F5');
            // The present is where the call of 2 has been doubled: from there the program runs.
            await workbench.stoppedAt(at('last'));
            return `line ${at('last')}, deep = ${await debugging.value('deep', (value) => value === '60')}`;
        }],
        ['who wrote this, of a variable in its view', async () => {
            await debugging.contextMenu('sum', 'Who Wrote This?');
            const found = await quick.shown(/^sum: 6 → 12$/);
            deepEqual(found.entries.map(({ label }) => label).slice(0, 3), ['Go to This Moment', 'The Write Before', 'main']);
            const [, , own] = found.entries;
            equal(own.description, `who.c:${at('sums')}`);
            match(own.detail, /^sum \+= doubled\(i\);/);
            ok(own.isFocused, 'the statement is in front');
            return `${found.title}; ${own.description}: ${own.detail}`;
        }],
        ['the write before', async () => {
            await quick.choose('The Write Before');
            const { title } = await quick.shown(/^sum: 2 → 6$/);
            return title;
        }],
        ['a frame opens its source', async () => {
            await quick.choose('main');
            await until('the line', () => workbench.cursorLine(), (number) => number === at('sums'));
            equal(await workbench.markedLine(), at('last'));
            return `line ${at('sums')}, and the program is where it was`;
        }],
        ['who wrote this, in the code', async () => {
            await workbench.menuAt(at('last'), 'total', 'Who Wrote This?');
            const { title, entries } = await quick.shown(/^state\.total: 7, as before$/);
            equal(entries.find(({ isFocused }) => isFocused).description, `who.c:${at('again')}`);
            return `${title}: ${entries.find(({ isFocused }) => isFocused).detail}`;
        }],
        ['what is no variable is refused, with a reason', async () => {
            await debugging.press('Escape');
            await workbench.menuAt(line('who.c', 'unsigned flag'), 'flag', 'Who Wrote This?');
            const said = await workbench.notified(/no variable.*flag/);
            equal(await workbench.notificationsWith('flag'), 1);
            await workbench.command('Notifications: Clear All Notifications');
            await workbench.notNotified(/flag/);
            await workbench.menuAt(at('last'), 'total', 'Who Wrote This?');
            await quick.shown(/^state\.total: 7, as before$/);
            return said;
        }],
        ['go to the moment of a write', async () => {
            await quick.choose('The Write Before');
            await quick.shown(/^state\.total: 4999950000 → 7$/);
            await quick.choose('Go to This Moment');
            // It has just been written, and is by a step back what it was before.
            await workbench.stoppedAt(at('again'));
            await debugging.evaluate('state.total', /^7$/);
            await debugging.pressButton('Step Back');
            await workbench.stoppedAt(at('seven'));
            const total = await debugging.evaluate('state.total', /^4999950000$/);
            return `line ${at('again')}; a step back, at line ${at('seven')}, state.total = ${total.at(-1)}`;
        }],
        ['bookmark set', async () => {
            await workbench.focusEditor();
            await quick.run('Dapple: Set Bookmark Here');
            await quick.enter('before seven');
            return workbench.inStatusBar(/Bookmark \d+ is set/);
        }],
        ['go to the present and back to the bookmark', async () => {
            await quick.run('Dapple: Go to Moment...');
            const { entries } = await quick.shown(/^Go to Moment$/);
            const labels = entries.map(({ label }) => label);
            ok(labels.includes('The Beginning') && labels.includes('before seven') && labels.includes('A write of state.total'), labels.join());
            await quick.choose('The Present');
            await workbench.stoppedAt(at('last'));
            await quick.run('Dapple: Go to Moment...');
            await quick.shown(/^Go to Moment$/);
            await quick.choose('before seven');
            await workbench.stoppedAt(at('seven'));
            return labels;
        }],
        ['a bookmark removed', async () => {
            await quick.run('Dapple: Go to Moment...');
            await quick.shown(/^Go to Moment$/);
            await quick.pressButton('before seven', 'Remove the Bookmark');
            const left = await until('the list without it', () => quick.entries(), (all) => all.length > 0 && all.every(({ label }) => label !== 'before seven'));
            await debugging.press('Escape');
            return left.map(({ label }) => label);
        }],
        ['the rest runs in the present to its end', async () => {
            await workbench.focusEditor();
            await workbench.removeBreakpoint(at('last'));
            await debugging.press('F5');
            await debugging.ended();
            return 'the toolbar is gone';
        }],
        ['who has written over a setting', async () => {
            await workbench.openFile('overrun.c');
            await debugging.press('F5');
            await debugging.exception();
            await workbench.menuAt(line('overrun.c', 'assert(settings'), 'limit', 'Who Wrote This?');
            const { title, entries } = await quick.shown(/^settings\.limit: 10 → 0$/);
            const own = entries.find(({ isFocused }) => isFocused);
            equal(own.label, 'rename_to');
            equal(own.description, `overrun.c:${line('overrun.c', 'strcpy(settings')}`);
            equal(own.detail, 'strcpy(settings.name, name);');
            await debugging.press('Enter');
            await until('the line', () => workbench.cursorLine(), (number) => number === line('overrun.c', 'strcpy(settings'));
            await debugging.press('Shift+F5');
            await debugging.ended();
            return `${title} in ${own.label} at ${own.description}: ${own.detail}`;
        }],
        ['a search cancelled', async () => {
            await workbench.openFile('long.c');
            const last = LONG.split('\n').findIndex((one) => one.includes('return')) + 1;
            await workbench.setBreakpoint(last);
            await debugging.press('F5');
            await workbench.stoppedAt(last);
            await workbench.menuAt(last, 'early', 'Who Wrote This?');
            const said = await workbench.notified(/^Who wrote early\?$/);
            await workbench.pressNotificationButton('Cancel');
            await workbench.notNotified(/^Who wrote early\?$/);
            const answers = () => readFileSync(picture('adapter.log'), 'utf8').split('\n').filter((one) => /"type":"response".*"command":"dapple\/who"/.test(one));
            const answer = await until('the answer', async () => answers().at(-1), (one) => /"success":false,.*cancel/.test(one));
            equal(await workbench.markedLine(), last);
            await debugging.press('Shift+F5');
            await debugging.ended();
            return `${said} ${JSON.parse(answer).message.message}`;
        }],
        ['a program that is not recorded has none of it', async () => {
            await workbench.openFile('who.c');
            await workbench.setBreakpoint(at('last'));
            await debugging.press('Control+p');
            await workbench.pick('debug Do not record', 'Do not record');
            await workbench.stoppedAt(at('last'));
            deepEqual(await backwards(), []);
            const menu = await debugging.contextMenuEntries('sum');
            ok(menu.includes('Set Value') && !menu.includes('Who Wrote This?'), menu.join());
            const offered = await quick.commands('Dapple: ');
            ok(offered.length > 0 && !offered.some((name) => /Bookmark|Moment|Wrote/.test(name)), offered.join());
            await debugging.press('Shift+F5');
            await debugging.ended();
            return offered;
        }],
    ];
}

export const backwards = { prepare, steps };
