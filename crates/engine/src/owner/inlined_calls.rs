//! As what a thread is shown that has stopped at a place of several lines: how many inlined calls that begin there it is
//! before, and on which line.

use super::Owner;
use crate::ThreadId;
use crate::event::{Stop, StopReason};
use dapple_symbols::functions::SourcePosition;
use rustc_hash::FxHashMap;

impl Owner {
    /// The thread of a stop that is before inlined calls, and how many.
    pub(super) fn stands_before(
        &self,
        stop: &Stop,
        stepped: Option<(ThreadId, usize)>,
    ) -> Option<(ThreadId, usize)> {
        let ids = stop.reason.breakpoints();
        let count = if stop.reason == StopReason::Step {
            stepped.filter(|(thread, _)| *thread == stop.thread)?.1
        } else if !ids.is_empty() {
            let module = self.modules.at(stop.address)?;
            self.breakpoints.calls_begun(ids, stop.address, module)
        } else {
            0
        };
        (count > 0).then_some((stop.thread, count))
    }

    /// The lines of the breakpoints that stops are at.
    pub(super) fn lines_of(&self, stops: &[Stop]) -> FxHashMap<ThreadId, SourcePosition> {
        let line = |stop: &Stop| {
            let ids = stop.reason.breakpoints();
            let line = self.breakpoints.line_at(ids, stop.address)?;
            Some((stop.thread, line))
        };
        stops.iter().filter_map(line).collect()
    }

    /// How many inlined calls a stopped thread is before.
    pub(super) fn calls_not_begun(&self, thread: ThreadId) -> usize {
        self.threads.calls_not_begun(thread)
    }
}
