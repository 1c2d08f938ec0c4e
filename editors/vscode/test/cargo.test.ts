import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { candidates, configuration, isWithin, key, label, nearestManifest, readMetadata, readProject } from '../src/cargo';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'dapple-cargo-')));
after(() => rmSync(root, { recursive: true }));

function write(name: string, files: Record<string, string>): string {
    const folder = join(root, name);
    for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), text);
    }
    return folder;
}

const read = (folder: string) => readProject(folder, process.env, homedir());

const MAIN = 'fn main() {}\n';
const workspace = write('workspace', {
    'Cargo.toml': '[workspace]\nmembers = ["app", "tool", "lib"]\nresolver = "2"\n',
    'app/Cargo.toml':
        '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n[features]\nextra = []\n[[example]]\nname = "special"\nrequired-features = ["extra"]\n[[example]]\nname = "plugin"\ncrate-type = ["cdylib"]\n',
    'app/src/main.rs': MAIN,
    'app/src/other.rs': '',
    'app/src/bin/second.rs': MAIN,
    'app/examples/special.rs': MAIN,
    'app/examples/plugin.rs': '',
    'app/tests/whole.rs': '',
    'app/benches/fast.rs': '',
    'app/build.rs': MAIN,
    'tool/Cargo.toml': '[package]\nname = "tool"\nversion = "0.1.0"\nedition = "2021"\ndefault-run = "b"\n',
    'tool/src/bin/a.rs': MAIN,
    'tool/src/bin/b.rs': MAIN,
    'lib/Cargo.toml': '[package]\nname = "lib"\nversion = "0.1.0"\nedition = "2021"\n[lib]\nname = "its_name"\n',
    'lib/src/lib.rs': '',
    'loose.rs': MAIN,
});

test('all that can be run is found, with what builds it', async () => {
    const project = await read(join(workspace, 'app'));
    assert.equal(project.root, workspace);
    const shown = project.targets.map((target) => `${target.package}: ${label(target)}: ${target.args.join(' ')}`);
    assert.deepEqual(shown.sort(), [
        'app: app: build --bin=app --package=app',
        'app: bench fast: bench --bench=fast --package=app',
        'app: example special: build --example=special --package=app --features=extra',
        'app: second: build --bin=second --package=app',
        'app: test whole: test --test=whole --package=app',
        'app: unit tests of app: test --bin=app --package=app',
        'app: unit tests of second: test --bin=second --package=app',
        'lib: unit tests of its_name: test --lib --package=lib',
        'tool: a: build --bin=a --package=tool',
        'tool: b: build --bin=b --package=tool',
        'tool: unit tests of a: test --bin=a --package=tool',
        'tool: unit tests of b: test --bin=b --package=tool',
    ]);
    assert.equal(new Set(project.targets.map(key)).size, project.targets.length, 'keys tell targets apart');
});

test('F5 takes what the open file says, or offers what there is', async () => {
    const project = await read(workspace);
    const offered = (folder: string, file: string) =>
        candidates(project, join(workspace, folder), join(workspace, folder, file)).map((target) => `${target.package} ${label(target)}`);
    assert.deepEqual(offered('app', 'src/bin/second.rs'), ['app second'], 'the root of a target is that target');
    assert.deepEqual(offered('app', 'tests/whole.rs'), ['app test whole']);
    assert.deepEqual(offered('app', 'examples/special.rs'), ['app example special']);
    assert.deepEqual(offered('app', 'src/other.rs').sort(), ['app app', 'app example special', 'app second']);
    assert.deepEqual(offered('tool', 'Cargo.toml'), ['tool b'], 'its default-run');
    assert.deepEqual(offered('lib', 'src/lib.rs'), ['lib unit tests of its_name'], 'tests where there is nothing else');
    assert.deepEqual(
        offered('.', 'loose.rs').sort(),
        ['app app', 'app example special', 'app second', 'tool a', 'tool b'],
        'a manifest without a package stands for all of them',
    );
});

test('the only binary is taken where there are examples, too', async () => {
    const folder = write('single', {
        'Cargo.toml': '[package]\nname = "single"\nversion = "0.1.0"\nedition = "2021"\n',
        'src/main.rs': MAIN,
        'src/lib.rs': '',
        'examples/one.rs': MAIN,
    });
    const project = await read(folder);
    assert.deepEqual(candidates(project, folder, join(folder, 'src/lib.rs')).map(label), ['single']);
    assert.deepEqual(candidates(project, folder, undefined).map(label), ['single']);
});

test('a configuration builds with cargo, and runs where cargo would run it', async () => {
    const project = await read(workspace);
    const of = (name: string, folder: string | undefined) => {
        const target = project.targets.find((one) => label(one) === name);
        assert.ok(target, name);
        return configuration(target, project, folder);
    };
    assert.deepEqual(of('second', workspace), {
        name: 'Debug second',
        cargo: { args: ['build', '--bin=second', '--package=app'] },
        args: [],
        cwd: '${workspaceFolder}',
        console: 'integratedTerminal',
    });
    assert.equal(of('test whole', workspace)['cwd'], '${workspaceFolder}/app', 'tests run in their package');
    assert.equal(of('second', dirname(workspace))['cwd'], '${workspaceFolder}/workspace');
    assert.equal(of('second', join(workspace, 'app'))['cwd'], workspace, 'above the folder it is written out');
    assert.equal(of('second', undefined)['cwd'], workspace);
});

test('the nearest manifest is at the file or above it, within the folder', async () => {
    const app = join(workspace, 'app');
    assert.equal(await nearestManifest(join(app, 'src/bin'), workspace), app);
    assert.equal(await nearestManifest(app, undefined), app);
    assert.equal(await nearestManifest(join(app, 'src'), join(app, 'src')), undefined, 'not above the folder');
    assert.equal(await nearestManifest('/usr', workspace), undefined, 'the file is elsewhere');
    assert.equal(await nearestManifest(root, undefined), undefined);
    assert.equal(isWithin('/a/..b', '/a'), true);
    assert.equal(isWithin('/ab', '/a'), false);
});

test('what cargo says of a bad manifest is passed on', async () => {
    const folder = write('bad', { 'Cargo.toml': '[package]\nname = 3\n' });
    await assert.rejects(read(folder), /invalid type|expected a string/);
    assert.throws(() => readMetadata({}), /unknown form/);
});

test('cargo is found where rustup installs it, too', async () => {
    const home = join(root, 'home');
    await assert.rejects(readProject(workspace, { PATH: '/nowhere' }, home), /cargo was not found: neither on PATH nor as .*home\/\.cargo\/bin\/cargo/);
    write('home', { '.cargo/bin/cargo': '#!/bin/sh\necho \'{"workspace_root": "/there", "packages": []}\'\n' });
    chmodSync(join(home, '.cargo/bin/cargo'), 0o755);
    assert.deepEqual(await readProject(workspace, { PATH: '/nowhere' }, home), { root: '/there', targets: [] });
});
