//! Events about threads, with their names, and about modules that come and go while a program runs.

use crate::support::{Fixture, Session};
use dapple_dap::types::*;
use serde_json::json;
use std::collections::BTreeSet;

/// The ids of the threads in the next `count` thread events with `reason`.
fn thread_ids(session: &Session, reason: &ThreadEventReason, count: usize) -> BTreeSet<i64> {
    let next = || session.wait_for_where::<ThreadEvent>(|event| event.reason == *reason);
    (0..count).map(|_| next().thread_id).collect()
}

#[test]
fn threads_come_and_go_under_their_names() {
    let fixture = Fixture::new("named.c");
    let session = Session::started(&fixture, json!({"args": ["3"]}), &["begun", "over"]);
    let stop = session.stopped_at(&fixture, "begun", StoppedEventReason::Breakpoint);
    let begun = thread_ids(&session, &ThreadEventReason::Started, 4);
    let threads = session.ok::<ThreadsRequest>(Default::default()).threads;
    let ids: BTreeSet<i64> = threads.iter().map(|thread| thread.id).collect();
    assert_eq!(begun, ids, "each was told once");
    let of_workers = threads.iter().filter(|thread| thread.id != stop.thread);
    let names: BTreeSet<&str> = of_workers.map(|thread| &*thread.name).collect();
    assert_eq!(names, ["worker 0", "worker 1", "worker 2"].into());
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "over", StoppedEventReason::Breakpoint);
    let gone = thread_ids(&session, &ThreadEventReason::Exited, 3);
    assert_eq!(
        gone,
        ids.difference(&[stop.thread].into()).copied().collect()
    );
    let threads = session.ok::<ThreadsRequest>(Default::default()).threads;
    assert_eq!(threads.len(), 1, "{threads:?}");
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn a_library_that_comes_and_goes_is_told_each_time_with_where_it_is() {
    let (host, library) = (Fixture::new("host.c"), Fixture::library("plugin.c"));
    let session = Session::new();
    session.launch(&host, json!({"args": [library.program()]}));
    session.set_breakpoints(&host, &["used"]);
    session.configured();
    let of_library = |reason: ModuleEventReason| {
        let event = session.wait_for_where::<ModuleEvent>(|event| {
            event.reason == reason && event.module.path == Some(library.program())
        });
        event.module
    };
    for _ in 0..2 {
        let stop = session.stopped_at(&host, "used", StoppedEventReason::Breakpoint);
        let new = of_library(ModuleEventReason::New);
        assert!(new.address_range.is_some(), "{new:?}");
        assert_eq!(new.id, of_library(ModuleEventReason::Removed).id);
        let listed = session.ok::<ModulesRequest>(Default::default()).modules;
        assert!(
            listed.iter().all(|module| module.id != new.id),
            "{listed:?}"
        );
        session.resume(stop.thread);
    }
    assert_eq!(session.exit_code(), 42);
    session.disconnect();
}
