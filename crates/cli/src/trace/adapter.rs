//! An adapter as a child process that is never left behind.
//!
//! It leads a process group of its own. One that ends by itself decides which of its children survive; only those left in its group are
//! killed. One that has to be killed can't end them, so its descendants are killed with it.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use dapple_dap::client::end_child;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// A running adapter.
#[derive(Debug)]
pub struct Adapter {
    child: Child,
    handle: OwnedFd,
    ended: bool,
}

/// A second handle of an adapter's process, for a thread that waits.
#[derive(Debug)]
pub struct Waiter {
    handle: OwnedFd,
}

impl Adapter {
    /// Starts the command, with pipes if `piped`, else without input and output. Its standard error goes to `stderr`.
    pub fn start(
        command: &[OsString],
        piped: bool,
        stderr: Stdio,
    ) -> Result<(Self, Option<(ChildStdin, ChildStdout)>)> {
        let Some((program, arguments)) = command.split_first() else {
            bail!("the adapter's command is missing");
        };
        let pipe = |piped: bool| if piped { Stdio::piped() } else { Stdio::null() };
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(pipe(piped))
            .stdout(pipe(piped))
            .stderr(stderr)
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start the adapter {}", program.display()))?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let handle = pidfd_open(Pid::from_child(&child), PidfdFlags::empty());
        let handle = match handle {
            Ok(handle) => handle,
            Err(error) => {
                child.kill().ok();
                child.wait().ok();
                return Err(error).context("cannot wait for the adapter");
            }
        };
        let adapter = Self {
            child,
            handle,
            ended: false,
        };
        Ok((adapter, pipes))
    }

    /// A handle for a thread that waits for the adapter's end.
    pub fn waiter(&self) -> Result<Waiter> {
        let handle = self.handle.try_clone();
        Ok(Waiter {
            handle: handle.context("cannot wait for the adapter")?,
        })
    }

    /// Passes on a signal.
    pub fn signal(&self, number: i32) {
        // Those that this program catches have names.
        if let Some(signal) = Signal::from_named_raw(number) {
            pidfd_send_signal(&self.handle, signal).ok();
        }
    }

    /// Waits for the adapter's end up to `grace`, then kills it and its descendants. Returns its exit code; 128 and the signal's number
    /// if it was killed.
    pub fn end(mut self, grace: Duration) -> u8 {
        self.end_within(grace)
    }

    fn end_within(&mut self, grace: Duration) -> u8 {
        self.ended = true;
        let Ok(status) = end_child(&mut self.child, grace) else {
            return 1;
        };
        let code = match (status.code(), status.signal()) {
            (Some(code), _) => code,
            (None, Some(signal)) => 128 + signal,
            (None, None) => 1,
        };
        u8::try_from(code).unwrap_or(1)
    }
}

impl Drop for Adapter {
    fn drop(&mut self) {
        if !self.ended {
            self.end_within(Duration::ZERO);
        }
    }
}

impl Waiter {
    /// Returns when the process has ended. It isn't reaped by this.
    pub fn wait(self) {
        // Readable once the process has ended, pidfd_open(2).
        let mut wait = [PollFd::new(&self.handle, PollFlags::IN)];
        while poll(&mut wait, None) == Err(rustix::io::Errno::INTR) {}
    }
}
