//! Breakpoints on indirect functions (`STT_GNU_IFUNC`, `R_X86_64_IRELATIVE`): they stop in the implementation that the program calls, not
//! in the resolver.

use crate::support::fixture::{Linking, Optimization};
use crate::support::{Fixture, Session, running::Running};
use dapple_dap::types::*;
use serde_json::json;

/// Replaces the function breakpoints.
#[track_caller]
fn set(session: &Session, names: &[&str]) -> Vec<Breakpoint> {
    let wanted = names.iter().map(|name| FunctionBreakpoint::new(*name));
    let arguments = SetFunctionBreakpointsArguments::new(wanted.collect());
    let set = session.ok::<SetFunctionBreakpointsRequest>(arguments);
    assert_eq!(set.breakpoints.len(), names.len());
    set.breakpoints
}

/// Waits until the breakpoint is reported as resolved.
#[track_caller]
fn resolved(session: &Session, breakpoint: &Breakpoint) -> Breakpoint {
    loop {
        let event = session.wait_for::<BreakpointEvent>();
        assert_eq!(event.reason, BreakpointEventReason::Changed);
        if event.breakpoint.id == breakpoint.id && event.breakpoint.verified {
            return event.breakpoint;
        }
    }
}

#[test]
fn a_chosen_function_stops_where_it_was_chosen_to_be() {
    for linking in [Linking::Pie, Linking::Fixed, Linking::Static] {
        let fixture = Fixture::built("indirect.c", Optimization::None, linking);
        let session = Session::new();
        session.launch(&fixture, json!({}));
        let count = set(&session, &["count"]).remove(0);
        assert_eq!(
            (
                count.verified,
                count.reason.clone(),
                count.message.as_deref()
            ),
            (
                false,
                Some(BreakpointReason::Pending),
                Some("the program has yet to choose which code count is (an indirect function)")
            ),
            "{linking:?}"
        );
        session.configured();
        let found = resolved(&session, &count);
        assert_eq!(found.line, Some(fixture.line("chosen")), "{linking:?}");
        for value in ["1", "2"] {
            let stop =
                session.stopped_at(&fixture, "chosen", StoppedEventReason::FunctionBreakpoint);
            assert_eq!(stop.event.hit_breakpoint_ids, count.id.map(|id| vec![id]));
            assert_eq!(session.evaluate(&stop.top, "value"), value);
            assert_eq!(stop.top.name, "count_slowly");
            session.resume(stop.thread);
        }
        assert_eq!(session.exit_code(), 3);
        session.disconnect();
    }
}

#[test]
fn a_function_of_the_c_library_stops_in_the_code_that_suits_the_processor() {
    for linking in [Linking::Pie, Linking::Static] {
        let fixture = Fixture::built("indirect.c", Optimization::None, linking);
        let session = Session::started(&fixture, json!({}), &["first call"]);
        let stop = session.stopped_at(&fixture, "first call", StoppedEventReason::Breakpoint);
        let strlen = set(&session, &["strlen"]).remove(0);
        assert!(strlen.verified, "{linking:?}: {strlen:?}");
        session.resume(stop.thread);
        let stop = session.stopped(StoppedEventReason::FunctionBreakpoint);
        assert_eq!(stop.event.hit_breakpoint_ids, strlen.id.map(|id| vec![id]));
        let stack = session.stack(stop.thread);
        assert_eq!(stack[1].name, "main", "{linking:?}: {stack:?}");
        assert!(stop.top.name.contains("strlen"), "{linking:?}: {stack:?}");
        set(&session, &[]);
        session.resume(stop.thread);
        assert_eq!(session.exit_code(), 3);
        session.disconnect();
    }
}

#[test]
fn what_chooses_is_stopped_in_by_its_own_name_or_address() {
    let fixture = Fixture::built("indirect.c", Optimization::None, Linking::Fixed);
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let choose = set(&session, &["choose_count"]).remove(0);
    let at = choose.instruction_reference.clone().expect("an address");
    let set = set(&session, &[&format!("*{at}"), "count"]);
    assert_eq!((set[0].verified, set[1].verified), (true, false));
    session.configured();
    let stop = session.stopped_at(&fixture, "choice", StoppedEventReason::FunctionBreakpoint);
    assert_eq!(stop.event.hit_breakpoint_ids, set[0].id.map(|id| vec![id]));
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "chosen", StoppedEventReason::FunctionBreakpoint);
    assert_eq!(stop.event.hit_breakpoint_ids, set[1].id.map(|id| vec![id]));
    session.disconnect();
}

#[test]
fn a_chosen_function_of_a_library_is_found_each_time_that_is_loaded() {
    let (host, library) = (Fixture::new("host.c"), Fixture::library("chosen.c"));
    let session = Session::new();
    session.launch(&host, json!({"args": [library.program()]}));
    let greet = set(&session, &["greet"]).remove(0);
    session.configured();
    for _ in 0..2 {
        let stop = session.stopped_at(&library, "chosen", StoppedEventReason::FunctionBreakpoint);
        assert_eq!(stop.event.hit_breakpoint_ids, greet.id.map(|id| vec![id]));
        session.resume(stop.thread);
    }
    assert_eq!(session.exit_code(), 42);
    session.disconnect();
}

#[test]
fn what_was_chosen_before_an_attach_is_read_from_the_program() {
    for linking in [Linking::Pie, Linking::Static] {
        let fixture = Fixture::built("indirect.c", Optimization::None, linking);
        let mut program = Running::begin(&fixture.binary, &["on"]);
        assert_eq!(program.line(), "4 1");
        let session = Session::new();
        let arguments = json!({"pid": program.pid()});
        session.ok::<AttachRequest>(serde_json::from_value(arguments).expect("arguments"));
        session.wait_for::<InitializedEvent>();
        let set = set(&session, &["count", "strlen"]);
        assert!(set[0].verified && set[1].verified, "{linking:?}: {set:?}");
        assert_eq!(set[0].line, Some(fixture.line("chosen")));
        session.configured();
        program.tell("x");
        let stop = session.stopped_at(&fixture, "chosen", StoppedEventReason::FunctionBreakpoint);
        assert_eq!(stop.event.hit_breakpoint_ids, set[0].id.map(|id| vec![id]));
        session.disconnect();
    }
}
