//! A task of any executor: where it is in memory, what it does, and its future.

use super::blocking::Blocking;
use super::cells::Cell;
use super::raw_task::RawTask;
use super::unordered::UnorderedTask;
use super::{TaskState, parts, threads};
use crate::ThreadId;
use crate::values::{Reader, Value, names};

/// Where a task was found. There may be hundreds of thousands of the first two kinds.
#[derive(Debug, Clone)]
pub(super) enum Task {
    /// In a list of tokio's.
    Tokio(Cell),
    /// In the slab of wakers of an executor of async-executor.
    Raw(RawTask),
    /// In a `LocalPool` of futures-executor.
    Unordered(Box<UnorderedTask>),
    /// On a thread that drives it itself.
    Driven(Box<Blocking>),
}

impl Task {
    /// The address of its header.
    pub fn address(&self) -> u64 {
        match self {
            Task::Tokio(cell) => cell.address(),
            Task::Raw(task) => task.address,
            Task::Unordered(task) => task.address,
            Task::Driven(blocking) => {
                let address = blocking.future.contents.address();
                address.map_or(0, |address| address.0)
            }
        }
    }

    /// The executor's own number for it. `None`: the executor has none, or it can't be read.
    pub fn own_number(&self, reader: &Reader<'_>) -> Option<u64> {
        match self {
            Task::Tokio(cell) => cell.number(reader),
            Task::Raw(_) | Task::Unordered(_) => None,
            Task::Driven(blocking) => Some(u64::from(blocking.thread.0.unsigned_abs())),
        }
    }

    /// What it does. `runner`: the thread that runs it, where that is known.
    pub fn state(&self, reader: &Reader<'_>, runner: Option<ThreadId>) -> Option<TaskState> {
        match self {
            Task::Tokio(cell) => cell.state(reader, runner),
            Task::Raw(task) => task.state(reader, runner),
            Task::Unordered(task) => task.state(reader, runner),
            Task::Driven(blocking) => Some(match blocking.is_polled {
                true => TaskState::Running(Some(blocking.thread)),
                false => TaskState::Waiting,
            }),
        }
    }

    pub fn future(&self, reader: &Reader<'_>) -> Option<Value> {
        match self {
            Task::Tokio(cell) => cell.future(reader),
            Task::Raw(task) => task.future(reader),
            Task::Unordered(task) => task.future(reader),
            Task::Driven(blocking) => Some(blocking.future.clone()),
        }
    }

    /// The name of the future's type.
    pub fn future_type(&self, reader: &Reader<'_>) -> String {
        let of = |future: &Value| {
            let type_ = parts::type_of(reader, future);
            type_.map_or_else(String::new, |it| it.name.to_string())
        };
        match self {
            Task::Tokio(cell) if threads::is_blocking_task(&cell.kind.future) => {
                let function = names::first_argument(&cell.kind.future);
                function.unwrap_or_default().to_owned()
            }
            Task::Tokio(cell) => cell.kind.future.clone(),
            Task::Raw(task) => task.kind.future.clone(),
            Task::Unordered(task) => {
                let future = task.future(reader);
                future.as_ref().map_or_else(String::new, of)
            }
            Task::Driven(blocking) => of(&blocking.future),
        }
    }
}
