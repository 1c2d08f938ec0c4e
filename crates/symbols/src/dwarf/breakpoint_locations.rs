//! The positions in a range of lines at which breakpoints are possible: all that have code. For a breakpoint on one line,
//! see [`crate::Module::lookup_line`].

use crate::FileAddress;
use crate::dwarf::Dwarf;
use crate::dwarf::line_candidates::{Instance, Reach};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;

/// A position of a source file that has code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BreakpointLocation {
    /// 1-based.
    pub line: u32,
    /// 1-based; 0 for an unknown column or the left edge.
    pub column: u32,
    /// Whether some of its code starts a statement (DWARF 5 §6.2.2), which is a recommended breakpoint location. Other
    /// positions are parts of expressions.
    pub is_stmt: bool,
    /// The lowest address of the position's code in each function, monomorphisation and inlined copy, in ascending order.
    /// If some of the code starts a statement, the rest doesn't count. For a function's opening line, the end of the
    /// prologue, whatever line that is on.
    pub addresses: Vec<FileAddress>,
}

/// The line rows of one position.
#[derive(Default)]
struct Position {
    is_stmt: bool,
    /// For each function or inlined copy: the lowest address, and whether it starts a statement. Statements take
    /// precedence.
    lowest: BTreeMap<Instance, (u64, bool)>,
}

impl Dwarf<'_> {
    pub(crate) fn breakpoint_locations(
        &self,
        file: &Path,
        lines: &RangeInclusive<u32>,
    ) -> Vec<BreakpointLocation> {
        let mut positions: BTreeMap<(u32, u32), Position> = BTreeMap::new();
        for named in self.units_with_file(file) {
            let rows = self.row_candidates(&named, lines.clone());
            let calls = self.call_candidates(&named, lines, Reach::Near);
            for place in rows.chain(calls) {
                let instance = self.instance_of(&place);
                let is_stmt = place.is_statement();
                let position = positions.entry((place.line, place.column)).or_default();
                position.is_stmt |= is_stmt;
                let first = position
                    .lowest
                    .entry(instance)
                    .or_insert((place.address, is_stmt));
                // A statement takes precedence over a lower address.
                let better = (!is_stmt, place.address) < (!first.1, first.0);
                if better {
                    *first = (place.address, is_stmt);
                }
            }
        }
        let located = |((line, column), position): ((u32, u32), Position)| {
            let mut addresses: Vec<FileAddress> = position
                .lowest
                .into_iter()
                .filter(|(_, (_, is_stmt))| *is_stmt == position.is_stmt)
                .map(|(instance, (address, _))| {
                    let entered = instance.is_function()
                        && self
                            .function_entry_at(address)
                            .is_some_and(|(_, function)| {
                                function
                                    .ranges
                                    .first()
                                    .is_some_and(|code| code.start == address)
                            });
                    FileAddress(if entered {
                        self.body_start(address)
                    } else {
                        address
                    })
                })
                .collect();
            addresses.sort_unstable();
            addresses.dedup();
            BreakpointLocation {
                line,
                column,
                is_stmt: position.is_stmt,
                addresses,
            }
        };
        positions.into_iter().map(located).collect()
    }
}
