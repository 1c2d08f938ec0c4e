//! Runs commands for the user before there is a debuggee, such as a build.
//!
//! A command gets a process group of its own. The whole group is killed when the command is cancelled or the debugger ends. Processes that
//! leave the group (setsid(2)), such as a compiler cache's server, are meant to survive and are left alone. Output is passed on as it
//! arrives.

use crate::ThreadId;
use crate::exit_status::ExitStatus;
use crate::linux::untraced::{Guard, before_exec};
use crate::stream::Stream;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{
    Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, test_kill_process_group,
};
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How often, at least, `run` checks whether the command is still wanted.
const TICK: Duration = Duration::from_millis(30);

/// How long the processes of a cancelled command may take to end after SIGTERM before they are killed.
const PATIENCE: Duration = Duration::from_millis(700);

/// How often it is checked whether the processes of a cancelled command have ended.
const PAUSE: Duration = Duration::from_millis(2);

/// How many bytes one system call reads.
const BUFFER: usize = 64 << 10;

/// About how many bytes are read at most from a pipe after the command has ended: a process that the command left behind may write for ever.
const LEFT: usize = 4 << 20;

/// Runs a command to its end, with an empty standard input. `told` receives the output as it arrives. `goes_on` is called repeatedly. When
/// it returns `false`, the command is cancelled: all processes of its group are ended, and the result is `Ok(None)`. If the command ends by
/// itself, other processes of its group run on; what they write later is not read.
///
/// # Errors
/// The command can't be started or waited for.
pub fn run(
    mut command: Command,
    told: &mut dyn FnMut(Stream, &[u8]),
    goes_on: &mut dyn FnMut() -> bool,
) -> io::Result<Option<ExitStatus>> {
    let (out, out_end) = io::pipe()?;
    let (err, err_end) = io::pipe()?;
    command
        .stdin(Stdio::null())
        .stdout(out_end)
        .stderr(err_end)
        .process_group(0);
    before_exec(&mut command, false, None);
    let child = command.spawn()?;
    // `command` holds copies of the pipes' write ends. With them closed, only the child and its descendants hold the pipes open.
    drop(command);
    let running = Running::new(child)?;
    let mut pipes = vec![(Stream::Stdout, out), (Stream::Stderr, err)];
    for (_, pipe) in &pipes {
        fcntl_setfl(pipe, fcntl_getfl(pipe)? | OFlags::NONBLOCK)?;
    }
    loop {
        let ended = {
            let mut watched: Vec<PollFd<'_>> = pipes
                .iter()
                .map(|(_, pipe)| PollFd::new(pipe, PollFlags::IN))
                .collect();
            watched.push(PollFd::new(&running.handle, PollFlags::IN));
            let tick = Timespec::try_from(TICK).unwrap_or_default();
            match poll(&mut watched, Some(&tick)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let ended = watched.pop();
            ended.is_some_and(|ended| !ended.revents().is_empty())
        };
        let most = if ended { LEFT } else { BUFFER };
        pipes.retain_mut(|(stream, pipe)| drain(pipe, most, &mut |bytes| told(*stream, bytes)));
        if ended {
            return running.finish().map(Some);
        }
        if !goes_on() {
            return Ok(None);
        }
    }
}

/// Reads a pipe until it has no data at the moment, or until at least `most` bytes are read. Returns `false` at the end of the pipe, or if
/// reading fails.
fn drain(pipe: &mut io::PipeReader, most: usize, told: &mut dyn FnMut(&[u8])) -> bool {
    let mut buffer = vec![0; BUFFER];
    let mut read = 0;
    while read < most {
        match pipe.read(&mut buffer) {
            Ok(0) => return false,
            Ok(length) => {
                told(buffer.get(..length).unwrap_or_default());
                read += length;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return error.kind() == io::ErrorKind::WouldBlock,
        }
    }
    true
}

/// A running command. Dropping this ends the command's whole process group, unless the command has ended by itself ([`Running::finish`]).
struct Running {
    child: Child,
    group: Pid,
    handle: std::os::fd::OwnedFd,
    guard: Option<Guard>,
    over: bool,
}

impl Running {
    fn new(mut child: Child) -> io::Result<Running> {
        let group = Pid::from_child(&child);
        let kept = pidfd_open(group, PidfdFlags::empty())
            .map_err(io::Error::from)
            .and_then(|handle| {
                let leader = ThreadId(group.as_raw_nonzero().get());
                Ok((handle, Guard::of_group(leader)?))
            });
        match kept {
            Ok((handle, guard)) => Ok(Running {
                child,
                group,
                handle,
                guard: Some(guard),
                over: false,
            }),
            Err(error) => {
                let _ = kill_process_group(group, Signal::KILL);
                let _ = child.wait();
                Err(error)
            }
        }
    }

    /// Reaps a command that has ended, and returns its exit status. Other processes of its group run on.
    fn finish(mut self) -> io::Result<ExitStatus> {
        self.over = true;
        self.dismiss();
        let status = self.child.wait()?;
        Ok(match (status.code(), status.signal()) {
            (Some(code), _) => ExitStatus::Code(code),
            (None, signal) => ExitStatus::Signal(signal.unwrap_or_default()),
        })
    }

    fn dismiss(&mut self) {
        if let Some(guard) = self.guard.take() {
            guard.dismiss();
        }
    }

    /// Ends all processes of the group: sends SIGTERM, and SIGKILL to those that are still there after [`PATIENCE`].
    fn end(&mut self) {
        let asked = Instant::now();
        let _ = kill_process_group(self.group, Signal::TERM);
        let leader_is_there = || {
            let mut watched = [PollFd::new(&self.handle, PollFlags::IN)];
            let tick = Timespec::try_from(PAUSE).unwrap_or_default();
            !matches!(poll(&mut watched, Some(&tick)), Ok(1))
        };
        while asked.elapsed() < PATIENCE && leader_is_there() {}
        if leader_is_there() {
            let _ = kill_process_group(self.group, Signal::KILL);
        }
        self.dismiss();
        let _ = self.child.wait();
        while test_kill_process_group(self.group).is_ok() {
            match asked.elapsed() {
                elapsed if elapsed < PATIENCE => {}
                elapsed if elapsed < 2 * PATIENCE => {
                    let _ = kill_process_group(self.group, Signal::KILL);
                }
                _ => return,
            }
            // The processes are reparented to init, so their end can't be waited for, only polled.
            let _ = poll(
                &mut [],
                Some(&Timespec::try_from(PAUSE).unwrap_or_default()),
            );
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.over {
            self.end();
        }
    }
}
