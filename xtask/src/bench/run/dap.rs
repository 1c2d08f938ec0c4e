//! Drives a debugger that speaks the Debug Adapter Protocol on its stdio.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use dapple_dap::message::{Event, Raw};
use dapple_dap::types::*;

use super::session::{Breakpoint, Debuggee, Session};
use super::wire::Wire;

/// For how long a refused pause is retried.
const PATIENCE: Duration = Duration::from_secs(1);

/// A session over the protocol.
pub struct Dap {
    pub(in crate::bench) client: Wire,
    source: Source,
    pub(in crate::bench) thread: i64,
    /// The innermost frame's id, once it was requested at this stop.
    frame: Option<i64>,
    logged: usize,
    lines: usize,
    is_dapple: bool,
}

impl Dap {
    /// Starts the adapter and goes to the first stop, as an editor would.
    pub fn start(command: &[String], debuggee: &Debuggee) -> anyhow::Result<Self> {
        let (name, arguments) = command.split_first().context("no adapter given")?;
        let mut adapter = Command::new(name);
        adapter.args(arguments).env("DEBUGINFOD_URLS", "");
        let mut session = Self {
            client: Wire::start(&mut adapter)?,
            source: Source::new().with_path(debuggee.source.to_string_lossy()),
            thread: 0,
            frame: None,
            logged: 0,
            lines: 0,
            is_dapple: name.ends_with("dapple"),
        };
        let initialize = InitializeRequestArguments::new(name.clone());
        session.client.request::<InitializeRequest>(&initialize)?;
        let mut launch = LaunchRequestArguments::new();
        let mut argument = |name: &str, value: Raw| launch.other.insert(name.to_owned(), value);
        argument("program", Raw::new(&debuggee.program)?);
        argument("args", Raw::new(&[debuggee.argument.to_string()])?);
        if session.is_dapple {
            argument("conditionsInProgram", Raw::new(&debuggee.decides)?);
            argument("record", Raw::new(&debuggee.recorded)?);
        }
        if debuggee.rust && name.contains("lldb") {
            argument("initCommands", Raw::new(&rust_in_lldb()?)?);
        }
        // Some adapters answer the launch only after `configurationDone`.
        let launched = session.client.send::<LaunchRequest>(&launch)?;
        session
            .until::<InitializedEvent>()?
            .context("the session has ended")?;
        session.arm(&[(debuggee.begin, Breakpoint::Plain)])?;
        let done = ConfigurationDoneArguments::default();
        session.client.request::<ConfigurationDoneRequest>(&done)?;
        session.client.answer::<LaunchRequest>(&launched)?;
        session.stopped()?;
        Ok(session)
    }

    /// Reads all events up to the next stop.
    pub(in crate::bench) fn stopped(&mut self) -> anyhow::Result<()> {
        let stop = self
            .until::<StoppedEvent>()?
            .context("the program has ended")?;
        self.thread = stop.thread_id.unwrap_or(self.thread);
        self.frame = None;
        Ok(())
    }

    /// The innermost frame.
    fn frame(&mut self) -> anyhow::Result<StackFrame> {
        let arguments = StackTraceArguments::new(self.thread).with_levels(1);
        let stack = self.client.request::<StackTraceRequest>(&arguments)?;
        let frame = stack.stack_frames.into_iter().next().context("no frame")?;
        self.frame = Some(frame.id);
        Ok(frame)
    }

    /// The innermost frame's id.
    pub(in crate::bench) fn frame_id(&mut self) -> anyhow::Result<i64> {
        match self.frame {
            Some(id) => Ok(id),
            None => Ok(self.frame()?.id),
        }
    }

    /// Reads all events up to the next one of this kind; `None` if the session ended before.
    fn until<E: Event>(&mut self) -> anyhow::Result<Option<E::Body>> {
        loop {
            let event = self.client.event()?;
            if let Some(body) = event.body::<E>()? {
                return Ok(Some(body));
            }
            if let Some(output) = event.body::<OutputEvent>()? {
                let lines = output.output.bytes().filter(|byte| *byte == b'\n').count();
                match output.category {
                    Some(OutputEventCategory::Stdout) => self.lines += lines,
                    _ => self.logged += lines,
                }
            }
            if event.body::<TerminatedEvent>()?.is_some() {
                return Ok(None);
            }
        }
    }
}

/// The commands that `rust-lldb` passes to lldb.
fn rust_in_lldb() -> anyhow::Result<[String; 2]> {
    let root = Command::new("rustc")
        .args(["--print", "sysroot"])
        .output()?;
    let root = String::from_utf8(root.stdout)?;
    let folder = format!("{}/lib/rustlib/etc", root.trim_end());
    Ok([
        format!("command script import \"{folder}/lldb_lookup.py\""),
        format!("command source -s 0 \"{folder}/lldb_commands\""),
    ])
}

impl Session for Dap {
    fn arm(&mut self, breakpoints: &[(i64, Breakpoint)]) -> anyhow::Result<()> {
        let wanted = breakpoints.iter().map(|(line, kind)| {
            let breakpoint = SourceBreakpoint::new(*line);
            Ok(match kind {
                Breakpoint::Plain => breakpoint,
                Breakpoint::False => breakpoint.with_condition("i == -1"),
                Breakpoint::Field => breakpoint.with_condition("object->inner->value == -1"),
                Breakpoint::ThreadLocal => breakpoint.with_condition("own == -1"),
                Breakpoint::Text if self.is_dapple => {
                    breakpoint.with_condition("name == \"another\"")
                }
                Breakpoint::Text => bail!("its expressions don't compare texts"),
                Breakpoint::Counted => breakpoint.with_hit_condition("2100000000"),
                Breakpoint::Log => breakpoint.with_log_message("i is {i}"),
            })
        });
        let wanted = wanted.collect::<anyhow::Result<_>>()?;
        let arguments = SetBreakpointsArguments::new(self.source.clone()).with_breakpoints(wanted);
        let answer = self.client.request::<SetBreakpointsRequest>(&arguments)?;
        match answer.breakpoints.iter().find(|one| !one.verified) {
            // Before the launch, some adapters answer like this and resolve the line later.
            Some(one) if self.thread != 0 => bail!(
                "a breakpoint was not set: {}",
                one.message.as_deref().unwrap_or("no reason given")
            ),
            _ => Ok(()),
        }
    }

    fn go(&mut self) -> anyhow::Result<()> {
        self.run()?;
        self.stopped()
    }

    fn run(&mut self) -> anyhow::Result<()> {
        self.client
            .request::<ContinueRequest>(&ContinueArguments::new(self.thread))?;
        Ok(())
    }

    fn pause(&mut self) -> anyhow::Result<Duration> {
        let first = Instant::now();
        loop {
            let begin = Instant::now();
            let arguments = PauseArguments::new(self.thread);
            match self.client.request::<PauseRequest>(&arguments) {
                // Some adapters answer `continue` before the program runs, and can't pause it then.
                Err(error) if first.elapsed() >= PATIENCE => return Err(error),
                Err(_) => {}
                Ok(_) => {
                    self.stopped()?;
                    return Ok(begin.elapsed());
                }
            }
        }
    }

    fn next(&mut self) -> anyhow::Result<()> {
        self.client
            .request::<NextRequest>(&NextArguments::new(self.thread))?;
        self.stopped()
    }

    fn step_instruction(&mut self) -> anyhow::Result<()> {
        let arguments =
            StepInArguments::new(self.thread).with_granularity(SteppingGranularity::Instruction);
        self.client.request::<StepInRequest>(&arguments)?;
        self.stopped()
    }

    fn refresh(&mut self) -> anyhow::Result<()> {
        let arguments = StackTraceArguments::new(self.thread).with_levels(20);
        let stack = self.client.request::<StackTraceRequest>(&arguments)?;
        let frame = stack.stack_frames.first().context("no frame")?;
        let scopes = self
            .client
            .request::<ScopesRequest>(&ScopesArguments::new(frame.id))?;
        for scope in scopes.scopes.iter().filter(|scope| !scope.expensive) {
            let arguments = VariablesArguments::new(scope.variables_reference);
            self.client.request::<VariablesRequest>(&arguments)?;
        }
        Ok(())
    }

    fn line(&mut self) -> anyhow::Result<i64> {
        Ok(self.frame()?.line)
    }

    fn watch(&mut self, variable: &str) -> anyhow::Result<()> {
        let scopes = ScopesArguments::new(self.frame()?.id);
        let mut info = None;
        for scope in self.client.request::<ScopesRequest>(&scopes)?.scopes {
            let container = scope.variables_reference;
            let arguments = VariablesArguments::new(container);
            let found = self.client.request::<VariablesRequest>(&arguments)?;
            if found.variables.iter().any(|found| found.name == variable) {
                let arguments =
                    DataBreakpointInfoArguments::new(variable).with_variables_reference(container);
                info = Some(
                    self.client
                        .request::<DataBreakpointInfoRequest>(&arguments)?,
                );
            }
        }
        let info = info.context("the variable is in no scope")?;
        let id = info.data_id.context(info.description)?;
        let wanted = DataBreakpoint::new(id).with_access_type(DataBreakpointAccessType::Write);
        let wanted = SetDataBreakpointsArguments::new(vec![wanted]);
        let set = self.client.request::<SetDataBreakpointsRequest>(&wanted)?;
        match set.breakpoints.iter().find(|one| !one.verified) {
            Some(one) => bail!("the variable can't be watched: {:?}", one.message),
            None => Ok(()),
        }
    }

    fn lines_to_end(&mut self) -> anyhow::Result<usize> {
        self.run()?;
        let before = self.lines;
        // The `exited` event may arrive before the last of the output.
        self.until::<TerminatedEvent>()?;
        Ok(self.lines - before)
    }

    fn logged(&mut self) -> usize {
        self.logged
    }
}

impl Drop for Dap {
    fn drop(&mut self) {
        // If the adapter doesn't answer, dropping the client kills it.
        let arguments = DisconnectArguments::new().with_terminate_debuggee(true);
        let _ = self.client.request::<DisconnectRequest>(&arguments);
    }
}
