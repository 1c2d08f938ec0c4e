//! The typed client for asynchronous programs, on Tokio; available with the feature `tokio`.
//!
//! An [`AsyncClient`] does what [`Client`](crate::Client) does, on the same core. A task handles the incoming messages in order:
//! subscribers get an event that precedes a response before the response is returned. Create the client within a runtime that has I/O
//! and time enabled. With the feature `server`, there is an asynchronous server, too, in `async_server`.
//!
//! Worth knowing: each future may be dropped at any point. A request whose future is dropped was sent as a whole or not at
//! all, and its response is ignored when it is received. Handlers of reverse requests run as tasks of their own and so may wait
//! for the adapter, unlike those of `Client`.
//!
//! ```
//! use std::time::Duration;
//! use dapple_dap::async_client::AsyncClient;
//! use dapple_dap::ClientError;
//! use dapple_dap::types::*;
//!
//! async fn threads_at_first_stop(client: AsyncClient) -> Result<Vec<Thread>, ClientError> {
//!     client.request::<InitializeRequest>(InitializeRequestArguments::new("any")).await?;
//!     let launch = client.start::<LaunchRequest>(LaunchRequestArguments::new()).await?;
//!     // Here the client would set breakpoints.
//!     client.configured(launch).await?;
//!     client.wait_for::<StoppedEvent>(Duration::from_secs(30), |_| true).await?;
//!     let threads = client.request::<ThreadsRequest>(Empty).await?.threads;
//!     client.request::<DisconnectRequest>(DisconnectArguments::new()).await?;
//!     client.close(Duration::from_secs(1)).await;
//!     Ok(threads)
//! }
//! # use dapple_dap::{Connection, Server};
//! # let server = Server::<()>::builder()
//! #     .on::<LaunchRequest>(|_, _, context| {
//! #         context.outbox().event::<InitializedEvent>(Empty);
//! #         Ok(Empty)
//! #     })
//! #     .on::<ConfigurationDoneRequest>(|_, _, context| {
//! #         context.outbox().event::<StoppedEvent>(StoppedEventBody::new(StoppedEventReason::Entry));
//! #         Ok(Empty)
//! #     })
//! #     .on::<ThreadsRequest>(|_, _, _| Ok(ThreadsResponse::new(vec![Thread::new(7, "main")])))
//! #     .build();
//! # let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
//! # let address = listener.local_addr().unwrap();
//! # let thread = std::thread::spawn(move || {
//! #     let adapter = Connection::tcp(listener.accept().unwrap().0).unwrap();
//! #     server.start(&adapter).run(&mut ())
//! # });
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
//! # runtime.block_on(async {
//! #     let client = AsyncClient::connect(address).await.unwrap();
//! #     assert_eq!(threads_at_first_stop(client).await.unwrap()[0].id, 7);
//! # });
//! # thread.join().unwrap();
//! ```

mod answers;
mod pages;
mod spawned;
mod start;
mod tasks;

use std::fmt;
use std::future::Future;
#[cfg(unix)]
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio::net::{TcpStream, ToSocketAddrs, lookup_host};
use tokio::process::{Child, Command};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::client::core::{self, ListAnswer, NoEvent, Reply};
use crate::client::{ClientError, DEFAULT_TIMEOUT, EventMessage, MessageRepair, connect, spawn};
use crate::failure::Failure;
use crate::lifecycle::Violation;
use crate::message::{Event, Request};
use crate::transport::Options;
use crate::types::{CancelArguments, CancelRequest, Capabilities};
use tasks::{Sent, Shared};

/// A request that was sent.
#[must_use = "the response is wanted, or it would not have been asked for"]
pub struct AsyncPending<R: Request> {
    seq: i64,
    reply: oneshot::Receiver<Reply>,
    failed: Arc<AtomicBool>,
    timeout: Duration,
    request: std::marker::PhantomData<fn() -> R>,
}

impl<R: Request> fmt::Debug for AsyncPending<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncPending")
            .field("command", &R::COMMAND)
            .field("seq", &self.seq)
            .finish()
    }
}

impl<R: Request> AsyncPending<R> {
    /// The request's number, by which it can be cancelled.
    pub fn seq(&self) -> i64 {
        self.seq
    }

    /// Waits for the response, up to the client's [timeout](AsyncClient::with_timeout).
    ///
    /// # Errors
    /// The request failed, or no usable response was received.
    pub async fn wait(self) -> Result<R::Response, ClientError> {
        let timeout = self.timeout;
        self.wait_at_most(timeout).await
    }

    /// Waits for the response up to `patience`.
    ///
    /// # Errors
    /// The request failed, or no usable response was received.
    pub async fn wait_at_most(self, patience: Duration) -> Result<R::Response, ClientError> {
        self.reply(patience).await?.decode::<R>()
    }

    async fn reply(self, patience: Duration) -> Result<Reply, ClientError> {
        match timeout(patience, self.reply).await {
            Ok(Ok(reply)) => Ok(reply),
            Ok(Err(_)) => Err(ClientError::Disconnected),
            Err(_) => Err(ClientError::Timeout {
                what: R::COMMAND.into(),
                after: patience,
            }),
        }
    }
}

/// Retries `attempt` while it fails with an error that [passes once an adapter listens](connect::may_be_starting), until the time is
/// over.
async fn retried<T, F>(patience: Duration, mut attempt: impl FnMut() -> F) -> std::io::Result<T>
where
    F: Future<Output = std::io::Result<T>>,
{
    let mut last = None;
    let tries = async {
        loop {
            match attempt().await {
                Err(error) if connect::may_be_starting(&error) => last = Some(error),
                outcome => return outcome,
            }
            sleep(connect::RETRY_INTERVAL).await;
        }
    };
    match timeout(patience, tries).await {
        Ok(outcome) => outcome,
        Err(elapsed) => {
            let error = last.unwrap_or_else(|| elapsed.into());
            Err(connect::timed_out(&error, patience))
        }
    }
}

/// A client of one debug adapter.
///
/// Dropping it closes the connection once all sent messages are written. If the adapter was [spawned](Self::spawn) here, it is
/// killed at once; [`close`](Self::close) gives it time to end by itself.
pub struct AsyncClient {
    shared: Arc<Shared>,
    reader: JoinHandle<()>,
    writer: JoinHandle<()>,
    timeout: Duration,
    spawned: Option<Child>,
}

impl fmt::Debug for AsyncClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncClient")
            .field("process_id", &self.process_id())
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

impl AsyncClient {
    /// A client of the adapter at the other end of two streams.
    ///
    /// # Panics
    /// There is no runtime.
    pub fn new(
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self::new_with(input, output, Options::new())
    }

    /// As [`new`](Self::new), with options for the connection.
    ///
    /// # Panics
    /// There is no runtime.
    pub fn new_with(
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
        options: Options,
    ) -> Self {
        let (shared, reader, writer) = tasks::start(input, output, options);
        Self {
            shared,
            reader,
            writer,
            timeout: DEFAULT_TIMEOUT,
            spawned: None,
        }
    }

    /// Starts an adapter that uses its standard input and output, as a child of this process. When the client is dropped, the adapter is
    /// killed; [`Client::spawn`](crate::Client::spawn) says what happens to the processes that it has started.
    ///
    /// # Errors
    /// The program cannot be started.
    ///
    /// # Panics
    /// There is no runtime.
    pub fn spawn(command: impl Into<Command>) -> std::io::Result<Self> {
        Self::spawn_with(command, Options::new())
    }

    /// As [`spawn`](Self::spawn), with options for the connection.
    ///
    /// # Errors
    /// The program cannot be started.
    ///
    /// # Panics
    /// There is no runtime.
    pub fn spawn_with(command: impl Into<Command>, options: Options) -> std::io::Result<Self> {
        let mut command = command.into();
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| spawn::cannot_start(command.as_std().get_program(), &error))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(std::io::Error::other(
                "the adapter was started without pipes",
            ));
        };
        let mut client = Self::new_with(output, input, options);
        client.spawned = Some(child);
        Ok(client)
    }

    /// Connects to an adapter that listens on TCP.
    ///
    /// # Errors
    /// Nothing listens on the address, or it does not answer within [`DEFAULT_TIMEOUT`].
    pub async fn connect(address: impl ToSocketAddrs) -> std::io::Result<Self> {
        timeout(DEFAULT_TIMEOUT, Self::connect_tcp(&address)).await?
    }

    /// Connects to an adapter that listens on TCP or will soon, such as one that was just started with a port. Retries while
    /// nothing listens.
    ///
    /// # Errors
    /// Nothing listened on the address in time, or it cannot be reached.
    pub async fn connect_within(
        address: impl ToSocketAddrs,
        patience: Duration,
    ) -> std::io::Result<Self> {
        retried(patience, || Self::connect_tcp(&address)).await
    }

    async fn connect_tcp(address: &impl ToSocketAddrs) -> std::io::Result<Self> {
        let mut refused = None;
        for address in lookup_host(address).await? {
            match TcpStream::connect(address).await {
                Ok(stream) => {
                    // Messages are small and the peer waits for each, so Nagle's algorithm would only delay them.
                    stream.set_nodelay(true).ok();
                    let (input, output) = stream.into_split();
                    return Ok(Self::new(input, output));
                }
                Err(error) => refused = Some(connect::cannot_connect(address, &error)),
            }
        }
        Err(refused.unwrap_or_else(connect::no_address))
    }

    /// Connects to an adapter that listens on a Unix socket.
    ///
    /// # Errors
    /// Nothing listens on the socket, or this process may not open it.
    #[cfg(unix)]
    pub async fn connect_unix(path: impl AsRef<Path>) -> std::io::Result<Self> {
        let path = path.as_ref();
        let stream = UnixStream::connect(path).await;
        let stream = stream.map_err(|error| connect::cannot_connect(path.display(), &error))?;
        let (input, output) = stream.into_split();
        Ok(Self::new(input, output))
    }

    /// Connects to an adapter that listens on a Unix socket or will soon. Retries while the socket does not exist or nothing listens
    /// on it.
    ///
    /// # Errors
    /// Nothing listened on the socket in time, or this process may not open it.
    #[cfg(unix)]
    pub async fn connect_unix_within(
        path: impl AsRef<Path>,
        patience: Duration,
    ) -> std::io::Result<Self> {
        retried(patience, || Self::connect_unix(path.as_ref())).await
    }

    /// Lets requests be sent although the adapter does not advertise the capability that they depend on; see
    /// [`Client::with_unadvertised_requests`](crate::Client::with_unadvertised_requests).
    #[must_use]
    pub fn with_unadvertised_requests(self) -> Self {
        self.shared.send_unadvertised();
        self
    }

    /// Sets two equal limits: how long sending a request may wait for the adapter to read, and how long to wait for its response then.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sends a request and waits for the response.
    ///
    /// # Errors
    /// The request failed, may not be sent now, or no usable response was received.
    pub async fn request<R: Request>(
        &self,
        arguments: R::Arguments,
    ) -> Result<R::Response, ClientError> {
        self.send::<R>(arguments).await?.wait().await
    }

    /// As [`request`](Self::request), with the indices of the items that could not be read and are missing in the response's list.
    pub(crate) async fn request_list<R: Request>(&self, arguments: R::Arguments) -> ListAnswer<R> {
        let reply = self.send::<R>(arguments).await?.reply(self.timeout);
        reply.await?.decode_list::<R>()
    }

    /// Sends a request. Waits only if the adapter does not read and many messages are queued for it. The response is kept until it is
    /// waited for.
    ///
    /// # Errors
    /// The request may not be sent now or cannot be written as JSON, the adapter is gone, or it does not read in time.
    pub async fn send<R: Request>(
        &self,
        arguments: R::Arguments,
    ) -> Result<AsyncPending<R>, ClientError> {
        let arguments = core::encode::<R>(&arguments)?;
        let sent = timeout(self.timeout, self.shared.send(R::COMMAND, arguments));
        let Sent { seq, reply, failed } = sent.await.map_err(|_| ClientError::Timeout {
            what: R::COMMAND.into(),
            after: self.timeout,
        })??;
        Ok(AsyncPending {
            seq,
            reply,
            failed,
            timeout: self.timeout,
            request: std::marker::PhantomData,
        })
    }

    /// A channel that gets all events from now on, in order. It is closed when the adapter is gone.
    pub fn subscribe(&self) -> mpsc::UnboundedReceiver<EventMessage> {
        self.shared.subscribe()
    }

    /// Waits for the first `E` that `matches`, and takes it. It may be one of the [`untaken_events`](Self::untaken_events) received before. Events that
    /// do not match stay for other calls.
    ///
    /// # Errors
    /// No such event was received in time, or the adapter is gone.
    pub async fn wait_for<E: Event>(
        &self,
        patience: Duration,
        matches: impl FnMut(&E::Body) -> bool,
    ) -> Result<E::Body, ClientError> {
        match self.wait_unless::<E>(patience, None, matches).await {
            Ok(body) => body,
            Err(none) => Err(none.error(E::EVENT, patience)),
        }
    }

    /// Waits for the first event with one of these names, and takes it; as [`Client::wait_for_any`](crate::Client::wait_for_any).
    ///
    /// # Errors
    /// No such event was received in time, or the adapter is gone.
    pub async fn wait_for_any(
        &self,
        patience: Duration,
        names: &[&str],
    ) -> Result<EventMessage, ClientError> {
        let event = self.shared.take_event(None, |event| {
            names.contains(&&*event.event).then(|| event.clone())
        });
        timeout(patience, event)
            .await
            .unwrap_or(Err(NoEvent::Timeout))
            .map_err(|none| none.error(names.join("` or `"), patience))
    }

    /// Whether the adapter advertises a request; true for requests that don't depend on a capability.
    pub fn supports<R: Request>(&self) -> bool {
        R::CAPABILITY.is_none_or(|capability| self.capabilities().supports(capability))
    }

    /// Asks the adapter to cancel a request. Its response comes all the same.
    ///
    /// # Errors
    /// The adapter does not advertise that it can cancel requests, or is gone.
    pub async fn cancel<R: Request>(&self, pending: &AsyncPending<R>) -> Result<(), ClientError> {
        let arguments = CancelArguments::new().with_request_id(pending.seq);
        self.send::<CancelRequest>(arguments).await.map(drop)
    }

    /// Waits for the first `E`, an event that the request `pending` is to cause. If the request fails, this returns its error at once:
    /// no `initialized` follows when `launch` failed.
    ///
    /// # Errors
    /// The request failed, no such event was received in time, or the adapter is gone.
    pub async fn wait_for_caused<E: Event, R: Request>(
        &self,
        pending: &mut AsyncPending<R>,
        patience: Duration,
    ) -> Result<E::Body, ClientError> {
        let cause = pending.failed.clone();
        match self
            .wait_unless::<E>(patience, Some(&cause), |_| true)
            .await
        {
            Ok(body) => body,
            // The reply is sent right after the flag is set.
            Err(NoEvent::Failed) => {
                match (&mut pending.reply).await.map(|reply| reply.decode::<R>()) {
                    Ok(Err(error)) => Err(error),
                    Ok(Ok(_)) | Err(_) => Err(ClientError::Disconnected),
                }
            }
            Err(none) => Err(none.error(E::EVENT, patience)),
        }
    }

    async fn wait_unless<E: Event>(
        &self,
        patience: Duration,
        cause: Option<&AtomicBool>,
        mut matches: impl FnMut(&E::Body) -> bool,
    ) -> Result<Result<E::Body, ClientError>, NoEvent> {
        let event = self
            .shared
            .take_event(cause, |event| event.picked::<E>(&mut matches));
        timeout(patience, event)
            .await
            .unwrap_or(Err(NoEvent::Timeout))
    }

    /// Copies of the received events that no [`wait_for`](Self::wait_for) has taken, oldest first: the newest 16,384, and no more than 16 MiB of them.
    pub fn untaken_events(&self) -> Vec<EventMessage> {
        self.shared.events()
    }

    /// The adapter's capabilities: its response to `initialize`, with later `capabilities` events merged in.
    pub fn capabilities(&self) -> Capabilities {
        self.shared.capabilities()
    }

    /// Registers the handler of a reverse request; as [`Client::on`](crate::Client::on), but the handler runs as a task of its own. There are ready-made
    /// answers: [`on_run_in_terminal`](Self::on_run_in_terminal) and [`on_start_debugging`](Self::on_start_debugging).
    pub fn on<R: Request, F>(&self, handler: impl Fn(R::Arguments) -> F + Send + Sync + 'static)
    where
        F: Future<Output = Result<R::Response, Failure>> + Send + 'static,
    {
        self.shared.on::<R, F>(handler);
    }

    /// The violations of the protocol's rules by the adapter, oldest first, at most a thousand.
    pub fn violations(&self) -> Vec<Violation> {
        self.shared.violations()
    }

    /// What does not have the protocol's shape, as [`Client::repairs`](crate::Client::repairs).
    pub fn repairs(&self) -> Vec<MessageRepair> {
        self.shared.repairs()
    }

    /// True once the adapter is gone.
    pub fn is_closed(&self) -> bool {
        self.shared.is_closed()
    }

    /// Waits until the adapter closes the connection.
    ///
    /// # Errors
    /// The adapter did not close it in time.
    pub async fn wait_closed(&self, patience: Duration) -> Result<(), ClientError> {
        timeout(patience, self.shared.closed())
            .await
            .map_err(|_| ClientError::Timeout {
                what: "end of the connection".into(),
                after: patience,
            })
    }

    /// The process id of the adapter, if it was spawned here.
    pub fn process_id(&self) -> Option<u32> {
        self.spawned.as_ref().and_then(Child::id)
    }

    /// Closes the connection once all sent messages are written, and waits for the end of an adapter that was spawned here. `grace`
    /// is the time for both: an adapter that has not ended by then is killed. [`Client::spawn`](crate::Client::spawn) says what happens to
    /// the processes that it has started.
    pub async fn close(mut self, grace: Duration) {
        let until = Instant::now() + grace;
        self.shared.stop_sending();
        timeout_at(until, &mut self.writer).await.ok();
        self.writer.abort();
        self.reader.abort();
        if let Some(child) = self.spawned.take() {
            spawned::end(child, until).await;
        }
        let programs = self.shared.programs().clone();
        if !programs.is_empty() {
            let left = until.saturating_duration_since(Instant::now());
            tokio::task::spawn_blocking(move || programs.end(left))
                .await
                .ok();
        }
    }
}

impl Drop for AsyncClient {
    fn drop(&mut self) {
        self.shared.close();
        self.reader.abort();
        if let Some(child) = &mut self.spawned {
            spawned::kill(child);
        }
        self.shared.programs().end(Duration::ZERO);
    }
}
