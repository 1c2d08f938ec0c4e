//! Files with the index of a module's debug information: their format, their tables, and the cache folder that they are stored in.
//!
//! [`crate::stored`] fills the tables and searches them.

pub(crate) mod cache;
mod file;
pub(crate) mod keyed;

pub(crate) use file::{IndexError, IndexFile};

/// The numbers of the tables in a file.
pub(crate) mod table {
    /// A record of [`super::UNIT`] bytes for each unit: its offset (and section), its length, and the length of the unit
    /// that has its entries. For a split unit, that is the unit in the file of split debug information.
    pub const UNITS: usize = 0;
    /// A record of [`super::RANGE`] bytes for each address range, sorted by start: start, end, reach (the greatest end of
    /// this range and those before it), unit.
    pub const RANGES: usize = 1;
    /// Base names, sorted, with the entries that have them: four tables ([`Keyed`](super::keyed::Keyed)).
    pub const NAMES: usize = 2;
    /// A byte for each name, with a bit for each kind of entry that has the name.
    pub const KINDS: usize = 6;
    /// File paths, sorted by base name, with the units that name them: four tables.
    pub const FILES: usize = 7;
    /// The path of the program, for display.
    pub const PROGRAM: usize = 11;
    /// Four bytes for each unit: the end of its scopes in the next table.
    pub const SCOPE_ENDS: usize = 12;
    /// The scopes of each unit, sorted by start. A scope has three numbers: the distance from the previous scope's start,
    /// its size (0 for no end), and how many scopes before it its parent is (0 for no parent).
    pub const SCOPES: usize = 13;
    pub const COUNT: usize = 14;
}

/// The size of a record of [`table::UNITS`], in bytes.
pub(crate) const UNIT: usize = 24;
/// The size of a record of [`table::RANGES`], in bytes.
pub(crate) const RANGE: usize = 32;
