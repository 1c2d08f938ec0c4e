//! How a program ends.

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitStatus {
    /// It exited with this code, 0..=255.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
}
