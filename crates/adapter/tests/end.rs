//! The ends of sessions: by the program's end, by the client's requests, and by a lost connection.

use crate::support;
use crate::support::{Fixture, PATIENCE, Session, Traffic, checked, is_alive};
use dapple_adapter::{ServeOptions, serve};
use dapple_dap::client::Client;
use dapple_dap::testing::{TestClient, launch_arguments};
use dapple_dap::transport::listen::{Reach, TcpServer};
use dapple_dap::transport::{Connection, Options};
use dapple_dap::types::*;
use serde_json::json;
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

#[test]
fn a_disconnect_kills_what_was_launched() {
    for stops in [&["main"][..], &[]] {
        let fixture = Fixture::new("sleepless.c");
        let session = Session::started(&fixture, json!({}), stops);
        let process = session.process_id();
        match stops {
            [] => session.wait_for_output("awake"),
            _ => drop(session.stopped_at(&fixture, "main", StoppedEventReason::Breakpoint)),
        }
        assert!(is_alive(process));
        session.disconnect();
        assert!(!is_alive(process), "stopped first: {stops:?}");
    }
}

#[test]
fn a_disconnect_before_the_program_runs_leaves_nothing() {
    let fixture = Fixture::new("sleepless.c");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let process = session.process_id();
    session.disconnect();
    assert!(!is_alive(process));
}

#[test]
fn a_program_that_is_let_go_lives_on_unharmed() {
    let fixture = Fixture::new("sleepless.c");
    let mut session = Session::started(&fixture, json!({}), &["spin"]);
    session.stopped_at(&fixture, "spin", StoppedEventReason::Breakpoint);
    let process = session.process_id();
    session.ok::<DisconnectRequest>(DisconnectArguments::new().with_terminate_debuggee(false));
    session.join();
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("it lives");
    assert!(status.contains("TracerPid:\t0"), "{status}");
    // If the breakpoint's byte were still in the code, the next turn of the loop would kill the process.
    let turns = || {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("it lives on");
        let fields: Vec<&str> = stat.split_whitespace().collect();
        fields[13]
            .parse::<u64>()
            .expect("its time on the processor, proc_pid_stat(5)")
    };
    let before = turns();
    while turns() == before {
        std::thread::yield_now();
    }
    let kill = std::process::Command::new("kill")
        .args(["-KILL", &process.to_string()])
        .status();
    assert!(kill.is_ok_and(|status| status.success()));
}

#[test]
fn a_client_that_vanishes_takes_the_program_with_it() {
    let fixture = Fixture::new("sleepless.c");
    let (ours, theirs) = Connection::memory();
    let serving = std::thread::spawn(move || serve(theirs, ServeOptions::default()));
    let client = Client::new(ours);
    client
        .request::<InitializeRequest>(support::initialize_arguments())
        .expect("initialized");
    let arguments = launch_arguments(&json!({"program": fixture.program()}));
    client
        .request::<LaunchRequest>(arguments)
        .expect("launched");
    client
        .request::<ConfigurationDoneRequest>(Default::default())
        .expect("running");
    let process = client
        .wait_for::<ProcessEvent>(PATIENCE, |_| true)
        .expect("the process");
    let process = process.system_process_id.expect("its id");
    assert!(is_alive(process));
    drop(client);
    assert!(serving.join().is_ok(), "the adapter ends in order");
    assert!(!is_alive(process));
}

#[test]
fn a_shutdown_is_a_disconnect() {
    let fixture = Fixture::new("sleepless.c");
    let (stop, shutdown) = crossbeam_channel::bounded(0);
    let options = ServeOptions {
        shutdown,
        ..ServeOptions::default()
    };
    let mut session = Session::serving(options, support::initialize_arguments());
    session.launch(&fixture, json!({}));
    session.configured();
    let process = session.process_id();
    drop(stop);
    session.join();
    assert!(!is_alive(process));
}

#[test]
fn terminate_asks_the_program_itself() {
    let fixture = Fixture::new("sleepless.c");
    let session = Session::started(&fixture, json!({}), &["main"]);
    let stop = session.stopped_at(&fixture, "main", StoppedEventReason::Breakpoint);
    session.ok::<TerminateRequest>(Default::default());
    let continued = session.wait_for::<ContinuedEvent>();
    assert_eq!(
        (continued.thread_id, continued.all_threads_continued),
        (stop.thread, Some(true))
    );
    assert_eq!(session.exit_code(), 128 + 15);
    session.ok::<TerminateRequest>(Default::default());
    session.disconnect();
}

#[test]
fn garbage_is_answered_or_skipped_and_the_session_goes_on() {
    let fixture = Fixture::new("exit.c");
    let (ours, theirs) = Connection::memory();
    let serving = std::thread::spawn(move || serve(theirs, ServeOptions::default()));
    let client = Client::new(ours);
    client
        .request::<InitializeRequest>(support::initialize_arguments())
        .expect("initialized");
    for text in [
        "{}",
        "[]",
        "{\"seq\":1}",
        "{\"seq\":1002,\"type\":\"request\"}",
        "{\"seq\":1003,\"type\":\"request\",\"command\":\"nonsense\"}",
        "{\"seq\":1004,\"type\":\"request\",\"command\":\"stackTrace\",\"arguments\":{\"threadId\":\"one\"}}",
        "{\"seq\":1005,\"type\":\"request\",\"command\":\"setBreakpoints\",\"arguments\":[]}",
        "{\"seq\":1006,\"type\":\"response\",\"request_seq\":99,\"success\":true,\"command\":\"x\"}",
        "{\"seq\":1007,\"type\":\"event\",\"event\":\"stopped\",\"body\":3}",
    ] {
        client.unchecked_writer().send_text(text).expect("sent");
    }
    let arguments = launch_arguments(&json!({"program": fixture.program(), "args": ["9"]}));
    client
        .request::<LaunchRequest>(arguments)
        .expect("launched");
    client
        .request::<ConfigurationDoneRequest>(Default::default())
        .expect("running");
    let exited = client
        .wait_for::<ExitedEvent>(PATIENCE, |_| true)
        .expect("the end");
    assert_eq!(exited.exit_code, 9);
    client
        .request::<DisconnectRequest>(Default::default())
        .expect("disconnected");
    client.wait_closed(PATIENCE).expect("closed");
    assert!(serving.join().is_ok());
}

#[test]
fn two_sessions_over_tcp_run_at_once() {
    let server = TcpServer::bind("127.0.0.1:0".parse().expect("an address"), Reach::Loopback)
        .expect("a port");
    let address = server.address().expect("its address");
    let accepting = std::thread::spawn(move || {
        let sessions: Vec<_> = (0..2)
            .map(|_| {
                let connection = server.accept(Options::new()).expect("a connection");
                std::thread::spawn(move || serve(connection, ServeOptions::default()))
            })
            .collect();
        sessions.into_iter().all(|session| session.join().is_ok())
    });
    let fixture = Fixture::new("exit.c");
    let open = || {
        let traffic = Arc::new(Mutex::new(Traffic::default()));
        let stream = TcpStream::connect(address).expect("connected");
        let connection = checked(&traffic).tcp(stream).expect("a connection");
        Session::over(TestClient::new(connection), traffic)
    };
    let sessions = [open(), open()];
    for (session, code) in sessions.iter().zip(["21", "22"]) {
        session.launch(&fixture, json!({"args": [code]}));
        session.set_breakpoints(&fixture, &["main"]);
        session.configured();
    }
    // Both programs are stopped at the same time, and are resumed in the opposite order.
    let stops = sessions
        .each_ref()
        .map(|session| session.stopped_at(&fixture, "main", StoppedEventReason::Breakpoint));
    assert_ne!(stops[0].thread, stops[1].thread);
    for (index, code) in [(1, 22), (0, 21)] {
        sessions[index].resume(stops[index].thread);
        assert_eq!(sessions[index].exit_code(), code);
    }
    for session in sessions {
        session.disconnect();
    }
    assert!(
        accepting.join().expect("the server ends"),
        "a session panicked"
    );
}

#[test]
fn the_console_tells_the_code_of_a_normal_exit() {
    for (code, arguments) in [
        (0, json!({"args": ["0"]})),
        (101, json!({"args": ["101"]})),
        (7, json!({"args": ["7", "thread"]})),
        (3, json!({"args": ["3"], "noDebug": true})),
    ] {
        let fixture = Fixture::new("exit.c");
        let session = Session::started(&fixture, arguments, &[]);
        assert_eq!(session.exit_code(), code);
        let told = session.output(OutputEventCategory::Console);
        let expected = format!("program exited with code {code}\n");
        assert_eq!(told.matches(&expected).count(), 1, "{told}");
    }
}

#[test]
fn the_end_of_a_run_that_is_begun_again_is_not_told() {
    for restart in [Some(true), None] {
        let fixture = Fixture::new("sleepless.c");
        let session = Session::started(&fixture, json!({}), &[]);
        session.wait_for_output("awake");
        let mut arguments = TerminateArguments::new();
        arguments.restart = restart;
        session.ok::<TerminateRequest>(arguments);
        assert_eq!(session.exit_code(), 128 + 15);
        let told = session.output(OutputEventCategory::Console);
        let is_told = told.contains("killed by SIGTERM");
        assert_eq!(is_told, restart.is_none(), "{told}");
    }
}
