//! A session with one client.
//!
//! A [`Session`] handles the incoming messages in order and calls the handlers of its [`Server`]. Without a handler it answers
//! `initialize`, unknown requests, and requests at the wrong time or with bad arguments.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crossbeam_channel::{Receiver, select};

use super::conventions::ClientConventions;
use super::dispatch::{Context, NO_BODY, bad_arguments};
use super::later::{Job, Later};
use super::outbox::{NOT_FROM_CLIENT, Outbox, RequestError};
use super::{Inner, Server};
use crate::cancel::CancelToken;
use crate::codec::CodecError;
use crate::envelope::{Envelope, EnvelopeError, Kind};
use crate::failure::{Failure, failure_text};
use crate::lifecycle::Violation;
use crate::message::excerpt::of_name;
use crate::message::{self, Raw, Request};
use crate::transport::{Closed, Connection, Incoming, Message};
use crate::types::{
    DisconnectRequest, InitializeRequest, InitializeRequestArguments, OutputEvent, OutputEventBody,
    OutputEventCategory,
};

/// How many messages about bad input the user gets. The last one says that no more follow.
const MOST_MALFORMED: usize = 20;

/// Whether the session goes on after a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a session that is closed handles no more messages"]
pub enum Flow {
    /// More messages may follow.
    Continue,
    /// The session is over: `disconnect` was answered. If the client goes away without sending it, the session handles a `disconnect` in its
    /// place.
    Closed,
}

/// A session with one client.
///
/// It handles the incoming messages in order and calls the handlers of its [`Server`]. Without a handler it answers `initialize`,
/// unknown requests, and requests at the wrong time or with bad arguments.
///
/// [`run`](Self::run) is for adapters that wait only for the client, [`run_interpreter`](Self::run_interpreter) for those that execute
/// the debuggee themselves. An adapter that waits for its debuggee has a loop of its own and calls [`handle`](Self::handle):
///
/// ```
/// use dapple_dap::{Connection, Flow, Server, Session};
///
/// fn serve(server: &Server<i64>, connection: &Connection, news: &crossbeam_channel::Receiver<i64>) {
///     let mut session: Session<i64> = server.start(connection);
///     let mut state = 0;
///     loop {
///         crossbeam_channel::select! {
///             recv(connection.incoming) -> incoming => {
///                 let Ok(incoming) = incoming else { return };
///                 if session.handle(&mut state, incoming) == Flow::Closed {
///                     return;
///                 }
///             }
///             recv(news) -> news => match news {
///                 Ok(news) => state += news,
///                 Err(_) => return session.disconnect(&mut state),
///             },
///         }
///     }
/// }
/// # let (client, adapter) = Connection::memory();
/// # let (sender, news) = crossbeam_channel::unbounded();
/// # let server = Server::builder().build();
/// # sender.send(1).unwrap();
/// # drop(sender);
/// # serve(&server, &adapter, &news);
/// # drop(client);
/// ```
pub struct Session<S> {
    server: Arc<Inner<S>>,
    context: Context,
    incoming: Receiver<Incoming>,
    later: Later<S>,
    jobs: Receiver<Job<S>>,
    /// The handler of `disconnect` was called, because the client sent one or is gone, or the adapter ends the session.
    disconnecting: bool,
    closed: bool,
    reason: Option<Closed>,
    /// Errors of the input that are yet to be reported to the user.
    malformed: Vec<CodecError>,
    reported_malformed: usize,
}

impl<S> std::fmt::Debug for Session<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("outbox", &self.context.outbox)
            .field("disconnecting", &self.disconnecting)
            .finish_non_exhaustive()
    }
}

/// Sends an error response to each request that is still unanswered, even if its responder was leaked.
impl<S> Drop for Session<S> {
    fn drop(&mut self) {
        self.context.outbox.end();
    }
}

impl<S: 'static> Session<S> {
    /// Starts a session on a connection; see [`Server::start`].
    pub fn new(server: &Server<S>, connection: &Connection) -> Self {
        let outbox = Outbox::new(
            connection.outgoing.clone(),
            connection.cancellations.clone(),
            server.inner.failures_for.clone(),
            server.inner.keeps_conventions,
        );
        let (later, jobs) = Later::new(outbox.clone());
        let context = Context {
            client: Arc::new(InitializeRequestArguments::new("")),
            conventions: ClientConventions::default(),
            outbox,
            cancel: CancelToken::new(),
            request_seq: 0,
            after: Vec::new(),
            #[cfg(feature = "tokio")]
            tasks: None,
        };
        let incoming = connection.incoming.clone();
        Self {
            server: server.inner.clone(),
            context,
            incoming,
            later,
            jobs,
            disconnecting: false,
            closed: false,
            reason: None,
            malformed: Vec::new(),
            reported_malformed: 0,
        }
    }

    /// Where to send events and reverse requests.
    pub fn outbox(&self) -> Outbox {
        self.context.outbox.clone()
    }

    /// How the client counts lines and columns and names files.
    pub fn conventions(&self) -> &ClientConventions {
        &self.context.conventions
    }

    /// The arguments of the client's `initialize`; those of a client that supports nothing before it.
    pub fn client(&self) -> &InitializeRequestArguments {
        &self.context.client
    }

    /// Runs closures with the session's state, from any thread and in answers to reverse requests.
    pub fn later(&self) -> Later<S> {
        self.later.clone()
    }

    /// The closures of [`later`](Self::later) that wait to be run. A loop of one's own receives them beside the client's messages, and
    /// passes them to [`run_job`](Self::run_job). [`run`](Self::run) does so by itself.
    pub fn jobs(&self) -> &Receiver<Job<S>> {
        &self.jobs
    }

    /// Calls `wake` whenever a closure was added to [`jobs`](Self::jobs), on the thread that has added it. For loops that don't wait on
    /// channels only.
    pub fn on_job(&self, wake: impl Fn() + Send + Sync + 'static) {
        self.later.set_wake(Arc::new(wake));
    }

    /// Sets where the futures of asynchronous handlers run.
    #[cfg(feature = "tokio")]
    pub(crate) fn set_tasks(&mut self, tasks: Arc<super::tasks::Tasks>) {
        self.context.tasks = Some(tasks);
    }

    /// Runs a closure of [`jobs`](Self::jobs). If it panics, that is logged, and the session goes on.
    pub fn run_job(&self, state: &mut S, job: Job<S>) -> Flow {
        if catch_unwind(AssertUnwindSafe(|| job(state, self))).is_err() {
            tracing::error!("a closure that was to run later has panicked");
        }
        self.flow()
    }

    /// Handles messages and runs the closures of [`later`](Self::later) until the session is over. For adapters that wait for nothing
    /// else.
    pub fn run(&mut self, state: &mut S) {
        while self.run_next(state) == Flow::Continue {}
    }

    /// As [`run`](Self::run), for an adapter that executes the debuggee itself, such as an interpreter. As long as no message waits,
    /// `execute` is called: it executes a little, say a line, and returns true. While the debuggee is stopped, it returns false; the
    /// session then waits for the next message. So the client can pause a program that never ends, and all runs on one thread.
    ///
    /// ```
    /// use dapple_dap::Server;
    /// use dapple_dap::types::*;
    ///
    /// #[derive(Default)]
    /// struct Counter {
    ///     count: u64,
    ///     is_running: bool,
    /// }
    ///
    /// let server = Server::builder()
    ///     .on::<ConfigurationDoneRequest>(|counter: &mut Counter, _, _| {
    ///         counter.is_running = true;
    ///         Ok(Empty)
    ///     })
    ///     .on::<PauseRequest>(|counter, _, context| {
    ///         counter.is_running = false;
    ///         context.outbox().stopped(StoppedEventReason::Pause, 1);
    ///         Ok(Empty)
    ///     })
    ///     .build();
    /// let (client, adapter) = dapple_dap::Connection::memory();
    /// # let thread = std::thread::spawn(move || {
    /// server.start(&adapter).run_interpreter(&mut Counter::default(), |counter, _outbox| {
    ///     counter.count += u64::from(counter.is_running);
    ///     counter.is_running
    /// });
    /// # });
    /// # let client = dapple_dap::testing::TestClient::new(client);
    /// # client.initialize();
    /// # client.ok::<ConfigurationDoneRequest>(ConfigurationDoneArguments::new());
    /// # client.ok::<PauseRequest>(PauseArguments::new(1));
    /// # client.wait_for::<StoppedEvent>();
    /// # client.disconnect();
    /// # thread.join().unwrap();
    /// ```
    pub fn run_interpreter(
        &mut self,
        state: &mut S,
        mut execute: impl FnMut(&mut S, &Outbox) -> bool,
    ) {
        let outbox = self.outbox();
        // A deferred `disconnect` may end the session between two messages.
        while self.flow() == Flow::Continue {
            let is_idle = self.incoming.is_empty() && self.jobs.is_empty();
            if is_idle && execute(state, &outbox) {
                continue;
            }
            if self.run_next(state) == Flow::Closed {
                return;
            }
        }
        self.finish();
    }

    /// Waits for a message or a closure, and handles it.
    fn run_next(&mut self, state: &mut S) -> Flow {
        let flow = select! {
            recv(self.incoming) -> incoming => match incoming {
                Ok(incoming) => self.handle(state, incoming),
                Err(_) => return Flow::Closed,
            },
            recv(self.jobs) -> job => match job {
                Ok(job) => self.run_job(state, job),
                Err(_) => return Flow::Closed,
            },
        };
        if flow == Flow::Closed {
            self.finish();
        }
        flow
    }

    /// Handles one message.
    ///
    /// When the client has gone away without `disconnect`, the handler of `disconnect` is called as though the client had sent one.
    /// Responses that answer no request are logged and skipped. A message of an unknown type is answered with an error.
    pub fn handle(&mut self, state: &mut S, incoming: Incoming) -> Flow {
        match incoming {
            Incoming::Message(message) => self.message(state, &message),
            Incoming::Malformed(error) => {
                tracing::warn!(%error, "bad input from the client");
                if self.malformed.len() < MOST_MALFORMED {
                    self.malformed.push(error);
                }
            }
            Incoming::Closed(reason) => {
                match reason {
                    Closed::ByPeer => tracing::debug!(%reason, "the client is gone"),
                    _ => tracing::warn!(%reason, "the client is gone"),
                }
                self.context.outbox.client_disconnected();
                self.closed = true;
                self.disconnect(state);
                self.reason = Some(reason);
            }
        }
        self.report_malformed();
        let flow = self.flow();
        if flow == Flow::Closed {
            self.finish();
        }
        flow
    }

    /// Why the connection ended. `None` while it is open, and if the session ended before it, by the client's `disconnect`.
    pub fn closed(&self) -> Option<&Closed> {
        self.reason.as_ref()
    }

    /// Reports skipped input to the user, once the client is initialized.
    fn report_malformed(&mut self) {
        if self.malformed.is_empty() || self.context.outbox.client().is_none() {
            return;
        }
        for error in self.malformed.drain(..) {
            self.reported_malformed += 1;
            let text = match self.reported_malformed {
                1..MOST_MALFORMED => format!("bad input from the client: {error}\n"),
                MOST_MALFORMED => "further bad input from the client is not reported\n".to_owned(),
                _ => continue,
            };
            let body = OutputEventBody::new(text).with_category(OutputEventCategory::Console);
            self.context.outbox.event::<OutputEvent>(body);
        }
    }

    /// Ends the session as the client's `disconnect` would. For signals such as SIGTERM. Does nothing if the handler of `disconnect` was
    /// called already.
    pub fn disconnect(&mut self, state: &mut S) {
        if !self.disconnecting {
            self.context
                .outbox
                .note_request(NOT_FROM_CLIENT, DisconnectRequest::COMMAND);
            self.dispatch(state, NOT_FROM_CLIENT, DisconnectRequest::COMMAND, None);
        }
    }

    /// Whether the session is over. A deferred `disconnect` ends it when it is answered, which may be outside of
    /// [`handle`](Self::handle).
    pub fn flow(&self) -> Flow {
        if self.context.outbox.is_over() {
            Flow::Closed
        } else {
            Flow::Continue
        }
    }

    /// Answers the requests that arrived after the `disconnect` that ended the session. [`handle`](Self::handle) does this by itself. A
    /// loop calls it when [`flow`](Self::flow) says that the session has ended outside of `handle`.
    pub fn finish(&mut self) {
        while let Ok(incoming) = self.incoming.try_recv() {
            let Incoming::Message(message) = incoming else {
                continue;
            };
            let (seq, command) = match message.envelope() {
                Ok(Envelope {
                    seq,
                    kind: Kind::Request { command, .. },
                }) => (seq, command),
                Ok(_) => continue,
                Err(error) => {
                    self.no_envelope(&error);
                    continue;
                }
            };
            let result = if command == DisconnectRequest::COMMAND {
                Ok(NO_BODY)
            } else {
                Err(Failure::new(format!(
                    "`{}` came after the session had ended",
                    of_name(&command)
                )))
            };
            self.reject(seq, &command, result);
        }
    }

    fn message(&mut self, state: &mut S, message: &Message) {
        let envelope = match message.envelope() {
            Ok(envelope) => envelope,
            Err(error) => return self.no_envelope(&error),
        };
        let span = match &envelope.kind {
            Kind::Request { command, .. } => {
                tracing::debug_span!("request", seq = envelope.seq, %command)
            }
            _ => tracing::Span::none(),
        };
        let _entered = span.enter();
        let violation = self.context.outbox.received(&envelope);
        match (envelope.kind, violation) {
            (
                Kind::Request { command, .. },
                Some(violation @ (Violation::BeforeInitialize { .. } | Violation::InitializeTwice)),
            ) => {
                let failure = Failure::new(violation.to_string());
                let outbox = &self.context.outbox;
                outbox.respond(envelope.seq, &command, Err(failure));
            }
            (Kind::Request { command, arguments }, violation) => {
                if let Some(violation) = violation {
                    tracing::debug!(%violation, "a request of the client breaks a rule");
                }
                self.dispatch(state, envelope.seq, &command, arguments);
            }
            (_, Some(violation)) => {
                tracing::warn!(%violation, "a message of the client breaks a rule")
            }
            (
                Kind::Response {
                    request_seq,
                    success,
                    message,
                    body,
                    ..
                },
                None,
            ) => {
                let outcome = if success {
                    Ok(body)
                } else {
                    Err(RequestError::Failed {
                        message: failure_text(message.as_deref(), body),
                    })
                };
                self.context.outbox.answered(request_seq, outcome);
            }
            // Not reached: an event from a client is a violation.
            (Kind::Event { .. }, None) => {}
        }
    }

    /// Reports a message without a readable envelope, and answers it if it may be a request.
    fn no_envelope(&self, error: &EnvelopeError) {
        tracing::warn!(%error, "bad input from the client");
        if let EnvelopeError::Shape {
            answer_to: Some(seq),
            ..
        } = error
        {
            self.reject(
                *seq,
                "",
                Err(Failure::new(format!("this is no request: {error}"))),
            );
        }
    }

    /// Answers a request without calling a handler.
    fn reject(&self, seq: i64, command: &str, result: Result<Option<Raw>, Failure>) {
        self.context.outbox.note_request(seq, command);
        self.context.outbox.respond(seq, command, result);
    }

    /// Calls the handler of a request that the outbox has noted, or answers the request without one.
    fn dispatch(
        &mut self,
        state: &mut S,
        seq: i64,
        command: &str,
        arguments: Option<&serde_json::value::RawValue>,
    ) {
        let outbox = self.context.outbox.clone();
        self.context.cancel = outbox.begin_handling(seq);
        self.context.request_seq = seq;
        let server = self.server.clone();
        match server.handlers.get(command) {
            _ if command == InitializeRequest::COMMAND => {
                let result = self.initialize(state, arguments);
                outbox.respond(seq, command, result);
            }
            _ if command == DisconnectRequest::COMMAND && self.disconnecting => {
                outbox.respond(seq, command, Ok(NO_BODY));
            }
            Some(_) if self.context.cancel.is_cancelled() && may_be_skipped(command) => {
                outbox.respond(seq, command, Err(Failure::cancelled()));
            }
            Some(handler) => {
                self.disconnecting |= command == DisconnectRequest::COMMAND;
                handler(state, arguments, &mut self.context, &self.later);
            }
            None => outbox.respond(seq, command, Err(Failure::unknown_command(command))),
        }
        outbox.end_handling();
        outbox.after_response(seq, std::mem::take(&mut self.context.after));
    }

    fn initialize(
        &mut self,
        state: &mut S,
        arguments: Option<&serde_json::value::RawValue>,
    ) -> Result<Option<Raw>, Failure> {
        let client: InitializeRequestArguments = message::decode_or_default(arguments)
            .map_err(|error| bad_arguments(InitializeRequest::COMMAND, &error))?;
        let client = Arc::new(client);
        self.context.conventions = ClientConventions::of(&client);
        self.context.client = client.clone();
        self.context.outbox.set_client(client.clone());
        let mut capabilities = self.server.capabilities.clone();
        for adjust in &self.server.capabilities_for {
            adjust(&client, &mut capabilities);
        }
        for hook in &self.server.on_initialize {
            hook(state, &client);
        }
        message::encode(&capabilities).map_err(Failure::from)
    }
}

/// Whether a request that was cancelled before it started is answered without being started. The commands listed here are started all
/// the same: the session needs their effect to go on and to end in order.
fn may_be_skipped(command: &str) -> bool {
    !matches!(
        command,
        "initialize" | "launch" | "attach" | "configurationDone" | "terminate" | "disconnect"
    )
}
