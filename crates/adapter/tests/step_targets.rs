//! Choosing which call of a line to step into, and functions that steps never enter.

use crate::support;
use crate::support::{Fixture, Session, Stopped};
use dapple_adapter::{SetSkipArguments, SetSkipRequest};
use dapple_dap::types::*;
use serde_json::json;

fn at(fixture: &Fixture, name: &str) -> (Session, Stopped) {
    let session = Session::started(fixture, json!({}), &[name]);
    let stop = session.stopped_at(fixture, name, StoppedEventReason::Breakpoint);
    session.set_breakpoints(fixture, &[]);
    (session, stop)
}

fn targets(session: &Session, stop: &Stopped) -> Vec<StepInTarget> {
    let arguments = StepInTargetsArguments::new(stop.top.id);
    session.ok::<StepInTargetsRequest>(arguments).targets
}

fn labels(targets: &[StepInTarget]) -> Vec<&str> {
    targets.iter().map(|target| target.label.as_str()).collect()
}

fn into(stop: &Stopped, target: &StepInTarget) -> StepInArguments {
    StepInArguments::new(stop.thread).with_target_id(target.id)
}

#[test]
fn the_chosen_call_is_entered_and_the_others_are_made() {
    let fixture = Fixture::new("stepping/targets.cpp");
    let (session, stop) = at(&fixture, "nested");
    let targets = targets(&session, &stop);
    let names = ["numbers::two", "numbers::one", "numbers::sum<int>"];
    assert_eq!(labels(&targets), names);
    let line = fixture.line("nested");
    assert!(
        targets
            .iter()
            .all(|target| target.line == Some(line) && target.column.is_some())
    );
    // Asking again gives the same ids.
    assert_eq!(self::targets(&session, &stop), targets);
    session.ok::<StepInRequest>(into(&stop, &targets[2]));
    let stop = session.stopped_at(&fixture, "sum", StoppedEventReason::Step);
    // Its arguments are the return values of the other calls.
    assert_eq!(session.evaluate(&stop.top, "a * 10 + b"), "24");
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

/// The source text of a target. Empty if the target has no end column.
fn written(fixture: &Fixture, target: &StepInTarget) -> String {
    let Some(end) = target.end_column else {
        assert_eq!(target.end_line, None);
        return String::new();
    };
    assert_eq!(target.end_line, target.line);
    let source = std::fs::read_to_string(fixture.path()).expect("the source");
    let line = source
        .lines()
        .nth(target.line.map_or(0, |line| line as usize - 1))
        .expect("a line");
    let start = target.column.expect("a column") as usize;
    line[start - 1..end as usize - 1].to_owned()
}

#[test]
fn a_target_covers_its_call_where_that_is_plain() {
    let fixture = Fixture::new("stepping/targets.cpp");
    for (mark, expected) in [
        // gcc gives calls among the arguments the outer call's position, where another function's name is written.
        ("nested", &["", "", "(one(1), two(2))"][..]),
        ("pointer", &["(a)", "(a)"]),
        ("choice", &["(d)", "(d)"]),
    ] {
        let (session, stop) = at(&fixture, mark);
        let targets = targets(&session, &stop);
        let found: Vec<String> = targets.iter().map(|t| written(&fixture, t)).collect();
        assert_eq!(found, expected, "{mark}: {targets:?}");
        session.disconnect();
    }
}

#[test]
fn a_call_that_is_not_made_is_a_step_over_the_line() {
    let fixture = Fixture::new("stepping/targets.cpp");
    let (session, stop) = at(&fixture, "choice");
    let targets = targets(&session, &stop);
    assert_eq!(labels(&targets), ["numbers::one", "numbers::two"]);
    session.ok::<StepInRequest>(into(&stop, &targets[0]));
    session.stopped_at(&fixture, "call tail", StoppedEventReason::Step);
    session.disconnect();
}

#[test]
fn targets_are_those_of_the_innermost_frame_and_of_its_thread_while_it_stands() {
    let fixture = Fixture::new("stepping/targets.cpp");
    let (session, stop) = at(&fixture, "tail calls");
    let outer = session.stack(stop.thread)[1].id;
    let refusal = session.refused::<StepInTargetsRequest>(StepInTargetsArguments::new(outer));
    assert!(
        refusal.sentence.contains("innermost frame"),
        "{}",
        refusal.sentence
    );
    let targets = targets(&session, &stop);
    let unknown = StepInArguments::new(stop.thread).with_target_id(targets[1].id + 100);
    let refusal = session.refused::<StepInRequest>(unknown);
    assert!(
        refusal.sentence.contains("no target"),
        "{}",
        refusal.sentence
    );
    let stop = session.step_in(&stop, &fixture, "one");
    let refusal = session.refused::<StepInRequest>(into(&stop, &targets[1]));
    assert!(
        refusal.sentence.contains("no target"),
        "{}",
        refusal.sentence
    );
    session.disconnect();
}

#[test]
fn a_function_of_another_library_without_source_is_entered_where_it_is_chosen() {
    let fixture = Fixture::new("stepping/targets.cpp");
    let (session, stop) = at(&fixture, "print");
    let targets = targets(&session, &stop);
    assert_eq!(labels(&targets), ["numbers::one", "printf"]);
    session.ok::<StepInRequest>(into(&stop, &targets[1]));
    let stop = session.stopped(StoppedEventReason::Step);
    assert!(stop.top.name.contains("printf"), "{}", stop.top.name);
    assert_eq!(session.output(OutputEventCategory::Stdout), "");
    session.ok::<StepOutRequest>(StepOutArguments::new(stop.thread));
    session.stopped_at(&fixture, "end", StoppedEventReason::Step);
    session.disconnect();
}

#[test]
fn what_is_to_be_skipped_is_told_at_the_launch() {
    let fixture = Fixture::new("stepping/objects.cpp");
    for (skip, entered) in [
        (json!(["std"]), Some("predicate")),
        (json!(null), Some("predicate")),
        (json!([]), None),
    ] {
        let session = Session::started(&fixture, json!({"skip": skip}), &["sort"]);
        let stop = session.stopped_at(&fixture, "sort", StoppedEventReason::Breakpoint);
        session.set_breakpoints(&fixture, &[]);
        match entered {
            Some(name) => {
                session.step_in(&stop, &fixture, name);
            }
            None => {
                // The first call is `numbers.begin()`.
                session.ok::<StepInRequest>(StepInArguments::new(stop.thread));
                let stop = session.stopped(StoppedEventReason::Step);
                let file = support::file_of(&stop.top).unwrap_or_default();
                assert!(file.starts_with("/usr/include/"), "{:?}", stop.top);
            }
        }
        session.disconnect();
    }
}

#[test]
fn what_is_skipped_is_changed_while_the_program_is_debugged() {
    let fixture = Fixture::new("stepping/targets.cpp");
    let (session, stop) = at(&fixture, "nested");
    let skip = |patterns: &[&str]| SetSkipArguments {
        skip: patterns.iter().map(|text| (*text).to_owned()).collect(),
    };
    session.ok::<SetSkipRequest>(skip(&["std", "two"]));
    let stop = session.step_in(&stop, &fixture, "one");
    let stop = session.step_out(&stop, &fixture, "nested");
    let stop = session.step_in(&stop, &fixture, "sum");
    let refused = session.refused::<SetSkipRequest>(skip(&["std", "a(b"]));
    assert_eq!(
        refused.to_string(),
        "`a(b` is neither a path nor a function's name: a name has no `(`"
    );
    session.step_out(&stop, &fixture, "nested");
    session.disconnect();
}
