//! A program that is run without being debugged. Nothing traces it, so that it runs as fast as on its own, may trace itself, and has
//! the privileges that its file gives it (execve(2): a traced program gets none).
//!
//! [`Untraced::prepare`] checks whether it can be started and opens its streams; [`Untraced::start`] runs it. Its output and its end come
//! as [`Event`]s, as a debuggee's do. It is a child of the debugger, or of the launcher in a client's terminal
//! ([`dapple_target::launcher`]), and is killed when the debugger is gone (by a `Guard`, or by the launcher), unless it was let go.

use crate::session::Leave;
use crate::{Error, Event, ThreadId, event};
use crossbeam_channel::Sender;
use dapple_inspect::inspect::threads::ThreadInfo;
use dapple_target::exit_status::ExitStatus;
use dapple_target::launch::{LaunchOptions, ProcessGroup};
use dapple_target::launcher::Launcher;
use dapple_target::linux::input::Input;
use dapple_target::linux::output::Output;
use dapple_target::linux::streams::Streams;
use dapple_target::linux::untraced::{Guard, Handle, before_exec};
use dapple_target::linux::{attach, check, process};
use dapple_target::process_info::{ProcessInfo, Start};
use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// A program that is run without being debugged. Dropping this kills the program.
#[derive(Debug)]
pub struct Untraced {
    options: LaunchOptions,
    program: PathBuf,
    state: State,
    input: Option<Input>,
    output: Arc<Mutex<Option<Output>>>,
}

#[derive(Debug)]
enum State {
    /// Not started yet.
    Prepared {
        streams: Option<Streams>,
        events: Sender<Event>,
    },
    /// Started.
    Started(Running),
    /// Let go, killed, or failed to start.
    Over,
}

#[derive(Debug)]
struct Running {
    process: ProcessInfo,
    handle: Handle,
    keeper: Keeper,
    /// Waits for the program's end and reports it.
    waiting: JoinHandle<()>,
}

/// What kills the program when the debugger is gone.
#[derive(Debug)]
enum Keeper {
    Guard(Guard),
    Launcher(UnixStream),
}

impl Untraced {
    /// Checks whether the program can be started, and opens its streams. Its output and its end go to `events`.
    ///
    /// # Errors
    /// [`Error::Launch`] with a sentence the user can act on.
    pub fn prepare(options: LaunchOptions, events: Sender<Event>) -> Result<Untraced, Error> {
        let program = check::program(&options)?;
        let streams = match &options.launcher {
            Some(_) => None,
            None => Some(Streams::open(&options)?),
        };
        Ok(Untraced {
            options,
            program,
            state: State::Prepared { streams, events },
            input: None,
            output: Arc::default(),
        })
    }

    /// Runs the program; does nothing if that was tried before.
    ///
    /// # Errors
    /// [`Error::Launch`] if the system refuses.
    pub fn start(&mut self) -> Result<(), Error> {
        let (streams, events) = match std::mem::replace(&mut self.state, State::Over) {
            State::Prepared { streams, events } => (streams, events),
            other => {
                self.state = other;
                return Ok(());
            }
        };
        let running = match (streams, self.options.launcher.clone()) {
            (Some(streams), _) => self.start_here(streams, events)?,
            (None, Some(launcher)) => self.start_there(&launcher, events)?,
            (None, None) => return Err(Error::Ended),
        };
        self.state = State::Started(running);
        Ok(())
    }

    fn start_here(&mut self, streams: Streams, events: Sender<Event>) -> Result<Running, Error> {
        let mut command = self.command();
        for (name, value) in &self.options.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(cwd) = &self.options.cwd {
            command.current_dir(cwd);
        }
        let terminal = streams.terminal.as_ref().map(AsRawFd::as_raw_fd);
        let own_session = self.options.process_group == ProcessGroup::Own;
        before_exec(&mut command, own_session, terminal);
        let (ends, read, written) = streams.apart();
        if let Some(stdin) = ends.stdin {
            command.stdin(stdin);
        }
        command.stdout(ends.stdout).stderr(ends.stderr);
        let mut child = command.spawn().map_err(|e| self.refused(&e))?;
        // Closes the debugger's copies of the program's stream ends, of which `command` has some: only the program has them then.
        drop((command, ends.terminal));
        let process = ThreadId(child.id().cast_signed());
        let kept = Handle::of(process).and_then(|handle| Ok((Guard::start(&handle)?, handle)));
        let kept = kept
            .and_then(|kept| Ok((kept, Output::start(read, &event::output_to(&events), None)?)));
        let ((guard, handle), output) = kept.map_err(|e| {
            let _ = child.kill();
            let _ = child.wait();
            self.refused(&e)
        })?;
        self.input = written.map(Input::start);
        *lock(&self.output) = Some(output);
        let output = Arc::clone(&self.output);
        let waiting = self.wait_beside(move || {
            let status = end_of(child);
            if let Some(output) = lock(&output).take() {
                output.finish();
            }
            let _ = events.send(Event::Exited(status));
        })?;
        Ok(Running {
            process: self.info(process),
            handle,
            keeper: Keeper::Guard(guard),
            waiting,
        })
    }

    fn start_there(&self, launcher: &Launcher, events: Sender<Event>) -> Result<Running, Error> {
        let mut socket = launcher.socket.try_clone().map_err(|e| self.refused(&e))?;
        let process = launcher.start_beside().map_err(|reason| Error::Launch {
            program: self.options.program.clone(),
            reason,
        })?;
        let handle = Handle::of(process).map_err(|e| self.refused(&e))?;
        let keeper = socket.try_clone().map_err(|e| self.refused(&e))?;
        let waiting = self.wait_beside(move || {
            let mut status = [0; 4];
            let status = match socket.read_exact(&mut status) {
                Ok(()) => exit_status(std::process::ExitStatus::from_raw(i32::from_le_bytes(
                    status,
                ))),
                // The launcher is gone, and has killed the program.
                Err(_) => ExitStatus::Signal(libc::SIGKILL),
            };
            let _ = events.send(Event::Exited(status));
        })?;
        Ok(Running {
            process: self.info(process),
            handle,
            keeper: Keeper::Launcher(keeper),
            waiting,
        })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.arg0(OsStr::new(&self.options.program));
        command.args(&self.options.args);
        command
    }

    fn refused(&self, error: &io::Error) -> Error {
        let reason = match error.kind() {
            io::ErrorKind::NotFound => "its interpreter is missing".into(),
            _ => error.to_string(),
        };
        Error::Launch {
            program: self.options.program.clone(),
            reason: format!("the system refuses to run it: {reason}"),
        }
    }

    fn wait_beside(&self, wait: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, Error> {
        let thread = std::thread::Builder::new().name("program".into());
        thread.spawn(wait).map_err(|e| self.refused(&e))
    }

    fn info(&self, process: ThreadId) -> ProcessInfo {
        ProcessInfo {
            pid: process.0,
            program: self.program.clone(),
            start: Start::Launched,
            of_launched: true,
            stopped: false,
        }
    }

    fn running(&self) -> Result<&Running, Error> {
        match &self.state {
            State::Started(running) => Ok(running),
            _ => Err(Error::Ended),
        }
    }

    /// The process, once it is started.
    pub fn process(&self) -> Option<&ProcessInfo> {
        self.running().ok().map(|running| &running.process)
    }

    /// The program's threads; none if it has ended or has yet to start.
    pub fn threads(&self) -> Vec<ThreadInfo> {
        let Ok(running) = self.running() else {
            return Vec::new();
        };
        let pid = ThreadId(running.process.pid);
        let thread = |id| ThreadInfo {
            id,
            name: process::thread_name(id),
        };
        let mut threads = attach::threads(pid).unwrap_or_default();
        threads.sort_unstable();
        threads.into_iter().map(thread).collect()
    }

    /// Asks the program to end: by SIGTERM or another signal (`kill -l`), which it may handle; it is continued for that.
    ///
    /// # Errors
    /// [`Error::Ended`], or what the system says.
    pub fn terminate(&self, signal: i32) -> Result<(), Error> {
        self.signal(signal)?;
        match self.threads_are_stopped() {
            true => self.signal(libc::SIGCONT),
            false => Ok(()),
        }
    }

    /// Kills the program; its end comes as an event.
    ///
    /// # Errors
    /// [`Error::Ended`], or what the system says.
    pub fn kill(&self) -> Result<(), Error> {
        self.signal(libc::SIGKILL)
    }

    fn threads_are_stopped(&self) -> bool {
        let stopped = |running: &Running| attach::stopped_by_signal(ThreadId(running.process.pid));
        self.running().is_ok_and(stopped)
    }

    fn signal(&self, signal: i32) -> Result<(), Error> {
        let running = self.running()?;
        running
            .handle
            .signal(signal)
            .map_err(|e| match e.raw_os_error() {
                Some(libc::ESRCH) => Error::Ended,
                _ => Error::System {
                    operation: format!(
                        "signal {signal} can't be sent to process {}",
                        running.process.pid
                    ),
                    reason: e.to_string(),
                },
            })
    }

    /// Sends bytes to the program's standard input; `None` ends the input.
    ///
    /// # Errors
    /// [`Error::System`] if nothing reads the input.
    pub fn send_input(&mut self, bytes: Option<Vec<u8>>) -> Result<(), Error> {
        Input::take(self.input.as_mut(), bytes)
    }

    /// Kills the program or lets it go.
    pub fn leave(mut self, how: Leave) {
        self.end(how);
    }

    fn end(&mut self, how: Leave) {
        let State::Started(running) = std::mem::replace(&mut self.state, State::Over) else {
            return;
        };
        match how {
            // A program that may not be killed, because it has become another user's, is not waited for.
            Leave::Kill => match running.handle.signal(libc::SIGKILL) {
                Err(e) if e.raw_os_error() == Some(libc::EPERM) => {
                    tracing::warn!(process = running.process.pid, "it may not be killed");
                }
                _ => drop(running.waiting.join()),
            },
            Leave::Detach | Leave::Suspend => {
                if let Some(mut output) = lock(&self.output).take() {
                    output.let_go();
                }
                if how == Leave::Suspend {
                    // A program that has ended meanwhile needs no stop.
                    let _ = running.handle.signal(libc::SIGSTOP);
                }
                running.keeper.let_go();
            }
        }
    }
}

impl Drop for Untraced {
    fn drop(&mut self) {
        self.end(Leave::Kill);
    }
}

impl Keeper {
    fn let_go(self) {
        match self {
            Keeper::Guard(guard) => guard.dismiss(),
            Keeper::Launcher(mut socket) => {
                // A launcher that is gone kills nothing.
                let _ = socket.write_all(&[dapple_target::launcher::LET_GO]);
            }
        }
    }
}

fn lock(output: &Mutex<Option<Output>>) -> MutexGuard<'_, Option<Output>> {
    output.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for a child's end.
fn end_of(mut child: Child) -> ExitStatus {
    match child.wait() {
        Ok(status) => exit_status(status),
        Err(error) => {
            tracing::error!(%error, "waiting for the program failed");
            ExitStatus::Signal(libc::SIGKILL)
        }
    }
}

fn exit_status(status: std::process::ExitStatus) -> ExitStatus {
    match (status.code(), status.signal()) {
        (Some(code), _) => ExitStatus::Code(code),
        (None, signal) => ExitStatus::Signal(signal.unwrap_or(libc::SIGKILL)),
    }
}
