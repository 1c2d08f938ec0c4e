//! Decides what to show for a thread at an instruction that belongs to several lines: how many inlined calls that begin there are shown
//! as not entered, and which line.
//!
//! An inlined call may begin at the very address of a function's breakpoint. The thread is then shown in the function, before that call,
//! and stepping in enters the call without running an instruction. Among several lines with the same instruction, the breakpoint's line
//! is shown.

use super::Owner;
use crate::ThreadId;
use crate::event::{Stop, StopReason};
use dapple_inspect::inspect::Inspect;
use dapple_symbols::functions::SourcePosition;
use rustc_hash::FxHashMap;

impl Owner {
    /// The stop's thread and how many inlined calls it is shown before; `None` for no calls. `stepped`: the same for the thread whose
    /// step has ended.
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

    /// By thread, the line of the breakpoint at which it has stopped; only for breakpoints on lines.
    pub(super) fn lines_of(&self, stops: &[Stop]) -> FxHashMap<ThreadId, SourcePosition> {
        let line = |stop: &Stop| {
            let ids = stop.reason.breakpoints();
            let line = self.breakpoints.line_at(ids, stop.address)?;
            Some((stop.thread, line))
        };
        stops.iter().filter_map(line).collect()
    }
}
