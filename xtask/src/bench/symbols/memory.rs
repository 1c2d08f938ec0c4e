//! Measures a process's memory and detects when it is idle, by proc(5).

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often the process is sampled.
const PERIOD: Duration = Duration::from_millis(2);
/// A process that used no CPU time for this long is idle.
const QUIET: Duration = Duration::from_millis(300);

/// Samples the anonymous memory of a process.
pub struct Watch {
    stopped: Sender<()>,
    thread: JoinHandle<u64>,
}

impl Watch {
    /// Starts sampling.
    pub fn start(process: u32) -> Self {
        let (stopped, told) = channel();
        let thread = std::thread::spawn(move || watch(process, &told));
        Self { stopped, thread }
    }

    /// Waits until the process is idle, or `patience` is over. Returns the most memory seen, in bytes.
    pub fn finish(self, patience: Duration) -> u64 {
        let Self { stopped, thread } = self;
        // This message means that the stop was reached. Dropping the sender later means that sampling shall end.
        stopped.send(()).ok();
        let begin = Instant::now();
        while !thread.is_finished() && begin.elapsed() < patience {
            std::thread::park_timeout(QUIET / 10);
        }
        drop(stopped);
        thread.join().unwrap_or(0)
    }
}

/// Samples the process until it is idle after the first message, or until the sender is dropped.
fn watch(process: u32, told: &Receiver<()>) -> u64 {
    let mut peak = 0;
    let mut stopped = false;
    let mut used = None;
    let mut since = Instant::now();
    loop {
        match told.recv_timeout(PERIOD) {
            Ok(()) => stopped = true,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return peak,
        }
        peak = anonymous(process).unwrap_or(0).max(peak);
        let now = ticks(process);
        if now != used {
            used = now;
            since = Instant::now();
        }
        if stopped && since.elapsed() >= QUIET {
            return peak;
        }
    }
}

/// `RssAnon`, in bytes.
fn anonymous(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// The CPU time that the process used, user and system, in clock ticks.
fn ticks(process: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name, which may contain spaces, ends with the last parenthesis.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let field = |index: usize| fields.get(index)?.parse::<u64>().ok();
    Some(field(11)? + field(12)?)
}
