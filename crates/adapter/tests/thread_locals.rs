//! Variables that each thread has for itself: the program's, those of a library that is loaded late, and `errno`.

mod support;

use dapple_dap::types::*;
use serde_json::json;
use support::setting::evaluated;
use support::{Fixture, Session, Stopped};

/// What expressions say at a stop.
fn said(session: &Session, stop: &Stopped, expected: &[(&str, &str)]) {
    for (expression, text) in expected {
        let said = evaluated(
            session,
            &stop.top,
            expression,
            EvaluateArgumentsContext::Repl,
        );
        assert_eq!(said, *text, "{expression}");
    }
}

#[test]
fn each_thread_shows_its_own_variables_of_the_program_a_library_and_errno() {
    let (host, library) = (
        Fixture::new("thread_locals.c"),
        Fixture::library("thread_locals_library.c"),
    );
    let session = Session::new();
    session.launch(&host, json!({ "args": [library.program()] }));
    session.set_lines(
        &library.path(),
        &["before", "after"].map(|mark| library.line(mark)),
    );
    session.set_lines(&host.path(), &[host.line("main")]);
    session.configured();

    let unused = "<this thread has not used it yet>";
    let stop = session.stopped_at(&library, "before", StoppedEventReason::Breakpoint);
    said(
        &session,
        &stop,
        &[
            ("count", unused),
            ("sum", unused),
            ("errno", "2"),
            ("own", "6"),
        ],
    );
    session.resume(stop.thread);
    let stop = session.stopped_at(&library, "after", StoppedEventReason::Breakpoint);
    let expected = [("count", "42"), ("sum", "42"), ("errno", "2"), ("own", "6")];
    said(&session, &stop, &expected);
    assert_eq!(session.variable(&stop.top, "Statics", "count").value, "42");
    session.resume(stop.thread);

    // The first thread has its own of each.
    let stop = session.stopped_at(&host, "main", StoppedEventReason::Breakpoint);
    said(
        &session,
        &stop,
        &[("errno", "13"), ("own", "5"), ("errno == 13", "true")],
    );
    session.resume(stop.thread);
    let stop = session.stopped_at(&library, "before", StoppedEventReason::Breakpoint);
    said(&session, &stop, &[("count", unused), ("errno", "13")]);
    session.resume(stop.thread);
    let stop = session.stopped_at(&library, "after", StoppedEventReason::Breakpoint);
    said(
        &session,
        &stop,
        &[
            ("count", "41"),
            ("sum", "41"),
            ("count = 50", "50"),
            ("errno = 7", "7"),
        ],
    );
    session.resume(stop.thread);
    // The library is unloaded, and loaded anew: what the thread has still is the old one's.
    let stop = session.stopped_at(&library, "before", StoppedEventReason::Breakpoint);
    said(
        &session,
        &stop,
        &[("count", unused), ("errno == 7 || errno == 0", "true")],
    );
    session.resume(stop.thread);
    let stop = session.stopped_at(&library, "after", StoppedEventReason::Breakpoint);
    said(&session, &stop, &[("count", "43")]);
    session.resume(stop.thread);
    // What was set is what the program goes on with: 50 - 1, 43 - 3, and 5.
    assert_eq!(session.exit_code(), 94);
    session.disconnect();
}
