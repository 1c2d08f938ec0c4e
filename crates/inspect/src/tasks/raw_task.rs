//! The memory of a task of the crate async-task, which async-executor, and so smol and async-std, make their tasks with: a header, the scheduling
//! function and the future. A waker of the task leads to it.

use super::TaskState;
use super::parts;
use crate::modules::LoadedModule;
use crate::values::{Contents, Reader, Value, names};
use crate::{Address, ThreadId};
use dapple_symbols::functions::Language;
use dapple_symbols::names::NamePattern;
use dapple_symbols::types::{TypeId, TypeKind};
use std::sync::Arc;

/// The type with the functions of a task. Its first generic argument is the future's type.
pub(super) const RAW_TASK: &str = "async_task::raw::RawTask";

// The bits of a task's state, which have been the same since async-task 4.0.
const SCHEDULED: u64 = 1;
const RUNNING: u64 = 1 << 1;
const COMPLETED: u64 = 1 << 2;
const CLOSED: u64 = 1 << 3;

/// What is common to all tasks with one type of future.
#[derive(Debug)]
pub(super) struct RawKind {
    /// The future's type, by its name.
    pub future: String,
    module: Arc<LoadedModule>,
    future_type: TypeId,
    header_type: TypeId,
}

/// A task in memory.
#[derive(Debug, Clone)]
pub(super) struct RawTask {
    /// The address of its header.
    pub address: u64,
    pub kind: Arc<RawKind>,
}

/// The addresses of a waker's data and of its table of functions.
pub(super) fn waker(reader: &Reader<'_>, waker: &Value) -> Option<(u64, u64)> {
    let raw = reader.field(waker, "waker")?;
    let data = parts::pointer_in(reader, &reader.field(&raw, "data")?)?;
    let table = parts::pointer_in(reader, &reader.field(&raw, "vtable")?)?;
    Some((data, table))
}

impl RawKind {
    /// The kind of the task that a waker wakes. `None`: it wakes none of this crate.
    pub fn of(reader: &Reader<'_>, waker: &Value) -> Option<RawKind> {
        let raw = reader.field(waker, "waker")?;
        let table = parts::pointee(reader, &reader.field(&raw, "vtable")?)?;
        let clone = parts::pointer_in(reader, &reader.field(&table, "clone")?)?;
        RawKind::by_function(reader, clone)
    }

    /// The kind of the tasks that a function of the crate is made for, by an address in the function: all have the same generic arguments.
    pub fn by_function(reader: &Reader<'_>, address: u64) -> Option<RawKind> {
        if names::path_name(&reader.function_name(address)?) != RAW_TASK {
            return None;
        }
        let module = Arc::clone(reader.modules.at(Address(address))?);
        let place = module.to_file(Address(address));
        let whole = module.module.entry_name_at(place)?;
        let arguments = whole.get(whole.find('<')?..)?;
        let future = names::first_argument(arguments)?.to_owned();
        let pattern = NamePattern::new(&format!("::{RAW_TASK}{arguments}"));
        let type_id = module.module.find_definition(place, &pattern)?;
        let contents = Contents::Memory(Address(0));
        let raw = Value::new(Arc::clone(&module), Some(type_id), Language::Rust, contents);
        let target = |field: &str| {
            let pointer = parts::type_of(reader, &reader.field(&raw, field)?)?;
            match pointer.kind {
                TypeKind::Pointer(_, target) => target,
                _ => None,
            }
        };
        Some(RawKind {
            future,
            future_type: target("future")?,
            header_type: target("header")?,
            module,
        })
    }

    fn value(&self, type_id: TypeId, address: u64) -> Value {
        Value::new(
            Arc::clone(&self.module),
            Some(type_id),
            Language::Rust,
            Contents::Memory(Address(address)),
        )
    }
}

impl RawTask {
    /// The address of the function that runs the task at an address, which may be of another kind.
    pub fn function_that_runs(&self, reader: &Reader<'_>, address: u64) -> Option<u64> {
        let header = self.kind.value(self.kind.header_type, address);
        let table = parts::pointee(reader, &reader.field(&header, "vtable")?)?;
        parts::pointer_in(reader, &reader.field(&table, "run")?)
    }

    fn header(&self) -> Value {
        self.kind.value(self.kind.header_type, self.address)
    }

    fn bits(&self, reader: &Reader<'_>) -> Option<u64> {
        let state = reader.find_integer(&reader.field(&self.header(), "state")?)?;
        reader.word(&state.contents).ok()
    }

    /// Whether the memory is that of a task that is understood.
    pub fn is_known(&self, reader: &Reader<'_>) -> bool {
        self.bits(reader).is_some() && self.future_offset(reader).is_some()
    }

    fn future_offset(&self, reader: &Reader<'_>) -> Option<u64> {
        let table = parts::pointee(reader, &reader.field(&self.header(), "vtable")?)?;
        let layout = parts::pointee(reader, &reader.field(&table, "layout_info")?)?;
        // Up to async-task 4.4, it is in an `Option`.
        let is_layout = |path: &str| path == "async_task::raw::TaskLayout";
        let layout = parts::all(reader, &layout, &is_layout, &|_| false).pop()?;
        let offset = reader.word(&reader.field(&layout, "offset_f")?.contents);
        offset.ok()
    }

    /// The future, unless it has ended.
    pub fn future(&self, reader: &Reader<'_>) -> Option<Value> {
        if self.bits(reader)? & COMPLETED != 0 {
            return None;
        }
        let address = self.address.checked_add(self.future_offset(reader)?)?;
        Some(self.kind.value(self.kind.future_type, address))
    }

    /// What the task does. `runner` is the thread that runs it.
    pub fn state(&self, reader: &Reader<'_>, runner: Option<ThreadId>) -> Option<TaskState> {
        let bits = self.bits(reader)?;
        let has = |bit: u64| bits & bit != 0;
        Some(match () {
            () if has(COMPLETED) => TaskState::Finished,
            () if has(RUNNING) => TaskState::Running(runner),
            () if has(CLOSED) => TaskState::Cancelled,
            () if has(SCHEDULED) => TaskState::Scheduled,
            () => TaskState::Waiting,
        })
    }
}
