//! Futures that a thread drives itself, with a function called `block_on`, such as that of an `async fn main`. They are in no executor's list:
//! the variables of that function lead to them.

use super::parts;
use crate::ThreadId;
use crate::frame::Frame;
use crate::values::coroutines::{Activation, may_be_body};
use crate::values::rust::captures;
use crate::values::{Reader, Value, names};

/// A future that a thread drives.
#[derive(Debug, Clone)]
pub(crate) struct Blocking {
    pub thread: ThreadId,
    /// Its state.
    pub future: Value,
    /// Whether the thread polls it at present.
    pub is_polled: bool,
}

/// The name of functions that drive a future.
const BLOCK_ON: &str = "block_on";
/// One with another name.
const RUN_UNTIL: &str = "futures_executor::local_pool::LocalPool::run_until";

/// Whether a function may drive a future: it is called `block_on`, or is a closure in such a function, which the future was moved to.
pub(super) fn drives(function: &str) -> bool {
    let path = names::path_name(function);
    let outer = path
        .split_once("::{closure")
        .map_or(path, |(outer, _)| outer);
    names::base_name(outer) == BLOCK_ON || outer == RUN_UNTIL
}

/// The future that the thread with these frames, innermost first, drives.
pub(crate) fn find(reader: &Reader<'_>, frames: &[Frame]) -> Option<Blocking> {
    for (index, frame) in frames.iter().enumerate() {
        if !frame.function.as_deref().is_some_and(drives) {
            continue;
        }
        // The one that is pinned last: the function's argument was moved to where it is pinned.
        let variables = reader.variables(frame).into_iter().rev();
        let values: Vec<Value> = variables.map(|variable| variable.value).collect();
        let pinned = values.iter().find_map(|value| pinned(reader, value));
        let Some(future) = pinned.or_else(|| values.iter().find_map(|value| state(reader, value)))
        else {
            continue;
        };
        let state = future.contents.address()?;
        let runs_it = |inner: &Frame| {
            inner.function.as_deref().is_some_and(may_be_body)
                && Activation::of_frame(reader, inner).is_some_and(|it| it.state == state)
        };
        return Some(Blocking {
            thread: frame.id.thread,
            is_polled: frames.get(..index)?.iter().any(runs_it),
            future,
        });
    }
    None
}

/// The value, if it is a future's state in memory.
fn state(reader: &Reader<'_>, value: &Value) -> Option<Value> {
    let type_ = parts::type_of(reader, value)?;
    let is_state = captures::is_future(&type_.name) && value.contents.address().is_some();
    is_state.then(|| value.clone())
}

/// The state that a pinned reference points to.
fn pinned(reader: &Reader<'_>, value: &Value) -> Option<Value> {
    let type_ = parts::type_of(reader, value)?;
    if names::path_name(&type_.name) != "core::pin::Pin" {
        return None;
    }
    state(reader, &parts::pointee(reader, value)?)
}
