//! The SDK for adapters: handlers by request type, and sessions that call them.
//!
//! A [`Server`] is the table of handlers. [`Server::start`] creates a [`Session`] with one client, which [`Session::run`] then
//! serves; [`Server::serve`] does both for each client of a listener. Registering a handler sets the request's capability, so that
//! each advertised request has a handler. The session, not the handlers, keeps the protocol's rules; see [`crate::lifecycle`].
//!
//! | a handler wants | it uses |
//! | --- | --- |
//! | to answer now | [`ServerBuilder::on`] and its return value |
//! | to fail | a [`Failure`] with a sentence; any error becomes one with `?` |
//! | to answer later, or from another thread | [`ServerBuilder::on_deferred`] and the [`Responder`] |
//! | to send an event, or ask the client for something | the [`Outbox`] of its [`Context`] |
//! | to do something once its answer has left | [`Context::after_response`] |
//! | to stop when the client cancels the request | [`Context::cancelled`] |
//! | to show that it is still at work | a [`Progress`], or a [`LateProgress`] if the work is usually quick |
//! | numbers for frames and variables | [`References`] |
//! | to name lines, columns and files as the client does | [`ClientConventions`] |
//!
//! An adapter that executes its debuggee itself calls [`Session::run_interpreter`]; one that waits for a debuggee elsewhere calls
//! [`Session::handle`] from its own loop. Capabilities that belong to no
//! request, such as `supportsEvaluateForHovers`, are set by [`ServerBuilder::capabilities`].
//!
//! Not responsible for bytes and connections ([`crate::transport`]), nor for what a request means: whether thread 7 exists, and
//! whether a breakpoint is verified, is up to the adapter. Handlers run one after the other on the thread that calls
//! [`Session::run`] or [`Session::handle`], and share the session's state, an `S`, without a lock. Long work belongs on a thread of
//! the adapter's own, which keeps the responder:
//!
//! ```
//! use std::time::Duration;
//! use dapple_dap::server::{Failure, Progress, Server};
//! use dapple_dap::testing::TestClient;
//! use dapple_dap::types::*;
//!
//! let server = Server::<()>::builder()
//!     .on_deferred::<EvaluateRequest>(|_, arguments, responder, context| {
//!         let mut progress = Progress::start(context.outbox(), "Counting");
//!         std::thread::spawn(move || {
//!             for percent in 0..100 {
//!                 if responder.cancelled().is_cancelled() {
//!                     return responder.fail(Failure::cancelled());
//!                 }
//!                 // Most updates are not sent: a client gets at most ten a second.
//!                 progress.update(None, Some(f64::from(percent)));
//!             }
//!             responder.respond(EvaluateResponse::new(arguments.expression.len().to_string(), 0));
//!         });
//!     })
//!     .on::<LaunchRequest>(|_, _, context| {
//!         let outbox = context.outbox().clone();
//!         let terminal = RunInTerminalRequestArguments::new("/", vec!["./program".to_owned()]);
//!         context.outbox().request_within::<RunInTerminalRequest>(Duration::from_secs(60), terminal, move |answer| {
//!             let text = match answer {
//!                 Ok(answer) => format!("it runs as {:?}", answer.process_id),
//!                 Err(error) => format!("no terminal: {error}"),
//!             };
//!             outbox.event::<OutputEvent>(OutputEventBody::new(text));
//!         });
//!         Ok(Empty)
//!     })
//!     .build();
//!
//! let (client, session) = TestClient::of(&server, ());
//! client.initialize();
//! assert_eq!(client.ok::<EvaluateRequest>(EvaluateArguments::new("four")).result, "4");
//! client.ok::<LaunchRequest>(LaunchRequestArguments::new());
//! client.assert_output("console", "no terminal: the client does not support `runInTerminal`");
//! client.disconnect();
//! client.assert_no_violations();
//! session.join().unwrap();
//! ```

mod conventions;
pub(crate) mod dispatch;
mod late_progress;
mod later;
mod outbox;
mod progress;
mod references;
mod session;
#[cfg(feature = "tokio")]
pub(crate) mod tasks;

use std::collections::HashMap;
use std::sync::Arc;

use crate::failure;
use crate::message::{Direction, Empty, Request};
use crate::transport::listen::{AcceptError, Listener, serve_each};
use crate::transport::{Connection, Options};
use crate::types::{CancelRequest, Capabilities, DisconnectRequest, InitializeRequestArguments};

pub use conventions::{
    ClientConventions, PathFormat, byte_of_column, path_to_uri, uri_to_path, utf16_column,
};
pub use dispatch::{Context, Responder};
pub use failure::Failure;
pub use late_progress::LateProgress;
pub use later::{Job, Later};
pub use outbox::{Outbox, RequestError};
pub use progress::Progress;
pub use references::{Exhausted, ReferenceError, References};
pub use session::{Flow, Session};

/// The handlers of an adapter. `S` is the state of one session, which they share.
pub struct Server<S> {
    inner: Arc<Inner<S>>,
}

type CapabilitiesFor = Box<dyn Fn(&InitializeRequestArguments, &mut Capabilities) + Send + Sync>;
pub(crate) type FailuresFor =
    Arc<dyn Fn(&InitializeRequestArguments, Failure) -> Failure + Send + Sync>;
type OnInitialize<S> = Box<dyn Fn(&mut S, &InitializeRequestArguments) + Send + Sync>;

struct Inner<S> {
    handlers: HashMap<&'static str, dispatch::Handler<S>>,
    capabilities: Capabilities,
    capabilities_for: Vec<CapabilitiesFor>,
    failures_for: Option<FailuresFor>,
    on_initialize: Vec<OnInitialize<S>>,
    keeps_conventions: bool,
}

impl<S> Clone for Server<S> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
        }
    }
}

impl<S> std::fmt::Debug for Server<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("handlers", &self.inner.handlers.len())
            .finish_non_exhaustive()
    }
}

impl<S: 'static> Server<S> {
    /// A builder without handlers.
    pub fn builder() -> ServerBuilder<S> {
        ServerBuilder {
            inner: Inner {
                handlers: HashMap::new(),
                capabilities: Capabilities::new(),
                capabilities_for: Vec::new(),
                failures_for: None,
                on_initialize: Vec::new(),
                keeps_conventions: false,
            },
        }
    }

    /// A session with the client at the other end of a connection. It handles nothing until [`Session::run`] or [`Session::handle`] is
    /// called. Keep the connection as long as the session is used: dropping the connection closes it.
    pub fn start(&self, connection: &Connection) -> Session<S> {
        Session::new(self, connection)
    }

    /// Serves the client that has started this program and talks to it over standard input and output, until the session is over.
    /// Returns the state, which `state` makes at the start. This is the whole `main` of an adapter that waits only for its client; see
    /// [`Session::run`]. Nothing else in the process may use standard input and output.
    ///
    /// ```no_run
    /// use dapple_dap::Server;
    /// use dapple_dap::types::*;
    ///
    /// fn main() {
    ///     Server::builder()
    ///         .on::<ThreadsRequest>(|_, _, _| Ok(ThreadsResponse::new(vec![Thread::new(1, "main")])))
    ///         .build()
    ///         .serve_stdio(|_| ());
    /// }
    /// ```
    pub fn serve_stdio(&self, state: impl FnOnce(&Session<S>) -> S) -> S {
        let connection = Connection::stdio();
        let mut session = self.start(&connection);
        let mut state = state(&session);
        session.run(&mut state);
        state
    }

    /// Serves each client of a listener on a thread of its own, with a state of its own that `state` makes, until the listener is stopped and the last
    /// session has ended. Refused or lost clients do not end the serving. To serve with options, or by a loop of your own, use
    /// [`serve_each`].
    ///
    /// ```
    /// use std::sync::Arc;
    /// use dapple_dap::transport::listen::{Reach, TcpServer};
    /// use dapple_dap::types::*;
    /// use dapple_dap::{Client, Server};
    ///
    /// let server = Server::<i64>::builder()
    ///     .on::<ThreadsRequest>(|asked, _, _| {
    ///         *asked += 1;
    ///         Ok(ThreadsResponse::new(vec![Thread::new(*asked, "main")]))
    ///     })
    ///     .build();
    /// let listener = Arc::new(TcpServer::bind("127.0.0.1:0".parse()?, Reach::Loopback)?);
    /// let serving = {
    ///     let listener = listener.clone();
    ///     std::thread::spawn(move || server.serve(&*listener, |_| 0))
    /// };
    /// for _ in 0..2 {
    ///     let client = Client::connect(listener.address()?)?;
    ///     client.request::<InitializeRequest>(InitializeRequestArguments::new("any"))?;
    ///     assert_eq!(client.request::<ThreadsRequest>(Empty)?.threads[0].id, 1);
    /// }
    /// listener.stop();
    /// serving.join().unwrap()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Accepting failed in a way that does not pass.
    pub fn serve(
        &self,
        listener: &impl Listener,
        state: impl Fn(&Session<S>) -> S + Send + Sync + 'static,
    ) -> Result<(), AcceptError> {
        let server = self.clone();
        serve_each(
            listener,
            |_| Options::new(),
            move |_, connection| {
                let mut session = server.start(&connection);
                let mut state = state(&session);
                session.run(&mut state);
            },
        )
    }

    /// The capabilities that are offered to every client, before [`ServerBuilder::capabilities_for`] adjusts them.
    pub fn capabilities(&self) -> &Capabilities {
        &self.inner.capabilities
    }
}

/// Collects the handlers of a [`Server`].
#[must_use = "nothing is served until `build` is called"]
pub struct ServerBuilder<S> {
    inner: Inner<S>,
}

impl<S> std::fmt::Debug for ServerBuilder<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerBuilder")
            .field("handlers", &self.inner.handlers.len())
            .finish_non_exhaustive()
    }
}

impl<S: 'static> ServerBuilder<S> {
    /// Sets capabilities that no request's handler implies, such as `supportsEvaluateForHovers`.
    pub fn capabilities(mut self, set: impl FnOnce(&mut Capabilities)) -> Self {
        set(&mut self.inner.capabilities);
        self
    }

    /// Leaves out the events that go against [conventions](crate::lifecycle) of clients, such as a `continued` about threads that the client
    /// resumed itself, and all events and reverse requests after `terminated`. For an adapter that sends an event for all that its debugger
    /// reports. Without it, only what the specification forbids is left out.
    pub fn keep_conventions(mut self) -> Self {
        self.inner.keeps_conventions = true;
        self
    }

    /// Adjusts the capabilities to a client when it sends `initialize`: for instance, leaves out those that it is known to handle badly.
    pub fn capabilities_for(
        mut self,
        adjust: impl Fn(&InitializeRequestArguments, &mut Capabilities) + Send + Sync + 'static,
    ) -> Self {
        self.inner.capabilities_for.push(Box::new(adjust));
        self
    }

    /// Adjusts each failure to the client that gets it, since clients show error messages differently. A second function replaces the
    /// first.
    pub fn failures_for(
        mut self,
        adjust: impl Fn(&InitializeRequestArguments, Failure) -> Failure + Send + Sync + 'static,
    ) -> Self {
        self.inner.failures_for = Some(Arc::new(adjust));
        self
    }

    /// Calls a function when the client sends `initialize`, before the request is answered.
    pub fn on_initialize(
        mut self,
        hook: impl Fn(&mut S, &InitializeRequestArguments) + Send + Sync + 'static,
    ) -> Self {
        self.inner.on_initialize.push(Box::new(hook));
        self
    }

    /// Registers the handler for a request, which answers by returning, and sets the request's capability. A second handler
    /// for the same request replaces the first.
    pub fn on<R: Request>(
        self,
        handler: impl Fn(&mut S, R::Arguments, &mut Context) -> Result<R::Response, Failure>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.register::<R>(dispatch::immediate::<S, R>(handler))
    }

    /// Registers the handler for a request that is answered later, or from another thread, and sets the request's
    /// capability. Events and requests that the handler sends leave when it returns, whether or not the request is answered by then: to
    /// send an event after the response, use [`Context::after_response`].
    pub fn on_deferred<R: Request>(
        self,
        handler: impl Fn(&mut S, R::Arguments, Responder<R>, &mut Context) + Send + Sync + 'static,
    ) -> Self {
        self.register::<R>(dispatch::deferred::<S, R>(
            move |state, arguments, responder, context, _| {
                handler(state, arguments, responder, context);
            },
        ))
    }

    pub(crate) fn register<R: Request>(mut self, handler: dispatch::Handler<S>) -> Self {
        if let (Direction::ToAdapter, Some(flag)) = (R::DIRECTION, R::CAPABILITY) {
            self.inner.capabilities.support(flag);
        }
        self.inner.handlers.insert(R::COMMAND, handler);
        self
    }

    /// The server. Every adapter has to answer `disconnect` and `cancel`: if no handler was registered for one of them, this adds a
    /// handler that only answers.
    pub fn build(mut self) -> Server<S> {
        if !self.inner.handlers.contains_key(DisconnectRequest::COMMAND) {
            self = self.on::<DisconnectRequest>(|_, _, _| Ok(Empty));
        }
        if !self.inner.handlers.contains_key(CancelRequest::COMMAND) {
            // The reader has already set the cancelled request's token; only the response is left.
            self = self.on::<CancelRequest>(|_, _, _| Ok(Empty));
        }
        Server {
            inner: Arc::new(self.inner),
        }
    }
}
