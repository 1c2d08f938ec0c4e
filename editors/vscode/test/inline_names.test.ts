import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Language, codeOf } from '../src/code';
import { functionHead, namesShown } from '../src/inline_names';

/** Each line with names, as `LINE: names`, for a stop at the line that ends in `// stop`; lines count from 1. */
function shown(text: string, language: Language): string[] {
    const stopped = text.split('\n').findIndex((line) => line.endsWith('// stop'));
    const lines = new Map<number, string[]>();
    for (const { line, name } of namesShown(codeOf(text, language), language, stopped)) {
        lines.set(line + 1, [...(lines.get(line + 1) ?? []), name]);
    }
    return [...lines].map(([line, names]) => `${line}: ${names.join(' ')}`);
}

test('names are shown from the head of the function to the stopped line, once on each', () => {
    const rust = `fn before(other: u32) {}

impl Shop {
    fn total(
        &self,
        discount: u32,
    ) -> u32 {
        let mut sum = 0; // not this
        for item in &self.items {
            sum += item.cents * sum; // stop
            later += 1;
        }
        sum
    }
}`;
    assert.deepEqual(shown(rust, 'rust'), ['5: self', '6: discount u32', '8: sum', '9: item', '10: sum item']);
});

test('members, paths and calls are no variables', () => {
    const rust = 'fn f() {\n    a.b(c.d, e::g, h(i), j!(k), 0..l); // stop\n}';
    assert.deepEqual(shown(rust, 'rust'), ['2: a c i k l']);
    const c = 'int f(int n)\n{\n#define X y\n    p->q = r.s + t (u) + "v"; // stop\n}';
    assert.deepEqual(shown(c, 'c'), ['1: n', '4: p r u']);
});

test('what C++ declares with an initialiser in parentheses is a variable', () => {
    const cpp = `int total(std::string_view all)
{
    std::string_view view(all);
    const std::vector<std::pair<int, int>> pairs(3, {1, 2});
    unsigned count(view.size()); char *end(strchr(a, b)); Shop &shop(find(view));
    if (check(view)) { auto inner(count); }
    return sum(count);
    else find(view);
    print(view); std::move(view); // stop
}`;
    assert.deepEqual(shown(cpp, 'cpp'), [
        '1: all',
        '3: view all',
        '4: pairs',
        '5: count view end a b Shop shop',
        '6: view inner count',
        '7: count',
        '8: view',
        '9: view',
    ]);
});

function headOf(text: string, language: Language): number {
    const lines = codeOf(text, language).split('\n');
    return functionHead(lines, language, text.split('\n').findIndex((line) => line.endsWith('// stop'))) + 1;
}

for (const [what, language, head, text] of [
    ['a brace on its own line', 'c', 1, 'int f(int a)\n{\n    if (a) {\n        g(); // stop\n    }\n}'],
    ['a type on its own line', 'c', 3, 'int x;\n\nstruct node *\nfind(int a)\n{\n    return 0; // stop\n}'],
    ['a returned struct', 'c', 1, 'struct pair make(int a) {\n    a++; // stop\n}'],
    ['nested statements', 'cpp', 2, 'namespace n {\nvoid C::f(int a) const noexcept {\n    for (;;) {\n        do {\n            switch (a) { case 1: {\n                a++; // stop\n} } } while (1); } }\n}'],
    ['blocks before it that are closed', 'c', 1, 'void f(void) {\n    if (a) { b(); }\n    while (c) {\n        d();\n    }\n    e(); // stop\n}'],
    ['its closing brace', 'c', 1, 'void f(void) {\n    a();\n} // stop'],
    ['its opening brace', 'c', 2, 'int x;\nint main(int argc, char **argv) { // stop\n    a();\n}'],
    ['a lambda with a name', 'cpp', 2, 'void f() {\n    auto l = [&](int x) {\n        return x; // stop\n    };\n}'],
    ['an initialiser with braces above', 'c', 1, 'void f(void) {\n    int a[] = {1, 2};\n    struct p q = (struct p){a[0], g(a)};\n    h(); // stop\n}'],
    ['a closure', 'rust', 1, 'fn f(a: u32) {\n    v.iter().map(|x| {\n        x + a // stop\n    });\n}'],
    ['a where clause', 'rust', 1, 'pub async fn f<T>(a: T)\nwhere\n    T: Copy,\n{\n    let p = P { x: 1 }; // stop\n}'],
    ['one line', 'rust', 2, 'struct S { x: u32 }\nfn f(s: S) -> u32 { s.x } // stop'],
    ['a brace in a string', 'rust', 1, 'fn f() {\n    g("}}}");\n    h(\'{\'); // stop\n}'],
    ['no function', 'c', 2, 'int a;\nint b = a; // stop'],
] as const) {
    test(`the head of a function is found: ${what}`, () => {
        assert.equal(headOf(text, language), head);
    });
}

test('a generated source of one line or without end is not gone through', () => {
    const long = `int f(int a) { ${'x = a; '.repeat(100_000)}`;
    assert.deepEqual(namesShown(long, 'c', 0), []);
    const deep = `${'{\n'.repeat(200_000)}x`;
    assert.deepEqual(namesShown(deep, 'c', 200_000).map(({ name }) => name), ['x']);
    assert.deepEqual(namesShown('', 'c', 10), []);
});
