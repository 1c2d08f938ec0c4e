//! Finds the process to attach to: a running one by its name, or the next one that starts.

use crate::ThreadId;
use crate::linux::process;
use std::collections::HashSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A running process, as shown to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningProcess {
    /// Its id.
    pub pid: i32,
    /// Its command line, words separated by spaces, or its name if the command line is empty.
    pub command: String,
}

/// How often the debugger checks whether processes have started. If none has, a check reads only one small file.
const TICK: Duration = Duration::from_millis(5);
/// How often all processes are checked even if none has started: one that ran already may have executed the wanted program.
const SWEEP: Duration = Duration::from_millis(500);
/// How long new processes are checked at each [`TICK`], counted from the last start of any process. One that takes longer from fork to exec
/// is found by a sweep.
const YOUTH: Duration = Duration::from_secs(2);

/// The processes called `name`, ordered by id. The name matches the file name or path of the executable, or the name that the process has
/// given itself (of which the kernel keeps 15 bytes). This process is left out.
pub fn named(name: &str) -> Vec<RunningProcess> {
    let mut found: Vec<RunningProcess> = all()
        .into_iter()
        .filter(|pid| is_called(*pid, name))
        .map(|pid| RunningProcess {
            pid,
            command: process::command_line(ThreadId(pid)),
        })
        .collect();
    found.sort_by_key(|process| process.pid);
    found
}

/// A wait for a process that has not started yet.
#[derive(Debug)]
pub struct Awaited {
    name: String,
    /// Processes of that name that already ran when the wait began.
    before: HashSet<i32>,
    /// All processes that already ran when the wait began.
    known: HashSet<i32>,
}

impl Awaited {
    /// Prepares to wait for the next process called `name` (see [`named`]); those that run now don't count.
    pub fn called(name: &str) -> Awaited {
        let known: HashSet<i32> = all().into_iter().collect();
        let before = known.iter().copied().filter(|pid| is_called(*pid, name));
        Awaited {
            name: name.to_owned(),
            before: before.collect(),
            known,
        }
    }

    /// Waits for the process. `pause` is called between two checks: it lets the given time pass, or returns `false` to cancel the wait,
    /// which then returns `None`. Waiting costs next to nothing while no process starts: `/proc/loadavg` contains the id that was assigned
    /// last.
    pub fn wait(&self, mut pause: impl FnMut(Duration) -> bool) -> Option<RunningProcess> {
        let wanted = |pid: &i32| !self.before.contains(pid) && is_called(*pid, &self.name);
        let mut last = None;
        let (mut changed, mut swept) = (Instant::now(), Instant::now());
        loop {
            let now = last_pid();
            if now != last || now.is_none() {
                (last, changed) = (now, Instant::now());
            }
            let sweep = swept.elapsed() >= SWEEP;
            if sweep {
                swept = Instant::now();
            }
            if sweep || changed.elapsed() < YOUTH {
                let candidates = all().into_iter();
                let mut candidates = candidates.filter(|pid| sweep || !self.known.contains(pid));
                if let Some(pid) = candidates.find(wanted) {
                    return Some(RunningProcess {
                        pid,
                        command: process::command_line(ThreadId(pid)),
                    });
                }
            }
            if !pause(TICK) {
                return None;
            }
        }
    }
}

fn all() -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let own = i32::try_from(std::process::id());
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid| Ok(*pid) != own)
        .collect()
}

fn is_called(pid: i32, name: &str) -> bool {
    let own = fs::read_link(format!("/proc/{pid}/exe"));
    // `/proc/PID/exe` is unreadable once the main thread has ended, even if other threads still run.
    let Ok(executable) = own.or_else(|_| process::executable(ThreadId(pid))) else {
        // A kernel thread, a process that has just ended, or another user's process.
        return comm(pid).is_some_and(|comm| cut(name) == comm.as_bytes() && has_memory(pid));
    };
    let executable = undeleted(&executable);
    if name.contains('/') {
        let wanted = fs::canonicalize(name).unwrap_or_else(|_| PathBuf::from(name));
        return executable == wanted;
    }
    let file = executable.file_name().unwrap_or_default().as_bytes();
    // The kernel cuts a process's name to 15 bytes. For a longer `name`, those 15 bytes don't count if they are also the beginning of the
    // executable's file name: then they probably come from that file name, which isn't `name`.
    file == name.as_bytes()
        || comm(pid).is_some_and(|comm| {
            comm.as_bytes() == cut(name) && (name.len() <= 15 || !file.starts_with(comm.as_bytes()))
        })
}

/// The first 15 bytes of a name, which is what the kernel keeps.
fn cut(name: &str) -> &[u8] {
    let bytes = name.as_bytes();
    bytes.get(..15).unwrap_or(bytes)
}

/// Removes the kernel's ` (deleted)` suffix, which marks an executable that was replaced or removed since, as by a build.
fn undeleted(path: &Path) -> PathBuf {
    let bytes = path.as_os_str().as_bytes();
    let bytes = bytes.strip_suffix(b" (deleted)").unwrap_or(bytes);
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

fn comm(pid: i32) -> Option<String> {
    let text = fs::read(format!("/proc/{pid}/comm")).ok()?;
    Some(String::from_utf8_lossy(&text).trim_end().to_owned())
}

/// Whether a process has memory of its own: kernel threads and zombies have none.
fn has_memory(pid: i32) -> bool {
    let statm = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    !statm.starts_with("0 ") && !statm.is_empty()
}

/// The process or thread id that was assigned last (proc_loadavg(5), the last field).
fn last_pid() -> Option<i32> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split_ascii_whitespace().nth(4)?.parse().ok()
}
