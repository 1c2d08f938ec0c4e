//! Drives a debugger that speaks the Debug Adapter Protocol on its stdio.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use dapple_dap::client::Client;
use dapple_dap::message::Raw;
use dapple_dap::types::{
    ConfigurationDoneArguments, ConfigurationDoneRequest, DisconnectArguments, DisconnectRequest,
    InitializeRequest, InitializeRequestArguments, InitializedEvent, LaunchRequest,
    LaunchRequestArguments, NextArguments, NextRequest, SetBreakpointsArguments,
    SetBreakpointsRequest, Source, SourceBreakpoint, StepInArguments, StepInRequest,
    SteppingGranularity, StoppedEvent,
};

use super::PATIENCE;
use super::programs::Program;

/// A session stopped at the program's breakpoint.
pub struct Run {
    client: Client,
    thread: i64,
    /// From the start of the process to the first stop.
    pub started_in: Duration,
}

impl Run {
    /// Starts the adapter and goes to the first stop, as an editor would.
    pub fn start(command: &[String], program: &Program) -> anyhow::Result<Self> {
        let (name, arguments) = command.split_first().context("no adapter given")?;
        let begin = Instant::now();
        let mut adapter = Command::new(name);
        adapter
            .args(arguments)
            .env("DEBUGINFOD_URLS", "")
            .stderr(Stdio::null());
        let client = Client::spawn(&mut adapter)?.with_timeout(PATIENCE);
        client.request::<InitializeRequest>(InitializeRequestArguments::new(name.clone()))?;
        let mut launch = LaunchRequestArguments::new();
        launch
            .other
            .insert("program".to_owned(), Raw::new(&program.path)?);
        // Some adapters answer the launch only after `configurationDone`.
        let launched = client.send::<LaunchRequest>(launch)?;
        client.wait_for::<InitializedEvent>(PATIENCE, |_| true)?;
        let source = Source::new().with_path(program.source.to_string_lossy());
        let wanted = SetBreakpointsArguments::new(source)
            .with_breakpoints(vec![SourceBreakpoint::new(program.line)]);
        client.request::<SetBreakpointsRequest>(wanted)?;
        client.request::<ConfigurationDoneRequest>(ConfigurationDoneArguments::default())?;
        launched.wait()?;
        let stop = client.wait_for::<StoppedEvent>(PATIENCE, |_| true)?;
        let started_in = begin.elapsed();
        Ok(Self {
            client,
            thread: stop.thread_id.context("the stop names no thread")?,
            started_in,
        })
    }

    /// Steps over a line.
    pub fn next(&mut self) -> anyhow::Result<()> {
        self.client
            .request::<NextRequest>(NextArguments::new(self.thread))?;
        self.stopped()
    }

    /// Steps one instruction.
    pub fn step_instruction(&mut self) -> anyhow::Result<()> {
        let arguments =
            StepInArguments::new(self.thread).with_granularity(SteppingGranularity::Instruction);
        self.client.request::<StepInRequest>(arguments)?;
        self.stopped()
    }

    fn stopped(&self) -> anyhow::Result<()> {
        self.client.wait_for::<StoppedEvent>(PATIENCE, |_| true)?;
        Ok(())
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // If the adapter doesn't answer, dropping the client kills it.
        let arguments = DisconnectArguments::new().with_terminate_debuggee(true);
        let _ = self.client.request::<DisconnectRequest>(arguments);
    }
}
