//! Makes the symbol indexes of the loaded modules, on background threads. These begin at the first reported stop after the one at the
//! program's start, or as soon as a breakpoint is set on a function that may have copies which only an index finds.

use super::Owner;
use super::background::Back;
use crate::event::Event;
use crate::indexing::{self, Beside};
use dapple_inspect::inspect::Inspect;
use dapple_symbols::Module;
use dapple_symbols::indexing::IndexState;
use std::sync::Arc;

impl Beside for Back {
    fn tell(&self, event: Event) {
        self.send(move |owner| owner.tell(event));
    }

    fn is_over(&self) -> bool {
        Back::is_over(self)
    }

    fn indexed(&self, module: Arc<Module>, state: IndexState) {
        self.send(move |owner| owner.indexed(&module, state));
    }
}

impl Owner {
    /// Begins to make the missing indexes in the background.
    pub(super) fn make_indexes(&mut self) {
        self.loading.indexing.start(self.link.back.clone());
    }

    /// Called when a module's index is ready, or when it is known that there will be none. Resolves the breakpoints that waited for it.
    fn indexed(&mut self, module: &Arc<Module>, state: IndexState) {
        self.tell(indexing::ended(module, state));
        let loaded = self
            .modules()
            .iter()
            .find(|m| Arc::ptr_eq(&m.module, module));
        let Some(loaded) = loaded.cloned() else {
            return;
        };
        self.complete_functions(&loaded);
    }
}
