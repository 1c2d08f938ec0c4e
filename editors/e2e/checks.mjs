// A list of checks, one after the other: a line is printed for each with what was seen, and a picture is kept.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export class Checks {
    /** @param folder where pictures, and of a failure the page, go */
    constructor(folder) {
        this.folder = folder;
        this.passed = 0;
        this.failed = 0;
        this.left = 0;
        rmSync(folder, { recursive: true, force: true });
        mkdirSync(folder, { recursive: true });
    }

    /**
     * Makes checks in their order on one page, until one fails: the others begin where that should have ended.
     *
     * @param checks `[name, function]` each; the function resolves to what was seen
     */
    async all(page, checks) {
        for (const [at, [name, check]] of checks.entries()) {
            const number = String(this.passed + this.failed + 1).padStart(2, '0');
            const file = join(this.folder, `${number}-${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`);
            try {
                const seen = await check();
                this.passed += 1;
                console.log(`ok      ${name}: ${described(seen)}`);
                await page.screenshot({ path: `${file}.png` });
            } catch (error) {
                this.failed += 1;
                this.left += checks.length - at - 1;
                console.log(`FAILED  ${name}: ${error.stack ?? error}`);
                await page.screenshot({ path: `${file}.png` }).catch(() => {});
                writeFileSync(`${file}.html`, await page.content().catch(String));
                console.log(`        the page: ${file}.png, ${file}.html`);
                return;
            }
        }
    }

    /** Prints the last line; whether all has passed. */
    finish() {
        if (this.left > 0) console.log(`${this.left} not reached`);
        console.log(`${this.passed} passed, ${this.failed} failed`);
        return this.failed === 0;
    }
}

function described(seen) {
    const text = typeof seen === 'string' ? seen : JSON.stringify(seen);
    return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
