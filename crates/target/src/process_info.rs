//! The description of a process that is reported when its session starts.

use crate::ThreadId;
use crate::linux::privileges;
use std::path::PathBuf;

/// A process as it was when its session started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessInfo {
    /// Its id.
    pub pid: i32,
    /// The executable, absolute.
    pub program: PathBuf,
    /// How the session got the process.
    pub start: Start,
    /// It was launched by a debugger or descends from such a process, so it is killed when the debugger that traces it ends.
    pub of_launched: bool,
    /// A stop signal had stopped it when the debugger attached. To run on, it needs SIGCONT, too.
    pub stopped: bool,
}

impl ProcessInfo {
    /// The privileges that its executable file grants (set-user-ID, set-group-ID, capabilities) but that it runs without, such as `of user
    /// 0`; `None` if there are none. The kernel gives a traced program no privileges that its tracer lacks.
    pub fn lost_privileges(&self) -> Option<String> {
        match self.start {
            Start::Launched => privileges::lost(ThreadId(self.pid), &self.program),
            // It was executed without a tracer, so it has lost no privileges.
            Start::Attached | Start::PostMortem | Start::Remote => None,
        }
    }
}

/// How the session got a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// The debugger launched it.
    Launched,
    /// The debugger attached to it while it ran.
    Attached,
    /// It has ended; the session debugs its core file.
    PostMortem,
    /// It is behind a stub, perhaps on another machine: its id is not one of this system's.
    Remote,
}
