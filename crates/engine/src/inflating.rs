//! Inflates the compressed debug information of distributions' libraries in the background when a library is loaded. Otherwise the first
//! stack that is shown would have to wait for it, since stacks have frames of the C library.

use dapple_symbols::Module;
use std::sync::Arc;

/// The largest compressed size of a module that is inflated in advance, in bytes, and (`MOST`) of all such modules together. More isn't,
/// since perhaps it is never needed.
const MOST_OF_ONE: u64 = 16 << 20;
const MOST: u64 = 32 << 20;
/// How many threads inflate one module. More don't help, as one section is mostly larger than the others together.
const THREADS: usize = 2;

/// Counts the compressed bytes of the modules that were inflated in advance.
#[derive(Debug, Default)]
pub(crate) struct Inflating {
    so_far: u64,
}

impl Inflating {
    /// Starts inflating a module that was just loaded, if the bounds allow it.
    pub(crate) fn start(&mut self, module: &Arc<Module>) {
        let size = module.compressed_size();
        if !self.takes(size) {
            return;
        }
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..processors.min(THREADS) {
            let module = Arc::clone(module);
            let thread = std::thread::Builder::new().name("inflating".into());
            // With the usual priority: showing a stack may wait for this thread, which would hardly run with a lower priority on a busy machine.
            let started = thread.spawn(move || module.inflate());
            if let Err(error) = started {
                tracing::debug!(%error, "what is compressed is inflated when it is needed");
            }
        }
    }

    /// Whether a module with `size` compressed bytes is inflated in advance. If so, the bytes are counted.
    fn takes(&mut self, size: u64) -> bool {
        let takes = (1..=MOST_OF_ONE).contains(&size) && self.so_far + size <= MOST;
        self.so_far += if takes { size } else { 0 };
        takes
    }
}

#[cfg(test)]
mod tests {
    use super::{Inflating, MOST, MOST_OF_ONE};

    #[test]
    fn no_more_is_inflated_in_advance_than_a_bound() {
        let mut inflating = Inflating::default();
        let sizes = [0, u64::MAX, MOST_OF_ONE + 1];
        assert!(sizes.into_iter().all(|size| !inflating.takes(size)));
        let taken = (0..1000).filter(|_| inflating.takes(MOST_OF_ONE / 3));
        assert!(taken.count() as u64 * (MOST_OF_ONE / 3) <= MOST);
        assert!(inflating.takes(1));
    }
}
