import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Write, change, entries, nothing } from '../src/last_write';

const write: Write = {
    name: 'settings.limit',
    before: '10',
    after: '0',
    stack: [
        { name: '__strcpy_evex', source: { name: 'strcpy-evex.S', path: '/nowhere/strcpy-evex.S' }, line: 618, instructionPointerReference: '0x7ffff7e0' },
        { name: 'rename_to', source: { path: '/home/me/overrun.c' }, line: 14, instructionPointerReference: '0x401180' },
        { name: '0x401200', line: 0, instructionPointerReference: '0x401200' },
    ],
    bookmark: 3,
};

test('a write is told with the values before and after', () => {
    assert.equal(change(write), 'settings.limit: 10 → 0');
    assert.equal(change({ ...write, after: '10' }), 'settings.limit: 10, as before');
    const { before: _, ...first } = write;
    assert.equal(change(first), 'settings.limit: 0, its first value');
    assert.equal(change({ ...write, systemCall: 'read' }), 'settings.limit: 10 → 0 (by the system call read)');
});

test('each frame is listed with its line, or its address where that is all that is known', () => {
    const { frames } = entries(write);
    assert.deepEqual(
        frames.map(({ label, description }) => [label, description]),
        [
            ['__strcpy_evex', 'strcpy-evex.S:618'],
            ['rename_to', 'overrun.c:14'],
            ['0x401200', '0x401200'],
        ],
    );
    assert.deepEqual(frames[1]?.choice, { kind: 'frame', frame: write.stack[1] });
});

test('a write that has no bookmark leads nowhere', () => {
    assert.deepEqual(entries(write).moves.map(({ choice }) => choice), [
        { kind: 'moment', bookmark: 3 },
        { kind: 'before', bookmark: 3 },
    ]);
    const { bookmark: _, ...unmarked } = write;
    assert.deepEqual(entries(unmarked).moves, []);
});

test('that there is no write is said of the variable, and where it is looked for before another', () => {
    const text = 'nothing has written it since the recording began';
    assert.equal(nothing('sum', { text }, false), 'sum: nothing has written it since the recording began');
    assert.equal(nothing('sum', { text }, true), 'sum: before that, nothing has written it since the recording began');
});
