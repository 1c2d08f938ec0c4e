//! Line tables: DWARF 5 §6.2.

use crate::{FileAddress, Module};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A row of a line table with the addresses it covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineRow {
    /// The addresses of the row, half open.
    pub range: Range<FileAddress>,
    /// The file, absolute where the compilation directory makes it so; normalised lexically.
    pub file: Arc<Path>,
    /// 1-based line; 0: code that belongs to no line.
    pub line: u32,
    /// 1-based column; 0: the left edge, or unknown.
    pub column: u32,
    /// A recommended breakpoint location.
    pub is_stmt: bool,
    /// The first row after a function's prologue.
    pub prologue_end: bool,
}

/// An address that belongs to a source line: a place for a breakpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineLocation {
    /// Where to stop: past the prologue when the line is a function's first.
    pub address: FileAddress,
    /// The file as the debug information names it.
    pub file: Arc<Path>,
    /// The line that has code: the wanted one, or the next with code in the same function.
    pub line: u32,
    /// Its column, 0 when unknown.
    pub column: u32,
}

/// What a source line resolves to in a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineLookup {
    /// Every location: one per function instance or inlined copy that has the line.
    Found(Vec<LineLocation>),
    /// The file is known; there's no code on the line nor after it in its function.
    NoCode {
        /// The nearest line with code before it.
        before: Option<u32>,
        /// The nearest line with code after it.
        after: Option<u32>,
    },
    /// The file isn't in this module.
    NoFile {
        /// Files of the same base name, at most a few.
        similar: Vec<PathBuf>,
    },
}

impl Module {
    /// The row that covers `address`.
    pub fn row_at(&self, address: FileAddress) -> Option<LineRow> {
        let _ = address;
        unimplemented!()
    }
    /// The rows that intersect `range`, by address.
    pub fn rows_in(&self, range: Range<FileAddress>) -> Vec<LineRow> {
        let _ = range;
        unimplemented!()
    }
    /// Every place where `line` (1-based) of `file` starts. `file` is matched whole first, then, where nothing
    /// matches, by its longest common path suffix (at least the base name when `file` is relative).
    /// Decodes only the units whose line-program header names the file.
    pub fn lookup_line(&self, file: &Path, line: u32) -> LineLookup {
        let _ = (file, line);
        unimplemented!()
    }
    /// Where a function that starts at `entry` has set up its frame: `prologue_end`, or the second line row, or `entry`.
    pub fn after_prologue(&self, entry: FileAddress) -> FileAddress {
        let _ = entry;
        unimplemented!()
    }
    /// The source files the line tables name (headers only).
    pub fn source_files(&self) -> Vec<Arc<Path>> {
        unimplemented!()
    }
}
