//! Errors in Rust expressions: the message names the column, what is wrong, and what would be right.

use crate::support::evaluated::check;
use crate::support::inline;

const RUST: &str = r#"
use std::collections::HashMap;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape { Empty, Circle(f64), Square { side: u32 } }
#[derive(Debug)]
pub struct Point { x: i32, y: i32 }
impl Point { fn twice(&self) -> i32 { self.x * 2 } }
static TOTAL: i32 = 7;
const LIMIT: u8 = 9;
mod deep { pub static LEVEL: i32 = 4; pub struct Inner { pub value: u8 } pub mod er { pub fn here(inner: &super::Inner) -> i32 { let _ = inner; let level = super::LEVEL + crate::TOTAL; level // stop: deep
 } } }
fn main() {
    let point = Point { x: 1, y: -2 };
    let reference = &point;
    let raw: *const Point = &point;
    let shape = Shape::Square { side: 3 };
    let maybe: Option<u32> = Some(4);
    let none: Option<u32> = None;
    let numbers = vec![1, 2, 3];
    let array = [1u8, 2, 3];
    let name = String::from("ada");
    let ages = HashMap::from([("ada", 36)]);
    let small = 200u8;
    let real = 1.5f64;
    let boxed = Box::new(5);
    let add = |given: i32| given + point.x;
    let pointer: fn(&Point) -> i32 = Point::twice;
    let inner = deep::Inner { value: 3 };
    println!("{point:?} {reference:?} {raw:?} {shape:?} {maybe:?} {none:?} {numbers:?} {array:?} {name} {ages:?} {small} {real} {boxed} {} {} {LIMIT} {TOTAL} {}", add(1), pointer(&point), inner.value); // stop: main
    println!("{} {:?}", deep::er::here(&inner), [Shape::Empty, Shape::Circle(1.0)]);
}
"#;

#[test]
fn what_is_wrong_in_rust_is_said_with_what_would_be_right() {
    check(
        &inline("errors.rs", RUST, &[]),
        "main",
        &[
            (
                "point->x",
                "error: `point` is no pointer; use `.` instead of `->`",
            ),
            (
                "point.z",
                "error: column 7: `point` has no member `z`; it has x, y",
            ),
            (
                "point.0",
                "error: column 7: `point` has no member `0`; it has x, y",
            ),
            (
                "shape.sied",
                "error: column 7: `shape` has no member `sied`; did you mean `side`?",
            ),
            (
                "Shape::Cirlce",
                "error: `Shape` has no `Cirlce`; did you mean `Circle`?",
            ),
            (
                "shape == Shape::Cirlce",
                "error: column 10: `Shape` has no `Cirlce`; did you mean `Circle`?",
            ),
            ("none.unwrap()", "error: `none` is `None`"),
            (
                "maybe?",
                "error: column 6: `?` would return from a function; `.unwrap()` tells what is inside",
            ),
            (
                "*maybe",
                "error: column 2: `maybe` is no pointer, it is an `Option<u32>`",
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
                "numbers[1.0]",
                "error: column 9: `1.0` is no index: it is not an integer",
            ),
            (
                "numbers.iter()",
                "error: column 13: functions are not called here: that runs code of the program, and is done where it is typed, in the console or a watch",
            ),
            (
                "numbers.iter().sum::<i32>()",
                "error: column 13: functions are not called here: that runs code of the program, and is done where it is typed, in the console or a watch",
            ),
            (
                "numbers.push(3)",
                "error: column 13: functions are not called here: that runs code of the program, and is done where it is typed, in the console or a watch",
            ),
            (
                "small + 100",
                "error: column 9: the result does not fit a `u8`: an overflow",
            ),
            (
                "small as u9",
                "error: column 10: there is no type `u9`; did you mean `u8`?",
            ),
            (
                "small as Strng",
                "error: column 10: there is no type `Strng`; did you mean `String`?",
            ),
            (
                "point as i32",
                "error: `point` is no number, it is an `errors::Point`",
            ),
            ("name[0]", "error: `name` has no elements, it is a `String`"),
            (
                "name + \"x\"",
                "error: `name` is no number, it is a `String`",
            ),
            (
                "name.escape_ascii()",
                "error: column 18: functions are not called here: that runs code of the program, and is done where it is typed, in the console or a watch",
            ),
            (
                "ages[\"bob\"]",
                "error: column 6: `ages` has no key \"bob\"",
            ),
            (
                "println!(\"{}\", small)",
                "error: column 8: macros are the compiler's: there is none to be called",
            ),
            (
                "vec![1, 2]",
                "error: column 4: macros are the compiler's: there is none to be called",
            ),
            (
                "format!(\"x\")",
                "error: column 7: macros are the compiler's: there is none to be called",
            ),
            (
                "dbg!(small)",
                "error: column 4: macros are the compiler's: there is none to be called",
            ),
            (
                "add(2)",
                "error: column 4: functions are not called here: that runs code of the program, and is done where it is typed, in the console or a watch",
            ),
            (
                "pointer(&point)",
                "error: column 8: functions are not called here: that runs code of the program, and is done where it is typed, in the console or a watch",
            ),
            (
                "point.twice()",
                "error: column 12: functions are not called here: that runs code of the program, and is done where it is typed, in the console or a watch",
            ),
            (
                "Point::twice(&point)",
                "error: column 13: functions are not called here: that runs code of the program, and is done where it is typed, in the console or a watch",
            ),
            (
                "LIMIT",
                "error: no variable `LIMIT` here; a `const` is not in the debug information, only a `static` is",
            ),
            (
                "super::TOTAL",
                "error: no variable `super::TOTAL` here; did you mean `errors::TOTAL`?",
            ),
            (
                "deep::LEVLE",
                "error: no variable `deep::LEVLE` here; did you mean `deep::LEVEL`?",
            ),
            ("self.x", "error: no variable `self` here"),
            (
                "Self::new()",
                "error: column 10: functions are not called here: that runs code of the program, and is done where it is typed, in the console or a watch",
            ),
            (
                "let x = 3",
                "error: column 5: no variables can be declared here; those of the program can be set: `x = 3`",
            ),
            (
                "if small > 3 { 1 } else { 2 }",
                "error: `if` is not evaluated: only plain expressions are",
            ),
            (
                "match maybe { Some(x) => x, None => 0 }",
                "error: `match` is not evaluated: only plain expressions are",
            ),
            (
                "|x| x + 1",
                "error: a value was expected here; closures can't be made",
            ),
            (
                "1..3",
                "error: a value written part by part can be assigned and compared only",
            ),
            (
                "[0; 3]",
                "error: a value written part by part can be assigned and compared only",
            ),
            (
                "&&point",
                "error: a reference to a reference can't be made here",
            ),
            (
                "*point",
                "error: column 2: `point` is no pointer, it is an `errors::Point`",
            ),
            ("!real", "error: `!` needs an integer or a `bool`"),
            (
                "-small",
                "error: the result does not fit a `u8`: an overflow",
            ),
            (
                "small++",
                "error: column 6: evaluating must not change the program: assignments are refused",
            ),
            (
                "sizeof(Point)",
                "error: this is C's; in Rust it is `size_of::<T>()` or `size_of_val(&x)`",
            ),
            (
                "size_of::<Pont>()",
                "error: column 11: there is no type `Pont`; did you mean `Point`?",
            ),
            (
                "&name[1..9]",
                "error: column 10: 1..9 is out of bounds: `name` has 3 bytes",
            ),
            (
                "'ab'",
                "error: one character stands between `'` and `'`; a text is written `\"…\"`",
            ),
            (
                "b\"ab\" == array",
                "error: column 10: `array` is no text that can be compared, it is a `[u8; 3]`",
            ),
            ("1u9", "error: column 2: `u9` is no suffix of a number"),
            ("256u8", "error: 256 does not fit a `u8`"),
            ("-129i8", "error: column 2: 129 does not fit an `i8`"),
            (
                "true & 1",
                "error: column 8: a `bool` goes with a `bool` only",
            ),
            (
                "true + 1",
                "error: column 8: a `bool` goes with a `bool` only",
            ),
            (
                "return 3",
                "error: `return` is not evaluated: only plain expressions are",
            ),
            (
                "await",
                "error: `await` is not evaluated: only plain expressions are",
            ),
            (
                "unsafe { *raw }",
                "error: `unsafe` is not evaluated: only plain expressions are",
            ),
            (
                "numbers[2..1]",
                "error: column 12: 2..1 is out of bounds: `numbers` has 3 elements",
            ),
            (
                "point < reference",
                "error: `point` is no number, it is an `errors::Point`",
            ),
            (
                "point.x.cmp(2)",
                "error: column 12: functions are not called here: that runs code of the program, and is done where it is typed, in the console or a watch",
            ),
            (
                "f64::consts::PI",
                "error: no variable `f64::consts::PI` here; a `const` is not in the debug information, only a `static` is",
            ),
        ],
    );
}
