//! An adapter as a child process, and how it and its descendants are ended.
//!
//! An adapter starts processes of its own: servers, launchers, debuggees. An adapter that ends by itself, as it does when its client
//! is gone, decides which of them survive; only those left in its own process group are killed. An adapter that has to be killed
//! cannot end them, so all its descendants are killed with it, in any process group or session.

use std::collections::HashMap;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, getpgid, kill_process_group, pidfd_open, pidfd_send_signal,
};

use crate::transport::{Connection, Options};

/// An adapter process that is ended with the client.
#[derive(Debug)]
pub(super) struct Spawned {
    child: Child,
}

impl Spawned {
    pub(super) fn start(
        command: &mut Command,
        options: Options,
    ) -> std::io::Result<(Self, Connection)> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(input), Some(output)) => Ok((Self { child }, options.pipes(output, input))),
            _ => Err(std::io::Error::other(
                "the adapter was started without pipes",
            )),
        }
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits up to `grace` for the end of the adapter. If it has not ended by then, kills it and its descendants. Reaps it in any case.
    pub(super) fn end(mut self, grace: Duration) {
        let process = Pid::from_child(&self.child);
        if !ends_within(process, grace) {
            kill_family(process);
        }
        kill_group(process);
        self.child.wait().ok();
    }
}

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

/// Kills the process group that a child leads, such as an adapter started by a shell. The child may have ended but must not have
/// been reaped, so that its process id is not reused.
pub(crate) fn kill_group(leader: Pid) {
    if getpgid(Some(leader)) == Ok(leader) {
        kill_process_group(leader, Signal::KILL).ok();
    }
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
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).ok()?;
    // After the name, which may contain any character: the state, then the parent; proc_pid_stat(5).
    let (_, fields) = stat.rsplit_once(") ")?;
    let parent = fields.split(' ').nth(1)?.parse().ok()?;
    Pid::from_raw(parent)
}
