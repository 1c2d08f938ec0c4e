//! What comes in, brought to whoever waits for it.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, select};
use serde_json::value::RawValue;

use super::{ClientError, EventMessage, RequestFailure};
use crate::envelope::{Envelope, Kind};
use crate::lifecycle::{Facts, Lifecycle, Side, Violation};
use crate::message::{self, Event, Raw, Request};
use crate::server::{Failure, failure_text};
use crate::transport::{Incoming, Message, Outgoing, Writer};
use crate::types::{Capabilities, CapabilitiesEvent, ErrorResponse, InitializeRequest};

/// A response, for the thread that waits for it.
pub(super) struct Reply(Message);

impl Reply {
    pub(super) fn decode<R: Request>(&self) -> Result<R::Response, ClientError> {
        let Ok(Envelope {
            kind:
                Kind::Response {
                    success,
                    message,
                    body,
                    ..
                },
            ..
        }) = self.0.envelope()
        else {
            return Err(ClientError::Disconnected);
        };
        if success {
            return message::decode_or_default::<R::Response>(body).map_err(|error| {
                ClientError::BadResponse {
                    command: R::COMMAND,
                    error,
                }
            });
        }
        let error = body.and_then(|body| message::decode::<ErrorResponse>(body).ok());
        Err(Box::new(RequestFailure {
            command: R::COMMAND,
            sentence: failure_text(message.as_deref(), body),
            message: message.map(Cow::into_owned),
            error: error.and_then(|body| body.error),
        })
        .into())
    }
}

type ReverseHandler = Arc<dyn Fn(Option<&RawValue>) -> Result<Option<Raw>, Failure> + Send + Sync>;

/// A thread that waits for a response, or will.
struct Waiting {
    reply: Sender<Reply>,
    /// Set before the reply is sent, if that is an error.
    failed: Arc<AtomicBool>,
}

/// A request that was sent.
pub(super) struct Sent {
    pub(super) seq: i64,
    pub(super) reply: Receiver<Reply>,
    pub(super) failed: Arc<AtomicBool>,
}

/// Why no event was taken.
pub(super) enum NoEvent {
    /// The adapter is gone.
    Gone,
    /// The time is over.
    Timeout,
    /// Whatever was to cause it failed.
    Failed,
}

/// What the client's threads share.
pub(super) struct Shared {
    state: Mutex<State>,
    /// Signalled when an event came or the adapter is gone.
    news: Condvar,
    writer: Writer,
}

struct State {
    lifecycle: Lifecycle,
    waiting: HashMap<i64, Waiting>,
    subscribers: Vec<Sender<EventMessage>>,
    /// Events that nobody waited for yet.
    events: VecDeque<(u64, EventMessage)>,
    /// How many events came.
    events_seen: u64,
    handlers: HashMap<&'static str, ReverseHandler>,
    capabilities: Capabilities,
    violations: Vec<Violation>,
    closed: bool,
}

/// How many events are kept for `wait_for`; older ones are dropped.
const EVENTS_LIMIT: usize = 16_384;

const VIOLATIONS_LIMIT: usize = 1000;

/// Starts the thread that takes what comes in. It ends with the connection, or when the other end of `stop` is dropped.
pub(super) fn start(shared: Arc<Shared>, incoming: Receiver<Incoming>, stop: Receiver<Infallible>) {
    let thread_shared = shared.clone();
    let spawned = thread::Builder::new()
        .name("dap-client".to_owned())
        .spawn(move || {
            loop {
                let next = select! {
                    recv(incoming) -> next => next,
                    recv(stop) -> _ => break,
                };
                match next {
                    Ok(Incoming::Message(message)) => thread_shared.message(message),
                    Ok(Incoming::Malformed(error)) => {
                        tracing::warn!(%error, "bad input from the adapter")
                    }
                    Ok(Incoming::Closed(reason)) => {
                        tracing::debug!(%reason, "the adapter is gone");
                        break;
                    }
                    Err(_) => break,
                }
            }
            thread_shared.close();
        });
    if let Err(error) = spawned {
        tracing::error!(%error, "cannot start the client's thread");
        shared.close();
    }
}

impl Shared {
    pub(super) fn new(writer: Writer) -> Self {
        let state = State {
            lifecycle: Lifecycle::new(),
            waiting: HashMap::new(),
            subscribers: Vec::new(),
            events: VecDeque::new(),
            events_seen: 0,
            handlers: HashMap::new(),
            capabilities: Capabilities::new(),
            violations: Vec::new(),
            closed: false,
        };
        Self {
            state: Mutex::new(state),
            news: Condvar::new(),
            writer,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn send(
        &self,
        command: &'static str,
        arguments: Option<Raw>,
    ) -> Result<Sent, ClientError> {
        let mut state = self.lock();
        if state.closed {
            return Err(ClientError::Disconnected);
        }
        let resumes = Facts::resumes(command, arguments.as_ref().map(Raw::as_raw_value));
        state.lifecycle.check(
            Side::Client,
            Facts::Request {
                seq: 0,
                command,
                resumes,
            },
        )?;
        let (sender, reply) = crossbeam_channel::bounded(1);
        let request = Outgoing::Request {
            command: Cow::Borrowed(command),
            arguments,
        };
        let failed = Arc::new(AtomicBool::new(false));
        let mut noted = Ok(());
        let seq = self
            .writer
            .send_with(&request, |seq| {
                noted = state.lifecycle.message(
                    Side::Client,
                    Facts::Request {
                        seq,
                        command,
                        resumes,
                    },
                );
                state.waiting.insert(
                    seq,
                    Waiting {
                        reply: sender,
                        failed: failed.clone(),
                    },
                );
            })
            .map_err(|_| ClientError::Disconnected)?;
        noted?;
        Ok(Sent { seq, reply, failed })
    }

    pub(super) fn subscribe(&self) -> Receiver<EventMessage> {
        let (sender, receiver) = crossbeam_channel::unbounded();
        let mut state = self.lock();
        if !state.closed {
            state.subscribers.push(sender);
        }
        receiver
    }

    /// Takes the first event for which `pick` gives something. Gives up early once `failed` is set.
    pub(super) fn take_event<T>(
        &self,
        until: Instant,
        failed: Option<&AtomicBool>,
        mut pick: impl FnMut(&EventMessage) -> Option<T>,
    ) -> Result<T, NoEvent> {
        let mut state = self.lock();
        let mut looked_at = 0;
        loop {
            let picked = state
                .events
                .iter()
                .enumerate()
                .find_map(|(index, (number, event))| {
                    if *number < looked_at {
                        None
                    } else {
                        Some((index, pick(event)?))
                    }
                });
            if let Some((index, picked)) = picked {
                state.events.remove(index);
                return Ok(picked);
            }
            looked_at = state.events_seen;
            let left = until.saturating_duration_since(Instant::now());
            if failed.is_some_and(|failed| failed.load(Ordering::Acquire)) {
                return Err(NoEvent::Failed);
            }
            if state.closed {
                return Err(NoEvent::Gone);
            }
            if left.is_zero() {
                return Err(NoEvent::Timeout);
            }
            (state, _) = self
                .news
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(super) fn events(&self) -> Vec<EventMessage> {
        self.lock()
            .events
            .iter()
            .map(|(_, event)| event.clone())
            .collect()
    }

    pub(super) fn capabilities(&self) -> Capabilities {
        self.lock().capabilities.clone()
    }

    pub(super) fn violations(&self) -> Vec<Violation> {
        self.lock().violations.clone()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    pub(super) fn wait_closed(&self, until: Instant) -> bool {
        let mut state = self.lock();
        while !state.closed {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            (state, _) = self
                .news
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner);
        }
        true
    }

    pub(super) fn on<R: Request>(
        &self,
        handler: impl Fn(R::Arguments) -> Result<R::Response, Failure> + Send + Sync + 'static,
    ) {
        let handler: ReverseHandler = Arc::new(move |arguments| {
            let arguments =
                message::decode_or_default::<R::Arguments>(arguments).map_err(|error| {
                    Failure::new(format!("bad arguments for `{}`: {error}", R::COMMAND))
                })?;
            Ok(message::encode(&handler(arguments)?)?)
        });
        self.lock().handlers.insert(R::COMMAND, handler);
    }

    fn message(&self, message: Message) {
        let envelope = match message.envelope() {
            Ok(envelope) => envelope,
            Err(error) => {
                tracing::warn!(%error, "bad input from the adapter");
                return;
            }
        };
        let mut state = self.lock();
        let noted = state.lifecycle.message(Side::Adapter, Facts::of(&envelope));
        let numbered = state.lifecycle.sequence(Side::Adapter, envelope.seq);
        let allowed = noted.is_ok();
        for violation in [numbered.err(), noted.err()].into_iter().flatten() {
            tracing::debug!(%violation, "the adapter breaks a rule");
            if state.violations.len() < VIOLATIONS_LIMIT {
                state.violations.push(violation);
            }
        }
        match envelope.kind {
            Kind::Response {
                request_seq,
                success,
                command,
                body,
                ..
            } => {
                if success && command == InitializeRequest::COMMAND {
                    state.merge_capabilities(message::decode_or_default(body));
                }
                if let Some(waiting) = state.waiting.remove(&request_seq) {
                    drop(state);
                    // Until somebody waits for it, it must not count as read ahead.
                    if !success {
                        waiting.failed.store(true, Ordering::Release);
                    }
                    waiting
                        .reply
                        .send(Reply(Message::new(message.into_text())))
                        .ok();
                    self.news.notify_all();
                }
            }
            Kind::Event { event, body } => {
                if event == CapabilitiesEvent::EVENT {
                    let body =
                        message::decode_or_default::<<CapabilitiesEvent as Event>::Body>(body);
                    state.merge_capabilities(body.map(|body| body.capabilities));
                }
                state.event(EventMessage {
                    event: event.into_owned(),
                    body: body.map(Raw::from),
                });
                drop(state);
                self.news.notify_all();
            }
            Kind::Request { command, arguments } => {
                let handler = state.handlers.get(&*command).cloned();
                if !allowed {
                    // It is to be answered all the same.
                    state
                        .lifecycle
                        .note_request(Side::Adapter, envelope.seq, &command);
                }
                drop(state);
                let result = match handler {
                    Some(handler) => handler(arguments),
                    None => Err(Failure::unknown_command(&command)),
                };
                self.respond(envelope.seq, &command, result);
            }
        }
    }

    fn respond(&self, request_seq: i64, command: &str, result: Result<Option<Raw>, Failure>) {
        let facts = Facts::Response {
            request_seq,
            command,
            success: result.is_ok(),
        };
        if let Err(violation) = self.lock().lifecycle.message(Side::Client, facts) {
            tracing::error!(%violation, "a response was not sent");
            return;
        }
        let command = Cow::Owned(command.to_owned());
        let response = match result {
            Ok(body) => Outgoing::Success {
                request_seq,
                command,
                body,
            },
            Err(failure) => {
                let (message, body) = failure.into_parts();
                Outgoing::Failure {
                    request_seq,
                    command,
                    message,
                    body,
                }
            }
        };
        self.writer.send(&response).ok();
    }

    /// The adapter is gone: whoever waits gets to know.
    fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.waiting.clear();
        state.subscribers.clear();
        drop(state);
        self.news.notify_all();
    }
}

impl State {
    fn merge_capabilities(&mut self, newer: Result<Capabilities, message::DecodeError>) {
        match newer {
            Ok(newer) => self.capabilities.merge(newer),
            Err(error) => tracing::warn!(%error, "the adapter's capabilities have the wrong shape"),
        }
    }

    fn event(&mut self, event: EventMessage) {
        self.subscribers
            .retain(|subscriber| subscriber.send(event.clone()).is_ok());
        if self.events.len() >= EVENTS_LIMIT {
            self.events.pop_front();
        }
        self.events.push_back((self.events_seen, event));
        self.events_seen += 1;
    }
}
