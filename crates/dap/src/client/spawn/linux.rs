//! Linux: a child and its descendants, by pidfd and `/proc`.

use std::collections::HashMap;
use std::fs;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// Waits for the end of a child without reaping it. False if the child did not end within `grace`, or waiting failed.
pub(crate) fn ends_within(process: Pid, grace: Duration) -> bool {
    let Ok(handle) = pidfd_open(process, PidfdFlags::empty()) else {
        return false;
    };
    let Ok(timeout) = Timespec::try_from(grace) else {
        return false;
    };
    // Readable once the process has ended, pidfd_open(2).
    let mut wait = [PollFd::new(&handle, PollFlags::IN)];
    poll(&mut wait, Some(&timeout)).is_ok_and(|ready| ready > 0)
}

/// Kills a child that was not reaped yet, and its descendants. A descendant is not found if its parent ended earlier: then the kernel
/// has given it another parent.
pub(crate) fn kill_family(root: Pid) {
    let mut family: HashMap<Pid, OwnedFd> = HashMap::new();
    loop {
        // All are stopped before the first is killed: a stopped process starts no others, and a process whose parent is dead
        // would have another parent and not be found.
        let parents = parents();
        let before = family.len();
        for (&process, parent) in &parents {
            let related =
                process == root || parent.is_some_and(|parent| family.contains_key(&parent));
            if related && !family.contains_key(&process) {
                let Ok(handle) = pidfd_open(process, PidfdFlags::empty()) else {
                    continue;
                };
                // The process id may have been reused since it was listed.
                if process == root || parent_of(process) == *parent {
                    pidfd_send_signal(&handle, Signal::STOP).ok();
                    family.insert(process, handle);
                }
            }
        }
        if family.len() == before {
            break;
        }
    }
    for handle in family.values() {
        pidfd_send_signal(handle, Signal::KILL).ok();
    }
}

/// All processes of the system, with their parents. Empty if /proc cannot be read.
fn parents() -> HashMap<Pid, Option<Pid>> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return HashMap::new();
    };
    entries
        .flatten()
        .filter_map(|entry| {
            let process = entry.file_name().to_str()?.parse().ok()?;
            let process = Pid::from_raw(process)?;
            Some((process, parent_of(process)))
        })
        .collect()
}

fn parent_of(process: Pid) -> Option<Pid> {
    id_in_stat(process, 1)
}

/// A process id in `/proc/PID/stat`, by its index behind the name, which may contain any character: the state, the parent, the process
/// group; proc_pid_stat(5).
fn id_in_stat(process: Pid, index: usize) -> Option<Pid> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    Pid::from_raw(fields.split(' ').nth(index)?.parse().ok()?)
}

/// Whether the process group of this number has other members.
pub(crate) fn leads_others(leader: Pid) -> bool {
    let processes = parents().into_keys();
    let mut others = processes.filter(|&process| process != leader);
    others.any(|process| id_in_stat(process, 2) == Some(leader))
}

/// The end of a child, to be waited for on another thread.
pub(crate) struct End(OwnedFd);

impl End {
    /// Of a child that was not reaped yet.
    pub(crate) fn of(process: Pid) -> Option<Self> {
        pidfd_open(process, PidfdFlags::empty()).ok().map(Self)
    }

    /// Waits for the end without reaping the child.
    pub(crate) fn wait(&self) {
        let mut wait = [PollFd::new(&self.0, PollFlags::IN)];
        while poll(&mut wait, None) == Err(Errno::INTR) {}
    }
}
