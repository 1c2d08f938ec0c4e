//! Breakpoints on functions: by name, in C, C++ and Rust, before there is a program, while it runs, and in libraries.

mod support;

use dapple_dap::types::*;
use serde_json::json;
use support::{Fixture, Session, Stopped, file_of};

/// Replaces the breakpoints on functions.
#[track_caller]
fn set(session: &Session, names: &[&str]) -> Vec<Breakpoint> {
    let wanted = names.iter().map(|name| FunctionBreakpoint::new(*name));
    let arguments = SetFunctionBreakpointsArguments::new(wanted.collect());
    let breakpoints = session.ok::<SetFunctionBreakpointsRequest>(arguments);
    assert_eq!(breakpoints.breakpoints.len(), names.len());
    breakpoints.breakpoints
}

/// The ids of breakpoints.
fn ids(breakpoints: &[Breakpoint]) -> Vec<i64> {
    let ids = breakpoints.iter().map(|breakpoint| breakpoint.id);
    ids.collect::<Option<Vec<i64>>>().expect("each has an id")
}

/// Waits for a stop in the function, at `breakpoints` and no others.
#[track_caller]
fn stopped_in(session: &Session, function: &str, breakpoints: &[&Breakpoint]) -> Stopped {
    let stop = session.stopped(StoppedEventReason::FunctionBreakpoint);
    assert_eq!(stop.top.name, function);
    let hit = stop.event.hit_breakpoint_ids.clone().unwrap_or_default();
    let wanted = breakpoints.iter().filter_map(|breakpoint| breakpoint.id);
    assert_eq!(hit, wanted.collect::<Vec<i64>>());
    stop
}

#[test]
fn a_function_stops_past_its_prologue_each_time_it_is_called() {
    let fixture = Fixture::new("tour.c");
    let session = Session::new();
    assert_eq!(
        session.capabilities().supports_function_breakpoints,
        Some(true)
    );
    session.launch(&fixture, json!({}));
    let breakpoints = set(&session, &["classify", "main"]);
    for breakpoint in &breakpoints {
        assert!(breakpoint.verified, "{breakpoint:?}");
        let source = breakpoint.source.as_ref().expect("a source");
        assert_eq!(source.path, Some(fixture.path()));
        assert!(breakpoint.instruction_reference.is_some());
    }
    let [classify, main] = &breakpoints[..] else {
        unreachable!()
    };
    session.configured();
    let stop = stopped_in(&session, "main", &[main]);
    assert_eq!(Some(stop.top.line), main.line);
    session.resume(stop.thread);
    for celsius in ["31.833333333333332", "20.166666666666668", "0.5"] {
        let stop = stopped_in(&session, "classify", &[classify]);
        assert_eq!(Some(stop.top.line), classify.line);
        assert_eq!(file_of(&stop.top), Some(fixture.path()));
        let argument = session.variable(&stop.top, "Arguments", "celsius");
        assert_eq!(argument.value, celsius);
        let stack = session.stack(stop.thread);
        assert_eq!(stack[1].name, "main");
        session.resume(stop.thread);
    }
    assert_eq!(session.exit_code(), 3);
    session.disconnect();
}

#[test]
fn setting_again_replaces_all_and_keeps_the_ids_of_those_that_stay() {
    let fixture = Fixture::new("tour.c");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let lines = session.set_breakpoints(&fixture, &["print"]);
    let first = set(&session, &["main", "add", "classify"]);
    let again = set(&session, &["classify", "mean", "main"]);
    let (was, now) = (ids(&first), ids(&again));
    assert_eq!((now[0], now[2]), (was[2], was[0]));
    assert!(!was.contains(&now[1]) && Some(now[1]) != lines[0].id);
    session.configured();
    // `add` is called first, and it was taken out.
    let stop = stopped_in(&session, "main", &[&again[2]]);
    session.resume(stop.thread);
    let stop = stopped_in(&session, "mean", &[&again[1]]);
    assert!(set(&session, &[]).is_empty());
    session.resume(stop.thread);
    // Those of lines are another set.
    let stop = session.stopped_at(&fixture, "print", StoppedEventReason::Breakpoint);
    assert_eq!(
        stop.event.hit_breakpoint_ids,
        lines[0].id.map(|id| vec![id])
    );
    session.disconnect();
}

#[test]
fn a_place_of_several_breakpoints_names_them_all() {
    let fixture = Fixture::new("recursion.c");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let functions = set(&session, &["fact", "fact", "fa*"]);
    session.configured();
    let stop = stopped_in(&session, "fact", &functions.iter().collect::<Vec<_>>());
    let line = session
        .set_lines(&fixture.path(), &[stop.top.line])
        .remove(0);
    assert!(line.verified);
    session.resume(stop.thread);
    // With a line's among them it is a breakpoint like any.
    let stop = session.stopped(StoppedEventReason::Breakpoint);
    let mut hit = stop.event.hit_breakpoint_ids.expect("breakpoints");
    hit.sort_unstable();
    let mut all = ids(&functions);
    all.extend(line.id);
    assert_eq!(hit, all);
    session.disconnect();
}

#[test]
fn functions_set_before_the_launch_are_found_by_it() {
    let fixture = Fixture::new("tour.c");
    let session = Session::new();
    let early = set(&session, &["classify", "nowhere"]);
    assert!(
        early.iter().all(|breakpoint| !breakpoint.verified),
        "{early:?}"
    );
    session.launch(&fixture, json!({}));
    let changed = session.wait_for::<BreakpointEvent>();
    assert_eq!(changed.reason, BreakpointEventReason::Changed);
    assert!(changed.breakpoint.verified, "{changed:?}");
    assert_eq!(changed.breakpoint.id, early[0].id);
    assert!(changed.breakpoint.source.is_some());
    session.configured();
    stopped_in(&session, "classify", &[&early[0]]);
    session.disconnect();
}

#[test]
fn a_name_that_is_not_found_is_told_with_similar_ones_and_leaves_the_others_alone() {
    let fixture = Fixture::new("tour.c");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let breakpoints = set(
        &session,
        &["clasify", "", "classify", "no_such_thing_at_all"],
    );
    let about: Vec<_> = breakpoints
        .iter()
        .map(|one| (one.verified, one.reason, one.message.as_deref()))
        .collect();
    let none = "no module that is loaded has a function";
    assert_eq!(
        about,
        [
            (
                false,
                Some(BreakpointReason::Pending),
                Some(&*format!("{none} clasify; a similar name is classify"))
            ),
            (
                false,
                Some(BreakpointReason::Failed),
                Some("the function's name is empty")
            ),
            (true, None, None),
            (
                false,
                Some(BreakpointReason::Pending),
                Some(&*format!("{none} no_such_thing_at_all"))
            ),
        ]
    );
    ids(&breakpoints);
    session.configured();
    stopped_in(&session, "classify", &[&breakpoints[2]]);
    session.disconnect();
}
