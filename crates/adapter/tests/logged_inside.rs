//! Messages of breakpoints that the program writes by itself: none is lost, each thread's come in its order, and nobody can tell otherwise.

use crate::support::{Fixture, Session, waits};
use dapple_adapter::DecidedRequest;
use dapple_dap::message::Empty;
use dapple_dap::types::*;
use serde_json::json;

/// As many turns as by a stop for each would take seconds.
const MANY: usize = 200_000;
/// Far fewer stops of a thread than messages: it has to wait for room in the ring now and then.
const FEW: u64 = 3_000;

/// Launches the program in a mode, with breakpoints.
#[track_caller]
fn started(
    fixture: &Fixture,
    mode: &str,
    turns: usize,
    wanted: Vec<SourceBreakpoint>,
) -> (Session, i64) {
    let session = Session::new();
    let arguments = json!({"args": [mode, turns.to_string()]});
    session.launch(fixture, arguments);
    for breakpoint in session.set_source(fixture, wanted) {
        assert!(breakpoint.verified, "{breakpoint:?}");
    }
    session.configured();
    let process = session.process_id();
    (session, process)
}

/// What breakpoints have written so far.
fn logged(session: &Session) -> Vec<String> {
    let console = session.output(OutputEventCategory::Console);
    let messages = console
        .lines()
        .filter(|line| !line.starts_with("program exited"));
    messages.map(str::to_owned).collect()
}

/// Runs `turns` turns with a message, and gives what was written when the loop has ended.
#[track_caller]
fn written(turns: usize, breakpoint: SourceBreakpoint) -> Vec<String> {
    let fixture = Fixture::new("counted_turns.c");
    let wanted = vec![breakpoint, fixture.breakpoint("end")];
    let (session, process) = started(&fixture, "plain", turns, wanted);
    let stop = session.stopped_at(&fixture, "end", StoppedEventReason::Breakpoint);
    let waited = waits(process, stop.thread);
    assert!(waited < FEW, "the thread has stopped {waited} times");
    let all = logged(&session);
    let decided = session.ok::<DecidedRequest>(Empty);
    assert_eq!(decided.breakpoints[0].hits, all.len() as u64);
    assert_eq!(decided.breakpoints[0].in_program, 1);
    assert!((1..2 << 20).contains(&decided.memory), "{}", decided.memory);
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    assert_eq!(logged(&session), all);
    session.disconnect();
    all
}

#[track_caller]
fn assert_all(found: &[String], expected: impl Iterator<Item = String>) {
    let expected: Vec<String> = expected.collect();
    let differ = |index: &usize| found.get(*index) != expected.get(*index);
    if let Some(index) = (0..found.len().max(expected.len())).find(differ) {
        let around = |all: &[String]| {
            all.iter()
                .skip(index.saturating_sub(2))
                .take(5)
                .cloned()
                .collect::<Vec<_>>()
        };
        panic!(
            "message {index}: {:?} instead of {:?}",
            around(found),
            around(&expected)
        );
    }
}

#[test]
fn each_message_comes_once_and_in_order() {
    let fixture = Fixture::new("counted_turns.c");
    let breakpoint = fixture.breakpoint("turn").with_log_message("i is {i}.");
    let found = written(MANY, breakpoint);
    assert_all(&found, (0..MANY).map(|i| format!("i is {i}.")));
}

#[test]
fn values_are_written_as_at_a_stop() {
    let fixture = Fixture::new("counted_turns.c");
    let message = "{i:#06x} {outer->ratio} {i % 2 == 0} {outer->inner->pad - 1} {own} {sum:d}{{}}";
    let breakpoint = fixture.breakpoint("turn").with_log_message(message);
    let found = written(MANY, breakpoint);
    let line = |i: usize| {
        let (half, even) = (i as f64 / 2.0, i.is_multiple_of(2));
        let sum = i * i.saturating_sub(1);
        format!("{i:#06x} {half:?} {even} -1 {i} {sum}{{}}")
    };
    assert_all(&found, (0..MANY).map(line));
}

#[test]
fn only_hits_whose_condition_holds_are_written() {
    let fixture = Fixture::new("counted_turns.c");
    let breakpoint = fixture.breakpoint("turn");
    let breakpoint = breakpoint.with_condition("i % 3 == 1 && outer->inner");
    let found = written(MANY, breakpoint.with_log_message("{i}"));
    let expected = (0..MANY).filter(|i| i % 3 == 1);
    assert_all(&found, expected.map(|i| i.to_string()));
}

#[test]
fn each_threads_messages_come_in_its_order() {
    let fixture = Fixture::new("counted_turns.c");
    let wanted = vec![
        fixture.breakpoint("turn").with_log_message("{$sp:x} {i}"),
        fixture
            .breakpoint("behind")
            .with_log_message("{$sp:x} behind {i}"),
    ];
    let (session, _) = started(&fixture, "threads", MANY / 10, wanted);
    assert_eq!(session.exit_code(), 0);
    let mut of_threads = std::collections::BTreeMap::<String, Vec<String>>::new();
    for line in logged(&session) {
        let (thread, rest) = line.split_once(' ').expect("a thread");
        of_threads
            .entry(thread.into())
            .or_default()
            .push(rest.into());
    }
    assert_eq!(of_threads.len(), 4);
    for found in of_threads.values() {
        let turns = 0..MANY / 10;
        assert_all(
            found,
            turns.flat_map(|i| [i.to_string(), format!("behind {i}")]),
        );
    }
    session.disconnect();
}

#[test]
fn a_value_that_cannot_be_read_is_told_in_its_place() {
    let fixture = Fixture::new("counted_turns.c");
    let breakpoint = fixture.breakpoint("turn");
    let wanted = vec![breakpoint.with_log_message("{outer->inner->weight}")];
    let (session, _) = started(&fixture, "faults", MANY, wanted);
    assert_eq!(session.exit_code(), 0);
    let found = logged(&session);
    assert_eq!(found.len(), 2 * MANY + 3);
    let sum = |i: usize| (i * i.saturating_sub(1)).to_string();
    // `inner` is kept from the first call.
    let last = sum(MANY);
    for (i, line) in found.iter().enumerate() {
        match i.checked_sub(MANY) {
            None => assert_eq!(*line, sum(i), "message {i}"),
            Some(0..3) => assert!(line.starts_with('<'), "message {i}: {line}"),
            Some(3) => assert_eq!(*line, last, "message {i}"),
            Some(behind) => assert_eq!(*line, sum(behind - 3), "message {i}"),
        }
    }
    session.disconnect();
}

#[test]
fn what_was_written_before_a_program_is_killed_or_replaced_is_told() {
    let fixture = Fixture::new("counted_turns.c");
    let message = || vec![fixture.breakpoint("turn").with_log_message("i is {i}")];
    let (session, _) = started(&fixture, "executes", MANY, message());
    assert_eq!(session.exit_code(), 0);
    let found = logged(&session);
    let (first, second) = found.split_at(found.len() / 2);
    for half in [first, second] {
        assert_all(half, (0..MANY).map(|i| format!("i is {i}")));
    }
    session.disconnect();
}

/// Where the program has the ring.
fn ring_of(process: i64) -> u64 {
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).expect("maps");
    let line = maps.lines().find(|line| line.contains("/memfd:"));
    let start = line.and_then(|line| line.split('-').next());
    u64::from_str_radix(start.expect("a ring"), 16).expect("an address")
}

#[test]
fn a_program_that_spoils_the_ring_runs_on_with_messages_from_stops() {
    let fixture = Fixture::new("counted_turns.c");
    let logs = || fixture.breakpoint("turn").with_log_message("i is {i}");
    let (session, process) = started(&fixture, "until", MANY / 10, vec![logs()]);
    let paused = || {
        session.ok::<PauseRequest>(PauseArguments::new(process));
        let stop = session.wait_for::<StoppedEvent>();
        let thread = stop.thread_id.expect("a thread");
        (thread, session.stack(thread).remove(0))
    };
    while session.ok::<DecidedRequest>(Empty).breakpoints[0].in_program == 0 {}
    let (thread, top) = paused();
    // How many numbers of records were taken.
    let at = ring_of(process);
    for wrong in ["7", "-1"] {
        session.evaluate(&top, &format!("*(long *){at} = {wrong}"));
    }
    session.resume(thread);
    let before = logged(&session).len();
    while logged(&session).len() < before + 100 {
        session.wait_for::<OutputEvent>();
    }
    let (thread, top) = paused();
    session.evaluate(&top, "running = 0");
    session.resume(thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}
