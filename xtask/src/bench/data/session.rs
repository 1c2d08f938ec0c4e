//! The operations for inspecting a stopped program that all debuggers have.

use crate::bench::run::session::Session;

/// Some children of a variable.
#[derive(Debug, Default)]
pub struct Page {
    /// Their number; a map's key and value count as one.
    pub count: u64,
    /// The text of the last one.
    pub last: String,
    /// The handle for opening the last one, if it has parts.
    pub opened: Option<String>,
}

/// The kind of a variable's children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Below {
    Elements,
    /// Keys and values.
    Entries,
}

/// Inspection of a stopped program. The handle from `open` is valid until the next step.
pub trait Look: Session {
    /// Requests what an editor shows of the innermost frame at once: its locals. Returns their number.
    fn locals(&mut self) -> anyhow::Result<usize>;
    /// Shows a local, and returns a handle for opening it.
    fn open(&mut self, local: &str) -> anyhow::Result<String>;
    /// Elements of an opened variable.
    fn page(&mut self, opened: &str, below: Below, start: u64, count: u64) -> anyhow::Result<Page>;
    /// The text of a page's last element and of its parts: some debuggers show the contents of a pair only in its parts.
    fn last(&mut self, page: &Page) -> anyhow::Result<String>;
    /// Opens all nodes of a tree of pointers, from an opened root. Returns their number.
    fn walk(&mut self, opened: &str) -> anyhow::Result<usize>;
    /// Evaluates an expression, and returns the value's text.
    fn evaluate(&mut self, expression: &str) -> anyhow::Result<String>;
    /// Requests the innermost frames, or all. Returns their number.
    fn frames(&mut self, most: Option<i64>) -> anyhow::Result<usize>;
}
