//! A process, as it is told of at its start.

use crate::ThreadId;
use crate::linux::privileges;
use std::path::PathBuf;

/// The process, as told at its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessInfo {
    /// Its id.
    pub pid: i32,
    /// The executable, absolute.
    pub program: PathBuf,
    /// How it came under control.
    pub start: Start,
    /// It is, or descends from, what a debugger has launched: it is killed when that is.
    pub of_launched: bool,
    /// A stop signal held it when it was attached to: it runs on only when it has got SIGCONT, too.
    pub stopped: bool,
}

impl ProcessInfo {
    /// What it runs without that the file of its program gives it, because it is debugged: `of user 0`. (The system gives a program that is traced no
    /// privileges that its tracer hasn't.)
    pub fn lost_privileges(&self) -> Option<String> {
        match self.start {
            Start::Launched => privileges::lost(ThreadId(self.pid), &self.program),
            // It had begun before.
            Start::Attached | Start::PostMortem => None,
        }
    }
}

/// How a process came under control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// The debugger has started it.
    Launched,
    /// It ran already.
    Attached,
    /// It has ended, and left a core file.
    PostMortem,
}
