//! A client of the adapter for tests: whole sessions over an in-memory connection. Every message in both directions is checked against the
//! protocol's definition.
//!
//! [`Session`] has a method for each action of a test. Each method waits for the protocol's response and panics with a message on failure.
//! When a test fails, the session's messages are printed.

pub mod arrays;
pub mod fixture;
pub mod gdbserver;
pub mod json_schema;
pub mod listed;
pub mod package;
pub mod project;
#[allow(dead_code, reason = "the engine's tests use all of it")]
#[path = "../../../engine/tests/support/running.rs"]
pub mod running;
pub mod setting;
pub mod snapshot;

use crossbeam_channel::Receiver;
use dapple_adapter::{ServeOptions, serve};
use dapple_dap::client::{ClientError, EventMessage, RequestFailure};
use dapple_dap::message::Request;
use dapple_dap::testing::{TestClient, launch_arguments};
use dapple_dap::transport::{Direction, Options};
use dapple_dap::types::*;
use dapple_schema::Model;
use dapple_schema::validate::Validator;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::ops::Deref;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

pub use fixture::Fixture;

/// Time limit of every wait. A test that passes never waits that long.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// All messages of a session, and the errors found in them.
#[derive(Default)]
pub struct Traffic {
    lines: Vec<String>,
    problems: Vec<String>,
}

/// A client, with its adapter on another thread.
pub struct Session {
    client: TestClient,
    serving: Option<JoinHandle<()>>,
    traffic: Arc<Mutex<Traffic>>,
    news: Receiver<EventMessage>,
    written: RefCell<Vec<OutputEventBody>>,
}

impl Session {
    /// A session that has been initialized.
    pub fn new() -> Session {
        Session::serving(ServeOptions::default(), initialize_arguments())
    }

    /// A session with these options and arguments of `initialize`.
    pub fn serving(options: ServeOptions, arguments: InitializeRequestArguments) -> Session {
        let traffic = Arc::new(Mutex::new(Traffic::default()));
        let (ours, theirs) = checked(&traffic).memory();
        let serving = std::thread::spawn(move || {
            serve(theirs, options).expect("readable messages");
        });
        Session::opened(TestClient::new(ours), Some(serving), traffic, arguments)
    }

    /// A session over an existing connection.
    pub fn over(client: TestClient, traffic: Arc<Mutex<Traffic>>) -> Session {
        Session::opened(client, None, traffic, initialize_arguments())
    }

    fn opened(
        client: TestClient,
        serving: Option<JoinHandle<()>>,
        traffic: Arc<Mutex<Traffic>>,
        arguments: InitializeRequestArguments,
    ) -> Session {
        let client = client.with_timeout(PATIENCE);
        let news = client.subscribe();
        let session = Session {
            client,
            serving,
            traffic,
            news,
            written: RefCell::default(),
        };
        session.ok::<InitializeRequest>(arguments);
        session
    }

    /// Launches `fixture` with breakpoints at the marked lines, and runs it.
    pub fn started(fixture: &Fixture, arguments: Value, stops: &[&str]) -> Session {
        let session = Session::new();
        session.launch(fixture, arguments);
        session.set_breakpoints(fixture, stops);
        session.configured();
        session
    }

    /// The failure of a request that must fail.
    #[track_caller]
    pub fn refused<R: Request>(&self, arguments: R::Arguments) -> RequestFailure {
        match self.client.request::<R>(arguments) {
            Err(ClientError::Failed(failure)) => *failure,
            other => panic!("`{}` should have been refused, but: {other:?}", R::COMMAND),
        }
    }

    /// Launches a program. The `initialized` event has been received on return.
    #[track_caller]
    pub fn launch(&self, fixture: &Fixture, arguments: Value) {
        let mut arguments = arguments;
        arguments["program"] = json!(fixture.program());
        self.ok::<LaunchRequest>(launch_arguments(&arguments));
        self.wait_for::<InitializedEvent>();
    }

    /// Sets breakpoints at marked lines, all of which must be verified.
    #[track_caller]
    pub fn set_breakpoints(&self, fixture: &Fixture, names: &[&str]) -> Vec<Breakpoint> {
        let lines = names
            .iter()
            .map(|name| fixture.line(name))
            .collect::<Vec<_>>();
        let breakpoints = self.set_lines(&fixture.path(), &lines);
        for (breakpoint, name) in breakpoints.iter().zip(names) {
            assert!(breakpoint.verified, "{name}: {breakpoint:?}");
        }
        breakpoints
    }

    /// Replaces all breakpoints in the fixture's source.
    #[track_caller]
    pub fn set_source(&self, fixture: &Fixture, wanted: Vec<SourceBreakpoint>) -> Vec<Breakpoint> {
        let source = Source::new().with_path(fixture.path());
        let arguments = SetBreakpointsArguments::new(source).with_breakpoints(wanted);
        self.ok::<SetBreakpointsRequest>(arguments).breakpoints
    }

    /// Watches expressions of a frame, and nothing else: a write that changes one of them stops.
    #[track_caller]
    pub fn watch(&self, frame: &StackFrame, names: &[&str]) {
        let watched = names.iter().map(|name| {
            let arguments = DataBreakpointInfoArguments::new(*name).with_frame_id(frame.id);
            let info = self.ok::<DataBreakpointInfoRequest>(arguments);
            let id = info.data_id;
            DataBreakpoint::new(id.unwrap_or_else(|| panic!("{name}: {}", info.description)))
        });
        let arguments = SetDataBreakpointsArguments::new(watched.collect());
        let set = self.ok::<SetDataBreakpointsRequest>(arguments).breakpoints;
        assert!(set.iter().all(|it| it.verified), "{names:?}: {set:?}");
    }

    /// Sets breakpoints at lines.
    #[track_caller]
    pub fn set_lines(&self, path: &str, lines: &[i64]) -> Vec<Breakpoint> {
        let wanted = lines
            .iter()
            .map(|line| SourceBreakpoint::new(*line))
            .collect();
        let arguments =
            SetBreakpointsArguments::new(Source::new().with_path(path)).with_breakpoints(wanted);
        let breakpoints = self.ok::<SetBreakpointsRequest>(arguments).breakpoints;
        assert_eq!(breakpoints.len(), lines.len(), "one answer for each line");
        breakpoints
    }

    /// Sends `configurationDone`: the program runs.
    #[track_caller]
    pub fn configured(&self) {
        self.ok::<ConfigurationDoneRequest>(Default::default());
    }

    /// Waits for a stop and checks its place.
    #[track_caller]
    pub fn stopped_at(&self, fixture: &Fixture, name: &str, reason: StoppedEventReason) -> Stopped {
        let stopped = self.stopped(reason);
        assert_eq!(
            (stopped.top.line, file_of(&stopped.top)),
            (fixture.line(name), Some(fixture.path())),
            "stopped in {} and not at `{name}`",
            stopped.top.name
        );
        stopped
    }

    /// Waits for a stop and checks its reason.
    #[track_caller]
    pub fn stopped(&self, reason: StoppedEventReason) -> Stopped {
        let event = self.wait_for::<StoppedEvent>();
        assert_eq!(event.reason, reason, "{event:?}");
        assert_eq!(event.all_threads_stopped, Some(true), "{event:?}");
        let thread = event.thread_id.expect("a stop names its thread");
        let top = self.stack(thread).remove(0);
        Stopped { thread, top, event }
    }

    /// The scope of a frame, by name.
    #[track_caller]
    pub fn scope(&self, frame: &StackFrame, name: &str) -> Scope {
        let scopes = self.client.scopes(frame.id);
        let names: Vec<_> = scopes.iter().map(|scope| scope.name.clone()).collect();
        let found = scopes.into_iter().find(|scope| scope.name == name);
        found.unwrap_or_else(|| panic!("no scope `{name}` among {names:?}"))
    }

    /// The names of a frame's scopes, and whether each is expensive.
    pub fn scopes_of(&self, frame: &StackFrame) -> Vec<(String, bool)> {
        let scopes = self.client.scopes(frame.id).into_iter();
        scopes.map(|scope| (scope.name, scope.expensive)).collect()
    }

    /// A variable of a frame's scope.
    #[track_caller]
    pub fn variable(&self, frame: &StackFrame, scope: &str, name: &str) -> Variable {
        let variables = self.variables(self.scope(frame, scope).variables_reference);
        named(&variables, name).clone()
    }

    /// An expression's value in a frame.
    #[track_caller]
    pub fn evaluate(&self, frame: &StackFrame, expression: &str) -> String {
        let arguments = EvaluateArguments::new(expression).with_frame_id(frame.id);
        self.ok::<EvaluateRequest>(arguments).result
    }

    /// Steps over, and checks that the step ends at the marked line of `fixture`.
    #[track_caller]
    pub fn next(&self, stopped: &Stopped, fixture: &Fixture, name: &str) -> Stopped {
        self.ok::<NextRequest>(NextArguments::new(stopped.thread));
        self.stopped_at(fixture, name, StoppedEventReason::Step)
    }

    /// Steps in, and checks that the step ends at the marked line of `fixture`.
    #[track_caller]
    pub fn step_in(&self, stopped: &Stopped, fixture: &Fixture, name: &str) -> Stopped {
        self.ok::<StepInRequest>(StepInArguments::new(stopped.thread));
        self.stopped_at(fixture, name, StoppedEventReason::Step)
    }

    /// Steps out, and checks that the step ends at the marked line of `fixture`.
    #[track_caller]
    pub fn step_out(&self, stopped: &Stopped, fixture: &Fixture, name: &str) -> Stopped {
        self.ok::<StepOutRequest>(StepOutArguments::new(stopped.thread));
        self.stopped_at(fixture, name, StoppedEventReason::Step)
    }

    /// Waits for a stop (`true`) or the program's end (`false`), whichever is first. The event stays in the queue.
    #[track_caller]
    pub fn ends_or_stops(&self) -> bool {
        loop {
            let names = self
                .client
                .untaken_events()
                .into_iter()
                .map(|event| event.event);
            for name in names {
                match name.as_str() {
                    "stopped" => return true,
                    "exited" | "terminated" => return false,
                    _ => {}
                }
            }
            match self.news.recv_timeout(PATIENCE) {
                Ok(event) => self
                    .written
                    .borrow_mut()
                    .extend(event.body::<OutputEvent>()),
                Err(error) => panic!("neither a stop nor an end: {error}"),
            }
        }
    }

    /// Waits for the program's end. Returns its exit code.
    #[track_caller]
    pub fn exit_code(&self) -> i64 {
        let code = self.wait_for::<ExitedEvent>().exit_code;
        self.wait_for::<TerminatedEvent>();
        code
    }

    /// The output in a category so far.
    pub fn output(&self, category: OutputEventCategory) -> String {
        for event in self.news.try_iter() {
            self.written
                .borrow_mut()
                .extend(event.body::<OutputEvent>());
        }
        let written = self.written.borrow();
        let wanted = written
            .iter()
            .filter(|body| body.category.as_ref() == Some(&category));
        wanted.map(|body| body.output.as_str()).collect()
    }

    /// The number of output events in a category so far.
    pub fn pieces(&self, category: OutputEventCategory) -> usize {
        self.output(category.clone());
        let written = self.written.borrow();
        let of_category = |body: &&OutputEventBody| body.category.as_ref() == Some(&category);
        written.iter().filter(of_category).count()
    }

    /// Waits until the program's standard output contains `text`.
    #[track_caller]
    pub fn wait_for_output(&self, text: &str) {
        self.wait_for_written(OutputEventCategory::Stdout, text);
    }

    /// Waits until the output in a category contains `text`.
    #[track_caller]
    pub fn wait_for_written(&self, category: OutputEventCategory, text: &str) {
        while !self.output(category.clone()).contains(text) {
            match self.news.recv_timeout(PATIENCE) {
                Ok(event) => self
                    .written
                    .borrow_mut()
                    .extend(event.body::<OutputEvent>()),
                Err(error) => panic!(
                    "`{text}` was not written ({error}), but: {}",
                    self.output(category)
                ),
            }
        }
    }

    /// The process id in the `process` event.
    #[track_caller]
    pub fn process_id(&self) -> i64 {
        self.wait_for::<ProcessEvent>()
            .system_process_id
            .expect("a process id")
    }

    /// Disconnects, and waits for the adapter to end.
    #[track_caller]
    pub fn disconnect(mut self) {
        self.ok::<DisconnectRequest>(Default::default());
        self.join();
    }

    /// Waits for the adapter to end.
    #[track_caller]
    pub fn join(&mut self) {
        self.client
            .wait_closed(PATIENCE)
            .expect("the adapter closes the connection");
        if let Some(serving) = self.serving.take() {
            assert!(serving.join().is_ok(), "the adapter panicked");
        }
    }
}

impl Deref for Session {
    type Target = TestClient;

    fn deref(&self) -> &TestClient {
        &self.client
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let traffic = self.traffic.lock().unwrap_or_else(PoisonError::into_inner);
        let violations = self.client.violations();
        if std::thread::panicking() {
            eprintln!("{}", traffic.lines.join("\n"));
        } else {
            assert!(
                traffic.problems.is_empty(),
                "{}",
                traffic.problems.join("\n")
            );
            assert!(
                violations.is_empty(),
                "the adapter broke rules: {violations:?}"
            );
            assert!(!traffic.lines.is_empty(), "no message was checked");
        }
    }
}

/// A stop, with the top frame.
pub struct Stopped {
    pub thread: i64,
    pub top: StackFrame,
    pub event: StoppedEventBody,
}

/// The tests' arguments of `initialize`.
pub fn initialize_arguments() -> InitializeRequestArguments {
    InitializeRequestArguments::new("dapple")
        .with_client_id("tests")
        .with_supports_variable_type(true)
}

/// Runs a program until its fault, and has a core file written.
pub fn core_of(fixture: &Fixture, argument: &str) -> std::path::PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let core = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("core-of-{argument}-{}-{count}", std::process::id()));
    let _ = std::fs::remove_file(&core);
    let options = dapple_engine::launch::LaunchOptions {
        program: fixture.binary.clone(),
        args: vec![argument.into()],
        ..dapple_engine::launch::LaunchOptions::default()
    };
    let (events, told) = crossbeam_channel::unbounded();
    let session = dapple_engine::Session::launch(options, events).expect("launched");
    session.resume().expect("it runs");
    while !matches!(
        told.recv_timeout(PATIENCE).expect("a stop"),
        dapple_engine::Event::Stopped(_)
    ) {}
    session.write_core(&core).expect("a core file");
    core
}

/// The path of a frame's source.
pub fn file_of(frame: &StackFrame) -> Option<String> {
    frame.source.as_ref()?.path.clone()
}

/// The variable with this name.
#[track_caller]
pub fn named<'a>(variables: &'a [Variable], name: &str) -> &'a Variable {
    let names: Vec<_> = variables.iter().map(|variable| &variable.name).collect();
    let found = variables.iter().find(|variable| variable.name == name);
    found.unwrap_or_else(|| panic!("no variable `{name}` among {names:?}"))
}

/// Whether a process exists, as anything but a zombie.
pub fn is_alive(process: i64) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat"));
    // The state follows the name in parentheses, proc_pid_stat(5).
    status.is_ok_and(|text| {
        text.rsplit(')')
            .next()
            .is_some_and(|rest| !rest.trim_start().starts_with('Z'))
    })
}

/// Connection options that record and check every message.
pub fn checked(traffic: &Arc<Mutex<Traffic>>) -> Options {
    let validators = validators();
    let traffic = traffic.clone();
    Options::new().tap(move |direction, text| {
        let arrow = match direction {
            Direction::Sent => "->",
            Direction::Received => "<-",
        };
        let line = format!("{arrow} {}", String::from_utf8_lossy(text));
        let mut traffic = traffic.lock().unwrap_or_else(PoisonError::into_inner);
        match serde_json::from_slice::<Value>(text) {
            Ok(message) => {
                for validator in &validators {
                    let problems = validator.message(&message);
                    traffic.problems.extend(
                        problems
                            .iter()
                            .map(|problem| format!("{problem} in {line}")),
                    );
                }
            }
            Err(error) => traffic.problems.push(format!("{error} in {line}")),
        }
        traffic.lines.push(line);
    })
}

/// Validators for the project's definition, and for the official one if it is beside the repository.
fn validators() -> Vec<Validator> {
    let mut validators = vec![Validator::protocol().expect("the project's definition")];
    let official = fixture::workspace().join("../shared/dap/debugAdapterProtocol.json");
    if let Ok(text) = std::fs::read_to_string(&official) {
        validators.push(Validator::new(
            Model::parse(&text).expect("the official definition"),
        ));
    }
    validators
}

/// Creates a file in the tests' folder with this content and mode.
pub fn file(name: &str, content: &[u8], mode: u32) -> std::path::PathBuf {
    let path = fixture::fixtures_folder().join(name);
    let source = path.with_extension("content");
    std::fs::write(&source, content).expect("a file of the tests");
    fixture::install(&source, &path, mode);
    path
}

/// A path as clients write it.
pub fn text(path: &Path) -> String {
    path.display().to_string()
}

/// How often a thread of a debuggee has waited so far: in each of its stops for the debugger, and for what else it waits for
/// (proc_pid_status(5)).
pub fn waits(process: i64, thread: i64) -> u64 {
    let path = format!("/proc/{process}/task/{thread}/status");
    let status = std::fs::read_to_string(path).expect("it runs");
    let line = { status.lines() }.find(|line| line.starts_with("voluntary_ctxt_switches:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number.expect("a count").parse().expect("a number")
}
