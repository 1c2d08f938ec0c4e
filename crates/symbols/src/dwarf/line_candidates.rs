//! The candidates for a breakpoint on a line: the line's rows in a unit's table, and the inlined calls written on it. In
//! optimised code, a line's own row may be gone or be no statement, so the calls are often all that is left.

use crate::dwarf::blocks::Blocks;
use crate::dwarf::functions::SourcePosition;
use crate::dwarf::{Dwarf, Unit};
use gimli::{UnitOffset, constants as dw};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

/// A unit that names the wanted file, and the file's numbers in the unit.
pub(crate) struct NamedBy<'s, 'a> {
    pub unit: &'s Unit<'a>,
    pub path: Arc<Path>,
    pub numbers: Vec<u32>,
}

/// A code address of the wanted file.
pub(crate) struct Candidate<'n, 'a> {
    pub named: &'n NamedBy<'n, 'a>,
    pub address: u64,
    pub line: u32,
    pub column: u32,
    kind: Kind,
}

/// What kind of candidate this is.
enum Kind {
    Row {
        is_stmt: bool,
        /// The index in the unit's rows.
        index: usize,
        /// Whether the previous row belongs to another line.
        begins_run: bool,
        /// The start of its sequence.
        sequence: u64,
    },
    /// The entry of an inlined call. `function` is the function's offset; `block` is the index of the block that contains
    /// the call.
    Call { function: usize, block: u32 },
}

impl Candidate<'_, '_> {
    pub fn is_statement(&self) -> bool {
        matches!(self.kind, Kind::Row { is_stmt: true, .. })
    }

    /// Whether this is a row but not a statement: mostly a part of something computed elsewhere.
    pub fn is_part(&self) -> bool {
        matches!(self.kind, Kind::Row { is_stmt: false, .. })
    }

    /// The index in the unit's rows. `None`: the candidate is an inlined call.
    pub fn row(&self) -> Option<usize> {
        match self.kind {
            Kind::Row { index, .. } => Some(index),
            Kind::Call { .. } => None,
        }
    }

    pub fn begins_run(&self) -> bool {
        matches!(
            self.kind,
            Kind::Row {
                begins_run: true,
                ..
            }
        )
    }

    pub fn sequence(&self) -> Option<u64> {
        match self.kind {
            Kind::Row { sequence, .. } => Some(sequence),
            Kind::Call { .. } => None,
        }
    }

    /// The function and the enclosing block of an inlined call. `None`: the candidate is a row.
    pub fn call(&self) -> Option<(usize, u32)> {
        match self.kind {
            Kind::Row { .. } => None,
            Kind::Call { function, block } => Some((function, block)),
        }
    }
}

/// The code that gets one location for a line: a line has a location in each function and inlined copy with its code.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Instance {
    /// A function, or an inlined call in it, by the offsets of their entries.
    Code {
        unit: u32,
        function: usize,
        inlined: Option<usize>,
    },
    /// Code without a known function (assembler), by the start of its sequence.
    Sequence(u64),
}

impl Instance {
    /// Whether this is a function's own code rather than an inlined call.
    pub fn is_function(&self) -> bool {
        matches!(self, Instance::Code { inlined: None, .. })
    }
}

/// The code around a candidate.
pub(crate) struct Around {
    /// The offset of the function's entry.
    pub function: usize,
    pub blocks: Arc<Blocks>,
    /// The blocks of the inlined calls, outermost first.
    pub calls: Vec<u32>,
}

impl Around {
    /// Whether the address is in an inlined call, but not at the call's beginning.
    pub fn is_inside_call(&self, address: u64) -> bool {
        let outermost = self.blocks.inlined(address).first().copied();
        let block = outermost.and_then(|call| self.blocks.blocks.get(call as usize));
        block.is_some_and(|block| !block.begins_at(address))
    }

    /// The inlined calls' entry offsets, outermost first.
    pub fn inlined(&self) -> impl Iterator<Item = usize> {
        let block = |call: &u32| self.blocks.blocks.get(*call as usize);
        self.calls
            .iter()
            .filter_map(block)
            .map(|block| block.offset)
    }
}

/// Which functions are searched for calls.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Functions with code of lines at most [`NEAR`] away.
    Near,
    /// Functions with any code of the file.
    Everywhere,
}

/// The distance of nearby lines.
const NEAR: u32 = 50;

impl<'a> Dwarf<'a> {
    /// The statements of the file's `wanted` lines in a unit, ordered by line. Also rows that are no statements, if a
    /// thread stopped there is shown on their line.
    pub fn row_candidates<'n>(
        &'n self,
        named: &'n NamedBy<'n, 'a>,
        wanted: RangeInclusive<u32>,
    ) -> impl DoubleEndedIterator<Item = Candidate<'n, 'a>> {
        let lines = self.lines(named.unit);
        lines.of_lines(&wanted).iter().filter_map(move |of_line| {
            let index = of_line.row as usize;
            let row = lines.rows.get(index)?;
            let sequence = lines.sequences.get(of_line.sequence as usize)?;
            if row.line == 0 || !named.numbers.contains(&row.file) {
                return None;
            }
            let is_shown = || {
                let shown = lines.row_at(row.address).map(|shown| &lines.rows[shown]);
                shown.is_some_and(|shown| (shown.line, shown.file) == (row.line, row.file))
            };
            if !row.is_stmt && !is_shown() {
                return None;
            }
            let before = (index > sequence.rows.start).then(|| &lines.rows[index - 1]);
            let continues =
                before.is_some_and(|before| (before.line, before.file) == (row.line, row.file));
            Some(Candidate {
                named,
                address: row.address,
                line: row.line,
                column: row.column,
                kind: Kind::Row {
                    is_stmt: row.is_stmt,
                    index,
                    begins_run: !continues,
                    sequence: sequence.start,
                },
            })
        })
    }

    /// The inlined calls written on `wanted` lines of the file, in a unit's code.
    pub fn call_candidates<'n>(
        &'n self,
        named: &'n NamedBy<'n, 'a>,
        wanted: &RangeInclusive<u32>,
        reach: Reach,
    ) -> Vec<Candidate<'n, 'a>> {
        let unit = named.unit;
        let mut found = Vec::new();
        for function in self.functions_with_code_of(named, wanted, reach) {
            let blocks = self.blocks(unit, function);
            for block in &blocks.blocks {
                let Some(call) = block.call.filter(|call| wanted.contains(&call.line)) else {
                    continue;
                };
                let site = self.call_site(unit, block.offset);
                if let Some(site) = site.filter(|site| site.file == named.path) {
                    found.push(Candidate {
                        named,
                        address: call.entry,
                        line: site.line,
                        column: site.column,
                        kind: Kind::Call {
                            function,
                            block: block.parent,
                        },
                    });
                }
            }
        }
        found
    }

    /// The function or inlined call that contains a candidate.
    pub fn instance_of(&self, candidate: &Candidate<'_, 'a>) -> Instance {
        match self.around(candidate) {
            Some(around) => Instance::Code {
                unit: candidate.named.unit.index,
                function: around.function,
                inlined: around.inlined().last(),
            },
            None => Instance::Sequence(candidate.sequence().unwrap_or(candidate.address)),
        }
    }

    /// The function of a candidate, and the inlined calls around it.
    pub fn around(&self, candidate: &Candidate<'_, 'a>) -> Option<Around> {
        let unit = candidate.named.unit;
        if let Some((function, block)) = candidate.call() {
            let blocks = self.blocks(unit, function);
            let outwards = std::iter::successors(blocks.inlined_around(block), |&inner| {
                blocks.inlined_around(blocks.blocks.get(inner as usize)?.parent)
            });
            let mut calls: Vec<u32> = outwards.collect();
            calls.reverse();
            return Some(Around {
                function,
                blocks,
                calls,
            });
        }
        let function = self.index(unit).function_at(candidate.address)?.offset;
        let blocks = self.blocks(unit, function);
        let mut calls = blocks.inlined(candidate.address);
        calls.truncate(self.calls_around_row(candidate, function, &blocks, &calls));
        Some(Around {
            function,
            blocks,
            calls,
        })
    }

    /// How many of the inlined calls that cover a row's address contain the row. In optimised code, a caller's row may
    /// have the very address at which a call begins, and belongs before the call. The line that the call is written on, or
    /// the lines on which the functions are declared, tell whether that is so.
    fn calls_around_row(
        &self,
        row: &Candidate<'_, 'a>,
        function: usize,
        blocks: &Blocks,
        calls: &[u32],
    ) -> usize {
        let block = |call: &u32| blocks.blocks.get(*call as usize);
        let begins = |call: &u32| block(call).is_some_and(|block| block.begins_at(row.address));
        let Some(first) = calls.iter().position(begins) else {
            return calls.len();
        };
        let written_here = |call: &u32| {
            let written =
                block(call).filter(|block| block.call.is_some_and(|c| c.line == row.line));
            let site = written.and_then(|block| self.call_site(row.named.unit, block.offset));
            begins(call) && site.is_some_and(|site| site.file == row.named.path)
        };
        if let Some(index) = calls.iter().position(written_here) {
            return index;
        }
        let declared = |around: usize| {
            let offset = match around.checked_sub(1) {
                None => function,
                Some(last) => block(calls.get(last)?)?.offset,
            };
            let declared = self.declaration(&self.chain(row.named.unit, UnitOffset(offset)))?;
            (declared.file == row.named.path && declared.line <= row.line).then_some(declared.line)
        };
        let known = (first..=calls.len()).filter_map(|around| Some((declared(around)?, around)));
        known.max().map_or(calls.len(), |(_, around)| around)
    }

    /// The position of an inlined call in its caller.
    pub fn call_site(&self, unit: &Unit<'a>, offset: usize) -> Option<SourcePosition> {
        self.position(
            &self.chain(unit, UnitOffset(offset)),
            dw::DW_AT_call_file,
            dw::DW_AT_call_line,
            dw::DW_AT_call_column,
        )
    }

    /// The functions of a unit with code of the file, by the offsets of their entries. `reach` tells how far from the
    /// `wanted` lines the code may be.
    fn functions_with_code_of(
        &self,
        named: &NamedBy<'_, 'a>,
        wanted: &RangeInclusive<u32>,
        reach: Reach,
    ) -> BTreeSet<usize> {
        let about = match reach {
            Reach::Near => wanted.start().saturating_sub(NEAR)..=wanted.end().saturating_add(NEAR),
            Reach::Everywhere => 0..=u32::MAX,
        };
        let lines = self.lines(named.unit);
        let mut functions = BTreeSet::new();
        // Consecutive rows are often in the same function; remember its range.
        let mut last = 0..0;
        for of_line in lines.of_lines(&about) {
            let Some(row) = lines.rows.get(of_line.row as usize) else {
                continue;
            };
            if last.contains(&row.address) || !named.numbers.contains(&row.file) {
                continue;
            }
            let Some(function) = self.index(named.unit).function_at(row.address) else {
                continue;
            };
            functions.insert(function.offset);
            let range = function.ranges.iter();
            let range = range.clone().find(|range| range.contains(&row.address));
            last = range.cloned().unwrap_or(0..0);
        }
        functions
    }
}
