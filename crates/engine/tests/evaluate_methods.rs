//! Methods of the standard libraries in expressions, and literals of composite values.

use crate::support;
use crate::support::evaluated::check;
use crate::support::{fixture, inline};

#[test]
fn rust_methods_that_only_ask_are_answered() {
    let program = inline(
        "asked.rs",
        r#"
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::rc::Rc;

#[derive(Debug, PartialEq)]
enum Shape { Empty, Circle { r: f64 }, Line(i32, i32) }
#[derive(Debug, PartialEq, Clone, Copy)]
struct Point { x: i32, y: i32 }
fn main() {
    let some = Some(5);
    let none: Option<u16> = None;
    let name: Option<&str> = Some("ada");
    let boxed: Option<Box<Point>> = Some(Box::new(Point { x: 1, y: 2 }));
    let good: Result<u8, String> = Ok(7);
    let bad: Result<u8, String> = Err("no".to_string());
    let numbers = vec![3, 1, 4];
    let nothing: Vec<u8> = Vec::new();
    let queue = VecDeque::from([1u8, 2]);
    let stock = BTreeMap::from([("pear", 3), ("fig", 9)]);
    let seen = HashSet::from([10u32, 20]);
    let empty = Shape::Empty;
    let circle = Shape::Circle { r: 1.5 };
    let line = Shape::Line(1, -2);
    let point = Point { x: 1, y: 2 };
    let pair = (point, "two");
    let grid = [[1, 2], [3, 4]];
    let text = "grüße".to_string();
    let borrowed: &str = &text;
    let cell = Cell::new(4);
    let shared = Rc::new(RefCell::new(6));
    println!("{some:?} {none:?} {name:?} {boxed:?} {good:?} {bad:?} {numbers:?} {nothing:?} {queue:?} {stock:?}"); // stop: main
    println!("{seen:?} {empty:?} {circle:?} {line:?} {pair:?} {grid:?} {text} {borrowed} {cell:?} {shared:?}");
}
"#,
        &[],
    );
    check(
        &program,
        "main",
        &[
            ("some == Some(5)", "true"),
            ("some == Some(6)", "false"),
            ("some != None", "true"),
            ("none == None && none == Option::None", "true"),
            ("Some(5) == some", "true"),
            ("name == Some(\"ada\")", "true"),
            ("boxed == Some(Point { x: 1, y: 2 })", "true"),
            ("good == Ok(7) && good != Ok(8)", "true"),
            ("bad == Err(\"no\")", "true"),
            ("empty == Shape::Empty", "true"),
            ("circle == Shape::Empty", "false"),
            ("circle == Shape::Circle { r: 1.5 }", "true"),
            (
                "line == Shape::Line(1, -2) && line != Shape::Line(1, 2)",
                "true",
            ),
            ("point == Point { y: 2, x: 1 }", "true"),
            ("pair == (Point { x: 1, y: 2 }, \"two\")", "true"),
            ("numbers == [3, 1, 4]", "true"),
            ("numbers == [3, 1]", "false"),
            ("grid == [[1, 2], [3, 4]] && grid[1] == [3, 4]", "true"),
            ("some.unwrap() + 1", "6"),
            ("boxed.unwrap().y", "2"),
            ("good.unwrap()", "7"),
            ("none.unwrap()", "error: `none` is `None`"),
            (
                "*numbers.first().unwrap() == 3 && *numbers.last().unwrap() == 4",
                "true",
            ),
            ("numbers.get(1)", "Some(1)"),
            ("numbers.contains(&4) && !numbers.contains(&5)", "true"),
            ("nothing.first()", "None"),
            ("queue.back()", "Some(2)"),
            ("stock.contains_key(\"pear\")", "true"),
            ("stock.get(\"fig\").unwrap() * 2", "18"),
            ("seen.contains(&20)", "true"),
            ("cell.get()", "4"),
            ("text[1..4]", "\"rü\""),
            ("text[4..].len()", "3"),
            ("&borrowed[..2] == \"gr\"", "true"),
            ("text[2..4] == \"ü\"", "true"),
            (
                "text[..3]",
                "error: column 8: byte 3 of `text` is inside of a character",
            ),
            (
                "text[..30]",
                "error: column 8: 0..30 is out of bounds: `text` has 7 bytes",
            ),
            (
                "point == Point { x: 1 }",
                "error: column 10: its part `y` is missing",
            ),
            (
                "point == Point { x: 1, z: 2 }",
                "error: column 27: there is no part `z`; it has `x`, `y`",
            ),
            (
                "some == (1, 2)",
                "error: column 9: it has 1 parts, and these are 2",
            ),
            (
                "5 == Some(5)",
                "error: column 6: an `i32` is not made of parts",
            ),
        ],
    );
}

#[test]
fn cpp_methods_that_only_ask_are_answered() {
    let expected = [
        ("numbers.front() + numbers.back()", "7"),
        ("numbers.at(1)", "1"),
        (
            "numbers.at(5)",
            "error: column 12: index 5 is out of bounds: `numbers` has elements 0 to 2",
        ),
        ("points.back().y", "4"),
        ("points.front() == {1, 2}", "true"),
        ("queue.back()", "3"),
        ("*numbers.data()", "3"),
        ("fixed.size() + fixed.back()", "10"),
        ("ages.at(\"ada\")", "36"),
        ("ages.count(\"ada\") + ages.count(\"bob\")", "1"),
        ("ages.contains(\"bob\")", "false"),
        ("seen.count(20)", "1"),
        ("some.has_value() && !none.has_value()", "true"),
        ("some.value().y", "6"),
        ("some->x + (*some).y", "11"),
        ("*some", "{x = 5, y = 6}"),
        ("none.value()", "error: `none` has no value"),
        ("unique.get()->y", "2"),
        ("unique.get() == &*unique", "true"),
        ("shared.get()->size()", "6"),
        ("text.c_str()[1]", "101 'e'"),
        ("text == \"text\"", "true"),
        ("text.empty()", "false"),
        ("text[0]", "116 't'"),
        ("point == {1, 2} && point == Point{1, 2}", "true"),
        ("point == {.y = 2, .x = 1}", "true"),
        ("point != {1, 3}", "true"),
        ("rows == {{1, 2}, {3, 4}}", "true"),
    ];
    check(&fixture("asked.cpp", &["-std=c++20"]), "main", &expected);
    if let Some(clang) = support::clang().map(|clang| clang.replace("clang", "clang++")) {
        let flags = ["-std=c++20", "-fstandalone-debug"];
        let by_clang = support::fixture_by(&clang, "asked.cpp", &flags);
        check(&by_clang, "main", &expected);
    }
}
