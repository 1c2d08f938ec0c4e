// The field with a list below it that VS Code opens in front of all else: for commands, and for what extensions ask.

import { until } from './until.mjs';

const plain = (string) => string.replaceAll('\u00a0', ' ').replaceAll('\u200b', '').replace(/\s+/g, ' ').trim();

export class QuickInput {
    constructor(page) {
        this.page = page;
        this.widget = page.locator('.quick-input-widget');
    }

    /** Chooses a command in the palette, and doesn't wait for what it shows. */
    async run(name) {
        await this.typeCommand(name);
        await this.choose(name);
    }

    /** The commands that the palette offers for the beginning of a name. */
    async commands(start) {
        await this.typeCommand(start);
        const found = await until(`commands with ${start}`, () => this.entries(), (all) => all.some(({ label }) => label.startsWith(start)));
        await this.page.keyboard.press('Escape');
        await this.widget.waitFor({ state: 'hidden' });
        return found.map(({ label }) => label);
    }

    async typeCommand(text) {
        await this.page.keyboard.press('F1');
        await this.widget.locator('.quick-input-filter input').fill(`>${text}`);
    }

    /** What an extension shows under a title, once there is one of that form. */
    async shown(title) {
        const read = async () => plain(await this.widget.locator('.quick-input-title').innerText({ timeout: 1000 }));
        const found = await until(`a title ${title}`, read, (shown) => title.test(shown));
        const entries = await until('its entries', () => this.entries(), ({ length }) => length > 0);
        return { title: found, entries };
    }

    /** The entries in sight: `{ label, description, detail, isFocused }`. */
    async entries() {
        const rows = await this.widget.locator('.monaco-list-row').evaluateAll((all) =>
            all.map((row) => {
                const shown = (selector) => row.querySelector(selector)?.textContent ?? '';
                return {
                    label: shown('.label-name'),
                    description: shown('.label-description'),
                    detail: shown('.quick-input-list-label-meta'),
                    isFocused: row.classList.contains('focused'),
                };
            }),
        );
        const texts = ({ label, description, detail, isFocused }) => ({ label: plain(label), description: plain(description), detail: plain(detail), isFocused });
        return rows.map(texts).filter(({ label }) => label !== '');
    }

    row(label) {
        return this.widget.locator('.monaco-list-row').filter({ has: this.page.locator('.label-name').getByText(label, { exact: true }) }).first();
    }

    async choose(label) {
        await this.row(label).click();
    }

    /** Presses a button of an entry. */
    async pressButton(label, button) {
        await this.row(label).hover();
        await this.row(label).locator(`.action-label[aria-label="${button}"]`).click();
    }

    /** Types a line into a field that has no list. */
    async enter(line) {
        const input = this.widget.locator('.quick-input-filter input');
        // The palette's field is the same one.
        await until('an empty field', () => input.inputValue({ timeout: 1000 }), (value) => value === '');
        await input.fill(line);
        await input.press('Enter');
        await this.widget.waitFor({ state: 'hidden' });
    }
}
