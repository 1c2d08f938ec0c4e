import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { adapterArguments, placeOf, processesAt, readProcesses, withOwnSources } from '../src/elsewhere';

test('a place is a text or a list of words', () => {
    assert.equal(placeOf('ssh://me@board'), 'ssh://me@board');
    assert.equal(placeOf(['nsenter', '-t', '1', '-a']), '["nsenter","-t","1","-a"]');
    for (const none of [undefined, null, '', [], ['a', 1], 7, {}]) {
        assert.equal(placeOf(none), undefined, JSON.stringify(none));
    }
});

test('the adapter is started at the place, or here with a log', () => {
    assert.deepEqual(adapterArguments('docker://web', '/tmp/log'), ['dap', '--on', 'docker://web']);
    assert.deepEqual(adapterArguments(undefined, '/tmp/log'), ['dap', '--log', '/tmp/log']);
    assert.deepEqual(adapterArguments('', undefined), ['dap']);
});

test('sources of the open folder are its own, unless the user says where they are', () => {
    const here = { on: 'ssh://board', program: 'a' };
    assert.deepEqual(withOwnSources(here, '/home/me/p'), { ...here, sourceMap: { '/home/me/p': '/home/me/p' } });
    for (const given of [{ program: 'a' }, { ...here, sourceMap: {} }]) {
        assert.equal(withOwnSources(given, '/home/me/p'), given);
    }
    assert.equal(withOwnSources(here, undefined), here);
});

test('processes are asked for at the place, and a failure is a sentence', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dapple-on-'));
    try {
        const dapple = join(folder, 'dapple');
        const answers = (script: string) => {
            writeFileSync(dapple, `#!/bin/sh\n${script}\n`);
            chmodSync(dapple, 0o755);
        };
        answers(`[ "$*" = 'on ssh://board processes' ] && echo '[{"pid": 7, "name": "sh", "commandLine": "sh -c x", "started": 1}]'`);
        assert.deepEqual((await processesAt(dapple, 'ssh://board')).map((one) => one.pid), [7]);
        answers(`echo 'dapple: ssh://board can not be reached' >&2; exit 1`);
        await assert.rejects(processesAt(dapple, 'ssh://board'), { message: 'ssh://board can not be reached' });
        answers('echo nothing');
        await assert.rejects(processesAt(dapple, 'ssh://board'), /does not list/);
    } finally {
        rmSync(folder, { recursive: true });
    }
});

test('what is no process in an answer is left out', () => {
    assert.deepEqual(readProcesses('[1, null, {"pid": "7"}]'), []);
    assert.throws(() => readProcesses('{}'));
});
