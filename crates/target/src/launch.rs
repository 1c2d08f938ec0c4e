//! What to start and how.

use crate::Error;
pub use crate::error::LaunchOption;
use crate::follow_forks::FollowForks;
use crate::launcher::Launcher;
use crate::linux::check;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

/// A program to start.
#[derive(Debug, Clone, Default)]
pub struct LaunchOptions {
    /// The executable; a relative path is taken from the debugger's working directory.
    pub program: PathBuf,
    /// Its arguments, without the program's name.
    pub args: Vec<OsString>,
    /// Its working directory; `None`: the debugger's.
    pub cwd: Option<PathBuf>,
    /// Changes to the debugger's environment; `None` removes.
    pub env: Vec<(OsString, Option<OsString>)>,
    /// Where its standard input comes from.
    pub stdin: Stdin,
    /// Where its standard output goes.
    pub stdout: Sink,
    /// Where its standard error goes.
    pub stderr: Sink,
    /// It gets a terminal of its own (pty(7)), for what of the above is the debugger's: what it writes there is told as its
    /// standard output.
    pub terminal: bool,
    /// Whether it gets a process group of its own (an editor's session) or shares the debugger's (a terminal's).
    pub process_group: ProcessGroup,
    /// It waits in a terminal to become the program; then its streams are that terminal's.
    pub launcher: Option<Arc<Launcher>>,
    /// Address-space randomisation; off makes addresses repeat from run to run.
    pub randomize: bool,
    /// What becomes of its children.
    pub follow_forks: FollowForks,
}

impl LaunchOptions {
    /// Whether there is a program that can be started so, as far as its file tells.
    ///
    /// # Errors
    /// [`Error::LaunchOption`] with what is wrong.
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
    /// The debugger's own.
    Inherit,
    /// What the debugger sends it ([`crate::linux::input`]).
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
    /// A file, made if there's none.
    File {
        /// Where.
        path: PathBuf,
        /// After what it has, instead of in its place.
        append: bool,
    },
}

/// A debuggee's process group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ProcessGroup {
    /// A new one, in a session of its own (setsid(2)): no terminal's, and no signal of the debugger's session is its.
    #[default]
    Own,
    /// The debugger's.
    Shared,
}
