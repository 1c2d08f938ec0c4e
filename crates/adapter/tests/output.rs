//! What the program writes: all of it, in order, in pieces that a client can take.

mod support;

use dapple_dap::types::*;
use serde_json::json;
use support::{Fixture, Session};

/// As `fixtures/lines.c` has it.
const LINES: usize = 100_000;

#[test]
fn a_flood_of_lines_comes_whole_and_in_few_pieces() {
    let fixture = Fixture::new("lines.c");
    let session = Session::started(&fixture, json!({}), &[]);
    let exited = session.wait_for::<ExitedEvent>();
    session.wait_for::<TerminatedEvent>();
    assert_eq!(exited.exit_code, 7);
    let pieces = session.pieces(OutputEventCategory::Stdout);
    let text = session.output(OutputEventCategory::Stdout);
    let expected: String = (0..LINES).map(|i| format!("line {i}\n")).collect();
    assert!(text == expected, "{} bytes came", text.len());
    assert!(
        pieces * 4 < LINES,
        "{pieces} events for {LINES} lines would drown a client"
    );
    assert_eq!(
        session.output(OutputEventCategory::Stderr),
        "that was all\n"
    );
}

#[test]
fn what_was_written_before_a_stop_is_told_before_it() {
    let fixture = Fixture::new("lines.c");
    let session = Session::started(&fixture, json!({}), &["all"]);
    session.stopped_at(&fixture, "all", StoppedEventReason::Breakpoint);
    let text = session.output(OutputEventCategory::Stdout);
    assert!(
        text.ends_with(&format!("line {}\n", LINES - 1)),
        "{}",
        text.len()
    );
}
