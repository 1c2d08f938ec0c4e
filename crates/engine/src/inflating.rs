//! Inflates the compressed debug information of libraries, as distributions have it, in the background when a library is loaded. Otherwise
//! a program's first stack, which has frames of the C library, would wait for all of it.

use dapple_symbols::Module;
use std::sync::Arc;

/// How much is inflated in advance at most, of one module and of all, in bytes: perhaps it is never needed.
const MOST_OF_ONE: u64 = 16 << 20;
const MOST: u64 = 32 << 20;
/// More threads don't help: the largest section is more than half of all.
const THREADS: usize = 2;

/// How much was inflated in advance, in bytes.
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
            // With the usual priority: a stack waits for this thread, and on a busy machine one of lower priority would hardly run.
            let started = thread.spawn(move || module.inflate());
            if let Err(error) = started {
                tracing::debug!(%error, "what is compressed is inflated when it is needed");
            }
        }
    }

    /// Whether a module with this many compressed bytes is inflated in advance; if so, they are counted.
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
