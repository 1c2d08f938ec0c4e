//! Whether debuginfod servers are asked for debug information, and where the indexes made of it are stored.

pub use dapple_symbols::indexing::IndexCache;
use std::sync::Arc;

/// How a session finds the debug information of its modules.
#[derive(Debug, Clone, Default)]
pub struct DebugInfoOptions {
    /// Ask debuginfod servers for the debug information of modules that have none, and for sources on request. See debuginfod-find(1) for
    /// how servers are chosen.
    pub debuginfod: bool,
    /// Where indexes of large modules are stored for later sessions. `None`: they are not stored, and only made when needed.
    pub index_cache: Option<Arc<IndexCache>>,
}
