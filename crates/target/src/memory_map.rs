//! A process's memory map.

/// A range of the process's memory, as `/proc/PID/maps` has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// The first address.
    pub start: u64,
    /// The address behind the last byte.
    pub end: u64,
    /// It can be read.
    pub read: bool,
    /// It can be written.
    pub write: bool,
    /// It can be executed.
    pub execute: bool,
    /// Where in the file it begins, in bytes.
    pub offset: u64,
    /// The file, `[stack]`, `[heap]` …; empty for anonymous memory.
    pub name: String,
}
