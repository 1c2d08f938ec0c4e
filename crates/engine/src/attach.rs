//! What to attach to and how.

use crate::debug_info::DebugInfoOptions;
use dapple_target::follow_forks::FollowForks;
use std::path::PathBuf;

/// A process that runs already.
#[derive(Debug, Clone, Default)]
pub struct AttachOptions {
    /// Its id.
    pub process: i32,
    /// What becomes of its children.
    pub follow_forks: FollowForks,
    /// It is a child that another session holds, which waits at this place: [`crate::forks::Meeting::path`].
    pub handed_over: Option<PathBuf>,
    /// What its modules' debug information is had by.
    pub debug_info: DebugInfoOptions,
}
