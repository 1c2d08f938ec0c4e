//! Indexes of the modules of a session: taken from the cache as a module comes, made beside the session where there is none.
//!
//! The work is done on a thread of its own, of lower priority. Which moment it begins at is for the session to say.

use crate::Event;
use crate::inflating::Inflating;
use dapple_symbols::Module;
use dapple_symbols::indexing::{IndexCache, IndexState};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How much nicer (nice(2)) than the rest the work is.
const NICER: i32 = 10;
/// How often it tells how far it is.
const TELL_EVERY: Duration = Duration::from_millis(100);

/// The session that the work is done beside.
pub(crate) trait Beside: Send + 'static {
    fn tell(&self, event: Event);
    /// Nobody waits for what is done any more.
    fn is_over(&self) -> bool;
    /// An index is there, or there will be none.
    fn indexed(&self, module: Arc<Module>, state: IndexState);
}

/// Which modules have an index, and which wait for one.
#[derive(Default)]
pub(crate) struct Indexing {
    cache: Option<Arc<IndexCache>>,
    /// Modules that are worth an index and have none.
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
        // A distribution's debug information is decompressed only for who asks for it.
        if !module.has_detached_debug_info() && module.use_index_cache(cache) == IndexState::Missing
        {
            self.waiting.push(Arc::clone(module));
        }
    }

    /// Makes those that are missing.
    pub(crate) fn start(&mut self, beside: impl Beside) {
        if self.waiting.is_empty() {
            return;
        }
        let modules = std::mem::take(&mut self.waiting);
        let thread = std::thread::Builder::new().name("indexing".into());
        let started = thread.spawn(move || {
            // It works as well with the usual priority.
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

/// That the work on an index has ended.
pub(crate) fn ended(module: &Module, state: IndexState) -> Event {
    Event::Indexed {
        module: module.path().to_owned(),
        made: state == IndexState::Used,
    }
}
