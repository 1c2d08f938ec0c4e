//! Language features besides paths and arithmetic: alignments, ranges, paths relative to the frame, and pointers to functions.

use crate::support::evaluated::check;
use crate::support::{Fixture, inline, listing};
use dapple_engine::calls::CallOptions;

/// Like [`check`], but expressions may call functions.
#[track_caller]
fn check_calling(fixture: &Fixture, stop: &str, expected: &[(&str, &str)]) {
    let mut debuggee = fixture.launch();
    debuggee.break_at(&[stop]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let session = debuggee.session();
    let mut wrong = Vec::new();
    for (expression, text) in expected {
        let frame = listing::innermost(session, thread);
        let (found, _) = session.execute(expression, Some(frame), &CallOptions::default());
        let found = match found {
            Ok((_, rendered)) => listing::mask(&rendered.text),
            Err(error) => format!("error: {error}"),
        };
        if found != *text {
            wrong.push(format!(
                "{expression}\n  is       {found}\n  expected {text}"
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn c() {
    let program = inline(
        "language.c",
        r#"
#include <stdio.h>
enum colour { RED, GREEN = 5 };
struct flags { unsigned low : 3; unsigned middle : 7; int high : 4; unsigned long wide : 40; };
struct mixed { char letter; double real; };
static int twice(int given) { return 2 * given; }
int main(void) {
    struct flags flags = { 1, 2, -3, 4 };
    struct mixed mixed = { 'm', 1.5 };
    short little = 7;
    void *anything = (void *)twice;
    int (*function)(int) = twice;
    char text[] = "text";
    printf("%d %d %p %d %s\n", mixed.letter, little, anything, function(RED), text); // stop: main
    printf("%u %u %d %lu\n", flags.low, flags.middle, flags.high, (unsigned long)flags.wide); // stop: after
    return 0;
}
"#,
        &[],
    );
    check(
        &program,
        "main",
        &[
            ("_Alignof(int)", "4"),
            ("_Alignof(struct mixed)", "8"),
            ("alignof(char *)", "8"),
            ("alignof(long double)", "16"),
            ("_Alignof little", "2"),
            ("_Alignof mixed.letter", "1"),
            ("010 + 0x10 + 0b10 + 0", "26"),
            ("007.5", "7.5"),
            ("little;", "7"),
            ("&main == main", "true"),
            ("(int (*)(int))anything == function", "true"),
            ("sizeof((int (*)(int, char *, ...))anything)", "8"),
        ],
    );
    check_calling(
        &program,
        "main",
        &[
            ("((int (*)(int))anything)(21)", "42"),
            ("(&twice)(4)", "8"),
            ("function(5)", "10"),
            (
                "flags = {7, 100, -8, 1099511627775}",
                "{low = 7, middle = 100, high = -8, wide = 1099511627775}",
            ),
            (
                "flags = {.high = 7, .low = 5}",
                "{low = 5, middle = 0, high = 7, wide = 0}",
            ),
            (
                "flags == {5, 0, 7}",
                "error: column 10: its part `wide` is missing",
            ),
        ],
    );
}

#[test]
fn cpp() {
    let program = inline(
        "language.cpp",
        r#"
#include <cstdio>
#include <string>
struct Item {
    enum class Kind { Small, Large } kind = Kind::Large;
    enum { Few = 2, Many = 9 };
    int count = Many;
    int in() const {
        return count + Few; // stop: method
    }
};
namespace shop { struct Shelf : Item { enum { Empty, Full } state = Full; }; }
int main() {
    Item item;
    shop::Shelf shelf;
    int more = 3;
    auto add = [more](int given) { return given + more; };
    auto never = [&](long given) { return given + more; };
    (void)never;
    bool yes = true;
    std::string name = "ada";
    std::printf("%d %d %d %d %s\n", item.in(), shelf.count, add(1), yes, name.c_str()); // stop: main
    return 0;
}
"#,
        &["-std=c++17"],
    );
    check(
        &program,
        "main",
        &[
            ("Item::Few", "Few"),
            ("Item::Many + 1", "10"),
            ("item.Many + 1", "10"),
            ("item.count == Item::Many", "true"),
            ("shop::Shelf::Full + 0", "1"),
            ("shop::Shelf::Many + 0", "9"),
            ("yes and not false or more bitand 4", "true"),
            ("alignof(Item)", "4"),
            ("name[3]", "0 '\\0'"),
        ],
    );
    check(
        &program,
        "method",
        &[
            ("Many + Few", "11"),
            ("count == Many", "true"),
            ("Kind::Large", "Large"),
        ],
    );
    check_calling(
        &program,
        "main",
        &[
            ("add(2)", "5"),
            ("add(add(2)) * 2", "16"),
            (
                "never(2)",
                "error: `{lambda}::operator()` can't be called: it has no code of its own: it was inlined wherever it is called, or never called",
            ),
        ],
    );
}

#[test]
fn rust() {
    let program = inline(
        "language.rs",
        r#"
use std::ops::{Range, RangeInclusive};

static TOTAL: i32 = 7;
#[derive(Debug)]
pub struct Pair { left: u8, right: u64 }
mod deep {
    pub static LEVEL: i32 = 4;
    #[derive(Debug)]
    pub enum Mode { On, Off }
    pub struct Inner { pub value: u8 }
    impl Inner {
        pub fn here(&self) -> i32 {
            let level = LEVEL + i32::from(self.value);
            level // stop: method
        }
    }
    pub fn twice(given: i32) -> i32 { given * 2 }
    pub mod er {
        pub static NEAR: i32 = 5;
        pub fn here() -> i32 {
            let level = super::LEVEL + crate::TOTAL + NEAR;
            level // stop: deep
        }
    }
}
fn main() {
    let pair = Pair { left: 1, right: 2 };
    let range: Range<i32> = 2..5;
    let closed: RangeInclusive<u8> = 1..=3;
    let array = [4u8; 3];
    let mode = deep::Mode::Off;
    let offset = 3;
    let add = |given: i32| given + offset;
    let pointer: fn(i32) -> i32 = deep::twice;
    let raw = deep::twice as *const ();
    println!("{pair:?} {range:?} {closed:?} {array:?} {mode:?} {} {} {raw:p}", add(1), pointer(2)); // stop: main
    println!("{} {} {:?}", deep::er::here(), deep::Inner { value: 3 }.here(), deep::Mode::On);
}
"#,
        &[],
    );
    check(
        &program,
        "main",
        &[
            ("align_of::<Pair>()", "8"),
            ("std::mem::align_of::<u16>() + align_of_val(&pair)", "10"),
            ("range == (2..5)", "true"),
            ("range == (2..6)", "false"),
            ("closed == (1..=3)", "true"),
            ("(2..5).contains(&3) && !(2..5).contains(&5)", "true"),
            (
                "(..=5).contains(&range.end) && !(9..).contains(&offset)",
                "true",
            ),
            ("(5..2).is_empty()", "true"),
            ("range.contains(&4)", "true"),
            ("range.contains(&5)", "false"),
            ("closed.contains(&3)", "true"),
            ("array == [4; 3]", "true"),
            ("array == [4; 2]", "false"),
            ("u8::MAX as i32 + i8::MIN as i32", "127"),
            ("std::i128::MIN", "-170141183460469231731687303715884105728"),
            ("u128::MAX", "340282366920938463463374607431768211455"),
            ("f64::INFINITY > f64::MAX", "true"),
            ("mode == deep::Mode::Off", "true"),
            ("mode == crate::deep::Mode::On", "false"),
            ("crate::TOTAL + self::TOTAL", "14"),
            ("crate::deep::er::NEAR", "5"),
            ("size_of::<crate::deep::Inner>()", "1"),
            ("-128i8", "-128"),
        ],
    );
    check(
        &program,
        "deep",
        &[
            ("super::LEVEL", "4"),
            ("super::super::TOTAL", "7"),
            ("self::NEAR", "5"),
            ("crate::TOTAL", "7"),
            ("size_of::<super::Inner>()", "1"),
        ],
    );
    check(
        &program,
        "method",
        &[
            ("self::LEVEL", "4"),
            ("super::TOTAL", "7"),
            ("self.value", "3"),
        ],
    );
    check_calling(
        &program,
        "main",
        &[
            ("range = 1..offset", "1..3"),
            ("array = [9; 3]", "[9, 9, 9]"),
            ("crate::deep::twice(21)", "42"),
            ("(raw as fn(i32) -> i32)(5)", "10"),
            ("pointer(3)", "6"),
            ("add(2)", "5"),
        ],
    );
}
