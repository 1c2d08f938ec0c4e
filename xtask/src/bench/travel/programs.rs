//! The debuggees, and how long they run without a debugger.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use crate::bench::run::programs::{Compiler, compile, line};
use crate::bench::run::session::Debuggee;

const COMPUTE: &str = include_str!("programs/compute.c");
const TOGETHER: &str = include_str!("programs/together.c");
const CALLS: &str = include_str!("programs/calls.c");
const HEAP: &str = include_str!("programs/heap.c");
const LIMIT: &str = include_str!("programs/limit.c");

/// How many turns of a loop are measured to find how many take a wanted time.
const SAMPLE: u32 = 100_000_000;

/// A program that computes between two lines.
pub struct Work {
    pub debuggee: Debuggee,
    /// The line behind the work.
    pub end: i64,
}

/// The programs, compiled.
pub struct Programs {
    /// Where they are.
    pub folder: PathBuf,
    pub compute: Work,
    /// The line that is passed once, before the computation.
    pub first: i64,
    /// The line from which on the computation has its code.
    pub lines: i64,
    /// The same work in each of two threads, and in one.
    pub two: Work,
    pub one_of_two: Work,
    pub calls: Work,
    pub reads: Work,
    /// Its argument says how many writes are between two passes of `mark`.
    pub heap: Debuggee,
    pub mark: i64,
    limit: Debuggee,
}

/// Writes and compiles them into `folder`.
pub fn build(folder: &Path) -> anyhow::Result<Programs> {
    let of =
        |name, text: &str, optimisation| compile(folder, Compiler::C, name, text, optimisation);
    let work = |name, text: &str| {
        anyhow::Ok(Work {
            debuggee: of(name, text, "-O0")?,
            end: line(text, "/* end */")?,
        })
    };
    let alone = TOGETHER.replace("THREADS = 2", "THREADS = 1");
    let reads = CALLS.replace("syscall(SYS_getppid)", "read(zero, bytes, sizeof bytes)");
    Ok(Programs {
        compute: work("compute.c", COMPUTE)?,
        first: line(COMPUTE, "/* first */")?,
        lines: line(COMPUTE, "/* lines */")?,
        two: work("together.c", TOGETHER)?,
        one_of_two: work("alone.c", &alone)?,
        calls: work("calls.c", CALLS)?,
        reads: work("reads.c", &reads)?,
        heap: of("heap.c", HEAP, "-O0")?,
        mark: line(HEAP, "/* mark */")?,
        limit: of("limit.c", LIMIT, "-O2")?,
        folder: folder.canonicalize()?,
    })
}

impl Work {
    /// The same work, with a count of turns.
    pub fn with(&self, turns: u32) -> Work {
        Work {
            debuggee: self.debuggee.with(turns),
            end: self.end,
        }
    }

    /// How long the program runs without a debugger.
    pub fn alone(&self) -> anyhow::Result<Duration> {
        let begin = Instant::now();
        let status = Command::new(&self.debuggee.program)
            .arg(self.debuggee.argument.to_string())
            .stdout(Stdio::null())
            .status()?;
        let time = begin.elapsed();
        if !status.success() {
            bail!("{}: {status}", self.debuggee.program.display());
        }
        Ok(time)
    }

    /// The same work, with as many turns as take about this time without a debugger.
    pub fn lasting(&self, time: Duration) -> anyhow::Result<Work> {
        let sample = self.with(SAMPLE).alone()?;
        Ok(self.with(scaled(SAMPLE, time.as_secs_f64() / sample.as_secs_f64())))
    }
}

impl Programs {
    /// The microseconds that a system call takes if each is stopped at its entry and its exit, and nothing else is done.
    pub fn stops_of_a_call(&self, calls: u32) -> anyhow::Result<f64> {
        let output = Command::new(&self.limit.program)
            .arg(calls.to_string())
            .stderr(Stdio::inherit())
            .output()?;
        if !output.status.success() {
            bail!("the limit can't be measured: {}", output.status);
        }
        let text = String::from_utf8(output.stdout)?;
        text.trim().parse().context("the limit is not a figure")
    }
}

/// A count that is so many times larger, and at least 1.
pub fn scaled(count: u32, times: f64) -> u32 {
    (f64::from(count) * times).clamp(1.0, f64::from(u32::MAX)) as u32
}
