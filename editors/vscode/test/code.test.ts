import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Language, codeOf } from '../src/code';

/** What is left of a line, with one blank for all that is taken out. */
function left(text: string, language: Language): string {
    const code = codeOf(text, language);
    assert.equal(code.length, text.length, 'places stay');
    return code.replace(/ +/g, ' ').trim();
}

test('comments and strings of C are no code', () => {
    assert.equal(left('a /* b */ c // d', 'c'), 'a c');
    assert.equal(left('f("x \\" y", z)', 'c'), 'f( , z)');
    assert.equal(left("c == '\"' || d == '\\''", 'c'), 'c == || d ==');
    assert.equal(left('a // b \\\n c\nd', 'c'), 'a \n \nd');
    assert.equal(left('a "not closed\nb', 'c'), 'a \nb');
    assert.equal(left('a "carried \\\n on" b', 'c'), 'a \n b');
    assert.equal(left('/* /* */ a */', 'c'), 'a */');
    assert.equal(left('a /* without end', 'c'), 'a');
});

test('raw strings and separated digits of C++ are read as what they are', () => {
    assert.equal(left('auto s = R"x(a ")" b)x" + c;', 'cpp'), 'auto s = + c;');
    assert.equal(left('auto s = u8R"(a " b)" + c;', 'cpp'), 'auto s = + c;');
    assert.equal(left("n = 1'000'000 + m; c = L'x' + k;", 'cpp'), "n = 1'000'000 + m; c = L + k;");
    assert.equal(left("n = 0xff'ff + m;", 'cpp'), "n = 0xff'ff + m;");
    assert.equal(left("case'a': b;", 'cpp'), 'case : b;');
});

test('strings, characters and lifetimes of Rust are no code', () => {
    assert.equal(left("fn f<'a>(x: &'a str) -> char { 'b' }", 'rust'), 'fn f< >(x: & str) -> char { }');
    assert.equal(left("let q = '\\''; let u = '\\u{1F980}'; let e = 'é'; x", 'rust'), 'let q = ; let u = ; let e = ; x');
    assert.equal(left('let s = r#"a "b" c"# + d;', 'rust'), 'let s = + d;');
    assert.equal(left('let s = b"a\\"b" + br##"x"# y"## + c"z";', 'rust'), 'let s = + + ;');
    assert.equal(left('/* a /* b */ c */ d', 'rust'), 'd');
    assert.equal(left('let r#type = 1; r#type', 'rust'), 'let r#type = 1; r#type');
    assert.equal(left('"two\nlines" x // \\\ny', 'rust'), 'x \ny');
    assert.equal(left("'label: loop { break 'label; }", 'rust'), ': loop { break ; }');
});

test('names in a format string are code', () => {
    assert.equal(left('println!("{name}: {count:>5} {{no}} {} {0} word {x.y}", z)', 'rust'), 'println!( name count , z)');
    assert.equal(left('format!(r#"{deep:?}"#)', 'rust'), 'format!( deep )');
    assert.equal(left('b"{name}"', 'rust'), '');
    assert.equal(left('printf("{name}")', 'c'), 'printf( )');
});

test('what a position is in a document stays, whatever the text', () => {
    const odd = ['"', "'", "'\\", 'R"', 'R"(', '/*', '//', 'r#"', "b'", '\\', '"{', '"{a', "\u{1F980}'\u{1F980}'", "1'"];
    for (const language of ['c', 'cpp', 'rust'] as const) {
        for (const text of odd) {
            assert.equal(codeOf(text, language).length, text.length, `${language}: ${text}`);
        }
    }
});
