import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { OLDEST, older } from '../src/adapter';

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const [debug] = manifest.contributes.debuggers;

/** What VS Code itself reads in every configuration. */
const GENERAL = ['type', 'request', 'name'];

for (const { label, body } of debug.configurationSnippets) {
    test(`the snippet "${label}" uses arguments that there are`, () => {
        const known = Object.keys(debug.configurationAttributes[body.request].properties);
        const unknown = Object.keys(body).filter((name) => !GENERAL.includes(name) && !known.includes(name));
        assert.deepEqual(unknown, []);
        assert.equal(body.type, debug.type);
        assert.match(label, /^Dapple: /);
    });
}

test('arguments of the configurations that nobody has written are known', () => {
    const launch = Object.keys(debug.configurationAttributes.launch.properties);
    const attach = Object.keys(debug.configurationAttributes.attach.properties);
    for (const name of ['program', 'cargo', 'args', 'cwd', 'console']) {
        assert.ok(launch.includes(name), name);
    }
    assert.ok(attach.includes('pid'));
});

test('every command and setting that is offered is there, and the other way round', () => {
    const sources = ['extension', 'session', 'while_debugging', 'backwards'].map((name) => readFileSync(`src/${name}.ts`, 'utf8')).join('\n');
    const commands = manifest.contributes.commands.map(({ command }: { command: string }) => command);
    const registered = [...sources.matchAll(/registerCommand\('([^']+)'/g)].map((found) => found[1]);
    assert.deepEqual(registered.sort(), commands.sort());
    assert.ok(commands.includes(debug.variables.pickProcess));
    const settings = Object.keys(manifest.contributes.configuration.properties);
    for (const setting of settings) {
        assert.ok(sources.includes(`'${setting.replace('dapple.', '')}'`), setting);
    }
    const readme = readFileSync('README.md', 'utf8');
    for (const setting of settings) {
        assert.ok(readme.includes(`| \`${setting}\` |`), `${setting} is in the README`);
    }
});

test('the adapter of the same version is not too old', () => {
    assert.equal(older(manifest.version, OLDEST), false);
});
