//! A client's view of its session, without I/O and without blocking.
//!
//! A [`Core`] gets each sent and received message and returns what to do about it. [`Client`](super::Client), which waits on
//! threads, and the asynchronous client, which waits on tasks, share it. `S` is the sender of a response to the waiting thread or
//! task, `H` is the type of handlers.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::value::RawValue;

use super::repairs::{MessageRepair, Received, Repairs};
use super::run_in_terminal::with_cwd;
use super::{ClientError, EventMessage, RequestFailure};
use crate::envelope::{Envelope, Kind};
use crate::failure::{self, Failure, failure_text};
use crate::lifecycle::{Facts, Lifecycle, Severity, Side, Violation};
use crate::message::{self, DecodeError, Direction, Event, Raw, Request};
use crate::transport::{Message, Outgoing};
use crate::types::{
    Capabilities, CapabilitiesEvent, ErrorResponse, InitializeRequest, RunInTerminalRequest,
};

/// How many events are kept for `wait_for`, and how many bytes of their names and bodies; older ones are forgotten.
const EVENTS_LIMIT: usize = 16_384;
const EVENTS_BYTES: usize = 16 << 20;

const VIOLATIONS_LIMIT: usize = 1000;

/// A response, for the thread or task that waits for it.
pub(crate) struct Reply(Message, Received);

/// A response with a list, and the indices of the items that could not be read and are missing in it.
pub(crate) type ListAnswer<R> = Result<(<R as Request>::Response, Vec<usize>), ClientError>;

impl Reply {
    pub(crate) fn decode<R: Request>(&self) -> Result<R::Response, ClientError> {
        self.decode_list::<R>().map(|(response, _)| response)
    }

    pub(crate) fn decode_list<R: Request>(&self) -> ListAnswer<R> {
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
            return self
                .1
                .decode_all(R::COMMAND, body)
                .map_err(|error| ClientError::BadResponse {
                    command: R::COMMAND,
                    error,
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

/// Why no event was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoEvent {
    /// The adapter is gone.
    Disconnected,
    /// The time is over.
    Timeout,
    /// The request that was to cause the event has failed.
    Failed,
}

impl NoEvent {
    /// The error of a wait for `what`.
    pub(crate) fn error(
        self,
        what: impl Into<Cow<'static, str>>,
        after: std::time::Duration,
    ) -> ClientError {
        match self {
            Self::Disconnected => ClientError::Disconnected,
            Self::Timeout | Self::Failed => ClientError::Timeout {
                what: what.into(),
                after,
            },
        }
    }
}

/// What to do about a received message.
pub(crate) enum Action<S, H> {
    /// Nothing.
    None,
    /// Send the response to the waiting thread or task.
    Response(S, Reply),
    /// Give the event to the subscribers, and wake the threads or tasks that wait for one. For [`Core::take_event`], it is already stored.
    Event(EventMessage),
    /// Answer a reverse request.
    Request(ReverseRequest<H>),
}

/// A reverse request.
pub(crate) struct ReverseRequest<H> {
    pub(crate) seq: i64,
    pub(crate) command: String,
    pub(crate) arguments: Option<Raw>,
    /// `None` if no handler is registered for the command.
    pub(crate) handler: Option<H>,
    pub(crate) received: Received,
}

/// A request that waits for its response.
struct Waiting<S> {
    reply: S,
    /// Set if the adapter answers with an error, before the waiting thread or task gets the reply.
    failed: Arc<AtomicBool>,
}

/// The state of a session as a client sees it.
pub(crate) struct Core<S, H> {
    lifecycle: Lifecycle,
    waiting: HashMap<i64, Waiting<S>>,
    /// The events not taken yet, numbered in the order received.
    events: VecDeque<(u64, EventMessage)>,
    /// The bytes of these events.
    events_bytes: usize,
    /// How many events were received.
    events_seen: u64,
    handlers: HashMap<&'static str, H>,
    /// The fields that `initialize` sets for the handlers of reverse requests.
    announced: BTreeSet<&'static str>,
    /// The client has announced that it reads variables in pages.
    pages_variables: bool,
    capabilities: Capabilities,
    violations: Vec<Violation>,
    repairs: Repairs,
    /// How many messages were received.
    received: u64,
    /// Requests are sent although the adapter does not advertise the capability that they depend on.
    sends_unadvertised: bool,
    closed: bool,
}

impl<S, H: Clone> Core<S, H> {
    pub(crate) fn new() -> Self {
        Self {
            lifecycle: Lifecycle::new(),
            waiting: HashMap::new(),
            events: VecDeque::new(),
            events_bytes: 0,
            events_seen: 0,
            handlers: HashMap::new(),
            announced: BTreeSet::new(),
            pages_variables: false,
            capabilities: Capabilities::new(),
            violations: Vec::new(),
            repairs: Repairs::default(),
            received: 0,
            sends_unadvertised: false,
            closed: false,
        }
    }

    /// Notes a request with the number `seq`, which the caller then sends; after an error, nothing may be sent. Returns the flag that will
    /// be set if the adapter answers the request with an error.
    pub(crate) fn send(
        &mut self,
        seq: i64,
        command: &'static str,
        arguments: Option<&RawValue>,
        reply: S,
    ) -> Result<Arc<AtomicBool>, ClientError> {
        if self.closed {
            return Err(ClientError::Disconnected);
        }
        let facts = Facts::Request {
            seq,
            command,
            arguments,
        };
        let sends_unadvertised = self.sends_unadvertised;
        self.lifecycle
            .send(Side::Client, facts, |broken| match broken {
                Violation::NotAdvertised { .. } => sends_unadvertised,
                broken => broken.severity() == Severity::Advice,
            })?;
        let failed = Arc::new(AtomicBool::new(false));
        let waiting = Waiting {
            reply,
            failed: failed.clone(),
        };
        self.waiting.insert(seq, waiting);
        Ok(failed)
    }

    /// Handles a message from the adapter.
    pub(crate) fn receive(&mut self, message: Message) -> Action<S, H> {
        let envelope = match message.envelope() {
            Ok(envelope) => envelope,
            Err(error) => {
                tracing::warn!(%error, "bad input from the adapter");
                return Action::None;
            }
        };
        let numbered = self.lifecycle.sequence(Side::Adapter, envelope.seq);
        let broken = self.lifecycle.observe(Side::Adapter, Facts::of(&envelope));
        for violation in numbered.err().into_iter().chain(broken) {
            tracing::debug!(%violation, "the adapter breaks a rule");
            if self.violations.len() < VIOLATIONS_LIMIT {
                self.violations.push(violation);
            }
        }
        self.received += 1;
        let received = Received::new(envelope.seq, self.received, &self.repairs);
        match envelope.kind {
            Kind::Response {
                request_seq,
                success,
                command,
                body,
                ..
            } => {
                if success && command == InitializeRequest::COMMAND {
                    self.merge_capabilities(received.decode(&command, body));
                }
                let Some(waiting) = self.waiting.remove(&request_seq) else {
                    return Action::None;
                };
                if !success {
                    waiting.failed.store(true, Ordering::Release);
                }
                // A new message without a share of the read-ahead budget: a response that nobody waits for yet must not use the budget up.
                Action::Response(
                    waiting.reply,
                    Reply(Message::new(message.into_text()), received),
                )
            }
            Kind::Event { event, body } => {
                if event == CapabilitiesEvent::EVENT {
                    let body = received.decode::<<CapabilitiesEvent as Event>::Body>(&event, body);
                    self.merge_capabilities(body.map(|body| body.capabilities));
                }
                let event = EventMessage {
                    event: event.into_owned(),
                    body: body.map(Raw::from),
                    received,
                };
                self.keep_event(event.clone());
                Action::Event(event)
            }
            Kind::Request { command, arguments } => Action::Request(ReverseRequest {
                seq: envelope.seq,
                handler: self.handlers.get(&*command).cloned(),
                command: command.into_owned(),
                arguments: arguments.map(Raw::from),
                received,
            }),
        }
    }

    /// Keeps an event for `wait_for`, and forgets the oldest if there are too many. The newest is kept however long it is.
    fn keep_event(&mut self, event: EventMessage) {
        self.events_bytes += event.bytes();
        self.events.push_back((self.events_seen, event));
        self.events_seen += 1;
        while self.events.len() > EVENTS_LIMIT
            || (self.events_bytes > EVENTS_BYTES && self.events.len() > 1)
        {
            let Some((_, oldest)) = self.events.pop_front() else {
                break;
            };
            self.events_bytes -= oldest.bytes();
        }
    }

    /// Makes the response to a reverse request. `None` if a rule of the protocol forbids sending it.
    pub(crate) fn respond(
        &mut self,
        request_seq: i64,
        command: String,
        result: Result<Option<Raw>, Failure>,
    ) -> Option<Outgoing> {
        let body = result.as_ref().ok().and_then(Option::as_ref);
        let facts = Facts::Response {
            request_seq,
            command: &command,
            success: result.is_ok(),
            body: body.map(Raw::as_raw_value),
        };
        if let Err(violation) = self.lifecycle.send(Side::Client, facts, |_| false) {
            tracing::error!(%violation, "a response was not sent");
            return None;
        }
        Some(failure::response(request_seq, command, result))
    }

    /// Takes the first event from number `looked_at` on for which `pick` returns a value. `Ok(None)`: there is none yet, and `looked_at`
    /// becomes the number that the next received event will have. An error: none will follow, since the adapter is gone, or since the
    /// request that was to cause the event has failed (`cause` is set).
    pub(crate) fn take_event<T>(
        &mut self,
        looked_at: &mut u64,
        cause: Option<&AtomicBool>,
        mut pick: impl FnMut(&EventMessage) -> Option<T>,
    ) -> Result<Option<T>, NoEvent> {
        let picked = self
            .events
            .iter()
            .enumerate()
            .filter(|(_, (number, _))| *number >= *looked_at)
            .find_map(|(index, (_, event))| Some((index, pick(event)?)));
        if let Some((index, picked)) = picked {
            if let Some((_, event)) = self.events.remove(index) {
                self.events_bytes -= event.bytes();
            }
            return Ok(Some(picked));
        }
        *looked_at = self.events_seen;
        if cause.is_some_and(|failed| failed.load(Ordering::Acquire)) {
            Err(NoEvent::Failed)
        } else if self.closed {
            Err(NoEvent::Disconnected)
        } else {
            Ok(None)
        }
    }

    pub(crate) fn events(&self) -> Vec<EventMessage> {
        self.events.iter().map(|(_, event)| event.clone()).collect()
    }

    pub(crate) fn capabilities(&self) -> Capabilities {
        self.capabilities.clone()
    }

    pub(crate) fn violations(&self) -> Vec<Violation> {
        self.violations.clone()
    }

    pub(crate) fn repairs(&self) -> Vec<MessageRepair> {
        self.repairs.list()
    }

    /// Registers the handler of a reverse request, which `initialize` then announces.
    pub(crate) fn on<R: Request>(&mut self, handler: H) {
        self.handlers.insert(R::COMMAND, handler);
        if let (Direction::ToClient, Some(capability)) = (R::DIRECTION, R::CAPABILITY) {
            self.announce(capability);
        }
    }

    /// Has `initialize` set a field of its arguments, unless the caller sets it.
    pub(crate) fn announce(&mut self, capability: &'static str) {
        self.announced.insert(capability);
    }

    /// The arguments to send: for `initialize`, with what the handlers add to them.
    pub(crate) fn completed(&mut self, command: &str, arguments: Option<Raw>) -> Option<Raw> {
        if command != InitializeRequest::COMMAND {
            return arguments;
        }
        let Some(Ok(mut fields)) = arguments.as_ref().map(Raw::decode::<BTreeMap<String, Raw>>)
        else {
            return arguments;
        };
        let paging = fields.get("supportsVariablePaging");
        self.pages_variables = paging.is_some_and(|paging| paging.text() == "true");
        if self.announced.is_empty() {
            return arguments;
        }
        for &capability in &self.announced {
            if let (false, Ok(yes)) = (fields.contains_key(capability), Raw::new(&true)) {
                fields.insert(capability.to_owned(), yes);
            }
        }
        Raw::new(&fields).ok().or(arguments)
    }

    pub(crate) fn pages_variables(&self) -> bool {
        self.pages_variables
    }

    pub(crate) fn send_unadvertised(&mut self) {
        self.sends_unadvertised = true;
    }

    /// Notes that the adapter is gone. Drops the senders of all responses still awaited, which ends the waiting. Returns the handlers, which
    /// nothing calls any more: what they own may take time to drop.
    #[must_use = "to be dropped without a lock"]
    pub(crate) fn close(&mut self) -> HashMap<&'static str, H> {
        self.closed = true;
        self.waiting.clear();
        std::mem::take(&mut self.handlers)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    fn merge_capabilities(&mut self, newer: Result<Capabilities, DecodeError>) {
        match newer {
            Ok(newer) => self.capabilities.merge(newer),
            Err(error) => tracing::warn!(%error, "the adapter's capabilities have the wrong shape"),
        }
    }
}

/// Decodes the arguments of a reverse request leniently, and notes what was repaired.
pub(crate) fn arguments_of<R: Request>(
    raw: Option<&Raw>,
    received: &Received,
) -> Result<R::Arguments, Failure> {
    let is_program = R::COMMAND == RunInTerminalRequest::COMMAND;
    let completed = raw.filter(|_| is_program).and_then(with_cwd);
    let raw = completed.as_ref().or(raw);
    { received.decode(R::COMMAND, raw.map(Raw::as_raw_value)) }
        .map_err(|error| Failure::new(format!("bad arguments for `{}`: {error}", R::COMMAND)))
}

/// Encodes the arguments of a request.
pub(crate) fn encode<R: Request>(arguments: &R::Arguments) -> Result<Option<Raw>, ClientError> {
    message::encode(arguments).map_err(|error| ClientError::NotJson {
        command: R::COMMAND,
        reason: error.to_string(),
    })
}
