//! Steps in asynchronous functions: over an `await` that suspends, into the body that is awaited, out to the one that awaits.

use crate::support::fixture::{Linking, Optimization};
use crate::support::{Fixture, Session, Stopped, waits};
use dapple_dap::types::*;
use serde_json::json;

const IN_A: &str = "name == \"a\"";
const IN_B: &str = "name == \"b\"";

/// Sessions: the fixture's mode, the mark where it begins, a condition there, steps, and the task in which they stay. `n` steps over, `i` into,
/// `o` out, each with the mark where it has to end. The task is the `name` of its worker.
const ROWS: &str = r#"
# Two tasks run the same code by turns; each step stays in its task.
turns | worker | name == "a" | n total, n for, n worker, n total | a
turns | worker | name == "b" | n total, n for, n worker, n total | b
turns | worker | name == "b" | i leaf, n await, n after, n last, n end, n worker, n total | b
turns | worker | name == "a" | i leaf, o worker, n total | a
turns | worker | name == "a" | i leaf, n await, o worker, n total | a
turns | total | name == "b" | n for, i worker, i leaf, i await | b
turns | print | name == "a" | n total end, n worker end, n turn | -
turns | total | name == "b" | o turn | -
# Each poll is on another thread.
threads | worker | name == "a" | n total, n for, n worker, n total | a
threads | worker | name == "b" | i leaf, n await, n after, n last, n end, n worker, n total | b
threads | worker | name == "b" | i leaf, o worker, n total | b
# Recursion: the same function several times in one chain.
nested | nested | depth == 3 | n inner | -
nested | nested | depth == 1 | n inner | -
nested | innermost | - | i leaf, n await, n after, o innermost | -
nested | innermost | - | o nested, n inner | -
# Blocks and closures.
pieces | of block | - | i block, n in block | -
pieces | of block | - | n of closure, n several, n both | -
pieces | of closure | - | i closure, n in closure, o of closure | -
pieces | several | - | i ready | -
# Methods, whose bodies the compiler calls closures, and generic functions.
methods | of measure | - | n of twice, n of methods | -
methods | of measure | - | i measure, n in measure, n measured, o of measure | -
methods | of twice | - | i twice, n twice end, o of twice, n of methods | -
# A future that is dropped while it is suspended.
cancelling | await | - | n first end, n select, n selected | -
cancelling | select | - | n selected | -
abandoned | await | - | n drop, n dropped | -
abandoned | worker | - | n drop | -
# Two futures are polled by a third.
joining | join | - | n joined | -
joining | worker | name == "two" | n total, n for | two
joining | worker | name == "one" | i leaf, n await, n after, o worker | one
"#;

/// Runs the fixture in a mode up to a mark where the condition holds (`-`: none).
pub fn begun(fixture: &Fixture, mode: &str, mark: &str, condition: &str) -> (Session, Stopped) {
    let session = Session::new();
    session.launch(fixture, json!({"args": [mode]}));
    at_mark(session, fixture, mark, condition)
}

/// Lets a session that was launched come to a mark where the condition holds (`-`: none).
pub fn at_mark(
    session: Session,
    fixture: &Fixture,
    mark: &str,
    condition: &str,
) -> (Session, Stopped) {
    let mut breakpoint = SourceBreakpoint::new(fixture.line(mark));
    breakpoint.condition = (condition != "-").then(|| condition.to_owned());
    let source = Source::new().with_path(fixture.path());
    let set = SetBreakpointsArguments::new(source).with_breakpoints(vec![breakpoint]);
    session.ok::<SetBreakpointsRequest>(set);
    session.configured();
    let stop = session.stopped_at(fixture, mark, StoppedEventReason::Breakpoint);
    session.set_breakpoints(fixture, &[]);
    (session, stop)
}

/// How to tell which task a thread runs: by the value of a variable in the innermost frame with one of these names.
#[derive(Clone, Copy)]
pub struct Tell {
    pub variable: &'static str,
    pub frames: &'static [&'static str],
}

const BY_WORKER: Tell = Tell {
    variable: "name",
    frames: &["worker"],
};

fn task(session: &Session, stop: &Stopped, tell: Tell) -> Option<String> {
    let stack = session.stack(stop.thread);
    let worker = stack.iter().find(|frame| {
        let mut names = tell.frames.iter();
        names.any(|name| frame.name.contains(name))
    })?;
    Some(
        session
            .evaluate(worker, tell.variable)
            .trim_matches('"')
            .to_owned(),
    )
}

/// Makes the steps of each row.
pub fn check(fixture: &Fixture, tell: Tell, rows: &str) {
    let rows = rows.lines().filter(|line| line.contains('|'));
    let mut count = 0;
    for row in rows {
        let columns: Vec<&str> = row.split('|').map(str::trim).collect();
        let &[mode, mark, condition, steps, wanted] = columns.as_slice() else {
            panic!("{row}");
        };
        let (session, mut stop) = begun(fixture, mode, mark, condition);
        for step in steps.split(", ") {
            let (kind, mark) = step.split_once(' ').expect("a mark");
            eprintln!("{row}: {step}");
            stop = match kind {
                "n" => session.next(&stop, fixture, mark),
                "i" => session.step_in(&stop, fixture, mark),
                "o" => session.step_out(&stop, fixture, mark),
                _ => panic!("{step}"),
            };
            if wanted != "-" {
                assert_eq!(
                    task(&session, &stop, tell).as_deref(),
                    Some(wanted),
                    "{row}: {step}"
                );
            }
        }
        session.resume(stop.thread);
        assert_eq!(session.exit_code(), 0);
        session.disconnect();
        count += 1;
    }
    assert!(count > 0);
}

#[test]
fn a_step_stays_in_its_activation() {
    check(&Fixture::new("awaits.rs"), BY_WORKER, ROWS);
}

/// In optimised code, where bodies are inlined into those that await them and into the executor.
const OPTIMISED: &str = r#"
turns | worker | - | n total, n worker, n total | -
threads | worker | - | n total, n worker, n total | -
pieces | of block | - | n of closure, n several, n both | -
nested | nested | - | n inner | -
cancelling | select | - | n selected | -
joining | join | - | n joined | -
methods | of measure | - | n of twice, n of methods | -
"#;

#[test]
fn a_step_over_an_await_in_optimised_code_stays_in_its_activation() {
    let fixture = Fixture::built("awaits.rs", Optimization::Full, Linking::Pie);
    check(&fixture, BY_WORKER, OPTIMISED);
}

#[test]
fn a_step_out_shows_what_the_future_gave() {
    let fixture = Fixture::new("awaits.rs");
    let (session, stop) = begun(&fixture, "threads", "leaf", "-");
    let stop = session.step_out(&stop, &fixture, "worker");
    let locals = session.scope(&stop.top, "Locals");
    let locals = session.variables(locals.variables_reference);
    let returned = locals
        .iter()
        .find(|local| local.name.starts_with("returned by"));
    let returned = returned.expect("a returned value");
    assert_eq!(returned.value, "Ready(30)");
    session.disconnect();
}

#[test]
fn a_step_that_ends_with_its_future_says_so() {
    let fixture = Fixture::new("awaits.rs");
    let (session, stop) = begun(&fixture, "abandoned", "await", "-");
    let stop = session.next(&stop, &fixture, "drop");
    let line = fixture.line("await");
    let text =
        format!("`awaits::leaf (async)` was suspended at awaits.rs:{line} and is dropped here");
    assert_eq!(stop.event.text.as_deref(), Some(text.as_str()));
    // A step that isn't about a future has no such text.
    assert_eq!(session.next(&stop, &fixture, "dropped").event.text, None);
    session.disconnect();
}

#[test]
fn a_breakpoint_in_another_task_ends_a_step_that_waits() {
    let fixture = Fixture::new("awaits.rs");
    let (session, stop) = begun(&fixture, "turns", "await", "-");
    assert_eq!(task(&session, &stop, BY_WORKER).as_deref(), Some("a"));
    session.set_breakpoints(&fixture, &["worker"]);
    session.ok::<NextRequest>(NextArguments::new(stop.thread));
    let stop = session.stopped_at(&fixture, "worker", StoppedEventReason::Breakpoint);
    assert_eq!(task(&session, &stop, BY_WORKER).as_deref(), Some("b"));
    session.set_breakpoints(&fixture, &[]);
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn a_step_that_waits_can_be_paused_and_ends_with_the_program() {
    let fixture = Fixture::new("awaits.rs");
    let (session, stop) = begun(&fixture, "endless", "endless", "-");
    session.ok::<NextRequest>(NextArguments::new(stop.thread));
    session.wait_for_output("still here");
    session.ok::<PauseRequest>(PauseArguments::new(stop.thread));
    let stop = session.stopped(StoppedEventReason::Pause);
    session.resume(stop.thread);
    session.disconnect();
}

/// Takes all debug registers, for code that nothing reads as data.
pub fn take_debug_registers(session: &Session, stop: &Stopped) {
    let reference = stop.top.instruction_pointer_reference.clone();
    let reference = reference.expect("an address");
    let pc = u64::from_str_radix(reference.trim_start_matches("0x"), 16).expect("a number");
    let watches = (0..4).map(|index| {
        let address = format!("{:#x}", (pc & !7) + 8 * index);
        let mut arguments = DataBreakpointInfoArguments::new(address);
        arguments.as_address = Some(true);
        arguments.bytes = Some(8);
        let info = session.ok::<DataBreakpointInfoRequest>(arguments);
        let mut watch = DataBreakpoint::new(info.data_id.expect("an id"));
        watch.access_type = Some(DataBreakpointAccessType::ReadWrite);
        watch
    });
    let set = SetDataBreakpointsArguments::new(watches.collect());
    let set = session.ok::<SetDataBreakpointsRequest>(set).breakpoints;
    assert!(set.iter().all(|watch| watch.verified), "{set:?}");
}

#[test]
fn without_a_debug_register_a_step_waits_at_the_entry_of_the_body() {
    let fixture = Fixture::new("awaits.rs");
    for (mode, condition, name) in [("turns", IN_A, "a"), ("threads", IN_B, "b")] {
        let (session, stop) = begun(&fixture, mode, "worker", condition);
        take_debug_registers(&session, &stop);
        let stop = session.step_in(&stop, &fixture, "leaf");
        let stop = session.next(&stop, &fixture, "await");
        let stop = session.next(&stop, &fixture, "after");
        let stop = session.step_out(&stop, &fixture, "worker");
        let stop = session.next(&stop, &fixture, "total");
        assert_eq!(task(&session, &stop, BY_WORKER).as_deref(), Some(name));
        session.resume(stop.thread);
        assert_eq!(session.exit_code(), 0);
        session.disconnect();
    }
}

#[test]
fn a_breakpoint_at_an_await_stops_when_the_line_is_entered_and_not_when_it_is_resumed() {
    let fixture = Fixture::new("awaits.rs");
    for (mark, stops) in [("worker", 4), ("await", 4)] {
        let session = Session::started(&fixture, json!({"args": ["turns"]}), &[mark]);
        for _ in 0..stops {
            let stop = session.stopped_at(&fixture, mark, StoppedEventReason::Breakpoint);
            // What is awaited has not been made yet.
            let locals = session.scope(&stop.top, "Locals");
            let locals = session.variables(locals.variables_reference);
            let names: Vec<&str> = locals.iter().map(|local| local.name.as_str()).collect();
            assert!(!names.contains(&"__awaitee"), "{names:?}");
            session.resume(stop.thread);
        }
        assert_eq!(session.exit_code(), 0);
        session.disconnect();
    }
}

#[test]
fn an_async_function_is_not_begun_again() {
    let fixture = Fixture::new("awaits.rs");
    let session = Session::started(&fixture, json!({"args": ["turns"]}), &["after"]);
    let stop = session.stopped_at(&fixture, "after", StoppedEventReason::Breakpoint);
    let again = RestartFrameArguments::new(stop.top.id);
    let refused = session.refused::<RestartFrameRequest>(again);
    assert_eq!(
        refused.to_string(),
        "`awaits::leaf (async)` can't be begun again: its future keeps how far it has come; spawn or await a new one"
    );
    session.set_breakpoints(&fixture, &[]);
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

/// The text of a variable that was left behind at an `await`.
const GONE: &str = "<not kept over the await>";

/// A mode, a mark, and the names and values of the locals there.
type Locals = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
);

#[test]
fn locals_are_those_of_the_source_with_what_was_kept_over_the_await() {
    let fixture = Fixture::new("awaits.rs");
    let cases: [Locals; 5] = [
        (
            "turns",
            "worker",
            &[
                ("name", "\"a\""),
                ("n", "2"),
                ("total", "0"),
                ("iter", "1..2"),
                ("i", "0"),
            ],
        ),
        (
            "joining",
            "total",
            &[
                ("name", "\"one\""),
                ("n", GONE),
                ("total", "0"),
                ("iter", "1..1"),
                ("i", GONE),
                ("got", "30"),
            ],
        ),
        (
            "turns",
            "after",
            &[("n", GONE), ("before", "11"), ("got", "7")],
        ),
        ("pieces", "in closure", &[("by", "3"), ("two", "7")]),
        ("nested", "inner", &[("depth", GONE), ("inner", "12")]),
    ];
    for (mode, mark, wanted) in cases {
        let session = Session::started(&fixture, json!({"args": [mode]}), &[mark]);
        let stop = session.stopped_at(&fixture, mark, StoppedEventReason::Breakpoint);
        let locals = session.scope(&stop.top, "Locals");
        let locals = session.variables(locals.variables_reference);
        let found = locals
            .iter()
            .map(|local| (local.name.as_str(), local.value.as_str()));
        assert_eq!(found.collect::<Vec<_>>(), wanted, "at {mark}");
        session.disconnect();
    }
    // In its next turn, the loop has written its variable.
    let (session, stop) = begun(&fixture, "turns", "total", IN_B);
    let stop = session.next(&stop, &fixture, "for");
    let stop = session.next(&stop, &fixture, "worker");
    assert_eq!(session.evaluate(&stop.top, "i"), "1");
    assert_eq!(session.variable(&stop.top, "Locals", "n").value, GONE);
    session.disconnect();
}

#[test]
fn a_finished_future_of_a_generic_function_says_so() {
    let fixture = Fixture::new("awaits.rs");
    let (session, stop) = begun(&fixture, "methods", "twice end", "-");
    let stop = session.step_out(&stop, &fixture, "of twice");
    let awaited = session.evaluate(&stop.top, "__awaitee");
    assert!(awaited.ends_with("(finished)"), "{awaited}");
    session.disconnect();
}

/// The places where the body goes on behind an `await` are in a table of jumps, as are a `match`'s arms.
#[test]
fn a_breakpoint_at_an_await_among_matches_stops_once_for_each_time_it_is_reached() {
    let fixture = Fixture::new("awaits_among_matches.rs");
    let session = Session::started(&fixture, json!({}), &["await"]);
    let mut stops = 0;
    while session.ends_or_stops() {
        let stop = session.stopped_at(&fixture, "await", StoppedEventReason::Breakpoint);
        stops += 1;
        let behind = session.next(&stop, &fixture, "behind");
        session.resume(behind.thread);
    }
    assert_eq!(stops, 5);
}

#[test]
fn a_step_over_an_await_costs_two_stops_for_each_time_that_it_is_suspended() {
    let fixture = Fixture::new("awaits.rs");
    // Each of these is suspended twice: stops at the return and where it is resumed, and one at the end. `await` also stops at the call that
    // makes its future.
    for (mark, ends, stops) in [("worker", "total", 5), ("await", "after", 6)] {
        let (session, stop) = begun(&fixture, "turns", mark, IN_A);
        let process = session.process_id();
        let before = waits(process, stop.thread);
        let stop = session.next(&stop, &fixture, ends);
        assert_eq!(waits(process, stop.thread) - before, stops, "{mark}");
        session.resume(stop.thread);
        session.disconnect();
    }
}
