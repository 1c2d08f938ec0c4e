//! Finds the executors of a process: the lists of tasks that tokio's threads, static variables and the frames of threads lead to.

use super::parts::{self, Followed};
use crate::ThreadId;
use crate::modules::LoadedModule;
use crate::unwind::FrameContext;
use crate::values::rust::captures;
use crate::values::{Contents, Reader, Value, names};
use dapple_symbols::functions::Language;
use dapple_symbols::indexing::IndexState;
use dapple_symbols::names::NamePattern;
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
/// The types of tokio's queues of blocking functions: of now, and of the releases up to 1.52.
const QUEUES: [&str; 2] = [
    "tokio::runtime::blocking::pool::LockedInner",
    "tokio::runtime::blocking::pool::Shared",
];
/// The state of an executor of async-executor.
const STATE: &str = "async_executor::State";
/// The executor of futures-executor that runs its tasks on one thread.
const POOL: &str = "futures_executor::local_pool::LocalPool";
/// What the executor of the crate blocking has behind its lock.
const BLOCKING: &str = "blocking::Inner";
/// The static variables that are executors of libraries.
const STATICS: [&str; 2] = [
    "smol::spawn::spawn::GLOBAL",
    "async_global_executor::executor::GLOBAL_EXECUTOR",
];
/// The crates with executors whose tasks are listed, beside tokio: a part of the name of the crate's first source file, and types that a
/// program with tasks of the crate has. Their names are rare: the index is asked for a type by the last part of its name, and each type
/// called `State` would be read.
const CRATES: [(&str, &[&str]); 2] = [
    (
        "/async-executor-",
        &[
            "async_executor::Executor",
            "async_executor::static_executors::StaticExecutor",
        ],
    ),
    ("/futures-executor-", &[POOL]),
];

/// The variable, with its module.
pub(super) type Place = (Arc<LoadedModule>, Variable);

/// A list of tasks.
#[derive(Debug, Clone)]
pub(crate) enum List {
    /// tokio's linked list.
    Linked(Value),
    /// Headers of tokio's tasks with blocking functions.
    Blocking(Vec<Value>),
    /// The slab of wakers of an executor of async-executor.
    Slab(Value),
    /// The `FuturesUnordered` of a `LocalPool`.
    Unordered(Value),
    /// A task that a `LocalPool` has taken out of its list.
    Unlinked(Value),
    /// A task of async-task's that a thread runs: the address of its header, and one in the function that runs it.
    Run(u64, u64),
    /// The queue of an executor of the crate blocking.
    Runnables(Value),
    /// The futures that were given to a `LocalPool`, and aren't in its list yet.
    Incoming(Value),
}

impl List {
    /// Where it is.
    pub fn address(&self) -> Option<crate::Address> {
        match self {
            List::Linked(value)
            | List::Slab(value)
            | List::Unordered(value)
            | List::Unlinked(value)
            | List::Runnables(value)
            | List::Incoming(value) => value.contents.address(),
            List::Run(address, _) => Some(crate::Address(*address)),
            List::Blocking(headers) => headers.first()?.contents.address(),
        }
    }
}

/// The executors of a module that are looked for beside tokio's.
#[derive(Debug, Default)]
pub(super) struct Others {
    /// Whether there are any, so that the frames of threads are worth a search.
    pub any: bool,
    /// The static variables of libraries.
    pub statics: Vec<Place>,
}

/// What threads lead to.
#[derive(Debug, Default)]
pub(super) struct Executors {
    /// The lists of tasks.
    pub lists: Vec<List>,
    /// The thread that polls a task, by the task's number.
    pub polled: Vec<(u64, ThreadId)>,
}

/// Whether a module has been built with tokio.
fn has_tokio(module: &LoadedModule) -> bool {
    has_crate(module, "/tokio-")
}

/// Whether a module has been built with a crate. `folder` is the beginning of the folder's name.
fn has_crate(module: &LoadedModule, folder: &str) -> bool {
    let units = module.module.unit_names(Language::Rust);
    units.iter().any(|unit| {
        let unit = unit.to_string_lossy();
        unit.contains(folder) && unit.contains("/src/lib.rs/")
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

/// The executors beside tokio's. Call only where [`contexts`] didn't return `None`.
pub(super) fn others(reader: &Reader<'_>) -> Others {
    let mut others = Others::default();
    for loaded in reader.modules.iter() {
        if loaded.is_distributions() || loaded.is_vdso() {
            continue;
        }
        let is_indexed = loaded.module.index_state() == IndexState::Used;
        let has_type = |type_: &&str| {
            let pattern = NamePattern::new(&format!("::{type_}"));
            !loaded.module.find_types(&pattern).is_empty()
        };
        let has = |(folder, types): &(&str, &[&str])| match is_indexed {
            true => types.iter().any(has_type),
            false => has_crate(loaded, folder),
        };
        if !CRATES.iter().any(has) {
            continue;
        }
        others.any = true;
        for name in STATICS {
            let found = loaded.module.statics_named(name).into_iter();
            let found = found.filter(|variable| !variable.dropped);
            let places = found.map(|variable| (Arc::clone(loaded), variable));
            others.statics.extend(places);
        }
    }
    others
}

/// The lists of tasks that a value owns or refers to.
pub(super) fn lists_in(reader: &Reader<'_>, root: &Value) -> Vec<List> {
    let wanted = |path: &str| [STATE, POOL, BLOCKING].contains(&path) || OWNED.contains(&path);
    let follows = |name: &str| {
        let name = without_owner(name);
        name.starts_with("async_executor::")
            || name.starts_with("tokio::task::local::")
            || name.starts_with("futures_executor::local_pool::")
            || name.starts_with("blocking::")
            || captures::is_future(name)
    };
    let mut lists = Vec::new();
    for found in parts::all(reader, root, &wanted, &follows) {
        let type_ = parts::type_of(reader, &found);
        match type_.as_ref().map_or("", |it| names::path_name(&it.name)) {
            STATE => lists.extend(slab_of(reader, &found)),
            BLOCKING => {
                let is_queue = |path: &str| path == "alloc::collections::vec_deque::VecDeque";
                let queue = reader.field(&found, "queue");
                let queues = queue.map(|queue| parts::all(reader, &queue, &is_queue, &|_| false));
                lists.extend(queues.unwrap_or_default().into_iter().map(List::Runnables));
            }
            POOL => {
                let part = |field: &str| reader.find(&found, field);
                lists.extend(part("pool").map(List::Unordered));
                lists.extend(part("incoming").map(List::Incoming));
            }
            _ => lists.extend(linked_in(reader, &found)),
        }
    }
    lists
}

fn slab_of(reader: &Reader<'_>, state: &Value) -> Option<List> {
    let is_slab = |path: &str| path == "slab::Slab";
    let active = reader.find(state, "active")?;
    let slab = parts::all(reader, &active, &is_slab, &|_| false).pop()?;
    Some(List::Slab(slab))
}

/// The linked lists in one of tokio's collections of tasks.
fn linked_in(reader: &Reader<'_>, owned: &Value) -> impl Iterator<Item = List> {
    let is_list = |path: &str| path == LIST;
    let lists = parts::all(reader, owned, &is_list, &|_| false);
    lists.into_iter().map(List::Linked)
}

/// The name of the type that an `Arc` or `Rc` owns, if this is one of those.
fn without_owner(name: &str) -> &str {
    ["alloc::sync::ArcInner<", "alloc::rc::RcInner<"]
        .iter()
        .find_map(|owner| name.strip_prefix(owner))
        .unwrap_or(name)
}

/// The variable of one thread.
fn value_in(reader: &Reader<'_>, (loaded, variable): &Place, thread_pointer: u64) -> Option<Value> {
    let mut frame = crate::frame::nowhere(loaded);
    frame.registers.set_thread_pointer(Some(thread_pointer));
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
    pub fn of(
        reader: &Reader<'_>,
        contexts: &[Place],
        statics: &[Place],
        threads: &[(ThreadId, u64)],
    ) -> Executors {
        let mut found = Executors::default();
        let mut seen = FxHashSet::default();
        // All threads of a runtime lead to the same handle.
        let mut followed = Followed::default();
        for (thread, pointer) in threads {
            for place in contexts {
                let Some(context) = value_in(reader, place, *pointer) else {
                    continue;
                };
                found.add_polled(reader, &context, *thread);
                found.add_lists(reader, &context, &mut seen, &mut followed);
            }
        }
        for place in statics {
            let executor = value_in(reader, place, 0);
            let lists = executor.map(|executor| lists_in(reader, &executor));
            found.lists.extend(lists.unwrap_or_default());
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
        followed: &mut Followed,
    ) {
        let wanted = |path: &str| OWNED.contains(&path) || QUEUES.contains(&path);
        // From the thread to its runtime: through the handle and what it shares.
        let follows = |name: &str| {
            let name = without_owner(name);
            name.starts_with("tokio::runtime::") || name.starts_with("tokio::task::local::")
        };
        for found in parts::all_beyond(reader, context, &wanted, &follows, followed) {
            if !seen.insert(found.contents.address()) {
                continue;
            }
            match reader.field(&found, "queue") {
                Some(queue) => self.lists.extend(queued_in(reader, &queue)),
                None => self.lists.extend(linked_in(reader, &found)),
            }
        }
    }
}

/// The blocking functions in tokio's queue of them.
fn queued_in(reader: &Reader<'_>, queue: &Value) -> Option<List> {
    let tasks = parts::sequence(reader, queue);
    let headers = { tasks.iter() }.filter_map(|task| {
        let task = reader.field(task, "task")?;
        parts::pointee(reader, &task)
    });
    let headers: Vec<Value> = headers.collect();
    (!headers.is_empty()).then_some(List::Blocking(headers))
}
