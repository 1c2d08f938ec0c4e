//! Finds the executors of a process: the lists of tasks that tokio's threads lead to.

use super::parts;
use crate::ThreadId;
use crate::modules::LoadedModule;
use crate::unwind::FrameContext;
use crate::values::{Contents, Reader, Value};
use dapple_arch::registers::{FS_BASE, Registers};
use dapple_symbols::functions::Language;
use dapple_symbols::indexing::IndexState;
use dapple_symbols::scopes::Variable;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// The thread-local variable with a thread's runtime and the task that it polls.
const CONTEXT: &str = "tokio::runtime::context::CONTEXT";
/// The types of collections of tasks.
const OWNED: [&str; 2] = [
    "tokio::runtime::task::list::OwnedTasks",
    "tokio::runtime::task::list::LocalOwnedTasks",
];
/// The type of the linked lists in them.
const LIST: &str = "tokio::util::linked_list::LinkedList";

/// The variable, with its module.
pub(super) type Place = (Arc<LoadedModule>, Variable);

/// What threads lead to.
#[derive(Debug, Default)]
pub(super) struct Executors {
    /// The linked lists of tasks.
    pub lists: Vec<Value>,
    /// The thread that polls a task, by the task's number.
    pub polled: Vec<(u64, ThreadId)>,
}

/// Whether a module has been built with tokio.
fn has_tokio(module: &LoadedModule) -> bool {
    let units = module.module.unit_names(Language::Rust);
    units.iter().any(|unit| {
        let unit = unit.to_string_lossy();
        unit.contains("/tokio-") && unit.contains("/src/lib.rs/")
    })
}

/// Whether a module was built with tokio.
pub(super) fn is_any_with_tokio(reader: &Reader<'_>) -> bool {
    let mut own = reader
        .modules
        .iter()
        .filter(|loaded| !loaded.is_distributions());
    own.any(|loaded| has_tokio(loaded))
}

/// The storages of the thread-local variable. `None`: a module's names aren't indexed yet, and the search isn't to wait for that.
pub(super) fn contexts(reader: &Reader<'_>, waits: bool) -> Option<Vec<Place>> {
    let mut places = Vec::new();
    for loaded in reader.modules.iter() {
        if loaded.is_distributions() || loaded.is_vdso() {
            continue;
        }
        // In a large module, reading the names of all units takes longer than asking the index.
        match loaded.module.index_state() {
            IndexState::Missing if !waits => return None,
            IndexState::Used => {}
            _ if !has_tokio(loaded) => continue,
            _ => {}
        }
        let found = loaded.module.statics_named(CONTEXT).into_iter();
        let found = found.filter(|variable| !variable.dropped);
        places.extend(found.map(|variable| (Arc::clone(loaded), variable)));
    }
    Some(places)
}

/// The variable of one thread.
fn value_in(reader: &Reader<'_>, (loaded, variable): &Place, thread_pointer: u64) -> Option<Value> {
    let mut frame = crate::frame::nowhere(loaded);
    let mut registers = Registers::default();
    registers.set(FS_BASE, Some(thread_pointer));
    frame.registers = registers;
    let context = FrameContext::of_module(&frame, loaded, reader.modules, reader.memory);
    let nowhere = dapple_symbols::FileAddress(0);
    let pieces = loaded.module.locate(variable, nowhere, &context).ok()?;
    let contents = Contents::of_pieces(pieces, None, &frame.into());
    let module = Arc::clone(loaded);
    Some(Value::new(
        module,
        variable.type_id,
        Language::Rust,
        contents,
    ))
}

impl Executors {
    /// What the threads with these thread pointers lead to.
    pub fn of(reader: &Reader<'_>, contexts: &[Place], threads: &[(ThreadId, u64)]) -> Executors {
        let mut found = Executors::default();
        let mut seen = FxHashSet::default();
        for (thread, pointer) in threads {
            for place in contexts {
                let Some(context) = value_in(reader, place, *pointer) else {
                    continue;
                };
                found.add_polled(reader, &context, *thread);
                found.add_lists(reader, &context, &mut seen);
            }
        }
        found
    }

    fn add_polled(&mut self, reader: &Reader<'_>, context: &Value, thread: ThreadId) {
        let number = || {
            let current = reader.find(context, "current_task_id")?;
            let is_id = |name: &str| name == "tokio::runtime::task::id::Id";
            let id = parts::all(reader, &current, &is_id, &|_| false).pop()?;
            reader.word(&reader.find_integer(&id)?.contents).ok()
        };
        self.polled.extend(number().map(|number| (number, thread)));
    }

    fn add_lists(
        &mut self,
        reader: &Reader<'_>,
        context: &Value,
        seen: &mut FxHashSet<Option<crate::Address>>,
    ) {
        let is_owned = |path: &str| OWNED.contains(&path);
        let is_list = |path: &str| path == LIST;
        // From the thread to its runtime: through the handle and what it shares.
        let follows = |name: &str| {
            let name = ["alloc::sync::ArcInner<", "alloc::rc::RcInner<"]
                .iter()
                .find_map(|owner| name.strip_prefix(owner))
                .unwrap_or(name);
            name.starts_with("tokio::runtime::") || name.starts_with("tokio::task::local::")
        };
        for owned in parts::all(reader, context, &is_owned, &follows) {
            if !seen.insert(owned.contents.address()) {
                continue;
            }
            self.lists
                .extend(parts::all(reader, &owned, &is_list, &|_| false));
        }
    }
}
