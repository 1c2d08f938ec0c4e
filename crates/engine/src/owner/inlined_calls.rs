//! Decides what to show for a thread at an instruction that belongs to several lines: which line, and how many of the inlined calls that
//! begin there count as not entered.
//!
//! An inlined call may begin at the very address of a function's breakpoint. The thread is then shown in the function, before that call,
//! and stepping in enters the call without running an instruction. If an instruction belongs to several lines and a line breakpoint stops
//! a thread there, the breakpoint's line is shown.

use super::Owner;
use crate::ThreadId;
use crate::event::{Stop, StopReason};
use dapple_inspect::inspect::Inspect;
use dapple_symbols::functions::SourcePosition;
use rustc_hash::FxHashMap;

impl Owner {
    /// The stop's thread, and how many of the inlined calls at its address count as not entered. `None`: none does. `stepped`: the same, as
    /// the step that has ended leaves it for its thread.
    pub(super) fn stands_before(
        &self,
        stop: &Stop,
        stepped: Option<(ThreadId, usize)>,
    ) -> Option<(ThreadId, usize)> {
        let ids = stop.reason.breakpoints();
        let count = if stop.reason == StopReason::Step {
            stepped.filter(|(thread, _)| *thread == stop.thread)?.1
        } else if !ids.is_empty() {
            let module = self.modules().at(stop.address)?;
            self.breakpoints
                .calls_not_entered(ids, stop.address, module)
        } else {
            0
        };
        (count > 0).then_some((stop.thread, count))
    }

    /// By thread, the line of the line breakpoint at which the thread has stopped. Threads that have stopped otherwise are left out.
    pub(super) fn lines_of(&self, stops: &[Stop]) -> FxHashMap<ThreadId, SourcePosition> {
        let line = |stop: &Stop| {
            let ids = stop.reason.breakpoints();
            let line = self.breakpoints.line_at(ids, stop.address)?;
            Some((stop.thread, line))
        };
        stops.iter().filter_map(line).collect()
    }
}
