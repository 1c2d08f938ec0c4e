//! The code around a row of the line table that belongs to the same line. Compilers make several rows of a line, one for each column.

use super::position::Position;
use super::{Context, Step};
use crate::Address;
use crate::step::options::StepUnit;
use dapple_symbols::lines::LineRow;
use std::ops::Range;

/// The most rows that are joined.
const MOST_ROWS: usize = 256;

impl Step {
    /// The range of the line that the step has settled on becomes that of all its rows here.
    pub(super) fn widen(&mut self, cx: &Context<'_>) {
        let Some(at) = cx.position() else {
            return;
        };
        let row = at.row.as_ref().filter(|row| row.line == self.line);
        if let Some(row) = row.filter(|row| at.range(&row.range) == self.range) {
            self.range = self.line_range(cx, &at, row);
        }
    }

    /// The row's addresses, and those of the rows behind it for which a place would be judged the same: they are of the same line, in the same inlined calls.
    /// A step by statements judges each row.
    pub(super) fn line_range(&self, cx: &Context<'_>, at: &Position, row: &LineRow) -> Range<u64> {
        let mut range = at.range(&row.range);
        if self.unit == StepUnit::Statement || at.row.is_none() || at.coroutine.is_some() {
            return range;
        }
        for _ in 1..MOST_ROWS {
            let Some(next) = cx.places.at(Address(range.end), cx.modules) else {
                break;
            };
            let is_same = |other: &LineRow| other.line == row.line && other.file == row.file;
            let Some(other) = next.row.as_ref().filter(|other| is_same(other)) else {
                break;
            };
            let more = next.range(&other.range);
            if more.start != range.end || more.is_empty() || !at.is_judged_like(&next) {
                break;
            }
            range.end = more.end;
        }
        range
    }
}

impl Position {
    /// Whether a place on the same line is judged as this one is.
    fn is_judged_like(&self, other: &Position) -> bool {
        let around = |position: &Position| {
            let calls = position.inlined.iter();
            calls.map(|call| call.ranges.clone()).collect::<Vec<_>>()
        };
        let whose = |it: &Position| (it.users, it.in_users, it.own, it.own_line, it.serves);
        self.function_id() == other.function_id()
            && around(self) == around(other)
            && whose(self) == whose(other)
            && other.coroutine.is_none()
    }
}
