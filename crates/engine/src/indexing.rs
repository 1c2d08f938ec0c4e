//! Indexes of a session's large modules, if the session has a cache for them. When a module is loaded, its index is read from the cache. If
//! the cache has none, a thread of lower priority makes it in the background.
//!
//! The session decides when that thread starts.

use crate::Event;
use crate::inflating::Inflating;
use dapple_symbols::Module;
use dapple_symbols::indexing::{IndexCache, IndexState};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How much the indexing thread's nice value (nice(2)) is raised.
const NICER: i32 = 10;
/// The interval between progress reports.
const TELL_EVERY: Duration = Duration::from_millis(100);

/// The session for which indexes are made, as the indexing thread sees it.
pub(crate) trait Beside: Send + 'static {
    fn tell(&self, event: Event);
    /// Whether the session is over, and needs no index any more.
    fn is_over(&self) -> bool;
    /// Called when the work for a module has ended. `state` says whether the module has an index now.
    fn indexed(&self, module: Arc<Module>, state: IndexState);
}

/// Which modules wait for an index.
#[derive(Default)]
pub(crate) struct Indexing {
    cache: Option<Arc<IndexCache>>,
    /// Modules large enough for an index that have none.
    waiting: Vec<Arc<Module>>,
    pub(crate) inflating: Inflating,
}

impl Indexing {
    pub(crate) fn new(cache: Option<Arc<IndexCache>>) -> Indexing {
        Indexing {
            cache,
            waiting: Vec::new(),
            inflating: Inflating::default(),
        }
    }

    /// Looks for the index of a module that was just loaded.
    pub(crate) fn module_loaded(&mut self, module: &Arc<Module>) {
        let Some(cache) = &self.cache else { return };
        // Indexing detached debug information would decompress it, which takes long and is only done when it is needed.
        if !module.has_detached_debug_info() && module.use_index_cache(cache) == IndexState::Missing
        {
            self.waiting.push(Arc::clone(module));
        }
    }

    /// Begins to make the missing indexes, on a new thread.
    pub(crate) fn start(&mut self, beside: impl Beside) {
        if self.waiting.is_empty() {
            return;
        }
        let modules = std::mem::take(&mut self.waiting);
        let thread = std::thread::Builder::new().name("indexing".into());
        let started = thread.spawn(move || {
            // If this fails, the work is done with the usual priority.
            let _ = rustix::process::nice(NICER);
            for module in modules {
                make(module, &beside);
            }
        });
        if let Err(error) = started {
            tracing::warn!(%error, "no index can be made");
        }
    }
}

fn make(module: Arc<Module>, beside: &impl Beside) {
    let mut told = Instant::now();
    let state = module.make_index(&mut |done, total| {
        if told.elapsed() >= TELL_EVERY {
            told = Instant::now();
            beside.tell(Event::Indexing {
                module: module.path().to_owned(),
                done,
                total,
            });
        }
        !beside.is_over()
    });
    beside.indexed(module, state);
}

/// The event that reports the end of the work for a module's index.
pub(crate) fn ended(module: &Module, state: IndexState) -> Event {
    Event::Indexed {
        module: module.path().to_owned(),
        made: state == IndexState::Used,
    }
}
