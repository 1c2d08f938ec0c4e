import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeOf } from '../src/code';
import { expressionAt } from '../src/expression';

/** The expression at the place that `|` marks. */
function at(marked: string, language: 'c' | 'cpp' | 'rust' = 'rust'): string | undefined {
    const text = marked.replace('|', '');
    const found = expressionAt(codeOf(text, language), marked.indexOf('|'));
    return found && text.slice(found.start, found.end);
}

test('a name is taken with what it is a member of, and not with its own members', () => {
    assert.equal(at('let n = self.it|ems.len;'), 'self.items');
    assert.equal(at('let n = se|lf.items.len;'), 'self');
    assert.equal(at('total += order->items[i + 1].pr|ice * 2;', 'c'), 'order->items[i + 1].price');
    assert.equal(at('total += order->items[|i + 1].price * 2;', 'c'), 'i');
    assert.equal(at('p->next->n|ext = q;', 'c'), 'p->next->next');
    assert.equal(at('x = (*p).ne|xt;', 'c'), '(*p).next');
    assert.equal(at('x = ((struct node *)p)->ne|xt;', 'c'), '((struct node *)p)->next');
    assert.equal(at('grid[i][j].ce|ll'), 'grid[i][j].cell');
    assert.equal(at('|total + 1'), 'total');
    assert.equal(at('total| + 1'), 'total');
});

test('paths go with the name at their end', () => {
    assert.equal(at('ns::inner::co|unt + 1', 'cpp'), 'ns::inner::count');
    assert.equal(at('x = ::glo|bal;', 'cpp'), '::global');
    assert.equal(at('crate::config::LIM|IT'), 'crate::config::LIMIT');
});

test('a chain goes on over lines', () => {
    assert.equal(at('    self\n        .orders\n        .fi|rst'), 'self\n        .orders\n        .first');
});

test("tuples' fields are members, and numbers are nothing", () => {
    assert.equal(at('pair.|0'), 'pair.0');
    assert.equal(at('pair.0.|1'), 'pair.0.1');
    assert.equal(at('x = 4|2;'), undefined);
    assert.equal(at('x = 1.|5;'), undefined);
    assert.equal(at('for i in 0..en|d {'), 'end');
    assert.equal(at('for i in start..=en|d {'), 'end');
});

test('what is called is not evaluated to get at its members', () => {
    assert.equal(at('make().fi|eld'), undefined);
    assert.equal(at('self.items().le|n'), undefined);
    assert.equal(at('(f(x)).fi|eld'), undefined);
    assert.equal(at('vec![1].le|n'), undefined);
    assert.equal(at('Vec::<u8>::ne|w()'), undefined);
    assert.equal(at('make(ar|g).field'), 'arg');
});

test('keywords, macros, comments and strings are no expressions', () => {
    assert.equal(at('le|t x = 1;'), undefined);
    assert.equal(at('retu|rn x;', 'c'), undefined);
    assert.equal(at('return |x;', 'c'), 'x');
    assert.equal(at('print|ln!("x")'), undefined);
    assert.equal(at('while le|n != 2'), 'len');
    assert.equal(at('x // self.it|ems'), undefined);
    assert.equal(at('println!("a wo|rd")'), undefined);
    assert.equal(at('println!("{wo|rd}")'), 'word');
    assert.equal(at('this->co|unt', 'cpp'), 'this->count');
    assert.equal(at('a | b', 'c'), undefined);
});

test('names in any script are names', () => {
    assert.equal(at('größe.br|eite'), 'größe.breite');
    assert.equal(at('self.r#ty|pe'), 'self.r#type');
    assert.equal(at('𝑥|.y'), '𝑥');
});

test('no text is too odd', () => {
    for (const text of ['', ']', ')', 'a]', ').b', 'a.', '::a', '[[[', '->x', '🦀.x', '(().x', '.', '..x', 'r#', '#x']) {
        for (let place = 0; place <= text.length; place += 1) {
            const found = expressionAt(text, place);
            assert.ok(found === undefined || (found.start < found.end && found.end <= text.length), text);
        }
    }
});
