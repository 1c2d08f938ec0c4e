//! What the frames of threads tell of executors: the futures that threads drive themselves, executors that no static variable leads to, and
//! the task that a thread runs.

use super::awaits::function_of;
use super::blocking::{self, Blocking};
use super::executors::{List, lists_in};
use super::raw_task::RAW_TASK;
use super::{cells, parts};
use crate::ThreadId;
use crate::frame::Frame;
use crate::values::{Reader, Value, names};
use dapple_symbols::sources;

/// The most frames of a thread that are searched.
pub(crate) const MOST_FRAMES: usize = 100;
/// The most threads that are searched.
pub(crate) const MOST_THREADS: usize = 64;

/// How the functions begin whose variables may lead to an executor.
const EXECUTORS: [&str; 4] = [
    "blocking::",
    "async_executor::",
    "tokio::task::local::",
    "futures_executor::local_pool::",
];
/// The types of variables of the user's functions that lead to an executor.
const TYPES: [&str; 5] = [
    "async_executor::Executor",
    "async_executor::LocalExecutor",
    "async_executor::static_executors::StaticExecutor",
    "tokio::task::local::LocalSet",
    "futures_executor::local_pool::LocalPool",
];
/// Functions of a pool of threads that a thread runs in. They are no tasks of the user's.
const WORKERS: &str = "tokio::runtime::scheduler::multi_thread";

/// What the threads' frames tell.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub blocking: Vec<Blocking>,
    /// Lists of tasks.
    pub lists: Vec<List>,
    /// The thread that runs a task, by the address of the task's header.
    pub running: Vec<(u64, ThreadId)>,
}

impl Seen {
    /// Adds what the frames of one thread tell, innermost first.
    pub fn add(&mut self, reader: &Reader<'_>, frames: &[Frame]) {
        let driven = blocking::find(reader, frames);
        if let Some(found) = driven.filter(|found| !is_worker(reader, found)) {
            self.blocking.push(found);
        }
        for frame in frames {
            let Some(function) = frame.function.as_deref() else {
                continue;
            };
            let path = names::path_name(function);
            if path == RAW_TASK && is_method(function, "run") {
                let pointer = variable(reader, frame, "ptr");
                let header = pointer.and_then(|pointer| parts::pointer_in(reader, &pointer));
                if let Some(header) = header {
                    self.running.push((header, frame.id.thread));
                    let function = frame.physical.lookup;
                    self.lists.push(List::Run(header, function.0));
                }
            } else if path == cells::POLL {
                self.add_blocking_task(reader, frame);
            } else if function.starts_with(UNORDERED) {
                self.add_unlinked(reader, frame);
            } else if blocking::drives(function)
                || EXECUTORS.iter().any(|start| function.starts_with(start))
            {
                self.add_variables(reader, frame, &|_| true);
            } else if is_users(frame) {
                self.add_variables(reader, frame, &|name| {
                    let target = name.trim_start_matches("&mut ").trim_start_matches('&');
                    TYPES.contains(&names::path_name(target))
                });
            }
        }
    }

    fn add_variables(&mut self, reader: &Reader<'_>, frame: &Frame, wanted: &dyn Fn(&str) -> bool) {
        for variable in reader.variables(frame) {
            let type_ = parts::type_of(reader, &variable.value);
            if type_.is_some_and(|type_| wanted(&type_.name)) {
                self.lists.extend(lists_in(reader, &variable.value));
            }
        }
    }

    /// Adds the task that a `LocalPool` has taken out of its list while it runs it.
    fn add_unlinked(&mut self, reader: &Reader<'_>, frame: &Frame) {
        let node = || {
            let bomb = variable(reader, frame, "bomb")?;
            let owned = parts::pointee(reader, &reader.field(&bomb, "task")?)?;
            let node = reader.field(&owned, "data")?;
            let type_ = parts::type_of(reader, &node)?;
            type_.name.contains(LOCAL_FUTURE).then_some(node)
        };
        if let Some(node) = node()
            && let Some(address) = node.contents.address()
        {
            self.running.push((address.0, frame.id.thread));
            self.lists.push(List::Unlinked(node));
        }
    }

    /// Adds the function that a thread of tokio's pool for blocking functions runs.
    fn add_blocking_task(&mut self, reader: &Reader<'_>, frame: &Frame) {
        let header = || parts::pointee(reader, &variable(reader, frame, "ptr")?);
        if let Some(header) = header()
            && let Some(address) = header.contents.address()
        {
            self.running.push((address.0, frame.id.thread));
            self.lists.push(List::Blocking(vec![header]));
        }
    }
}

/// How the functions of collections begin that a `LocalPool` has its tasks in.
const UNORDERED: &str = "<futures_util::stream::futures_unordered::FuturesUnordered<";
/// The type of the tasks' futures there.
const LOCAL_FUTURE: &str = "futures_task::future_obj::LocalFutureObj";

/// Whether a thread drives nothing but an executor: what it runs tasks beside is no asynchronous function or block.
fn is_worker(reader: &Reader<'_>, blocking: &Blocking) -> bool {
    let type_ = parts::type_of(reader, &blocking.future);
    type_.is_some_and(|type_| !names::path_name(&function_of(&type_.name)).contains("{async_"))
}

/// Whether a type is that of a task of tokio's that runs a blocking function, and the function isn't a worker of the runtime itself.
pub(super) fn is_blocking_task(future: &str) -> bool {
    names::path_name(future) == "tokio::runtime::blocking::task::BlockingTask"
        && !names::first_argument(future).is_some_and(|function| function.starts_with(WORKERS))
}

fn is_method(function: &str, method: &str) -> bool {
    let behind = function.rsplit_once(">::").map_or("", |(_, behind)| behind);
    names::path_name(behind) == method
}

fn is_users(frame: &Frame) -> bool {
    let position = frame.position.as_ref();
    position.is_some_and(|at| sources::origin(&at.file).is_none())
}

fn variable(reader: &Reader<'_>, frame: &Frame, name: &str) -> Option<Value> {
    let variables = reader.variables(frame);
    let found = { variables }
        .into_iter()
        .find(|variable| variable.name == name)?;
    Some(found.value)
}
