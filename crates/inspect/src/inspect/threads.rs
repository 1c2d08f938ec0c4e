//! Threads as they are listed.

use crate::ThreadId;

/// A thread as shown to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadInfo {
    /// Its id.
    pub id: ThreadId,
    /// Its name (`/proc/PID/task/TID/comm`); empty where that isn't known, as of most threads of a core file.
    pub name: String,
}
