//! Data breakpoints across events of the program: forked children, exec, libraries that are loaded and unloaded, and threads that start
//! later.

use crate::support::{Fixture, Session, Stopped};
use dapple_dap::types::*;
use serde_json::json;

fn watch(session: &Session, handles: &[&str]) -> Vec<Breakpoint> {
    let wanted = handles.iter().map(|id| DataBreakpoint::new(*id)).collect();
    session
        .ok::<SetDataBreakpointsRequest>(SetDataBreakpointsArguments::new(wanted))
        .breakpoints
}

const TOTAL: &str = "static:c:change:4:total";

fn begin(fixture: &Fixture, args: &[&str]) -> (Session, Stopped) {
    let session = Session::started(fixture, json!({"args": args}), &["begin"]);
    let stop = session.stopped_at(fixture, "begin", StoppedEventReason::Breakpoint);
    session.set_breakpoints(fixture, &[]);
    assert!(watch(&session, &[TOTAL])[0].verified);
    (session, stop)
}

/// Runs to the next access. Returns the thread and the description.
#[track_caller]
fn accessed(session: &Session, thread: i64) -> (i64, String) {
    session.resume(thread);
    let stop = session.stopped(StoppedEventReason::DataBreakpoint);
    (stop.thread, stop.event.description.unwrap_or_default())
}

#[track_caller]
fn ends(session: Session, thread: i64, output: &str) {
    session.resume(thread);
    assert_eq!(session.exit_code(), 0);
    assert_eq!(session.output(OutputEventCategory::Stdout), output);
    session.disconnect();
}

#[test]
fn a_forked_child_writes_its_own_and_nobody_stops() {
    let fixture = Fixture::new("shared.c");
    let (session, stop) = begin(&fixture, &["fork"]);
    let (thread, said) = accessed(&session, stop.thread);
    assert_eq!(said, "`total` changed from 0 to 1");
    let (thread, said) = accessed(&session, thread);
    assert_eq!(said, "`total` changed from 1 to 101");
    ends(session, thread, "child 50\ntotal 101\n");
}

#[test]
fn what_a_vforked_child_writes_is_seen_at_the_next_access_and_harms_nobody() {
    let fixture = Fixture::new("shared.c");
    let (session, stop) = begin(&fixture, &["vfork"]);
    let (thread, said) = accessed(&session, stop.thread);
    assert_eq!(said, "`total` changed from 0 to 1");
    let (thread, said) = accessed(&session, thread);
    assert!(said.ends_with(" to 160"), "{said}");
    ends(session, thread, "child 4\ntotal 160\n");
}

#[test]
fn a_static_is_watched_in_the_program_that_is_executed_too() {
    let fixture = Fixture::new("shared.c");
    let (session, stop) = begin(&fixture, &["exec"]);
    let mut thread = stop.thread;
    for expected in [
        "`total` changed from 0 to 1",
        "`total` changed from 0 to 1",
        "`total` changed from 1 to 101",
    ] {
        let (now, said) = accessed(&session, thread);
        assert_eq!(said, expected);
        thread = now;
    }
    ends(session, thread, "total 101\n");
}

#[test]
fn a_local_is_not_watched_any_more_in_the_program_that_is_executed() {
    let fixture = Fixture::new("shared.c");
    let session = Session::started(&fixture, json!({"args": ["exec"]}), &["begin"]);
    let stop = session.stopped_at(&fixture, "begin", StoppedEventReason::Breakpoint);
    session.set_breakpoints(&fixture, &[]);
    let arguments = DataBreakpointInfoArguments::new("argc").with_frame_id(stop.top.id);
    let handle = session.ok::<DataBreakpointInfoRequest>(arguments).data_id;
    let id = watch(&session, &[&handle.expect("a handle")])[0].id;
    session.resume(stop.thread);
    let removed = session.wait_for::<BreakpointEvent>();
    assert_eq!(
        (removed.reason, removed.breakpoint.id),
        (BreakpointEventReason::Removed, id)
    );
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn every_write_of_every_thread_stops_once_also_of_those_that_begin_later() {
    let fixture = Fixture::new("shared.c");
    let session = Session::started(&fixture, json!({"args": ["threads"]}), &["half"]);
    let stop = session.stopped_at(&fixture, "half", StoppedEventReason::Breakpoint);
    session.set_breakpoints(&fixture, &[]);
    watch(&session, &[TOTAL]);
    let mut thread = stop.thread;
    let mut writers = Vec::new();
    for value in 1..=40 {
        let (now, said) = accessed(&session, thread);
        assert_eq!(
            said,
            format!("`total` changed from {value} to {}", value + 1)
        );
        writers.push(now);
        thread = now;
    }
    writers.sort_unstable();
    writers.dedup();
    assert_eq!(writers.len(), 8);
    // Removed while the thread is stopped at an access. Later accesses don't stop.
    watch(&session, &[]);
    ends(session, thread, "half\ntotal 141\n");
}

#[test]
fn a_librarys_data_is_watched_each_time_that_is_loaded() {
    let (fixture, library) = (Fixture::new("shared.c"), Fixture::library("counter.c"));
    let session = Session::new();
    session.launch(&fixture, json!({"args": ["load", library.program()]}));
    let pending = watch(&session, &["static:c:change:4:counted"]);
    assert!(!pending[0].verified, "{pending:?}");
    session.configured();
    let mut thread = None;
    for _ in 0..2 {
        if let Some(thread) = thread {
            session.resume(thread);
        }
        let stop = session.stopped(StoppedEventReason::DataBreakpoint);
        assert_eq!(
            stop.event.description.as_deref(),
            Some("`counted` changed from 0 to 5")
        );
        assert_eq!(
            stop.event.hit_breakpoint_ids,
            pending[0].id.map(|id| vec![id])
        );
        assert_eq!(stop.top.name, "count");
        thread = Some(stop.thread);
    }
    ends(session, thread.expect("a stop"), "total 107\n");
}
