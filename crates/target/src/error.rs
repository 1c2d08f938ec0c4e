//! Errors of debugger commands.

use crate::ThreadId;
use std::fmt;
use std::path::PathBuf;

/// Why a command was refused or failed. The message is a sentence for the user.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The command needs a stopped debuggee.
    #[error("the program is running; pause it first")]
    NotStopped,
    /// The debuggee has ended or was detached from.
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
        /// The program.
        program: PathBuf,
        /// A sentence the user can act on.
        reason: String,
    },
    /// A recording can't be replayed.
    #[error("cannot replay {}: {reason}", file.display())]
    Recording {
        /// The file with the recording.
        file: PathBuf,
        /// What is wrong with the file, or different on this system.
        reason: String,
    },
    /// The program can't be started because of one of the launch options.
    #[error("cannot launch: {option} {}: {reason}", path.display())]
    LaunchOption {
        /// The option.
        option: LaunchOption,
        /// The path that it names.
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
    /// The process behind a stub can't be debugged.
    #[error("cannot debug what is at {address}: {reason}")]
    Connect {
        /// Where the stub is.
        address: String,
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
    /// The command needs a live process, but the session debugs a core file.
    #[error("this needs a live process; a core file can only be looked at")]
    PostMortem,
    /// The request can't be carried out; the text says why.
    #[error("{0}")]
    Refused(String),
    /// An expression can't be evaluated; the text says why and where in it.
    #[error("{0}")]
    Expression(String),
    /// The system refused an operation on the debuggee.
    #[error("{operation}: {reason}")]
    System {
        /// The operation that was tried.
        operation: String,
        /// The system's reason.
        reason: String,
    },
}

/// The launch option that names a missing or unusable file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaunchOption {
    /// The executable.
    Program,
    /// The program's working directory.
    WorkingDirectory,
    /// The source of its standard input.
    Stdin,
    /// The destination of its standard output.
    Stdout,
    /// The destination of its standard error.
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
