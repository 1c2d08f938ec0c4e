import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { type Located, type Places, locate, older, problem, withVariables } from '../src/adapter';

const root = mkdtempSync(join(tmpdir(), 'dapple-adapter-'));
after(() => rmSync(root, { recursive: true }));

let made = 0;
/** A home, an extension and a PATH of their own, and an executable that answers as is said. */
function places(changes: Partial<Places> = {}): Places {
    made += 1;
    const base = join(root, String(made));
    return {
        setting: '',
        extension: join(base, 'extension'),
        env: { PATH: [join(base, 'one'), 'relative', '', join(base, 'two')].join(':') },
        home: join(base, 'home'),
        platform: 'linux',
        arch: 'x64',
        ...changes,
    };
}

function install(path: string, script: string | Buffer = '#!/bin/sh\necho dapple 0.1.0\n', mode = 0o755): string {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, script);
    chmodSync(path, mode);
    return path;
}

function pathOf(located: Located): string | undefined {
    return located.kind === 'found' ? located.path : undefined;
}

test('the adapter is taken beside the extension, then from PATH in its order, then from where cargo installs', async () => {
    const all = places();
    const [one, two] = ['one', 'two'].map((folder) => join(dirname(all.home), folder, 'dapple'));
    const cargo = install(join(all.home, '.cargo/bin/dapple'));
    assert.deepEqual(await locate(all), { kind: 'found', path: cargo, version: '0.1.0' });
    install(two!);
    assert.equal(pathOf(await locate(all)), two);
    install(one!);
    assert.equal(pathOf(await locate(all)), one);
    const own = install(join(all.extension, 'bin/dapple'));
    assert.equal(pathOf(await locate(all)), own);
});

test('CARGO_HOME moves the place where cargo installs', async () => {
    const all = places();
    all.env['CARGO_HOME'] = join(all.home, 'elsewhere');
    const cargo = install(join(all.home, 'elsewhere/bin/dapple'));
    assert.equal(pathOf(await locate(all)), cargo);
});

test('the setting goes before all, as a path or as a name on PATH', async () => {
    const all = places();
    install(join(all.extension, 'bin/dapple'));
    const path = install(join(all.home, 'mine/dapple-next'));
    assert.equal(pathOf(await locate({ ...all, setting: path })), path);
    const name = install(join(dirname(all.home), 'two/dapple-next'));
    assert.equal(pathOf(await locate({ ...all, setting: 'dapple-next' })), name);
});

test('what the setting names and is not there is said, and nothing else is taken', async () => {
    const all = places();
    install(join(all.extension, 'bin/dapple'));
    const located = await locate({ ...all, setting: '/no/such/dapple' });
    assert.deepEqual({ ...located }, { kind: 'missing', named: '/no/such/dapple', looked: ['/no/such/dapple'] });
    assert.match(located.kind === 'missing' ? problem(located) : '', /no file \/no\/such\/dapple, which the setting `dapple.path` names/);
});

test('without any, the message says where it was looked for', async () => {
    const located = await locate(places());
    assert.equal(located.kind, 'missing');
    assert.match(located.kind === 'missing' ? problem(located) : '', /not found: neither beside the extension, nor on PATH, nor in ~\/\.cargo\/bin/);
});

test('a folder of the name is none', async () => {
    const all = places();
    mkdirSync(join(all.extension, 'bin/dapple'), { recursive: true });
    assert.equal((await locate(all)).kind, 'missing');
});

const elf = (machine: number): Buffer => {
    const header = Buffer.alloc(64);
    header.write('\x7fELF\x02\x01\x01', 'latin1');
    header.writeUInt16LE(2, 16);
    header.writeUInt16LE(machine, 18);
    return header;
};

for (const [what, script, mode, reason] of [
    ['is not executable', '#!/bin/sh\n', 0o644, /is not executable; `chmod \+x/],
    ['was built for another machine', elf(183), 0o755, /built for ARM of 64 bits, and this machine is x86-64/],
    ['is too old', '#!/bin/sh\necho dapple 0.0.9\n', 0o755, /version is 0\.0\.9, and this extension needs 0\.1\.0/],
    ['is another program', '#!/bin/sh\necho GNU gdb 16\n', 0o755, /is no Dapple: it answers `--version` with GNU gdb 16/],
    ['says nothing', '#!/bin/sh\n', 0o755, /answers `--version` with nothing/],
    ['fails', "#!/bin/sh\necho 'libx.so: cannot open' >&2\nexit 127\n", 0o755, /ended with code 127: libx\.so: cannot open/],
    ['dies', '#!/bin/sh\nkill -ILL $$\n', 0o755, /failed \(SIGILL\)/],
    ['lacks its interpreter', '#!/no/such/loader\n', 0o755, /its program interpreter .* is not on this system/],
] as const) {
    test(`a file that ${what} is named with the reason`, async () => {
        const all = places();
        const path = install(join(all.extension, 'bin/dapple'), script, mode);
        const located = await locate(all);
        assert.equal(located.kind, 'unusable');
        const message = located.kind === 'unusable' ? problem(located) : '';
        assert.ok(message.includes(path), message);
        assert.match(message, reason);
    });
}

test('another system is told where Dapple runs', async () => {
    const located = await locate(places({ platform: 'darwin', arch: 'arm64' }));
    assert.deepEqual(located, { kind: 'unsupported', system: 'darwin arm64' });
});

test('versions are compared as numbers', () => {
    assert.equal(older('0.9.0', '0.10.0'), true);
    assert.equal(older('0.10.0', '0.9.9'), false);
    assert.equal(older('1.0.0-beta', '1.0.0'), false);
    assert.equal(older('0.1.0', '0.1.0'), false);
});

test('the setting may hold variables', () => {
    const values = { home: '/home/me', workspace: '/w', env: { TOOLS: '/tools' } };
    for (const [path, replaced] of [
        ['~/dapple', '/home/me/dapple'],
        ['~other/dapple', '~other/dapple'],
        ['${userHome}/dapple', '/home/me/dapple'],
        ['${workspaceFolder}/target/debug/dapple', '/w/target/debug/dapple'],
        [' ${env:TOOLS}/dapple ', '/tools/dapple'],
        ['${env:NONE}/dapple', '/dapple'],
        ['${unknown}/dapple', '${unknown}/dapple'],
    ] as const) {
        assert.equal(withVariables(path, values), replaced);
    }
});
