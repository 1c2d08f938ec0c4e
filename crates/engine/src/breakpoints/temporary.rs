//! Which threads a temporary breakpoint stops, and whether it has stopped one.

use crate::breakpoints::data::FrameOnStack;
use crate::{Address, ThreadId};

/// What makes a breakpoint a temporary one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Temporary {
    /// The breakpoint stops only this thread. `None`: any thread.
    pub(crate) thread: Option<ThreadId>,
    /// The breakpoint stops the frame's thread only, in this frame and its callers, and at its return address. `None`: in any frame.
    pub(crate) frame: Option<FrameOnStack>,
    /// Whether the breakpoint has stopped a thread, and is about to be removed.
    pub(crate) spent: bool,
}

impl Temporary {
    /// The return address of the frame that the breakpoint is limited to. The breakpoint is inserted there, too.
    pub(crate) fn return_to(&self) -> Option<Address> {
        Some(self.frame.as_ref()?.return_to)
    }

    /// Whether the breakpoint may stop `thread`, which is at `at` with the stack pointer `sp`. `frame` gives the canonical frame address of
    /// the thread's innermost frame, or `None` if `at` is not one of the breakpoint's own locations.
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
        // In a recursion, inner calls of the function return to the same address, but with a lower stack pointer.
        let left = at == until.return_to && sp >= until.cfa.0;
        thread == until.thread && (left || frame().is_some_and(|cfa| cfa >= until.cfa))
    }
}
