//! Function breakpoints stop behind the prologue: the arguments are in place, and the line is the first that runs.

use crate::support::{Fixture, Session, Stopped};
use dapple_dap::types::*;
use serde_json::json;

fn set(session: &Session, names: &[&str]) -> Vec<Breakpoint> {
    let wanted = names.iter().map(|name| FunctionBreakpoint::new(*name));
    let arguments = SetFunctionBreakpointsArguments::new(wanted.collect());
    session
        .ok::<SetFunctionBreakpointsRequest>(arguments)
        .breakpoints
}

fn locals(session: &Session, stop: &Stopped) -> Vec<String> {
    let locals = session.scope(&stop.top, "Locals");
    let locals = session.variables(locals.variables_reference);
    let line = |local: Variable| format!("{} = {}", local.name, local.value);
    locals.into_iter().map(line).collect()
}

/// Launches the program with a breakpoint on a function, checks that it resolves to `mark`, and waits for the first stop.
fn stopped_in(fixture: &Fixture, function: &str, mark: &str) -> (Session, Stopped) {
    let session = Session::new();
    session.launch(
        fixture,
        json!({ "env": { "ASAN_OPTIONS": "detect_leaks=0" } }),
    );
    let breakpoint = set(&session, &[function]).remove(0);
    assert_eq!(breakpoint.line, Some(fixture.line(mark)), "{breakpoint:?}");
    session.configured();
    let stop = session.stopped_at(fixture, mark, StoppedEventReason::FunctionBreakpoint);
    (session, stop)
}

#[test]
fn a_function_is_entered_at_its_first_line_and_not_where_a_constant_is_written() {
    let fixture = Fixture::new("prologues.rs");
    let (session, mut stop) = stopped_in(&fixture, "parse", "parse");
    assert_eq!(locals(&session, &stop), ["text = \" 123 \""]);
    let mut lines = vec![stop.top.line];
    while lines.last() != Some(&fixture.line("parsed")) {
        session.ok::<NextRequest>(NextArguments::new(stop.thread));
        stop = session.stopped(StoppedEventReason::Step);
        lines.push(stop.top.line);
        assert!(lines.len() < 9, "{lines:?}");
    }
    let (first, last) = (fixture.line("parse"), fixture.line("parsed"));
    assert_eq!(lines, [first, first + 1, first + 2, last]);
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "parse", StoppedEventReason::FunctionBreakpoint);
    assert_eq!(locals(&session, &stop), ["text = \" \""]);
    session.disconnect();
}

#[test]
fn a_line_with_nothing_but_a_constant_that_was_stored_before_is_passed() {
    let fixture = Fixture::new("prologues.rs");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let breakpoint = session.set_breakpoints(&fixture, &["reason"]).remove(0);
    assert_eq!(breakpoint.line, Some(fixture.line("behind reason")));
    session.configured();
    let stop = session.stopped_at(&fixture, "behind reason", StoppedEventReason::Breakpoint);
    assert_eq!(session.evaluate(&stop.top, "reason"), "\"nothing to read\"");
    assert_eq!(session.evaluate(&stop.top, "text"), "\" \"");
    session.disconnect();
}

#[test]
fn constants_that_a_function_begins_with_keep_their_lines() {
    let fixture = Fixture::new("prologues.rs");
    let (session, stop) = stopped_in(&fixture, "begins_with_constants", "constants");
    assert_eq!(locals(&session, &stop), ["scale = 2"]);
    session.disconnect();
}

#[test]
fn a_function_with_a_large_frame_has_its_arguments_at_its_breakpoint() {
    let fixture = Fixture::new("prologues.rs");
    let (session, stop) = stopped_in(&fixture, "large", "large");
    assert_eq!(locals(&session, &stop), ["at = 5", "byte = 9"]);
    session.disconnect();
}

#[test]
fn arguments_that_patterns_take_apart_are_there_at_the_functions_breakpoint() {
    let fixture = Fixture::new("prologues.rs");
    let (session, stop) = stopped_in(&fixture, "apart", "apart");
    let expected = [
        "last = 7",
        "left = 1",
        "right = 2",
        "x = 3",
        "y = 4",
        "first = 5",
    ];
    assert_eq!(locals(&session, &stop), expected);
    let breakpoints = session.set_breakpoints(&fixture, &["closure", "apart header", "ignores"]);
    let lines: Vec<_> = breakpoints.iter().map(|one| one.line).collect();
    let expected = ["closure", "apart", "ignores"].map(|mark| Some(fixture.line(mark)));
    assert_eq!(lines, expected, "{breakpoints:?}");
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "ignores", StoppedEventReason::Breakpoint);
    assert_eq!(locals(&session, &stop), ["number = 2"]);
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "closure", StoppedEventReason::Breakpoint);
    assert_eq!(stop.top.name, "prologues::main");
    for (key, value) in [(1, 10), (2, 20)] {
        session.resume(stop.thread);
        let stop = session.stopped_at(&fixture, "closure", StoppedEventReason::Breakpoint);
        assert_eq!(stop.top.name, "{closure in prologues::main}");
        let names = [format!("key = {key}"), format!("value = {value}")];
        assert_eq!(locals(&session, &stop), names);
    }
    session.disconnect();
}

#[test]
fn a_step_into_a_function_ends_with_its_arguments_taken_apart() {
    let fixture = Fixture::new("prologues.rs");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    set(&session, &["main"]);
    session.configured();
    let mut stop = session.stopped(StoppedEventReason::FunctionBreakpoint);
    let mut seen = Vec::new();
    while stop.top.name != "prologues::apart" {
        seen.push((stop.top.name.clone(), stop.top.line));
        assert!(seen.len() < 99, "{seen:?}");
        session.ok::<StepInRequest>(StepInArguments::new(stop.thread));
        stop = session.stopped(StoppedEventReason::Step);
    }
    assert_eq!(stop.top.line, fixture.line("apart"));
    assert_eq!(session.evaluate(&stop.top, "left"), "1");
    session.disconnect();
}

#[test]
fn a_function_that_is_checked_for_addresses_has_its_arguments_at_its_breakpoint() {
    let Some(fixture) = Fixture::with_address_sanitizer("prologues.c") else {
        return;
    };
    let (session, stop) = stopped_in(&fixture, "main", "main");
    assert_eq!(session.evaluate(&stop.top, "argc"), "1");
    let name = session.evaluate(&stop.top, "argv[0]");
    assert!(name.contains(&fixture.program()), "{name}");
    session.disconnect();
}
