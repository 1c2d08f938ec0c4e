//! Variables that Rust's let chains bind are listed where they have a value, and nowhere else.

use crate::support::{Fixture, Session, Stopped};
use dapple_dap::types::*;
use serde_json::json;

fn locals(session: &Session, stop: &Stopped) -> Vec<String> {
    let locals = session.scope(&stop.top, "Locals");
    let locals = session.variables(locals.variables_reference);
    let line = |local: Variable| format!("{} = {}", local.name, local.value);
    locals.into_iter().map(line).collect()
}

/// Runs from mark to mark, and compares the locals at each, without the first one (`text`).
#[track_caller]
fn has(session: &Session, fixture: &Fixture, marks: &[(&str, &[&str])]) {
    for (mark, expected) in marks {
        let stop = session.stopped_at(fixture, mark, StoppedEventReason::Breakpoint);
        let found = locals(session, &stop);
        assert_eq!(found.get(1..).unwrap_or(&[]), *expected, "at {mark}");
        session.resume(stop.thread);
    }
}

const MARKS: [&str; 11] = [
    "begun",
    "chain",
    "bound",
    "behind",
    "while",
    "in while",
    "behind while",
    "right",
    "three bound",
    "two",
    "end",
];

#[test]
fn what_a_let_chain_binds_is_there_from_its_binding_to_the_end_of_the_if() {
    let fixture = Fixture::new("let_chains.rs");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    session.set_breakpoints(&fixture, &MARKS);
    session.configured();
    has(
        &session,
        &fixture,
        &[
            ("begun", &[]),
            ("chain", &["sum = 1"]),
            ("behind", &["sum = 1"]),
            ("while", &["sum = 2"]),
            ("in while", &["sum = 2", "name = \"2\""]),
            ("while", &["sum = 3"]),
            ("behind while", &["sum = 3"]),
            ("two", &["sum = 4"]),
            ("end", &["sum = 6"]),
        ],
    );
    has(
        &session,
        &fixture,
        &[
            ("begun", &[]),
            ("chain", &["sum = 1"]),
            ("bound", &["sum = 1", "number = 40"]),
            ("behind", &["sum = 41"]),
            ("while", &["sum = 42"]),
            ("behind while", &["sum = 42"]),
            ("right", &["sum = 43", "left = 40", "half = 20"]),
            (
                "three bound",
                &["sum = 43", "left = 40", "half = 20", "right = 7"],
            ),
        ],
    );
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn what_a_plain_let_binds_is_not_taken_for_a_chains() {
    let fixture = Fixture::new("let_chains.rs");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    session.set_breakpoints(&fixture, &["kept"]);
    session.configured();
    has(
        &session,
        &fixture,
        &[(
            "kept",
            &[
                "amount = 3",
                "first = Loud(3)",
                "numbers = len = 3 [3, 12, 5]",
                "second = Loud(12)",
                "named = \"three\"",
                "code = 12",
            ],
        )],
    );
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}
