//! A process's memory map.

/// A range of the process's memory, as listed in `/proc/PID/maps`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// The first address.
    pub start: u64,
    /// The address after the last byte.
    pub end: u64,
    /// It is readable.
    pub read: bool,
    /// It is writable.
    pub write: bool,
    /// It is executable.
    pub execute: bool,
    /// The offset in the file at which it begins, in bytes.
    pub offset: u64,
    /// The file, `[stack]`, `[heap]` …; empty for anonymous memory.
    pub name: String,
}
