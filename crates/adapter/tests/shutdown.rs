//! How `terminate` ends programs, and what happens to programs that don't end.

use crate::support::{Fixture, Session, is_alive};
use dapple_dap::types::*;
use serde_json::{Value, json};

fn started(fixture: &Fixture, arguments: Value, stops: &[&str]) -> Session {
    let session = Session::started(fixture, arguments, stops);
    session.wait_for_output("ready");
    session
}

#[test]
fn the_program_is_asked_to_end_by_the_signal_that_the_launch_names() {
    let fixture = Fixture::new("shutdown.c");
    let ways = [
        json!({"gracefulShutdown": "SIGINT"}),
        json!({"gracefulShutdown": "int", "signals": "SIGINT:nopass"}),
        json!({"gracefulShutdown": "2", "noDebug": true}),
        // The program ends long before this timeout.
        json!({"gracefulShutdown": "SIGINT", "shutdownTimeout": 60}),
    ];
    for arguments in ways {
        let session = started(&fixture, arguments.clone(), &[]);
        session.ok::<TerminateRequest>(Default::default());
        session.wait_for_output("put away");
        assert_eq!(session.exit_code(), 3, "{arguments}");
        session.disconnect();
    }
}

#[test]
fn a_stopped_program_is_asked_too_and_may_be_debugged_as_it_ends() {
    let fixture = Fixture::new("shutdown.c");
    let arguments = json!({"gracefulShutdown": "SIGINT", "shutdownTimeout": 0.05});
    let session = started(&fixture, arguments, &["handler"]);
    session.ok::<TerminateRequest>(Default::default());
    let stop = session.stopped_at(&fixture, "handler", StoppedEventReason::Breakpoint);
    // The stop lasts longer than the timeout: the time doesn't count while the program is stopped.
    session.wait_for_written(
        OutputEventCategory::Console,
        "isn't killed while it is stopped",
    );
    session.ok::<ContinueRequest>(ContinueArguments::new(stop.thread));
    session.wait_for_output("put away");
    assert_eq!(session.exit_code(), 3);
    session.disconnect();
}

#[test]
fn a_program_that_does_not_end_in_time_is_killed() {
    let fixture = Fixture::new("shutdown.c");
    for no_debug in [false, true] {
        let session = started(
            &fixture,
            json!({"args": ["stubborn"], "gracefulShutdown": "SIGINT", "shutdownTimeout": 0.2, "noDebug": no_debug}),
            &[],
        );
        let process = session.process_id();
        session.ok::<TerminateRequest>(Default::default());
        let told = "the program hasn't ended 0.2 s after SIGINT: it is killed";
        session.wait_for_written(OutputEventCategory::Console, told);
        assert_eq!(session.exit_code(), 128 + 9);
        assert!(!is_alive(process));
        session.disconnect();
    }
}

#[test]
fn without_a_time_a_program_may_take_as_long_as_it_likes_and_is_killed_when_asked_again() {
    let fixture = Fixture::new("shutdown.c");
    let session = started(&fixture, json!({}), &[]);
    session.ok::<TerminateRequest>(Default::default());
    // The program ignores the first request, which succeeds nevertheless.
    assert!(is_alive(session.process_id()));
    session.ok::<TerminateRequest>(Default::default());
    assert_eq!(session.exit_code(), 128 + 9);
    session.disconnect();
}

#[test]
fn what_is_no_signal_and_no_time_is_told() {
    let fixture = Fixture::new("shutdown.c");
    for (name, value, sentence) in [
        (
            "gracefulShutdown",
            json!("SIGNONE"),
            "there is no signal `SIGNONE`",
        ),
        (
            "shutdownTimeout",
            json!(-1),
            "`shutdownTimeout` must be a number of seconds",
        ),
    ] {
        let session = Session::new();
        let refused = session.refused::<LaunchRequest>(dapple_dap::testing::launch_arguments(
            &json!({"program": fixture.program(), name: value}),
        ));
        assert!(refused.sentence.contains(sentence), "{}", refused.sentence);
        session.disconnect();
    }
}
