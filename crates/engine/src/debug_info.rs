//! Where debug information is looked for besides the files that a program has mapped, and where its indexes are kept.

pub use dapple_symbols::indexing::IndexCache;
use std::sync::Arc;

/// How a session finds the debug information of its modules.
#[derive(Debug, Clone, Default)]
pub struct DebugInfoOptions {
    /// Ask debuginfod servers for the debug information of modules that have none, and for sources on request. See debuginfod-find(1) for
    /// how servers are chosen.
    pub debuginfod: bool,
    /// Where indexes of large modules are kept. `None`: they are not kept, and only made when needed.
    pub index_cache: Option<Arc<IndexCache>>,
}
