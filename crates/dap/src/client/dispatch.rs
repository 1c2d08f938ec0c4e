//! Dispatches incoming messages to the threads that wait for them.

use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, select};

use super::core::{self, Action, Core, NoEvent, Reply, ReverseRequest};
use super::repairs::Received;
use super::run_in_terminal::Programs;
use super::{ClientError, EventMessage, MessageRepair};
use crate::failure::Failure;
use crate::lifecycle::Violation;
use crate::message::{self, Raw, Request};
use crate::transport::{Incoming, Outgoing, SendError, Writer};
use crate::types::Capabilities;

type Answer = dyn Fn(Option<&Raw>, &Received) -> Result<Option<Raw>, Failure> + Send + Sync;

#[derive(Clone)]
struct ReverseHandler {
    answer: Arc<Answer>,
    runs: Runs,
}

/// On which thread a handler of a reverse request runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Runs {
    /// The thread that handles the incoming messages.
    Here,
    /// One of its own, for each request.
    Elsewhere,
}

/// A request that was sent.
pub(super) struct Sent {
    pub(super) seq: i64,
    pub(super) reply: Receiver<Reply>,
    pub(super) failed: Arc<AtomicBool>,
}

/// The state that the client's threads share.
///
/// Lock order: the writer's lock before the state's, never the other way round. A thread that sends may have to wait until the adapter
/// reads. The adapter may read only after its own messages are received, and that takes the state's lock.
pub(super) struct Shared {
    state: Mutex<State>,
    /// Signalled when a response or an event was received, and when the adapter is gone.
    news: Condvar,
    writer: Writer,
    programs: Arc<Programs>,
}

struct State {
    core: Core<Sender<Reply>, ReverseHandler>,
    subscribers: Vec<Sender<EventMessage>>,
}

/// Starts the thread that handles the incoming messages. The thread ends with the connection, or when the sender of `stop` is dropped.
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
                    Ok(Incoming::Message(message)) => thread_shared.receive(message),
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
        Self {
            state: Mutex::new(State {
                core: Core::new(),
                subscribers: Vec::new(),
            }),
            news: Condvar::new(),
            writer,
            programs: Programs::new(),
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
        let (sender, reply) = crossbeam_channel::bounded(1);
        let arguments = self.lock().core.completed(command, arguments);
        let request = Outgoing::request(command, arguments.clone());
        let arguments = arguments.as_ref().map(Raw::as_raw_value);
        let mut failed = Arc::default();
        let seq = self.writer.send_if(&request, |seq| {
            failed = self.lock().core.send(seq, command, arguments, sender)?;
            Ok::<_, ClientError>(())
        })?;
        Ok(Sent { seq, reply, failed })
    }

    pub(super) fn subscribe(&self) -> Receiver<EventMessage> {
        let (sender, receiver) = crossbeam_channel::unbounded();
        let mut state = self.lock();
        if !state.core.is_closed() {
            state.subscribers.push(sender);
        }
        receiver
    }

    /// Waits for the first event for which `pick` returns a value, and takes it. Fails at the time `until`, once the adapter is gone, or
    /// once `cause` is set: the request that was to cause the event has failed.
    pub(super) fn take_event<T>(
        &self,
        until: Instant,
        cause: Option<&AtomicBool>,
        mut pick: impl FnMut(&EventMessage) -> Option<T>,
    ) -> Result<T, NoEvent> {
        let mut state = self.lock();
        let mut looked_at = 0;
        loop {
            if let Some(picked) = state.core.take_event(&mut looked_at, cause, &mut pick)? {
                return Ok(picked);
            }
            let left = until.saturating_duration_since(Instant::now());
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
        self.lock().core.events()
    }

    pub(super) fn capabilities(&self) -> Capabilities {
        self.lock().core.capabilities()
    }

    pub(super) fn violations(&self) -> Vec<Violation> {
        self.lock().core.violations()
    }

    pub(super) fn repairs(&self) -> Vec<MessageRepair> {
        self.lock().core.repairs()
    }

    pub(super) fn send_unadvertised(&self) {
        self.lock().core.send_unadvertised();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().core.is_closed()
    }

    pub(super) fn wait_closed(&self, until: Instant) -> bool {
        let mut state = self.lock();
        while !state.core.is_closed() {
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
        runs: Runs,
        handler: impl Fn(R::Arguments) -> Result<R::Response, Failure> + Send + Sync + 'static,
    ) {
        let answer = Arc::new(move |arguments: Option<&Raw>, received: &Received| {
            let arguments = core::arguments_of::<R>(arguments, received)?;
            Ok(message::encode(&handler(arguments)?)?)
        });
        self.lock().core.on::<R>(ReverseHandler { answer, runs });
    }

    pub(super) fn announce(&self, capability: &'static str) {
        self.lock().core.announce(capability);
    }

    pub(super) fn pages_variables(&self) -> bool {
        self.lock().core.pages_variables()
    }

    /// The programs that were started for the adapter.
    pub(super) fn programs(&self) -> &Arc<Programs> {
        &self.programs
    }

    fn receive(self: &Arc<Self>, message: crate::transport::Message) {
        let mut state = self.lock();
        match state.core.receive(message) {
            Action::None => {}
            Action::Response(waiting, reply) => {
                drop(state);
                waiting.send(reply).ok();
                self.news.notify_all();
            }
            Action::Event(event) => {
                state
                    .subscribers
                    .retain(|subscriber| subscriber.send(event.clone()).is_ok());
                drop(state);
                self.news.notify_all();
            }
            Action::Request(request) => {
                drop(state);
                match &request.handler {
                    Some(handler) if handler.runs == Runs::Elsewhere => {
                        self.answer_elsewhere(request)
                    }
                    _ => self.answer(request),
                }
            }
        }
    }

    fn answer_elsewhere(self: &Arc<Self>, request: ReverseRequest<ReverseHandler>) {
        let (seq, command) = (request.seq, request.command.clone());
        let shared = self.clone();
        let thread = thread::Builder::new().name("dap-handler".to_owned());
        if let Err(error) = thread.spawn(move || shared.answer(request)) {
            self.respond(seq, command, Err(error.into()));
        }
    }

    fn answer(&self, request: ReverseRequest<ReverseHandler>) {
        let ReverseRequest { seq, command, .. } = request;
        let result = match request.handler {
            // A handler that panics must not end the client's thread. The request is answered with an error instead.
            Some(handler) => {
                let answer = || (handler.answer)(request.arguments.as_ref(), &request.received);
                catch_unwind(AssertUnwindSafe(answer)).unwrap_or_else(|_| {
                    Err(Failure::new(format!("the handler of `{command}` panicked")))
                })
            }
            None => Err(Failure::unknown_command(&command)),
        };
        self.respond(seq, command, result);
    }

    fn respond(&self, seq: i64, command: String, result: Result<Option<Raw>, Failure>) {
        let response = self.lock().core.respond(seq, command, result);
        if let Some(response) = response {
            self.writer.send(&response).ok();
        }
    }

    /// Notes that the adapter is gone, and wakes all waiting threads.
    fn close(&self) {
        let mut state = self.lock();
        let handlers = state.core.close();
        state.subscribers.clear();
        drop(state);
        self.news.notify_all();
        drop(handlers);
    }
}

impl From<SendError> for ClientError {
    fn from(_: SendError) -> Self {
        Self::Disconnected
    }
}
