//! Walks through the lists of tasks, as far as they are wanted.

use super::cells::{self, Cell, CellKind};
use super::executors::List;
use super::parts;
use super::raw_task::{self, RawKind, RawTask};
use super::task::Task;
use super::threads;
use super::unordered::{self, UnorderedTask};
use crate::Address;
use crate::values::view::{SHORT, Sequence, View};
use crate::values::{Reader, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The most tasks of a process.
const MOST_TASKS: usize = 4_000_000;

/// A walk through lists of tasks.
#[derive(Debug, Default)]
pub(super) struct Walk {
    /// The lists that are to be visited, and how many were.
    lists: Vec<List>,
    visited: usize,
    /// What is left of the present list.
    rest: Rest,
    seen: FxHashSet<u64>,
    seen_lists: FxHashSet<Option<Address>>,
    /// Whether a task was found that isn't understood, so that others may be missing: the name of its executor.
    pub broken: Option<&'static str>,
}

/// What is left of a list.
#[derive(Debug, Default)]
enum Rest {
    #[default]
    Nothing,
    /// The next task of tokio's: its header's type is that of the list's pointer.
    Linked(Value),
    /// Headers.
    Headers(std::vec::IntoIter<Value>),
    /// Entries of a slab, from an index on.
    Slab(Sequence, u64),
    /// The next node.
    Node(Value),
    /// A node that is in no list.
    Unlinked(Value),
    /// A task's header and the function that runs it.
    Run(u64, u64),
    /// Runnables of a queue, from an index on.
    Runnables(Sequence, u64),
    /// Futures of a vector, from an index on.
    Incoming(Sequence, u64),
}

/// The kinds of tasks, by the addresses of their tables of functions.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    tokio: FxHashMap<u64, Option<Arc<CellKind>>>,
    raw: FxHashMap<u64, Option<Arc<RawKind>>>,
}

/// A task of tokio's, by its header.
pub(super) fn cell_of(reader: &Reader<'_>, kinds: &mut Kinds, header: Value) -> Option<Cell> {
    let table = cells::table_address(reader, &header)?;
    let kind = { &mut kinds.tokio }
        .entry(table)
        .or_insert_with(|| CellKind::of(reader, &header).map(Arc::new));
    Cell::new(&header, Arc::clone(kind.as_ref()?))
}

/// A task of async-task, by a waker. `None`: the waker isn't one of its.
fn raw_task_of(reader: &Reader<'_>, kinds: &mut Kinds, waker: &Value) -> Option<RawTask> {
    let (address, table) = raw_task::waker(reader, waker)?;
    let kind = { &mut kinds.raw }
        .entry(table)
        .or_insert_with(|| RawKind::of(reader, waker).map(Arc::new));
    let kind = Arc::clone(kind.as_ref()?);
    let task = RawTask { address, kind };
    task.is_known(reader).then_some(task)
}

impl Walk {
    /// Adds lists, without those that were added before.
    pub fn add(&mut self, lists: Vec<List>) {
        for list in lists {
            if matches!(list, List::Blocking(_) | List::Run(..))
                || self.seen_lists.insert(list.address())
            {
                self.lists.push(list);
            }
        }
    }

    /// Whether there may be more tasks.
    pub fn has_more(&self) -> bool {
        let rest = !matches!(self.rest, Rest::Nothing) || self.visited < self.lists.len();
        rest && self.seen.len() < MOST_TASKS
    }

    /// Whether a task was found.
    pub fn has_seen(&self, address: u64) -> bool {
        self.seen.contains(&address)
    }

    /// The next task.
    pub fn advance(&mut self, reader: &Reader<'_>, kinds: &mut Kinds) -> Option<Task> {
        while self.has_more() {
            let found = match std::mem::take(&mut self.rest) {
                Rest::Nothing => {
                    self.rest = start(reader, self.lists.get(self.visited)?);
                    self.visited += 1;
                    continue;
                }
                Rest::Linked(header) => self.linked(reader, kinds, header),
                Rest::Headers(mut headers) => {
                    let header = headers.next();
                    if header.is_some() {
                        self.rest = Rest::Headers(headers);
                    }
                    header.and_then(|header| self.blocking(reader, kinds, header))
                }
                Rest::Slab(entries, index) => self.slot(reader, kinds, entries, index),
                Rest::Node(node) => {
                    let task = self.node(&node);
                    if let Some(Task::Unordered(task)) = &task {
                        self.rest = task.next(reader).map_or(Rest::Nothing, Rest::Node);
                    }
                    task
                }
                Rest::Run(address, function) => self.run(reader, kinds, address, function),
                Rest::Runnables(queue, index) => self.runnable(reader, kinds, queue, index),
                Rest::Unlinked(node) => self.node(&node),
                Rest::Incoming(futures, index) => self.incoming(futures, index),
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }

    fn linked(&mut self, reader: &Reader<'_>, kinds: &mut Kinds, header: Value) -> Option<Task> {
        if !self.seen.insert(header.contents.address()?.0) {
            return None;
        }
        let Some(cell) = cell_of(reader, kinds, header) else {
            self.broken = Some("tokio");
            return None;
        };
        match cell.next(reader) {
            Some(0) => {}
            Some(next) => {
                self.rest = Rest::Linked(cell.header_at(Address(next)));
            }
            None => self.broken = Some("tokio"),
        }
        Some(Task::Tokio(cell))
    }

    fn blocking(&mut self, reader: &Reader<'_>, kinds: &mut Kinds, header: Value) -> Option<Task> {
        let address = header.contents.address()?.0;
        let cell = cell_of(reader, kinds, header)?;
        let is_wanted = threads::is_blocking_task(&cell.kind.future);
        (is_wanted && self.seen.insert(address)).then_some(Task::Tokio(cell))
    }

    fn slot(
        &mut self,
        reader: &Reader<'_>,
        kinds: &mut Kinds,
        entries: Sequence,
        index: u64,
    ) -> Option<Task> {
        let entry = entries.at(index);
        if index + 1 < entries.length {
            self.rest = Rest::Slab(entries, index + 1);
        }
        let type_ = parts::type_of(reader, &entry)?;
        if parts::variant(reader, &entry, &type_) != Some("Occupied") {
            return None;
        }
        let payload = parts::fields(reader, &entry, &type_).pop()?;
        let waker = reader.field(&payload, "__0")?;
        let Some(task) = raw_task_of(reader, kinds, &waker) else {
            self.broken = Some("async-executor");
            return None;
        };
        let is_new = self.seen.insert(task.address);
        is_new.then_some(Task::Raw(task))
    }

    fn run(
        &mut self,
        reader: &Reader<'_>,
        kinds: &mut Kinds,
        address: u64,
        function: u64,
    ) -> Option<Task> {
        let kind = { &mut kinds.raw }
            .entry(function)
            .or_insert_with(|| RawKind::by_function(reader, function).map(Arc::new));
        let kind = Arc::clone(kind.as_ref()?);
        let task = RawTask { address, kind };
        let is_new = task.is_known(reader) && self.seen.insert(address);
        is_new.then_some(Task::Raw(task))
    }

    fn runnable(
        &mut self,
        reader: &Reader<'_>,
        kinds: &mut Kinds,
        queue: Sequence,
        index: u64,
    ) -> Option<Task> {
        let runnable = queue.at(index);
        if index + 1 < queue.length {
            self.rest = Rest::Runnables(queue, index + 1);
        }
        let address = parts::pointer_in(reader, &runnable)?;
        // The layout of the header is that of any other task. If none is known, no thread runs one of the queue either.
        let kind = kinds.raw.values().flatten().next()?;
        let other = RawTask {
            address,
            kind: Arc::clone(kind),
        };
        let function = other.function_that_runs(reader, address)?;
        self.run(reader, kinds, address, function)
    }

    fn node(&mut self, node: &Value) -> Option<Task> {
        let address = node.contents.address()?.0;
        if !self.seen.insert(address) {
            return None;
        }
        let task = UnorderedTask {
            address,
            node: Some(node.clone()),
            object: None,
        };
        Some(Task::Unordered(Box::new(task)))
    }

    fn incoming(&mut self, futures: Sequence, index: u64) -> Option<Task> {
        let object = futures.at(index);
        if index + 1 < futures.length {
            self.rest = Rest::Incoming(futures, index + 1);
        }
        let address = object.contents.address()?.0;
        let task = UnorderedTask {
            address,
            node: None,
            object: Some(object),
        };
        self.seen
            .insert(address)
            .then_some(Task::Unordered(Box::new(task)))
    }
}

/// The beginning of a list.
fn start(reader: &Reader<'_>, list: &List) -> Rest {
    let elements = |value: &Value| match reader.view(value, SHORT) {
        View::Sequence(sequence) if sequence.length > 0 => Some(sequence),
        _ => None,
    };
    let rest = match list {
        List::Linked(list) => first(reader, list).map(Rest::Linked),
        List::Blocking(headers) => Some(Rest::Headers(headers.clone().into_iter())),
        List::Slab(slab) => { reader.field(slab, "entries") }
            .and_then(|entries| elements(&entries))
            .map(|entries| Rest::Slab(entries, 0)),
        List::Unlinked(node) => Some(Rest::Unlinked(node.clone())),
        List::Run(address, function) => Some(Rest::Run(*address, *function)),
        List::Runnables(queue) => elements(queue).map(|queue| Rest::Runnables(queue, 0)),
        List::Unordered(list) => unordered::first(reader, list).map(Rest::Node),
        List::Incoming(incoming) => {
            let is_vector = |path: &str| path == "alloc::vec::Vec";
            let found = parts::all(reader, incoming, &is_vector, &|_| true).pop();
            found
                .and_then(|vector| elements(&vector))
                .map(|futures| Rest::Incoming(futures, 0))
        }
    };
    rest.unwrap_or_default()
}

/// The first task of a list. `None`: the list is empty.
fn first(reader: &Reader<'_>, list: &Value) -> Option<Value> {
    parts::pointee(reader, &reader.field(list, "head")?)
}
