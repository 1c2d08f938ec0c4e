// The page of VS Code, in words of what a person does and sees there. Every method waits for what it promises; none waits for time to pass.

import { PATIENCE, until } from './until.mjs';

const text = (string) => string.replaceAll('\u00a0', ' ').replaceAll('\u200b', '');

export class Workbench {
    constructor(page) {
        this.page = page;
        page.setDefaultTimeout(PATIENCE);
    }

    // Windows

    /** Opens a folder in this tab; asks for the server's password where there is none yet. */
    async open(address, folder, password) {
        await this.page.goto(`${address}/?folder=${encodeURIComponent(folder)}`);
        const field = this.page.locator('input[name=password]');
        await field.or(this.page.locator('.monaco-workbench')).first().waitFor();
        if (await field.isVisible()) {
            await field.fill(password);
            await field.press('Enter');
        }
        await this.page.locator('.explorer-folders-view .monaco-list-row').first().waitFor();
    }

    /** Runs a command by its name in the palette. */
    async command(name) {
        await this.page.keyboard.press('F1');
        await this.pick(`>${name}`, name);
    }

    /** Types into the quick input and takes the entry that is called so. */
    async pick(typed, entry) {
        const widget = this.page.locator('.quick-input-widget');
        const input = widget.locator('.quick-input-filter input');
        await input.waitFor();
        await input.fill(typed);
        const row = widget.locator('.monaco-list-row').filter({ has: this.page.locator('.quick-input-list-entry').getByText(entry, { exact: true }) });
        await row.first().click();
        await input.waitFor({ state: 'hidden' });
    }

    /** Takes an entry of the context menu that opens. */
    async menu(entry) {
        const menu = this.page.locator('.monaco-menu').last();
        const item = menu.locator(`.action-item:has(.action-label[aria-label="${entry}"])`);
        // A menu that has only just opened takes a click as the end of the one that opened it, so the keyboard chooses.
        await item.hover();
        await until(`the entry ${entry}`, () => item.getAttribute('class'), (classes) => /focused/.test(classes));
        await this.page.keyboard.press('Enter');
        await menu.waitFor({ state: 'hidden' });
    }

    // The editor

    editor() {
        return this.page.locator('.editor-group-container.active .editor-instance').first();
    }

    async openFile(name) {
        await this.page.keyboard.press('Control+p');
        await this.pick(name, name.split('/').at(-1));
        await this.page.locator(`.tab.active[data-resource-name="${name.split('/').at(-1)}"]`).waitFor();
        await this.editor().locator('.line-numbers').first().waitFor();
    }

    /** Brings a line into sight, with the keyboard at its beginning. */
    async goToLine(line) {
        await this.focusEditor();
        await this.page.keyboard.press('Control+g');
        const input = this.page.locator('.quick-input-widget .quick-input-filter input');
        await input.waitFor();
        await input.fill(`:${line}`);
        await input.press('Enter');
        await input.waitFor({ state: 'hidden' });
        await this.line(line);
    }

    async focusEditor() {
        await this.page.keyboard.press('Control+1');
        await this.editor().locator('.monaco-editor.focused').waitFor();
    }

    /** Where a line's glyphs are, on the page. */
    async glyph(line) {
        await this.goToLine(line);
        const margin = await this.editor().locator('.glyph-margin').first().boundingBox();
        const { y } = await this.line(line);
        return { x: margin.x + margin.width / 2, y: y + 9 };
    }

    /**
     * The lines that are in sight, as one look at the page finds them: `{ number, y, text, glyphs, isMarked }`, with inline values in the
     * text, and in the glyphs the classes of what is drawn in the margin.
     */
    async lines() {
        const lines = await this.editor().evaluate((editor) => {
            const beside = (selector, y) =>
                [...editor.querySelectorAll(selector)].filter((one) => Math.abs(one.getBoundingClientRect().y - y) < 5);
            return [...editor.querySelectorAll('.margin-view-overlays .line-numbers')].map((number) => {
                const { y } = number.getBoundingClientRect();
                return {
                    number: Number(number.textContent),
                    y,
                    text: beside('.view-lines > .view-line', y).map((line) => line.textContent).join(''),
                    glyphs: beside('.glyph-margin-widgets > *', y).map((glyph) => glyph.className).join(' '),
                    isMarked: beside('.view-overlays .debug-top-stack-frame-line', y).length > 0,
                };
            });
        });
        return lines.map((line) => ({ ...line, text: text(line.text) }));
    }

    async line(number) {
        return until(`line ${number} in sight`, async () => (await this.lines()).find((line) => line.number === number));
    }

    async glyphs(number) {
        return (await this.line(number)).glyphs;
    }

    /** Clicks into the glyph margin and waits for the dot. */
    async setBreakpoint(line) {
        const { x, y } = await this.glyph(line);
        await this.page.mouse.click(x, y);
        return until(`a breakpoint at line ${line}`, () => this.glyphs(line), (classes) => /codicon-debug-breakpoint/.test(classes));
    }

    /** Clicks a dot away. */
    async removeBreakpoint(line) {
        const { x, y } = await this.glyph(line);
        await this.page.mouse.click(x, y);
        await until(`no breakpoint at line ${line}`, () => this.glyphs(line), (classes) => !/codicon-debug-breakpoint/.test(classes));
    }

    /** `Add Conditional Breakpoint…` or `Add Logpoint…` of the glyph margin's menu, with what is to be typed into the field that opens. */
    async addBreakpoint(line, entry, expression) {
        const { x, y } = await this.glyph(line);
        await this.page.mouse.click(x, y, { button: 'right' });
        await this.menu(entry);
        const field = this.page.locator('.breakpoint-widget .inputContainer');
        await field.waitFor();
        await this.page.locator('.breakpoint-widget .monaco-editor.focused').waitFor();
        await this.page.keyboard.insertText(expression);
        await until('the expression', async () => text(await field.textContent()), (shown) => shown.includes(expression));
        await this.page.keyboard.press('Enter');
        await field.waitFor({ state: 'hidden' });
        return until(`a breakpoint at line ${line}`, () => this.glyphs(line), (classes) => /codicon-debug-breakpoint/.test(classes));
    }

    /** The line that is marked as the one where the program has stopped. */
    async markedLine() {
        return (await this.lines()).find((line) => line.isMarked)?.number;
    }

    async stoppedAt(line) {
        return until(`stopped at line ${line}`, () => this.markedLine(), (marked) => marked === line);
    }

    /** The line that the cursor is in. */
    async cursorLine() {
        return Number(await this.editor().locator('.line-numbers.active-line-number').first().textContent({ timeout: 1000 }));
    }

    /** The text of a line as the editor shows it, with inline values. */
    async shownLine(number) {
        return (await this.line(number)).text;
    }

    /** Points at a word of a line and resolves to what the debugger shows there. */
    async hover(line, word) {
        await this.goToLine(line);
        const hover = this.page.locator('.debug-hover-widget');
        return until(`a value for ${word}`, async () => {
            // The line may move while the editor scrolls to it, so that the word is not where it was seen.
            const at = await this.wordAt(line, word);
            // From the margin, where nothing has a value: what was shown before is gone by then.
            const margin = await this.page.locator('.editor-instance .margin').first().boundingBox();
            await this.page.mouse.move(margin.x + 2, at.y);
            await hover.waitFor({ state: 'hidden', timeout: 2000 });
            await this.page.mouse.move(at.x, at.y, { steps: 4 });
            await hover.waitFor({ timeout: 2000 });
            return text(await hover.innerText());
        });
    }

    /** Takes an entry of the menu that a word of a line has. */
    async menuAt(line, word, entry) {
        await this.goToLine(line);
        const at = await until(`${word} in line ${line}`, () => this.wordAt(line, word));
        await this.page.mouse.click(at.x, at.y, { button: 'right' });
        await this.menu(entry);
    }

    /** What the tab in front is called. */
    async openEditor() {
        return (await this.page.locator('.editor-group-container.active .tab.active').getAttribute('aria-label')) ?? '';
    }

    /** Closes the editor in front. */
    async closeTab() {
        const tab = this.page.locator('.editor-group-container.active .tab.active');
        const name = await tab.getAttribute('aria-label');
        await tab.locator('.tab-actions .action-label').click();
        await this.page.locator(`.tab[aria-label="${name}"]`).waitFor({ state: 'detached' });
        await this.focusEditor();
    }

    /** The middle of the first appearance of a word in a line, on the page; undefined while it is not in sight. */
    wordAt(line, word) {
        return this.editor().evaluate(
            (editor, [line, word]) => {
                const numbers = [...editor.querySelectorAll('.margin-view-overlays .line-numbers')];
                const y = numbers.find((one) => one.textContent === String(line))?.getBoundingClientRect().y;
                const row = [...editor.querySelectorAll('.view-lines > .view-line')].find((one) => Math.abs(one.getBoundingClientRect().y - y) < 5);
                if (row === undefined) return undefined;
                const texts = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
                for (let node = texts.nextNode(); node; node = texts.nextNode()) {
                    const match = new RegExp(`\\b${word}\\b`).exec(node.data);
                    if (!match) continue;
                    const range = document.createRange();
                    range.setStart(node, match.index);
                    range.setEnd(node, match.index + word.length);
                    const box = range.getBoundingClientRect();
                    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
                }
                return undefined;
            },
            [line, word],
        );
    }

    // Notifications and dialogs

    /** The text of a notification, once there is one that says something. */
    async notified(what) {
        const message = this.page.locator('.notification-toast .notification-list-item-message').filter({ hasText: what }).first();
        return text(await message.textContent());
    }

    /** The text of an item of the status bar, once there is one that says so. */
    async inStatusBar(what) {
        const item = this.page.locator('.statusbar-item').filter({ hasText: what }).first();
        return text((await item.textContent()) ?? '').trim();
    }

    /** How many notifications have a text. */
    async notificationsWith(what) {
        return this.page.locator('.notification-toast .notification-list-item-message').filter({ hasText: what }).count();
    }

    /** Waits for a notification to be gone. */
    async notNotified(what) {
        const message = this.page.locator('.notification-toast .notification-list-item-message').filter({ hasText: what });
        await message.first().waitFor({ state: 'detached' });
    }

    /** The names of the buttons beside a notification's text. */
    async notificationButtons() {
        return (await this.page.locator('.notification-toast .monaco-button:visible').allTextContents()).map(text);
    }

    /** Presses a button beside a notification's text. */
    async pressNotificationButton(name) {
        await this.page.locator('.notification-toast .monaco-button:visible').getByText(name, { exact: true }).click();
    }

    /** The dialog that is open: its text and its buttons. */
    async dialog() {
        const box = this.page.locator('.monaco-dialog-box');
        await box.waitFor();
        const message = text(await box.locator('.dialog-message-container').innerText());
        const buttons = (await box.locator('.dialog-buttons .monaco-button').allTextContents()).map(text);
        return { message, buttons };
    }
}
