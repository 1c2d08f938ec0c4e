//! Which thread owns the debuggee: one of its own, or the one that began the session.
//!
//! ptrace(2) binds a debuggee to one thread. If the debuggee has a thread of its own, the session's user need not wait for it, but each
//! command takes two switches between threads and each event one, which is most of what a step costs. A user whose own loop waits for
//! the debuggee, by [`Session::attend`](super::Session::attend), saves the switches.

use crate::Error;
use crate::owner::{Command, CommandQueue, Owner};
use crate::postmortem::PostMortem;
use crate::session::Leave;
use crossbeam_channel::Sender;
use dapple_inspect::inspect::Inspect;
use dapple_target::linux::wait::Waker;
use dapple_target::process_info::ProcessInfo;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{JoinHandle, ThreadId};

/// Which thread is to own the debuggee.
#[derive(Debug, Clone, Default)]
pub enum Keep {
    /// A thread of its own.
    #[default]
    Apart,
    /// The calling thread. It must call [`Session::attend`](super::Session::attend) again and again, and is the only one that may use
    /// the session. The waker ends the wait in `attend`.
    Here(Arc<Waker>),
}

/// The thread that owns the debuggee.
pub(super) enum Keeper {
    Apart {
        commands: Sender<Command>,
        waker: Arc<Waker>,
        thread: Option<JoinHandle<()>>,
    },
    Here {
        /// Locked by `thread` only.
        owner: Box<Mutex<Owner>>,
        thread: ThreadId,
    },
    /// No thread owns a process: there is only a core file.
    PostMortem(Box<Mutex<PostMortem>>),
}

impl std::fmt::Debug for Keeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Keeper::Apart { .. } => "Apart",
            Keeper::Here { .. } => "Here",
            Keeper::PostMortem(_) => "PostMortem",
        })
    }
}

impl Keeper {
    /// Runs `start` on the thread that is to own the debuggee; `failed` is the error if that thread gives no answer.
    pub(super) fn begin(
        keep: Keep,
        failed: impl FnOnce() -> Error,
        start: impl FnOnce(CommandQueue) -> Result<(Owner, ProcessInfo), Error> + Send + 'static,
    ) -> Result<(Keeper, ProcessInfo), Error> {
        dapple_symbols::survive_changed_files();
        match keep {
            Keep::Here(waker) => {
                let (owner, process) = start(CommandQueue::new(waker, true))?;
                let keeper = Keeper::Here {
                    owner: Box::new(Mutex::new(owner)),
                    thread: std::thread::current().id(),
                };
                Ok((keeper, process))
            }
            Keep::Apart => {
                let waker = Arc::new(Waker::default());
                let queue = CommandQueue::new(Arc::clone(&waker), false);
                let commands = queue.sender.clone();
                let (thread, process) = apart(failed, move || start(queue))?;
                let keeper = Keeper::Apart {
                    commands,
                    waker,
                    thread: Some(thread),
                };
                Ok((keeper, process))
            }
        }
    }

    /// Runs `command` on the debuggee's thread and waits for its answer.
    pub(super) fn ask<R: Send + 'static>(
        &self,
        command: impl FnOnce(&mut Owner) -> R + Send + 'static,
    ) -> Result<R, Error> {
        match self {
            Keeper::Apart {
                commands, waker, ..
            } => {
                let (reply, answer) = crossbeam_channel::bounded(1);
                let command: Command = Box::new(move |owner| {
                    let _ = reply.send(command(owner));
                });
                commands.send(command).map_err(|_| Error::Ended)?;
                waker.wake();
                // If the debuggee has ended, the command doesn't run, and its end of the channel is closed.
                answer.recv().map_err(|_| Error::Ended)
            }
            Keeper::Here { .. } => self.here(|owner| owner.obey(command))?.ok_or(Error::Ended),
            Keeper::PostMortem(_) => Err(Error::PostMortem),
        }
    }

    /// As [`Keeper::ask`], for commands that only look, which also work post mortem.
    pub(super) fn look<R: Send + 'static>(
        &self,
        look: impl FnOnce(&mut dyn Inspect) -> R + Send + 'static,
    ) -> Result<R, Error> {
        match self {
            Keeper::PostMortem(remains) => {
                let mut remains = remains.lock().unwrap_or_else(PoisonError::into_inner);
                let result = look(&mut *remains);
                remains.tell_warnings();
                Ok(result)
            }
            _ => self.ask(|owner| look(owner)),
        }
    }

    /// Waits for the debuggee or the waker, once, and handles what happened; `false` if there is nothing to wait for.
    pub(super) fn attend(&self) -> bool {
        matches!(self.here(Owner::attend), Ok(true))
    }

    /// Whether all threads of the debuggee are stopped, if this thread owns it.
    pub(super) fn is_held(&self) -> bool {
        self.own().is_ok_and(|owner| owner.is_stopped())
    }

    /// Whether a stop is expected at once, if this thread owns the debuggee.
    pub(super) fn stops_soon(&self) -> bool {
        self.own().is_ok_and(|owner| owner.stops_soon())
    }

    /// The owner of a debuggee that belongs to the calling thread, only for getters: code that changes something, and so may panic
    /// halfway, uses [`Keeper::here`]. The lock is never contended: it is there because a session may be shared between threads, and
    /// only one of them gets past the check.
    fn own(&self) -> Result<MutexGuard<'_, Owner>, Error> {
        let Keeper::Here { owner, thread } = self else {
            return Err(Error::Ended);
        };
        if *thread != std::thread::current().id() {
            return Err(Error::System {
                operation: "the program can't be reached".into(),
                reason: "it belongs to another thread".into(),
            });
        }
        let owner = owner.lock().unwrap_or_else(PoisonError::into_inner);
        match owner.is_over() {
            true => Err(Error::Ended),
            false => Ok(owner),
        }
    }

    /// Runs `act` on the owner of a debuggee that belongs to the calling thread.
    fn here<R>(&self, act: impl FnOnce(&mut Owner) -> R) -> Result<R, Error> {
        let mut owner = self.own()?;
        // A bug here must not leave a debuggee behind that nobody can reach.
        catch_unwind(AssertUnwindSafe(|| act(&mut owner))).map_err(|_| {
            owner.abandon();
            Error::Ended
        })
    }

    /// Ends the session. When this returns, the debuggee is gone or free.
    pub(super) fn end(&mut self, how: Leave) {
        // If the command fails, the debuggee has ended by itself.
        match self {
            Keeper::PostMortem(_) => {}
            Keeper::Here { .. } => {
                let _ = self.ask(move |owner| owner.leave(how));
                while self.attend() {}
            }
            Keeper::Apart { thread, .. } => {
                let Some(thread) = thread.take() else {
                    return;
                };
                let _ = self.ask(move |owner| owner.leave(how));
                let _ = thread.join();
            }
        }
    }
}

/// Starts a thread that owns what `start` makes.
fn apart(
    failed: impl FnOnce() -> Error,
    start: impl FnOnce() -> Result<(Owner, ProcessInfo), Error> + Send + 'static,
) -> Result<(JoinHandle<()>, ProcessInfo), Error> {
    let (report, started) = crossbeam_channel::bounded(1);
    let thread = std::thread::Builder::new()
        .name("debuggee".into())
        .spawn(move || match start() {
            Ok((mut owner, process)) => {
                let _ = report.send(Ok(process));
                // A bug here must not leave a debuggee behind that nobody can reach.
                if catch_unwind(AssertUnwindSafe(|| owner.run())).is_err() {
                    owner.abandon();
                }
            }
            Err(error) => {
                let _ = report.send(Err(error));
            }
        })
        .map_err(|e| Error::System {
            operation: "the debugger can't start a thread".into(),
            reason: e.to_string(),
        })?;
    match started.recv().unwrap_or_else(|_| Err(failed())) {
        Ok(process) => Ok((thread, process)),
        Err(error) => {
            // The thread may have traced a process already: that is released when the thread ends.
            let _ = thread.join();
            Err(error)
        }
    }
}
