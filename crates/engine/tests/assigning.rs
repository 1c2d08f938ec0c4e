//! Setting C++ strings whose text is inside the object or on the heap, with both standard libraries and both compilers.

use crate::support::{Fixture, clang, fixture, fixture_by, has_libcxx};
use dapple_engine::calls::CallOptions;
use dapple_engine::session::assigning::Target;

fn check(fixture: &Fixture, capacity: usize) {
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["method"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let session = debuggee.session();
    let main = session.stack(thread, 0..2).expect("a stack").frames[1].id;
    let set = |name: &str, text: &str| {
        let target = Target::Expression(name.to_owned());
        let quoted = format!("\"{text}\"");
        let options = CallOptions::default();
        match session.assign(target, &quoted, Some(main), &options).0 {
            Ok(_) => {
                let (_, rendered) = session.evaluate(name, Some(main)).expect("a value");
                assert_eq!(rendered.text, quoted);
                None
            }
            Err(error) => Some(error.to_string()),
        }
    };
    let fitting = "x".repeat(capacity);
    assert_eq!(
        set("shortly", &fitting),
        None,
        "{}",
        fixture.binary.display()
    );
    let refused = set("shortly", &"x".repeat(capacity + 1)).expect("it has no room");
    let room = format!(
        "`shortly` has room for {capacity} bytes, and this text has {}",
        capacity + 1
    );
    assert_eq!(refused, room);
    assert_eq!(set("shortly", ""), None);
    assert_eq!(set("shortly", "short"), None);
    assert_eq!(set("lengthy", "long enough not to lie in the object"), None);
    assert!(set("lengthy", &"y".repeat(500)).is_some());
    debuggee.resume();
    debuggee.expect_exit();
    let written = "shortly short 5\nlengthy long enough not to lie in the object 36\n";
    assert!(debuggee.stdout.contains(written), "{}", debuggee.stdout);
}

#[test]
fn strings_take_texts_that_have_room() {
    check(&fixture("assigned.cpp", &[]), 15);
    let Some(clang) = clang().map(|clang| clang.replace("clang", "clang++")) else {
        return println!("there is no clang here");
    };
    let own = |flags: &[&str]| fixture_by(&clang, "assigned.cpp", flags);
    check(&own(&["-fstandalone-debug"]), 15);
    if has_libcxx(&clang) {
        check(&own(&["-stdlib=libc++", "-fstandalone-debug"]), 22);
        check(&own(&["-stdlib=libc++"]), 22);
    }
}

/// Sets each place to a value. Returns the program's later output.
fn written(fixture: &Fixture, values: &[(&str, &str, &str)]) -> String {
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["inner"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let session = debuggee.session();
    let main = session.stack(thread, 0..2).expect("a stack").frames[1].id;
    for (place, value, expected) in values {
        let target = Target::Expression((*place).to_owned());
        let options = CallOptions::default();
        let is = match session.assign(target, value, Some(main), &options).0 {
            Ok(_) => session.evaluate(place, Some(main)).expect("a value").1.text,
            Err(error) => format!("error: {error}"),
        };
        assert_eq!(is, *expected, "{place} = {value}");
    }
    debuggee.resume();
    debuggee.expect_exit();
    debuggee.stdout
}

#[test]
fn rust_values_are_written_part_by_part() {
    let out = written(
        &fixture("assigned.rs", &[]),
        &[
            (
                "pair",
                "Pair { right: 4, left: 3 }",
                "Pair { left: 3, right: 4 }",
            ),
            ("tuple", "(9, 0.5)", "(9, 0.5)"),
            ("tuple", "(tuple.0 + 1, tuple.1 * 3.0)", "(10, 1.5)"),
            ("array", "[7, 8, array[2] + 1]", "[7, 8, 4]"),
            (
                "shape",
                "Shape::Square { side: 6 }",
                "Shape::Square { side: 6 }",
            ),
            ("shape", "Shape::Circle(2.5)", "Shape::Circle(2.5)"),
            ("maybe", "None", "None"),
            ("maybe", "Some(77)", "Some(77)"),
            (
                "maybe",
                "Some(-1)",
                "error: column 6: -1 does not fit a `u32`, which holds 0 to 4294967295",
            ),
            (
                "array",
                "[1, 2]",
                "error: it has 3 elements, and these are 2",
            ),
            (
                "array",
                "[100, 2, 65536]",
                "error: column 10: 65536 does not fit a `u16`, which holds 0 to 65535",
            ),
            (
                "pair",
                "Pair { left: 8 }",
                "error: its part `right` is missing",
            ),
            (
                "pair",
                "Other { left: 8, right: 1 }",
                "error: it takes an `assigned::Pair`, and this is an `Other`",
            ),
            (
                "shape",
                "Shape::Circle(\"a\")",
                "error: column 15: `0` is an `f64`, which is no text",
            ),
            ("boxed", "Some(3)", "Some(3)"),
            ("boxed", "None", "None"),
            (
                "boxed",
                "Some(4)",
                "error: `boxed` holds no `Some`, so there is no memory for what that points to",
            ),
            (
                "text",
                "String { vec: 1 }",
                "error: a `String` is not made of parts",
            ),
            (
                "items",
                "[1, 2, 3]",
                "error: a `Vec<i64>` is its library's to make; set its elements",
            ),
        ],
    );
    for line in [
        "pair Pair { left: 3, right: 4 } other Pair { left: 30, right: 40 } shape Circle(2.5)\n",
        "boxed None maybe Some(77) order Less tuple (10, 1.5)\n",
        "array [7, 8, 4] text a text",
    ] {
        assert!(out.contains(line), "{line}{out}");
    }
}

#[test]
fn c_values_are_written_part_by_part() {
    let out = written(
        &fixture("assigned.c", &[]),
        &[
            ("point", "{7, 8}", "{x = 7, y = 8}"),
            ("point", "{.y = point.x}", "{x = 0, y = 7}"),
            ("other", "{x = 5, y = 6}", "{x = 5, y = 6}"),
            ("numbers", "{4, 3, 2}", "{4, 3, 2, 0}"),
            (
                "numbers",
                "{1, 2, 3, 4, 5}",
                "error: it has 4 elements, and these are 5",
            ),
            (
                "points",
                "{{1, 1}, {2, 2}}",
                "{{x = 1, y = 1}, {x = 2, y = 2}}",
            ),
            (
                "point",
                "{1, {2}}",
                "error: column 5: an `int` is not made of parts",
            ),
            (
                "point",
                "{.z = 1}",
                "error: column 7: there is no part `z`; it has `x`, `y`",
            ),
        ],
    );
    for line in [
        "point 0 7 other 5 6",
        "numbers 4 3 2 0 at 0\n",
        "points 2 2",
    ] {
        assert!(out.contains(line), "{line}{out}");
    }
}
