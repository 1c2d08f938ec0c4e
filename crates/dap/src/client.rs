//! The typed client.
//!
//! A [`Client`] sends requests and waits for their responses, keeps the received events, and answers the adapter's reverse
//! requests. It may be used from several threads at once. The client's thread handles the incoming messages in order: subscribers
//! get an event that precedes a response before the response is returned.
//!
//! | an adapter that | is reached with |
//! | --- | --- |
//! | uses its standard input and output | [`Client::spawn`], which also ends it |
//! | listens | [`Client::connect`]; on Unix also `Client::connect_unix` |
//! | was just started and will listen soon | [`Client::connect_within`]; on Unix also `Client::connect_unix_within` |
//! | runs in this process | [`Connection::memory`] and [`Client::new`] |
//!
//! Which requests to send, and when, is up to the caller. These parts do what every client needs:
//!
//! | for | there is |
//! | --- | --- |
//! | the start of a session | [`Client::start`] and [`Client::configured`], or both by [`Client::begin`] |
//! | programs that the adapter wants started (`runInTerminal`) | [`Client::on_run_in_terminal`] |
//! | further sessions that the adapter asks for (`startDebugging`) | [`Client::on_start_debugging`] |
//! | breakpoints whose ids stay the same | [`breakpoints`] |
//! | frames and variables, page by page | [`Client::stack`], [`Client::variables`] |
//!
//! The client refuses to send a message that breaks the protocol's [rules](crate::lifecycle), and keeps each rule that the
//! adapter breaks as a [violation](Client::violations).
//!
//! Worth knowing: subscribe before sending the request that causes the events, or use [`Client::wait_for`], which also looks at
//! events that were received before.
//!
//! ```
//! use std::time::Duration;
//! use dapple_dap::{Client, Connection};
//! use dapple_dap::types::*;
//!
//! # let (connection, adapter) = Connection::memory();
//! # let thread = std::thread::spawn(move || {
//! #     let server = dapple_dap::Server::<()>::builder()
//! #         .on::<LaunchRequest>(|_, _, context| {
//! #             let outbox = context.outbox().clone();
//! #             let terminal = RunInTerminalRequestArguments::new("/", vec!["./program".to_owned()]);
//! #             context.outbox().request::<RunInTerminalRequest>(terminal, move |answer| {
//! #                 let said = format!("process {}\n", answer.unwrap().process_id.unwrap());
//! #                 outbox.event::<OutputEvent>(OutputEventBody::new(said));
//! #             });
//! #             Ok(Empty)
//! #         })
//! #         .build();
//! #     server.start(&adapter).run(&mut ());
//! # });
//! let client = Client::new(connection);
//! // A reverse request that the adapter may send. `initialize` announces that the client answers it. `on_run_in_terminal` would start the program.
//! client.on::<RunInTerminalRequest>(|asked| {
//!     assert_eq!(asked.args, ["./program"]);
//!     Ok(RunInTerminalResponse::new().with_process_id(4711))
//! });
//! client.request::<InitializeRequest>(InitializeRequestArguments::new("any"))?;
//! let events = client.subscribe();
//! client.request::<LaunchRequest>(LaunchRequestArguments::new())?;
//! let output = client.wait_for::<OutputEvent>(Duration::from_secs(30), |_| true)?;
//! assert_eq!(output.output, "process 4711\n");
//! // Subscribers get this event too, and all others.
//! assert!(events.recv().unwrap().is::<OutputEvent>());
//! # drop(client);
//! # thread.join().unwrap();
//! # Ok::<(), dapple_dap::ClientError>(())
//! ```

pub mod breakpoints;
pub(crate) mod connect;
pub(crate) mod core;
mod dispatch;
pub mod pages;
pub(crate) mod repairs;
pub(crate) mod run_in_terminal;
pub(crate) mod spawn;
mod start;
pub(crate) mod start_debugging;

use std::borrow::Cow;
use std::fmt;
use std::net::ToSocketAddrs;
#[cfg(unix)]
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};

use crate::failure::Failure;
use crate::lifecycle::Violation;
use crate::message::{DecodeError, Event, Raw, Request, lenient};
use crate::transport::{Connection, Options, Writer, deadline};
use crate::types::{AnyEvent, CancelArguments, CancelRequest, Capabilities, Message};
use core::{ListAnswer, NoEvent, Reply};
use dispatch::{Runs, Sent, Shared};
pub use repairs::MessageRepair;
use repairs::Received;
pub use run_in_terminal::RunInTerminal;
use spawn::Spawned;
pub use spawn::end_child;
pub use start_debugging::ChildSession;

/// How long a request waits for its response by default.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// Why a request has no result, or a wait for an event found none.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The adapter answered with an error.
    #[error(transparent)]
    Failed(#[from] Box<RequestFailure>),
    /// No response or event was received in time. The response is ignored if it is received later.
    #[error("`{what}` did not come within {after:?}")]
    Timeout {
        /// The request's command, or the names of the events.
        what: Cow<'static, str>,
        /// The time waited.
        after: Duration,
    },
    /// The adapter's answer is not of the right shape.
    #[error("the answer to `{command}` has the wrong shape: {error}")]
    BadResponse {
        /// The request's command.
        command: &'static str,
        /// What is wrong with it.
        error: DecodeError,
    },
    /// An event that was waited for is not of the right shape. It is taken: the next wait gets the next one.
    #[error("the event `{event}` has the wrong shape: {error}")]
    BadEvent {
        /// The event's name.
        event: &'static str,
        /// What is wrong with it.
        error: DecodeError,
    },
    /// The request could not be written as JSON.
    #[error("the arguments of `{command}` cannot be written as JSON: {reason}")]
    NotJson {
        /// The request's command.
        command: &'static str,
        /// Why.
        reason: String,
    },
    /// The request may not be sent at this point of the session.
    #[error(transparent)]
    Lifecycle(#[from] Violation),
    /// The adapter is gone: the connection was closed by either end, or broke.
    #[error("the debug adapter is gone")]
    Disconnected,
}

/// An adapter's response to a request that failed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RequestFailure {
    /// The request's command.
    pub command: &'static str,
    /// The response's `message`: a keyword for programs such as `notStopped`, or the error in short.
    pub message: Option<String>,
    /// The error as described for people, if the response has such a description.
    pub error: Option<Message>,
    /// The sentence to show: the text of `error` with its variables filled in or, without one, `message`.
    pub sentence: String,
}

impl std::error::Error for RequestFailure {}

impl fmt::Display for RequestFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

/// A received event, not yet decoded.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct EventMessage {
    /// The event's name.
    pub event: String,
    /// The JSON of its body; `None` if it has no body.
    pub body: Option<Raw>,
    received: Received,
}

impl EventMessage {
    /// True if this is an `E`.
    pub fn is<E: Event>(&self) -> bool {
        self.event == E::EVENT
    }

    /// The body, if this is an `E` and its body is of the right shape.
    pub fn body<E: Event>(&self) -> Option<E::Body> {
        match self.decode::<E>()? {
            Ok(body) => Some(body),
            Err(error) => {
                tracing::warn!(event = E::EVENT, %error, "an event has the wrong shape");
                None
            }
        }
    }

    /// The body, if this is an `E`, or what is wrong with its shape.
    pub fn decode<E: Event>(&self) -> Option<Result<E::Body, DecodeError>> {
        self.is::<E>().then(|| {
            let body = self.body.as_ref().map(Raw::as_raw_value);
            self.received.decode(E::EVENT, body)
        })
    }

    /// How many bytes the name and the body have.
    pub(crate) fn bytes(&self) -> usize {
        self.event.len() + self.body.as_ref().map_or(0, |body| body.text().len())
    }

    /// The body of an `E` that `matches`, or what is wrong with an `E`, for a wait.
    pub(crate) fn picked<E: Event>(
        &self,
        mut matches: impl FnMut(&E::Body) -> bool,
    ) -> Option<Result<E::Body, ClientError>> {
        match self.decode::<E>()? {
            Ok(body) => matches(&body).then_some(Ok(body)),
            Err(error) => Some(Err(ClientError::BadEvent {
                event: E::EVENT,
                error,
            })),
        }
    }

    /// The event with its decoded body, whichever event it is.
    ///
    /// # Errors
    /// The body of an event of the protocol is not of the right shape.
    pub fn decode_any(&self) -> Result<AnyEvent, DecodeError> {
        let body = self.body.as_ref().map(Raw::as_raw_value);
        let strict = AnyEvent::decode(&self.event, body);
        let read = lenient::repaired(body, strict, |body| AnyEvent::read(&self.event, body));
        self.received
            .noted(&self.event, read)
            .map(|(event, _)| event)
    }
}

/// A request that was sent.
#[must_use = "the response is wanted, or it would not have been asked for"]
pub struct Pending<R: Request> {
    seq: i64,
    reply: Receiver<Reply>,
    failed: Arc<AtomicBool>,
    timeout: Duration,
    request: std::marker::PhantomData<fn() -> R>,
}

impl<R: Request> fmt::Debug for Pending<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending")
            .field("command", &R::COMMAND)
            .field("seq", &self.seq)
            .finish()
    }
}

impl<R: Request> Pending<R> {
    /// The request's number, by which it can be cancelled.
    pub fn seq(&self) -> i64 {
        self.seq
    }

    /// True if the response was received, so that [`wait`](Self::wait) returns at once.
    pub fn is_ready(&self) -> bool {
        !self.reply.is_empty()
    }

    /// Waits for the response, up to the client's [timeout](Client::with_timeout).
    ///
    /// # Errors
    /// The request failed, or no usable response was received.
    pub fn wait(self) -> Result<R::Response, ClientError> {
        let timeout = self.timeout;
        self.wait_at_most(timeout)
    }

    /// Waits for the response up to `timeout`.
    ///
    /// # Errors
    /// The request failed, or no usable response was received.
    pub fn wait_at_most(self, timeout: Duration) -> Result<R::Response, ClientError> {
        self.reply(timeout)?.decode::<R>()
    }

    fn reply(self, timeout: Duration) -> Result<Reply, ClientError> {
        match self.reply.recv_timeout(timeout) {
            Ok(reply) => Ok(reply),
            Err(RecvTimeoutError::Timeout) => Err(ClientError::Timeout {
                what: R::COMMAND.into(),
                after: timeout,
            }),
            Err(RecvTimeoutError::Disconnected) => Err(ClientError::Disconnected),
        }
    }
}

/// A client of one debug adapter.
///
/// Dropping it closes the connection, and ends the adapter if it was [spawned](Client::spawn) here.
pub struct Client {
    shared: Arc<Shared>,
    connection: Option<Connection>,
    writer: Writer,
    /// Dropping this ends the thread that handles the incoming messages.
    _stop: Sender<std::convert::Infallible>,
    timeout: Duration,
    spawned: Option<Spawned>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("connection", &self.connection)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// A client of the adapter at the other end of a connection.
    pub fn new(connection: Connection) -> Self {
        let shared = Arc::new(Shared::new(connection.outgoing.clone()));
        let (stop, stopped) = crossbeam_channel::bounded(0);
        dispatch::start(shared.clone(), connection.incoming.clone(), stopped);
        let writer = connection.outgoing.clone();
        Self {
            shared,
            connection: Some(connection),
            writer,
            _stop: stop,
            timeout: DEFAULT_TIMEOUT,
            spawned: None,
        }
    }

    /// Starts an adapter that uses its standard input and output, as a child of this process. When the client is dropped, the adapter has a
    /// second to end by itself; otherwise it is killed. What happens to the processes that it has started depends on the system:
    ///
    /// | | the adapter leads a process group | an adapter that is killed | processes left in its group |
    /// | --- | --- | --- | --- |
    /// | Linux | yes | takes all its descendants with it | are killed in any case |
    /// | other Unix | yes | takes its process group with it | are killed in any case |
    /// | Windows | no such groups | is killed alone | |
    ///
    /// # Errors
    /// The program cannot be started; the error names it.
    pub fn spawn(command: &mut Command) -> std::io::Result<Self> {
        Self::spawn_with(command, Options::new())
    }

    /// As [`spawn`](Self::spawn), with options for the connection.
    ///
    /// # Errors
    /// The program cannot be started; the error names it.
    pub fn spawn_with(command: &mut Command, options: Options) -> std::io::Result<Self> {
        let (spawned, connection) = Spawned::start(command, options)?;
        let mut client = Self::new(connection);
        client.spawned = Some(spawned);
        Ok(client)
    }

    /// Connects to an adapter that listens on TCP.
    ///
    /// # Errors
    /// Nothing listens on the address, or it does not answer in time. Each address of a name has [`DEFAULT_TIMEOUT`].
    pub fn connect(address: impl ToSocketAddrs) -> std::io::Result<Self> {
        let stream = connect::tcp(address, DEFAULT_TIMEOUT)?;
        Ok(Self::new(Connection::tcp(stream)?))
    }

    /// Connects to an adapter that listens on TCP or will soon, such as one that was just started with a port. Retries while
    /// nothing listens.
    ///
    /// # Errors
    /// Nothing listened on the address in time, or it cannot be reached.
    pub fn connect_within(
        address: impl ToSocketAddrs,
        patience: Duration,
    ) -> std::io::Result<Self> {
        let stream = connect::retried(patience, |left| connect::tcp(&address, left))?;
        Ok(Self::new(Connection::tcp(stream)?))
    }

    /// Connects to an adapter that listens on a Unix socket.
    ///
    /// # Errors
    /// Nothing listens on the socket, or this process may not open it.
    #[cfg(unix)]
    pub fn connect_unix(path: impl AsRef<Path>) -> std::io::Result<Self> {
        let stream = connect::unix(path.as_ref())?;
        Ok(Self::new(Connection::unix(stream)?))
    }

    /// Connects to an adapter that listens on a Unix socket or will soon. Retries while the socket does not exist or nothing listens
    /// on it.
    ///
    /// # Errors
    /// Nothing listened on the socket in time, or this process may not open it.
    #[cfg(unix)]
    pub fn connect_unix_within(
        path: impl AsRef<Path>,
        patience: Duration,
    ) -> std::io::Result<Self> {
        let stream = connect::retried(patience, |_| connect::unix(path.as_ref()))?;
        Ok(Self::new(Connection::unix(stream)?))
    }

    /// Lets requests be sent although the adapter does not advertise the capability that they depend on. Without it, such a request fails
    /// with [`Violation::NotAdvertised`] and is not sent.
    #[must_use]
    pub fn with_unadvertised_requests(self) -> Self {
        self.shared.send_unadvertised();
        self
    }

    /// Sets how long requests wait for their response.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sends a request and waits for the response.
    ///
    /// # Errors
    /// The request failed, may not be sent now, or no usable response was received.
    pub fn request<R: Request>(&self, arguments: R::Arguments) -> Result<R::Response, ClientError> {
        self.send::<R>(arguments)?.wait()
    }

    /// As [`request`](Self::request), with the indices of the items that could not be read and are missing in the response's list.
    fn request_list<R: Request>(&self, arguments: R::Arguments) -> ListAnswer<R> {
        let timeout = self.timeout;
        self.send::<R>(arguments)?
            .reply(timeout)?
            .decode_list::<R>()
    }

    /// Sends a request. The response is kept until [`Pending::wait`] takes it.
    ///
    /// # Errors
    /// The request may not be sent now or cannot be written as JSON, or the adapter is gone.
    pub fn send<R: Request>(&self, arguments: R::Arguments) -> Result<Pending<R>, ClientError> {
        let arguments = core::encode::<R>(&arguments)?;
        let Sent { seq, reply, failed } = self.shared.send(R::COMMAND, arguments)?;
        Ok(Pending {
            seq,
            reply,
            failed,
            timeout: self.timeout,
            request: std::marker::PhantomData,
        })
    }

    /// A channel that gets all events from now on, in order. It is closed when the adapter is gone.
    pub fn subscribe(&self) -> Receiver<EventMessage> {
        self.shared.subscribe()
    }

    /// Waits for the first `E` that `matches`, and takes it. It may be one of the [`untaken_events`](Self::untaken_events) received before. Events that
    /// do not match stay for other calls.
    ///
    /// # Errors
    /// No such event was received in time, or the adapter is gone.
    pub fn wait_for<E: Event>(
        &self,
        timeout: Duration,
        matches: impl FnMut(&E::Body) -> bool,
    ) -> Result<E::Body, ClientError> {
        self.wait_unless::<E>(timeout, None, matches)
            .map_err(|none| none.error(E::EVENT, timeout))?
    }

    /// Waits for the first event with one of these names, and takes it. [`decode_any`](EventMessage::decode_any) decodes it. For what may end in several ways:
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use dapple_dap::testing::TestClient;
    /// # use dapple_dap::Server;
    /// use dapple_dap::Event;
    /// use dapple_dap::types::*;
    ///
    /// # let server = Server::<()>::builder()
    /// #     .on::<ContinueRequest>(|_, _, context| {
    /// #         context.outbox().event::<TerminatedEvent>(TerminatedEventBody::new());
    /// #         Ok(ContinueResponse::new())
    /// #     })
    /// #     .build();
    /// # let (client, session) = TestClient::of(&server, ());
    /// # client.initialize();
    /// client.request::<ContinueRequest>(ContinueArguments::new(1))?;
    /// let names = [StoppedEvent::EVENT, TerminatedEvent::EVENT];
    /// let event = client.wait_for_any(Duration::from_secs(30), &names)?;
    /// assert!(event.is::<TerminatedEvent>());
    /// # client.disconnect();
    /// # session.join().unwrap();
    /// # Ok::<(), dapple_dap::ClientError>(())
    /// ```
    ///
    /// # Errors
    /// No such event was received in time, or the adapter is gone.
    pub fn wait_for_any(
        &self,
        timeout: Duration,
        names: &[&str],
    ) -> Result<EventMessage, ClientError> {
        let until = deadline(timeout);
        self.shared
            .take_event(until, None, |event| {
                names.contains(&&*event.event).then(|| event.clone())
            })
            .map_err(|none| none.error(names.join("` or `"), timeout))
    }

    /// Waits for the first `E`, an event that the request `pending` is to cause. If the request fails, this returns its error at once:
    /// no `initialized` follows when `launch` failed.
    ///
    /// # Errors
    /// The request failed, no such event was received in time, or the adapter is gone.
    pub fn wait_for_caused<E: Event, R: Request>(
        &self,
        pending: &Pending<R>,
        timeout: Duration,
    ) -> Result<E::Body, ClientError> {
        self.wait_unless::<E>(timeout, Some(&pending.failed), |_| true)
            .map_err(|none| match none {
                // The reply is sent right after the flag is set.
                NoEvent::Failed => match pending
                    .reply
                    .recv_timeout(timeout)
                    .map(|reply| reply.decode::<R>())
                {
                    Ok(Err(error)) => error,
                    Ok(Ok(_)) | Err(_) => ClientError::Disconnected,
                },
                none => none.error(E::EVENT, timeout),
            })?
    }

    fn wait_unless<E: Event>(
        &self,
        timeout: Duration,
        failed: Option<&AtomicBool>,
        mut matches: impl FnMut(&E::Body) -> bool,
    ) -> Result<Result<E::Body, ClientError>, NoEvent> {
        let until = deadline(timeout);
        self.shared
            .take_event(until, failed, |event| event.picked::<E>(&mut matches))
    }

    /// Copies of the received events that no [`wait_for`](Self::wait_for) has taken, oldest first: the newest 16,384, and no more than 16 MiB of them.
    pub fn untaken_events(&self) -> Vec<EventMessage> {
        self.shared.events()
    }

    /// The adapter's capabilities: its response to `initialize`, with later `capabilities` events merged in.
    pub fn capabilities(&self) -> Capabilities {
        self.shared.capabilities()
    }

    /// Whether the adapter advertises a request; true for requests that don't depend on a capability.
    pub fn supports<R: Request>(&self) -> bool {
        R::CAPABILITY.is_none_or(|capability| self.capabilities().supports(capability))
    }

    /// Asks the adapter to cancel a request. Its response comes all the same: `wait` returns it, or the error that it was cancelled.
    ///
    /// # Errors
    /// The adapter does not advertise that it can cancel requests, or is gone.
    pub fn cancel<R: Request>(&self, pending: &Pending<R>) -> Result<(), ClientError> {
        let arguments = CancelArguments::new().with_request_id(pending.seq);
        // Whether it has taken effect shows in the response to the other request.
        self.send::<CancelRequest>(arguments).map(drop)
    }

    /// Registers the handler of a reverse request. `initialize` then announces the capability that belongs to the request, unless its
    /// arguments set that field. The handler runs on the thread that handles the incoming
    /// messages, so it must not wait for a response of the adapter. Requests without a handler are answered with an error.
    ///
    /// For the protocol's own reverse requests there are ready-made answers: [`on_run_in_terminal`](Self::on_run_in_terminal) and
    /// [`on_start_debugging`](Self::on_start_debugging).
    pub fn on<R: Request>(
        &self,
        handler: impl Fn(R::Arguments) -> Result<R::Response, Failure> + Send + Sync + 'static,
    ) {
        self.shared.on::<R>(Runs::Here, handler);
    }

    /// As [`on`](Self::on), for handlers that take long or wait for the adapter: each request gets a thread of its own.
    pub fn on_blocking<R: Request>(
        &self,
        handler: impl Fn(R::Arguments) -> Result<R::Response, Failure> + Send + Sync + 'static,
    ) {
        self.shared.on::<R>(Runs::Elsewhere, handler);
    }

    /// The violations of the protocol's rules by the adapter, oldest first, at most a thousand.
    pub fn violations(&self) -> Vec<Violation> {
        self.shared.violations()
    }

    /// What does not have the shape that the protocol requires in the responses and events that were decoded, oldest first, at most a
    /// thousand. Received messages are decoded [leniently](crate::message::decode_leniently).
    pub fn repairs(&self) -> Vec<MessageRepair> {
        self.shared.repairs()
    }

    /// The writer, which sends any message unchecked: for tests of bad input. The client ignores responses to requests sent this way.
    pub fn unchecked_writer(&self) -> &Writer {
        &self.writer
    }

    /// True once the adapter is gone.
    pub fn is_closed(&self) -> bool {
        self.shared.is_closed()
    }

    /// Waits until the adapter closes the connection.
    ///
    /// # Errors
    /// The adapter did not close it in time.
    pub fn wait_closed(&self, timeout: Duration) -> Result<(), ClientError> {
        if self.shared.wait_closed(deadline(timeout)) {
            Ok(())
        } else {
            Err(ClientError::Timeout {
                what: "end of the connection".into(),
                after: timeout,
            })
        }
    }

    /// The process id of the adapter, if it was spawned here.
    pub fn process_id(&self) -> Option<u32> {
        self.spawned.as_ref().map(Spawned::id)
    }
}

/// How long a spawned adapter has to end by itself, and then the programs that were started for it.
const GRACE: Duration = Duration::from_secs(1);

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.connection.take());
        if let Some(spawned) = self.spawned.take() {
            spawned.end(GRACE);
        }
        self.shared.programs().end(GRACE);
    }
}
