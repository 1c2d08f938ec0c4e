//! The client against the adapters of other projects, as real processes: to the first stop, through stack and variables, to the
//! end. Each message in either direction is checked against the definition of the protocol. The known violations of each peer
//! are listed here.
//!
//! `DAPPLE_LLDB_DAP` names lldb-dap (22 or later), `DAPPLE_DEBUGPY` a Python that has debugpy; by default they are searched on PATH. A
//! peer that is named must exist; one that is not found on PATH is skipped, with a line on standard error.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use dapple_dap::client::{Client, RunInTerminal};
use dapple_dap::testing::{Recorder, TestClient, launch_arguments};
use dapple_dap::transport::Direction;
use dapple_dap::types::*;
use dapple_schema::validate::Validator;
use serde_json::{Value, json};

#[path = "peers/ready_made.rs"]
mod ready_made;

const PATIENCE: Duration = Duration::from_secs(30);

/// A session with a peer, its recorded messages, and the peer's known violations.
struct Session {
    client: TestClient,
    recorder: Recorder,
    /// The known problems and violations of the peer, by a part of their text.
    known: &'static [&'static str],
}

impl std::ops::Deref for Session {
    type Target = TestClient;

    fn deref(&self) -> &TestClient {
        &self.client
    }
}

impl Session {
    fn spawn(command: &mut Command, known: &'static [&'static str]) -> Self {
        let recorder = Recorder::new();
        let client = Client::spawn_with(command.stderr(Stdio::null()), recorder.options())
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        Self {
            client: TestClient::from(client),
            recorder,
            known,
        }
    }

    /// Resumes, and waits until the program has ended by itself.
    fn run_to_the_end(&self, thread: i64, exit_code: i64) {
        self.resume(thread);
        assert_eq!(self.wait_for::<ExitedEvent>().exit_code, exit_code);
        self.wait_for::<TerminatedEvent>();
        self.disconnect();
    }

    /// Ends the session and checks all of its messages.
    fn assert_valid(self) {
        let validator = Validator::protocol().expect("the definition is readable");
        let mut found = BTreeSet::new();
        for message in self.recorder.messages() {
            let json: Value = serde_json::from_str(&message.text).expect("JSON");
            for problem in validator.message(&json) {
                assert_eq!(
                    message.direction,
                    Direction::Received,
                    "we sent {}, but {problem}",
                    message.text
                );
                let name = json.get("event").or(json.get("command"));
                let name = name.and_then(Value::as_str).unwrap_or_default();
                found.insert(format!("{name}: {problem}"));
            }
        }
        found.extend(self.violations().iter().map(ToString::to_string));
        let unknown: Vec<_> = found
            .iter()
            .filter(|problem| !self.known.iter().any(|known| problem.contains(known)))
            .collect();
        assert!(unknown.is_empty(), "the peer's mistakes: {unknown:#?}");
        for known in self.known {
            if !found.iter().any(|problem| problem.contains(known)) {
                say(&format!("not seen this time: {known}"));
            }
        }
    }
}

/// Prints a line even if the test passes: the harness shows the output of `eprintln!` only for failed tests.
fn say(text: &str) {
    writeln!(std::io::stderr(), "{text}").ok();
}

/// The first of these programs that runs.
fn find(variable: &str, candidates: &[&str], probe: &[&str]) -> Option<PathBuf> {
    let works = |program: &Path| {
        let mut command = Command::new(program);
        command.args(probe).stdin(Stdio::null());
        let output = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        output.is_ok_and(|status| status.success())
    };
    if let Some(named) = std::env::var_os(variable).filter(|named| !named.is_empty()) {
        let named = PathBuf::from(named);
        assert!(
            works(&named),
            "{variable} names {}, where `{probe:?}` fails",
            named.display()
        );
        return Some(named);
    }
    let found = candidates
        .iter()
        .map(PathBuf::from)
        .find(|path| works(path));
    if found.is_none() {
        say(&format!(
            "left out: none of {candidates:?} runs, and {variable} is not set"
        ));
    }
    found
}

fn lldb_dap() -> Option<Command> {
    let program = find("DAPPLE_LLDB_DAP", &["lldb-dap-22"], &["--version"])?;
    let mut command = Command::new(program);
    command.arg("--no-lldbinit");
    Some(command)
}

fn debugpy() -> Option<Command> {
    let installed = workspace().join("target/debugpy/bin/python3");
    let installed = installed.to_str().expect("a path in Unicode");
    let probe = ["-c", "import debugpy.adapter"];
    let program = find("DAPPLE_DEBUGPY", &[installed, "python3"], &probe)?;
    let mut command = Command::new(program);
    command.args(["-m", "debugpy.adapter"]);
    Some(command)
}

fn workspace() -> &'static Path {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    root.expect("crates/dap is in the workspace")
}

fn marked(source: &Path, name: &str) -> i64 {
    let text = std::fs::read_to_string(source).expect("the source");
    let line = text
        .lines()
        .position(|line| line.ends_with(&format!(" stop: {name}")));
    i64::try_from(line.expect("the mark")).expect("a line") + 1
}

fn arguments(fields: &Value) -> LaunchRequestArguments {
    launch_arguments(fields)
}

/// The tour in C, compiled once.
fn tour_in_c() -> (PathBuf, PathBuf) {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let source = workspace().join("fixtures/tour.c");
    let program = PROGRAM.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let [made, program] = [format!("tour-{}", std::process::id()), "tour".to_owned()]
            .map(|name| folder.join(name));
        let mut gcc = Command::new("gcc");
        let compiled = gcc.args(["-g", "-O0", "-o"]).args([&made, &source]);
        assert!(
            compiled.status().is_ok_and(|status| status.success()),
            "gcc compiles"
        );
        // Atomically, since another run of the tests may be reading the program.
        std::fs::rename(made, &program).expect("in the same folder");
        program
    });
    (source, program.clone())
}

/// lldb-dap reports each resume that the client asked for, and sometimes the end of a progress whose start it did not report.
const LLDB_KNOWN: &[&str] = &[
    "a `continued` event for threads that the client resumed itself",
    "`progressEnd` for progress ",
];

#[test]
fn lldb_dap_goes_from_launch_to_the_exit_code() {
    let Some(mut command) = lldb_dap() else {
        return;
    };
    let session = Session::spawn(&mut command, LLDB_KNOWN);
    tour_of_c(&session);
    session.assert_valid();
}

#[test]
fn lldb_dap_does_so_over_a_socket() {
    let Some(mut command) = lldb_dap() else {
        return;
    };
    let mut server = command
        .args(["--connection", "listen://127.0.0.1:0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("lldb-dap runs");
    let said = BufReader::new(server.stdout.take().expect("its output"));
    let said = said.lines().find_map(|line| {
        let line = line.expect("a line");
        let port = line.rsplit_once(':')?.1.parse::<u16>();
        port.ok()
    });
    let address = ("127.0.0.1", said.expect("its port"));
    let stream = TcpStream::connect(address).expect("connected");
    let recorder = Recorder::new();
    let connection = recorder.options().tcp(stream).expect("a connection");
    let session = Session {
        client: TestClient::new(connection),
        recorder,
        known: LLDB_KNOWN,
    };
    tour_of_c(&session);
    session.assert_valid();
    server.kill().ok();
    server.wait().expect("it ended");
}

/// The same adapter, driven by the asynchronous client.
#[cfg(feature = "tokio")]
#[test]
fn lldb_dap_is_driven_by_the_asynchronous_client_too() {
    use dapple_dap::async_client::AsyncClient;

    async fn first_stop(client: AsyncClient) -> Result<(), dapple_dap::ClientError> {
        let (source, program) = tour_in_c();
        let line = marked(&source, "mean");
        let who = InitializeRequestArguments::new("lldb");
        client.request::<InitializeRequest>(who).await?;
        let launch = launch_arguments(&json!({"program": program}));
        let mut launch = client.send::<LaunchRequest>(launch).await?;
        client
            .wait_for_caused::<InitializedEvent, _>(&mut launch, PATIENCE)
            .await?;
        let place = Source::new().with_path(source.to_string_lossy());
        let place =
            SetBreakpointsArguments::new(place).with_breakpoints(vec![SourceBreakpoint::new(line)]);
        client.request::<SetBreakpointsRequest>(place).await?;
        client
            .request::<ConfigurationDoneRequest>(ConfigurationDoneArguments::new())
            .await?;
        launch.wait().await?;
        let stopped = client.wait_for::<StoppedEvent>(PATIENCE, |_| true).await?;
        let thread = stopped.thread_id.expect("lldb-dap says which");
        let stack = StackTraceArguments::new(thread);
        let frames = client
            .request::<StackTraceRequest>(stack)
            .await?
            .stack_frames;
        assert_eq!((&*frames[0].name, frames[0].line), ("mean", line));
        let scopes = ScopesArguments::new(frames[0].id);
        let scopes = client.request::<ScopesRequest>(scopes).await?.scopes;
        let locals = VariablesArguments::new(scopes[0].variables_reference);
        let locals = client.request::<VariablesRequest>(locals).await?.variables;
        let sum = locals.iter().find(|local| local.name == "sum");
        assert_eq!(sum.map(|sum| &*sum.value), Some("95.5"), "{locals:?}");
        client
            .request::<DisconnectRequest>(DisconnectArguments::new())
            .await?;
        client.close(PATIENCE).await;
        Ok(())
    }

    let Some(mut command) = lldb_dap() else {
        return;
    };
    command.stderr(Stdio::null());
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().expect("a runtime");
    let outcome = runtime.block_on(async {
        let client = AsyncClient::spawn(command).expect("lldb-dap runs");
        first_stop(client).await
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

fn tour_of_c(session: &Session) {
    let (source, program) = tour_in_c();
    let launch = arguments(&json!({"program": program}));
    let line = marked(&source, "town");
    let stopped = session.hit_breakpoint(launch, &source, line);
    let thread = stopped.thread_id.expect("checked by `hit_breakpoint`");
    assert!(!session.ok::<ThreadsRequest>(Empty).threads.is_empty());

    let stack = session.stack(thread);
    assert_eq!(stack[0].name, "main");
    let locals = session.locals(stack[0].id);
    let town = locals.iter().find(|local| local.name == "town");
    let town = town.unwrap_or_else(|| panic!("`town` is a local: {locals:?}"));
    let fields = session.variables(town.variables_reference);
    let name = fields.iter().find(|field| field.name == "name");
    let name = name.unwrap_or_else(|| panic!("`name` is a field: {fields:?}"));
    assert!(name.value.contains("Cairo"), "{name:?}");

    session.ok::<StepInRequest>(StepInArguments::new(thread));
    session.wait_for::<StoppedEvent>();
    let frames = session.stack(thread);
    assert_eq!((&*frames[0].name, &*frames[1].name), ("mean", "main"));
    let expression = EvaluateArguments::new("count + 1").with_frame_id(frames[0].id);
    let value =
        session.ok::<EvaluateRequest>(expression.with_context(EvaluateArgumentsContext::Watch));
    assert_eq!(value.result, "4");

    session.set_breakpoints(&source, &[]);
    session.run_to_the_end(thread, 3);
    session.assert_output("stdout", "3 of 3 towns visited");
}

/// debugpy sends `output` and (not always) `debugpySockets` before the response to `initialize`, the latter also after `terminated`; and
/// it reports each resume that the client asked for.
const DEBUGPY_KNOWN: &[&str] = &[
    "`output` was sent before the response to `initialize`",
    "`debugpySockets` was sent before the response to `initialize`",
    "`debugpySockets` was sent after `terminated`",
    "a `continued` event for threads that the client resumed itself",
    // Two of its threads may both number their message before either sends it.
    "`seq` is ",
];

#[test]
fn debugpy_goes_from_launch_to_the_exit_code() {
    let Some(mut command) = debugpy() else {
        return;
    };
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers/tour.py");
    let session = Session::spawn(&mut command, DEBUGPY_KNOWN);
    let launch = arguments(&json!({"program": source, "console": "internalConsole"}));
    tour_of_python(&session, launch, &source);
    session.assert_output("stdout", "2 towns visited");
    session.assert_valid();
}

/// debugpy asks the client to start the program: a reverse request, and its response.
#[test]
fn debugpy_has_its_program_started_by_the_client() {
    let Some(mut command) = debugpy() else {
        return;
    };
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers/tour.py");
    let session = Session::spawn(&mut command, DEBUGPY_KNOWN);
    let (sender, output) = dapple_dap::crossbeam_channel::unbounded();
    session.on_run_in_terminal(
        RunInTerminal::new()
            .prepare(|_, command| {
                command.stdout(Stdio::piped());
                Ok(())
            })
            .started(move |_, child| {
                let pipe = child.stdout.take().expect("a pipe");
                let sender = sender.clone();
                std::thread::spawn(move || sender.send(std::io::read_to_string(pipe)));
            }),
    );
    let launch = arguments(&json!({"program": source, "console": "integratedTerminal"}));
    tour_of_python(&session, launch, &source);
    let output = output.recv_timeout(PATIENCE).expect("it has ended");
    let output = output.expect("text");
    assert!(output.contains("2 towns visited"), "{output}");
    session.assert_valid();
}

fn tour_of_python(session: &Session, launch: LaunchRequestArguments, source: &Path) {
    session.ok::<InitializeRequest>(InitializeRequestArguments::new("debugpy"));
    let launch = session.send::<LaunchRequest>(launch).expect("sent");
    session
        .wait_for_caused::<InitializedEvent, _>(&launch, PATIENCE)
        .unwrap_or_else(|error| panic!("waiting for `initialized`: {error}"));
    let line = marked(source, "mean");
    session.set_breakpoints(source, &[line]);
    session.configured(launch);
    let (stopped, _) = session.assert_stopped_at("breakpoint", source, line);
    let thread = stopped.thread_id.expect("checked by `assert_stopped_at`");
    let threads = session.ok::<ThreadsRequest>(Empty).threads;
    assert!(
        threads.iter().any(|known| known.id == thread),
        "{threads:?}"
    );

    let stack = session.stack(thread);
    let names: Vec<_> = stack.iter().map(|frame| &*frame.name).collect();
    assert_eq!(names, ["mean", "tour", "<module>"]);
    let locals = session.locals(stack[0].id);
    let total = locals.iter().find(|local| local.name == "total");
    assert_eq!(total.map(|total| &*total.value), Some("95.5"), "{locals:?}");
    let values = locals.iter().find(|local| local.name == "values");
    let values = values.unwrap_or_else(|| panic!("`values` is a local: {locals:?}"));
    let items = session.variables(values.variables_reference);
    assert!(items.iter().any(|item| item.value == "35.5"), "{items:?}");

    let expression = EvaluateArguments::new("len(values) + 1").with_frame_id(stack[0].id);
    assert_eq!(session.ok::<EvaluateRequest>(expression).result, "4");
    session.ok::<StepOutRequest>(StepOutArguments::new(thread));
    session.wait_for::<StoppedEvent>();
    assert_eq!(session.top_frame(thread).name, "tour");

    session.set_breakpoints(source, &[]);
    session.run_to_the_end(thread, 3);
}
