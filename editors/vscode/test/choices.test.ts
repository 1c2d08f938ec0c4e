import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { choices, everything, lastFirst } from '../src/choices';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'dapple-choices-')));
after(() => rmSync(root, { recursive: true }));

for (const [path, text] of [
    ['one/Cargo.toml', '[package]\nname = "one"\nversion = "0.1.0"\nedition = "2021"\n'],
    ['one/src/main.rs', 'fn main() {}\n'],
    ['one/src/part.rs', ''],
    ['one/src/glue.c', ''],
    ['many/Cargo.toml', '[workspace]\nmembers = ["a", "b"]\nresolver = "2"\n'],
    ['many/a/Cargo.toml', '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n'],
    ['many/a/src/main.rs', 'fn main() {}\n'],
    ['many/b/Cargo.toml', '[package]\nname = "b"\nversion = "0.1.0"\nedition = "2021"\n'],
    ['many/b/src/main.rs', 'fn main() {}\n'],
    ['many/a/tests/same.rs', ''],
    ['many/b/tests/same.rs', ''],
    ['many/script.rs', 'fn main() {}\n'],
    ['none/main.cpp', ''],
] as const) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
}

const LANGUAGES: Record<string, string> = { rs: 'rust', c: 'c', cpp: 'cpp', toml: 'toml', md: 'markdown' };

/** What is offered with a file open in a folder; paths are below the root. */
async function offered(folder: string | undefined, file: string | undefined, from = choices): Promise<string[]> {
    const open = file === undefined ? undefined : { path: join(root, file), language: LANGUAGES[file.split('.').at(-1) ?? ''] ?? '' };
    const all = await from({ file: open, folder: folder && join(root, folder), env: process.env, home: homedir() });
    return all.map(({ label }) => label);
}

test('in a package, F5 means its program', async () => {
    assert.deepEqual(await offered('one', 'one/src/part.rs'), ['one']);
    assert.deepEqual(await offered('one', 'one/Cargo.toml'), ['one']);
    assert.deepEqual(await offered('one', undefined), ['one'], 'with no file open');
    assert.deepEqual(await offered(undefined, 'one/src/part.rs'), ['one'], 'with no folder open');
    assert.deepEqual(await offered('one', 'many/script.rs'), ['one'], 'with a file from elsewhere');
    assert.deepEqual(await offered('.', 'many/b/src/main.rs'), ['b'], 'below the opened folder');
});

test('a C file in a package may be meant by itself', async () => {
    assert.deepEqual(await offered('one', 'one/src/glue.c'), ['one', 'this file, glue.c']);
});

test('where no package is, there is the choice of all', async () => {
    assert.deepEqual(await offered('many', undefined), ['a', 'b']);
    assert.deepEqual(await offered('many', 'many/script.rs'), ['a', 'b', 'this file, script.rs']);
});

test('without a project a source is compiled by itself', async () => {
    assert.deepEqual(await offered('none', 'none/main.cpp'), ['this file, main.cpp']);
    assert.deepEqual(await offered('one/src', 'one/src/part.rs'), ['this file, part.rs'], 'a manifest above the opened folder is not looked for');
    assert.deepEqual(await offered('none', 'none/README.md'), []);
    assert.deepEqual(await offered(undefined, undefined), []);
});

test('all that there is can be listed', async () => {
    assert.deepEqual(await offered('one', 'one/src/part.rs', everything), ['one', 'unit tests of one', 'this file, part.rs']);
});

test('in the list programs come first, and names tell all apart', async () => {
    const place = { file: undefined, folder: join(root, 'many'), env: process.env, home: homedir() };
    const names = (await everything(place)).map(({ configuration }) => configuration.name);
    assert.deepEqual(names, ['Debug a', 'Debug b', 'Debug unit tests of a', 'Debug unit tests of b', 'Debug test same (a)', 'Debug test same (b)']);
});

test('the last choice stands first, and the others stay in their order', async () => {
    const place = { file: undefined, folder: join(root, 'many'), env: process.env, home: homedir() };
    const all = await choices(place);
    const labels = (last: string | undefined) => lastFirst(all, last).map(({ label }) => label);
    assert.deepEqual(labels(all[1]?.key), ['b', 'a']);
    assert.deepEqual(labels('gone'), ['a', 'b']);
    assert.deepEqual(labels(undefined), ['a', 'b']);
});
