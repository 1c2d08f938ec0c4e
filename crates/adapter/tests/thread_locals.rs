//! Thread-local variables: those of the program, of a library that is loaded later, and `errno`.

use crate::support::setting::evaluated;
use crate::support::{Fixture, Session, Stopped};
use dapple_dap::types::*;
use serde_json::json;

/// Checks the values of expressions at a stop.
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

    // The first thread has its own copy of each variable.
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
    // The library was unloaded and loaded again. The thread's old copy belongs to the unloaded library.
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
    // The program continues with the values that were set: 50 - 1, 43 - 3, and 5.
    assert_eq!(session.exit_code(), 94);
    session.disconnect();
}

#[test]
fn what_rust_declares_for_each_thread_has_its_written_name_and_value() {
    let fixture = Fixture::new("thread_locals.rs");
    let session = Session::started(&fixture, json!({}), &["thread"]);
    let unset = "<not set in this thread yet>";
    let stop = session.stopped_at(&fixture, "thread", StoppedEventReason::Breakpoint);
    said(
        &session,
        &stop,
        &[
            ("LEVEL", "Cell { value: 9 }"),
            ("thread_locals::LEVEL.get() + 1", "10"),
            ("NAMES", "RefCell { value: [\"first\", \"second\"] }"),
            ("NAMES.borrow()[1].len()", "6"),
            ("STATE.get()", "5"),
            ("other::LEVEL.get()", "78"),
            ("LATER", unset),
        ],
    );
    // The macro's other statics, which the linker has dropped, are not listed.
    let statics = session.scope(&stop.top, "Statics");
    let mut shown = session.variables(statics.variables_reference);
    shown.retain(|it| it.name.starts_with("thread_locals::"));
    let mut lines: Vec<String> = shown
        .iter()
        .map(|it| format!("{} = {}", it.name, it.value))
        .collect();
    lines.sort();
    let expected = [
        "thread_locals::LATER = <not set in this thread yet>",
        "thread_locals::LEVEL = Cell { value: 9 }",
        "thread_locals::NAMES = RefCell { value: [\"first\", \"second\"] }",
        "thread_locals::STATE = Cell { value: 5 }",
        "thread_locals::other::LEVEL = Cell { value: 78 }",
    ];
    assert_eq!(lines, expected);
    for it in &shown {
        let expression = it.evaluate_name.as_deref().expect("an expression");
        assert_eq!(
            session.evaluate(&stop.top, expression),
            it.value,
            "{expression}"
        );
    }
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "thread", StoppedEventReason::Breakpoint);
    said(
        &session,
        &stop,
        &[
            ("LEVEL", unset),
            ("NAMES", "RefCell { value: [] }"),
            ("STATE", "Cell { value: 4 }"),
            ("other::LEVEL.get()", "77"),
        ],
    );
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}
