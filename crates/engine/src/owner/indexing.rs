//! Indexes of the loaded modules: taken from the cache as a module comes, made beside the session where there is none.
//!
//! The work is done on threads of its own, of lower priority, and only behind the first stop, which needs no index: or
//! as soon as a breakpoint is set on a function, which may have copies that only an index tells of.

use super::Owner;
use super::back::Back;
use crate::event::Event;
use crate::modules::LoadedModule;
use dapple_symbols::Module;
use dapple_symbols::indexing::{IndexCache, IndexState};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How much nicer (nice(2)) than the rest the work is.
const NICER: i32 = 10;
/// How often it tells how far it is.
const TELL_EVERY: Duration = Duration::from_millis(100);

/// Which modules have an index, and which wait for one.
pub(super) struct Indexing {
    cache: Option<Arc<IndexCache>>,
    /// Modules that are worth an index and have none.
    waiting: Vec<Arc<Module>>,
    back: Back,
}

impl Indexing {
    pub(super) fn new(cache: Option<Arc<IndexCache>>, back: Back) -> Indexing {
        Indexing {
            cache,
            waiting: Vec::new(),
            back,
        }
    }

    /// Looks for the index of a module that was just loaded.
    pub(super) fn module_loaded(&mut self, module: &Arc<Module>) {
        let Some(cache) = &self.cache else { return };
        // A distribution's debug information is decompressed only for who asks for it.
        if !module.has_detached_debug_info() && module.use_index_cache(cache) == IndexState::Missing
        {
            self.waiting.push(Arc::clone(module));
        }
    }

    /// Makes those that are missing, on a thread of its own.
    pub(super) fn start(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let modules = std::mem::take(&mut self.waiting);
        let back = self.back.clone();
        let thread = std::thread::Builder::new().name("indexing".into());
        let started = thread.spawn(move || {
            // It works as well with the usual priority.
            let _ = rustix::process::nice(NICER);
            for module in modules {
                make(&module, &back);
            }
        });
        if let Err(error) = started {
            tracing::warn!(%error, "no index can be made");
        }
    }
}

fn make(module: &Arc<Module>, back: &Back) {
    let mut told = Instant::now();
    let state = module.make_index(&mut |done, total| {
        if told.elapsed() >= TELL_EVERY {
            told = Instant::now();
            let path = module.path().to_owned();
            back.send(move |owner| {
                owner.tell(Event::Indexing {
                    module: path,
                    done,
                    total,
                });
            });
        }
        !back.is_over()
    });
    let module = Arc::clone(module);
    back.send(move |owner| owner.indexed(&module, state));
}

impl Owner {
    /// An index is there, or there will be none: what waited for it is asked again.
    fn indexed(&mut self, module: &Arc<Module>, state: IndexState) {
        self.tell(Event::Indexed {
            module: module.path().to_owned(),
            made: state == IndexState::Used,
        });
        let loaded = self.modules.iter().find(|m| Arc::ptr_eq(&m.module, module));
        let Some(loaded) = loaded.cloned() else {
            return;
        };
        self.complete_functions(&loaded);
    }

    fn complete_functions(&mut self, loaded: &LoadedModule) {
        if self.breakpoints.complete(loaded) {
            self.arm();
        }
    }
}
