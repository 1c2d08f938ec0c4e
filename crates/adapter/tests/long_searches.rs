//! Running backwards: searches that are given up and begin anew near their end, because they take long.

use crate::support::{Fixture, Session, Stopped};
use dapple_adapter::{WhoArguments, WhoRequest};
use dapple_dap::types::*;
use serde_json::json;

/// A recorded session, stopped behind the computation.
fn computed(fixture: &Fixture) -> (Session, Stopped) {
    let session = Session::started(fixture, json!({"record": true}), &["last"]);
    let stop = session.stopped_at(fixture, "last", StoppedEventReason::Breakpoint);
    (session, stop)
}

#[test]
fn a_write_before_a_long_computation_is_found() {
    let fixture = Fixture::new("wrote_early.c");
    let (session, stop) = computed(&fixture);
    let write = session.ok::<WhoRequest>(WhoArguments {
        name: "early".into(),
        frame_id: Some(stop.top.id),
        ..WhoArguments::default()
    });
    let write = write.write.expect("a write");
    assert_eq!(write.before.as_deref(), Some("0"));
    assert_eq!(write.after, "1");
    assert_eq!(write.stack[0].line, fixture.line("writes"));
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
}

#[test]
fn a_breakpoint_before_a_long_computation_is_found() {
    let fixture = Fixture::new("wrote_early.c");
    let (session, stop) = computed(&fixture);
    session.set_breakpoints(&fixture, &["writes", "last"]);
    session.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(stop.thread));
    let first = session.stopped_at(&fixture, "writes", StoppedEventReason::Breakpoint);
    assert_eq!(session.evaluate(&first.top, "early"), "0");
    session.resume(first.thread);
    session.stopped_at(&fixture, "last", StoppedEventReason::Breakpoint);
    session.disconnect();
}
