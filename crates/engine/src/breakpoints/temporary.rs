//! Which threads a temporary breakpoint stops, and whether it has.

use crate::breakpoints::data::FrameOnStack;
use crate::{Address, ThreadId};

/// What makes a breakpoint a temporary one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Temporary {
    /// Stop only this thread.
    pub(crate) thread: Option<ThreadId>,
    /// Stop only in this frame and its callers, and at its return address.
    pub(crate) frame: Option<FrameOnStack>,
    /// It has stopped a thread and is about to be removed.
    pub(crate) spent: bool,
}

impl Temporary {
    /// The frame's return address, which is one of the breakpoint's locations.
    pub(crate) fn return_to(&self) -> Option<Address> {
        Some(self.frame.as_ref()?.return_to)
    }

    /// Whether a thread at `at` may be stopped. `frame` gives the canonical frame address of its innermost frame, if `at` is one of the
    /// breakpoint's own locations.
    pub(crate) fn admits(
        &self,
        thread: ThreadId,
        at: Address,
        sp: u64,
        frame: impl FnOnce() -> Option<Address>,
    ) -> bool {
        if self.spent || self.thread.is_some_and(|only| only != thread) {
            return false;
        }
        let Some(until) = &self.frame else {
            return true;
        };
        // In a recursion, the inner calls return to the same address.
        let left = at == until.return_to && sp >= until.cfa.0;
        thread == until.thread && (left || frame().is_some_and(|cfa| cfa >= until.cfa))
    }
}
