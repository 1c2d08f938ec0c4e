//! Programs that run without debugging (`noDebug`): they aren't traced, and everything that isn't about debugging works as usual.

use crate::support;
use crate::support::{Fixture, Session, is_alive, running};
use dapple_dap::message::Raw;
use dapple_dap::testing::launch_arguments;
use dapple_dap::types::*;
use serde_json::{Value, json};

/// Runs `fixture` without debugging. Returns its process id, too.
fn run(fixture: &Fixture, arguments: Value) -> (Session, i64) {
    let session = Session::new();
    let mut arguments = arguments;
    arguments["noDebug"] = json!(true);
    session.launch(fixture, arguments);
    session.configured();
    let process = session.process_id();
    (session, process)
}

fn typed(session: &Session, text: &str) {
    let arguments = EvaluateArguments::new(text).with_context(EvaluateArgumentsContext::Repl);
    session.ok::<EvaluateRequest>(arguments);
}

/// A field of `/proc/PID/status`.
fn status(process: i64, field: &str) -> String {
    running::status(id(process), field)
}

fn id(process: i64) -> i32 {
    process.try_into().expect("an id")
}

#[test]
fn nothing_traces_it_and_what_needs_that_says_so() {
    let fixture = Fixture::new("sleepless.c");
    let (session, process) = run(&fixture, json!({"stopOnEntry": true}));
    session.wait_for_output("awake");
    assert_eq!(status(process, "TracerPid"), "0");
    assert_eq!(status(process, "PPid"), std::process::id().to_string());
    let threads = session.ok::<ThreadsRequest>(Default::default()).threads;
    assert_eq!(threads.len(), 1);
    assert_eq!(threads[0].id, process);
    let no_debug = "the program runs without debugging (`noDebug`)";
    for failure in [
        session.refused::<PauseRequest>(PauseArguments::new(process)),
        session.refused::<StackTraceRequest>(StackTraceArguments::new(process)),
        session.refused::<EvaluateRequest>(EvaluateArguments::new("1 + 1")),
        session.refused::<ModulesRequest>(ModulesArguments::new()),
    ] {
        assert_eq!(failure.sentence, no_debug);
    }
    let breakpoint = &session.set_lines(&fixture.path(), &[fixture.line("spin")])[0];
    assert!(!breakpoint.verified, "{breakpoint:?}");
    assert_eq!(breakpoint.message.as_deref(), Some(no_debug));
    session.disconnect();
    assert!(!is_alive(process));
}

#[test]
fn it_begins_once_the_client_has_configured() {
    let fixture = Fixture::new("exit.c");
    let mark = support::fixture::fixtures_folder().join(format!("begun-{}", std::process::id()));
    let session = Session::new();
    session.launch(&fixture, json!({"noDebug": true, "stdout": mark}));
    session.set_lines(&fixture.path(), &[1]);
    let written = || std::fs::read_to_string(&mark).expect("it is opened");
    assert_eq!(written(), "");
    session.configured();
    assert_eq!(session.exit_code(), 0);
    assert!(written().starts_with("to stdout\n"));
    std::fs::remove_file(&mark).expect("it is there");
    session.disconnect();
    // The program can be terminated before it starts.
    let session = Session::new();
    session.launch(&fixture, json!({"noDebug": true}));
    session.ok::<TerminateRequest>(Default::default());
    session.wait_for::<TerminatedEvent>();
    session.disconnect();
}

#[test]
fn its_arguments_streams_and_exit_code_are_as_ever() {
    let fixture = Fixture::new("environment.c");
    let (session, _) = run(
        &fixture,
        json!({"args": ["X", "HOME"], "env": {"X": "7", "HOME": null}}),
    );
    assert_eq!(session.exit_code(), 0);
    let output = session.output(OutputEventCategory::Stdout);
    assert_eq!(output, "X=7\nno HOME\n");
    session.disconnect();
    let fixture = Fixture::new("exit.c");
    let (session, _) = run(&fixture, json!({"args": ["9"]}));
    assert_eq!(session.exit_code(), 9);
    assert_eq!(session.output(OutputEventCategory::Stderr), "to stderr\n");
    session.disconnect();
    for pty in [false, true] {
        let fixture = Fixture::new("server.c");
        let (session, _) = run(&fixture, json!({"stdin": "console", "pty": pty}));
        session.wait_for_output("ready");
        typed(&session, ">work");
        session.wait_for_output("worked 1");
        typed(&session, ">^D");
        assert_eq!(session.exit_code(), 0, "pty: {pty}");
        session.disconnect();
    }
    let fixture = Fixture::new("terminal.c");
    let (session, _) = run(&fixture, json!({"pty": true}));
    assert_eq!(session.exit_code(), 0);
    let output = session.output(OutputEventCategory::Stdout);
    assert_eq!(output, "terminals: 1 1 1, leader 1, foreground 1\n");
    session.disconnect();
}

#[test]
fn it_is_asked_to_end_and_then_made_to() {
    let fixture = Fixture::new("server.c");
    let (session, _) = run(&fixture, json!({"args": ["patient"], "stdin": "console"}));
    session.wait_for_output("ready");
    session.ok::<TerminateRequest>(Default::default());
    assert_eq!(session.exit_code(), 7);
    session.disconnect();
    let (session, process) = run(&fixture, json!({"args": ["stubborn"], "stdin": "console"}));
    session.wait_for_output("ready");
    running::kill("-STOP", id(process));
    running::wait_until_stopped(id(process));
    session.ok::<TerminateRequest>(Default::default());
    session.wait_for_output("not yet");
    session.ok::<TerminateRequest>(Default::default());
    assert_eq!(session.exit_code(), 128 + 9);
    session.disconnect();
}

#[test]
fn it_is_let_go_where_that_is_asked_for() {
    let fixture = Fixture::new("sleepless.c");
    for (suspend, state) in [(false, "R (running)"), (true, "T (stopped)")] {
        let (mut session, process) = run(&fixture, json!({}));
        session.wait_for_output("awake");
        let leave = DisconnectArguments::new()
            .with_terminate_debuggee(false)
            .with_suspend_debuggee(suspend);
        session.ok::<DisconnectRequest>(leave);
        session.join();
        while status(process, "State") != state {
            std::thread::yield_now();
        }
        running::kill("-KILL", id(process));
    }
}

#[test]
fn it_is_started_again_also_with_debugging_and_back() {
    let fixture = Fixture::new("server.c");
    let (session, first) = run(&fixture, json!({"stdin": "console"}));
    session.wait_for_output("ready");
    session.set_lines(&fixture.path(), &[fixture.line("work")]);
    session.ok::<RestartRequest>(RestartArguments::new());
    let second = session.process_id();
    assert!(!is_alive(first) && first != second);
    typed(&session, ">work");
    session.wait_for_output("worked 1");
    let again = |no_debug: bool| {
        let arguments =
            json!({"program": fixture.program(), "noDebug": no_debug, "stdin": "console"});
        let arguments = Raw::new(&arguments).expect("JSON");
        session.ok::<RestartRequest>(RestartArguments::new().with_arguments(arguments));
        session.process_id()
    };
    let third = again(false);
    assert!(!is_alive(second));
    typed(&session, ">work");
    session.stopped_at(&fixture, "work", StoppedEventReason::Breakpoint);
    let fourth = again(true);
    assert!(!is_alive(third));
    assert_eq!(status(fourth, "TracerPid"), "0");
    typed(&session, ">work");
    typed(&session, ">quit 3");
    assert_eq!(session.exit_code(), 3);
    session.disconnect();
}

#[test]
fn what_the_system_refuses_to_run_is_told() {
    let session = Session::new();
    let arguments = json!({"program": "/bin/true", "noDebug": true, "args": ["x".repeat(200_000)]});
    session.ok::<LaunchRequest>(launch_arguments(&arguments));
    let failure = session.refused::<ConfigurationDoneRequest>(Default::default());
    assert!(
        failure.sentence.contains("too long"),
        "{}",
        failure.sentence
    );
    session.wait_for::<TerminatedEvent>();
    session.disconnect();
}
