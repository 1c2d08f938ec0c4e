//! Programs behind a stub of gdb's remote protocol: `attach` with `target`. `DAPPLE_GDBSERVER` names gdbserver, which then has to be there;
//! else it is searched on PATH, and tests that need it say so and do nothing where it isn't.

use crate::support;
pub use crate::support::gdbserver::gdbserver;
use crate::support::{Fixture, PATIENCE, Session, initialize_arguments};
use dapple_adapter::ServeOptions;
use dapple_dap::client::Pending;
use dapple_dap::types::*;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

fn arguments(value: &Value) -> AttachRequestArguments {
    serde_json::from_value(value.clone()).expect("an object")
}

pub fn attach(session: &Session, value: &Value) {
    session.ok::<AttachRequest>(arguments(value));
    session.wait_for::<InitializedEvent>();
}

/// Whether a program is there, and says so if not.
fn has(program: &str) -> bool {
    let output = Command::new(program).arg("--version").output();
    let runs = output.is_ok_and(|output| output.status.success());
    if !runs {
        println!("skipped: there is no {program}");
    }
    runs
}

/// A port that was free just now.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

/// QEMU with a program of this processor, and where its stub is. It may not listen yet: who connects waits for that.
pub fn qemu(program: &str) -> Option<(Child, String)> {
    if !has("qemu-x86_64") {
        return None;
    }
    let port = free_port();
    let stub = Command::new("qemu-x86_64")
        .args(["-g", &port.to_string(), program])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("QEMU starts");
    Some((stub, format!("127.0.0.1:{port}")))
}

/// lldb-server with a program, and where it is. It may not listen yet: who connects waits for that.
pub fn lldb_server(words: &[&str]) -> Option<(Child, String)> {
    const SERVER: &str = "/usr/lib/llvm-22/bin/lldb-server";
    if !std::path::Path::new(SERVER).exists() {
        println!("skipped: there is no {SERVER}");
        return None;
    }
    let place = format!("127.0.0.1:{}", free_port());
    let stub = Command::new(SERVER)
        .args(["gdbserver", &place, "--"])
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    Some((stub, place))
}

/// gdbserver on its standard input and output, with these words behind its own. What it and the program write is dropped.
pub fn on_stdio(server: &str, words: &str) -> String {
    format!("|exec {server} --once {words} 2>/dev/null")
}

/// gdbserver at a TCP port of the kernel's choice, which is killed with this.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(server: &str, words: &[&str]) -> Server {
        let mut child = Command::new(server)
            .args(["--once", "localhost:0"])
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("gdbserver starts");
        let told = BufReader::new(child.stderr.take().expect("a pipe"));
        let port = told.lines().map_while(Result::ok).find_map(|line| {
            let port = line.strip_prefix("Listening on port ")?;
            port.trim().parse().ok()
        });
        Server {
            child,
            port: port.expect("a port"),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_program_behind_a_stub_is_debugged_like_any_other() {
    let Some(server) = gdbserver() else { return };
    let fixture = Fixture::new("guide.cpp");
    let session = Session::new();
    let target = on_stdio(&server, &format!("- {}", fixture.program()));
    attach(&session, &json!({"target": target}));
    session.set_breakpoints(&fixture, &["job"]);
    session.configured();
    let process = session.wait_for::<ProcessEvent>();
    assert_eq!(process.is_local_process, Some(false));
    assert_eq!(process.system_process_id, None);
    assert_eq!(process.name, fixture.program());
    let stop = session.stopped_at(&fixture, "job", StoppedEventReason::Breakpoint);
    assert_eq!(session.evaluate(&stop.top, "job->state"), "Running");
    let stack = session.stack(stop.thread);
    assert!(stack.len() > 1, "{stack:?}");
    let name = session.evaluate(&stop.top, "job->name.size() * 10");
    session.ok::<NextRequest>(NextArguments::new(stop.thread));
    let stepped = session.stopped(StoppedEventReason::Step);
    assert_eq!(session.evaluate(&stepped.top, "*job->result"), name);
    session.evaluate(&stepped.top, "*job->result = 7");
    assert_eq!(session.evaluate(&stepped.top, "*job->result"), "7");
    session.set_breakpoints(&fixture, &[]);
    session.ok::<StepOutRequest>(StepOutArguments::new(stepped.thread));
    let out = session.stopped(StoppedEventReason::Step);
    assert_eq!(out.top.name, "main");
    session.disconnect();
}

#[test]
fn a_stub_at_a_port_is_found_by_other_debuggers_arguments_too() {
    let Some(server) = gdbserver() else { return };
    let fixture = Fixture::new("guide.cpp");
    for name in ["miDebuggerServerAddress", "gdbTarget", "gdb-remote-port"] {
        let server = Server::start(&server, &[&fixture.program()]);
        let session = Session::new();
        let mut arguments = json!({"program": fixture.program(), "stopOnEntry": true});
        match name {
            "gdb-remote-port" => {
                arguments[name] = json!(server.port);
                arguments["gdb-remote-hostname"] = json!("localhost");
            }
            _ => arguments[name] = json!(format!("localhost:{}", server.port)),
        }
        attach(&session, &arguments);
        session.configured();
        session.stopped(StoppedEventReason::Entry);
        session.disconnect();
    }
}

#[test]
fn a_stub_starts_a_program_or_attaches_to_one() {
    let Some(server) = gdbserver() else { return };
    let fixture = Fixture::new("server.c");
    let session = Session::new();
    let target = on_stdio(&server, "--multi -");
    let command = [fixture.program(), "first".to_owned()];
    attach(
        &session,
        &json!({"target": target, "remoteCommand": command}),
    );
    session.set_breakpoints(&fixture, &["main"]);
    session.configured();
    let stop = session.stopped(StoppedEventReason::Breakpoint);
    let argument = session.evaluate(&stop.top, "argv[1]");
    assert!(argument.ends_with("\"first\""), "{argument}");
    session.disconnect();

    let mut running = support::running::Running::start(&fixture.binary, &[]);
    let session = Session::new();
    attach(
        &session,
        &json!({"target": on_stdio(&server, "--multi -"), "pid": running.pid()}),
    );
    session.set_breakpoints(&fixture, &["work"]);
    session.configured();
    running.tell("work");
    session.stopped_at(&fixture, "work", StoppedEventReason::Breakpoint);
    session.disconnect();
    // It goes on without the breakpoint.
    assert_eq!(running.line(), "worked 1");
    assert_eq!(running.ask("work"), "worked 2");
}

#[test]
fn libraries_and_the_program_are_found_in_a_copy_of_the_other_machines_files() {
    let Some(server) = gdbserver() else { return };
    let fixture = Fixture::new("guide.cpp");
    let root = support::file("sysroot-mark", b"", 0o600).with_extension("folder");
    let inside = fixture.binary.strip_prefix("/").expect("absolute");
    let copy = root.join(inside);
    std::fs::create_dir_all(copy.parent().expect("a folder")).expect("a folder");
    std::fs::copy(&fixture.binary, &copy).expect("a copy");
    let session = Session::new();
    let target = on_stdio(&server, &format!("- {}", fixture.program()));
    attach(&session, &json!({"target": target, "sysroot": root}));
    session.set_breakpoints(&fixture, &["job"]);
    session.configured();
    let process = session.wait_for::<ProcessEvent>();
    assert_eq!(process.name, copy.display().to_string());
    session.stopped_at(&fixture, "job", StoppedEventReason::Breakpoint);
    session.disconnect();
    std::fs::remove_dir_all(&root).expect("removed");
}

#[test]
fn a_stub_that_goes_away_ends_the_session_with_the_reason() {
    let Some(server) = gdbserver() else { return };
    let fixture = Fixture::new("guide.cpp");
    let mut server = Server::start(&server, &[&fixture.program()]);
    let session = Session::new();
    let target = format!("localhost:{}", server.port);
    attach(&session, &json!({"target": target}));
    session.set_breakpoints(&fixture, &["job"]);
    session.configured();
    session.stopped_at(&fixture, "job", StoppedEventReason::Breakpoint);
    server.child.kill().expect("killed");
    server.child.wait().expect("reaped");
    session.wait_for_written(
        OutputEventCategory::Console,
        "the program can't be reached any more: ",
    );
    session.wait_for::<TerminatedEvent>();
}

/// What the debug console says to a line.
fn typed(session: &Session, line: &str) -> String {
    let arguments = EvaluateArguments::new(line).with_context(EvaluateArgumentsContext::Repl);
    session.ok::<EvaluateRequest>(arguments).result
}

/// Stops in a loop, looks, steps and goes on to the end, behind the stub at `target`.
fn goes_through(target: &str, fixture: &Fixture) {
    let session = Session::new();
    attach(
        &session,
        &json!({"target": target, "program": fixture.program()}),
    );
    session.set_breakpoints(fixture, &["job"]);
    session.configured();
    let stop = session.stopped_at(fixture, "job", StoppedEventReason::Breakpoint);
    assert_eq!(session.evaluate(&stop.top, "job->state"), "Running");
    let wanted = session.evaluate(&stop.top, "job->name.size() * 10");
    session.ok::<NextRequest>(NextArguments::new(stop.thread));
    let stepped = session.stopped(StoppedEventReason::Step);
    assert_eq!(session.evaluate(&stepped.top, "*job->result"), wanted);
    session.set_breakpoints(fixture, &["sum"]);
    session.resume(stop.thread);
    let stop = session.stopped_at(fixture, "sum", StoppedEventReason::Breakpoint);
    session.ok::<StepOutRequest>(StepOutArguments::new(stop.thread));
    let out = session.stopped(StoppedEventReason::Step);
    assert_eq!(out.top.name, "main");
    session.resume(out.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn qemu_runs_a_program_of_this_processor() {
    let fixture = Fixture::new("guide.cpp");
    let Some((mut qemu, place)) = qemu(&fixture.program()) else {
        return;
    };
    goes_through(&place, &fixture);
    qemu.wait().expect("reaped");
}

#[test]
fn lldbs_stub_is_understood() {
    let fixture = Fixture::new("guide.cpp");
    let Some((mut stub, place)) = lldb_server(&[&fixture.program()]) else {
        return;
    };
    goes_through(&place, &fixture);
    stub.wait().expect("reaped");
}

#[test]
fn output_that_comes_through_a_stub_faster_than_it_is_read_is_all_there() {
    const LINES: &str = "100000";
    let fixture = Fixture::new("told.c");
    let program = fixture.program();
    let Some((mut stub, place)) = lldb_server(&[&program, LINES]) else {
        return;
    };
    let session = Session::new();
    attach(&session, &json!({"target": place, "program": program}));
    session.configured();
    session.wait_for_output(&format!(
        "line {LINES} of a text that fills what there is to fill"
    ));
    assert_eq!(session.exit_code(), 4);
    session.disconnect();
    stub.wait().expect("reaped");
}

#[test]
fn valgrind_stops_at_its_errors_with_their_text() {
    if !has("valgrind") {
        return;
    }
    let fixture = Fixture::new("valgrind.c");
    let folder = support::file("vgdb", b"", 0o600).with_extension("folder");
    std::fs::create_dir_all(&folder).expect("a folder");
    let prefix = folder.join("vgdb").display().to_string();
    let mut valgrind = Command::new("valgrind")
        .args([
            "--vgdb=yes",
            "--vgdb-error=0",
            &format!("--vgdb-prefix={prefix}"),
        ])
        .arg(fixture.program())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("valgrind starts");
    let target = format!(
        "|exec vgdb --vgdb-prefix={prefix} --wait=60 --pid={} 2>/dev/null",
        valgrind.id()
    );
    let client = initialize_arguments().with_supports_invalidated_event(true);
    let session = Session::serving(Default::default(), client);
    attach(
        &session,
        &json!({"target": target, "program": fixture.program()}),
    );
    session.configured();
    let event = session.wait_for::<StoppedEvent>();
    assert_eq!(event.reason, StoppedEventReason::Exception);
    let thread = event.thread_id.expect("a thread");
    let info = session.ok::<ExceptionInfoRequest>(ExceptionInfoArguments::new(thread));
    assert_eq!(info.exception_id, "Invalid read of size 4");
    let told = info.details.and_then(|details| details.message);
    let told = told.expect("the whole text");
    assert!(
        told.contains("0 bytes after a block of size 16 alloc'd"),
        "{told}"
    );
    let top = session.stack(thread).remove(0);
    assert_eq!(top.line, fixture.line("read"));
    let said = typed(&session, "monitor v.info n_errs_found");
    assert!(said.contains("n_errs_found 1"), "{said}");
    // Such a command may change anything.
    let invalidated = session.wait_for::<InvalidatedEvent>();
    assert_eq!(invalidated.areas, Some(vec![InvalidatedAreas::All]));
    session.resume(thread);
    let event = session.wait_for::<StoppedEvent>();
    let info = session.ok::<ExceptionInfoRequest>(ExceptionInfoArguments::new(
        event.thread_id.expect("a thread"),
    ));
    assert_eq!(info.exception_id, "Invalid write of size 4");
    session.resume(thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
    valgrind.wait().expect("reaped");
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn where_there_is_no_stub_the_reason_names_the_place() {
    let refusal = |value: &Value| {
        let session = Session::new();
        let failure = session.refused::<AttachRequest>(arguments(value));
        session.wait_for::<TerminatedEvent>();
        session.disconnect();
        failure.sentence
    };
    // Nobody listens at a port that was just given back.
    let target = format!("127.0.0.1:{}", free_port());
    let sentence = refusal(&json!({"target": target}));
    assert!(
        sentence.starts_with(&format!("attach: `target` {target}: cannot connect to ")),
        "{sentence}"
    );
    let sentence = refusal(&json!({"target": "|echo 'no such\thost' >&2; exit 3"}));
    assert!(
        sentence.contains("the connection was closed")
            && sentence.ends_with("; its command said: no such host"),
        "{sentence}"
    );
    let sentence = refusal(&json!({"target": "nowhere"}));
    assert!(
        sentence.contains("`target`: `nowhere` is none of HOST:PORT"),
        "{sentence}"
    );
    let sentence = refusal(&json!({"target": "localhost:1", "waitFor": true, "program": "x"}));
    assert!(
        sentence.contains("neither `coreFile` nor `waitFor`"),
        "{sentence}"
    );
}

/// A session that attaches to a process by a stub which never answers that, and the request. The debugger would wait for a minute.
fn attaching() -> (Session, Pending<AttachRequest>) {
    let shows_progress = initialize_arguments().with_supports_progress_reporting(true);
    let session = Session::serving(ServeOptions::default(), shows_progress);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let target = listener.local_addr().expect("an address").to_string();
    let attached = arguments(&json!({"target": target, "pid": 1}));
    let attached = session.send::<AttachRequest>(attached).expect("sent");
    let (stub, _) = listener.accept().expect("a connection");
    let mut packets = BufReader::new(stub);
    loop {
        let mut packet = Vec::new();
        packets.read_until(b'#', &mut packet).expect("a packet");
        packets.read_exact(&mut [0; 2]).expect("its checksum");
        let packet = String::from_utf8_lossy(&packet);
        let answer = match packet.trim_start_matches(['+', '$']) {
            "!#" => "+$OK#9a",
            it if it.starts_with("vAttach") => break,
            _ => "+$#00",
        };
        packets
            .get_mut()
            .write_all(answer.as_bytes())
            .expect("sent");
    }
    // The connection stays open.
    std::mem::forget(packets);
    (session, attached)
}

#[test]
fn connecting_ends_when_it_is_cancelled_or_the_session_is_over() {
    let begun = Instant::now();
    let (session, attached) = attaching();
    let shown = session.wait_for::<ProgressStartEvent>();
    assert!(shown.title.starts_with("Connecting to "), "{shown:?}");
    session.ok::<CancelRequest>(CancelArguments::new().with_progress_id(&*shown.progress_id));
    session.wait_for::<ProgressEndEvent>();
    let error = attached.wait().expect_err("it is cancelled");
    assert!(error.to_string().contains("cancelled"), "{error}");
    session.disconnect();

    let (session, attached) = attaching();
    session.ok::<CancelRequest>(CancelArguments::new().with_request_id(attached.seq()));
    let error = attached.wait().expect_err("it is cancelled");
    assert!(error.to_string().contains("cancelled"), "{error}");
    session.disconnect();

    let (session, attached) = attaching();
    session.disconnect();
    let error = attached.wait().expect_err("it is cancelled");
    assert!(error.to_string().contains("cancelled"), "{error}");
    assert!(begun.elapsed() < PATIENCE / 2);
}
