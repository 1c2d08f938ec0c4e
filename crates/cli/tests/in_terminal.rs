//! Programs that `dapple dap` starts in a terminal of the client.

use crate::support;
use crate::support::terminal::Terminal;
use dapple_adapter::RecordRequest;
use dapple_dap::client::{Client, ClientError};
use dapple_dap::message::Empty;
use dapple_dap::server::Failure;
use dapple_dap::testing::{TestClient, launch_arguments};
use dapple_dap::types::*;
use serde_json::json;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

fn compiled(name: &str) -> PathBuf {
    let program = support::scratch("in-terminal").join(format!("{name}-{}", std::process::id()));
    support::compile(name, &program);
    program
}

fn client() -> Client {
    let client = Client::spawn(support::dapple().arg("dap")).expect("dapple runs");
    let arguments =
        InitializeRequestArguments::new("dapple").with_supports_run_in_terminal_request(true);
    client
        .request::<InitializeRequest>(arguments)
        .expect("initialized");
    client
}

fn launch(client: &Client, arguments: serde_json::Value) -> Result<Empty, ClientError> {
    client.request::<LaunchRequest>(launch_arguments(&arguments))
}

#[test]
fn the_terminal_is_the_programs_and_it_stops_and_ends_there() {
    let program = compiled("terminal.c");
    let client = client();
    let terminal: Arc<Mutex<Option<Terminal>>> = Arc::default();
    let opened = terminal.clone();
    let name = program.file_name().expect("its name");
    let name = name.to_string_lossy().into_owned();
    client.on::<RunInTerminalRequest>(move |asked| {
        assert_eq!(
            asked.kind,
            Some(RunInTerminalRequestArgumentsKind::Integrated)
        );
        // An editor types this into a shell, where the user sees it.
        let shown = asked.args.join(" ");
        let end = format!("/{name}");
        assert!(
            shown.starts_with("sh /") && shown.ends_with(&end) && shown.len() < 50 + name.len(),
            "it is to be short, and to name the program: {shown}"
        );
        *opened.lock().expect("no panic") = Some(Terminal::run(&asked.args));
        Ok(RunInTerminalResponse::new())
    });
    launch(
        &client,
        json!({"program": program, "console": "integratedTerminal", "args": ["x"]}),
    )
    .expect("launched");
    let source = support::root().join("fixtures/terminal.c");
    let text = std::fs::read_to_string(&source).expect("the source");
    let line = text
        .lines()
        .position(|line| line.contains("printf"))
        .expect("a line") as i64
        + 1;
    let breakpoints =
        SetBreakpointsArguments::new(Source::new().with_path(source.display().to_string()))
            .with_breakpoints(vec![SourceBreakpoint::new(line)]);
    let answer = client
        .request::<SetBreakpointsRequest>(breakpoints)
        .expect("set");
    assert!(answer.breakpoints[0].verified);
    client
        .request::<ConfigurationDoneRequest>(Default::default())
        .expect("running");
    let stop = client
        .wait_for::<StoppedEvent>(PATIENCE, |_| true)
        .expect("a stop");
    assert_eq!(stop.reason, StoppedEventReason::Breakpoint);
    let thread = stop.thread_id.expect("a thread");
    client
        .request::<ContinueRequest>(ContinueArguments::new(thread))
        .expect("running");
    let exited = client
        .wait_for::<ExitedEvent>(PATIENCE, |_| true)
        .expect("the end");
    assert_eq!(exited.exit_code, 0);
    let mut terminal = terminal.lock().expect("no panic");
    let terminal = terminal.as_mut().expect("it was opened");
    terminal.wait_for("terminals: 1 1 1, leader 1, foreground 1");
    client
        .request::<DisconnectRequest>(Default::default())
        .expect("disconnected");
}

#[test]
fn each_debuggers_words_ask_for_a_terminal_of_that_kind() {
    use RunInTerminalRequestArgumentsKind::{External, Integrated};
    for (arguments, kind) in [
        (json!({"terminal": "integrated"}), Integrated),
        (json!({"terminal": "external"}), External),
        (json!({"runInTerminal": true}), Integrated),
        (json!({"externalConsole": true}), External),
        // cpptools without an external console: in the editor's terminal.
        (json!({"externalConsole": false}), Integrated),
    ] {
        let client = client();
        let asked_for: Arc<Mutex<Option<RunInTerminalRequestArgumentsKind>>> = Arc::default();
        let told = asked_for.clone();
        client.on::<RunInTerminalRequest>(move |asked| {
            *told.lock().expect("no panic") = asked.kind;
            Err(Failure::new("seen enough"))
        });
        let mut all = arguments.clone();
        all["program"] = json!("/bin/true");
        let refused = launch(&client, all).expect_err("the client has no terminal after all");
        assert!(refused.to_string().contains("seen enough"), "{refused}");
        assert_eq!(
            asked_for.lock().expect("no panic").clone(),
            Some(kind),
            "{arguments}"
        );
    }
}

#[test]
fn the_programs_input_is_the_terminals() {
    let program = compiled("server.c");
    let client = client();
    let terminal: Arc<Mutex<Option<Terminal>>> = Arc::default();
    let opened = terminal.clone();
    client.on::<RunInTerminalRequest>(move |asked| {
        *opened.lock().expect("no panic") = Some(Terminal::run(&asked.args));
        Ok(RunInTerminalResponse::new())
    });
    launch(
        &client,
        json!({"program": program, "console": "externalTerminal", "args": ["two words", ""], "env": {"X": "1"}}),
    )
    .expect("launched");
    client
        .request::<ConfigurationDoneRequest>(Default::default())
        .expect("running");
    let mut terminal = terminal.lock().expect("no panic");
    let terminal = terminal.as_mut().expect("it was opened");
    terminal.wait_for("ready");
    terminal.type_keys("args\n");
    terminal.wait_for("1: two words");
    terminal.type_keys("quit 6\n");
    let exited = client
        .wait_for::<ExitedEvent>(PATIENCE, |_| true)
        .expect("the end");
    assert_eq!(exited.exit_code, 6);
    client
        .request::<DisconnectRequest>(Default::default())
        .expect("disconnected");
}

#[test]
fn a_program_in_the_terminal_is_recorded_from_a_stop_on() {
    const SOURCE: &str = "beside_sleeper.c";
    let program = compiled(SOURCE);
    let client = client();
    let terminal: Arc<Mutex<Option<Terminal>>> = Arc::default();
    let opened = terminal.clone();
    client.on::<RunInTerminalRequest>(move |asked| {
        *opened.lock().expect("no panic") = Some(Terminal::run(&asked.args));
        Ok(RunInTerminalResponse::new())
    });
    let client = TestClient::from(client).with_timeout(PATIENCE);
    client.ok::<LaunchRequest>(launch_arguments(&json!({
        "program": program,
        "console": "integratedTerminal",
    })));
    let path = support::root().join("fixtures").join(SOURCE);
    let lines = ["time", "signal"].map(|mark| support::line(SOURCE, mark));
    client.set_breakpoints(&path, &lines);
    client.ok::<ConfigurationDoneRequest>(Default::default());
    let stops = |line: i64| {
        let (stop, top) = client.assert_stopped_at("breakpoint", &path, line);
        let sum = EvaluateArguments::new("sum").with_frame_id(top.id);
        let sum = client.ok::<EvaluateRequest>(sum).result;
        (stop.thread_id.expect("a thread"), sum)
    };
    let (thread, sum) = stops(lines[0]);
    client.ok::<RecordRequest>(Empty);
    client.resume(thread);
    stops(lines[1]);
    client.resume(thread);
    stops(lines[0]);
    client.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(thread));
    stops(lines[1]);
    client.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(thread));
    let begins = client.wait_for::<StoppedEvent>();
    assert_eq!(begins.reason, StoppedEventReason::Entry);
    let top = client.ok::<StackTraceRequest>(StackTraceArguments::new(thread));
    let now = EvaluateArguments::new("sum").with_frame_id(top.stack_frames[0].id);
    assert_eq!(client.ok::<EvaluateRequest>(now).result, sum);
    client.ok::<DisconnectRequest>(Default::default());
}

#[test]
fn a_client_without_terminals_and_one_that_opens_none_are_told() {
    let client = client();
    client.on::<RunInTerminalRequest>(|_| Err(Failure::new("no room for a terminal")));
    let arguments = json!({"program": "/bin/true", "console": "integratedTerminal"});
    let error = launch(&client, arguments.clone())
        .expect_err("refused")
        .to_string();
    assert!(error.contains("no room for a terminal"), "{error}");
    client
        .request::<DisconnectRequest>(Default::default())
        .expect("disconnected");

    let client = Client::spawn(support::dapple().arg("dap")).expect("dapple runs");
    client
        .request::<InitializeRequest>(InitializeRequestArguments::new("dapple"))
        .expect("initialized");
    let error = launch(&client, arguments).expect_err("refused").to_string();
    assert!(error.contains("internalConsole"), "{error}");
}

#[test]
fn an_adapter_that_is_killed_takes_what_it_launched_with_it() {
    let mut command = support::dapple();
    let client = Client::spawn(command.arg("dap")).expect("dapple runs");
    client
        .request::<InitializeRequest>(InitializeRequestArguments::new("dapple"))
        .expect("initialized");
    launch(
        &client,
        json!({"program": "/bin/sh", "args": ["-c", "while :; do :; done"]}),
    )
    .expect("launched");
    client
        .request::<ConfigurationDoneRequest>(Default::default())
        .expect("running");
    let process = client
        .wait_for::<ProcessEvent>(PATIENCE, |_| true)
        .expect("it");
    let process = process.system_process_id.expect("its id");
    let adapter = client.process_id().expect("a process");
    let killed = Command::new("kill")
        .args(["-KILL", &adapter.to_string()])
        .status();
    assert!(killed.is_ok_and(|status| status.success()));
    let path = PathBuf::from(format!("/proc/{process}/stat"));
    let lives = || {
        let stat = std::fs::read_to_string(&path).unwrap_or_default();
        // The state follows the name in parentheses, proc_pid_stat(5).
        stat.rsplit(')')
            .next()
            .is_some_and(|rest| !rest.is_empty() && !rest.starts_with(" Z"))
    };
    while lives() {
        std::thread::yield_now();
    }
}
