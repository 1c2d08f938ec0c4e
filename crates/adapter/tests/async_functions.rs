//! Breakpoints on Rust's asynchronous functions: by name or on the line of the header, they stop where the body begins.

use crate::support::{Fixture, Session, Stopped};
use dapple_dap::types::*;
use serde_json::json;

#[track_caller]
fn set(session: &Session, names: &[&str]) -> Vec<Breakpoint> {
    let wanted = names.iter().map(|name| FunctionBreakpoint::new(*name));
    let arguments = SetFunctionBreakpointsArguments::new(wanted.collect());
    session
        .ok::<SetFunctionBreakpointsRequest>(arguments)
        .breakpoints
}

/// Waits for a stop in a body, and checks that these are all locals there.
#[track_caller]
fn stops_with(session: &Session, fixture: &Fixture, mark: &str, locals: &[&str]) -> Stopped {
    let stop = session.stopped_at(fixture, mark, StoppedEventReason::FunctionBreakpoint);
    assert_eq!(written(session, &stop), locals, "at {mark}");
    stop
}

/// The locals, with their values.
fn written(session: &Session, stop: &Stopped) -> Vec<String> {
    let locals = session.scope(&stop.top, "Locals");
    let locals = session.variables(locals.variables_reference);
    let line = |local: Variable| format!("{} = {}", local.name, local.value);
    locals.into_iter().map(line).collect()
}

#[test]
fn a_breakpoint_on_an_async_function_stops_where_its_body_begins() {
    let fixture = Fixture::new("async_functions.rs");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let names = ["outer", "Client::fetch", "total", "larger"];
    let breakpoints = set(&session, &names);
    for (breakpoint, mark) in breakpoints
        .iter()
        .zip(["outer", "fetch", "total", "larger"])
    {
        assert!(breakpoint.verified, "{breakpoint:?}");
        assert_eq!(breakpoint.line, Some(fixture.line(mark)), "{breakpoint:?}");
    }
    session.configured();
    let stop = stops_with(&session, &fixture, "outer", &["name = \"name\""]);
    assert_eq!(
        session.stack(stop.thread)[1].name,
        "async_functions::run<outer (async)>"
    );
    session.resume(stop.thread);
    // This future was created earlier and is awaited twice. The breakpoint stops once.
    let locals = [
        "self = Client { port: 80 }",
        "path = \"/later\"",
        "tries = 3",
    ];
    let stop = stops_with(&session, &fixture, "fetch", &locals);
    assert_eq!(
        stop.event.hit_breakpoint_ids,
        Some(vec![breakpoints[1].id.expect("an id")])
    );
    assert_eq!(session.evaluate(&stop.top, "path"), "\"/later\"");
    assert_eq!(session.evaluate(&stop.top, "self.port"), "80");
    let awaiting = &session.stack(stop.thread)[1];
    assert_eq!(awaiting.line, fixture.line("awaited"));
    // The compiler's variable for what is awaited isn't the user's.
    let locals = session.scope(awaiting, "Locals").variables_reference;
    let locals = session.variables(locals);
    let made = locals.iter().find(|local| local.name.starts_with('_'));
    assert_eq!(made, None);
    session.resume(stop.thread);
    let locals = ["self = Client { port: 80 }", "path = \"/\"", "tries = 1"];
    let stop = stops_with(&session, &fixture, "fetch", &locals);
    session.resume(stop.thread);
    let locals = ["numbers = len = 3 [1, 2, 3]", "first = 10", "last = 20"];
    let stop = stops_with(&session, &fixture, "total", &locals);
    session.resume(stop.thread);
    for locals in [["a = 3", "b = 4"], ["a = \"a\"", "b = \"b\""]] {
        let stop = stops_with(&session, &fixture, "larger", &locals);
        session.resume(stop.thread);
    }
    assert_eq!(session.exit_code(), 0);
    assert_eq!(session.output(OutputEventCategory::Stdout), "175 36 4 b\n");
    session.disconnect();
}

#[test]
fn a_bare_name_and_paths_mean_the_same_body() {
    let fixture = Fixture::new("async_functions.rs");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let names = [
        "fetch",
        "net::Client::fetch",
        "async_functions::net::Client::fetch",
        "Client::*",
    ];
    let breakpoints = set(&session, &names);
    let lines: Vec<_> = breakpoints.iter().map(|one| one.line).collect();
    assert_eq!(lines, [Some(fixture.line("fetch")); 4], "{breakpoints:?}");
    session.configured();
    for _ in 0..2 {
        let stop = session.stopped_at(&fixture, "fetch", StoppedEventReason::FunctionBreakpoint);
        let hit = stop.event.hit_breakpoint_ids.as_deref();
        assert_eq!(hit.map(<[i64]>::len), Some(4));
        session.resume(stop.thread);
    }
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn a_breakpoint_on_the_header_of_an_async_function_stops_in_its_body() {
    let fixture = Fixture::new("async_functions.rs");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let headers = ["outer header", "fetch header", "total header"];
    let breakpoints = session.set_breakpoints(&fixture, &headers);
    for (breakpoint, mark) in breakpoints.iter().zip(["outer", "fetch", "total"]) {
        assert_eq!(breakpoint.line, Some(fixture.line(mark)), "{breakpoint:?}");
    }
    session.configured();
    for mark in ["outer", "fetch", "fetch", "total"] {
        let stop = session.stopped_at(&fixture, mark, StoppedEventReason::Breakpoint);
        session.resume(stop.thread);
    }
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn an_async_function_that_nothing_polls_stops_where_its_future_is_made() {
    let fixture = Fixture::new("async_functions.rs");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let breakpoint = set(&session, &["unused"]).remove(0);
    assert_eq!(breakpoint.line, Some(fixture.line("unused header")));
    session.configured();
    let stop = session.stopped_at(
        &fixture,
        "unused header",
        StoppedEventReason::FunctionBreakpoint,
    );
    assert_eq!(
        session.stack(stop.thread)[1].line,
        fixture.line("made first")
    );
    session.disconnect();
}
