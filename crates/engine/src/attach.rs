//! What to attach to and how.

use crate::target::follow_forks::FollowForks;
pub use dapple_symbols::indexing::IndexCache;
use std::path::PathBuf;
use std::sync::Arc;

/// A process that runs already.
#[derive(Debug, Clone, Default)]
pub struct AttachOptions {
    /// Its id.
    pub process: i32,
    /// What becomes of its children.
    pub follow_forks: FollowForks,
    /// It is a child that another session holds, which waits at this place: [`crate::forks::Meeting::path`].
    pub handed_over: Option<PathBuf>,
    /// Ask debuginfod servers for the debug information of modules that have none; see debuginfod-find(1) for which.
    pub debuginfod: bool,
    /// Where indexes of large modules are kept; `None`: nowhere, and none is made before it is needed.
    pub index_cache: Option<Arc<IndexCache>>,
}
