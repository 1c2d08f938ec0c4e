//! A process's memory map.

/// A range of the process's memory, as `/proc/PID/maps` has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mapping {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) read: bool,
    pub(crate) write: bool,
    pub(crate) execute: bool,
    /// Where in the file it begins, in bytes.
    pub(crate) offset: u64,
    /// The file, `[stack]`, `[heap]` …; empty for anonymous memory.
    pub(crate) name: String,
}
