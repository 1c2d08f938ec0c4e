//! Checks as tests of an adapter's own crate.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use dapple_check::{Checker, Scenario};
use dapple_dap::message::Raw;
use dapple_dap::types::{
    ConfigurationDoneRequest, Empty, InitializedEvent, LaunchRequest, StartDebuggingRequest,
    StartDebuggingRequestArguments, StartDebuggingRequestArgumentsRequest,
};
use dapple_dap::{Connection, Server};
use serde_json::json;

use crate::broken::{fail, responses};

pub const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/marked.tiny");

/// What a failed assertion says.
fn message(checker: &Checker) -> String {
    let report = checker.run();
    let failed = catch_unwind(AssertUnwindSafe(|| report.assert_clean()))
        .expect_err("the report is not clean");
    failed.downcast_ref::<String>().expect("a text").clone()
}

/// An adapter that breaks a violation's rule: `disconnect` fails.
fn broken() -> Checker {
    Checker::new(responses("disconnect-fails", "disconnect", |_, it| {
        fail(it)
    }))
    .program(PROGRAM, json!({"program": PROGRAM}))
    .scenarios([Scenario::WrongTime])
}

#[test]
fn the_page_about_conformance_has_the_test() {
    let page = include_str!("../../dap/book/conformance.md");
    let (_, test) = { include_str!("conformance.rs").split_once("\n\n") }.expect("a paragraph");
    assert!(page.contains(test), "{page}");
}

#[test]
fn a_finding_is_in_the_message_of_the_failed_test() {
    let message = message(&broken());
    for part in [
        "the adapter doesn't keep to the protocol\n\nviolation [disconnect-fails] `disconnect` failed: broken\n",
        "  rule: `disconnect` is answered with success.\n  in: requests at the wrong time\n    -> ",
        "\nrequests at the wrong time  1 violation, 0 advice\n1 violation, 0 advice\n",
    ] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn what_is_allowed_is_found_and_fails_no_test() {
    let report = broken().allow("disconnect-fails").run();
    report.assert_clean();
    assert_eq!(report.allowed.len(), 1);
    assert!(
        report.text().contains("\n1 finding allowed\n0 violations"),
        "{}",
        report.text()
    );
}

#[test]
fn what_is_allowed_and_no_longer_found_fails_the_test() {
    let message = message(&broken().allow("disconnect-fails").allow("stop-line"));
    assert!(
        message.contains("\nallowed but not found: `stop-line`; nothing breaks this rule any more"),
        "{message}"
    );
}

#[test]
fn advice_can_be_allowed_as_a_whole() {
    // `threads` succeeds before `initialize`: advice.
    let eager = || {
        let mutant = responses("early-request-succeeds", "threads", |_, it| {
            if it["success"] == false {
                *it = json!({"seq": 0, "type": "response", "request_seq": it["request_seq"],
                    "command": "threads", "success": true, "body": {"threads": []}});
            }
        });
        Checker::new(mutant).scenarios([Scenario::WrongTime])
    };
    assert!(message(&eager()).contains("advice [early-request-succeeds]"));
    eager().allow_advice().run().assert_clean();
}

#[test]
fn a_program_that_is_not_there_is_said() {
    let checker = Checker::command(["no-such-adapter"]).program("no/such.tiny", json!({}));
    assert!(message(&checker).contains("\nnot run: can't read no/such.tiny: No such file"));
    let checker = Checker::command(["no-such-adapter"]).program("Cargo.toml", json!({}));
    assert!(message(&checker).contains("Cargo.toml has no line with the mark `check: stop`\n"));
    let checker = Checker::command(["no-such-adapter"]);
    assert!(message(&checker).contains("not run: the adapter can't be started: No such file"));
}

#[test]
fn scenarios_can_be_left_out() {
    let report = Checker::in_process(|connection| crate::adapter::serve(&connection))
        .program(PROGRAM, json!({"program": PROGRAM}))
        .without(Scenario::WholeSession)
        .run();
    report.assert_clean();
    assert_eq!(report.scenarios.len(), Scenario::ALL.len() - 1);
}

/// An adapter whose first session only asks for a second one, in which the program is debugged.
pub fn with_children(connection: Connection, is_child: bool) {
    if is_child {
        return crate::adapter::serve(&connection);
    }
    let server = Server::builder()
        .on::<LaunchRequest>(|launched: &mut bool, _, context| {
            *launched = true;
            context.outbox().event::<InitializedEvent>(Empty);
            Ok(Empty)
        })
        .on::<ConfigurationDoneRequest>(|_, _, context| {
            let program = Raw::new(PROGRAM).expect("a text is JSON");
            let arguments = StartDebuggingRequestArguments::new(
                [("program".to_owned(), program)].into(),
                StartDebuggingRequestArgumentsRequest::Launch,
            );
            context
                .outbox()
                .request::<StartDebuggingRequest>(arguments, |_| {});
            Ok(Empty)
        })
        .build();
    server.start(&connection).run(&mut false);
}

#[test]
fn a_program_that_is_debugged_in_a_child_session_is_checked_there() {
    let sessions = std::sync::atomic::AtomicUsize::new(0);
    let checker = Checker::in_process(move |connection| {
        let count = sessions.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        with_children(connection, count % 2 == 1);
    });
    let checker = checker
        .program(PROGRAM, json!({"program": PROGRAM}))
        .scenarios([Scenario::WholeSession, Scenario::PlainClient])
        .with_options(|options| options.child_session = true);
    checker.run().assert_clean();
}

#[test]
fn a_child_session_that_does_not_come_is_found() {
    let checker = Checker::in_process(|connection| crate::adapter::serve(&connection))
        .program(PROGRAM, json!({"program": PROGRAM}))
        .scenarios([Scenario::PlainClient])
        .patience(Duration::from_secs(1))
        .with_options(|options| options.child_session = true);
    let message = message(&checker);
    assert!(
        message.contains("violation [child-session-fails]"),
        "{message}"
    );
}
