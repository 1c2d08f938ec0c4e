//! What is asked of each debugger, and two that can be asked: one that speaks the Debug Adapter Protocol, and gdb by its machine interface.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command};

use anyhow::{Context, bail};
use dapple_dap::message::{Event, Raw};
use dapple_dap::types::*;

use super::super::mi;
use super::super::run::awake::Awake;
use super::super::run::wire::Wire;

/// A session with the program, behind a stub at a port.
pub trait Session {
    /// Stops at a line of the source from now on, and nowhere else, if a condition holds.
    fn break_at(&mut self, line: i64, condition: Option<&str>) -> anyhow::Result<()>;
    /// Runs to the next stop.
    fn go(&mut self) -> anyhow::Result<()>;
    /// Steps over a line.
    fn next(&mut self) -> anyhow::Result<()>;
    /// Asks for what a window shows at a stop: threads, 20 frames, the locals. Returns how many frames there were.
    fn refresh(&mut self) -> anyhow::Result<usize>;
    /// The whole stack. Returns how many frames it has.
    fn stack(&mut self) -> anyhow::Result<usize>;
}

/// An adapter.
pub struct Adapter {
    wire: Wire,
    source: String,
    thread: i64,
    is_configured: bool,
}

impl Adapter {
    /// Starts it, and connects it to the stub.
    pub fn start(
        command: &[String],
        program: &Path,
        source: &Path,
        port: u16,
    ) -> anyhow::Result<Adapter> {
        let (name, arguments) = command.split_first().context("no adapter given")?;
        let mut adapter = Command::new(name);
        adapter.args(arguments).env("DEBUGINFOD_URLS", "");
        let mut wire = Wire::start(&mut adapter)?;
        wire.request::<InitializeRequest>(&InitializeRequestArguments::new("bench"))?;
        let mut attach = AttachRequestArguments::new();
        let mut set = |name: &str, value: Raw| attach.other.insert(name.to_owned(), value);
        set("target", Raw::new(&format!("127.0.0.1:{port}"))?);
        set("program", Raw::new(program)?);
        wire.request::<AttachRequest>(&attach)?;
        wait_for::<InitializedEvent>(&mut wire)?;
        Ok(Adapter {
            wire,
            source: source.to_string_lossy().into_owned(),
            thread: 0,
            is_configured: false,
        })
    }

    fn stopped(&mut self) -> anyhow::Result<()> {
        let stop = wait_for::<StoppedEvent>(&mut self.wire)?;
        self.thread = stop.thread_id.context("the stop names no thread")?;
        Ok(())
    }

    fn frames(&mut self, most: i64) -> anyhow::Result<Vec<StackFrame>> {
        let arguments = StackTraceArguments::new(self.thread).with_levels(most);
        let answer = self.wire.request::<StackTraceRequest>(&arguments)?;
        Ok(answer.stack_frames)
    }
}

/// Waits for an event. Forgets those before it.
fn wait_for<E: Event>(wire: &mut Wire) -> anyhow::Result<E::Body> {
    loop {
        if let Some(body) = wire.event()?.body::<E>()? {
            return Ok(body);
        }
    }
}

impl Session for Adapter {
    fn break_at(&mut self, line: i64, condition: Option<&str>) -> anyhow::Result<()> {
        let mut breakpoint = SourceBreakpoint::new(line);
        breakpoint.condition = condition.map(str::to_owned);
        let wanted = SetBreakpointsArguments::new(Source::new().with_path(&self.source))
            .with_breakpoints(vec![breakpoint]);
        self.wire.request::<SetBreakpointsRequest>(&wanted)?;
        Ok(())
    }

    fn go(&mut self) -> anyhow::Result<()> {
        if std::mem::replace(&mut self.is_configured, true) {
            let arguments = ContinueArguments::new(self.thread);
            self.wire.request::<ContinueRequest>(&arguments)?;
        } else {
            let arguments = ConfigurationDoneArguments::default();
            self.wire.request::<ConfigurationDoneRequest>(&arguments)?;
        }
        self.stopped()
    }

    fn next(&mut self) -> anyhow::Result<()> {
        self.wire
            .request::<NextRequest>(&NextArguments::new(self.thread))?;
        self.stopped()
    }

    fn refresh(&mut self) -> anyhow::Result<usize> {
        self.wire.request::<ThreadsRequest>(&Default::default())?;
        let frames = self.frames(20)?;
        let first = frames.first().context("no frame")?;
        let scopes = self
            .wire
            .request::<ScopesRequest>(&ScopesArguments::new(first.id))?;
        let locals = scopes.scopes.first().context("no scope")?;
        let arguments = VariablesArguments::new(locals.variables_reference);
        self.wire.request::<VariablesRequest>(&arguments)?;
        Ok(frames.len())
    }

    fn stack(&mut self) -> anyhow::Result<usize> {
        Ok(self.frames(0)?.len())
    }
}

impl Drop for Adapter {
    fn drop(&mut self) {
        let arguments = DisconnectArguments::new().with_terminate_debuggee(true);
        let _ = self.wire.request::<DisconnectRequest>(&arguments);
    }
}

/// gdb.
pub struct Gdb {
    gdb: Child,
    input: ChildStdin,
    output: BufReader<Awake<ChildStdout>>,
    source: String,
}

impl Gdb {
    /// Starts it, and connects it to the stub.
    pub fn start(command: &str, program: &Path, source: &Path, port: u16) -> anyhow::Result<Gdb> {
        let (gdb, input, output) = mi::spawn(command, program)?;
        let mut session = Gdb {
            gdb,
            input,
            output: BufReader::new(Awake::new(output.into_inner())?),
            source: source.to_string_lossy().into_owned(),
        };
        session.ask(&format!("-target-select remote 127.0.0.1:{port}"))?;
        Ok(session)
    }

    fn line(&mut self) -> anyhow::Result<String> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            bail!("gdb ended");
        }
        Ok(line)
    }

    /// Sends a command and returns its answer.
    fn ask(&mut self, command: &str) -> anyhow::Result<String> {
        self.input.write_all(format!("{command}\n").as_bytes())?;
        self.input.flush()?;
        loop {
            let line = self.line()?;
            if line.starts_with("^error") {
                bail!("gdb says {}", line.trim_end());
            }
            if line.starts_with('^') {
                return Ok(line);
            }
        }
    }

    fn run(&mut self, command: &str) -> anyhow::Result<()> {
        self.ask(command)?;
        loop {
            let line = self.line()?;
            if line.starts_with("*stopped") {
                return match line.contains("exited") {
                    true => bail!("the program ended"),
                    false => Ok(()),
                };
            }
        }
    }
}

impl Session for Gdb {
    fn break_at(&mut self, line: i64, condition: Option<&str>) -> anyhow::Result<()> {
        self.ask("-break-delete")?;
        let condition = condition
            .map(|it| format!("-c \"{it}\" "))
            .unwrap_or_default();
        self.ask(&format!("-break-insert {condition}{}:{line}", self.source))?;
        Ok(())
    }

    fn go(&mut self) -> anyhow::Result<()> {
        self.run("-exec-continue")
    }

    fn next(&mut self) -> anyhow::Result<()> {
        self.run("-exec-next")
    }

    fn refresh(&mut self) -> anyhow::Result<usize> {
        self.ask("-thread-info")?;
        let frames = self.ask("-stack-list-frames 0 19")?;
        self.ask("-stack-list-variables --simple-values")?;
        Ok(frames.matches("frame={").count())
    }

    fn stack(&mut self) -> anyhow::Result<usize> {
        let frames = self.ask("-stack-list-frames")?;
        Ok(frames.matches("frame={").count())
    }
}

impl Drop for Gdb {
    fn drop(&mut self) {
        let _ = self.input.write_all(b"-gdb-exit\n");
        let _ = self.gdb.wait();
    }
}
