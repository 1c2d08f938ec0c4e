//! Line tables (DWARF 5 §6.2): decoding them by unit, and queries from addresses to lines. Queries from lines to
//! addresses, such as [`crate::Module::lookup_line`], are in `line_lookup`.

use crate::FileAddress;
use crate::dwarf::{Dwarf, Unit};
use gimli::ColumnType;
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A row of a line table with the addresses it covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineRow {
    /// The addresses of the row.
    pub range: Range<FileAddress>,
    /// The path in the debug information, joined with the compilation directory and normalised lexically. Relative if that directory
    /// is unknown or relative itself.
    pub file: Arc<Path>,
    /// 1-based line; 0 for code that belongs to no line.
    pub line: u32,
    /// 1-based column; 0 for the left edge, or unknown.
    pub column: u32,
    /// Whether the row is a recommended breakpoint location.
    pub is_stmt: bool,
    /// Whether the compiler marks this as the first row after a function's prologue; gcc marks none.
    pub prologue_end: bool,
}

/// A breakpoint location: an address that belongs to a source line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineLocation {
    /// The address for the breakpoint: behind the prologue if the line is a function's first.
    pub address: FileAddress,
    /// The path of the file as in the debug information.
    pub file: Arc<Path>,
    /// The line that has code: the requested line, or the next one with code in the same function or in a function inside
    /// it.
    pub line: u32,
    /// The line at which a thread stopped at `address` is shown. It may be another than `line`: the line behind a skipped prologue (a
    /// constructor's initialisers may be above its opening line), or the line of an inlined call that begins at `address`.
    pub stop_line: u32,
    /// The column of `stop_line`, 0 if unknown.
    pub column: u32,
    /// How many of the inlined calls at `address` contain the line. Calls nested further in have not begun yet at `address`.
    pub calls_around: usize,
}

/// What a source line resolves to in a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineLookup {
    /// All locations: usually one for each function or inlined copy with code of the line.
    Found(Vec<LineLocation>),
    /// The file is known, but there is no code on the line, nor on the lines behind it in the same function.
    NoCode {
        /// The nearest earlier line with code.
        before: Option<u32>,
        /// The nearest later line with code.
        after: Option<u32>,
    },
    /// No line table of the module names the file.
    NoFile {
        /// Files with the same base name, at most a few.
        similar: Vec<PathBuf>,
    },
}

/// How many rows before a row without a line are searched for one with a line.
const LOOK_BACK_ROWS: usize = 64;

/// A stored row; it ends at the next row's address.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub address: u64,
    pub file: u32,
    pub line: u32,
    pub column: u32,
    pub is_stmt: bool,
    pub prologue_end: bool,
}

/// A contiguous range of code and its rows.
#[derive(Debug, Clone)]
pub(crate) struct Sequence {
    pub start: u64,
    pub end: u64,
    /// The range of its rows in [`Lines::rows`].
    pub rows: Range<usize>,
}

/// A unit's line table: sequences sorted by address, each with its rows sorted by address.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    pub rows: Vec<Row>,
    pub sequences: Vec<Sequence>,
    by_line: OnceLock<Vec<RowOfLine>>,
}

/// An entry of the index from lines to rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowOfLine {
    line: u32,
    /// The index in [`Lines::rows`].
    pub row: u32,
    /// The index in [`Lines::sequences`].
    pub sequence: u32,
}

impl Lines {
    /// The rows of these lines in any file, sorted by line, sequence and address. The index is made on first use.
    pub fn of_lines(&self, wanted: &RangeInclusive<u32>) -> &[RowOfLine] {
        let all = self.by_line.get_or_init(|| {
            let sequences = (0u32..).zip(&self.sequences);
            let mut all: Vec<RowOfLine> = sequences
                .flat_map(|(sequence, of)| {
                    let rows = of
                        .rows
                        .clone()
                        .zip(self.rows.get(of.rows.clone()).unwrap_or(&[]));
                    rows.filter_map(move |(index, row)| {
                        Some(RowOfLine {
                            line: row.line,
                            row: u32::try_from(index).ok()?,
                            sequence,
                        })
                    })
                })
                .collect();
            all.sort_by_key(|row| row.line);
            all
        });
        let first = all.partition_point(|row| row.line < *wanted.start());
        let behind = all.partition_point(|row| row.line <= *wanted.end());
        all.get(first..behind).unwrap_or(&[])
    }

    /// Runs the unit's line program. If the program is broken, keeps the sequences before the error.
    pub fn decode<'a>(dwarf: &Dwarf<'a>, unit: &Unit<'a>) -> Lines {
        let mut lines = Lines::default();
        let Some(program) = unit.own.dw.line_program.clone() else {
            return lines;
        };
        let offset = program.header().offset().0;
        let mut rows = program.rows();
        let mut first = 0;
        loop {
            let row = match rows.next_row() {
                Ok(Some((_, row))) => row,
                Ok(None) => break,
                Err(error) => {
                    dwarf.warn(
                        ".debug_line",
                        offset,
                        format!("the rest of this line table is left out: {error}"),
                    );
                    break;
                }
            };
            if row.end_sequence() {
                lines.close_sequence(dwarf, first, row.address());
                first = lines.rows.len();
                continue;
            }
            lines.rows.push(Row {
                address: row.address(),
                file: u32::try_from(row.file_index()).unwrap_or(u32::MAX),
                line: row
                    .line()
                    .map_or(0, |line| u32::try_from(line.get()).unwrap_or(0)),
                column: match row.column() {
                    ColumnType::LeftEdge => 0,
                    ColumnType::Column(column) => u32::try_from(column.get()).unwrap_or(0),
                },
                is_stmt: row.is_stmt(),
                prologue_end: row.prologue_end(),
            });
        }
        // Rows behind the last end of a sequence have no end address.
        lines.rows.truncate(first);
        lines
            .sequences
            .sort_by_key(|sequence| (sequence.start, sequence.end));
        lines
    }

    /// Ends the sequence of rows from `first` on; removes it if the linker has discarded its code.
    fn close_sequence(&mut self, dwarf: &Dwarf<'_>, first: usize, end: u64) {
        let rows = &mut self.rows[first..];
        rows.sort_by_key(|row| row.address);
        match rows.first().map(|row| row.address) {
            Some(start) if start < end && dwarf.files.main.elf.is_code(start) => {
                self.sequences.push(Sequence {
                    start,
                    end,
                    rows: first..self.rows.len(),
                });
            }
            _ => self.rows.truncate(first),
        }
    }

    /// The sequence that covers `address`.
    pub fn sequence_at(&self, address: u64) -> Option<&Sequence> {
        /// Sequences overlap only in broken files.
        const LOOK_BACK: usize = 8;
        let after = self
            .sequences
            .partition_point(|sequence| sequence.start <= address);
        self.sequences[..after]
            .iter()
            .rev()
            .take(LOOK_BACK)
            .find(|sequence| address < sequence.end)
    }

    /// The index of the row that covers `address`. Of several rows at one address, the last one has the instruction's line. However,
    /// if the last row is no statement and an earlier one is, the statement wins (as in gdb): gcc ends such a list with the line
    /// whose remaining computation the instruction does. A statement of another file doesn't count: it is an inlined call of which
    /// nothing is left.
    pub fn row_at(&self, address: u64) -> Option<usize> {
        let sequence = self.sequence_at(address)?;
        let rows = &self.rows[sequence.rows.clone()];
        let last = rows
            .partition_point(|row| row.address <= address)
            .checked_sub(1)?;
        let same = |row: &&Row| row.address == rows[last].address && row.line != 0;
        let before = rows[..last]
            .iter()
            .rev()
            .take_while(same)
            .position(|row| row.is_stmt && row.file == rows[last].file);
        let chosen = match before {
            Some(back) if !rows[last].is_stmt => last - 1 - back,
            _ => last,
        };
        Some(sequence.rows.start + chosen)
    }

    /// The address range of the row with this index in [`Lines::rows`]; `sequence` is the one that has the row.
    pub fn range_of(&self, sequence: &Sequence, row: usize) -> Range<u64> {
        let start = self.rows[row].address;
        let later = &self.rows[row..sequence.rows.end.max(row)];
        let end = later
            .iter()
            .map(|row| row.address)
            .find(|&address| address > start);
        start..end.unwrap_or(sequence.end).min(sequence.end)
    }
}

impl<'a> Dwarf<'a> {
    fn line_row(&self, unit: &Unit<'a>, range: Range<u64>, row: &Row) -> LineRow {
        let unknown = || Path::new("").into();
        LineRow {
            range: FileAddress(range.start)..FileAddress(range.end),
            file: self
                .file_numbered(unit, u64::from(row.file))
                .unwrap_or_else(unknown),
            line: row.line,
            column: row.column,
            is_stmt: row.is_stmt,
            prologue_end: row.prologue_end,
        }
    }

    pub(crate) fn row_at(&self, address: u64) -> Option<LineRow> {
        self.units_at(address).find_map(|unit| {
            let lines = self.lines(unit);
            let sequence = lines.sequence_at(address)?;
            let row = lines.row_at(address)?;
            Some(self.line_row(unit, lines.range_of(sequence, row), &lines.rows[row]))
        })
    }

    /// See [`crate::Module::row_with_line`].
    pub(crate) fn row_with_line(&self, address: u64) -> Option<LineRow> {
        let found = self.row_at(address)?;
        if found.line != 0 {
            return Some(found);
        }
        let (unit, function) = self.function_entry_at(address)?;
        let code = function
            .ranges
            .iter()
            .find(|code| code.contains(&address))?;
        let lines = self.lines(unit);
        let sequence = lines.sequence_at(address)?;
        let blocks = self.blocks(unit, function.offset);
        let here = blocks.inlined(address);
        let behind = lines.row_at(address)?;
        let before = lines.rows.get(sequence.rows.start..behind)?.iter().rev();
        let mut before = before
            .take_while(|row| row.address >= code.start)
            .take(LOOK_BACK_ROWS)
            .filter(|row| row.line != 0);
        before.find_map(|row| {
            let there = blocks.inlined(row.address);
            if !there.starts_with(&here) {
                return None;
            }
            let row = LineRow {
                is_stmt: false,
                prologue_end: false,
                ..self.line_row(unit, found.range.start.0..found.range.end.0, row)
            };
            let Some(&call) = there.get(here.len()) else {
                return Some(row);
            };
            // The inlined call has ended before `address`, which therefore belongs to the line of the call.
            let offset = blocks.blocks.get(call as usize)?.offset;
            let site = self.call_site(unit, offset)?;
            Some(LineRow {
                file: site.file,
                line: site.line,
                column: site.column,
                ..row
            })
        })
    }

    pub(crate) fn rows_in(&self, range: Range<u64>) -> Vec<LineRow> {
        let mut found = Vec::new();
        for unit in self.units_in(range.clone()) {
            let lines = self.lines(unit);
            for sequence in &lines.sequences {
                if sequence.start >= range.end || sequence.end <= range.start {
                    continue;
                }
                let rows = &lines.rows[sequence.rows.clone()];
                // Start with the first row at the address of the row that covers the range's start.
                let before = rows.partition_point(|row| row.address <= range.start);
                let covering = before.checked_sub(1).map_or(0, |last| {
                    rows.partition_point(|row| row.address < rows[last].address)
                });
                for index in covering..rows.len() {
                    let row = &rows[index];
                    if row.address >= range.end {
                        break;
                    }
                    let next = rows
                        .get(index + 1)
                        .map_or(sequence.end, |next| next.address);
                    found.push(self.line_row(unit, row.address..next, row));
                }
            }
        }
        found.sort_by_key(|row| row.range.start);
        found
    }
}
