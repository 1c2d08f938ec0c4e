//! An adapter as a child process.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, getpgid, kill_process_group, pidfd_open};

use crate::transport::{Connection, Options};

/// A child that is ended with the client.
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
            .spawn()?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(input), Some(output)) => {
                Ok((Self { child }, options.streams(output, input, || {})))
            }
            _ => Err(std::io::Error::other(
                "the adapter was started without pipes",
            )),
        }
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Collects it if it ends within `grace`, else kills it. If it leads a process group of its own, as
    /// `CommandExt::process_group(0)` makes it, the group is killed too: the adapter may be behind a shell.
    pub(super) fn end(mut self, grace: Duration) {
        let process = Pid::from_child(&self.child);
        if !ends_within(process, grace) {
            // The number is not used again before the child is collected.
            if getpgid(Some(process)) == Ok(process) {
                kill_process_group(process, Signal::KILL).ok();
            }
            self.child.kill().ok();
        }
        self.child.wait().ok();
    }
}

/// Waits for the end of a child, which is not collected.
fn ends_within(process: Pid, grace: Duration) -> bool {
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
