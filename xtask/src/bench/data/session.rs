//! Looking at a stopped program, by verbs that all debuggers have.

use crate::bench::run::session::Session;

/// Some children of a variable.
#[derive(Debug, Default)]
pub struct Page {
    /// How many there are, a map's key and value counted as one.
    pub count: u64,
    /// The last one's text.
    pub last: String,
    /// How to look into the last one, where it has parts.
    pub opened: Option<String>,
}

/// What a variable has below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Below {
    Elements,
    /// Keys and values.
    Entries,
}

/// A stopped program that is looked at. What `open` gave is over with the next step.
pub trait Look: Session {
    /// What an editor shows of the innermost frame at once: its locals, a line each. How many there are.
    fn locals(&mut self) -> anyhow::Result<usize>;
    /// A local, shown and not looked into yet.
    fn open(&mut self, local: &str) -> anyhow::Result<String>;
    /// Elements of what was opened.
    fn page(&mut self, opened: &str, below: Below, start: u64, count: u64) -> anyhow::Result<Page>;
    /// The last one's text, and those of its parts where it has some: what a library's pair holds is for some debuggers below it.
    fn last(&mut self, page: &Page) -> anyhow::Result<String>;
    /// Opens all nodes of a tree of pointers, from the opened root; how many there are.
    fn walk(&mut self, opened: &str) -> anyhow::Result<usize>;
    /// The text of an expression's value.
    fn evaluate(&mut self, expression: &str) -> anyhow::Result<String>;
    /// The innermost frames, or all of them; how many came.
    fn frames(&mut self, most: Option<i64>) -> anyhow::Result<usize>;
}
