//! Options of a session.

use crossbeam_channel::{Receiver, never};
use dapple_engine::debug_info::IndexCache;
use dapple_engine::launch::ProcessGroup;
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Options of a session.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// The process group of launched programs.
    pub process_group: ProcessGroup,
    /// Whether launched programs may be given this process's standard input.
    pub own_stdin: OwnStdin,
    /// The cache for indexes of large programs; `None`: no cache.
    pub index_cache: Option<Arc<IndexCache>>,
    /// The command of the launcher, which starts a debuggee in a client's terminal. It gets the path of a socket as its last argument, and calls
    /// [`dapple_engine::launcher::run`].
    pub launcher: Option<Vec<String>>,
    /// The directory for programs that are compiled from a source file; `None`: source files can't be launched.
    pub programs: Option<PathBuf>,
    /// Whether the client is on another machine, and gets the texts of sources in place of their paths here.
    pub is_far: bool,
    /// How long a client may take to open a session for a forked child (`followForks`: `both`). After that, the child runs on without a
    /// debugger.
    pub child_patience: Duration,
    /// Ends the session as a `disconnect` would, when its sender is dropped.
    pub shutdown: Receiver<Infallible>,
}

/// What this process's standard input is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnStdin {
    /// Unused: a launched program may inherit it.
    Free,
    /// Used for the protocol, or shared by several sessions.
    Taken,
}

impl Default for ServeOptions {
    /// Options of a session on a transport, without a launcher or caches.
    fn default() -> Self {
        ServeOptions {
            process_group: ProcessGroup::Own,
            own_stdin: OwnStdin::Taken,
            index_cache: None,
            launcher: None,
            programs: None,
            is_far: false,
            child_patience: Duration::from_secs(60),
            shutdown: never(),
        }
    }
}
