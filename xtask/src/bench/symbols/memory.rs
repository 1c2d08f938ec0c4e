//! What a process holds, and whether it still works, by proc(5).

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often a process is looked at.
const PERIOD: Duration = Duration::from_millis(2);
/// A process that used no time for this long has nothing more to do.
const QUIET: Duration = Duration::from_millis(300);

/// Watches the anonymous memory of a process.
pub struct Watch {
    stopped: Sender<()>,
    thread: JoinHandle<u64>,
}

impl Watch {
    /// Watches from now on.
    pub fn start(process: u32) -> Self {
        let (stopped, told) = channel();
        let thread = std::thread::spawn(move || watch(process, &told));
        Self { stopped, thread }
    }

    /// Waits until the process has nothing more to do, or `patience` is over; the most memory seen, in bytes.
    pub fn finish(self, patience: Duration) -> u64 {
        let Self { stopped, thread } = self;
        // Once for the stop; dropping the sender then would be the second.
        stopped.send(()).ok();
        let begin = Instant::now();
        while !thread.is_finished() && begin.elapsed() < patience {
            std::thread::park_timeout(QUIET / 10);
        }
        drop(stopped);
        thread.join().unwrap_or(0)
    }
}

/// Looks at the process until it is quiet behind the first word, or until there is nobody to say one.
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

/// The time the process used, user's and system's, in clock ticks.
fn ticks(process: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name, which may have spaces, ends with the last parenthesis.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let field = |index: usize| fields.get(index)?.parse::<u64>().ok();
    Some(field(11)? + field(12)?)
}
