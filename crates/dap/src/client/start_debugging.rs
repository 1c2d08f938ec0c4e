//! A ready-made answer to `startDebugging`: a new client is connected to the adapter for the other session.
//!
//! Some adapters debug each process, worker or page of a program in a session of its own, such as vscode-js-debug. The first session then
//! debugs nothing itself; it only asks for the other sessions. The adapter says how the other one starts; where it is reached is up to the caller.

use std::io;

use crossbeam_channel::Receiver;

use super::dispatch::Runs;
use super::{Client, ClientError};
use crate::failure::Failure;
use crate::launch::Start;
use crate::message::{DecodeError, Empty, Request};
use crate::types::{
    AttachRequest, InitializeRequest, InitializeRequestArguments, LaunchRequest,
    StartDebuggingRequest, StartDebuggingRequestArguments,
};

/// A session that an adapter asked for, with a client that has sent nothing yet.
#[derive(Debug)]
#[non_exhaustive]
pub struct ChildSession<C = Client> {
    /// The client of the session.
    pub client: C,
    /// What the adapter asked for.
    pub asked: StartDebuggingRequestArguments,
}

impl<C> ChildSession<C> {
    pub(crate) fn new(client: C, asked: StartDebuggingRequestArguments) -> Self {
        Self { client, asked }
    }

    /// The request that starts the session.
    ///
    /// # Errors
    /// The adapter's configuration has `noDebug` with the wrong shape, or its `request` is neither `launch` nor `attach`.
    pub fn start(&self) -> Result<Start, DecodeError> {
        self.asked.start()
    }
}

/// The answer to a request whose session could not be passed on.
pub(crate) fn not_wanted() -> Failure {
    Failure::new("the client opens no more sessions")
}

/// The answer to a request for a session that cannot be connected.
pub(crate) fn not_connected(error: &io::Error) -> Failure {
    Failure::new(format!("the other session has no connection: {error}"))
}

impl Client {
    /// Answers `startDebugging` by connecting a new client with `connect`, which runs on a thread of its own. Call it before `initialize`,
    /// which then announces it. The sessions come from the channel, which is closed when the adapter is gone.
    ///
    /// An adapter that listens is reached at the same address, one on standard input and output is started again. A session may ask for
    /// further sessions: `connect` can register the same answer at the new client.
    ///
    /// ```no_run
    /// use dapple_dap::Client;
    /// use dapple_dap::types::*;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let launch = LaunchRequestArguments::new();
    /// let address = ("127.0.0.1", 8123);
    /// let client = Client::connect(address)?;
    /// let sessions = client.on_start_debugging(move |_| Client::connect(address));
    /// client.begin(InitializeRequestArguments::new("pwa-node"), launch.into(), |_| Ok(()))?;
    /// // Dropping a client ends its session.
    /// let mut children = Vec::new();
    /// for session in sessions {
    ///     let who = InitializeRequestArguments::new("pwa-node");
    ///     session.client.begin(who, session.start()?, |client| {
    ///         let place = Source::new().with_path("/src/server.js");
    ///         let lines = vec![SourceBreakpoint::new(7)];
    ///         let breakpoints = SetBreakpointsArguments::new(place).with_breakpoints(lines);
    ///         client.request::<SetBreakpointsRequest>(breakpoints).map(drop)
    ///     })?;
    ///     children.push(session);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_start_debugging(
        &self,
        connect: impl Fn(&StartDebuggingRequestArguments) -> io::Result<Client> + Send + Sync + 'static,
    ) -> Receiver<ChildSession> {
        let (sender, sessions) = crossbeam_channel::unbounded();
        let answer = move |asked| {
            let client = connect(&asked).map_err(|error| not_connected(&error))?;
            match sender.send(ChildSession::new(client, asked)) {
                Ok(()) => Ok(Empty),
                Err(_) => Err(not_wanted()),
            }
        };
        self.shared
            .on::<StartDebuggingRequest>(Runs::Elsewhere, answer);
        sessions
    }

    /// Starts a session: `initialize`, then `launch` or `attach`, then `configure` at the event `initialized`, to set breakpoints, then
    /// `configurationDone` if the adapter advertises it. Returns once `launch` or `attach` is answered, which some adapters do only at the
    /// end. Each step may take the client's [timeout](Client::with_timeout).
    ///
    /// # Errors
    /// A request failed, or what `configure` returns.
    pub fn begin(
        &self,
        initialize: InitializeRequestArguments,
        start: Start,
        configure: impl FnOnce(&Self) -> Result<(), ClientError>,
    ) -> Result<(), ClientError> {
        self.request::<InitializeRequest>(initialize)?;
        match start {
            Start::Launch(launch) => self.begin_by::<LaunchRequest>(launch, configure),
            Start::Attach(attach) => self.begin_by::<AttachRequest>(attach, configure),
        }
    }

    fn begin_by<R: Request>(
        &self,
        arguments: R::Arguments,
        configure: impl FnOnce(&Self) -> Result<(), ClientError>,
    ) -> Result<(), ClientError> {
        let started = self.start::<R>(arguments)?;
        configure(self)?;
        self.configured(started).map(drop)
    }
}
