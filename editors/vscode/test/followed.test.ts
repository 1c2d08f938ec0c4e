import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Followed } from '../src/followed';

const capabilities = (can: object) => ({ type: 'event', event: 'capabilities', body: { capabilities: can } });

test('a session is recorded once its capabilities say so', () => {
    const followed = new Followed();
    const initialized = { type: 'response', command: 'initialize', body: { supportsStepBack: true } };
    assert.deepEqual([followed.received(initialized), followed.isRecorded], [false, false]);
    const other = capabilities({ supportsDisassembleRequest: true });
    assert.deepEqual([followed.received(other), followed.isRecorded], [false, false]);
    assert.deepEqual([followed.received(capabilities({ supportsStepBack: true })), followed.isRecorded], [true, true]);
    assert.equal(followed.received(capabilities({ supportsStepBack: true })), false);
    assert.deepEqual([followed.received(other), followed.isRecorded], [false, true]);
    assert.deepEqual([followed.received(capabilities({ supportsStepBack: false })), followed.isRecorded], [true, false]);
});

test('the thread that stopped last is known', () => {
    const followed = new Followed();
    followed.received({ type: 'event', event: 'stopped', body: { threadId: 4 } });
    followed.received({ type: 'event', event: 'continued', body: { threadId: 5 } });
    followed.received({ type: 'event', event: 'stopped', body: {} });
    assert.equal(followed.thread, 4);
});

test('a search is told with the number by which it can be cancelled', () => {
    const followed = new Followed();
    const search = (seq: number) => ({ type: 'request', command: 'dapple/who', seq });
    followed.sent(search(6));
    const told: number[] = [];
    followed.onSearch = (seq) => told.push(seq);
    followed.sent({ type: 'request', command: 'threads', seq: 7 });
    followed.sent(search(8));
    followed.sent({ type: 'response', command: 'dapple/who', seq: 9 });
    assert.deepEqual(told, [8]);
});

test('odd messages are none', () => {
    const followed = new Followed();
    for (const message of [{}, { type: 'event' }, { type: 'event', event: 'capabilities' }, { type: 'event', event: 'stopped', body: { threadId: '4' } }]) {
        assert.equal(followed.received(message), false);
        followed.sent(message);
    }
    assert.deepEqual([followed.isRecorded, followed.thread], [false, undefined]);
});
