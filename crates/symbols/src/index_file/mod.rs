//! The files that indexes of modules are kept in: their tables, and the folder of the user's cache.
//!
//! What is in the tables is the business of [`crate::stored`].

pub(crate) mod cache;
mod file;
pub(crate) mod keyed;

pub(crate) use file::{IndexError, IndexFile};

/// What the tables of a file are, by number.
pub(crate) mod table {
    /// A record of [`super::UNIT`] bytes for each unit: offset (and section), length, length of what has its entries.
    pub const UNITS: usize = 0;
    /// A record of [`super::RANGE`] bytes for each range of addresses, by start: start, end, reach, unit.
    pub const RANGES: usize = 1;
    /// Base names, sorted, with the entries that have them.
    pub const NAMES: usize = 2;
    /// A byte for each name: a bit for each kind of entry that has it.
    pub const KINDS: usize = 6;
    /// Paths of files, sorted by base name, with the units that name them.
    pub const FILES: usize = 7;
    /// The path of the program, for people.
    pub const PROGRAM: usize = 11;
    /// Four bytes for each unit: where its scopes end in the next table.
    pub const SCOPE_ENDS: usize = 12;
    /// The scopes of each unit, by start: distance from the start of the one before, size (0: no end), how many before it is its
    /// parent (0: none).
    pub const SCOPES: usize = 13;
    pub const COUNT: usize = 14;
}

/// How many bytes [`table::UNITS`] has for each unit.
pub(crate) const UNIT: usize = 24;
/// How many bytes [`table::RANGES`] has for each range.
pub(crate) const RANGE: usize = 32;
