//! What is kept from one look at values to the next.

use crate::heap::Heap;
use crate::natvis::Presentation;
use crate::values::halts::Halts;

/// What a session knows of its values: how the user wants them shown, what was found of the heap, where walks through containers ended.
#[derive(Debug, Default)]
pub struct Known {
    presentation: Presentation,
    heap: Heap,
    halts: Halts,
}

impl Known {
    /// How the user wants their types shown.
    pub fn presentation(&self) -> &Presentation {
        &self.presentation
    }

    /// What is known of the process's heap.
    pub(crate) fn heap(&self) -> &Heap {
        &self.heap
    }

    /// Where walks through containers have ended.
    pub(crate) fn halts(&self) -> &Halts {
        &self.halts
    }
}
