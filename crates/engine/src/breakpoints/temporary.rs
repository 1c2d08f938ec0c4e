//! Which threads a temporary breakpoint stops, and whether it has.

use crate::breakpoints::data::FrameOnStack;
use crate::{Address, ThreadId};

/// What makes a breakpoint a temporary one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Temporary {
    /// Only this thread.
    pub(crate) thread: Option<ThreadId>,
    /// Only in this frame and those that called it, and where it returns to.
    pub(crate) frame: Option<FrameOnStack>,
    /// It has stopped a thread: it is on its way out.
    pub(crate) spent: bool,
}

impl Temporary {
    /// Where the frame returns to, which is a place of the breakpoint.
    pub(crate) fn return_to(&self) -> Option<Address> {
        Some(self.frame.as_ref()?.return_to)
    }

    /// Whether a thread that has come to `at` may be stopped. `frame` is the canonical frame address there, where it is one
    /// of the breakpoint's own places.
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
        // Calls in it may return to the same address.
        let left = at == until.return_to && sp >= until.cfa.0;
        thread == until.thread && (left || frame().is_some_and(|cfa| cfa >= until.cfa))
    }
}
