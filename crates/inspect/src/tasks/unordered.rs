//! Tasks of a `LocalPool` of the crate futures-executor: futures in a linked list, or among those that the pool is yet to take over.

use super::{TaskState, awaits, parts};
use crate::ThreadId;
use crate::values::{Reader, Value};

/// A task of a pool.
#[derive(Debug, Clone)]
pub(super) struct UnorderedTask {
    /// The address of its node, or of its future's object.
    pub address: u64,
    /// Its node in the list. `None`: the pool hasn't taken it over yet.
    pub node: Option<Value>,
    /// The `LocalFutureObj`, if there is no node.
    pub object: Option<Value>,
}

/// The first node of a list.
pub(super) fn first(reader: &Reader<'_>, list: &Value) -> Option<Value> {
    parts::pointee(reader, &reader.find(list, "head_all")?)
}

impl UnorderedTask {
    /// The next node of the list.
    pub fn next(&self, reader: &Reader<'_>) -> Option<Value> {
        let next = reader.find(self.node.as_ref()?, "next_all")?;
        parts::pointee(reader, &next)
    }

    /// The future, unless it has ended.
    pub fn future(&self, reader: &Reader<'_>) -> Option<Value> {
        let object = match (&self.object, &self.node) {
            (Some(object), _) => object.clone(),
            (None, Some(node)) => reader.field(node, "future")?,
            (None, None) => return None,
        };
        let object = parts::boxed_object(reader, &object)?;
        Some(awaits::wrapped(reader, &object))
    }

    /// What the task does. `runner` is the thread that runs it.
    pub fn state(&self, reader: &Reader<'_>, runner: Option<ThreadId>) -> Option<TaskState> {
        let Some(node) = &self.node else {
            return Some(TaskState::Scheduled);
        };
        if runner.is_some() {
            return Some(TaskState::Running(runner));
        }
        let queued = reader.find_integer(&reader.field(node, "queued")?)?;
        let queued = reader.bytes(&queued.contents, 1).ok()?;
        Some(match queued.first()? {
            0 => TaskState::Waiting,
            _ => TaskState::Scheduled,
        })
    }
}
