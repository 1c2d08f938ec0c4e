import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { inflateRawSync } from 'node:zlib';

// Tests run in the extension's folder.
const root = mkdtempSync(join(tmpdir(), 'dapple-package-'));
after(() => rmSync(root, { recursive: true }));
before(() => execFileSync(process.execPath, ['scripts/build.mjs']));

interface Entry {
    data: Buffer;
    mode: number;
}

/** What a package holds, read from its directory as an archive's reader does. */
function pack(...args: string[]): { name: string; bytes: Buffer; entries: Map<string, Entry> } {
    const folder = mkdtempSync(join(root, 'out-'));
    execFileSync(process.execPath, ['scripts/package.mjs', '--output', folder, ...args]);
    const name = readdirSync(folder)[0] ?? '';
    const bytes = readFileSync(join(folder, name));
    const end = bytes.length - 22;
    assert.equal(bytes.readUInt32LE(end), 0x06054b50);
    const entries = new Map<string, Entry>();
    let at = bytes.readUInt32LE(end + 16);
    for (let left = bytes.readUInt16LE(end + 10); left > 0; left -= 1) {
        assert.equal(bytes.readUInt32LE(at), 0x02014b50);
        const [packed, length, local] = [bytes.readUInt32LE(at + 20), bytes.readUInt16LE(at + 28), bytes.readUInt32LE(at + 42)];
        const path = bytes.toString('utf8', at + 46, at + 46 + length);
        assert.equal(bytes.readUInt32LE(local), 0x04034b50);
        assert.equal(bytes.toString('utf8', local + 30, local + 30 + length), path);
        const data = inflateRawSync(bytes.subarray(local + 30 + length, local + 30 + length + packed));
        assert.equal(data.length, bytes.readUInt32LE(at + 24));
        entries.set(path, { data, mode: bytes.readUInt32LE(at + 38) >>> 16 });
        at += 46 + length;
    }
    assert.equal(at, end);
    return { name, bytes, entries };
}

const text = (entries: Map<string, Entry>, name: string) => entries.get(name)?.data.toString() ?? assert.fail(`${name} is not there`);

test('a package holds what its manifest names, and nothing of its development', () => {
    const { name, entries } = pack();
    const manifest = JSON.parse(text(entries, 'extension/package.json'));
    assert.equal(name, `dapple-${manifest.version}.vsix`);
    for (const path of [manifest.main, manifest.icon, 'README.md', 'LICENSE-MIT', 'LICENSE-APACHE']) {
        assert.ok(entries.has(join('extension', path)), path);
    }
    assert.deepEqual([manifest.devDependencies, manifest.scripts], [undefined, undefined]);
    const gallery = text(entries, 'extension.vsixmanifest');
    assert.match(gallery, new RegExp(`Id="dapple" Version="${manifest.version}" Publisher="dapple"/>`));
    for (const [, path] of gallery.matchAll(/ Path="([^"]+)"/g)) {
        assert.ok(entries.has(path ?? ''), path);
    }
    const types = text(entries, '[Content_Types].xml');
    for (const path of entries.keys()) {
        const isTyped = types.includes(`PartName="/${path}"`) || types.includes(`Extension=".${path.split('.').at(-1)}"`);
        assert.ok(isTyped || path === '[Content_Types].xml', path);
    }
});

test('the adapter goes along as an executable, for its system only', () => {
    const binary = join(root, 'binary');
    writeFileSync(binary, 'not really');
    const { name, entries } = pack('--binary', binary);
    assert.match(name, /^dapple-linux-x64-/);
    assert.equal(text(entries, 'extension/bin/dapple'), 'not really');
    assert.equal(entries.get('extension/bin/dapple')?.mode, 0o100755);
    assert.equal(entries.get('extension/package.json')?.mode, 0o100644);
    assert.match(text(entries, 'extension.vsixmanifest'), /TargetPlatform="linux-x64"/);
});

test('the same files make the same package', () => {
    assert.deepEqual(pack().bytes, pack().bytes);
});
