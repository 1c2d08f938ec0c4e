//! The ready-made answers to reverse requests, as those of [`Client`](crate::Client), and the start of a session.

use std::future::Future;
use std::io;
use std::panic::resume_unwind;
use std::sync::Arc;

use tokio::sync::mpsc;

use super::AsyncClient;
use crate::client::start_debugging::{not_connected, not_wanted};
use crate::client::{ChildSession, ClientError, RunInTerminal};
use crate::failure::Failure;
use crate::launch::Start;
use crate::message::{Empty, Request};
use crate::types::{
    AttachRequest, InitializeRequest, InitializeRequestArguments, LaunchRequest,
    RunInTerminalRequest, StartDebuggingRequest, StartDebuggingRequestArguments,
};

impl AsyncClient {
    /// Answers `runInTerminal` by starting the program; as [`Client::on_run_in_terminal`](crate::Client::on_run_in_terminal).
    /// [`close(grace)`](Self::close) first waits for the adapter; the programs get the rest of `grace`, and are then killed. When the client is
    /// dropped, they are killed at once.
    pub fn on_run_in_terminal(&self, starting: RunInTerminal) {
        let programs = self.shared.programs().clone();
        if let Some(capability) = starting.announced() {
            self.shared.announce(capability);
        }
        self.on::<RunInTerminalRequest, _>(move |asked| {
            let (starting, programs) = (starting.clone(), programs.clone());
            // The callbacks may wait.
            let start = tokio::task::spawn_blocking(move || starting.start(&asked, &programs));
            async move {
                match start.await {
                    Ok(started) => started,
                    Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
                    Err(_) => Err(Failure::new("the client has ended")),
                }
            }
        });
    }

    /// Answers `startDebugging` by connecting a new client; as [`Client::on_start_debugging`](crate::Client::on_start_debugging).
    pub fn on_start_debugging<F>(
        &self,
        connect: impl Fn(&StartDebuggingRequestArguments) -> F + Send + Sync + 'static,
    ) -> mpsc::UnboundedReceiver<ChildSession<AsyncClient>>
    where
        F: Future<Output = io::Result<AsyncClient>> + Send + 'static,
    {
        let (sender, sessions) = mpsc::unbounded_channel();
        let sender = Arc::new(sender);
        self.on::<StartDebuggingRequest, _>(move |asked| {
            let (client, sender) = (connect(&asked), sender.clone());
            async move {
                let client = client.await.map_err(|error| not_connected(&error))?;
                match sender.send(ChildSession::new(client, asked)) {
                    Ok(()) => Ok(Empty),
                    Err(_) => Err(not_wanted()),
                }
            }
        });
        sessions
    }

    /// Starts a session, with `configure` at the event `initialized`; as [`Client::begin`](crate::Client::begin).
    ///
    /// # Errors
    /// A request failed, or what `configure` returns.
    pub async fn begin(
        &self,
        initialize: InitializeRequestArguments,
        start: Start,
        configure: impl AsyncFnOnce(&Self) -> Result<(), ClientError>,
    ) -> Result<(), ClientError> {
        self.request::<InitializeRequest>(initialize).await?;
        match start {
            Start::Launch(launch) => self.begin_by::<LaunchRequest>(launch, configure).await,
            Start::Attach(attach) => self.begin_by::<AttachRequest>(attach, configure).await,
        }
    }

    async fn begin_by<R: Request>(
        &self,
        arguments: R::Arguments,
        configure: impl AsyncFnOnce(&Self) -> Result<(), ClientError>,
    ) -> Result<(), ClientError> {
        let started = self.start::<R>(arguments).await?;
        configure(self).await?;
        self.configured(started).await.map(drop)
    }
}
