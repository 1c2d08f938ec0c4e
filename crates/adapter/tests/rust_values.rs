//! Values in Rust programs whose layout is tricky, as clients see them.

use crate::support::fixture::{Linking, Optimization};
use crate::support::{Fixture, Session};
use dapple_dap::types::*;
use serde_json::json;

#[test]
fn enums_with_negative_discriminants_show_their_variants() {
    let fixture = Fixture::new("layouts.rs");
    let session = Session::started(&fixture, json!({}), &["layouts"]);
    let stop = session.stopped_at(&fixture, "layouts", StoppedEventReason::Breakpoint);
    let of = |text: &str| session.evaluate(&stop.top, text);
    assert_eq!(
        of("wide"),
        "[Wide::Negative(3), Wide::Next { x: 9 }, Wide::Byte(1), Wide::Large(\"q\")]"
    );
    assert_eq!(
        of("longest"),
        "[Longest::Minus(4), Longest::Least, Longest::Plus(2)]"
    );
    assert_eq!(of("size"), "[Size::Minus(1), Size::Plus(2)]");
    let raw = of("items,!");
    assert!(raw.starts_with("&[layouts::Item] { data_ptr: "), "{raw}");
    assert_eq!(of("wide[0].0"), "3");
    session.disconnect();
}

#[test]
fn structs_behind_pointers_with_a_length_show_their_fields_and_their_end() {
    let fixture = Fixture::new("tails.rs");
    let session = Session::started(&fixture, json!({}), &["tails"]);
    let stop = session.stopped_at(&fixture, "tails", StoppedEventReason::Breakpoint);
    let of = |text: &str| session.evaluate(&stop.top, text);
    for (expression, shown) in [
        ("boxed", "Packet { id: 8, tag: 2, body: [1, 2] }"),
        (
            "rc",
            "Packet { id: 9, tag: 3, body: [5, 6, 7] } (strong 1, weak 0)",
        ),
        (
            "arc",
            "Packet { id: 10, tag: 4, body: [Point { x: 1, y: 2 }, Point { x: 1, y: 2 }] } (strong 1, weak 0)",
        ),
        ("pairs", "Packet { id: 12, tag: 6, body: [(1, 2), (3, 4)] }"),
        (
            "nested",
            "Packet { id: 1, tag: 2, body: Packet { id: 3, tag: 4, body: [9, 8] } }",
        ),
        ("empty", "Packet { id: 2, tag: 3, body: [] }"),
        ("cell", "RefCell { value: [1, 2, 3] } (strong 1, weak 0)"),
        ("mutex", "Mutex { data: [4, 5] } (strong 1, weak 0)"),
        ("row", "Row { number: 7, flag: true, cells: [1, 2, 3] }"),
        ("named", "Packet { id: 5, tag: 1, body: \"ahi\" }"),
        ("*pointer", "Packet { id: 8, tag: 2, body: [1, 2] }"),
        ("boxed.body.len()", "2"),
        ("rc.body[2]", "7"),
        ("arc.body[1].y", "2"),
        ("nested.body.body", "[9, 8]"),
        ("named.body", "\"ahi\""),
    ] {
        assert_eq!(of(expression), shown, "{expression}");
    }
    let pointer = of("pointer");
    assert!(
        pointer.ends_with(" Packet { id: 8, tag: 2, body: [1, 2] }"),
        "{pointer}"
    );
    let raw = of("boxed,!");
    assert!(raw.contains("data_ptr: "), "{raw}");
    assert_eq!(of("borrowed.body[1] = 21"), "21");
    session.resume(stop.thread);
    session.exit_code();
    let written = session.output(OutputEventCategory::Stdout);
    let last = "Packet { id: 7, tag: 1, body: [10, 21, 30] }\n";
    assert!(written.ends_with(last), "{written}");
    session.disconnect();
}

#[test]
fn what_takes_no_room_is_shown_where_it_was_optimised_out() {
    let fixture = Fixture::built("roomless.rs", Optimization::Full, Linking::Pie);
    let session = Session::started(&fixture, json!({}), &["inside"]);
    let stop = session.stopped_at(&fixture, "inside", StoppedEventReason::Breakpoint);
    let stack = session.stack(stop.thread);
    let caller = stack
        .iter()
        .find(|frame| frame.name == "roomless::main")
        .expect("its caller");
    let scope = session.scope(caller, "Locals");
    let locals = session.variables(scope.variables_reference);
    let expected = [
        ("unit", "Unit"),
        ("marked", "Marked { unit: Unit }"),
        ("nothing", "()"),
        ("none", "[]"),
        ("all", ".."),
    ];
    for (name, value) in expected {
        let local = locals.iter().find(|local| local.name == name);
        let local = local.unwrap_or_else(|| panic!("no {name}"));
        assert_eq!(local.value, value, "{name}");
    }
    let marked = locals.iter().find(|local| local.name == "marked");
    let children = session.variables(marked.expect("it was there").variables_reference);
    assert_eq!(children[0].value, "Unit");
    assert_eq!(session.evaluate(caller, "marked.unit"), "Unit");
    session.disconnect();
}
