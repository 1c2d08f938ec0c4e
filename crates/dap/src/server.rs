//! The SDK for adapters: handlers by request type, and sessions that call them.
//!
//! A [`Server`] is the table of handlers; [`Server::start`] makes a [`Session`] of it for each client. What is advertised
//! exists: a request's capability is set by registering its handler. The rules of a session are kept by the session,
//! not by the handlers; see [`crate::lifecycle`].

mod conventions;
mod dispatch;
mod failure;
mod outbox;
mod progress;
mod references;
mod session;

use std::collections::HashMap;
use std::sync::Arc;

use crate::message::{Direction, Empty, Request};
use crate::transport::Connection;
use crate::types::{CancelRequest, Capabilities, DisconnectRequest, InitializeRequestArguments};

pub use conventions::{
    ClientConventions, PathFormat, byte_of_column, path_to_uri, uri_to_path, utf16_column,
};
pub use dispatch::{Context, Responder};
pub use failure::Failure;
pub(crate) use outbox::failure_text;
pub use outbox::{Outbox, RequestError};
pub use progress::Progress;
pub use references::{Exhausted, ReferenceError, References};
pub use session::{Flow, Session};

/// The handlers of an adapter. `S` is the state of one session, which they share.
pub struct Server<S> {
    inner: Arc<Inner<S>>,
}

type CapabilitiesFor = Box<dyn Fn(&InitializeRequestArguments, &mut Capabilities) + Send + Sync>;
type OnInitialize<S> = Box<dyn Fn(&mut S, &InitializeRequestArguments) + Send + Sync>;

struct Inner<S> {
    handlers: HashMap<&'static str, dispatch::Handler<S>>,
    capabilities: Capabilities,
    capabilities_for: Vec<CapabilitiesFor>,
    on_initialize: Vec<OnInitialize<S>>,
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
    /// A server without handlers, to be filled.
    pub fn builder() -> ServerBuilder<S> {
        ServerBuilder {
            inner: Inner {
                handlers: HashMap::new(),
                capabilities: Capabilities::new(),
                capabilities_for: Vec::new(),
                on_initialize: Vec::new(),
            },
        }
    }

    /// Starts a session with the client at the other end of a connection.
    pub fn start(&self, connection: &Connection) -> Session<S> {
        Session::new(self, connection)
    }

    /// What is offered to clients, before adjustments to one.
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
    /// Sets capabilities that do not come with a request, such as `supportsEvaluateForHovers`.
    pub fn capabilities(mut self, set: impl FnOnce(&mut Capabilities)) -> Self {
        set(&mut self.inner.capabilities);
        self
    }

    /// Adjusts the capabilities to a client, when it sends `initialize`: for those that a client is known to handle badly.
    pub fn capabilities_for(
        mut self,
        adjust: impl Fn(&InitializeRequestArguments, &mut Capabilities) + Send + Sync + 'static,
    ) -> Self {
        self.inner.capabilities_for.push(Box::new(adjust));
        self
    }

    /// Calls a function when the client sends `initialize`, before that is answered.
    pub fn on_initialize(
        mut self,
        hook: impl Fn(&mut S, &InitializeRequestArguments) + Send + Sync + 'static,
    ) -> Self {
        self.inner.on_initialize.push(Box::new(hook));
        self
    }

    /// Registers the handler for a request, which answers by returning, and sets the request's capability. A second one
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
    /// capability. What the handler sends leaves when it returns, whether or not the request is answered then.
    pub fn on_deferred<R: Request>(
        self,
        handler: impl Fn(&mut S, R::Arguments, Responder<R>, &mut Context) + Send + Sync + 'static,
    ) -> Self {
        self.register::<R>(dispatch::deferred::<S, R>(handler))
    }

    fn register<R: Request>(mut self, handler: dispatch::Handler<S>) -> Self {
        if let (Direction::ToAdapter, Some(flag)) = (R::DIRECTION, R::CAPABILITY) {
            self.inner.capabilities.support(flag);
        }
        self.inner.handlers.insert(R::COMMAND, handler);
        self
    }

    /// The server. Requests that every adapter has to answer and that were not registered get a handler that does just
    /// that.
    pub fn build(mut self) -> Server<S> {
        if !self.inner.handlers.contains_key(DisconnectRequest::COMMAND) {
            self = self.on::<DisconnectRequest>(|_, _, _| Ok(Empty));
        }
        if !self.inner.handlers.contains_key(CancelRequest::COMMAND) {
            // Cancelling takes effect where the message is read; all that is left to do is to answer.
            self = self.on::<CancelRequest>(|_, _, _| Ok(Empty));
        }
        Server {
            inner: Arc::new(self.inner),
        }
    }
}
