//! The program's output reaches the client completely, in order, and in few events.

use crate::support::{Fixture, Session};
use dapple_dap::types::*;
use serde_json::json;

/// The number of lines that `fixtures/lines.c` writes.
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

#[test]
fn a_character_that_is_written_in_parts_comes_whole() {
    let fixture = Fixture::new("written.c");
    let session = Session::started(&fixture, json!({"args": ["cut"]}), &["half", "whole"]);
    let written = || {
        let of = |category| session.output(category);
        (
            of(OutputEventCategory::Stdout),
            of(OutputEventCategory::Stderr),
        )
    };
    // At a stop, all output so far has been sent. The first half of a character is held back.
    let stop = session.stopped_at(&fixture, "half", StoppedEventReason::Breakpoint);
    assert_eq!(written(), (String::new(), String::new()));
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "whole", StoppedEventReason::Breakpoint);
    assert_eq!(written(), ("€!".to_owned(), "😀".to_owned()));
    session.resume(stop.thread);
    assert_eq!(session.wait_for::<ExitedEvent>().exit_code, 3);
    // Bytes that never became a character are sent before the end.
    assert_eq!(written(), ("€!\u{fffd}".to_owned(), "😀".to_owned()));
}

#[test]
fn bytes_of_all_kinds_without_a_line_end_come_in_order_and_in_pieces() {
    let fixture = Fixture::new("written.c");
    let session = Session::started(&fixture, json!({"args": ["garbage"]}), &[]);
    assert_eq!(session.wait_for::<ExitedEvent>().exit_code, 3);
    let mut next: u32 = 1;
    let mut bytes = Vec::new();
    for _ in 0..64 << 16 {
        next = next.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        bytes.push(match (next >> 24) as u8 {
            b'\n' => 0,
            other => other,
        });
    }
    let text = session.output(OutputEventCategory::Stdout);
    assert!(
        text == String::from_utf8_lossy(&bytes),
        "{} characters came of {} bytes",
        text.chars().count(),
        bytes.len()
    );
    let pieces = session.pieces(OutputEventCategory::Stdout);
    assert!((8..4096).contains(&pieces), "{pieces} events");
}

#[test]
fn two_streams_that_are_one_keep_their_order() {
    let fixture = Fixture::new("written.c");
    let session = Session::started(&fixture, json!({"args": ["joined"]}), &[]);
    assert_eq!(session.wait_for::<ExitedEvent>().exit_code, 3);
    let text = session.output(OutputEventCategory::Stdout);
    assert_eq!(text, "out\nerr\n".repeat(2000));
}
