//! Futures that are dropped before their end: cancelled, as asynchronous Rust calls it.
//!
//! Dropping a future calls the drop glue of its type: `core::ptr::drop_in_place` with the type as generic argument, whose argument is the
//! future's address. The state of the future tells whether it had ended by then. Where the drop glue was inlined, a drop isn't noticed.

use super::awaits::{Node, Search};
use super::stack::{self, Bodies};
use crate::exceptions::TraceFrame;
use crate::frame::{Frame, FrameKind};
use crate::modules::LoadedModule;
use crate::values::rust::captures;
use crate::values::{Contents, Reader, Value, coroutines, names};
use crate::{Address, ThreadId};
use dapple_symbols::FileAddress;
use dapple_symbols::functions::{Language, SourcePosition};
use dapple_symbols::names::NamePattern;
use dapple_symbols::sources;
use dapple_symbols::types::{TypeId, TypeKind};
use std::sync::Arc;
use std::time::Duration;

/// The function of the standard library.
const DROP: &str = "drop_in_place";
/// How the functions begin in which executors run tasks, and drop them.
const EXECUTORS: [&str; 2] = ["tokio::runtime::task::", "async_task::"];
/// The most things that a dropped future is said to wait for.
const MOST_WAITS: usize = 8;

/// The function that drops the futures of one type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DropGlue {
    /// Its entry.
    pub entry: FileAddress,
    /// The type of the futures.
    pub future: TypeId,
}

/// The drop glue of the futures whose code is the user's, in a module.
pub fn drop_glue(loaded: &LoadedModule) -> Vec<DropGlue> {
    let symbols = loaded.module.functions_with(DROP);
    let closures = symbols.into_iter().filter(|symbol| {
        let name = dapple_symbols::module::demangle(&symbol.name);
        // The compiler's symbols have no other name for the state of an asynchronous function.
        name.contains("{closure") && name.trim_end_matches('>').ends_with('}')
    });
    closures
        .filter_map(|symbol| {
            let whole = loaded.module.entry_name_at(symbol.address)?;
            let arguments = whole.strip_prefix(DROP)?;
            let name = names::first_argument(arguments)?;
            let is_future = captures::is_future(name);
            let future = is_future.then(|| future_type(loaded, symbol.address, name))??;
            Some(DropGlue {
                entry: symbol.address,
                future,
            })
        })
        .collect()
}

/// The type of a future with this name, if its code is the user's.
fn future_type(loaded: &LoadedModule, near: FileAddress, name: &str) -> Option<TypeId> {
    let pattern = NamePattern::new(&format!("::{name}"));
    // The unit that drops a future has its type. At the start of a program, there is no index yet to search the others quickly.
    let found = loaded.module.find_types_near(near, &pattern);
    let future = found.into_iter().find(|found| !found.only_declared)?.id;
    let type_ = loaded.module.type_of(future).ok()?;
    let TypeKind::Aggregate(aggregate) = &type_.kind else {
        return None;
    };
    let opening = aggregate
        .variants
        .as_ref()?
        .variants
        .first()?
        .declaration
        .as_ref()?;
    sources::origin(&opening.file).is_none().then_some(future)
}

/// A future that is about to be dropped before its end.
#[derive(Debug, Clone)]
pub struct Dropped {
    /// Its function, as in [`Frame::function`].
    pub function: String,
    /// The innermost `await` in the user's code that it is suspended at. `None`: it hasn't begun.
    pub place: Option<SourcePosition>,
    /// What it waits for.
    pub waits: Vec<String>,
    /// The frames of the futures that it awaits and of its own.
    pub frames: Vec<TraceFrame>,
}

impl Dropped {
    /// The future at the address that was passed to a drop glue. `None`: it has ended, or isn't readable.
    pub fn at(
        reader: &Reader<'_>,
        loaded: &Arc<LoadedModule>,
        glue: DropGlue,
        address: Address,
        now: Option<Duration>,
    ) -> Option<Dropped> {
        let contents = Contents::Memory(address);
        let future = Value::new(
            Arc::clone(loaded),
            Some(glue.future),
            Language::Rust,
            contents,
        );
        let bodies = Bodies::default();
        let nodes = Search::new(reader, &bodies, now).nodes(&future);
        let [Node::Body(body, below)] = nodes.as_slice() else {
            return None;
        };
        let frames = stack::frames(reader, &bodies, ThreadId(0), 0, &nodes);
        let own = frames.iter().rev().find(|frame| frame.function.is_some());
        let is_users = |at: &SourcePosition| sources::origin(&at.file).is_none();
        let mut waits = Vec::new();
        Node::waits(below, &mut waits);
        waits.truncate(MOST_WAITS);
        Some(Dropped {
            function: own
                .and_then(|frame| frame.function.clone())
                .unwrap_or_else(|| body.function.clone()),
            place: Node::innermost(&nodes, &is_users),
            waits: { waits }
                .into_iter()
                .map(|wait| wait.wait.text.clone())
                .collect(),
            frames: { frames.iter() }
                .filter(|frame| !matches!(frame.kind, FrameKind::Label))
                .map(TraceFrame::of)
                .collect(),
        })
    }

    /// Sentences about it. `function`: how its function is called there. `is_task`: it is a task's.
    pub fn description(&self, function: &str, is_task: bool) -> String {
        let what = if is_task { "the task " } else { "" };
        let end = if is_task { "cancelled" } else { "dropped" };
        match &self.place {
            None => format!("{what}`{function}` is {end} before it has begun"),
            Some(at) => {
                let waits = match self.waits.is_empty() {
                    true => String::new(),
                    false => format!(", waiting for {}", self.waits.join(" and ")),
                };
                let file = at.file.display();
                format!(
                    "{what}`{function}` is {end}\nsuspended at {file}:{}{waits}",
                    at.line
                )
            }
        }
    }
}

/// What drops a future.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Around {
    /// An executor, or other code that isn't a future's: the future is a task, or was driven by a thread itself.
    Executor,
    /// The code of another future: this one has lost in a `select!`, or its time was up.
    Future,
    /// A future of the user's, of which it is a part, is dropped.
    Part,
}

impl Around {
    /// Judges by the frames around, innermost first, without the drop glue's own. `is_glue` tells whether a function's entry in a module is
    /// that of a drop glue of the user's futures.
    pub fn judge(
        around: impl Iterator<Item = Frame>,
        is_glue: impl Fn(&LoadedModule, FileAddress) -> bool,
    ) -> Around {
        for frame in around {
            let (Some(function), Some(loaded)) = (&frame.function, &frame.physical.module) else {
                continue;
            };
            let lookup = loaded.to_file(frame.physical.lookup);
            if frame.inline_depth == 0
                && let Some(found) = loaded.module.function_at(lookup)
                && is_glue(loaded, found.entry)
            {
                return Around::Part;
            }
            if EXECUTORS.iter().any(|start| function.starts_with(start)) {
                return Around::Executor;
            }
            let is_body = || {
                loaded
                    .module
                    .coroutine_argument_at(lookup, frame.inline_depth)
                    .is_some()
            };
            if coroutines::may_be_body(function) && is_body() {
                return Around::Future;
            }
        }
        Around::Executor
    }
}
