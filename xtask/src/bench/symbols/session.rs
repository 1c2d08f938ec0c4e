//! Measures a debugger up to the first stop: the time, and the memory that it uses.

use std::fmt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use dapple_dap::client::Client;
use dapple_dap::message::Raw;
use dapple_dap::types::*;

use super::memory::Watch;
use super::programs::Program;
use crate::bench::mi;

/// How long an operation may take before the debugger counts as hung.
const PATIENCE: Duration = Duration::from_secs(120);

/// Where to stop.
pub enum Place {
    /// A line of the program's source.
    Line(i64),
    /// A function, by its full name.
    Function(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Function(name) => f.write_str(name),
        }
    }
}

/// The measurements of one session.
pub struct Measured {
    /// From the start of the process to the first stop.
    pub stopped_in: Duration,
    /// The debugger's peak of anonymous memory, in bytes, until it is idle after the stop.
    pub peak: u64,
}

/// Measures a debug adapter.
pub fn dap(
    command: &[String],
    init: &[String],
    cache: Option<&Path>,
    program: &Program,
    place: &Place,
) -> anyhow::Result<Measured> {
    let (name, arguments) = command.split_first().context("no adapter given")?;
    let mut adapter = Command::new(name);
    adapter
        .args(arguments)
        .env("DEBUGINFOD_URLS", "")
        .stderr(Stdio::null());
    if let Some(cache) = cache {
        adapter.env("XDG_CACHE_HOME", cache);
    }
    let begin = Instant::now();
    let client = Client::spawn(&mut adapter)?.with_timeout(PATIENCE);
    let process = client.process_id().context("the adapter is no process")?;
    let watch = Watch::start(process);
    client.request::<InitializeRequest>(InitializeRequestArguments::new(name.clone()))?;
    let mut launch = LaunchRequestArguments::new();
    let mut argument = |name: &str, value: Raw| launch.other.insert(name.to_owned(), value);
    argument("program", Raw::new(&program.path)?);
    if !init.is_empty() {
        argument("initCommands", Raw::new(init)?);
    }
    let launched = client.send::<LaunchRequest>(launch)?;
    client.wait_for::<InitializedEvent>(PATIENCE, |_| true)?;
    match place {
        Place::Line(line) => {
            let source = Source::new().with_path(program.source.to_string_lossy());
            let wanted = SetBreakpointsArguments::new(source)
                .with_breakpoints(vec![SourceBreakpoint::new(*line)]);
            client.request::<SetBreakpointsRequest>(wanted)?;
        }
        Place::Function(name) => {
            let wanted =
                SetFunctionBreakpointsArguments::new(vec![FunctionBreakpoint::new(name.clone())]);
            client.request::<SetFunctionBreakpointsRequest>(wanted)?;
        }
    }
    client.request::<ConfigurationDoneRequest>(ConfigurationDoneArguments::default())?;
    launched.wait()?;
    client.wait_for::<StoppedEvent>(PATIENCE, |_| true)?;
    let stopped_in = begin.elapsed();
    let peak = watch.finish(PATIENCE);
    // If the adapter doesn't answer, dropping the client kills it.
    let arguments = DisconnectArguments::new().with_terminate_debuggee(true);
    client.request::<DisconnectRequest>(arguments).ok();
    Ok(Measured { stopped_in, peak })
}

/// Measures gdb through its machine interface.
pub fn mi(program: &Program, place: &Place) -> anyhow::Result<Measured> {
    let location = match place {
        Place::Line(line) => format!("{}:{line}", program.source.display()),
        Place::Function(name) => name.clone(),
    };
    let run = mi::Run::start_at("gdb", &program.path, &location)?;
    let watch = Watch::start(run.process());
    Ok(Measured {
        stopped_in: run.started_in,
        peak: watch.finish(PATIENCE),
    })
}
