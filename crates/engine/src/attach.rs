//! What to attach to and how.

use crate::debug_info::DebugInfoOptions;
use dapple_target::follow_forks::FollowForks;
use std::path::PathBuf;

/// The running process to attach to, and how.
#[derive(Debug, Clone, Default)]
pub struct AttachOptions {
    /// The process's id.
    pub process: i32,
    /// What happens to the process's children.
    pub follow_forks: FollowForks,
    /// If the process is a child that another session keeps stopped: the path of that session's socket ([`crate::forks::Meeting::path`]).
    pub handed_over: Option<PathBuf>,
    /// How the debug information of the process's modules is found.
    pub debug_info: DebugInfoOptions,
}
