//! Errors in expressions: the message names the column, what is wrong, and what would be right.

use crate::support;
use crate::support::evaluated::check;
use crate::support::inline;

const C: &str = r#"
#include <stdio.h>
#include <stdlib.h>
enum colour { RED, GREEN = 5, BLUE };
struct point { int x, y; };
struct node { int value; struct node *next; struct point at; };
static int counter = 3;
static int twice(int given) { return 2 * given; }
int main(int argc, char **argv) {
    struct node last = { 1, NULL, { 3, 4 } };
    struct node *first = &last;
    enum colour colour = GREEN;
    int numbers[4] = { 1, 2, 3, 4 };
    const char *name = "ada";
    double real = 1.5;
    void *anything = &last;
    printf("%p %d %d %s %g %p %d %d\n", (void *)first, colour, numbers[0], name, real, anything, argc, twice(counter)); // stop: main
    return argv == NULL;
}
"#;

#[test]
fn what_is_wrong_in_c_is_said_with_what_would_be_right() {
    check(
        &inline("errors.c", C, &[]),
        "main",
        &[
            (
                "*argv@3",
                "error: column 6: `@` is not understood; for as many elements write their number behind a comma: `p, 3`",
            ),
            (
                "argv[0]@2",
                "error: column 8: `@` is not understood; for as many elements write their number behind a comma: `p, 3`",
            ),
            ("numbers[", "error: column 9: the expression ends too early"),
            ("numbers[1", "error: column 10: `]` was expected here"),
            ("numbers[]", "error: column 9: a value was expected here"),
            (
                "&numbers[",
                "error: column 10: the expression ends too early",
            ),
            (
                "last->value",
                "error: `last` is no pointer; use `.` instead of `->`",
            ),
            (
                "last.valeu",
                "error: column 6: `last` has no member `valeu`; did you mean `value`?",
            ),
            (
                "first->nxet",
                "error: column 8: `first` has no member `nxet`; did you mean `next`?",
            ),
            (
                "colour == GREN",
                "error: column 11: no variable `GREN` here; did you mean `GREEN`?",
            ),
            (
                "colour == Green",
                "error: column 11: no variable `Green` here; did you mean `GREEN`?",
            ),
            (
                "colour == enum colour::RED",
                "error: column 16: an operator or the end was expected here",
            ),
            (
                "BLEU",
                "error: no variable `BLEU` here; did you mean `BLUE`?",
            ),
            (
                "twice(3)",
                "error: column 6: functions are not called here: that runs code of the program, and is done where it is typed, in the console or a watch",
            ),
            (
                "twice 3",
                "error: column 7: an operator or the end was expected here",
            ),
            (
                "printf(\"x\")",
                "error: column 7: functions are not called here: that runs code of the program, and is done where it is typed, in the console or a watch",
            ),
            ("(1 + 2", "error: column 7: `)` was expected here"),
            ("1 + 2)", "error: column 6: this `)` closes nothing"),
            ("((1)", "error: column 5: `)` was expected here"),
            ("1 +", "error: column 4: the expression ends too early"),
            ("* 3", "error: column 3: `3` is no pointer, it is an `int`"),
            (
                "first->",
                "error: column 8: a member's name was expected here",
            ),
            (
                "first->.value",
                "error: column 8: a member's name was expected here",
            ),
            (
                "first.",
                "error: column 7: a member's name was expected here",
            ),
            (
                "(struct nod *)anything",
                "error: column 9: there is no type `nod`; did you mean `node`?",
            ),
            (
                "(nosuch)anything",
                "error: column 2: there is no type `nosuch`",
            ),
            (
                "(nosuch *)anything",
                "error: column 2: there is no type `nosuch`",
            ),
            (
                "(struct point)last",
                "error: column 9: nothing can be cast to a `point`",
            ),
            (
                "sizeof(struct nod)",
                "error: column 15: there is no type `nod`; did you mean `node`?",
            ),
            (
                "sizeof nosuch",
                "error: column 8: no variable `nosuch` here",
            ),
            (
                "auto x = 3",
                "error: column 6: no variables can be declared here; those of the program can be set: `x = 3`",
            ),
            (
                "int x = 3",
                "error: column 5: no variables can be declared here; those of the program can be set: `x = 3`",
            ),
            (
                "let x = 3",
                "error: column 5: no variables can be declared here; those of the program can be set: `x = 3`",
            ),
            (
                "x := 3",
                "error: column 3: an operator or the end was expected here",
            ),
            ("\"abc", "error: this text has no end"),
            (
                "'a",
                "error: one character stands between `'` and `'`; a text is written `\"…\"`",
            ),
            (
                "'ab'",
                "error: one character stands between `'` and `'`; a text is written `\"…\"`",
            ),
            (
                "''",
                "error: one character stands between `'` and `'`; a text is written `\"…\"`",
            ),
            (
                "\"a\\qb\"",
                "error: column 3: this escape is not understood",
            ),
            (
                "'\\x'",
                "error: one character stands between `'` and `'`; a text is written `\"…\"`",
            ),
            (
                "\"\\400\"",
                "error: column 2: this escape is not understood",
            ),
            (
                "123456789012345678901234567890123456789012345",
                "error: this number is too large: it has more than 128 bits",
            ),
            ("0x", "error: a number's digits were expected behind `0x`"),
            ("0b102", "error: column 5: `2` has no digits of base 2"),
            ("1.5.2", "error: `1.5` has no members, it is a `double`"),
            ("12abc", "error: column 3: `abc` is no suffix of a number"),
            ("0x1g", "error: column 4: `g` is no suffix of a number"),
            ("09", "error: column 2: `9` has no digits of base 8"),
            (
                "name + 1.5",
                "error: column 8: a pointer goes with integers and pointers only",
            ),
            (
                "name * 2",
                "error: column 8: pointers can be compared, moved and subtracted only",
            ),
            (
                "last + 1",
                "error: `last` is no number, it is a `struct node`",
            ),
            (
                "!last",
                "error: column 2: `last` is no number, it is a `struct node`",
            ),
            (
                "last == last",
                "error: `last` is no number, it is a `struct node`",
            ),
            (
                "numbers == 3.5",
                "error: column 12: a pointer goes with integers and pointers only",
            ),
            (
                "name == name2",
                "error: column 9: no variable `name2` here; did you mean `name`?",
            ),
            (
                "*real",
                "error: column 2: `real` is no pointer, it is a `double`",
            ),
            ("real[0]", "error: `real` has no elements, it is a `double`"),
            (
                "*anything",
                "error: column 2: `anything` points to something of unknown type; cast it first",
            ),
            (
                "anything->x",
                "error: `anything` has no members, it is a `void *`; cast it first",
            ),
            (
                "&3",
                "error: column 2: `3` is not in memory, so it has no address",
            ),
            (
                "&(1 + 2)",
                "error: column 2: `(1 + 2)` is not in memory, so it has no address",
            ),
            (
                "numbers[1.5]",
                "error: column 9: `1.5` is no index: it is not an integer",
            ),
            (
                "numbers[name]",
                "error: column 9: `name` is no index: it is not an integer",
            ),
            (
                "numbers[\"a\"]",
                "error: column 9: a text can be assigned, compared and looked up only",
            ),
            ("a, b", "error: no variable `a` here"),
            ("1; 2", "error: column 2: one expression at a time"),
            (
                "p counter",
                "error: column 3: the expression alone is enough, without a command in front",
            ),
            (
                "print counter",
                "error: column 7: the expression alone is enough, without a command in front",
            ),
            ("/x counter", "error: a value was expected here"),
            ("counter /x", "error: column 10: no variable `x` here"),
            ("$foo", "error: there is no register `$foo`"),
            (
                "$1",
                "error: there is no `$1`: values that were shown have no numbers here",
            ),
            (
                "$",
                "error: there is no `$`: values that were shown have no numbers here",
            ),
            (
                "#define",
                "error: `#` is not understood; there is no preprocessor here",
            ),
            (
                "@",
                "error: `@` is not understood; for as many elements write their number behind a comma: `p, 3`",
            ),
            ("`", "error: ``` is not understood; characters stand in `'`"),
            ("\\", "error: `\\` is not understood"),
            ("numbers[0", "error: column 10: `]` was expected here"),
            (
                "first->at.z",
                "error: column 11: `first->at` has no member `z`; it has x, y",
            ),
            (
                "first->next->value",
                "error: `first->next` is a null pointer",
            ),
            ("first ? 1", "error: column 10: `:` was expected here"),
            ("1 ? 2 :", "error: column 8: the expression ends too early"),
            (
                "counter = 4",
                "error: column 9: evaluating must not change the program: assignments are refused",
            ),
            (
                "counter++",
                "error: column 8: evaluating must not change the program: assignments are refused",
            ),
            ("sizeof", "error: column 7: the expression ends too early"),
            ("sizeof()", "error: column 8: a value was expected here"),
            (
                "return 3",
                "error: `return` is not evaluated: only plain expressions are",
            ),
            (
                "if (1) 2",
                "error: `if` is not evaluated: only plain expressions are",
            ),
            (
                "{1, 2}",
                "error: a value written part by part can be assigned and compared only",
            ),
            (
                "numbers[1..9]",
                "error: column 12: 1..9 is out of bounds: `numbers` has 4 elements",
            ),
            (
                "1..3",
                "error: column 2: a range stands in an index only: `v[1..3]`",
            ),
            (
                "first as int",
                "error: column 7: a cast is written in front: `(int)x`",
            ),
            ("self", "error: no variable `self` here"),
            ("this", "error: no variable `this` here"),
            ("true && ", "error: column 8: the expression ends too early"),
            ("1 < > 2", "error: column 5: a value was expected here"),
            (
                "main.x",
                "error: `main` has no members, it is a `void *`; cast it first",
            ),
            ("std::string", "error: no variable `std::string` here"),
            ("NULL->x", "error: `NULL` is a null pointer"),
            (
                "5 % 1.5",
                "error: column 5: `%` needs integers on both sides",
            ),
            (
                "1 << 70",
                "error: column 6: a shift by 70 does not fit 32 bits",
            ),
            ("1 / 0", "error: column 5: division by zero"),
            ("~1.5", "error: this operator needs a number"),
        ],
    );
}

const CPP: &str = r#"
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>
namespace shop { struct Item { enum class Kind { Small, Large } kind; enum { Few = 2, Many }; int price; virtual ~Item() = default; int twice() const { return price * 2; } static int all; }; int Item::all = 4; }
template <typename T> struct Box { T item; T get() const { return item; } };
int main() {
    shop::Item item; item.kind = shop::Item::Kind::Large; item.price = 3;
    Box<int> box{5};
    std::vector<int> numbers{1, 2, 3};
    std::map<std::string, int> ages{{"ada", 36}};
    std::unique_ptr<shop::Item> owned(new shop::Item(item));
    shop::Item *pointer = &item;
    int more = 3;
    auto add = [more](int given) { return given + more; };
    auto never = [&](long given) { return given + more; };
    (void)never;
    std::string name = "ada";
    std::printf("%d %d %zu %zu %d %s %d %d\n", item.price, box.get(), numbers.size(), ages.size(), add(1), name.c_str(), pointer->twice(), shop::Item::Many); // stop: main
    return 0;
}
"#;

#[test]
fn what_is_wrong_in_cpp_is_said_with_what_would_be_right() {
    check(
        &inline("errors.cpp", CPP, &["-std=c++17"]),
        "main",
        &[
            (
                "item.kind == Kind::Lrge",
                "error: column 14: `Kind` has no `Lrge`; did you mean `Large`?",
            ),
            (
                "shop::Item::Kind::Lrge",
                "error: `shop::Item::Kind` has no `Lrge`; did you mean `Large`?",
            ),
            (
                "shop::Itm::all",
                "error: no variable `shop::Itm::all` here; did you mean `shop::Item::all`?",
            ),
            ("Many", "error: no variable `Many` here"),
            (
                "shp::Item::all",
                "error: no variable `shp::Item::all` here; did you mean `shop::Item::all`?",
            ),
            (
                "item->price",
                "error: `item` is no pointer; use `.` instead of `->`",
            ),
            (
                "owned->prcie",
                "error: column 8: `owned` has no member `prcie`; did you mean `price`?",
            ),
            (
                "numbers[3]",
                "error: column 9: index 3 is out of bounds: `numbers` has elements 0 to 2",
            ),
            (
                "numbers[-1]",
                "error: column 9: index -1 is out of bounds: `numbers` has elements 0 to 2",
            ),
            (
                "numbers.at(9)",
                "error: column 12: index 9 is out of bounds: `numbers` has elements 0 to 2",
            ),
            (
                "numbers.size",
                "error: `numbers` has no members, it is a `std::vector<int>`; there is `size()`",
            ),
            (
                "numbers.push_back(4)",
                "error: column 18: functions are not called here: that runs code of the program, and is done where it is typed, in the console or a watch",
            ),
            (
                "numbers.begin()",
                "error: column 14: functions are not called here: that runs code of the program, and is done where it is typed, in the console or a watch",
            ),
            (
                "ages[\"bob\"]",
                "error: column 6: `ages` has no key \"bob\"",
            ),
            ("ages[3]", "error: column 6: `ages` has no key 3"),
            (
                "ages.at(\"bob\")",
                "error: column 9: `ages` has no key \"bob\"",
            ),
            (
                "ages.find(\"ada\")",
                "error: column 10: functions are not called here: that runs code of the program, and is done where it is typed, in the console or a watch",
            ),
            (
                "box.get()",
                "error: column 5: functions can't be called here, and what `get()` would say of `box`, a `Box<int>`, is not known",
            ),
            ("Box<int>", "error: column 9: the expression ends too early"),
            (
                "Box<long>::item",
                "error: no variable `Box<long>::item` here",
            ),
            (
                "(Box<long> *)&box",
                "error: column 2: there is no type `Box<long>`; there is `Box<int>`",
            ),
            (
                "sizeof(Box<long>)",
                "error: column 8: there is no type `Box<long>`; there is `Box<int>`",
            ),
            (
                "std::vector<int>{1, 2}",
                "error: column 13: `int` is a type, not a value",
            ),
            (
                "static_cast<Itm *>(pointer)",
                "error: column 13: there is no type `Itm`; did you mean `Item`?",
            ),
            (
                "static_cast<shop::Item *>(pointer",
                "error: column 34: `)` was expected here",
            ),
            (
                "static_cast<int>pointer",
                "error: column 17: `(` was expected here",
            ),
            (
                "new int",
                "error: `new` would run code of the program: call a function that does",
            ),
            (
                "delete pointer",
                "error: `delete` would run code of the program: call a function that does",
            ),
            (
                "throw 1",
                "error: `throw` would run code of the program: call a function that does",
            ),
            ("nullptr->x", "error: `nullptr` is a null pointer"),
            (
                "*nullptr",
                "error: column 2: `nullptr` points to something of unknown type; cast it first",
            ),
            ("this->x", "error: no variable `this` here"),
            (
                "add(2)",
                "error: column 4: functions are not called here: that runs code of the program, and is done where it is typed, in the console or a watch",
            ),
            (
                "never(2)",
                "error: column 6: functions are not called here: that runs code of the program, and is done where it is typed, in the console or a watch",
            ),
            (
                "[](int x) { return x; }(3)",
                "error: a value was expected here",
            ),
            (
                "name + \"x\"",
                "error: `name` is no number, it is a `std::string`",
            ),
            (
                "name[9]",
                "error: column 6: index 9 is out of bounds: `name` has 3 bytes",
            ),
            (
                "name == 3",
                "error: `name` is no number, it is a `std::string`",
            ),
            (
                "name.substr(1)",
                "error: column 12: functions are not called here: that runs code of the program, and is done where it is typed, in the console or a watch",
            ),
            (
                "std::move(name)",
                "error: column 10: functions are not called here: that runs code of the program, and is done where it is typed, in the console or a watch",
            ),
            ("std::cout << name", "error: no variable `std::cout` here"),
            (
                "decltype(more)",
                "error: `decltype` is the compiler's; the type is told with the value",
            ),
            (
                "typeid(item)",
                "error: `typeid` is the compiler's; the type is told with the value",
            ),
            ("auto", "error: no variable `auto` here"),
            ("more ?: 1", "error: column 7: a value was expected here"),
            ("item.Item::price", "3"),
            (
                "item.Other::price",
                "error: column 6: `item` has no member `Other::price`; it has kind, price, all",
            ),
            ("operator+(1, 2)", "error: column 12: `)` was expected here"),
            (
                "::more",
                "error: no variable `::more` here; did you mean `more`?",
            ),
            (
                "shop::",
                "error: column 5: an operator or the end was expected here",
            ),
            (
                "numbers[0]++",
                "error: column 11: evaluating must not change the program: assignments are refused",
            ),
            (
                "pointer <=> pointer",
                "error: column 11: a value was expected here",
            ),
        ],
    );
}

#[test]
fn no_text_is_too_long_or_too_deep() {
    let deep = |open: &str, close: &str, depth: usize| {
        format!("{}1{}", open.repeat(depth), close.repeat(depth))
    };
    let long = "error: the expression is too long".to_owned();
    let mut table = vec![
        (deep("(", ")", 10_000), long.clone()),
        (deep("~", "", 3000), String::new()),
        (deep("(", ")", 1500), String::new()),
        ("x".repeat(5000), long),
        (format!("1{}", " + 1".repeat(1000)), String::new()),
    ];
    let fixture = inline("errors.c", C, &[]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["main"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let frame = support::listing::innermost(debuggee.session(), thread);
    for (text, expected) in table.drain(..) {
        let fault = debuggee.session().evaluate(&text, Some(frame));
        let fault = format!("error: {}", fault.expect_err("it is too much"));
        let is_nested = fault.starts_with("error: column ") && fault.ends_with("nested too deep");
        assert!(
            fault == expected || (expected.is_empty() && is_nested),
            "{}: {fault}",
            &text[..20]
        );
    }
}
