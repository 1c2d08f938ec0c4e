// Windows on other folders: what a newcomer meets besides a Cargo project.

import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { equal, match } from 'node:assert/strict';
import { until } from './until.mjs';

/** `prepare` makes the folder in the one that it is given; `steps` are the checks in a window on it. */
export const others = [
    {
        prepare(work) {
            const folder = join(work, 'nowhere');
            cpSync(fileURLToPath(new URL('project', import.meta.url)), folder, { recursive: true });
            mkdirSync(join(folder, '.vscode'), { recursive: true });
            writeFileSync(join(folder, '.vscode/settings.json'), JSON.stringify({ 'dapple.path': '/nowhere/dapple' }));
            return folder;
        },
        steps: ({ workbench, debugging }) => [
            ['adapter not found', async () => {
                await workbench.openFile('src/main.rs');
                await debugging.press('F5');
                const said = await workbench.notified(/\/nowhere\/dapple/);
                const buttons = await workbench.notificationButtons();
                match(buttons.join(), /Setting/);
                return `${said} [${buttons.join('] [')}]`;
            }],
        ],
    },
    {
        prepare(work) {
            const folder = join(work, 'c');
            mkdirSync(folder);
            const lines = ['#include <stdio.h>', '', 'int main(void) {', '    int sum = 0;', '    for (int at = 1; at <= 4; at++) {', '        sum += at;', '    }'];
            writeFileSync(join(folder, 'sum.c'), [...lines, '    printf("the sum is %d\\n", sum);', '    return 0;', '}', ''].join('\n'));
            return folder;
        },
        steps: ({ workbench, debugging }) => [
            ['F5 on a C file compiles and starts', async () => {
                await workbench.openFile('sum.c');
                await workbench.setBreakpoint(8);
                await debugging.press('F5');
                await workbench.stoppedAt(8);
                equal(await debugging.value('sum'), '10');
                return `line 8, sum = 10, ${(await debugging.stack())[0].name}`;
            }],
            ['the C program runs to its end', async () => {
                await workbench.focusEditor();
                await debugging.press('F5');
                await debugging.ended();
                await debugging.terminal();
                const lines = await debugging.inTerminal(/^the sum is 10$/);
                return lines.find((one) => one.startsWith('the sum'));
            }],
        ],
    },
    {
        prepare(work) {
            const folder = join(work, 'prices');
            mkdirSync(folder);
            const lines = ['#include <stdexcept>', '#include <string>', '', 'static int price(const std::string &name) {', '    throw std::out_of_range("no price of " + name);', '}'];
            writeFileSync(join(folder, 'prices.cpp'), [...lines, '', 'int main() {', '    return price("tea");', '}', ''].join('\n'));
            return folder;
        },
        steps: ({ workbench, debugging }) => [
            ['exception that nothing catches', async () => {
                await workbench.openFile('prices.cpp');
                await debugging.press('F5');
                const said = await debugging.exception();
                match(said, /std::out_of_range/);
                match(said, /no price of tea/);
                const marked = await workbench.stoppedAt(5);
                return `line ${marked}: ${said}`;
            }],
            ['the C++ program ends by its exception', async () => {
                await workbench.focusEditor();
                await debugging.press('F5');
                const said = await until('the signal', () => debugging.exception(), (shown) => /SIGABRT/.test(shown));
                match(said, /prices\.cpp:5/);
                await workbench.focusEditor();
                await debugging.press('F5');
                await debugging.ended();
                await debugging.console();
                const lines = await debugging.printed(/killed by SIGABRT/);
                return lines.find((one) => /SIGABRT/.test(one));
            }],
        ],
    },
];
