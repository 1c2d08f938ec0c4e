//! The SDK for adapters that run on Tokio: handlers that await. Available with the features `tokio` and `server`.
//!
//! An [`AsyncServer`] does what a [`Server`] does, by the same session, and its synchronous handlers are the same. What it adds is
//! [`on_async`](AsyncServerBuilder::on_async): a handler that returns a future. The future runs on a task of its own, while the session
//! handles later requests: `threads`, `pause` or `cancel` are answered while an `evaluate` is awaited.
//!
//! ```
//! use dapple_dap::async_server::AsyncServer;
//! use dapple_dap::testing::TestClient;
//! use dapple_dap::types::*;
//! use dapple_dap::{Connection, Failure};
//!
//! #[derive(Default)]
//! struct Program {
//!     process: Option<i64>,
//! }
//!
//! fn adapter() -> AsyncServer<Program> {
//!     AsyncServer::builder()
//!         .on_async::<LaunchRequest, _>(|_: &mut Program, _, context| async move {
//!             let arguments = RunInTerminalRequestArguments::new("/", vec!["./program".to_owned()]);
//!             let answer = context.outbox().ask::<RunInTerminalRequest>(arguments).await?;
//!             context.with(move |program, _| program.process = answer.process_id).await?;
//!             context.outbox().event::<InitializedEvent>(Empty);
//!             Ok(Empty)
//!         })
//!         .on_async::<EvaluateRequest, _>(|program, arguments, context| {
//!             // Here is the state, and what the future needs of it is copied.
//!             let process = program.process;
//!             async move {
//!                 let process = process.ok_or(Failure::new("nothing runs"))?;
//!                 let forever = std::future::pending::<()>();
//!                 if arguments.expression == "forever" {
//!                     context.unless_cancelled(forever).await?;
//!                 }
//!                 Ok(EvaluateResponse::new(process.to_string(), 0))
//!             }
//!         })
//!         .on::<ThreadsRequest>(|_, _, _| Ok(ThreadsResponse::new(vec![Thread::new(1, "main")])))
//!         .build()
//! }
//!
//! # let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
//! # let (client, connection) = Connection::memory();
//! # // An editor would start the adapter, and `connection` be `Connection::stdio()`.
//! let session = runtime.spawn(async move { adapter().run(connection, Program::default()).await });
//! # let client = TestClient::new(client);
//! # client.on::<RunInTerminalRequest>(|_| Ok(RunInTerminalResponse::new().with_process_id(7)));
//! # let arguments = InitializeRequestArguments::new("any").with_supports_run_in_terminal_request(true);
//! # client.ok::<InitializeRequest>(arguments);
//! client.ok::<LaunchRequest>(LaunchRequestArguments::new());
//! let endless = client.send::<EvaluateRequest>(EvaluateArguments::new("forever")).unwrap();
//! assert_eq!(client.ok::<EvaluateRequest>(EvaluateArguments::new("process")).result, "7");
//! client.cancel(&endless).unwrap();
//! assert_eq!(endless.wait().unwrap_err().to_string(), "cancelled");
//! # client.disconnect();
//! # assert_eq!(runtime.block_on(session).unwrap().process, Some(7));
//! ```
//!
//! # The order of things
//!
//! The session's task handles the requests in order. For each request it calls the registered function with `&mut` state. An `on_async`
//! function returns a future, which then runs on its own task. Futures get to the state by [`AsyncContext::with`], between two messages. So
//! no lock is needed, and a future sees a state that other requests have changed meanwhile.
//!
//! Events that a future sends to [`AsyncContext::outbox`] leave after the response, those sent to [`AsyncContext::at_once`] at once.
//!
//! # The end
//!
//! The session ends when `disconnect` is answered. Right before, all requests whose futures are not done are answered with the error
//! `cancelled`, and then their futures are dropped. If the client goes away without `disconnect`, the session handles one in its place.
//! A handler of `disconnect` may await, too. If the future of [`run`](AsyncServer::run) is dropped, so are those of the handlers.
//!
//! # A client that does not read
//!
//! Nothing blocks. While more than 16 MiB wait to be read, the session starts no request, and responses of futures wait. Tasks that
//! send much wait as well, by [`Outbox::event_in_turn`](crate::Outbox::event_in_turn). If 64 MiB of other events wait, the client counts as
//! gone; of 64 MiB of output, all but the newest is left out. At most 1024 futures run at a time; further requests are started when one of them is done.
//!
//! # Threads
//!
//! A connection over [asynchronous streams](Options::asynchronous) or of an [`AsyncListener`] has no thread: a session has three tasks of the runtime, and one for each request
//! that is awaited. [`Connection::stdio`] has a thread that reads and one that writes, since a runtime can't wait for standard input on all systems.
//! The runtime may have one thread or many, and needs I/O and time enabled. A synchronous handler occupies a thread of the
//! runtime; long work belongs into `tokio::task::spawn_blocking`. On a runtime with one thread, such a handler learns of a `cancel` only when it has returned.

mod context;
mod handler;

use std::future::Future;
use std::sync::Arc;

use tokio::sync::Notify;
use tokio::task::{JoinSet, yield_now};
use tokio::time::timeout;

use crate::failure::Failure;
use crate::message::Request;
use crate::server::tasks::Tasks;
use crate::server::{Context, Flow, Responder, Server, ServerBuilder, Session};
use crate::transport::listen::{AcceptError, AsyncListener, SHORTAGE};
use crate::transport::{
    CLOSE_TIMEOUT, Closed, Connection, Incoming, Options, Room, Writer, either,
};
use crate::types::{Capabilities, InitializeRequestArguments};

pub use context::{AsyncContext, SessionEnded};

/// The handlers of an adapter, some of which await. `S` is the state of one session, which they share.
pub struct AsyncServer<S> {
    server: Server<S>,
}

impl<S> Clone for AsyncServer<S> {
    fn clone(&self) -> Self {
        let server = self.server.clone();
        Self { server }
    }
}

impl<S> std::fmt::Debug for AsyncServer<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("AsyncServer").field(&self.server).finish()
    }
}

impl<S: 'static> AsyncServer<S> {
    /// A builder without handlers.
    pub fn builder() -> AsyncServerBuilder<S> {
        AsyncServerBuilder {
            builder: Server::builder(),
        }
    }

    /// Serves the client at the other end of a connection until the session is over. Then closes the connection, and returns the state.
    ///
    /// # Panics
    /// The runtime has no time enabled.
    pub async fn run(&self, connection: Connection, state: S) -> S {
        self.run_with(connection, |_| state).await
    }

    /// As [`run`](Self::run), for a state that is made from its session, e.g. to keep a [`Later`](crate::server::Later).
    ///
    /// # Panics
    /// The runtime has no time enabled.
    pub async fn run_with(
        &self,
        connection: Connection,
        state: impl FnOnce(&Session<S>) -> S,
    ) -> S {
        let wake = Arc::new(Notify::new());
        let waking = || {
            let wake = wake.clone();
            move || wake.notify_one()
        };
        connection.outgoing.never_block();
        let mut session = self.server.start(&connection);
        let tasks = Arc::new(Tasks::new(wake.clone()));
        session.set_tasks(tasks.clone());
        session.on_job(waking());
        session.outbox().cancel_at_end(waking());
        connection.on_incoming(waking());
        let mut state = state(&session);
        let mut serving = Serving {
            connection: &connection,
            tasks: &tasks,
            client_is_gone: false,
        };
        let mut turns = 0_usize;
        while session.flow() == Flow::Continue {
            let outgoing = &connection.outgoing;
            // Created before looking, so that a change right after the look is not missed.
            let (drained, closing) = (outgoing.drained(), outgoing.closing());
            if serving.turn(&mut session, &mut state) {
                turns += 1;
                if turns.is_multiple_of(TURNS) {
                    yield_now().await;
                }
            } else if outgoing.room_now() == Room::None {
                let changed = either(wake.notified(), drained);
                timeout(Writer::RECHECK, changed).await.ok();
            } else {
                either(wake.notified(), closing).await;
            }
        }
        session.finish();
        drop(session);
        tasks.end(CLOSE_TIMEOUT).await;
        connection.outgoing.finish().await;
        state
    }

    /// Serves the client that has started this program and talks to it over standard input and output, as
    /// [`Server::serve_stdio`]. Nothing else in the process may use the two.
    ///
    /// # Panics
    /// The runtime has no time enabled.
    pub async fn serve_stdio(&self, state: impl FnOnce(&Session<S>) -> S) -> S {
        self.run_with(Connection::stdio(), state).await
    }

    /// Serves each client of a listener on a task of its own, with a state of its own that `state` makes, until the listener is stopped
    /// and the last session has ended. Refused or lost clients do not end the serving, nor does a session that panics. If the future is
    /// dropped, the sessions end.
    ///
    /// ```
    /// use dapple_dap::async_client::AsyncClient;
    /// use dapple_dap::async_server::AsyncServer;
    /// use dapple_dap::transport::listen::{AsyncListener, Reach, TcpServer};
    /// use dapple_dap::types::*;
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    /// # runtime.block_on(async {
    /// let server = AsyncServer::<i64>::builder()
    ///     .on_async::<ThreadsRequest, _>(|asked, _, _| {
    ///         *asked += 1;
    ///         let thread = Thread::new(*asked, "main");
    ///         async move { Ok(ThreadsResponse::new(vec![thread])) }
    ///     })
    ///     .build();
    /// let listener = AsyncListener::tcp(TcpServer::bind("127.0.0.1:0".parse()?, Reach::Loopback)?)?;
    /// let address = listener.address()?;
    /// let clients = async {
    ///     for _ in 0..2 {
    ///         let client = AsyncClient::connect(address).await?;
    ///         client.request::<InitializeRequest>(InitializeRequestArguments::new("any")).await?;
    ///         assert_eq!(client.request::<ThreadsRequest>(Empty).await?.threads[0].id, 1);
    ///     }
    ///     listener.stop();
    ///     Ok::<(), Box<dyn std::error::Error>>(())
    /// };
    /// # let serving = server.serve(&listener, |_| 0);
    /// # let mut clients = std::pin::pin!(clients);
    /// # let mut serving = std::pin::pin!(serving);
    /// # let mut done = None;
    /// # std::future::poll_fn(|context| {
    /// #     if done.is_none() && let std::task::Poll::Ready(result) = clients.as_mut().poll(context) {
    /// #         done = Some(result);
    /// #     }
    /// #     serving.as_mut().poll(context)
    /// # }).await?;
    /// # done.unwrap()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Accepting failed in a way that does not pass.
    pub async fn serve(
        &self,
        listener: &AsyncListener,
        state: impl Fn(&Session<S>) -> S + Send + Sync + 'static,
    ) -> Result<(), AcceptError>
    where
        S: Send,
    {
        let state = Arc::new(state);
        let mut sessions = JoinSet::new();
        let outcome = loop {
            match listener.accept(Options::new()).await {
                Ok(connection) => {
                    let (server, state) = (self.clone(), state.clone());
                    sessions.spawn(async move {
                        server.run_with(connection, |session| state(session)).await;
                    });
                }
                Err(AcceptError::Stopped) => break Ok(()),
                Err(error) if error.is_passing() => {
                    tracing::warn!(%error, "a connection was not accepted");
                    if error.is_shortage() && sessions.is_empty() {
                        tokio::time::sleep(SHORTAGE).await;
                    } else if error.is_shortage() {
                        // A session that ends ends the wait too.
                        let ended = async { drop(sessions.join_next().await) };
                        either(ended, tokio::time::sleep(SHORTAGE)).await;
                    }
                }
                Err(error) => {
                    tracing::error!(%error, "no more connections are accepted");
                    break Err(error);
                }
            }
            while sessions.try_join_next().is_some() {}
        };
        while sessions.join_next().await.is_some() {}
        outcome
    }

    /// The capabilities that are offered to every client, before [`AsyncServerBuilder::capabilities_for`] adjusts them.
    pub fn capabilities(&self) -> &Capabilities {
        self.server.capabilities()
    }
}

/// After how many messages and closures in a row the session lets other tasks of its thread run.
const TURNS: usize = 32;

/// What a session on a task has beside itself.
struct Serving<'a> {
    connection: &'a Connection,
    tasks: &'a Tasks,
    client_is_gone: bool,
}

impl Serving<'_> {
    /// Runs a closure and handles a message, if there are any, and requests may be started. `false`: there was nothing to do.
    fn turn<S: 'static>(&mut self, session: &mut Session<S>, state: &mut S) -> bool {
        let job = session.jobs().try_recv().ok();
        let has_job = job.is_some();
        if let Some(job) = job
            && session.run_job(state, job) == Flow::Closed
        {
            return true;
        }
        let Some(incoming) = self.next() else {
            return has_job;
        };
        self.client_is_gone |= matches!(incoming, Incoming::Closed(_));
        // The loop looks at `Session::flow`.
        let _ = session.handle(state, incoming);
        true
    }

    fn next(&self) -> Option<Incoming> {
        let room = self.connection.outgoing.room_now();
        // A client that leaves has its requests cancelled soon, and needs its `disconnect` handled.
        let may_start = self.tasks.has_room()
            || room == Room::Closed
            || self.connection.cancellations.client_leaves();
        if self.client_is_gone || room == Room::None || !may_start {
            return None;
        }
        let incoming = self.connection.take_incoming();
        let lost = || (room == Room::Closed).then_some(Incoming::Closed(Closed::ByPeer));
        incoming.or_else(lost)
    }
}

/// Collects the handlers of an [`AsyncServer`].
#[must_use = "nothing is served until `build` is called"]
pub struct AsyncServerBuilder<S> {
    builder: ServerBuilder<S>,
}

impl<S> std::fmt::Debug for AsyncServerBuilder<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("AsyncServerBuilder")
            .field(&self.builder)
            .finish()
    }
}

/// Synchronous handlers and settings that are made for a [`Server`], to which asynchronous handlers are added.
impl<S: 'static> From<ServerBuilder<S>> for AsyncServerBuilder<S> {
    fn from(builder: ServerBuilder<S>) -> Self {
        Self { builder }
    }
}

impl<S: 'static> AsyncServerBuilder<S> {
    /// Sets capabilities that no request's handler implies; see [`ServerBuilder::capabilities`].
    pub fn capabilities(self, set: impl FnOnce(&mut Capabilities)) -> Self {
        self.builder.capabilities(set).into()
    }

    /// Leaves out the events that go against conventions of clients; see [`ServerBuilder::keep_conventions`].
    pub fn keep_conventions(self) -> Self {
        self.builder.keep_conventions().into()
    }

    /// Adjusts the capabilities to a client; see [`ServerBuilder::capabilities_for`].
    pub fn capabilities_for(
        self,
        adjust: impl Fn(&InitializeRequestArguments, &mut Capabilities) + Send + Sync + 'static,
    ) -> Self {
        self.builder.capabilities_for(adjust).into()
    }

    /// Adjusts each failure to the client that gets it; see [`ServerBuilder::failures_for`].
    pub fn failures_for(
        self,
        adjust: impl Fn(&InitializeRequestArguments, Failure) -> Failure + Send + Sync + 'static,
    ) -> Self {
        self.builder.failures_for(adjust).into()
    }

    /// Calls a function when the client sends `initialize`, before the request is answered.
    pub fn on_initialize(
        self,
        hook: impl Fn(&mut S, &InitializeRequestArguments) + Send + Sync + 'static,
    ) -> Self {
        self.builder.on_initialize(hook).into()
    }

    /// Registers a handler that answers by returning, and must not block; see [`ServerBuilder::on`].
    pub fn on<R: Request>(
        self,
        handler: impl Fn(&mut S, R::Arguments, &mut Context) -> Result<R::Response, Failure>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.builder.on::<R>(handler).into()
    }

    /// Registers a handler whose request is answered through a [`Responder`]; see [`ServerBuilder::on_deferred`].
    pub fn on_deferred<R: Request>(
        self,
        handler: impl Fn(&mut S, R::Arguments, Responder<R>, &mut Context) + Send + Sync + 'static,
    ) -> Self {
        self.builder.on_deferred::<R>(handler).into()
    }

    /// Registers a handler whose future answers the request, and sets the request's capability. A second handler for the same request
    /// replaces the first.
    ///
    /// The function is called in the order of the requests, with the state. The future runs on a task of its own and can't borrow
    /// the state: it copies what it needs before `async move`, or gets to the state by [`AsyncContext::with`]. If either panics, the request
    /// is answered with an error, and the session goes on.
    pub fn on_async<R, F>(
        self,
        handler: impl Fn(&mut S, R::Arguments, AsyncContext<S>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        R: Request,
        F: Future<Output = Result<R::Response, Failure>> + Send + 'static,
    {
        let handler = handler::asynchronous::<S, R, F>(handler);
        self.builder.register::<R>(handler).into()
    }

    /// The server. `disconnect` and `cancel` are answered even without a handler.
    pub fn build(self) -> AsyncServer<S> {
        let server = self.builder.build();
        AsyncServer { server }
    }
}
