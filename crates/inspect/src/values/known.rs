//! What is cached about values between requests.

use crate::heap::Heap;
use crate::natvis::Presentation;
use crate::values::walk_positions::WalkPositions;

/// What a session keeps: the user's presentations of types, the state of the heap, and where walks through containers ended.
#[derive(Debug, Default)]
pub struct Known {
    presentation: Presentation,
    heap: Heap,
    walk_positions: WalkPositions,
}

impl Known {
    /// The user's natvis presentations.
    pub fn presentation(&self) -> &Presentation {
        &self.presentation
    }

    /// The state of the process's heap.
    pub(crate) fn heap(&self) -> &Heap {
        &self.heap
    }

    /// Where walks through containers have ended.
    pub(crate) fn walk_positions(&self) -> &WalkPositions {
        &self.walk_positions
    }
}
