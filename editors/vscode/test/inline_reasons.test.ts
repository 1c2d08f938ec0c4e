import assert from 'node:assert/strict';
import { test } from 'node:test';
import { briefReason, briefReasons } from '../src/inline_reasons';

test('a long reason is cut where its details begin', () => {
    const table: [string, string][] = [
        ['<cannot read memory at 0x7ffc12345678>', '<cannot read memory>'],
        ['<not initialised or corrupt: length 5 beyond capacity 3>', '<not initialised or corrupt>'],
        ['<each thread has its own; evaluate its name>', '<each thread has its own>'],
        ['<no variant has the discriminant 77>', '<no variant has the…>'],
        ['<ééééééééééééééééééééééééééééééééééééé>', '<ééééééééééééééééééééééééééé…>'],
        ['\u001b[2m<each thread has its own; evaluate its name>\u001b[0m', '<each thread has its own>'],
    ];
    for (const [whole, expected] of table) {
        const brief = briefReason(whole);
        assert.equal(brief, expected);
        assert.ok([...(brief ?? '')].length <= 30, brief);
    }
});

test('short reasons and values are left alone', () => {
    for (const value of ['<optimized out>', '7', '{1, 2, 3}', '<Circle> {Shape = {id = 7}, radius = 2.5, name = "a>"}', '"<a text that is longer than thirty characters>"']) {
        assert.equal(briefReason(value), undefined, value);
    }
});

test('a frame tells which of its variables have long reasons', async () => {
    const asked: string[] = [];
    const session = {
        async customRequest(command: string, args: object): Promise<unknown> {
            asked.push(`${command} ${JSON.stringify(args)}`);
            if (command === 'scopes') {
                return {
                    scopes: [
                        { name: 'Locals', variablesReference: 3, expensive: false },
                        { name: 'Statics', variablesReference: 4, expensive: true },
                    ],
                };
            }
            return {
                variables: [
                    { name: 'town', value: '<not initialised or corrupt: length 5 beyond capacity 3>', variablesReference: 0 },
                    { name: 'hidden', value: '<not initialised or corrupt: length 5 beyond capacity 3>', variablesReference: 0 },
                    { name: 'hidden', value: '8', variablesReference: 0 },
                    { name: 'number', value: '7', variablesReference: 0 },
                ],
            };
        },
    };
    const found = await briefReasons(session, 9);
    assert.deepEqual([...found], [['town', '<not initialised or corrupt>']]);
    assert.deepEqual(asked, ['scopes {"frameId":9}', 'variables {"variablesReference":3}']);
});
