//! Steps over recursive calls end in the activation that they began in, and the calls inside don't stop.
//!
//! There are 16 million calls. A stop for each would take minutes.

use crate::support::{Fixture, Session, Stopped};
use dapple_dap::types::*;
use serde_json::json;

fn programs() -> [Fixture; 2] {
    let by = |flags: &[&str]| Fixture::compiled_with("g++", "recursion.cpp", flags);
    [
        by(&["-g", "-O0"]),
        by(&["-g", "-O0", "-fomit-frame-pointer"]),
    ]
}

/// Runs to a mark, and removes the breakpoint.
fn at(fixture: &Fixture, mark: &str) -> (Session, Stopped) {
    let session = Session::started(fixture, json!({}), &[mark]);
    let stop = session.stopped_at(fixture, mark, StoppedEventReason::Breakpoint);
    session.set_breakpoints(fixture, &[]);
    (session, stop)
}

#[test]
fn a_step_over_calls_ends_with_their_own_return() {
    for fixture in programs() {
        let (session, stop) = at(&fixture, "both");
        assert_eq!(session.evaluate(&stop.top, "depth"), "23");
        let stop = session.next(&stop, &fixture, "sum");
        let value = |name| session.evaluate(&stop.top, name);
        assert_eq!(
            [value("depth"), value("sum"), value("calls")],
            ["23", "8388608", "16777215"]
        );
        session.disconnect();
    }
}

#[test]
fn a_step_out_of_an_activation_ends_in_the_one_that_called_it() {
    for fixture in programs() {
        let (session, stop) = at(&fixture, "both");
        let stop = session.step_in(&stop, &fixture, "counted");
        assert_eq!(session.evaluate(&stop.top, "depth"), "22");
        let stop = session.step_out(&stop, &fixture, "both");
        let value = |name| session.evaluate(&stop.top, name);
        assert_eq!([value("depth"), value("calls")], ["23", "8388608"]);
        // The line makes two calls, of which this is the second.
        let stop = session.next(&stop, &fixture, "sum");
        assert_eq!(session.evaluate(&stop.top, "sum"), "8388608");
        session.disconnect();
    }
}

#[test]
fn a_breakpoint_inside_stops_a_step_over_the_calls() {
    for fixture in programs() {
        let (session, stop) = at(&fixture, "both");
        let inside = SourceBreakpoint::new(fixture.line("sum")).with_hit_condition("1000");
        let source = Source::new().with_path(fixture.path());
        let arguments = SetBreakpointsArguments::new(source).with_breakpoints(vec![inside]);
        session.ok::<SetBreakpointsRequest>(arguments);
        session.ok::<NextRequest>(NextArguments::new(stop.thread));
        let stop = session.stopped_at(&fixture, "sum", StoppedEventReason::Breakpoint);
        assert_ne!(session.evaluate(&stop.top, "depth"), "23");
        session.disconnect();
    }
}

/// Small trees have few activations inside, and behave the same.
#[test]
fn an_exception_or_a_jump_out_of_many_calls_ends_a_step_where_it_goes_on() {
    for fixture in programs() {
        for depth in ["3", "9"] {
            let session = Session::started(&fixture, json!({}), &["searching", "leaving"]);
            let mut stop =
                session.stopped_at(&fixture, "searching", StoppedEventReason::Breakpoint);
            while session.evaluate(&stop.top, "top") != depth {
                session.set_breakpoints(&fixture, &["searched", "leaving"]);
                session.resume(stop.thread);
                session.stopped(StoppedEventReason::Breakpoint);
                session.set_breakpoints(&fixture, &["searching", "leaving"]);
                session.resume(stop.thread);
                stop = session.stopped(StoppedEventReason::Breakpoint);
            }
            session.set_breakpoints(&fixture, &["leaving"]);
            let next = |stop: &Stopped| {
                session.ok::<NextRequest>(NextArguments::new(stop.thread));
                session.stopped(StoppedEventReason::Step)
            };
            let mut stop = next(&stop);
            assert_eq!(fixture.mark_of(stop.top.line), "caught by");
            assert_eq!(session.evaluate(&stop.top, "depth"), depth);
            session.resume(stop.thread);
            stop = session.stopped_at(&fixture, "leaving", StoppedEventReason::Breakpoint);
            let stop = next(&stop);
            assert_eq!(fixture.mark_of(stop.top.line), "set");
            session.disconnect();
        }
    }
}

#[test]
fn steps_end_where_they_do_when_all_debug_registers_are_the_users() {
    for fixture in programs() {
        let (session, stop) = at(&fixture, "searching");
        let watched = |index: usize| {
            let arguments = DataBreakpointInfoArguments::new(format!("words[{index}]"))
                .with_frame_id(stop.top.id);
            let info = session.ok::<DataBreakpointInfoRequest>(arguments);
            DataBreakpoint::new(info.data_id.expect("it can be watched"))
        };
        let all = (0..4).map(watched).collect();
        session.ok::<SetDataBreakpointsRequest>(SetDataBreakpointsArguments::new(all));
        session.set_breakpoints(&fixture, &["leaving"]);
        session.resume(stop.thread);
        let stop = session.stopped_at(&fixture, "leaving", StoppedEventReason::Breakpoint);
        let stop = session.step_in(&stop, &fixture, "leave");
        session.step_out(&stop, &fixture, "set");
        session.disconnect();
    }
}
