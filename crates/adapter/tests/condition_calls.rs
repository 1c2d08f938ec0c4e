//! Breakpoint conditions that call functions of the program: they decide whether it stops, and leave the program undisturbed.

use crate::support::{Fixture, Session, Stopped};
use dapple_dap::types::*;
use serde_json::json;

fn at(fixture: &Fixture, mark: &str, condition: &str) -> SourceBreakpoint {
    SourceBreakpoint::new(fixture.line(mark)).with_condition(condition)
}

fn set(session: &Session, fixture: &Fixture, wanted: Vec<SourceBreakpoint>) -> Vec<Breakpoint> {
    let source = Source::new().with_path(fixture.path());
    let arguments = SetBreakpointsArguments::new(source).with_breakpoints(wanted);
    session.ok::<SetBreakpointsRequest>(arguments).breakpoints
}

#[track_caller]
fn started(fixture: &Fixture, wanted: Vec<SourceBreakpoint>) -> (Session, Vec<Breakpoint>) {
    let session = Session::new();
    session.launch(fixture, json!({}));
    let set = set(&session, fixture, wanted);
    for breakpoint in &set {
        assert!(breakpoint.verified, "{breakpoint:?}");
    }
    session.configured();
    (session, set)
}

/// The values of an expression at each stop until the program ends, which it must do with exit code 0.
#[track_caller]
fn values(fixture: &Fixture, wanted: SourceBreakpoint, expression: &str) -> Vec<String> {
    let (session, _) = started(fixture, vec![wanted]);
    let mut values = Vec::new();
    while session.ends_or_stops() {
        let stop = session.stopped(StoppedEventReason::Breakpoint);
        assert_eq!(stop.event.text, None);
        values.push(session.evaluate(&stop.top, expression));
        session.resume(stop.thread);
    }
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
    values
}

fn logged(session: &Session) -> Vec<String> {
    let text = session.output(OutputEventCategory::Console);
    let lines = text.lines().filter(|line| line.ends_with('!'));
    lines.map(str::to_owned).collect()
}

#[test]
fn a_condition_that_calls_decides_in_each_language() {
    let c = Fixture::new("condition_calls.c");
    assert_eq!(values(&c, at(&c, "call", "odd(i)"), "i"), ["1", "3", "5"]);
    assert_eq!(values(&c, at(&c, "call", "i > 3 && odd(i)"), "i"), ["5"]);
    assert_eq!(
        values(&c, at(&c, "call", "odd(i) == odd(i + 1)"), "i"),
        [""; 0]
    );
    let third = at(&c, "call", "!odd(i)").with_hit_condition("3");
    assert_eq!(values(&c, third, "i"), ["4"]);
    // `&&` skips the call if its left side is false: `odd` was called only for 4 and 5.
    let end = at(&c, "end", "asked == 6");
    let (session, _) = started(&c, vec![at(&c, "call", "i > 3 && odd(i) > 1"), end]);
    assert_eq!(session.exit_code(), 0);
    assert!(
        session
            .output(OutputEventCategory::Stdout)
            .starts_with("30 ")
    );
    session.disconnect();

    let cpp = Fixture::new("condition_calls.cpp");
    for (condition, values_at) in [
        ("item->is_heavy(3)", ["4", "5"].as_slice()),
        ("base->cost() == 9", &["3"]),
        ("base->is_heavy(i - 1) && base->cost() > 11", &["4", "5"]),
        ("item->name == \"item 2\" && item->is_heavy(1)", &["2"]),
    ] {
        assert_eq!(
            values(&cpp, at(&cpp, "loop", condition), "i"),
            values_at,
            "{condition}"
        );
    }

    let rust = Fixture::new("condition_calls.rs");
    for (condition, values_at) in [
        ("item.is_heavy(3)", ["4", "5"].as_slice()),
        ("item.weight > 1 && !item.is_heavy(2)", &["2"]),
        ("item.label() == \"item 3 (3 kg)\"", &["3"]),
    ] {
        let at = at(&rust, "loop", condition);
        assert_eq!(values(&rust, at, "item.weight"), values_at, "{condition}");
    }
}

#[test]
fn what_calls_leave_on_the_stack_does_not_add_up_from_hit_to_hit() {
    let rust = Fixture::new("condition_calls.rs");
    let condition = "item.packed().label == \"item 5 (5 kg)\"";
    assert_eq!(
        values(&rust, at(&rust, "loop", condition), "item.weight"),
        ["5"]
    );
}

#[test]
fn that_it_is_slow_is_said_once() {
    let fixture = Fixture::new("condition_calls.c");
    let (session, _) = started(&fixture, vec![at(&fixture, "call", "odd(i) > 1")]);
    assert_eq!(session.exit_code(), 0);
    let told = session.output(OutputEventCategory::Console);
    let slow = "the condition `odd(i) > 1` calls a function of the program: all threads are stopped for that, each time";
    assert_eq!(told.matches(slow).count(), 1, "{told}");
    session.disconnect();
}

#[test]
fn threads_that_come_together_are_each_decided_on_and_none_is_lost() {
    let fixture = Fixture::new("condition_calls.c");
    let wanted = vec![
        at(&fixture, "work", "odd(i)").with_log_message("odd {i}!"),
        SourceBreakpoint::new(fixture.line("work")).with_log_message("all {i}!"),
        at(&fixture, "work", "odd(i) > 1"),
    ];
    let (session, _) = started(&fixture, wanted);
    assert_eq!(session.exit_code(), 0);
    let mut expected: Vec<String> = (0..40).map(|i| format!("all {i}!")).collect();
    expected.extend((0..20).map(|i| format!("odd {}!", i * 2 + 1)));
    let mut expected: Vec<String> = (0..4).flat_map(|_| expected.clone()).collect();
    expected.sort();
    let mut logged = logged(&session);
    logged.sort();
    assert_eq!(logged, expected);
    session.disconnect();
}

#[track_caller]
fn next(session: &Session, stop: &Stopped, reason: StoppedEventReason) -> Stopped {
    session.ok::<NextRequest>(NextArguments::new(stop.thread));
    session.stopped(reason)
}

#[test]
fn a_step_goes_on_over_what_does_not_stop_it() {
    let fixture = Fixture::new("condition_calls.c");
    for (condition, stops) in [("odd(i) > 1", 0), ("odd(i) && i == 1", 1)] {
        let wanted = vec![
            SourceBreakpoint::new(fixture.line("call")).with_hit_condition("2"),
            at(&fixture, "twice", condition),
            at(&fixture, "behind", "odd(i) > 1"),
        ];
        let (session, set) = started(&fixture, wanted);
        let mut stop = session.stopped_at(&fixture, "call", StoppedEventReason::Breakpoint);
        for _ in 0..stops {
            stop = next(&session, &stop, StoppedEventReason::Breakpoint);
            assert_eq!(fixture.mark_of(stop.top.line), "twice");
            assert_eq!(stop.event.hit_breakpoint_ids, set[1].id.map(|id| vec![id]));
            session.ok::<StepOutRequest>(StepOutArguments::new(stop.thread));
            stop = session.stopped_at(&fixture, "call", StoppedEventReason::Step);
        }
        let stop = next(&session, &stop, StoppedEventReason::Step);
        assert_eq!(fixture.mark_of(stop.top.line), "behind");
        assert_eq!(session.evaluate(&stop.top, "more"), "2");
        session.ok::<SetBreakpointsRequest>(SetBreakpointsArguments::new(
            Source::new().with_path(fixture.path()),
        ));
        session.resume(stop.thread);
        assert_eq!(session.exit_code(), 0);
        session.disconnect();
    }
}

#[test]
fn a_call_that_fails_stops_the_program_where_it_was_and_says_why() {
    let fixture = Fixture::new("condition_calls.c");
    let (session, set) = started(&fixture, vec![at(&fixture, "call", "read_nowhere() == 1")]);
    let stop = session.stopped_at(&fixture, "call", StoppedEventReason::Breakpoint);
    assert_eq!(stop.event.hit_breakpoint_ids, set[0].id.map(|id| vec![id]));
    let text = stop.event.text.clone().expect("a reason");
    let head = "the breakpoint's condition `read_nowhere() == 1` can't be evaluated: ";
    assert!(text.starts_with(head), "{text}");
    assert!(text.contains("SIGSEGV"), "{text}");
    assert_eq!(session.evaluate(&stop.top, "i"), "0");
    session.ok::<SetBreakpointsRequest>(SetBreakpointsArguments::new(
        Source::new().with_path(fixture.path()),
    ));
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}
