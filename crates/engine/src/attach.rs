//! What to attach to and how.

pub use dapple_symbols::indexing::IndexCache;
use std::sync::Arc;

/// A process that runs already.
#[derive(Debug, Clone, Default)]
pub struct AttachOptions {
    /// Its id.
    pub process: i32,
    /// Ask debuginfod servers for the debug information of modules that have none; see debuginfod-find(1) for which.
    pub debuginfod: bool,
    /// Where indexes of large modules are kept; `None`: nowhere, and none is made before it is needed.
    pub index_cache: Option<Arc<IndexCache>>,
}
