//! The options of a launch.

use crate::Error;
pub use crate::error::LaunchOption;
use crate::follow_forks::FollowForks;
use crate::launcher::Launcher;
use crate::linux::check;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

/// A program to launch, and how.
#[derive(Debug, Clone, Default)]
pub struct LaunchOptions {
    /// The executable; a relative path is resolved from the debugger's working directory.
    pub program: PathBuf,
    /// Its arguments, without the program's name.
    pub args: Vec<OsString>,
    /// Its working directory; `None` means the debugger's.
    pub cwd: Option<PathBuf>,
    /// Changes to the environment that it inherits from the debugger or the launcher; a value of `None` removes the variable.
    pub env: Vec<(OsString, Option<OsString>)>,
    /// Where its standard input comes from.
    pub stdin: Stdin,
    /// Where its standard output goes.
    pub stdout: Sink,
    /// Where its standard error goes.
    pub stderr: Sink,
    /// Gives it a new pseudoterminal (pty(7)): as its standard input unless that is inherited or a file, and for output that would go to the
    /// debugger ([`Sink::Events`]). What it writes to the terminal is reported as its standard output.
    pub terminal: bool,
    /// Whether it gets a process group of its own (for an editor) or shares the debugger's (in a terminal).
    pub process_group: ProcessGroup,
    /// A launcher process in another terminal that will become the program, or run it as a child if it is not debugged; the program's
    /// streams are then that terminal.
    pub launcher: Option<Arc<Launcher>>,
    /// Leaves address-space randomisation on. Off makes addresses repeat from run to run.
    pub randomize: bool,
    /// Which process to debug after a fork.
    pub follow_forks: FollowForks,
    /// Records what the program does, so that it can be run backwards.
    pub record: bool,
    /// A file with a recording, which is replayed. It says what is launched, and how; of the other options, none counts.
    pub replay: Option<PathBuf>,
    /// How many checkpoints of a recorded program are kept.
    pub checkpoints: CheckpointLimits,
}

/// How many checkpoints of a recorded program are kept. They are what makes the way back short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckpointLimits {
    /// The most checkpoints, besides those with bookmarks.
    pub count: usize,
    /// About how much memory they may take, in bytes.
    pub memory: u64,
}

impl Default for CheckpointLimits {
    fn default() -> CheckpointLimits {
        CheckpointLimits {
            count: 64,
            memory: 512 << 20,
        }
    }
}

impl LaunchOptions {
    /// Checks that the program and its working directory exist and are usable, as far as the file system shows.
    ///
    /// # Errors
    /// [`Error::LaunchOption`] names the unusable option.
    pub fn check(&self) -> Result<(), Error> {
        check::program(self).map(drop)
    }
}

/// A debuggee's standard input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Stdin {
    /// `/dev/null`.
    #[default]
    Null,
    /// The debugger's standard input.
    Inherit,
    /// Bytes that the debugger sends ([`crate::linux::input`]).
    Sent,
    /// A file.
    File(PathBuf),
}

/// Where a debuggee's output goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Sink {
    /// To the debugger ([`crate::linux::output`]).
    #[default]
    Events,
    /// `/dev/null`.
    Null,
    /// Where the debugger's own goes.
    Inherit,
    /// A file, created if it does not exist.
    File {
        /// Its path.
        path: PathBuf,
        /// Appends to the file instead of replacing its contents.
        append: bool,
    },
}

/// A debuggee's process group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ProcessGroup {
    /// A new one, in a new session (setsid(2)): it receives none of the debugger's terminal signals. It has no controlling terminal, unless
    /// it gets a pseudoterminal of its own ([`LaunchOptions::terminal`]).
    #[default]
    Own,
    /// The debugger's, unless the program gets a pseudoterminal of its own.
    Shared,
}
