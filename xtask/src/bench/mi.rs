//! Drives gdb through its machine interface, for versions without a debug adapter: only what is needed to stop and step.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use super::programs::Program;

/// A session stopped at the program's breakpoint.
pub struct Run {
    gdb: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// From the start of the process to the first stop.
    pub started_in: Duration,
}

/// The gdb process with its input and output.
pub type Spawned = (Child, ChildStdin, BufReader<ChildStdout>);

/// Starts gdb's machine interface on a program, which isn't running yet.
pub fn spawn(command: &str, program: &Path) -> anyhow::Result<Spawned> {
    let mut gdb = Command::new(command)
        .args(["-nx", "-q", "--interpreter=mi"])
        .arg(program)
        .env("DEBUGINFOD_URLS", "")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let input = gdb.stdin.take().context("gdb has no input")?;
    let output = BufReader::new(gdb.stdout.take().context("gdb has no output")?);
    Ok((gdb, input, output))
}

impl Run {
    /// Starts gdb and goes to the first stop.
    pub fn start(command: &str, program: &Program) -> anyhow::Result<Self> {
        let location = format!("{}:{}", program.source.display(), program.line);
        Self::start_at(command, &program.path, &location)
    }

    /// Starts gdb on a program and runs to a location, in gdb's notation.
    pub fn start_at(command: &str, program: &Path, location: &str) -> anyhow::Result<Self> {
        let begin = Instant::now();
        let (gdb, input, output) = spawn(command, program)?;
        let mut run = Self {
            gdb,
            input,
            output,
            started_in: Duration::ZERO,
        };
        run.send(&format!("-break-insert {location}"))?;
        run.send("-exec-run")?;
        run.wait_for_stop()?;
        run.started_in = begin.elapsed();
        Ok(run)
    }

    /// gdb's process.
    pub fn process(&self) -> u32 {
        self.gdb.id()
    }

    /// Steps with an MI command.
    pub fn step(&mut self, command: &str) -> anyhow::Result<()> {
        self.send(command)?;
        self.wait_for_stop()
    }

    fn send(&mut self, command: &str) -> anyhow::Result<()> {
        self.input.write_all(format!("{command}\n").as_bytes())?;
        Ok(self.input.flush()?)
    }

    fn wait_for_stop(&mut self) -> anyhow::Result<()> {
        let mut line = String::new();
        loop {
            line.clear();
            if self.output.read_line(&mut line)? == 0 {
                bail!("gdb ended");
            }
            if line.starts_with("*stopped") {
                if line.contains("exited") {
                    bail!("the program ended: {}", line.trim_end());
                }
                return Ok(());
            }
            if line.starts_with("^error") {
                bail!("gdb says {}", line.trim_end());
            }
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // gdb kills its debuggee when it exits.
        let _ = self.send("-gdb-exit");
        let _ = self.gdb.wait();
    }
}
