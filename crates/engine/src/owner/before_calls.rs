//! How many inlined calls that begin where a thread has stopped it is shown before.

use super::Owner;
use crate::ThreadId;
use crate::event::{Stop, StopReason};

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

    /// How many inlined calls a stopped thread is before.
    pub(super) fn calls_not_begun(&self, thread: ThreadId) -> usize {
        self.before_calls.get(&thread).copied().unwrap_or(0)
    }
}
