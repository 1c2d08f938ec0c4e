//! Requests at times when they make no sense: each is refused with a message, and the session continues undisturbed.

use crate::support::{Fixture, Session, is_alive};
use dapple_dap::client::RequestFailure;
use dapple_dap::types::*;
use serde_json::json;

/// The errors of all requests that need a stopped program, for this thread and frame.
fn refusals_to_move_and_look(
    session: &Session,
    thread: i64,
    frame: i64,
) -> Vec<(&'static str, RequestFailure)> {
    let source = Source::new().with_path("/nowhere.c");
    vec![
        (
            "continue",
            session.refused::<ContinueRequest>(ContinueArguments::new(thread)),
        ),
        (
            "next",
            session.refused::<NextRequest>(NextArguments::new(thread)),
        ),
        (
            "stepIn",
            session.refused::<StepInRequest>(StepInArguments::new(thread)),
        ),
        (
            "stepOut",
            session.refused::<StepOutRequest>(StepOutArguments::new(thread)),
        ),
        (
            "stackTrace",
            session.refused::<StackTraceRequest>(StackTraceArguments::new(thread)),
        ),
        (
            "scopes",
            session.refused::<ScopesRequest>(ScopesArguments::new(frame)),
        ),
        (
            "exceptionInfo",
            session.refused::<ExceptionInfoRequest>(ExceptionInfoArguments::new(thread)),
        ),
        (
            "goto",
            session.refused::<GotoRequest>(GotoArguments::new(thread, 1)),
        ),
        (
            "gotoTargets",
            session.refused::<GotoTargetsRequest>(GotoTargetsArguments::new(source, 1)),
        ),
        (
            "restartFrame",
            session.refused::<RestartFrameRequest>(RestartFrameArguments::new(frame)),
        ),
        (
            "stepBack",
            session.refused::<StepBackRequest>(StepBackArguments::new(thread)),
        ),
        (
            "reverseContinue",
            session.refused::<ReverseContinueRequest>(ReverseContinueArguments::new(thread)),
        ),
    ]
}

/// The same for requests that need a program, running or stopped.
fn refusals(session: &Session, thread: i64, frame: i64) -> Vec<(&'static str, RequestFailure)> {
    let ids = TerminateThreadsArguments::new().with_thread_ids(vec![thread]);
    let mut refusals = refusals_to_move_and_look(session, thread, frame);
    refusals.extend([
        (
            "variables",
            session.refused::<VariablesRequest>(VariablesArguments::new(1000)),
        ),
        (
            "evaluate",
            session
                .refused::<EvaluateRequest>(EvaluateArguments::new("1 + 1").with_frame_id(frame)),
        ),
        (
            "terminateThreads",
            session.refused::<TerminateThreadsRequest>(ids),
        ),
    ]);
    refusals
}

#[track_caller]
fn all_say(refusals: &[(&str, RequestFailure)], parts: &[&str]) {
    for (request, failure) in refusals {
        let sentence = &failure.sentence;
        assert!(
            parts.iter().any(|part| sentence.contains(part)),
            "{request}: {sentence}"
        );
    }
}

#[test]
fn before_anything_is_launched_each_request_says_that_nothing_is_debugged() {
    let session = Session::new();
    all_say(
        &refusals(&session, 1, 1),
        &[
            "no program",
            "not launched",
            "launch",
            "there is no frame 1",
            "there is no target 1",
        ],
    );
    let pause = session.refused::<PauseRequest>(PauseArguments::new(1));
    let terminate = session.refused::<TerminateRequest>(Default::default());
    let restart = session.refused::<RestartRequest>(RestartArguments::new());
    all_say(
        &[
            ("pause", pause),
            ("terminate", terminate),
            ("restart", restart),
        ],
        &["no program", "launch"],
    );
    assert!(
        session
            .ok::<ThreadsRequest>(Default::default())
            .threads
            .is_empty()
    );
    // A launch still works.
    let fixture = Fixture::new("exit.c");
    session.launch(&fixture, json!({"args": ["3"]}));
    session.configured();
    assert_eq!(session.exit_code(), 3);
    session.disconnect();
}

#[test]
fn after_the_end_each_request_says_so_and_leaving_works() {
    let fixture = Fixture::new("exit.c");
    let session = Session::started(&fixture, json!({"args": ["3"]}), &["main"]);
    let stop = session.stopped_at(&fixture, "main", StoppedEventReason::Breakpoint);
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 3);
    all_say(
        &refusals(&session, stop.thread, stop.top.id),
        &["ended", "no frame", "no target", "no thread"],
    );
    let pause = session.refused::<PauseRequest>(PauseArguments::new(stop.thread));
    all_say(&[("pause", pause)], &["ended"]);
    // `terminate` succeeds after the program's end, as often as it is sent.
    session.ok::<TerminateRequest>(Default::default());
    session.ok::<TerminateRequest>(Default::default());
    session.disconnect();
}

#[test]
fn while_the_program_runs_each_request_says_so_and_it_runs_on() {
    let fixture = Fixture::new("server.c");
    let session = Session::started(&fixture, json!({"stdin": "console"}), &["work"]);
    session.wait_for_output("ready");
    let thread = session.process_id();
    let typed = |text: &str| {
        let arguments = EvaluateArguments::new(text).with_context(EvaluateArgumentsContext::Repl);
        session.ok::<EvaluateRequest>(arguments);
    };
    let mut refusals = refusals_to_move_and_look(&session, thread, 1);
    all_say(&refusals, &["running", "runs", "no frame", "no target"]);
    typed(">work");
    let stop = session.stopped_at(&fixture, "work", StoppedEventReason::Breakpoint);
    // Pausing a stopped program sends no event.
    session.ok::<PauseRequest>(PauseArguments::new(stop.thread));
    assert_eq!(session.stack(stop.thread)[0].line, fixture.line("work"));
    session.resume(stop.thread);
    session.wait_for_output("worked 1");
    refusals = refusals_to_move_and_look(&session, thread, 1);
    all_say(&refusals, &["running", "runs", "no frame", "no target"]);
    typed(">quit 6");
    assert_eq!(session.exit_code(), 6);
    session.disconnect();
}

#[test]
fn a_session_may_be_left_in_every_state_and_leaves_no_process() {
    // Before a launch.
    Session::new().disconnect();
    let fixture = Fixture::new("sleepless.c");
    // While it steps over a call that never returns.
    let session = Session::started(&fixture, json!({}), &["main"]);
    let stop = session.stopped_at(&fixture, "main", StoppedEventReason::Breakpoint);
    let process = session.process_id();
    session.set_breakpoints(&fixture, &[]);
    session.ok::<StepOutRequest>(StepOutArguments::new(stop.thread));
    session.wait_for_output("awake");
    session.disconnect();
    assert!(!is_alive(process));
    // While a pause is pending.
    let session = Session::started(&fixture, json!({}), &[]);
    session.wait_for_output("awake");
    let process = session.process_id();
    session.ok::<PauseRequest>(PauseArguments::new(process));
    session.disconnect();
    assert!(!is_alive(process));
    // After the program's end, twice.
    let fixture = Fixture::new("exit.c");
    let session = Session::started(&fixture, json!({}), &[]);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn a_pause_before_the_program_runs_is_harmless() {
    let fixture = Fixture::new("exit.c");
    let session = Session::new();
    session.launch(&fixture, json!({"args": ["2"]}));
    let process = session.process_id();
    session.ok::<PauseRequest>(PauseArguments::new(process));
    session.configured();
    assert_eq!(session.exit_code(), 2);
    session.disconnect();
}

#[test]
fn waiting_for_a_process_is_cancelled_and_answered() {
    let session = Session::new();
    let arguments =
        serde_json::from_value(json!({"program": "no-such-program-anywhere", "waitFor": true}));
    let attached = session
        .send::<AttachRequest>(arguments.expect("an object"))
        .expect("sent");
    session.wait_for_written(OutputEventCategory::Console, "waiting");
    let cancel = CancelArguments::new().with_request_id(attached.seq());
    session.ok::<CancelRequest>(cancel);
    let error = attached.wait().expect_err("it is cancelled");
    assert!(error.to_string().contains("cancelled"), "{error}");
    session.disconnect();
}
