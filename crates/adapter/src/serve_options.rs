//! How a session is served.

use crossbeam_channel::{Receiver, never};
use dapple_engine::debug_info::IndexCache;
use dapple_engine::launch::ProcessGroup;
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How a session is served.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// The process group of launched programs.
    pub process_group: ProcessGroup,
    /// Whether launched programs may be given this process's standard input.
    pub own_stdin: OwnStdin,
    /// Where indexes of large programs are kept, if anywhere.
    pub index_cache: Option<Arc<IndexCache>>,
    /// The program, with its first arguments, that starts a debuggee in a client's terminal when it gets the path of a socket
    /// as the last one: it calls [`dapple_engine::launcher::run`].
    pub launcher: Option<Vec<String>>,
    /// Where programs that are compiled from a source file are kept; nowhere: none is.
    pub programs: Option<PathBuf>,
    /// How long a client may take to open a session for a child of the program (`followForks`: `both`); then the child runs free.
    pub child_patience: Duration,
    /// Ends the session as a `disconnect` would, when its sender is dropped.
    pub shutdown: Receiver<Infallible>,
}

/// What this process's standard input is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnStdin {
    /// A launched program may have it.
    Free,
    /// It carries the protocol or belongs to several sessions.
    Taken,
}

impl Default for ServeOptions {
    /// For a session on a wire.
    fn default() -> Self {
        ServeOptions {
            process_group: ProcessGroup::Own,
            own_stdin: OwnStdin::Taken,
            index_cache: None,
            launcher: None,
            programs: None,
            child_patience: Duration::from_secs(60),
            shutdown: never(),
        }
    }
}
