//! The memory of a tokio task: its header, its future, and its place in the list of tasks.

use super::TaskState;
use super::parts;
use crate::modules::LoadedModule;
use crate::values::{Contents, Reader, Value, names};
use crate::{Address, ThreadId};
use dapple_symbols::names::NamePattern;
use dapple_symbols::types::TypeId;
use std::sync::Arc;

/// The polling function of a task, which is in its table of functions and has the future's type as its first generic argument.
pub(super) const POLL: &str = "tokio::runtime::task::raw::poll";
/// The type of a task's memory.
const CELL: &str = "tokio::runtime::task::core::Cell";
/// The type of its last part.
const TRAILER: &str = "tokio::runtime::task::core::Trailer";

// The bits of a task's state, which have been the same since tokio 1.0.
const RUNNING: u64 = 1;
const COMPLETE: u64 = 1 << 1;
const NOTIFIED: u64 = 1 << 2;
const CANCELLED: u64 = 1 << 5;

/// What is common to all tasks with one table of functions.
#[derive(Debug)]
pub(super) struct CellKind {
    /// The header of one of them, for its type.
    header: Value,
    /// The future's type, by its name.
    pub future: String,
    /// The module and the type of the whole memory. `None`: the debug information doesn't have it.
    cell: Option<(Arc<LoadedModule>, TypeId)>,
    /// Where the pointer to the next task of the list is, from the task's address on.
    next: Option<u64>,
}

/// A task in memory.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    /// The address of its header, which is at the beginning.
    address: Address,
    pub kind: Arc<CellKind>,
}

impl CellKind {
    /// The kind of a task, by its table of functions. `None`: the table isn't tokio's.
    pub fn of(reader: &Reader<'_>, header: &Value) -> Option<CellKind> {
        let table = table(reader, header)?;
        let poll = parts::pointer_in(reader, &reader.field(&table, "poll")?)?;
        let function = reader.function_name(poll)?;
        if names::path_name(&function) != POLL {
            return None;
        }
        let module = Arc::clone(reader.modules.at(Address(poll))?);
        let place = module.to_file(Address(poll));
        let whole = module.module.entry_name_at(place)?;
        let arguments = whole.get(whole.find('<')?..)?;
        let future = names::first_argument(arguments)?.to_owned();
        let find = |name: &str| {
            let pattern = NamePattern::new(&format!("::{name}"));
            module.module.find_definition(place, &pattern)
        };
        let cell = find(&format!("{CELL}{arguments}"));
        let address = header.contents.address()?;
        let at = |type_id: TypeId, address: Address| {
            let mut value = header.sibling(Some(type_id), Contents::Memory(address));
            value.module = Arc::clone(&module);
            value
        };
        let next_in = |owner: &Value| {
            let next = reader.find(&reader.find(owner, "owned")?, "next")?;
            next.contents.address()?.0.checked_sub(address.0)
        };
        let by_table = || {
            let offset = reader.word(&reader.field(&table, "trailer_offset")?.contents);
            next_in(&at(
                find(TRAILER)?,
                address.offset(offset.ok()?.cast_signed()),
            ))
        };
        let next = cell.and_then(|cell| next_in(&at(cell, address)));
        let next = next.or_else(|| next_in(header)).or_else(by_table);
        Some(CellKind {
            header: header.clone(),
            future,
            cell: cell.map(|cell| (Arc::clone(&module), cell)),
            next,
        })
    }
}

/// A task's table of functions.
fn table(reader: &Reader<'_>, header: &Value) -> Option<Value> {
    parts::pointee(reader, &reader.field(header, "vtable")?)
}

/// The address of a task's table of functions.
pub(super) fn table_address(reader: &Reader<'_>, header: &Value) -> Option<u64> {
    reader.word(&reader.field(header, "vtable")?.contents).ok()
}

impl Cell {
    /// The task with this header. `None`: the header isn't in memory.
    pub fn new(header: &Value, kind: Arc<CellKind>) -> Option<Cell> {
        let address = header.contents.address()?;
        Some(Cell { address, kind })
    }

    pub fn address(&self) -> u64 {
        self.address.0
    }

    /// The header of another task, or of this one, by its address.
    pub fn header_at(&self, address: Address) -> Value {
        let known = &self.kind.header;
        known.sibling(known.type_id, Contents::Memory(address))
    }

    fn header(&self) -> Value {
        self.header_at(self.address)
    }

    /// The address of the next task in the list; 0: this is the last.
    pub fn next(&self, reader: &Reader<'_>) -> Option<u64> {
        let place = self.address().checked_add(self.kind.next?)?;
        reader.memory.read_address(Address(place)).ok()
    }

    /// All of the task's memory.
    fn whole(&self) -> Option<Value> {
        let (module, type_id) = self.kind.cell.as_ref()?;
        let contents = Contents::Memory(self.address);
        let mut whole = self.kind.header.sibling(Some(*type_id), contents);
        whole.module = Arc::clone(module);
        Some(whole)
    }

    /// The executor's number for the task.
    pub fn number(&self, reader: &Reader<'_>) -> Option<u64> {
        let id = match self.whole() {
            Some(whole) => reader.find_integer(&reader.find(&whole, "task_id")?),
            None => None,
        };
        let by_table = || {
            let offset = reader.field(&table(reader, &self.header())?, "id_offset")?;
            let offset = reader.word(&offset.contents).ok()?;
            let place = self.address().checked_add(offset)?;
            reader.memory.read_address(Address(place)).ok()
        };
        match id {
            Some(id) => reader.word(&id.contents).ok(),
            None => by_table(),
        }
    }

    /// The future, unless it has ended.
    pub fn future(&self, reader: &Reader<'_>) -> Option<Value> {
        let stage = reader.find(&self.whole()?, "stage")?;
        let is_stage = |name: &str| name == "tokio::runtime::task::core::Stage";
        let stage = parts::all(reader, &stage, &is_stage, &|_| false).pop()?;
        let type_ = parts::type_of(reader, &stage)?;
        if parts::variant(reader, &stage, &type_) != Some("Running") {
            return None;
        }
        let payload = parts::fields(reader, &stage, &type_).pop()?;
        reader.field(&payload, "__0")
    }

    /// What the task does. `polled` tells the thread that polls it.
    pub fn state(&self, reader: &Reader<'_>, polled: Option<ThreadId>) -> Option<TaskState> {
        let state = reader.find_integer(&reader.field(&self.header(), "state")?)?;
        let state = reader.word(&state.contents).ok()?;
        let has = |bit: u64| state & bit != 0;
        Some(match () {
            () if has(COMPLETE) => TaskState::Finished,
            () if has(RUNNING) => TaskState::Running(polled),
            () if has(CANCELLED) => TaskState::Cancelled,
            () if has(NOTIFIED) => TaskState::Scheduled,
            () => TaskState::Waiting,
        })
    }
}
