//! Threads as they are listed.

use crate::ThreadId;

/// A thread as shown to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadInfo {
    /// Its id.
    pub id: ThreadId,
    /// Its name (`/proc/PID/task/TID/comm`); empty if unknown, as for most threads of a core dump.
    pub name: String,
}
