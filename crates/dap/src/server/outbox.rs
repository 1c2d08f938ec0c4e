//! The outbox, through which a session sends all its messages.
//!
//! An [`Outbox`] may be used from any thread. It keeps the order that clients rely on: events and requests that are sent while a
//! handler runs leave when the handler has returned. If the handler answers by returning, its response leaves before them. Progress
//! events don't wait for the handler. Before `initialize` is answered, nothing but responses leaves.

use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use crossbeam_channel::RecvTimeoutError;
use serde_json::value::RawValue;

use super::FailuresFor;
use crate::cancel::{CancelToken, Cancellations};
use crate::envelope::Envelope;
use crate::failure::{self, Failure};
use crate::lifecycle::{Facts, Lifecycle, Severity, Side, Violation};
use crate::message::{self, DecodeError, Event, Raw, Request};
use crate::transport::{Outgoing, Writer};
use crate::types::{
    DisconnectRequest, ExitedEvent, ExitedEventBody, InitializeRequestArguments, OutputEvent,
    OutputEventBody, OutputEventCategory, ProgressEndEvent, ProgressStartEvent,
    ProgressUpdateEvent, StoppedEvent, StoppedEventBody, StoppedEventReason, TerminatedEvent,
    TerminatedEventBody,
};

/// Sends events and reverse requests to the client, from any thread. Clones send to the same client.
///
/// It keeps the order that clients rely on: events and requests that are sent while a handler runs leave when the handler has
/// returned. If the handler answers by returning, its response leaves before them. Progress events don't wait for the handler. Before
/// `initialize` is answered, nothing but responses leaves.
#[derive(Clone)]
pub struct Outbox {
    shared: Arc<Shared>,
    /// The request whose response leaves before what is sent here.
    before: Option<i64>,
}

impl std::fmt::Debug for Outbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.shared.lock();
        f.debug_struct("Outbox")
            .field("held", &state.held.len())
            .field("over", &state.over)
            .finish()
    }
}

struct Shared {
    state: Mutex<State>,
    writer: Writer,
    cancellations: Arc<Cancellations>,
    failures_for: Option<FailuresFor>,
    keeps_conventions: bool,
    /// Called when `disconnect` was answered. Where it is set, all other requests are answered before.
    on_end: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

type AfterResponse = Box<dyn FnOnce() + Send>;
type Answer = Box<dyn FnOnce(Result<Option<&RawValue>, RequestError>) + Send>;

struct State {
    lifecycle: Lifecycle,
    /// A handler is running: events and requests are held until it returns.
    handling: bool,
    held: VecDeque<Held>,
    /// The reverse requests that wait for their response, by number.
    asked: HashMap<i64, Answer>,
    /// The events that leave once a request is answered, by its number.
    held_for: HashMap<i64, Vec<Held>>,
    /// The closures to call once a request is answered, by its number.
    after: HashMap<i64, Vec<AfterResponse>>,
    /// The arguments of the client's `initialize`.
    client: Option<Arc<InitializeRequestArguments>>,
    /// The `disconnect` that the client sent, or that the session handled in its place, was answered.
    over: bool,
    /// The client is gone.
    disconnected: bool,
    /// The open requests were answered with an error, since the session ends.
    ended: bool,
}

/// A message held until it may be sent.
enum Held {
    Event {
        name: &'static str,
        body: Option<Raw>,
        kept: Kept,
    },
    Request {
        command: &'static str,
        arguments: Option<Raw>,
        answer: Answer,
    },
}

/// A value of the caller's, dropped when its event no longer waits to be sent.
type Kept = Option<Box<dyn Any + Send>>;

/// The number under which a `disconnect` that the client did not send is handled.
pub(super) const NOT_FROM_CLIENT: i64 = i64::MIN;

/// Why a reverse request has no result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The client did not announce that it supports the request.
    #[error("the client does not support `{command}`")]
    NotSupported {
        /// The request's command.
        command: &'static str,
    },
    /// The client answered with an error.
    #[error("{message}")]
    Failed {
        /// The client's error message.
        message: String,
    },
    /// The client's answer is not of the right shape.
    #[error("the client's answer has the wrong shape: {0}")]
    BadResponse(#[from] DecodeError),
    /// The request could not be written as JSON.
    #[error("the request cannot be written as JSON: {0}")]
    NotJson(String),
    /// The client did not answer in time. A later answer is ignored.
    #[error("the client did not answer `{command}` within {after:?}")]
    Timeout {
        /// The request's command.
        command: &'static str,
        /// The time waited.
        after: Duration,
    },
    /// The request may not be sent at this point of the session.
    #[error(transparent)]
    Lifecycle(#[from] Violation),
    /// The client is gone.
    #[error("the client is gone")]
    Disconnected,
}

impl Outbox {
    pub(super) fn new(
        writer: Writer,
        cancellations: Arc<Cancellations>,
        failures_for: Option<FailuresFor>,
        keeps_conventions: bool,
    ) -> Self {
        let state = State {
            lifecycle: Lifecycle::new(),
            handling: false,
            held: VecDeque::new(),
            asked: HashMap::new(),
            held_for: HashMap::new(),
            after: HashMap::new(),
            client: None,
            over: false,
            disconnected: false,
            ended: false,
        };
        Self {
            shared: Arc::new(Shared {
                state: Mutex::new(state),
                writer,
                cancellations,
                failures_for,
                keeps_conventions,
                on_end: OnceLock::new(),
            }),
            before: None,
        }
    }

    /// An outbox whose events leave behind the response to a request, except for output and progress, which leave at once.
    #[cfg(feature = "tokio")]
    pub(crate) fn behind(&self, request_seq: i64) -> Self {
        let shared = self.shared.clone();
        let before = Some(request_seq);
        Self { shared, before }
    }

    /// Calls `on_end` when `disconnect` was answered. From now on, all other requests are answered before that with an error that says
    /// that they were cancelled.
    #[cfg(feature = "tokio")]
    pub(crate) fn cancel_at_end(&self, on_end: impl Fn() + Send + Sync + 'static) {
        self.shared.on_end.set(Box::new(on_end)).ok();
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn writer(&self) -> &Writer {
        &self.shared.writer
    }

    /// Sends an event. It leaves at once or, while a handler runs, when the handler has returned: after the response, if the handler
    /// answers by returning. Before `initialize` is answered, the event waits for that. Progress events don't wait for a handler.
    ///
    /// An event that the [specification](crate::lifecycle) forbids is not sent. That is logged as a warning, except for progress after
    /// `terminated` and for events that the client does not support. If the client is gone, nothing is sent.
    ///
    /// If the client reads slowly, `output` events wait in a queue of their own. Later messages overtake them, except for `exited`,
    /// `terminated` and the response to `disconnect`. Sending output never blocks.
    pub fn event<E: Event>(&self, body: E::Body) {
        self.event_keeping::<E>(body, None);
    }

    /// Sends an `output` event: what the debuggee has printed, or what the user is to know. A line ends with `\n`.
    ///
    /// ```
    /// # use dapple_dap::Server;
    /// use dapple_dap::types::*;
    ///
    /// # let server = Server::<()>::builder()
    /// .on::<ConfigurationDoneRequest>(|_, _, context| {
    ///     context.outbox().output(OutputEventCategory::Stdout, "hello\n");
    ///     Ok(Empty)
    /// })
    /// # .build();
    /// # let (client, session) = dapple_dap::testing::TestClient::of(&server, ());
    /// # client.initialize();
    /// # client.ok::<ConfigurationDoneRequest>(ConfigurationDoneArguments::new());
    /// # client.assert_output("stdout", "hello\n");
    /// # client.disconnect();
    /// # session.join().unwrap();
    /// ```
    pub fn output(&self, category: OutputEventCategory, text: impl Into<String>) {
        self.event::<OutputEvent>(OutputEventBody::new(text).with_category(category));
    }

    /// Sends a `stopped` event: a thread has stopped, and with it all others. For more, such as a text or the breakpoints' ids, send a
    /// [`StoppedEvent`](crate::types::StoppedEvent).
    pub fn stopped(&self, reason: StoppedEventReason, thread: i64) {
        let stopped = StoppedEventBody::new(reason).with_thread_id(thread);
        self.event::<StoppedEvent>(stopped.with_all_threads_stopped(true));
    }

    /// Sends `exited` and `terminated`: the debuggee has ended with this exit code, and there is nothing more to debug.
    pub fn ended(&self, exit_code: i64) {
        self.event::<ExitedEvent>(ExitedEventBody::new(exit_code));
        self.event::<TerminatedEvent>(TerminatedEventBody::new());
    }

    /// As [`event`](Self::event). `kept` is dropped when the event no longer waits to be sent, so that the caller can count the output that
    /// waits.
    pub fn event_keeping<E: Event>(&self, body: E::Body, kept: Option<Box<dyn Any + Send>>) {
        let name = E::EVENT;
        let body = match message::encode(&body) {
            Ok(body) => body,
            Err(error) => {
                return tracing::error!(event = name, %error, "an event cannot be written as JSON");
            }
        };
        let mut state = self.shared.lock();
        if state.disconnected {
            return;
        }
        if is_progress(name) && state.lifecycle.is_open() {
            // Progress is about the request that is being handled, and of no use after the request's response.
            self.send_event(&mut state, name, body, kept);
            return;
        }
        let event = Held::Event { name, body, kept };
        if let Some(request) = self.before
            && name != OutputEvent::EVENT
            && state.lifecycle.is_waiting(Side::Client, request)
        {
            state.held_for.entry(request).or_default().push(event);
            return;
        }
        state.held.push_back(event);
        self.send_held(state);
    }

    /// As [`request`](Self::request), but waits for the answer no longer than `timeout`, counted from now. When the time is over,
    /// `answer` is called with [`RequestError::Timeout`], on a thread of its own.
    ///
    /// A user may take minutes to answer a client's dialog, so be generous.
    pub fn request_within<R: Request>(
        &self,
        timeout: Duration,
        arguments: R::Arguments,
        answer: impl FnOnce(Result<R::Response, RequestError>) + Send + 'static,
    ) {
        // The response or the timer takes `answer`, whichever is first. The response drops `answered`, which ends the timer's thread.
        let answer = Arc::new(Mutex::new(Some(answer)));
        let (answered, over) = crossbeam_channel::bounded::<std::convert::Infallible>(0);
        let late = answer.clone();
        let timer = std::thread::Builder::new()
            .name("dap-timeout".to_owned())
            .spawn(move || {
                if over.recv_timeout(timeout) == Err(RecvTimeoutError::Timeout)
                    && let Some(answer) = take(&late)
                {
                    answer(Err(RequestError::Timeout {
                        command: R::COMMAND,
                        after: timeout,
                    }));
                }
            });
        if let Err(error) = timer {
            tracing::error!(%error, "cannot start the thread that waits for a timeout; there is none");
        }
        self.request::<R>(arguments, move |outcome| {
            if let Some(answer) = take(&answer) {
                answer(outcome);
            }
            drop(answered);
        });
    }

    /// Sends a reverse request. It leaves at the time at which an [`event`](Self::event) would leave. `answer` is called with the outcome:
    /// when the client answers, on the thread that handles the session's messages; if the request cannot be sent, as soon as that is known.
    /// `answer` must not wait for another answer. A client may never answer; see [`request_within`](Self::request_within).
    pub fn request<R: Request>(
        &self,
        arguments: R::Arguments,
        answer: impl FnOnce(Result<R::Response, RequestError>) + Send + 'static,
    ) {
        let arguments = match message::encode(&arguments) {
            Ok(arguments) => arguments,
            Err(error) => return answer(Err(RequestError::NotJson(error.to_string()))),
        };
        let answer: Answer = Box::new(move |outcome| {
            answer(outcome.and_then(|body| Ok(message::decode_or_default::<R::Response>(body)?)));
        });
        let mut state = self.shared.lock();
        if state.disconnected {
            drop(state);
            return answer(Err(RequestError::Disconnected));
        }
        if let (Some(client), Some(flag)) = (&state.client, R::CAPABILITY)
            && !client.supports(flag)
        {
            drop(state);
            return answer(Err(RequestError::NotSupported {
                command: R::COMMAND,
            }));
        }
        state.held.push_back(Held::Request {
            command: R::COMMAND,
            arguments,
            answer,
        });
        self.send_held(state);
    }

    /// The arguments of the client's `initialize`; `None` before it.
    pub fn client(&self) -> Option<Arc<InitializeRequestArguments>> {
        self.shared.lock().client.clone()
    }

    /// From now on, if the client does not read, leaves out waiting output, oldest first, until about 256 KiB are left, and tells the
    /// client how many lines were left out. For a client that has asked to end the session.
    pub fn shed_output(&self) {
        self.shared.writer.shed_output();
    }

    /// True once `disconnect` was answered. If the client went away without sending it, the session handles a `disconnect` in its place.
    pub fn is_over(&self) -> bool {
        self.shared.lock().over
    }

    /// Sends the held messages that may be sent now.
    fn send_held(&self, mut state: MutexGuard<'_, State>) {
        let mut refused = Vec::new();
        while !state.handling && state.lifecycle.is_open() {
            let Some(held) = state.held.pop_front() else {
                break;
            };
            let sent = match held {
                Held::Event { name, body, kept } => {
                    self.send_event(&mut state, name, body, kept);
                    Ok(())
                }
                Held::Request {
                    command,
                    arguments,
                    answer,
                } => self.send_request(&mut state, command, arguments, answer),
            };
            refused.extend(sent.err());
        }
        drop(state);
        for (answer, error) in refused {
            answer(Err(error));
        }
    }

    fn send_event(&self, state: &mut State, name: &'static str, body: Option<Raw>, kept: Kept) {
        if name == TerminatedEvent::EVENT {
            self.end_progress(state);
        }
        let facts = Facts::Event {
            event: name,
            body: body.as_ref().map(Raw::as_raw_value),
        };
        let keeps_conventions = self.shared.keeps_conventions;
        let permits =
            |broken: &Violation| broken.severity() == Severity::Advice && !keeps_conventions;
        match state.lifecycle.send(Side::Adapter, facts, permits) {
            Ok(None) => {}
            Ok(Some(advice)) => tracing::debug!(%advice, "an event is not what clients rely on"),
            // Not a mistake: work may go on after `terminated` has ended its progress, and not every client wants every event.
            Err(
                violation @ (Violation::NoSuchProgress { .. } | Violation::NotAdvertised { .. }),
            ) => return tracing::debug!(%violation, "an event was not sent"),
            Err(violation) if violation.severity() == Severity::Advice => {
                return tracing::debug!(%violation, "an event was not sent");
            }
            Err(violation) => return tracing::warn!(%violation, "an event was not sent"),
        }
        let message = Outgoing::event(name, body);
        let writer = &self.shared.writer;
        match follows_output(name) {
            true => writer.send_output(message, kept).ok(),
            false => writer.send(&message).map(drop).ok(),
        };
    }

    /// Ends each open progress before `terminated` is sent, since no `progressEnd` may follow that.
    fn end_progress(&self, state: &mut State) {
        let open: Vec<_> = state
            .lifecycle
            .open_progress()
            .map(|id| format!(r#"{{"progressId":{id}}}"#))
            .collect();
        for body in open {
            self.send_event(
                state,
                ProgressEndEvent::EVENT,
                Raw::from_text(body).ok(),
                None,
            );
        }
    }

    fn send_request(
        &self,
        state: &mut State,
        command: &'static str,
        arguments: Option<Raw>,
        answer: Answer,
    ) -> Result<(), (Answer, RequestError)> {
        let facts = Facts::Request {
            seq: 0,
            command,
            arguments: None,
        };
        match state.lifecycle.check(Side::Adapter, facts) {
            Err(violation)
                if self.shared.keeps_conventions || violation.severity() == Severity::Violation =>
            {
                return Err((answer, violation.into()));
            }
            _ => {}
        }
        let request = Outgoing::request(command, arguments);
        let mut answer = Some(answer);
        let sent = self.shared.writer.send_with(&request, |seq| {
            state.lifecycle.note_request(Side::Adapter, seq, command);
            state
                .asked
                .extend(answer.take().map(|answer| (seq, answer)));
        });
        match (sent, answer) {
            (Err(_), Some(answer)) => Err((answer, RequestError::Disconnected)),
            _ => Ok(()),
        }
    }

    /// Notes a message of the client. Returns the rule that the message breaks.
    pub(super) fn received(&self, envelope: &Envelope<'_>) -> Option<Violation> {
        let mut state = self.shared.lock();
        if let Err(violation) = state.lifecycle.sequence(Side::Client, envelope.seq) {
            tracing::warn!(%violation, "the client's messages are not numbered in order");
        }
        state.lifecycle.observe(Side::Client, Facts::of(envelope))
    }

    /// Notes a request that broke a rule and will be answered with an error.
    pub(super) fn note_request(&self, seq: i64, command: &str) {
        self.shared
            .lock()
            .lifecycle
            .note_request(Side::Client, seq, command);
    }

    /// Passes the client's response to a reverse request to the closure that waits for it. Ignores the response if none does.
    pub(super) fn answered(
        &self,
        request_seq: i64,
        outcome: Result<Option<&RawValue>, RequestError>,
    ) {
        let answer = self.shared.lock().asked.remove(&request_seq);
        if let Some(answer) = answer {
            answer(outcome);
        }
    }

    /// The tokens of requests and progress under way.
    pub(super) fn cancellations(&self) -> &Cancellations {
        &self.shared.cancellations
    }

    pub(super) fn set_client(&self, client: Arc<InitializeRequestArguments>) {
        self.shared.lock().client = Some(client);
    }

    /// Holds events and requests until [`end_handling`](Self::end_handling); responses are not held. Returns the request's token.
    pub(super) fn begin_handling(&self, request: i64) -> CancelToken {
        self.shared.lock().handling = true;
        self.shared.cancellations.begin(request)
    }

    pub(super) fn end_handling(&self) {
        let mut state = self.shared.lock();
        state.handling = false;
        self.send_held(state);
    }

    /// The failure as adjusted to this client. Call it without the lock, since it calls a function of the adapter's.
    fn adjusted(&self, failure: Failure) -> Failure {
        match (&self.shared.failures_for, self.client()) {
            (Some(adjust), Some(client)) => adjust(&client, failure),
            _ => failure,
        }
    }

    /// Sends the response to a request. A second response to the same request is not sent but logged.
    pub(super) fn respond(
        &self,
        request_seq: i64,
        command: &str,
        result: Result<Option<Raw>, Failure>,
    ) {
        let result = result.map_err(|failure| self.adjusted(failure));
        let cancels = self.shared.on_end.get().is_some() && command == DisconnectRequest::COMMAND;
        let cancelled = cancels.then(|| self.adjusted(Failure::cancelled()));
        let mut state = self.shared.lock();
        let mut after = Vec::new();
        if let Some(cancelled) = cancelled
            && state.ends_by(request_seq, command)
        {
            state.ended = true;
            for (seq, command) in state.unanswered() {
                if seq != request_seq {
                    let result = Err(cancelled.clone());
                    let events = state.held_for.remove(&seq);
                    after.extend(self.send_response(&mut state, seq, &command, result));
                    // Nothing may follow the response to `disconnect`.
                    for event in events.into_iter().flatten() {
                        if let Held::Event { name, body, kept } = event {
                            self.send_event(&mut state, name, body, kept);
                        }
                    }
                }
            }
        }
        after.extend(self.send_response(&mut state, request_seq, command, result));
        let is_over = state.over;
        self.send_held(state);
        for closure in after {
            closure();
        }
        if let Some(on_end) = self.shared.on_end.get()
            && is_over
        {
            on_end();
        }
    }

    /// Sends a response as [`respond`](Self::respond) does, but for what follows it. Returns the closures to call then.
    fn send_response(
        &self,
        state: &mut State,
        request_seq: i64,
        command: &str,
        result: Result<Option<Raw>, Failure>,
    ) -> Vec<AfterResponse> {
        let body = result.as_ref().ok().and_then(Option::as_ref);
        let facts = Facts::Response {
            request_seq,
            command,
            success: result.is_ok(),
            body: body.map(Raw::as_raw_value),
        };
        if let Err(violation) = state.lifecycle.send(Side::Adapter, facts, |_| false) {
            if state.ended {
                tracing::debug!(%violation, "a response came after the session had ended");
            } else {
                tracing::error!(%violation, "a response was not sent");
            }
            return Vec::new();
        }
        tracing::debug!(success = result.is_ok(), "answered");
        state.over |= state.is_end(request_seq, command);
        let response = failure::response(request_seq, command.to_owned(), result);
        // Clients read no output after the response to `disconnect`, so that response is queued behind all output.
        let sent = match state.over {
            _ if request_seq == NOT_FROM_CLIENT => Ok(()),
            true => self.shared.writer.send_output(response, None),
            false => self.shared.writer.send(&response).map(drop),
        };
        sent.ok();
        self.shared.cancellations.end(request_seq);
        let events = state.held_for.remove(&request_seq);
        state.held.extend(events.into_iter().flatten());
        state.after.remove(&request_seq).unwrap_or_default()
    }

    /// Calls closures after the response to a request; now, if the response was sent already.
    pub(super) fn after_response(&self, request_seq: i64, closures: Vec<AfterResponse>) {
        if closures.is_empty() {
            return;
        }
        let mut state = self.shared.lock();
        if state.lifecycle.is_waiting(Side::Client, request_seq) {
            state.after.entry(request_seq).or_default().extend(closures);
            return;
        }
        drop(state);
        for closure in closures {
            closure();
        }
    }

    /// Ends the session: answers the requests that are still without a response with an error. Reverse requests fail, and what was not sent
    /// is discarded: the closures that wait for answers may keep this outbox.
    pub(super) fn end(&self) {
        let unanswered = {
            let mut state = self.shared.lock();
            state.ended = true;
            state.unanswered()
        };
        for (seq, command) in unanswered {
            let sentence = format!("the session ended before `{command}` was answered");
            self.respond(seq, &command, Err(Failure::new(sentence)));
        }
        self.client_disconnected();
    }

    /// Notes that the client is gone, or that the session has ended: reverse requests fail, and held events are discarded.
    pub(super) fn client_disconnected(&self) {
        let mut state = self.shared.lock();
        state.disconnected = true;
        let mut answers: Vec<_> = std::mem::take(&mut state.asked).into_values().collect();
        answers.extend(
            std::mem::take(&mut state.held)
                .into_iter()
                .filter_map(|held| match held {
                    Held::Request { answer, .. } => Some(answer),
                    Held::Event { .. } => None,
                }),
        );
        state.held_for.clear();
        drop(state);
        for answer in answers {
            answer(Err(RequestError::Disconnected));
        }
    }
}

impl State {
    /// Whether the response to this request ends the session. A `disconnect` before `initialize` was refused and does not.
    fn is_end(&self, request_seq: i64, command: &str) -> bool {
        command == DisconnectRequest::COMMAND
            && (self.lifecycle.is_open() || request_seq == NOT_FROM_CLIENT)
    }

    /// Whether the session goes on and the response to this request, which has none yet, ends it.
    fn ends_by(&self, request_seq: i64, command: &str) -> bool {
        !self.over
            && self.is_end(request_seq, command)
            && self.lifecycle.is_waiting(Side::Client, request_seq)
    }

    /// The client's requests without a response: their numbers and commands.
    fn unanswered(&self) -> Vec<(i64, String)> {
        let unanswered = self.lifecycle.unanswered(Side::Client);
        unanswered
            .map(|(seq, command)| (seq, command.to_owned()))
            .collect()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes the value from a cell that two threads may take from. The second thread gets `None`.
fn take<T>(cell: &Mutex<Option<T>>) -> Option<T> {
    cell.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Whether an event is output, or says that no more output follows.
fn follows_output(event: &str) -> bool {
    [
        OutputEvent::EVENT,
        ExitedEvent::EVENT,
        TerminatedEvent::EVENT,
    ]
    .contains(&event)
}

fn is_progress(event: &str) -> bool {
    [
        ProgressStartEvent::EVENT,
        ProgressUpdateEvent::EVENT,
        ProgressEndEvent::EVENT,
    ]
    .contains(&event)
}
