//! The example adapter as a process, driven by `TestClient` and by the other example. Each message is checked.

mod addresses;
mod built;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use dapple_dap::client::Client;
use dapple_dap::testing::{Recorder, TestClient, launch_arguments};
use dapple_dap::types::*;
use dapple_schema::validate::Validator;
use serde_json::{Value, json};

use built::example;

fn program() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/tiny/countdown.tiny")
}

/// The line with this text, from 1.
fn line(text: &str) -> i64 {
    let program = std::fs::read_to_string(program()).expect("the program");
    let index = program.lines().position(|line| line == text);
    i64::try_from(index.expect("a line with this text")).expect("a line") + 1
}

fn arguments(stop_on_entry: bool) -> LaunchRequestArguments {
    launch_arguments(&json!({"program": program(), "stopOnEntry": stop_on_entry}))
}

struct Session {
    client: TestClient,
    recorder: Recorder,
}

impl std::ops::Deref for Session {
    type Target = TestClient;

    fn deref(&self) -> &TestClient {
        &self.client
    }
}

impl Session {
    fn start() -> Self {
        let recorder = Recorder::new();
        let client = Client::spawn_with(&mut example("tiny"), recorder.options());
        Self {
            client: TestClient::from(client.expect("it was built")),
            recorder,
        }
    }

    fn on_entry() -> Self {
        let session = Self::start();
        let launch = session.launch(arguments(true));
        session.configured(launch);
        session.assert_stopped_at("entry", program(), line("let n = 3"));
        session
    }

    fn evaluate(&self, expression: &str, context: EvaluateArgumentsContext) -> EvaluateArguments {
        EvaluateArguments::new(expression)
            .with_context(context)
            .with_frame_id(self.top_frame(1).id)
    }

    fn ended(self) {
        self.disconnect();
        self.assert_no_violations();
        let validator = Validator::protocol().expect("the definition is readable");
        for message in self.recorder.messages() {
            let json: Value = serde_json::from_str(&message.text).expect("JSON");
            let problems = validator.message(&json);
            assert!(problems.is_empty(), "{}: {problems:?}", message.text);
        }
    }
}

#[test]
fn a_breakpoint_is_hit_in_each_turn_where_its_condition_holds() {
    let session = Session::start();
    let launch = session.launch(arguments(false));
    let source = Source::new().with_path(program().to_string_lossy());
    // One line early, without a statement: the breakpoint moves to the next statement.
    let square = line("let square = n * n");
    let asked = SourceBreakpoint::new(square - 1).with_condition("n < 3");
    let behind = SourceBreakpoint::new(1000);
    let answer = session.ok::<SetBreakpointsRequest>(
        SetBreakpointsArguments::new(source).with_breakpoints(vec![asked, behind]),
    );
    assert_eq!(answer.breakpoints[0].line, Some(square));
    assert!(answer.breakpoints[0].verified);
    assert!(!answer.breakpoints[1].verified);
    session.configured(launch);
    for n in ["2", "1"] {
        let (stopped, frame) = session.assert_stopped_at("breakpoint", program(), square);
        let variables = session.locals(frame.id);
        let found = variables.iter().find(|variable| variable.name == "n");
        assert_eq!(found.map(|variable| &*variable.value), Some(n));
        session.resume(stopped.thread_id.expect("a thread"));
    }
    session.assert_output("stdout", "9\n4\n1\n100\n");
    assert_eq!(session.wait_for::<ExitedEvent>().exit_code, 0);
    session.wait_for::<TerminatedEvent>();
    session.ended();
}

#[test]
fn steps_go_over_into_and_out_of_a_call() {
    let session = Session::on_entry();
    session.ok::<NextRequest>(NextArguments::new(1));
    session.assert_stopped_at("step", program(), line("call report"));
    session.ok::<StepInRequest>(StepInArguments::new(1));
    session.assert_stopped_at("step", program(), line("let square = n * n"));
    let frames: Vec<_> = session
        .stack(1)
        .into_iter()
        .map(|frame| (frame.name, frame.line))
        .collect();
    let expected = [
        ("report".to_owned(), line("let square = n * n")),
        ("main".to_owned(), line("call report")),
    ];
    assert_eq!(frames, expected);
    session.ok::<StepOutRequest>(StepOutArguments::new(1));
    session.assert_stopped_at("step", program(), line("let n = n - 1"));
    session.ok::<NextRequest>(NextArguments::new(1));
    session.wait_for::<StoppedEvent>();
    session.ok::<ContinueRequest>(ContinueArguments::new(1));
    session.wait_for::<TerminatedEvent>();
    session.ended();
}

#[test]
fn values_are_evaluated_and_set_and_old_frames_are_refused() {
    use EvaluateArgumentsContext::{Hover, Watch};
    let session = Session::on_entry();
    let frame = session.top_frame(1).id;
    assert_eq!(
        session.fails::<EvaluateRequest>(session.evaluate("n", Hover)),
        "there is no variable `n`"
    );
    session.ok::<NextRequest>(NextArguments::new(1));
    session.assert_stopped_at("step", program(), line("call report"));
    let value = session.ok::<EvaluateRequest>(session.evaluate("n * 2 + 1", Watch));
    assert_eq!(value.result, "7");
    session.ok::<SetVariableRequest>(SetVariableArguments::new(1, "n", "1 + 1"));
    let value = session.ok::<EvaluateRequest>(session.evaluate("n", Hover));
    assert_eq!(value.result, "2");
    let stale = session.fails::<ScopesRequest>(ScopesArguments::new(frame));
    assert!(stale.contains("stale"), "{stale}");
    session.resume(1);
    session.assert_output("stdout", "4\n1\n100\n");
    session.ended();
}

#[test]
fn a_call_from_the_console_shows_progress_and_is_cancelled_by_request() {
    use EvaluateArgumentsContext::Repl;
    let session = Session::on_entry();
    session.ok::<SetVariableRequest>(SetVariableArguments::new(1, "n", "5"));
    let printed = session.ok::<EvaluateRequest>(session.evaluate("call report", Repl));
    assert_eq!(printed.result, "25");
    assert_eq!(
        session.wait_for::<ProgressStartEvent>().title,
        "call report"
    );
    session.wait_for::<ProgressEndEvent>();

    let endless = session.evaluate("call forever", Repl);
    let call = session.send::<EvaluateRequest>(endless).expect("sent");
    let begun = session.wait_for::<ProgressStartEvent>();
    assert_eq!(
        (&*begun.title, begun.cancellable),
        ("call forever", Some(true))
    );
    session.ok::<CancelRequest>(CancelArguments::new().with_request_id(call.seq()));
    let cancelled = call.wait().expect_err("it was cancelled");
    assert_eq!(cancelled.to_string(), "cancelled");
    session.wait_for::<ProgressEndEvent>();

    let endless = session.evaluate("call forever", Repl);
    let call = session.send::<EvaluateRequest>(endless).expect("sent");
    let begun = session.wait_for::<ProgressStartEvent>().progress_id;
    session.wait_for::<ProgressUpdateEvent>();
    session.ok::<CancelRequest>(CancelArguments::new().with_progress_id(&*begun));
    call.wait().expect_err("it was cancelled");
    assert_eq!(session.wait_for::<ProgressEndEvent>().progress_id, begun);
    // After the cancelled call, the program is at the same line as before.
    assert_eq!(session.top_frame(1).line, line("let n = 3"));
    session.ended();
}

#[test]
fn an_endless_program_is_paused_and_a_mistake_is_an_exception() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let endless = folder.join("endless.tiny");
    std::fs::write(&endless, "print 1\nagain:\nif 1 goto again\n").expect("written");
    let session = Session::start();
    let launch = session.launch(launch_arguments(&json!({"program": endless})));
    session.configured(launch);
    session.assert_output("stdout", "1\n");
    assert_eq!(
        session.fails::<StackTraceRequest>(StackTraceArguments::new(1)),
        "the debuggee is running; pause it first"
    );
    session.ok::<PauseRequest>(PauseArguments::new(1));
    session.assert_stopped_at("pause", &endless, 3);
    session.ok::<TerminateRequest>(TerminateArguments::new());
    session.wait_for::<TerminatedEvent>();
    session.ended();

    let mistaken = folder.join("mistaken.tiny");
    std::fs::write(&mistaken, "print x\n").expect("written");
    let session = Session::start();
    let launch = session.launch(launch_arguments(&json!({"program": mistaken})));
    session.configured(launch);
    let (stopped, _) = session.assert_stopped_at("exception", &mistaken, 1);
    assert_eq!(stopped.text.as_deref(), Some("there is no variable `x`"));
    session.ok::<SetVariableRequest>(SetVariableArguments::new(1, "x", "7"));
    session.resume(1);
    session.assert_output("stdout", "7\n");
    session.ended();

    std::fs::write(&mistaken, "prind x\n").expect("written");
    let session = Session::start();
    session.initialize();
    let wrong = launch_arguments(&json!({"program": mistaken}));
    assert_eq!(
        session.fails::<LaunchRequest>(wrong),
        "line 1 is no statement: prind x"
    );
    session.ended();
}

#[test]
fn two_clients_are_served_at_once_on_a_socket() {
    let mut server = example("tiny")
        .args(["--listen", "127.0.0.1:0"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("it was built");
    let said = server.stderr.take().expect("its standard error");
    let said = BufReader::new(said).lines().next().expect("a line");
    let said = said.expect("a line");
    let address = said.strip_prefix("listening on ").expect("its address");
    let clients = [0, 1].map(|_| TestClient::from(Client::connect(address).expect("connected")));
    let stops = clients.each_ref().map(|client| {
        client.hit_breakpoint(arguments(false), program(), line("print square"));
        client.locals(client.top_frame(1).id)
    });
    assert_eq!(stops[0], stops[1]);
    for client in &clients {
        client.disconnect();
        client.assert_no_violations();
    }
    server.kill().expect("it listens on");
    server.wait().expect("it ended");
}

#[test]
fn a_client_waits_until_an_adapter_that_was_just_started_listens() {
    let address = addresses::unused();
    let mut server = example("tiny")
        .args(["--listen", &address.to_string()])
        .stderr(Stdio::null())
        .spawn()
        .expect("it was built");
    let client = Client::connect_within(address, Duration::from_secs(60)).expect("it listens");
    let client = TestClient::from(client);
    client.initialize();
    client.disconnect();
    server.kill().expect("it listens on");
    server.wait().expect("it ended");
}

#[test]
fn the_other_example_prints_each_of_its_stops() {
    let tiny = example("tiny").get_program().to_owned();
    let launch = json!({"program": program(), "stopOnEntry": true}).to_string();
    let square = line("let square = n * n");
    let place = format!("{}:{square}", program().display());
    let output = example("stops")
        .args([launch, place, "--".to_owned()])
        .arg(tiny)
        .output();
    let output = output.expect("it was built");
    let printed = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{printed}");
    let stop = format!("breakpoint: report at line {square}\n");
    assert_eq!(
        printed,
        format!(
            "entry: main at line {}\n{stop}  n = 3\n9\n{stop}  n = 2\n  square = 9\n4\n{stop}  n = 1\n  square = 4\n1\n100\n",
            line("let n = 3")
        )
    );
}
