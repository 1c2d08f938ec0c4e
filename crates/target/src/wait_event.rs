//! What the kernel tells of a thread.

use super::exit_status::ExitStatus;
use crate::ThreadId;

/// Something wait4(2) told of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitEvent {
    /// The thread.
    pub thread: ThreadId,
    /// What it told.
    pub what: What,
}

/// What it told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// It is gone.
    Exited(ExitStatus),
    /// It is about to go (PTRACE_EVENT_EXIT).
    Exiting,
    /// A signal is about to be delivered, SIGTRAP among them.
    Signal(i32),
    /// It obeys an interrupt, or begins (PTRACE_EVENT_STOP with SIGTRAP).
    Interrupted {
        /// It has also trapped; that comes as the next signal, before it executes anything.
        trap_pending: bool,
    },
    /// A stop signal has stopped the process (PTRACE_EVENT_STOP with that signal).
    Group(i32),
    /// It has begun a thread.
    NewThread(ThreadId),
    /// It has begun a process.
    NewProcess {
        /// Its id.
        child: ThreadId,
        /// The child runs in the same memory until it execs or ends, and its maker waits for that (vfork(2)).
        shares_memory: bool,
    },
    /// The process runs another program; the calling thread, `former`, has taken the process's id.
    Executed {
        /// The id that the calling thread had before.
        former: ThreadId,
    },
    /// It is about to make a system call, which it was to stop for (PTRACE_SYSCALL).
    SystemCall,
    /// A stop of no interest.
    Other,
}
