//! What a place that a step comes to means: whether the step ends there, or which line the code belongs to.

use super::position::Position;
use super::{Action, Context, Step, source};
use crate::step::options::{StepKind, StepUnit};
use dapple_symbols::functions::{InlinedCall, SourcePosition};
use dapple_symbols::lines::LineRow;
use std::path::Path;
use std::sync::Arc;

/// What a place in the step's activation means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The step is out of the inlined code that it had to leave. The number: how many of the inlined calls around the step's start are
    /// also around the place.
    Out(usize),
    /// The step ends there. `Some`: the thread is shown before this many of the inlined calls there.
    Ends(Option<usize>),
    /// In the middle of another line, which the step finishes from now on.
    OtherLine,
    /// On the line that the step finishes.
    Line,
    /// On the way: an inlined call of the line, or code of line 0.
    OnTheWay,
}

impl Step {
    /// Decides at a place in the same activation.
    pub(super) fn judge(&mut self, cx: &Context<'_>) -> Action {
        let Some(pc) = cx.registers.pc() else {
            return Action::Finished;
        };
        self.gates.clear();
        if !self.only_out && self.range.contains(&pc.0) {
            return self.advance(cx);
        }
        let Some(at) = cx.position() else {
            return self.advance(cx);
        };
        match self.verdict(&at, cx) {
            Verdict::Out(inside) => return self.out_of_inlined(&at, inside, cx),
            Verdict::Ends(before) => {
                self.before = before.unwrap_or(self.before);
                return Action::Finished;
            }
            Verdict::OtherLine => {
                self.settle(cx);
                self.widen(cx);
            }
            Verdict::Line => {
                if let Some(row) = &at.row {
                    self.range = self.line_range(cx, &at, row);
                }
            }
            Verdict::OnTheWay => {}
        }
        self.advance(cx)
    }

    /// What a place outside the known range of the line means.
    pub(super) fn verdict(&self, at: &Position, cx: &Context<'_>) -> Verdict {
        let Some(row) = &at.row else {
            return Verdict::OnTheWay;
        };
        let inside = self
            .inlined
            .iter()
            .zip(&at.inlined)
            .take_while(|(a, b)| a.ranges == b.ranges)
            .count();
        if self.only_out {
            // If the step has to leave an inlined call, it is out at any place outside that call. If not, it has to leave library code
            // in the function: it is out where the function's own code is the user's.
            let is_out = match self.inlined.is_empty() {
                true => cx.is_of_users(at, 0),
                false => inside < self.inlined.len(),
            };
            return match is_out {
                true => Verdict::Out(inside),
                false => Verdict::OnTheWay,
            };
        }
        if let Some(call) = at.inlined.get(inside) {
            return self.verdict_inlined(cx, at, call, inside);
        }
        let same_line = inside == self.inlined.len()
            && row.line == self.line
            && Some(&row.file) == self.file.as_ref();
        if same_line && self.unit == StepUnit::Statement && self.is_next_statement(at, row) {
            return Verdict::Ends(None);
        }
        if same_line {
            return Verdict::Line;
        }
        if at.begins_statement() && self.may_end_on_line(at) {
            return Verdict::Ends(None);
        }
        // A coroutine that suspends passes code of its opening line.
        let is_made = at.is_cpp_body() && !at.users;
        // What a macro leaves on lines of its own, and the code around an inlined body, is part of the way along the user's line.
        let is_others = self.from_own_line && !at.own_line && !self.any_source;
        match row.is_stmt && !is_made && !is_others {
            true => Verdict::OtherLine,
            false => Verdict::OnTheWay,
        }
    }

    /// Whether the step may end on a line of a file.
    fn may_end_on_line_of(&self, file: &Arc<Path>, cx: &Context<'_>) -> bool {
        match self.from_own_line {
            true => cx.places.is_own(file),
            false => cx.places.is_users(file),
        }
    }

    /// Whether the step may end at the beginning of a place's line.
    fn may_end_on_line(&self, at: &Position) -> bool {
        (at.users && (at.own_line || !self.from_own_line)) || self.any_source
    }

    /// Whether a place on the line to finish begins another statement of that line.
    fn is_next_statement(&self, at: &Position, row: &LineRow) -> bool {
        // `is_stmt` can't tell: LLVM sets it only for the first row of a line.
        row.range.start == at.address
            && self.column != 0
            && row.column != 0
            && row.column != self.column
            && source::separates(&row.file, row.line, self.column, row.column)
    }

    /// What a place in the inlined call `call` means. Of the calls around the place, `inside` are around the step's start, too; `call`
    /// is the outermost one that isn't.
    fn verdict_inlined(
        &self,
        cx: &Context<'_>,
        at: &Position,
        call: &InlinedCall,
        inside: usize,
    ) -> Verdict {
        let begins = at.begins_statement()
            && call
                .ranges
                .first()
                .is_some_and(|code| code.start == at.address);
        let of_line = |site: &SourcePosition| {
            inside == self.inlined.len()
                && site.line == self.line
                && Some(&site.file) == self.file.as_ref()
        };
        if let Some(site) = &call.call_site
            && begins
            && site.line != 0
            && !(inside == 0 && at.is_made_line(site.line))
            && !of_line(site)
            && (self.any_source || self.may_end_on_line_of(&site.file, cx))
        {
            // Another line, which begins with this inlined call.
            return Verdict::Ends(Some(at.inlined.len() - inside));
        }
        let deeper = inside == self.inlined.len();
        let stops = !deeper || (self.kind == StepKind::Into && self.target.is_none());
        match stops && at.begins_statement() && self.may_end_on_line(at) {
            true => Verdict::Ends(None),
            false => Verdict::OnTheWay,
        }
    }
}
