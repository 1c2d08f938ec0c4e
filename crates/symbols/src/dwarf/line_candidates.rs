//! What a breakpoint on a line may be put on: the rows that the line has in a unit's table, and the inlined calls that are
//! written on it. An optimiser often leaves a line nothing but those: its own row is gone, or is no statement.

use crate::dwarf::blocks::Blocks;
use crate::dwarf::functions::SourcePosition;
use crate::dwarf::{Dwarf, Unit};
use gimli::{UnitOffset, constants as dw};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

/// A unit that names the wanted file, and the numbers it has there.
pub(crate) struct NamedBy<'s, 'a> {
    pub unit: &'s Unit<'a>,
    pub path: Arc<Path>,
    pub numbers: Vec<u32>,
}

/// A place of the wanted file.
pub(crate) struct Candidate<'n, 'a> {
    pub named: &'n NamedBy<'n, 'a>,
    pub address: u64,
    pub line: u32,
    pub column: u32,
    kind: Kind,
}

/// What makes a candidate.
enum Kind {
    Row {
        is_stmt: bool,
        /// Its index in the unit's rows.
        index: usize,
        /// The row before it is another line's.
        begins_run: bool,
        /// Where its sequence starts.
        sequence: u64,
    },
    /// Where an inlined call begins: the function by its entry's offset, and the block that the call is written in.
    Call { function: usize, block: u32 },
}

impl Candidate<'_, '_> {
    pub fn is_statement(&self) -> bool {
        matches!(self.kind, Kind::Row { is_stmt: true, .. })
    }

    /// It is an instruction of the line and no statement: of what is computed elsewhere, for the greater part.
    pub fn is_part(&self) -> bool {
        matches!(self.kind, Kind::Row { is_stmt: false, .. })
    }

    /// Its index among the unit's rows, of one that is a row.
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

    /// The function and the block around it, of one that is an inlined call.
    pub fn call(&self) -> Option<(usize, u32)> {
        match self.kind {
            Kind::Row { .. } => None,
            Kind::Call { function, block } => Some((function, block)),
        }
    }
}

/// What gets one location for a line.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Instance {
    /// A function, or an inlined call in it, by their entries' offsets.
    Code {
        unit: u32,
        function: usize,
        inlined: Option<usize>,
    },
    /// Code without a known function (assembler), by its sequence's start.
    Sequence(u64),
}

impl Instance {
    /// It is a function's own code, not that of an inlined call.
    pub fn is_function(&self) -> bool {
        matches!(self, Instance::Code { inlined: None, .. })
    }
}

/// What a place is in.
pub(crate) struct Around {
    /// By its entry's offset.
    pub function: usize,
    pub blocks: Arc<Blocks>,
    /// The inlined calls' blocks, outermost first.
    pub calls: Vec<u32>,
}

impl Around {
    /// Whether an address of the function is in an inlined call that has begun before.
    pub fn is_inside_call(&self, address: u64) -> bool {
        let outermost = self.blocks.inlined(address).first().copied();
        let block = outermost.and_then(|call| self.blocks.blocks.get(call as usize));
        block.is_some_and(|block| !block.begins_at(address))
    }

    /// The inlined calls by their entries' offsets, outermost first.
    pub fn inlined(&self) -> impl Iterator<Item = usize> {
        let block = |call: &u32| self.blocks.blocks.get(*call as usize);
        self.calls
            .iter()
            .filter_map(block)
            .map(|block| block.offset)
    }
}

/// Which functions are looked at for calls.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Those with code of the lines about.
    Near,
    /// Those with any code of the file.
    Everywhere,
}

/// How far "about" is, in lines.
const NEAR: u32 = 50;

impl<'a> Dwarf<'a> {
    /// The statements of the named file's `wanted` lines in a unit, and what is no statement where a thread that stops there is shown on
    /// its line. Line by line.
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

    /// The inlined calls that are written on `wanted` lines of the named file, in the code of a unit.
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

    /// The function instance or inlined copy that a candidate is in.
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

    /// The code that a candidate is written in: its function, and the inlined calls in that.
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

    /// How many of the inlined calls that cover a row are around it. Optimised code has rows of a caller at the very address where
    /// a call begins; those are before it. It shows by the line where that is written, or where the functions are.
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

    /// Where an inlined call is written.
    pub fn call_site(&self, unit: &Unit<'a>, offset: usize) -> Option<SourcePosition> {
        self.position(
            &self.chain(unit, UnitOffset(offset)),
            dw::DW_AT_call_file,
            dw::DW_AT_call_line,
            dw::DW_AT_call_column,
        )
    }

    /// The functions of a unit with code of the named file, by their entries' offsets.
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
        // The same function comes again and again.
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
