//! An adapter as a child process, and how it and its descendants are ended.
//!
//! An adapter starts processes of its own: servers, launchers, debuggees. An adapter that ends by itself, as it does when its client
//! is gone, decides which of them survive; only those left in its own process group are killed. An adapter that has to be killed
//! cannot end them, so all its descendants are killed with it, in any process group or session. That is how it is on Linux; where a
//! system doesn't tell descendants or has no process groups, fewer are killed (see [`Client::spawn`](super::Client::spawn)).

#[cfg(target_os = "linux")]
mod linux;
#[cfg(all(unix, any(not(target_os = "linux"), test)))]
mod unix;

use std::ffi::OsStr;
use std::io;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

#[cfg(unix)]
use rustix::process::{Pid, Signal, getpgid, kill_process_group};

use crate::transport::{Connection, Options};

#[cfg(target_os = "linux")]
pub(crate) use linux::{End, ends_within, kill_family, leads_others};
#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) use unix::{ends_within, kill_family};

/// An adapter process that is ended with the client.
#[derive(Debug)]
pub(super) struct Spawned {
    child: Child,
}

impl Spawned {
    pub(super) fn start(command: &mut Command, options: Options) -> io::Result<(Self, Connection)> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| cannot_start(command.get_program(), &error))?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(input), Some(output)) => Ok((Self { child }, options.child(output, input))),
            _ => Err(io::Error::other("the adapter was started without pipes")),
        }
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// As [`end_child`].
    pub(super) fn end(mut self, grace: Duration) {
        end_child(&mut self.child, grace).ok();
    }
}

/// Waits up to `grace` for the end of an adapter that was started as the leader of a process group. If it has not ended by then, kills it
/// and its descendants; see [`Client::spawn`](super::Client::spawn). Kills what is left in its group, and reaps it in any case.
///
/// # Errors
/// It can't be reaped.
#[cfg(unix)]
pub fn end_child(child: &mut Child, grace: Duration) -> io::Result<ExitStatus> {
    let process = Pid::from_child(child);
    if !ends_within(process, grace) {
        kill_family(process);
    }
    kill_group(process);
    child.wait()
}

/// Waits up to `grace` for the end of an adapter. If it has not ended by then, kills it. Looks every few milliseconds: the standard
/// library has no wait with a timeout.
///
/// # Errors
/// It can't be reaped.
#[cfg(not(unix))]
pub fn end_child(child: &mut Child, grace: Duration) -> io::Result<ExitStatus> {
    const INTERVAL: Duration = Duration::from_millis(5);
    let until = std::time::Instant::now() + grace;
    while let Ok(None) = child.try_wait() {
        let left = until.saturating_duration_since(std::time::Instant::now());
        if left.is_zero() {
            child.kill().ok();
            break;
        }
        std::thread::park_timeout(INTERVAL.min(left));
    }
    child.wait()
}

/// The error of a program that cannot be started, with the program's name.
pub(crate) fn cannot_start(program: &OsStr, error: &io::Error) -> io::Error {
    let program = program.display();
    io::Error::new(error.kind(), format!("cannot start {program}: {error}"))
}

/// Kills the process group that a child leads, such as an adapter started by a shell. The child may have ended but must not have
/// been reaped, so that its process id is not reused.
#[cfg(unix)]
pub(crate) fn kill_group(leader: Pid) {
    if getpgid(Some(leader)) == Ok(leader) {
        kill_process_group(leader, Signal::KILL).ok();
    }
}
