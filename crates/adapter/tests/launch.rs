//! Arguments of `launch` as the program sees them: arguments, environment, streams and terminal. Also restarts.

use crate::support::{Fixture, Session, file, fixture::fixtures_folder, is_alive};
use dapple_dap::message::Raw;
use dapple_dap::testing::launch_arguments;
use dapple_dap::types::*;
use serde_json::{Value, json};

/// Runs `server.c`, which reads the lines that the client types.
fn server(arguments: &Value, stops: &[&str]) -> (Fixture, Session) {
    let fixture = Fixture::new("server.c");
    let mut all = json!({"stdin": "console"});
    for (name, value) in arguments.as_object().expect("an object") {
        all[name] = value.clone();
    }
    let session = Session::started(&fixture, all, stops);
    (fixture, session)
}

fn typed(session: &Session, text: &str) {
    session.ok::<EvaluateRequest>(repl(text));
}

fn repl(text: &str) -> EvaluateArguments {
    EvaluateArguments::new(text).with_context(EvaluateArgumentsContext::Repl)
}

#[test]
fn what_is_typed_reaches_the_program_and_its_input_can_end() {
    for pty in [false, true] {
        let (_, session) = server(&json!({"pty": pty}), &[]);
        session.wait_for_output("ready");
        typed(&session, ">work");
        session.wait_for_output("worked 1");
        typed(&session, "> ");
        session.wait_for_output("what is  ?");
        typed(&session, ">^D");
        assert_eq!(session.exit_code(), 0, "pty: {pty}");
        let output = session.output(OutputEventCategory::Stdout);
        assert_eq!(output, "ready\nworked 1\nwhat is  ?\n", "nothing is echoed");
        session.disconnect();
    }
}

#[test]
fn a_terminal_of_its_own_is_one() {
    let fixture = Fixture::new("terminal.c");
    for (pty, expected) in [
        (true, "terminals: 1 1 1, leader 1, foreground 1\n"),
        (false, "terminals: 0 0 0, leader 1, foreground 0\n"),
    ] {
        let session = Session::started(&fixture, json!({"pty": pty}), &[]);
        assert_eq!(session.exit_code(), 0);
        assert_eq!(session.output(OutputEventCategory::Stdout), expected);
        session.disconnect();
    }
}

#[test]
fn a_terminal_of_its_own_has_a_size_and_passes_an_interrupt_on() {
    let fixture = Fixture::new("terminal.c");
    for no_debug in [false, true] {
        let arguments = json!({"pty": true, "args": ["and", "wait"], "noDebug": no_debug});
        let session = Session::new();
        session.launch(&fixture, arguments);
        session.configured();
        session.wait_for_output("24 by 80");
        typed(&session, ">^C");
        if !no_debug {
            // As with Ctrl-C in any terminal, the debugger stops for SIGINT first. The program gets the signal when it is resumed.
            let stop = session.stopped(StoppedEventReason::Exception);
            assert_eq!(stop.event.text.as_deref(), Some("SIGINT: interrupted"));
            session.resume(stop.thread);
        }
        assert_eq!(session.exit_code(), 9);
        session.disconnect();
    }
    let (_, session) = server(&json!({}), &[]);
    let failure = session.refused::<EvaluateRequest>(repl(">^C"));
    assert!(
        failure.sentence.contains("\"pty\": true"),
        "{}",
        failure.sentence
    );
    session.disconnect();
}

#[test]
fn without_an_input_the_form_that_gives_one_is_named() {
    let fixture = Fixture::new("sleepless.c");
    let session = Session::started(&fixture, json!({}), &[]);
    session.wait_for_output("awake");
    let failure = session.refused::<EvaluateRequest>(repl(">hello"));
    assert!(
        failure.sentence.contains("\"stdin\": \"console\""),
        "{}",
        failure.sentence
    );
    session.disconnect();
}

#[test]
fn arguments_may_be_a_line_as_for_a_shell() {
    let (_, session) = server(&json!({"args": "one 'two three' \"\""}), &[]);
    typed(&session, ">args");
    session.wait_for_output("1: one\n2: two three\n3: \nargs end");
    session.disconnect();
}

#[test]
fn a_file_of_variables_is_read_and_the_configuration_wins() {
    let variables = file(
        "variables.env",
        b"# two\nexport FIRST='from file'\nSECOND=from file\n",
        0o644,
    );
    let fixture = Fixture::new("environment.c");
    let session = Session::started(
        &fixture,
        json!({"args": ["FIRST", "SECOND", "HOME"], "envFile": variables, "env": {"SECOND": "from here", "HOME": null}}),
        &[],
    );
    assert_eq!(session.exit_code(), 0);
    assert_eq!(
        session.output(OutputEventCategory::Stdout),
        "FIRST=from file\nSECOND=from here\nno HOME\n"
    );
    session.disconnect();
}

#[test]
fn streams_go_to_files_relative_to_the_working_directory() {
    let fixture = Fixture::new("exit.c");
    let name = |stream: &str| format!("{stream}-{}.txt", std::process::id());
    let (out, err) = (name("stdout"), name("stderr"));
    let run = || {
        let session = Session::started(
            &fixture,
            json!({
                "cwd": fixtures_folder(),
                "stdout": {"file": out, "append": true},
                "stderr": err,
                "args": ["3"],
            }),
            &[],
        );
        assert_eq!(session.exit_code(), 3);
        assert_eq!(session.output(OutputEventCategory::Stdout), "");
        session.disconnect();
    };
    run();
    run();
    let text = |name: &str| std::fs::read_to_string(fixtures_folder().join(name)).expect("written");
    assert_eq!(text(&out), "to stdout\nfarewell\nto stdout\nfarewell\n");
    assert_eq!(text(&err), "to stderr\n");
    for name in [&out, &err] {
        std::fs::remove_file(fixtures_folder().join(name)).expect("removed");
    }
}

#[test]
fn an_output_that_cannot_be_opened_is_named() {
    let fixture = Fixture::new("exit.c");
    let session = Session::new();
    let arguments = json!({"program": fixture.program(), "stdout": "/nowhere/at-all"});
    let failure = session.refused::<LaunchRequest>(launch_arguments(&arguments));
    assert!(
        failure.sentence.contains("/nowhere/at-all"),
        "{}",
        failure.sentence
    );
    session.wait_for::<TerminatedEvent>();
    session.disconnect();
}

#[test]
fn a_program_that_is_started_again_stops_at_the_same_breakpoints() {
    let (fixture, session) = server(&json!({"args": ["first"]}), &[]);
    let before = session.set_breakpoints(&fixture, &["work"]);
    let first = session.process_id();
    typed(&session, ">work");
    let stop = session.stopped_at(&fixture, "work", StoppedEventReason::Breakpoint);
    session.ok::<RestartRequest>(RestartArguments::new());
    let second = session.process_id();
    assert_ne!(first, second);
    assert!(!is_alive(first));
    let gone = session.wait_for_where::<ThreadEvent>(|e| e.reason == ThreadEventReason::Exited);
    assert_eq!(gone.thread_id, stop.thread);
    typed(&session, ">work");
    let stop = session.stopped_at(&fixture, "work", StoppedEventReason::Breakpoint);
    assert_eq!(
        stop.event.hit_breakpoint_ids,
        before[0].id.map(|id| vec![id])
    );
    assert_eq!(
        session.set_breakpoints(&fixture, &["work"])[0].id,
        before[0].id
    );
    session.resume(stop.thread);
    session.wait_for_output("worked 1");
    // Restarts a running program with new arguments. The exit code is that of the last program.
    let arguments = json!({"program": fixture.program(), "args": ["second"], "stdin": "console"});
    let arguments = RestartArguments::new().with_arguments(Raw::new(&arguments).expect("JSON"));
    session.ok::<RestartRequest>(arguments);
    assert!(!is_alive(second));
    typed(&session, ">args");
    session.wait_for_output("1: second");
    typed(&session, ">quit 4");
    assert_eq!(session.exit_code(), 4);
    let failure = session.refused::<RestartRequest>(RestartArguments::new());
    assert!(
        failure.sentence.contains("the session has ended"),
        "{}",
        failure.sentence
    );
    session.disconnect();
}

#[test]
fn wrong_new_arguments_leave_the_program_as_it_is() {
    let (_, session) = server(&json!({}), &[]);
    let process = session.process_id();
    let arguments =
        RestartArguments::new().with_arguments(Raw::new(&json!({"program": 3})).expect("JSON"));
    let failure = session.refused::<RestartRequest>(arguments);
    assert!(
        failure.sentence.contains("`program` must be a string"),
        "{}",
        failure.sentence
    );
    assert!(is_alive(process));
    typed(&session, ">quit 2");
    assert_eq!(session.exit_code(), 2);
    session.disconnect();
}

#[test]
fn starting_again_is_not_offered_to_clients_that_do_it_badly() {
    let offered = |client: &str| {
        let session = Session::serving(
            Default::default(),
            InitializeRequestArguments::new("dapple").with_client_id(client),
        );
        let offered = session.capabilities().supports_restart_request;
        session.disconnect();
        offered
    };
    assert_eq!(offered("neovim"), Some(true));
    assert_eq!(offered("vscode"), None);
}

#[test]
fn a_program_that_does_not_end_when_asked_is_killed_at_the_second_time() {
    let (_, session) = server(&json!({"args": ["stubborn"]}), &[]);
    session.wait_for_output("ready");
    session.ok::<TerminateRequest>(Default::default());
    session.wait_for_output("not yet");
    typed(&session, ">work");
    session.wait_for_output("worked 1");
    session.ok::<TerminateRequest>(Default::default());
    assert_eq!(session.exit_code(), 128 + 9);
    session.disconnect();
}

#[test]
fn a_program_may_end_in_its_own_way_when_asked() {
    let (fixture, session) = server(&json!({"args": ["patient"]}), &["main"]);
    let stop = session.stopped_at(&fixture, "main", StoppedEventReason::Breakpoint);
    session.set_breakpoints(&fixture, &[]);
    session.resume(stop.thread);
    session.wait_for_output("ready");
    session.ok::<TerminateRequest>(Default::default());
    assert_eq!(session.exit_code(), 7);
    assert!(
        session
            .output(OutputEventCategory::Stdout)
            .ends_with("bye\n")
    );
    session.disconnect();
}

#[test]
fn the_sources_of_what_is_loaded_are_listed() {
    let (fixture, session) = server(&json!({}), &[]);
    let sources = session
        .ok::<LoadedSourcesRequest>(Default::default())
        .sources;
    let own = sources
        .iter()
        .filter(|source| source.path == Some(fixture.path()));
    assert_eq!(own.count(), 1);
    session.disconnect();
}
