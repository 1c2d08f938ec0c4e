//! Sessions with a process that runs already: `attach`, and in which state detaching leaves the process.

use crate::support;
use crate::support::running::{Running, changed_text, kill, wait_until_stopped};
use crate::support::{Fixture, Session, is_alive};
use dapple_adapter::{ServeOptions, serve};
use dapple_dap::client::Client;
use dapple_dap::transport::Connection;
use dapple_dap::types::*;
use serde_json::{Value, json};

fn arguments(value: &Value) -> AttachRequestArguments {
    serde_json::from_value(value.clone()).expect("an object")
}

fn attach(session: &Session, value: &Value) {
    session.ok::<AttachRequest>(arguments(value));
    session.wait_for::<InitializedEvent>();
}

fn refusal(value: &Value) -> String {
    let session = Session::new();
    let failure = session.refused::<AttachRequest>(arguments(value));
    session.wait_for::<TerminatedEvent>();
    session.disconnect();
    failure.sentence
}

fn is_unharmed(running: &mut Running, worked: u32) {
    assert_eq!(changed_text(running.pid()), Vec::<String>::new());
    assert_eq!(running.status("TracerPid"), "0");
    assert_eq!(running.ask("work"), format!("worked {worked}"));
}

#[test]
fn a_process_is_attached_to_stopped_and_let_go() {
    let fixture = Fixture::new("server.c");
    let mut running = Running::start(&fixture.binary, &[]);
    let session = Session::new();
    attach(&session, &json!({"pid": running.pid()}));
    session.set_breakpoints(&fixture, &["work"]);
    session.configured();
    let process = session.wait_for::<ProcessEvent>();
    assert_eq!(process.start_method, Some(ProcessEventStartMethod::Attach));
    assert_eq!(process.system_process_id, Some(i64::from(running.pid())));
    assert_eq!(process.name, fixture.program());
    running.tell("work");
    let stop = session.stopped_at(&fixture, "work", StoppedEventReason::Breakpoint);
    session.resume(stop.thread);
    assert_eq!(running.line(), "worked 1");
    running.tell("work");
    session.stopped_at(&fixture, "work", StoppedEventReason::Breakpoint);
    session.disconnect();
    assert_eq!(running.line(), "worked 2");
    is_unharmed(&mut running, 3);
}

#[test]
fn a_process_may_be_held_after_attaching_and_paused_while_it_runs() {
    let fixture = Fixture::new("server.c");
    let mut running = Running::start(&fixture.binary, &[]);
    let session = Session::new();
    attach(
        &session,
        &json!({"pid": running.pid().to_string(), "stopOnEntry": true}),
    );
    session.configured();
    let stop = session.stopped(StoppedEventReason::Entry);
    assert!(
        session
            .stack(stop.thread)
            .iter()
            .any(|frame| frame.name == "main")
    );
    session.resume(stop.thread);
    assert_eq!(running.ask("work"), "worked 1");
    session.ok::<PauseRequest>(PauseArguments::new(stop.thread));
    session.stopped(StoppedEventReason::Pause);
    session.disconnect();
    is_unharmed(&mut running, 2);
}

#[test]
fn a_process_that_was_attached_to_is_killed_only_where_that_is_asked_for() {
    let fixture = Fixture::new("server.c");
    let running = Running::start(&fixture.binary, &[]);
    let mut session = Session::new();
    attach(&session, &json!({"pid": running.pid()}));
    session.configured();
    session.ok::<DisconnectRequest>(DisconnectArguments::new().with_terminate_debuggee(true));
    session.join();
    assert!(!is_alive(running.pid().into()));
}

#[test]
fn a_process_is_left_stopped_where_that_is_asked_for() {
    let fixture = Fixture::new("server.c");
    for stops in [&["work"][..], &[]] {
        let mut running = Running::start(&fixture.binary, &[]);
        assert_eq!(running.ask("spawn 3"), "spawned");
        let mut session = Session::new();
        attach(&session, &json!({"pid": running.pid()}));
        session.set_breakpoints(&fixture, stops);
        session.configured();
        running.tell("work");
        if stops.is_empty() {
            assert_eq!(running.line(), "worked 1");
        } else {
            session.stopped_at(&fixture, "work", StoppedEventReason::Breakpoint);
        }
        session.ok::<DisconnectRequest>(DisconnectArguments::new().with_suspend_debuggee(true));
        session.join();
        wait_until_stopped(running.pid());
        assert_eq!(changed_text(running.pid()), Vec::<String>::new());
        kill("-CONT", running.pid());
        if !stops.is_empty() {
            assert_eq!(running.line(), "worked 1");
        }
        is_unharmed(&mut running, 2);
    }
}

#[test]
fn a_launched_program_is_left_stopped_where_that_is_asked_for() {
    let fixture = Fixture::new("sleepless.c");
    let mut session = Session::started(&fixture, json!({}), &["spin"]);
    session.stopped_at(&fixture, "spin", StoppedEventReason::Breakpoint);
    let process = session.process_id();
    let arguments = DisconnectArguments::new()
        .with_terminate_debuggee(false)
        .with_suspend_debuggee(true);
    session.ok::<DisconnectRequest>(arguments);
    session.join();
    let process = i32::try_from(process).expect("a process id");
    wait_until_stopped(process);
    assert_eq!(changed_text(process), Vec::<String>::new());
    kill("-KILL", process);
}

#[test]
fn a_client_that_vanishes_leaves_the_process_unharmed() {
    let fixture = Fixture::new("server.c");
    let mut running = Running::start(&fixture.binary, &[]);
    let (ours, theirs) = Connection::memory();
    let serving = std::thread::spawn(move || serve(theirs, ServeOptions::default()));
    let client = Client::new(ours);
    client
        .request::<InitializeRequest>(support::initialize_arguments())
        .expect("initialized");
    let breakpoints = SetBreakpointsArguments::new(Source::new().with_path(fixture.path()))
        .with_breakpoints(vec![SourceBreakpoint::new(fixture.line("work"))]);
    client
        .request::<SetBreakpointsRequest>(breakpoints)
        .expect("set");
    client
        .request::<AttachRequest>(arguments(&json!({"pid": running.pid()})))
        .expect("attached");
    client
        .request::<ConfigurationDoneRequest>(Default::default())
        .expect("running");
    assert_ne!(changed_text(running.pid()), Vec::<String>::new());
    drop(client);
    assert!(serving.join().is_ok(), "the adapter ends in order");
    is_unharmed(&mut running, 1);
}

#[test]
fn a_stopped_process_is_told_of_and_stays_stopped() {
    let fixture = Fixture::new("server.c");
    let mut running = Running::start(&fixture.binary, &[]);
    kill("-STOP", running.pid());
    wait_until_stopped(running.pid());
    let session = Session::new();
    attach(&session, &json!({"pid": running.pid()}));
    session.configured();
    session.wait_for_written(OutputEventCategory::Console, "kill -CONT");
    session.disconnect();
    wait_until_stopped(running.pid());
    kill("-CONT", running.pid());
    is_unharmed(&mut running, 1);
}

#[test]
fn a_process_is_found_by_name_and_several_are_listed() {
    let fixture = Fixture::new("server.c").renamed("named-server");
    let name = fixture
        .binary
        .file_name()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    let sentence = refusal(&json!({"program": name}));
    assert!(
        sentence.contains(&format!("no process is called `{name}`")),
        "{sentence}"
    );
    let mut one = Running::start(&fixture.binary, &["first"]);
    let session = Session::new();
    attach(&session, &json!({"program": name}));
    session.configured();
    let other = Running::start(&fixture.binary, &["second"]);
    let sentence = refusal(&json!({"name": "A configuration", "program": fixture.program()}));
    for part in [
        format!("{}  ", one.pid()),
        format!("{}  ", other.pid()),
        " second".to_owned(),
    ] {
        assert!(sentence.contains(&part), "{sentence}");
    }
    assert_eq!(one.ask("work"), "worked 1");
    session.disconnect();
    is_unharmed(&mut one, 2);
}

#[test]
fn the_next_process_of_a_name_is_waited_for() {
    let fixture = Fixture::new("server.c").renamed("awaited-server");
    let name = fixture
        .binary
        .file_name()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    let _before = Running::start(&fixture.binary, &[]);
    let session = Session::new();
    session.set_lines(&fixture.path(), &[fixture.line("work")]);
    let attached = session
        .send::<AttachRequest>(arguments(&json!({"program": name, "waitFor": true})))
        .expect("sent");
    session.wait_for_written(OutputEventCategory::Console, "waiting for a process called");
    let failure = session.refused::<LaunchRequest>(Default::default());
    assert!(failure.sentence.contains("already"), "{}", failure.sentence);
    // The process stays stopped from its start until `configurationDone`.
    let mut running = Running::begin(&fixture.binary, &[]);
    attached.wait().expect("attached");
    session.wait_for::<InitializedEvent>();
    session.configured();
    assert_eq!(session.process_id(), i64::from(running.pid()));
    running.is_ready();
    running.tell("work");
    let stop = session.stopped_at(&fixture, "work", StoppedEventReason::Breakpoint);
    session.resume(stop.thread);
    assert_eq!(running.line(), "worked 1");
    session.disconnect();
    is_unharmed(&mut running, 2);
}

#[test]
fn waiting_for_a_process_ends_with_the_session() {
    let session = Session::new();
    let attached = session
        .send::<AttachRequest>(arguments(
            &json!({"program": "no-program-has-this-name", "waitFor": true}),
        ))
        .expect("sent");
    session.wait_for_written(OutputEventCategory::Console, "waiting");
    session.disconnect();
    assert!(attached.wait().is_err());
}

#[test]
fn what_cannot_be_attached_to_ends_the_session_with_a_sentence() {
    for (value, part) in [
        (json!({}), "which process?"),
        (json!({"pid": 0x3f_ffff}), "there is no such process"),
        (json!({"pid": std::process::id()}), "this debugger itself"),
    ] {
        let sentence = refusal(&value);
        assert!(sentence.contains(part), "{value}: {sentence}");
    }
}

#[test]
fn a_process_that_another_debugger_has_names_it() {
    let fixture = Fixture::new("server.c");
    let running = Running::start(&fixture.binary, &[]);
    let session = Session::new();
    attach(&session, &json!({"pid": running.pid()}));
    let sentence = refusal(&json!({"pid": running.pid()}));
    let part = format!("process {} (", std::process::id());
    assert!(
        sentence.contains(&part) && sentence.contains("tracing it already"),
        "{sentence}"
    );
    session.disconnect();
}

#[test]
fn a_process_that_ends_after_it_was_attached_to_tells_its_exit_code() {
    let fixture = Fixture::new("server.c");
    let mut running = Running::start(&fixture.binary, &[]);
    let session = Session::new();
    attach(&session, &json!({"pid": running.pid()}));
    session.configured();
    running.tell("quit 7");
    assert_eq!(session.exit_code(), 7);
    session.disconnect();
}

#[test]
fn a_process_that_was_attached_to_is_not_started_again_and_goes_on() {
    let fixture = Fixture::new("server.c");
    let mut running = Running::start(&fixture.binary, &[]);
    let session = Session::new();
    attach(&session, &json!({"pid": running.pid()}));
    session.set_breakpoints(&fixture, &["work"]);
    session.configured();
    let failure = session.refused::<RestartRequest>(RestartArguments::new());
    assert!(
        failure.sentence.contains("can't be started again"),
        "{}",
        failure.sentence
    );
    running.tell("work");
    let stop = session.stopped_at(&fixture, "work", StoppedEventReason::Breakpoint);
    session.refused::<RestartRequest>(RestartArguments::new());
    session.resume(stop.thread);
    assert_eq!(running.line(), "worked 1");
    session.disconnect();
    is_unharmed(&mut running, 2);
}
