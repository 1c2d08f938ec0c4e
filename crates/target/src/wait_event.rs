//! Events that the kernel reports for a tracee.

use super::exit_status::ExitStatus;
use crate::ThreadId;

/// An event that wait4(2) reported for a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitEvent {
    /// The thread.
    pub thread: ThreadId,
    /// What happened to it.
    pub what: What,
}

/// What happened to a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// The thread has ended.
    Exited(ExitStatus),
    /// The thread is about to end (PTRACE_EVENT_EXIT).
    Exiting,
    /// A signal, which may be SIGTRAP, is about to be delivered.
    Signal(i32),
    /// It has stopped after PTRACE_INTERRUPT, or is a new tracee at its start (PTRACE_EVENT_STOP with SIGTRAP).
    Interrupted {
        /// The thread has also trapped; the SIGTRAP is its next event, reported before it executes another instruction.
        trap_pending: bool,
    },
    /// A stop signal has stopped the process (PTRACE_EVENT_STOP with that signal).
    Group(i32),
    /// It has created a thread.
    NewThread(ThreadId),
    /// It has created a process.
    NewProcess {
        /// The child's id.
        child: ThreadId,
        /// The child shares the parent's memory until it execs or ends. After vfork(2) the parent waits for that.
        shares_memory: bool,
    },
    /// The process has executed another program. The thread that called exec has taken the process's id; `former` was its id before.
    Executed {
        /// The id that the calling thread had before the exec.
        former: ThreadId,
    },
    /// It is at the entry or the exit of a system call, as requested by PTRACE_SYSCALL.
    SystemCall,
    /// A replay has come to the end of what was recorded, or has parted from it.
    ReplayEnds,
    /// A thread is about to be replayed up to a place amid its own code, which whoever runs it has to find.
    TurnAhead,
    /// In a replay, a system call has written memory that is watched. The thread is behind it.
    KernelWrote,
    /// A stop that needs no handling.
    Other,
}
