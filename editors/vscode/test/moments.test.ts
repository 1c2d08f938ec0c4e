import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moments } from '../src/moments';

test('bookmarks and writes are listed in the order of the history', () => {
    const bookmarks = [
        { number: 2, name: 'settings.limit', isOfWrite: true, position: 30 },
        { number: 1, name: 'renamed', isOfWrite: false, position: 41 },
        { number: 3, name: '', isOfWrite: false, position: 44 },
    ];
    const found = moments({ position: 41, length: 50, isPast: true, bookmarks });
    assert.deepEqual(
        found.map(({ label, description, to }) => [label, description, to]),
        [
            ['The Beginning', 'of the recording', 'beginning'],
            ['A write of settings.limit', 'bookmark 2, after 30 of 50 events', 2],
            ['renamed', 'bookmark 1, after 41 of 50 events', 1],
            ['Bookmark 3', 'bookmark 3, after 44 of 50 events', 3],
            ['The Present', 'where the program was when it was first run backwards', 'present'],
        ],
    );
});

test('the present is no place to go to while it is shown', () => {
    const found = moments({ position: 50, length: 50, isPast: false, bookmarks: [] });
    assert.deepEqual(found.map(({ to }) => to), ['beginning']);
});
