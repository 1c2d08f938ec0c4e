//! Finding the process to attach to: by name among those that run, or the next one that starts.

use crate::ThreadId;
use crate::linux::process;
use std::collections::HashSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A process as its user knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningProcess {
    /// Its id.
    pub pid: i32,
    /// Its command line, words separated by spaces; its name where it has none.
    pub command: String,
}

/// How often is looked whether processes have started; reading one small file, unless some have.
const TICK: Duration = Duration::from_millis(5);
/// How often all processes are looked at all the same: one that ran already may have become the wanted program.
const SWEEP: Duration = Duration::from_millis(500);
/// How long a new process may take from fork to exec.
const YOUTH: Duration = Duration::from_secs(2);

/// The processes called `name`: by the file name or path of their executable, or by the name they have given themselves
/// (of which the kernel keeps 15 bytes). This process is not among them. In the order of their ids.
pub fn named(name: &str) -> Vec<RunningProcess> {
    let mut found: Vec<RunningProcess> = all()
        .into_iter()
        .filter(|pid| is_called(*pid, name))
        .map(|pid| RunningProcess {
            pid,
            command: command(pid),
        })
        .collect();
    found.sort_by_key(|process| process.pid);
    found
}

/// A process that has yet to start.
#[derive(Debug)]
pub struct Awaited {
    name: String,
    /// Those of the name that were there before.
    before: HashSet<i32>,
    /// All that were there before.
    known: HashSet<i32>,
}

impl Awaited {
    /// The next process called `name` (see [`named`]) that is not there when this is called.
    pub fn called(name: &str) -> Awaited {
        let known: HashSet<i32> = all().into_iter().collect();
        let before = known.iter().copied().filter(|pid| is_called(*pid, name));
        Awaited {
            name: name.to_owned(),
            before: before.collect(),
            known,
        }
    }

    /// Waits for it. `pause` is called between two looks: it lets the given time pass, or says by `false` that the wait is
    /// given up, which gives `None`. Costs next to nothing while no process starts: `/proc/loadavg` tells
    /// the last id that was given out.
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
                        command: command(pid),
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
    // Its first thread may have ended.
    let Ok(executable) = own.or_else(|_| process::executable(ThreadId(pid))) else {
        // A thread of the kernel, one that has just ended, or another user's.
        return comm(pid).is_some_and(|comm| cut(name) == comm.as_bytes() && has_memory(pid));
    };
    let executable = undeleted(&executable);
    if name.contains('/') {
        let wanted = fs::canonicalize(name).unwrap_or_else(|_| PathBuf::from(name));
        return executable == wanted;
    }
    let file = executable.file_name().unwrap_or_default().as_bytes();
    // A name that was cut off says nothing beside the whole one.
    file == name.as_bytes()
        || comm(pid).is_some_and(|comm| {
            comm.as_bytes() == cut(name) && (name.len() <= 15 || !file.starts_with(comm.as_bytes()))
        })
}

/// A name as the kernel keeps it.
fn cut(name: &str) -> &[u8] {
    let bytes = name.as_bytes();
    bytes.get(..15).unwrap_or(bytes)
}

/// The path of an executable that was replaced or removed since, as after a build.
fn undeleted(path: &Path) -> PathBuf {
    let bytes = path.as_os_str().as_bytes();
    let bytes = bytes.strip_suffix(b" (deleted)").unwrap_or(bytes);
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

fn comm(pid: i32) -> Option<String> {
    let text = fs::read(format!("/proc/{pid}/comm")).ok()?;
    Some(String::from_utf8_lossy(&text).trim_end().to_owned())
}

/// Threads of the kernel and zombies have none.
fn has_memory(pid: i32) -> bool {
    let statm = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    !statm.starts_with("0 ") && !statm.is_empty()
}

/// A process's command line, words separated by spaces; its name where it has none, which is empty where there is no such process.
pub fn command(pid: i32) -> String {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<_> = words
        .split(|byte| *byte == 0)
        .filter(|word| !word.is_empty())
        .map(String::from_utf8_lossy)
        .collect();
    match words.is_empty() {
        true => comm(pid).unwrap_or_default(),
        false => words.join(" "),
    }
}

/// The last process or thread id that was given out (proc_loadavg(5), the last field).
fn last_pid() -> Option<i32> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split_ascii_whitespace().nth(4)?.parse().ok()
}
