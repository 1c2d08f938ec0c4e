//! Thread ids.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A thread of the debuggee, identified by the kernel's thread id (`gettid(2)`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct ThreadId(pub i32);

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
