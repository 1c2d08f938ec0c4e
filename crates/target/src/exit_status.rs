//! How a program ends.

use serde::{Deserialize, Serialize};

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExitStatus {
    /// It exited with this code, 0..=255.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
}
