//! A plain pointer's value is its address followed by the value it points to, unless the user wants only the address.

use crate::support::{Fixture, Session, Stopped, named};
use dapple_dap::types::*;
use serde_json::json;

/// A text in which each long address is written as `0x…`.
fn masked(text: &str) -> String {
    let mut parts = text.split("0x");
    let mut masked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.chars().take_while(char::is_ascii_hexdigit).count();
        masked.push_str("0x");
        masked.push_str(if digits > 4 { "…" } else { &part[..digits] });
        masked.push_str(&part[digits..]);
    }
    masked
}

/// Checks the locals of `main`, and each local again as an expression.
fn check(
    fixture: &Fixture,
    arguments: serde_json::Value,
    expected: &[(&str, &str)],
) -> (Session, Stopped) {
    let session = Session::started(fixture, arguments, &["main"]);
    let stop = session.stopped_at(fixture, "main", StoppedEventReason::Breakpoint);
    let locals = session.variables(session.scope(&stop.top, "Locals").variables_reference);
    for (name, value) in expected {
        assert_eq!(masked(&named(&locals, name).value), *value, "{name}");
        assert_eq!(masked(&session.evaluate(&stop.top, name)), *value, "{name}");
    }
    (session, stop)
}

fn ends(session: Session, stop: &Stopped, code: i64) {
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), code);
    session.disconnect();
}

const CPP: [(&str, &str); 15] = [
    ("to_number", "0x… 17"),
    ("to_pointer", "0x… 0x…"),
    ("to_row", "0x… {1, 2, 3}"),
    ("to_colour", "0x… GREEN"),
    ("to_point", "0x… {x = 1, y = 2}"),
    ("ring", "0x… {value = 10, next = 0x…}"),
    ("shape", "0x… <Circle> {Shape = {id = 7}, radius = 2.5}"),
    ("to_items", "0x… {4, 5}"),
    ("null", "0x0"),
    ("wild", "0x10 <cannot be read>"),
    ("untyped", "0x…"),
    ("text", "0x… \"text\""),
    ("function", "0x… <twice>"),
    ("hidden", "0x…"),
    ("points", "{0x…, 0x0}"),
];

#[test]
fn a_cpp_pointer_shows_what_it_points_to() {
    let fixture = Fixture::new("pointees.cpp");
    let (session, stop) = check(&fixture, json!({}), &CPP);
    // Pointers that are children of an array or of a struct show what they point to.
    let points = session.variable(&stop.top, "Locals", "points");
    let points = session.variables(points.variables_reference);
    assert_eq!(masked(&named(&points, "[0]").value), "0x… {x = 1, y = 2}");
    let ring = session.variable(&stop.top, "Locals", "ring");
    let ring = session.variables(ring.variables_reference);
    assert_eq!(
        masked(&named(&ring, "next").value),
        "0x… {value = 20, next = 0x…}"
    );
    // The value is read anew each time.
    let set = SetExpressionArguments::new("to_point->x", "30").with_frame_id(stop.top.id);
    session.ok::<SetExpressionRequest>(set);
    assert_eq!(
        masked(&session.evaluate(&stop.top, "to_point")),
        "0x… {x = 30, y = 2}"
    );
    let set = SetExpressionArguments::new("to_number", "&row[2]").with_frame_id(stop.top.id);
    let set = session.ok::<SetExpressionRequest>(set);
    assert_eq!(masked(&set.value), "0x… 3");
    ends(session, &stop, 0);
}

#[test]
fn a_rust_pointer_shows_what_it_points_to() {
    let fixture = Fixture::new("pointees.rs");
    let expected = [
        ("to_number", "0x… 17"),
        ("to_mutable", "0x… 17"),
        ("to_point", "0x… Point { x: 1, y: 2 }"),
        ("to_pointer", "0x… 0x…"),
        ("null", "0x0"),
        ("wild", "0x10 <cannot be read>"),
        ("nothing", "0x1"),
    ];
    let (session, stop) = check(&fixture, json!({}), &expected);
    ends(session, &stop, 0);
}

#[test]
fn pointers_are_addresses_alone_where_that_is_wanted() {
    let fixture = Fixture::new("pointees.cpp");
    let expected = [
        ("to_number", "0x…"),
        ("to_pointer", "0x…"),
        ("to_point", "0x…"),
        ("ring", "0x…"),
        ("shape", "0x… <Circle>"),
        ("wild", "0x10"),
        ("text", "0x… \"text\""),
    ];
    let (session, stop) = check(&fixture, json!({"pointees": false}), &expected);
    ends(session, &stop, 0);
}
