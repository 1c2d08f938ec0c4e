//! Data breakpoints in C++ and Rust: fields, elements, statics, data on the heap and behind references, in optimized programs, and in
//! frames that exceptions and panics leave.

use crate::support::fixture::{Linking, Optimization};
use crate::support::{Fixture, Session, Stopped};
use dapple_dap::types::*;
use serde_json::json;

fn info(session: &Session, at: &StackFrame, name: &str) -> DataBreakpointInfoResponse {
    let arguments = DataBreakpointInfoArguments::new(name).with_frame_id(at.id);
    session.ok::<DataBreakpointInfoRequest>(arguments)
}

fn set(session: &Session, handles: &[String]) -> Vec<Breakpoint> {
    let wanted = handles.iter().map(DataBreakpoint::new).collect();
    session
        .ok::<SetDataBreakpointsRequest>(SetDataBreakpointsArguments::new(wanted))
        .breakpoints
}

/// Runs to the next access. Returns the stop, its description, and the mark of the line that made it.
#[track_caller]
fn accessed(session: &Session, fixture: &Fixture, thread: i64) -> (Stopped, String, String) {
    session.resume(thread);
    let stop = session.stopped(StoppedEventReason::DataBreakpoint);
    let text = stop.event.text.clone().unwrap_or_default();
    let line = text.rsplit(':').next().and_then(|line| line.parse().ok());
    let mark = line.map_or_else(|| text.clone(), |line| fixture.mark_of(line));
    let said = stop.event.description.clone().unwrap_or_default();
    (stop, said, mark)
}

fn begin(fixture: &Fixture, mark: &str) -> (Session, Stopped) {
    let session = Session::started(fixture, json!({}), &[mark]);
    let stop = session.stopped_at(fixture, mark, StoppedEventReason::Breakpoint);
    session.set_breakpoints(fixture, &[]);
    (session, stop)
}

const CPP_OUTPUT: &str = "begun\ncleaned\n23 6 22 28 7 Short 23\n";
const RUST_OUTPUT: &str = "begun\ndropped\n50 22 20 8 6 true\n";

#[test]
fn each_kind_of_place_in_cpp_is_watched() {
    let fixture = Fixture::new("watched.cpp");
    for (name, said, place) in [
        ("point.x", "`point.x` changed from 1 to 11", "x"),
        ("same.y", "`same.y` changed from 2 to 12", "y"),
        (
            "point.tag",
            "`point.tag` changed from 97 'a' to 98 'b'",
            "tag",
        ),
        (
            "point.little",
            "`point.little` changed from 3 to 4",
            "little",
        ),
        ("same.wide", "`same.wide` changed from 4 to 5", "wide"),
        ("first.value", "`first.value` changed from 0 to 1", "add"),
        ("first.count", "`first.count` changed from 0 to 1", "count"),
        (
            "Counter::made",
            "`Counter::made` changed from 1 to 2",
            "made",
        ),
        ("numbers[1]", "`numbers[1]` changed from 2 to 22", "element"),
        ("shorts[2]", "`shorts[2]` changed from 0 to 8", "short"),
        ("*owned", "`*owned` changed from 10 to 20", "owned"),
        (
            "app::origin.x",
            "`app::origin.x` changed from 1 to 5",
            "origin",
        ),
        ("packed.odd", "`packed.odd` changed from 0 to 1", "odd"),
        (
            "packed.odder",
            "`packed.odder` changed from 0 to 2",
            "odder",
        ),
    ] {
        let (session, stop) = begin(&fixture, "begin");
        session.watch(&stop.top, &[name]);
        let (hit, description, mark) = accessed(&session, &fixture, stop.thread);
        assert_eq!(description, said);
        // If the library writes the data, the line is one of the library's.
        assert!(
            mark == place || !mark.contains("watched.cpp"),
            "{name}: {mark}"
        );
        set(&session, &[]);
        session.resume(hit.thread);
        assert_eq!(session.exit_code(), 0);
        assert_eq!(session.output(OutputEventCategory::Stdout), CPP_OUTPUT);
        session.disconnect();
    }
}

#[test]
fn a_reference_is_what_it_refers_to_and_a_whole_object_is_its_bytes() {
    let fixture = Fixture::new("watched.cpp");
    let (session, stop) = begin(&fixture, "begin");
    session.watch(&stop.top, &["same"]);
    let (_, said, mark) = accessed(&session, &fixture, stop.thread);
    assert!(
        said.starts_with("`same` changed from {x = 1") && said.contains("to {x = 11"),
        "{said}"
    );
    assert_eq!(mark, "x");
    session.disconnect();
}

#[test]
fn a_member_is_watched_in_its_method_through_this() {
    let fixture = Fixture::new("watched.cpp");
    let (session, stop) = begin(&fixture, "add");
    for name in ["value", "this->value"] {
        session.watch(&stop.top, &[name]);
    }
    let (hit, said, mark) = accessed(&session, &fixture, stop.thread);
    assert_eq!(
        (said.as_str(), mark.as_str()),
        ("`this->value` changed from 0 to 1", "add")
    );
    // The member of another object doesn't stop. `first` is in the frame of `main`, which ends with the program.
    session.resume(hit.thread);
    assert!(!session.ends_or_stops(), "the other's was taken for it");
    session.disconnect();
}

#[test]
fn a_frame_left_by_an_exception_is_noticed_where_that_is_taken() {
    for optimization in [Optimization::None, Optimization::Full] {
        let fixture = Fixture::built("watched.cpp", optimization, Linking::Pie);
        let (session, stop) = begin(&fixture, "lost-set");
        session.watch(&stop.top, &["lost"]);
        let (hit, said, mark) = accessed(&session, &fixture, stop.thread);
        assert_eq!(
            (said.as_str(), mark.as_str()),
            ("`lost` changed from 1 to 2", "lost-set")
        );
        session.resume(hit.thread);
        let gone = session.stopped(StoppedEventReason::DataBreakpoint);
        assert_eq!(
            gone.event.text.as_deref(),
            Some("the function was left whose frame had `lost`")
        );
        // The frame's own destructor has run, but no code of the catching function has.
        assert_eq!(
            session.output(OutputEventCategory::Stdout),
            "begun\ncleaned\n"
        );
        assert!(gone.top.name.starts_with("catcher"), "{}", gone.top.name);
        session.resume(gone.thread);
        assert_eq!(session.exit_code(), 0);
        assert_eq!(session.output(OutputEventCategory::Stdout), CPP_OUTPUT);
        session.disconnect();
    }
}

#[test]
fn a_frame_left_by_a_panic_is_noticed_where_that_is_taken() {
    let fixture = Fixture::new("watched.rs");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    session.ok::<SetExceptionBreakpointsRequest>(SetExceptionBreakpointsArguments::new(vec![]));
    session.set_breakpoints(&fixture, &["lost-set"]);
    session.configured();
    let stop = session.stopped_at(&fixture, "lost-set", StoppedEventReason::Breakpoint);
    session.set_breakpoints(&fixture, &[]);
    session.watch(&stop.top, &["lost"]);
    let (hit, said, mark) = accessed(&session, &fixture, stop.thread);
    assert_eq!(
        (said.as_str(), mark.as_str()),
        ("`lost` changed from 1 to 2", "lost-set")
    );
    session.resume(hit.thread);
    let gone = session.stopped(StoppedEventReason::DataBreakpoint);
    assert_eq!(
        gone.event.text.as_deref(),
        Some("the function was left whose frame had `lost`")
    );
    assert_eq!(
        session.output(OutputEventCategory::Stdout),
        "begun\ndropped\n"
    );
    let names: Vec<String> = session
        .stack(gone.thread)
        .into_iter()
        .map(|f| f.name)
        .collect();
    assert!(
        !names.iter().any(|name| name.contains("panics")),
        "{names:?}"
    );
    session.resume(gone.thread);
    assert_eq!(session.exit_code(), 0);
    assert_eq!(session.output(OutputEventCategory::Stdout), RUST_OUTPUT);
    session.disconnect();
}

#[test]
fn each_kind_of_place_in_rust_is_watched() {
    let fixture = Fixture::new("watched.rs");
    for (name, said, place) in [
        ("point.x", "`point.x` changed from 1 to 11", "x"),
        ("point.y", "`point.y` changed from 2 to 12", "y"),
        ("point.tag", "`point.tag` changed from 3 to 13", "tag"),
        (
            "point.little",
            "`point.little` changed from 4 to 14",
            "little",
        ),
        ("numbers[1]", "`numbers[1]` changed from 2 to 22", "element"),
        ("*boxed", "`*boxed` changed from 10 to 20", "boxed"),
        ("array[2]", "`array[2]` changed from 0 to 8", "array"),
        (
            "shape",
            "`shape` changed from Shape::Circle { radius: 1 } to Shape::Circle { radius: 6 }",
            "radius",
        ),
        ("TOTAL", "`TOTAL` changed from 0 to 5", "total"),
        ("CALLS", "`CALLS` changed from 0 to 1", "calls"),
        (
            "inner::DEPTH",
            "`inner::DEPTH` changed from 0 to 9",
            "depth",
        ),
    ] {
        let session = Session::new();
        session.launch(&fixture, json!({}));
        session.ok::<SetExceptionBreakpointsRequest>(SetExceptionBreakpointsArguments::new(vec![]));
        session.set_breakpoints(&fixture, &["begin"]);
        session.configured();
        let stop = session.stopped_at(&fixture, "begin", StoppedEventReason::Breakpoint);
        session.watch(&stop.top, &[name]);
        let (hit, description, mark) = accessed(&session, &fixture, stop.thread);
        assert_eq!(description, said);
        assert!(mark == place || name == "CALLS", "{name}: {mark}");
        set(&session, &[]);
        session.resume(hit.thread);
        assert_eq!(session.exit_code(), 0);
        assert_eq!(session.output(OutputEventCategory::Stdout), RUST_OUTPUT);
        session.disconnect();
    }
}

#[test]
fn what_an_optimised_program_has_in_memory_is_watched_and_what_it_has_in_registers_is_refused() {
    let fixture = Fixture::built("watched.cpp", Optimization::Full, Linking::Pie);
    let (session, stop) = begin(&fixture, "adding");
    assert!(stop.top.name.starts_with("sum"), "{}", stop.top.name);
    // gcc keeps the sum in the register of the first value for a while.
    let found = info(&session, &stop.top, "total");
    assert!(
        found.description.contains("register")
            || found.description.contains("computed")
            || found.description.contains("elsewhere in other parts"),
        "{}",
        found.description
    );
    let found = info(&session, &stop.top, "values");
    assert_eq!(found.data_id, None, "{found:?}");
    assert!(
        found.description.contains("register"),
        "{}",
        found.description
    );
    let found = info(&session, &stop.top, "values[1]");
    assert!(found.data_id.is_some(), "{}", found.description);
    session.disconnect();

    let session = Session::started(&fixture, json!({}), &["begin"]);
    let stop = session.stopped_at(&fixture, "begin", StoppedEventReason::Breakpoint);
    session.set_breakpoints(&fixture, &[]);
    let mut top = stop.top;
    for (name, said) in [
        ("Counter::made", "`Counter::made` changed from 1 to 2"),
        ("app::origin.x", "`app::origin.x` changed from 1 to 5"),
    ] {
        session.watch(&top, &[name]);
        let (hit, description, _) = accessed(&session, &fixture, stop.thread);
        assert_eq!(description, said);
        top = hit.top;
    }
    set(&session, &[]);
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    assert_eq!(session.output(OutputEventCategory::Stdout), CPP_OUTPUT);
    session.disconnect();
}
