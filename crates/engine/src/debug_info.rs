//! Where debug information is looked for beside the files that a program has mapped, and what is kept of it.

pub use dapple_symbols::indexing::IndexCache;
use std::sync::Arc;

/// What a session may use to have the debug information of its modules.
#[derive(Debug, Clone, Default)]
pub struct DebugInfoOptions {
    /// Ask debuginfod servers for the debug information of modules that have none; see debuginfod-find(1) for which.
    pub debuginfod: bool,
    /// Where indexes of large modules are kept; `None`: nowhere, and none is made before it is needed.
    pub index_cache: Option<Arc<IndexCache>>,
}
