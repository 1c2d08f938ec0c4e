//! Breakpoints in code that is loaded again: at the same address, at another address, or in a new program.

use crate::support::{Fixture, Session};
use dapple_dap::types::*;
use serde_json::json;
use std::collections::BTreeSet;

#[test]
fn a_library_stops_in_each_namespace_and_where_it_is_loaded_again() {
    let (host, library) = (Fixture::new("namespaces.c"), Fixture::library("plugin.c"));
    let session = Session::new();
    session.launch(&host, json!({ "args": [library.program()] }));
    let wanted = |condition: &str| {
        let line = SourceBreakpoint::new(library.line("shout"));
        line.with_condition("volume == 20")
            .with_hit_condition(condition)
    };
    let arguments = SetBreakpointsArguments::new(Source::new().with_path(library.path()));
    let arguments = arguments.with_breakpoints(vec![wanted(">= 1"), wanted("3"), wanted("4")]);
    let set = session.ok::<SetBreakpointsRequest>(arguments).breakpoints;
    let ids: Vec<i64> = set.iter().filter_map(|breakpoint| breakpoint.id).collect();
    session.configured();
    let mut places = BTreeSet::new();
    for round in 1..=3 {
        let stop = session.stopped_at(&library, "shout", StoppedEventReason::Breakpoint);
        let hits = match round {
            3 => vec![ids[0], ids[1]],
            _ => vec![ids[0]],
        };
        assert_eq!(stop.event.hit_breakpoint_ids, Some(hits), "round {round}");
        places.insert(stop.top.instruction_pointer_reference);
        session.resume(stop.thread);
    }
    assert_eq!(places.len(), 3, "each time elsewhere: {places:?}");
    assert_eq!(session.exit_code(), 63);
    session.disconnect();
}

#[test]
fn breakpoints_with_what_they_count_go_on_in_each_program_that_is_executed() {
    let fixture = Fixture::new("exec_again.c");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let at = |name: &str| SourceBreakpoint::new(fixture.line(name));
    let wanted = vec![
        at("work").with_condition("i == 3"),
        at("work").with_condition("i > 2").with_hit_condition("% 2"),
        at("loop")
            .with_condition("i == 1")
            .with_log_message("{name}"),
    ];
    let arguments = SetBreakpointsArguments::new(Source::new().with_path(fixture.path()));
    let arguments = arguments.with_breakpoints(wanted);
    let set = session.ok::<SetBreakpointsRequest>(arguments).breakpoints;
    let function = FunctionBreakpoint::new("work").with_condition("i == 0 && total == 0");
    let arguments = SetFunctionBreakpointsArguments::new(vec![function]);
    let function = session
        .ok::<SetFunctionBreakpointsRequest>(arguments)
        .breakpoints
        .remove(0);
    let ids = |breakpoint: &Breakpoint| breakpoint.id.map(|id| vec![id]);
    session.configured();
    for program in ["first", "second", "third"] {
        for (hit, i) in [(&function, "0"), (&set[0], "3"), (&set[1], "4")] {
            let reason = match i {
                "0" => StoppedEventReason::FunctionBreakpoint,
                _ => StoppedEventReason::Breakpoint,
            };
            let stop = session.stopped_at(&fixture, "work", reason);
            assert_eq!(session.evaluate(&stop.top, "i"), i, "{program}");
            assert_eq!(stop.event.hit_breakpoint_ids, ids(hit), "{program}");
            session.resume(stop.thread);
        }
    }
    assert_eq!(session.exit_code(), 10);
    let said = session.output(OutputEventCategory::Stdout);
    assert_eq!(said, "first\nsecond\nthird\n");
    let logged = session.output(OutputEventCategory::Console);
    let names: Vec<&str> = logged
        .lines()
        .filter_map(|line| line.split('"').nth(1))
        .collect();
    assert_eq!(names, ["first", "second", "third"], "{logged}");
    session.disconnect();
}
