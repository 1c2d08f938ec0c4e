// What VS Code shows of a program that is debugged: its views, its console, the terminal, the disassembly.

import { until } from './until.mjs';

const plain = (string) => string.replaceAll('\u00a0', ' ').replaceAll('\u200b', '').replace(/\s*\n\s*/g, ' ').trim();

export class Debugging {
    constructor(workbench) {
        this.workbench = workbench;
        this.page = workbench.page;
    }

    // Running

    async press(key) {
        await this.page.keyboard.press(key);
    }

    /** The buttons of the debugger's toolbar that can be pressed now. */
    async toolbar() {
        const buttons = await this.page.locator('.debug-toolbar .action-label:not(.disabled)').all();
        return Promise.all(buttons.map(async (button) => (await button.getAttribute('aria-label')) ?? ''));
    }

    /** Presses a button of the debugger's toolbar. */
    async pressButton(name) {
        await this.page.locator(`.debug-toolbar .action-label:not(.disabled)[aria-label^="${name}"]`).click();
    }

    async running() {
        return until('the program runs', () => this.toolbar(), (buttons) => buttons.some((name) => name.startsWith('Pause')));
    }

    /** Stopped somewhere, with all that VS Code does then: the frame is shown, its line marked, and keys mean something. */
    async settled() {
        await until('a line to be marked', () => this.workbench.markedLine());
        await this.standing();
        await this.workbench.focusEditor();
    }

    async standing() {
        return until('the program to stand still', () => this.toolbar(), (buttons) => buttons.some((name) => name.startsWith('Continue')));
    }

    async ended() {
        await this.page.locator('.debug-toolbar').waitFor({ state: 'hidden' });
    }

    // Views

    rows(view) {
        return this.page.locator(`.${view} .monaco-list-row`);
    }

    /** The call stack from the innermost frame: `{ name, file, line }`. */
    async stack() {
        return this.page.locator('.debug-call-stack').evaluate((view) =>
            [...view.querySelectorAll('.monaco-list-row .stack-frame')].map((frame) => {
                const shown = (selector) => frame.querySelector(selector)?.textContent.trim() ?? '';
                return { name: shown('.label'), file: shown('.file-name'), line: shown('.line-number') };
            }),
        );
    }

    /** The rows of the call stack that stand for several frames of a library each. */
    async folded() {
        const rows = this.page.locator('.debug-call-stack .monaco-list-row').filter({ hasText: /^\s*Show \d+ More/ });
        return (await rows.allInnerTexts()).map(plain);
    }

    /** The threads of the call stack: `{ name, state }`; none where a program has only one. */
    async threads() {
        return this.page.locator('.debug-call-stack').evaluate((view) =>
            [...view.querySelectorAll('.monaco-list-row .thread')].map((thread) => {
                const shown = (selector) => thread.querySelector(selector)?.textContent.trim() ?? '';
                return { name: shown('.name'), state: shown('.state') };
            }),
        );
    }

    /** Opens a thread in the call stack, so that its frames are shown. */
    async openThread(name) {
        const row = this.rows('debug-call-stack').filter({ has: this.page.locator('.thread .name').getByText(name, { exact: true }) });
        await until(`${name} to open`, async () => {
            if ((await row.getAttribute('aria-expanded', { timeout: 1000 })) === 'true') return true;
            await row.locator('.monaco-tl-twistie').click({ timeout: 1000 });
            return false;
        });
    }

    /** The exception breakpoints that are offered, by their names, with whether they are on. */
    async exceptionBreakpoints() {
        await this.fold('Breakpoints', false);
        const rows = this.page.locator('.debug-breakpoints .monaco-list-row:has(.breakpoint.exception)');
        await rows.first().waitFor();
        const shown = await rows.evaluateAll((all) =>
            all.map((row) => [row.querySelector('.name').textContent.trim(), row.getAttribute('aria-checked') === 'true']),
        );
        return Object.fromEntries(shown);
    }

    /** What is said of an exception in the editor, below the line where it has stopped the program. */
    async exception() {
        const widget = this.page.locator('.exception-widget');
        await widget.waitFor();
        return until('what has happened', async () => plain(await widget.innerText({ timeout: 1000 })));
    }

    /** Why the program has stopped, as the call stack's title says it. */
    async reason() {
        return plain(await this.page.locator('.call-stack-state-message').innerText({ timeout: 1000 }));
    }

    /** Closes a section of the side bar, or opens it. */
    async fold(section, closed = true) {
        const header = this.page.locator(`.pane-header[aria-label="${section} Section"]`);
        const wanted = String(!closed);
        if ((await header.getAttribute('aria-expanded')) !== wanted) await header.click();
        await until(`${section} to ${closed ? 'close' : 'open'}`, () => header.getAttribute('aria-expanded'), (open) => open === wanted);
    }

    /** The rows of the variables' view, as they are read: `name = value`. */
    async variables() {
        return this.texts('debug-variables');
    }

    async texts(view) {
        return (await this.rows(view).allInnerTexts()).map(plain);
    }

    /** The row of a variable, or of an expression in another view; its scope is opened where VS Code has not done that. */
    async variable(name, view = 'debug-variables') {
        if (view === 'debug-variables') await this.expand('Locals');
        return this.row(view, name);
    }

    /** Waits for a variable to be in sight, and for the scope that it is in to be called so. */
    async inScope(name, scope) {
        const above = async () => {
            const rows = await this.rows('debug-variables').evaluateAll((all) =>
                all.map((row) => ({ level: row.getAttribute('aria-level'), text: (row.querySelector('.name') ?? row).textContent.trim() })),
            );
            const at = rows.findIndex(({ text }) => text.replace(/(:| =)?\s*$/, '') === name);
            return rows.slice(0, Math.max(at, 0)).findLast(({ level }) => level === '1')?.text;
        };
        return until(`${name} in ${scope}`, above, (shown) => shown === scope);
    }

    row(view, name) {
        const label = this.page.locator('.expression .name, .scope').getByText(new RegExp(`^${escape(name)}(:| =)?\\s*$`));
        return this.rows(view).filter({ has: label }).first();
    }

    /** The value of a variable, once it has one that is accepted. */
    async value(name, accept = Boolean, view = 'debug-variables') {
        const row = await this.variable(name, view);
        return until(`the value of ${name}`, async () => plain(await row.locator('.value').innerText({ timeout: 1000 })), accept);
    }

    /** Opens a row, or closes it, unless it is. */
    async expand(name, view = 'debug-variables', open = true) {
        const row = this.row(view, name);
        await row.waitFor();
        const isSo = async () => (await row.getAttribute('aria-expanded', { timeout: 1000 })) === String(open);
        await until(`${name} to be ${open ? 'open' : 'closed'}`, async () => {
            if (await isSo()) return true;
            await row.locator('.monaco-tl-twistie').click({ timeout: 1000 });
            return isSo();
        });
    }

    /** Gives a variable a value by hand. */
    async setValue(name, value) {
        await this.contextMenu(name, 'Set Value');
        const input = this.page.locator('.debug-variables .inputBoxContainer input');
        await input.waitFor();
        await input.fill(value);
        await input.press('Enter');
        await input.waitFor({ state: 'hidden' });
    }

    async contextMenu(name, entry, view = 'debug-variables') {
        const row = await this.variable(name, view);
        await row.click({ button: 'right' });
        await this.workbench.menu(entry);
    }

    /** The entries of a variable's context menu. */
    async contextMenuEntries(name) {
        const row = await this.variable(name);
        await row.click({ button: 'right' });
        const menu = this.page.locator('.monaco-menu').last();
        await menu.locator('.action-label').first().waitFor();
        const labels = await menu.locator('.action-item .action-label').evaluateAll((all) => all.map((one) => one.getAttribute('aria-label') ?? ''));
        await this.page.keyboard.press('Escape');
        await menu.waitFor({ state: 'hidden' });
        return labels.filter(Boolean);
    }

    /** Has the memory of a variable shown, by the button in its row. */
    async openMemory(name) {
        const row = await this.variable(name);
        await row.hover();
        await row.locator('.action-label[aria-label="View Binary Data"]').click();
    }

    async watch(expression) {
        const header = this.page.locator('.pane-header').filter({ hasText: /^Watch$/ });
        await header.hover();
        await header.locator('.action-label[aria-label="Add Expression"]').click();
        const input = this.page.locator('.debug-watch .inputBoxContainer input');
        await input.waitFor();
        await input.fill(expression);
        await input.press('Enter');
        await input.waitFor({ state: 'hidden' });
        return this.value(expression, Boolean, 'debug-watch');
    }

    // Console and terminal

    async console() {
        await this.page.locator('.panel .action-label[aria-label^="Debug Console"]').first().click();
        await this.page.locator('.repl-input-wrapper').waitFor();
    }

    /** The lines of the console that are in sight. */
    async consoleLines() {
        return this.texts('repl-tree');
    }

    async printed(what) {
        return until(`${what} in the console`, () => this.consoleLines(), (lines) => lines.some((line) => what.test(line)));
    }

    /** Types an expression into the console. */
    async evaluate(expression, answer) {
        await this.console();
        await this.page.locator('.repl-input-wrapper .monaco-editor').click();
        await this.page.keyboard.insertText(expression);
        const typed = this.page.locator('.repl-input-wrapper .view-lines');
        await until('the expression', async () => plain(await typed.innerText()), (shown) => shown === expression);
        await this.page.keyboard.press('Enter');
        return this.printed(answer);
    }

    async terminal() {
        await this.page.locator('.panel .action-label[aria-label^="Terminal"]').first().click();
        await this.page.locator('.terminal-wrapper.active .xterm-rows').waitFor();
    }

    /** The lines of the terminal that is shown. */
    async terminalLines() {
        const lines = await this.page.locator('.terminal-wrapper.active .xterm-rows > div').allTextContents();
        return lines.map((line) => line.replaceAll('\u00a0', ' ').trimEnd()).filter(Boolean);
    }

    async inTerminal(what) {
        return until(`${what} in the terminal`, () => this.terminalLines(), (lines) => lines.some((line) => what.test(line)));
    }

    async typeInTerminal(line) {
        await this.page.locator('.terminal-wrapper.active .xterm-screen').click();
        await this.page.keyboard.type(line);
        await this.page.keyboard.press('Enter');
    }

    // Disassembly

    async openDisassembly() {
        await this.page.locator('.debug-call-stack .stack-frame').first().click({ button: 'right' });
        await this.workbench.menu('Open Disassembly View');
        await this.page.locator('.disassembly-view .monaco-table-tr, .disassembly-view .monaco-list-row').first().waitFor();
    }

    async closeDisassembly() {
        await this.page.locator('.tab.active[aria-label="Disassembly"] .tab-actions .action-label').click();
        await this.page.locator('.disassembly-view').waitFor({ state: 'detached' });
        await this.workbench.focusEditor();
    }

    /** The instruction that is marked as the next: its row's text. */
    async instruction() {
        const rows = this.page.locator('.disassembly-view .monaco-list-row').filter({ has: this.page.locator('.codicon-debug-stackframe') });
        return plain(await rows.first().innerText({ timeout: 1000 }));
    }
}

function escape(string) {
    return string.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
