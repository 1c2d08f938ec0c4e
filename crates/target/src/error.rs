//! What a command can fail with.

use crate::ThreadId;
use std::fmt;
use std::path::PathBuf;

/// Why a command was refused or failed. The text is a sentence for the user.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The command needs a stopped debuggee.
    #[error("the program is running; pause it first")]
    NotStopped,
    /// The debuggee has ended.
    #[error("the program has ended")]
    Ended,
    /// No such thread.
    #[error("there is no thread {0}")]
    NoSuchThread(ThreadId),
    /// The frame belongs to an earlier stop.
    #[error("the frame belongs to an earlier stop")]
    StaleFrame,
    /// The program can't be started.
    #[error("cannot launch {}: {reason}", program.display())]
    Launch {
        /// What was to be run.
        program: PathBuf,
        /// A sentence the user can act on.
        reason: String,
    },
    /// The program can't be started as one of the options says.
    #[error("cannot launch: {option} {}: {reason}", path.display())]
    LaunchOption {
        /// Which.
        option: LaunchOption,
        /// What it named.
        path: PathBuf,
        /// A sentence the user can act on.
        reason: String,
    },
    /// The process can't be attached to.
    #[error("cannot attach to process {process}: {reason}")]
    Attach {
        /// The process.
        process: i32,
        /// A sentence the user can act on.
        reason: String,
    },
    /// The core file can't be used.
    #[error("cannot open the core file {}: {reason}", core.display())]
    Core {
        /// The file.
        core: PathBuf,
        /// A sentence the user can act on.
        reason: String,
    },
    /// The command needs a live process, and there is only what one has left.
    #[error("this needs a live process; a core file can only be looked at")]
    PostMortem,
    /// What was asked for can't be done: why.
    #[error("{0}")]
    Refused(String),
    /// An expression can't be evaluated: what and where in it.
    #[error("{0}")]
    Expression(String),
    /// The system refused something on the debuggee.
    #[error("{operation}: {reason}")]
    System {
        /// What was tried.
        operation: String,
        /// The system's reason.
        reason: String,
    },
}

/// Which of a launch's options names what isn't there, or can't be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaunchOption {
    /// The executable.
    Program,
    /// Its working directory.
    WorkingDirectory,
    /// Where its standard input comes from.
    Stdin,
    /// Where its standard output goes.
    Stdout,
    /// Where its standard error goes.
    Stderr,
}

impl fmt::Display for LaunchOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LaunchOption::Program => "the program",
            LaunchOption::WorkingDirectory => "its working directory",
            LaunchOption::Stdin => "its input",
            LaunchOption::Stdout => "its output",
            LaunchOption::Stderr => "its errors",
        })
    }
}
