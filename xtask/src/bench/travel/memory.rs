//! The memory of a recorded session of a process that writes all of its heap again and again, and searches at the session's end.
//!
//! Each checkpoint of such a process costs as much as the whole heap within a second. The figure is the proportional set size
//! (`Pss`, proc(5)) of all processes of the session together: the debugger, the process, and its checkpoints, which share memory.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use super::report::{Goal, Report};
use super::{Bench, require_line, wait};
use crate::bench::run::dap::Dap;
use crate::bench::run::session::{Breakpoint, Session};

/// How long the process runs.
const SESSION: Duration = Duration::from_secs(30);
/// How many writes are between two marks: about a second's.
const WRITES: u32 = 80_000_000;
/// The time between two samples.
const PERIOD: Duration = Duration::from_millis(500);
/// How many steps are taken, besides the first.
const STEPS: u32 = 5;
/// The megabytes that the session may take.
const MOST: Goal = Goal::AtMost(1000.0);

/// Runs the process, and then steps and searches back.
pub fn heap(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let debuggee = bench.programs.heap.with(WRITES);
    let mut session = bench.recorded(&debuggee)?;
    let samples = Samples::start(session.process(), &debuggee.program);
    session.arm(&[])?;
    session.run()?;
    wait(SESSION)?;
    let while_running = samples.so_far();
    // A search that takes too long does not hide how much memory it has taken.
    let searched = searches(&mut session, bench.programs.mark, report);
    let all = samples.finish()?;
    let what = format!("processes at most, in {} samples", all.samples);
    report.figure(&what, all.processes as f64, "");
    report.figure("highest while it ran", while_running.megabytes(), "MB");
    report.goal(
        "highest, also while it searched",
        all.megabytes(),
        "MB",
        MOST,
    );
    searched
}

/// Stops the running process at the second mark from here, and goes back to the first.
fn searches(session: &mut Dap, mark: i64, report: &Report) -> anyhow::Result<()> {
    session.arm(&[(mark, Breakpoint::Plain)])?;
    session.stopped()?;
    let begin = Instant::now();
    session.go()?;
    let interval = begin.elapsed();
    require_line(session.line()?, mark)?;
    report.figure("ran between two marks", interval.as_secs_f64(), "s");

    for step in 0..=STEPS {
        let time = session.step_back().context("stepBack")?;
        let what = match step {
            0 => "stepBack, the first".to_owned(),
            more => format!("stepBack, {more} more"),
        };
        report.figure(&what, 1000.0 * time.as_secs_f64(), "ms");
    }
    let time = session.reverse().context("reverseContinue")?;
    require_line(session.line()?, mark)?;
    let what = "reverseContinue to the mark before";
    report.figure(what, time.as_secs_f64(), "s");

    session.go()?;
    require_line(session.line()?, mark)?;
    let (write, time) = session.who("marks")?;
    let frame = write.stack.first().context("the write has no stack")?;
    require_line(frame.line, mark)?;
    report.figure("who wrote at the mark before", time.as_secs_f64(), "s");
    Ok(())
}

/// The highest of some samples.
#[derive(Debug, Clone, Copy, Default)]
struct Peak {
    samples: u32,
    /// The most processes that one of them had.
    processes: usize,
    bytes: u64,
}

impl Peak {
    fn megabytes(self) -> f64 {
        self.bytes as f64 / 1e6
    }
}

/// Samples the memory of a session's processes, until it is dropped.
struct Samples {
    peak: Arc<Mutex<Peak>>,
    end: Sender<()>,
    thread: JoinHandle<()>,
}

impl Samples {
    /// Starts sampling: `adapter` with all its descendants, and all processes of `program`, whoever their parent is.
    fn start(adapter: u32, program: &Path) -> Self {
        let peak = Arc::new(Mutex::new(Peak::default()));
        let (end, ended) = channel();
        let (shared, program) = (Arc::clone(&peak), program.to_owned());
        let thread = std::thread::spawn(move || {
            while ended.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
                let processes = processes(adapter, &program);
                let bytes = processes.iter().filter_map(|process| pss(*process)).sum();
                let mut peak = shared.lock().unwrap_or_else(PoisonError::into_inner);
                peak.samples += 1;
                peak.processes = peak.processes.max(processes.len());
                peak.bytes = peak.bytes.max(bytes);
            }
        });
        Self { peak, end, thread }
    }

    /// The highest of the samples until now.
    fn so_far(&self) -> Peak {
        *self.peak.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends sampling, and returns the highest of all samples.
    fn finish(self) -> anyhow::Result<Peak> {
        let peak = Arc::clone(&self.peak);
        drop(self.end);
        ensure!(self.thread.join().is_ok(), "the sampling has failed");
        let peak = *peak.lock().unwrap_or_else(PoisonError::into_inner);
        ensure!(peak.bytes > 0, "no sample could be taken");
        Ok(peak)
    }
}

/// A process in a list of all.
struct Listed {
    process: u32,
    parent: u32,
    program: Option<PathBuf>,
}

/// The processes of a session.
fn processes(adapter: u32, program: &Path) -> Vec<u32> {
    let all = listed();
    let is_of_program = |one: &&Listed| one.program.as_deref() == Some(program);
    let mut found = vec![adapter];
    found.extend(all.iter().filter(is_of_program).map(|one| one.process));
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        let children = all.iter().filter(|one| one.parent == parent);
        for child in children.map(|one| one.process) {
            if !found.contains(&child) {
                found.push(child);
            }
        }
        next += 1;
    }
    found
}

fn listed() -> Vec<Listed> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    processes.filter_map(list).collect()
}

/// `None`: the process has ended.
fn list(process: u32) -> Option<Listed> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name, which may contain spaces, ends with the last parenthesis.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    Some(Listed {
        process,
        parent: fields.nth(1)?.parse().ok()?,
        program: std::fs::read_link(format!("/proc/{process}/exe")).ok(),
    })
}

/// The proportional set size of a process, in bytes.
fn pss(process: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/smaps_rollup")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1024)
}
