//! A client for tests.
//!
//! It adds to [`Client`] methods for usual requests and sequences of them, which panic where a test should fail.

use std::ops::Deref;
use std::path::Path;
use std::thread::JoinHandle;
use std::time::Duration;

use serde::Serialize;

use super::verbs::Place;
use crate::client::{Client, ClientError, DEFAULT_TIMEOUT, Pending};
use crate::message::{Event, Request};
use crate::server::{Server, Session};
use crate::transport::Connection;
use crate::types::{
    Capabilities, ConfigurationDoneArguments, ConfigurationDoneRequest, ContinueArguments,
    ContinueRequest, DisconnectArguments, DisconnectRequest, InitializeRequest,
    InitializeRequestArguments, InitializedEvent, LaunchRequest, LaunchRequestArguments,
    OutputEvent, Scope, ScopesArguments, ScopesRequest, SetBreakpointsResponse, SourceBreakpoint,
    StackFrame, StackTraceArguments, StackTraceRequest, StoppedEventBody, Variable,
    VariablesArguments, VariablesRequest,
};

/// A client for tests. It dereferences to [`Client`], so that all of its methods are available.
///
/// ```
/// use dapple_dap::Server;
/// use dapple_dap::testing::TestClient;
/// use dapple_dap::types::*;
///
/// let stopped_at = |line| StackFrame::new(1, "main", line, 1).with_source(Source::new().with_path("/src/a.txt"));
/// let server = Server::builder()
///     .on::<LaunchRequest>(|_, _, context| {
///         context.outbox().event::<InitializedEvent>(Empty);
///         Ok(Empty)
///     })
///     .on::<SetBreakpointsRequest>(|line: &mut i64, arguments, _| {
///         *line = arguments.breakpoints.unwrap_or_default()[0].line;
///         Ok(SetBreakpointsResponse::new(vec![Breakpoint::new(true).with_line(*line)]))
///     })
///     .on::<ConfigurationDoneRequest>(|_, _, context| {
///         let stopped = StoppedEventBody::new(StoppedEventReason::Breakpoint).with_thread_id(1);
///         context.outbox().event::<OutputEvent>(OutputEventBody::new("here we are\n"));
///         context.outbox().event::<StoppedEvent>(stopped);
///         Ok(Empty)
///     })
///     .on::<StackTraceRequest>(move |line, _, _| Ok(StackTraceResponse::new(vec![stopped_at(*line)])))
///     .on::<ContinueRequest>(|_, _, context| {
///         context.outbox().event::<TerminatedEvent>(TerminatedEventBody::new());
///         Ok(ContinueResponse::new())
///     })
///     .build();
///
/// let (client, session) = TestClient::of(&server, 0);
/// client.hit_breakpoint(LaunchRequestArguments::new(), "a.txt", 7);
/// client.assert_output("console", "here we are");
/// assert_eq!(client.top_frame(1).name, "main");
/// client.resume(1);
/// client.wait_for::<TerminatedEvent>();
/// assert_eq!(client.fails::<PauseRequest>(PauseArguments::new(1)), "the request `pause` is not supported here");
/// client.disconnect();
/// client.assert_no_violations();
/// session.join().unwrap();
/// ```
#[derive(Debug)]
pub struct TestClient {
    client: Client,
    timeout: Duration,
}

impl Deref for TestClient {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

/// Arguments of `launch` with the given fields: any struct or map. As [`LaunchRequestArguments::of`], which returns errors.
///
/// ```
/// # use dapple_dap::testing::launch_arguments;
/// let arguments = launch_arguments(&std::collections::BTreeMap::from([("program", "/bin/true")]));
/// assert_eq!(arguments.other["program"].text(), r#""/bin/true""#);
/// ```
///
/// # Panics
/// The fields do not make a JSON object.
#[track_caller]
pub fn launch_arguments(fields: &impl Serialize) -> LaunchRequestArguments {
    expect("launch", LaunchRequestArguments::of(fields))
}

impl TestClient {
    /// A client of the adapter at the other end of a connection. It also sends requests whose capability the adapter does not advertise.
    pub fn new(connection: Connection) -> Self {
        Self::from(Client::new(connection).with_unadvertised_requests())
    }

    /// A client of an adapter that runs on a thread of its own in this process. The thread ends with the session and returns its
    /// state.
    ///
    /// ```
    /// use dapple_dap::Server;
    /// use dapple_dap::testing::TestClient;
    /// use dapple_dap::types::*;
    ///
    /// let server = Server::builder()
    ///     .on::<ThreadsRequest>(|asked: &mut u32, _, _| {
    ///         *asked += 1;
    ///         Ok(ThreadsResponse::new(vec![]))
    ///     })
    ///     .build();
    /// let (client, session) = TestClient::of(&server, 0);
    /// client.initialize();
    /// client.ok::<ThreadsRequest>(Empty);
    /// client.disconnect();
    /// assert_eq!(session.join().unwrap(), 1);
    /// ```
    pub fn of<S: Send + 'static>(server: &Server<S>, mut state: S) -> (Self, JoinHandle<S>) {
        let (client, adapter) = Connection::memory();
        let server = server.clone();
        let session = std::thread::spawn(move || {
            server.start(&adapter).run(&mut state);
            state
        });
        (Self::new(client), session)
    }

    /// As [`of`](Self::of), for a state that is made from its session, e.g. to keep a [`Later`](crate::server::Later).
    pub fn of_with<S: Send + 'static>(
        server: &Server<S>,
        state: impl FnOnce(&Session<S>) -> S + Send + 'static,
    ) -> (Self, JoinHandle<S>) {
        let (client, adapter) = Connection::memory();
        let server = server.clone();
        let session = std::thread::spawn(move || {
            let mut session = server.start(&adapter);
            let mut state = state(&session);
            session.run(&mut state);
            state
        });
        (Self::new(client), session)
    }

    /// Sets how long each method waits for the response or event that it expects.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self {
            client: self.client.with_timeout(timeout),
            timeout,
        }
    }

    /// Sends a request that should succeed.
    ///
    /// # Panics
    /// The request fails.
    #[track_caller]
    pub fn ok<R: Request>(&self, arguments: R::Arguments) -> R::Response {
        expect(R::COMMAND, self.client.request::<R>(arguments))
    }

    /// Sends a request that should fail, and returns the sentence that the adapter answers with.
    ///
    /// # Panics
    /// The request succeeds, or is not answered.
    #[track_caller]
    pub fn fails<R: Request>(&self, arguments: R::Arguments) -> String {
        match self.client.request::<R>(arguments) {
            Err(ClientError::Failed(failure)) => failure.sentence,
            Err(error) => panic!(
                "`{}` was to be answered with an error, but: {error}",
                R::COMMAND
            ),
            Ok(response) => panic!(
                "`{}` was to fail, but succeeded with {response:?}",
                R::COMMAND
            ),
        }
    }

    /// Sends `initialize` for a client that counts lines and columns from 1. The client supports the types and the paging of variables,
    /// memory references, progress, and the events `invalidated` and `memory`.
    #[track_caller]
    pub fn initialize(&self) -> Capabilities {
        self.ok::<InitializeRequest>(
            InitializeRequestArguments::new("test")
                .with_client_id("test")
                .with_lines_start_at1(true)
                .with_columns_start_at1(true)
                .with_supports_variable_type(true)
                .with_supports_variable_paging(true)
                .with_supports_memory_references(true)
                .with_supports_progress_reporting(true)
                .with_supports_invalidated_event(true)
                .with_supports_memory_event(true),
        )
    }

    /// Waits for the next event of a kind. Each event is returned only once.
    ///
    /// # Panics
    /// No such event is received in time.
    #[track_caller]
    pub fn wait_for<E: Event>(&self) -> E::Body {
        self.wait_for_where::<E>(|_| true)
    }

    /// Waits for the next event of a kind for which `matches` returns `true`.
    ///
    /// # Panics
    /// No such event is received in time.
    #[track_caller]
    pub fn wait_for_where<E: Event>(&self, matches: impl FnMut(&E::Body) -> bool) -> E::Body {
        match self.client.wait_for::<E>(self.timeout, matches) {
            Ok(body) => body,
            Err(error) => panic!(
                "waiting for `{}`: {error}; {}",
                E::EVENT,
                self.events_seen()
            ),
        }
    }

    /// Sets the breakpoints of one file, by line.
    #[track_caller]
    pub fn set_breakpoints(&self, path: impl AsRef<Path>, lines: &[i64]) -> SetBreakpointsResponse {
        let breakpoints = lines.iter().map(|&line| SourceBreakpoint::new(line));
        SetBreakpointsResponse::new(self.set_source_breakpoints(path, breakpoints.collect()))
    }

    /// Starts a session up to the point where breakpoints can be set: `initialize`, `launch`, and the wait for
    /// `initialized`. `launch` may be answered only after [`configured`](Self::configured).
    #[track_caller]
    pub fn launch(&self, arguments: LaunchRequestArguments) -> Pending<LaunchRequest> {
        self.initialize();
        let launch = expect("launch", self.client.send::<LaunchRequest>(arguments));
        self.initialized_during(&launch);
        launch
    }

    /// Waits for `initialized`, which a request is to lead to.
    #[track_caller]
    pub(super) fn initialized_during<R: Request>(&self, request: &Pending<R>) {
        let initialized = self
            .client
            .wait_for_caused::<InitializedEvent, _>(request, self.timeout);
        if let Err(error) = initialized {
            panic!("waiting for `initialized`: {error}; {}", self.events_seen());
        }
    }

    /// Ends the configuration, so that the program runs, and waits for the response to the `launch` or `attach` that began it.
    #[track_caller]
    pub fn configured<R: Request>(&self, started: Pending<R>) {
        self.configuration_done();
        expect(R::COMMAND, started.wait());
    }

    /// Sends `configurationDone`, if the adapter advertises it.
    #[track_caller]
    pub(super) fn configuration_done(&self) {
        if self.client.supports::<ConfigurationDoneRequest>() {
            self.ok::<ConfigurationDoneRequest>(ConfigurationDoneArguments::new());
        }
    }

    /// Launches a program with breakpoints in one file. Every breakpoint has to be verified.
    #[track_caller]
    pub fn launch_with_breakpoints(
        &self,
        arguments: LaunchRequestArguments,
        path: impl AsRef<Path>,
        lines: &[i64],
    ) -> SetBreakpointsResponse {
        let launch = self.launch(arguments);
        let response = self.set_breakpoints(&path, lines);
        for (breakpoint, line) in response.breakpoints.iter().zip(lines) {
            let path = path.as_ref().display();
            assert!(
                breakpoint.verified,
                "no breakpoint at {path}:{line}: {:?}",
                breakpoint.message
            );
        }
        self.configured(launch);
        response
    }

    /// Launches a program and waits for its first stop, which has to be at a breakpoint on this line.
    #[track_caller]
    pub fn hit_breakpoint(
        &self,
        arguments: LaunchRequestArguments,
        path: impl AsRef<Path>,
        line: i64,
    ) -> StoppedEventBody {
        self.launch_with_breakpoints(arguments, &path, &[line]);
        let (stopped, _) = self.assert_stopped_at("breakpoint", path, line);
        stopped
    }

    /// Waits for the next stop and checks its reason and location. A relative path matches any path that ends with it.
    #[track_caller]
    pub fn assert_stopped_at(
        &self,
        reason: &str,
        path: impl AsRef<Path>,
        line: i64,
    ) -> (StoppedEventBody, StackFrame) {
        self.assert_stopped(reason, &Place::line(path, line))
    }

    /// Waits until the joined output of a category, such as `stdout`, contains a text. Output without a category counts as `console`. The
    /// event that completes the text is taken: later waits don't get it.
    ///
    /// # Panics
    /// The output does not contain the text in time; the message shows the output until then.
    #[track_caller]
    pub fn assert_output(&self, category: &str, text: &str) {
        let mut output = String::new();
        let found = self.client.wait_for::<OutputEvent>(self.timeout, |event| {
            if event
                .category
                .as_ref()
                .map_or("console", |category| category.as_str())
                == category
            {
                output.push_str(&event.output);
            }
            output.contains(text)
        });
        if let Err(error) = found {
            panic!("no {text:?} in the output ({category}): {error}; it was {output:?}");
        }
    }

    /// The frames of a thread, innermost first.
    #[track_caller]
    pub fn stack(&self, thread: i64) -> Vec<StackFrame> {
        self.ok::<StackTraceRequest>(StackTraceArguments::new(thread))
            .stack_frames
    }

    /// The innermost frame of a thread.
    #[track_caller]
    pub fn top_frame(&self, thread: i64) -> StackFrame {
        let stack = self.ok::<StackTraceRequest>(StackTraceArguments::new(thread).with_levels(1));
        let frame = stack.stack_frames.into_iter().next();
        frame.unwrap_or_else(|| panic!("thread {thread} has no frames"))
    }

    /// The scopes of a frame.
    #[track_caller]
    pub fn scopes(&self, frame: i64) -> Vec<Scope> {
        self.ok::<ScopesRequest>(ScopesArguments::new(frame)).scopes
    }

    /// The variables of a reference.
    #[track_caller]
    pub fn variables(&self, reference: i64) -> Vec<Variable> {
        self.ok::<VariablesRequest>(VariablesArguments::new(reference))
            .variables
    }

    /// The variables of a frame's first scope that is not expensive.
    #[track_caller]
    pub fn locals(&self, frame: i64) -> Vec<Variable> {
        let scopes = self.scopes(frame);
        let scope = scopes.iter().find(|scope| !scope.expensive);
        let scope = scope.unwrap_or_else(|| panic!("frame {frame} has no cheap scope: {scopes:?}"));
        self.variables(scope.variables_reference)
    }

    /// Sends `continue`.
    #[track_caller]
    pub fn resume(&self, thread: i64) {
        self.ok::<ContinueRequest>(ContinueArguments::new(thread));
    }

    /// Sends `disconnect`.
    #[track_caller]
    pub fn disconnect(&self) {
        self.ok::<DisconnectRequest>(DisconnectArguments::new());
    }

    /// Checks that the adapter kept the rules of a session until now.
    #[track_caller]
    pub fn assert_no_violations(&self) {
        assert_eq!(self.client.violations(), [], "rules that the adapter broke");
        assert_eq!(
            self.client.repairs(),
            [],
            "what does not have the protocol's shape"
        );
    }

    /// The names of the received events that no wait has taken, for failure messages.
    fn events_seen(&self) -> String {
        let events = self.client.untaken_events();
        let names: Vec<_> = events.iter().map(|event| event.event.as_str()).collect();
        format!("events that nobody waited for: [{}]", names.join(", "))
    }
}

impl From<Client> for TestClient {
    fn from(client: Client) -> Self {
        Self {
            client,
            timeout: DEFAULT_TIMEOUT,
        }
    }
}

#[track_caller]
pub(super) fn expect<T>(what: &str, result: Result<T, impl std::fmt::Display>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("`{what}` failed: {error}"),
    }
}
