//! The client's tasks: one dispatches incoming messages to the tasks that wait for them, one writes queued messages in the order
//! of their numbers.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::client::core::{self, Action, Core, NoEvent, Reply, ReverseRequest};
use crate::client::repairs::Received;
use crate::client::run_in_terminal::Programs;
use crate::client::{ClientError, EventMessage, MessageRepair};
use crate::codec::{self, Decoder};
use crate::failure::Failure;
use crate::lifecycle::Violation;
use crate::message::{self, Raw, Request};
use crate::transport::{Direction, Message, Options, Outgoing, Tap};
use crate::types::Capabilities;

type Answer = Pin<Box<dyn Future<Output = Result<Option<Raw>, Failure>> + Send>>;
type ReverseHandler = Arc<dyn Fn(Option<Raw>, Received) -> Answer + Send + Sync>;

/// How many messages are queued for an adapter before senders wait.
const QUEUE: usize = 1024;

/// A request that was sent.
pub(super) struct Sent {
    pub(super) seq: i64,
    pub(super) reply: oneshot::Receiver<Reply>,
    pub(super) failed: Arc<AtomicBool>,
}

/// The state that the client's tasks share. The lock is never held across an `await`.
pub(super) struct Shared {
    state: Mutex<State>,
    /// Notified when a response or an event was received, and when the adapter is gone.
    news: Notify,
    tap: Option<Tap>,
    programs: Arc<Programs>,
}

struct State {
    core: Core<oneshot::Sender<Reply>, ReverseHandler>,
    subscribers: Vec<mpsc::UnboundedSender<EventMessage>>,
    /// `None` once nothing more is to be sent.
    queue: Option<mpsc::Sender<String>>,
    /// The number of the last message queued.
    seq: i64,
}

/// Starts the tasks that read and write.
pub(super) fn start(
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    options: Options,
) -> (Arc<Shared>, JoinHandle<()>, JoinHandle<()>) {
    let (tap, limit) = options.into_parts();
    let (queue, queued) = mpsc::channel(QUEUE);
    let shared = Arc::new(Shared {
        state: Mutex::new(State {
            core: Core::new(),
            subscribers: Vec::new(),
            queue: Some(queue),
            seq: 0,
        }),
        news: Notify::new(),
        tap,
        programs: Programs::new(),
    });
    let writer = tokio::spawn(write(output, queued));
    let reading = shared.clone();
    let reader = tokio::spawn(async move {
        reading.read(input, Decoder::with_limit(limit)).await;
        reading.close();
    });
    (shared, reader, writer)
}

/// Writes the queued messages until the queue is closed and empty, and then closes the output. One call writes all that are queued.
async fn write(mut output: impl AsyncWrite + Unpin, mut queued: mpsc::Receiver<String>) {
    let mut texts = Vec::new();
    let mut bytes = Vec::new();
    while queued.recv_many(&mut texts, QUEUE).await > 0 {
        bytes.clear();
        for text in texts.drain(..) {
            codec::write_header(&mut bytes, text.len());
            bytes.extend_from_slice(text.as_bytes());
        }
        let written = async {
            output.write_all(&bytes).await?;
            output.flush().await
        };
        if let Err(error) = written.await {
            tracing::debug!(%error, "the adapter takes no more messages");
            return;
        }
    }
    output.shutdown().await.ok();
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn read(self: &Arc<Self>, mut input: impl AsyncRead + Unpin, mut decoder: Decoder) {
        let mut piece = vec![0; 64 << 10];
        loop {
            match input.read(&mut piece).await {
                Ok(0) => return tracing::debug!("the adapter is gone"),
                Ok(length) => decoder.push(&piece[..length]),
                Err(error) => return tracing::warn!(%error, "the adapter is gone"),
            }
            loop {
                match decoder.next() {
                    Ok(None) => break,
                    Ok(Some(text)) => {
                        if let Some(tap) = &self.tap {
                            tap(Direction::Received, text.as_bytes());
                        }
                        self.receive(Message::new(text));
                    }
                    Err(error) => {
                        tracing::warn!(%error, "bad input from the adapter");
                        if error.is_fatal() {
                            return;
                        }
                    }
                }
            }
        }
    }

    fn receive(self: &Arc<Self>, message: Message) {
        let mut state = self.lock();
        match state.core.receive(message) {
            Action::None => {}
            Action::Response(waiting, reply) => {
                drop(state);
                waiting.send(reply).ok();
                self.news.notify_waiters();
            }
            Action::Event(event) => {
                state
                    .subscribers
                    .retain(|subscriber| subscriber.send(event.clone()).is_ok());
                drop(state);
                self.news.notify_waiters();
            }
            Action::Request(request) => {
                drop(state);
                tokio::spawn(self.clone().answer(request));
            }
        }
    }

    async fn answer(self: Arc<Self>, request: ReverseRequest<ReverseHandler>) {
        let ReverseRequest {
            seq,
            command,
            arguments,
            handler,
            received,
        } = request;
        let panicked = || Failure::new(format!("the handler of `{command}` panicked"));
        let result = match handler {
            // The handler's future runs as another task, so that the request is answered even if the future panics.
            Some(handler) => {
                match catch_unwind(AssertUnwindSafe(|| handler(arguments, received))) {
                    Ok(answer) => tokio::spawn(answer)
                        .await
                        .unwrap_or_else(|_| Err(panicked())),
                    Err(_) => Err(panicked()),
                }
            }
            None => Err(Failure::unknown_command(&command)),
        };
        let Ok(place) = self.place().await else {
            return;
        };
        let mut state = self.lock();
        if let Some(response) = state.core.respond(seq, command, result) {
            self.queue(&mut state, place, &response);
        }
    }

    /// Waits for a place in the queue. Fails once the client is closed for sending.
    async fn place(&self) -> Result<mpsc::OwnedPermit<String>, ClientError> {
        let queue = self.lock().queue.clone();
        let queue = queue.ok_or(ClientError::Disconnected)?;
        queue
            .reserve_owned()
            .await
            .map_err(|_| ClientError::Disconnected)
    }

    /// Assigns a message the next number and queues it, both under the state's lock, so that numbers and the order on the wire agree.
    fn queue(&self, state: &mut State, place: mpsc::OwnedPermit<String>, message: &Outgoing) {
        state.seq += 1;
        let text = codec::outgoing_text(state.seq, message);
        if let Some(tap) = &self.tap {
            tap(Direction::Sent, text.as_bytes());
        }
        place.send(text);
    }

    pub(super) async fn send(
        &self,
        command: &'static str,
        arguments: Option<Raw>,
    ) -> Result<Sent, ClientError> {
        let place = self.place().await?;
        let arguments = self.lock().core.completed(command, arguments);
        let (sender, reply) = oneshot::channel();
        let mut state = self.lock();
        let seq = state.seq + 1;
        let facts = arguments.as_ref().map(Raw::as_raw_value);
        let failed = state.core.send(seq, command, facts, sender)?;
        self.queue(&mut state, place, &Outgoing::request(command, arguments));
        Ok(Sent { seq, reply, failed })
    }

    /// Ends sending; queued messages are still written.
    pub(super) fn stop_sending(&self) {
        self.lock().queue = None;
    }

    pub(super) fn subscribe(&self) -> mpsc::UnboundedReceiver<EventMessage> {
        let (sender, receiver) = mpsc::unbounded_channel();
        let mut state = self.lock();
        if !state.core.is_closed() {
            state.subscribers.push(sender);
        }
        receiver
    }

    /// Waits for the first event for which `pick` returns a value, and takes it. Fails once the adapter is gone, or once `cause` is set:
    /// the request that was to cause the event has failed.
    pub(super) async fn take_event<T>(
        &self,
        cause: Option<&AtomicBool>,
        mut pick: impl FnMut(&EventMessage) -> Option<T>,
    ) -> Result<T, NoEvent> {
        let mut looked_at = 0;
        loop {
            // Created before looking, so that an event received right after the look is not missed.
            let news = self.news.notified();
            let picked = self
                .lock()
                .core
                .take_event(&mut looked_at, cause, &mut pick)?;
            if let Some(picked) = picked {
                return Ok(picked);
            }
            news.await;
        }
    }

    pub(super) async fn closed(&self) {
        loop {
            let news = self.news.notified();
            if self.is_closed() {
                return;
            }
            news.await;
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

    pub(super) fn on<R: Request, F>(
        &self,
        handler: impl Fn(R::Arguments) -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = Result<R::Response, Failure>> + Send + 'static,
    {
        let handler: ReverseHandler = Arc::new(move |raw, received| {
            let answer = core::arguments_of::<R>(raw.as_ref(), &received).map(&handler);
            Box::pin(async move { Ok(message::encode(&answer?.await?)?) })
        });
        self.lock().core.on::<R>(handler);
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

    /// Call when the adapter is gone or the client is dropped. Nothing more is queued, and all waiting tasks wake.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        let handlers = state.core.close();
        state.subscribers.clear();
        state.queue = None;
        drop(state);
        self.news.notify_waiters();
        drop(handlers);
    }
}
