//! Follows a suspended future down to what it waits for. The compiler's state of an `async fn` or block has the awaited future in the field
//! `__awaitee`. Futures that are structs, such as those of `select!` and `join!`, are searched for the futures that they own.

use super::stack::Bodies;
use super::waits::{self, Waited};
use super::{Wait, parts};
use crate::Address;
use crate::values::rust::active_variant;
use crate::values::rust::captures;
use crate::values::{Reader, Value, names};
use dapple_symbols::functions::SourcePosition;
use dapple_symbols::types::{Type, TypeId, TypeKind, Variant};
use rustc_hash::FxHashSet;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::Duration;

/// The deepest nesting of futures.
const MOST_DEPTH: usize = 400;
/// The deepest nesting of fields and pointers between two futures.
const MOST_FIELDS: usize = 24;
/// The most values that are visited for one future.
const MOST_VISITS: usize = 20_000;
/// The most futures of a collection of futures.
const MOST_IN_COLLECTION: usize = 1000;

/// The path of collections that poll only the futures that were woken.
const UNORDERED: &str = "futures_util::stream::futures_unordered::FuturesUnordered";

/// A future, or what one waits for.
#[derive(Debug)]
pub(super) enum Node {
    /// A suspended or unstarted activation of an `async fn`, block or closure, and what it waits for: several nodes if it waits for several
    /// things at once.
    Body(Body, Vec<Node>),
    /// What a future waits for that is no activation.
    Wait(Waited),
}

/// An activation.
#[derive(Debug)]
pub(super) struct Body {
    /// Its state.
    pub state: Value,
    /// The name of its function, as in [`crate::frame::Frame::function`].
    pub function: String,
    /// The `await` that it is suspended at. `None`: it hasn't begun, or the debug information doesn't tell.
    pub position: Option<SourcePosition>,
}

/// An activation whose awaited future is being searched.
pub(super) struct Around {
    /// The name of its function.
    pub function: String,
    /// Its variables at the `await`.
    pub variables: Value,
}

/// A future that a search has come to.
enum Found {
    /// The state of an activation, with its type.
    State(Value, Arc<Type>),
    Wait(Waited),
}

/// A suspended activation whose awaited futures are being visited.
struct Open {
    body: Body,
    /// What is left to be visited beside it.
    rest: std::vec::IntoIter<Found>,
    /// What was found beside it.
    nodes: Vec<Node>,
}

/// A search from one future.
pub(super) struct Search<'a> {
    reader: &'a Reader<'a>,
    bodies: &'a Bodies,
    /// The present time of the clock of timers.
    now: Option<Duration>,
    visits: Cell<usize>,
    /// What was visited: each object belongs to one future.
    seen: RefCell<FxHashSet<(Option<Address>, Option<TypeId>)>>,
    /// The activations around the current value, outermost first.
    around: RefCell<Vec<Around>>,
}

/// Futures that only pass on what another one does, which is their first generic argument.
const WRAPPERS: [&str; 7] = [
    "tokio::runtime::task::trace::Root",
    "tracing::instrument::Instrumented",
    "tracing_futures::Instrumented",
    "async_executor::AsyncCallOnDrop",
    "async_std::task::builder::SupportTaskLocals",
    "futures_util::future::future::remote_handle::Remote",
    "alloc::boxed::Box",
];
/// How asynchronous functions begin that run an executor until another future has ended, or (in old versions) a task, or a function. That is
/// their last generic argument.
const RUNNERS: [&str; 3] = ["async_executor::", "tokio::task::local::", "blocking::"];

/// The future that a future only passes on.
fn passed_on(state_type: &str) -> Option<String> {
    let path = names::path_name(state_type);
    let inner = match path {
        "core::pin::Pin" => names::first_argument(state_type)
            .filter(|pointer| pointer.starts_with("alloc::boxed::Box<"))?
            .to_owned(),
        _ if WRAPPERS.contains(&path) => names::first_argument(state_type)?.to_owned(),
        _ if RUNNERS.iter().any(|start| path.starts_with(start)) => {
            let (function, _) = path.rsplit_once("::{async_")?;
            let runs = matches!(
                names::base_name(function),
                "run" | "run_until" | "spawn" | "unblock"
            );
            runs.then(|| names::arguments(state_type).pop())??
        }
        _ => return None,
    };
    (!inner.starts_with("dyn ") && !inner.starts_with("(dyn ")).then_some(inner)
}

/// The function of a future's type: `one::leaf::{async_fn_env#0}<T>` → `one::leaf::{async_fn#0}<T>`.
pub(super) fn function_of(state_type: &str) -> String {
    let mut state_type = state_type.to_owned();
    for _ in 0..MOST_FIELDS {
        let Some(inner) = passed_on(&state_type) else {
            break;
        };
        state_type = inner;
    }
    let Some(at) = state_type.rfind("_env#") else {
        return state_type;
    };
    let (start, end) = state_type.split_at(at);
    format!("{start}{}", end.trim_start_matches("_env"))
}

/// The future that is meant: the one in a box, or in a future that only passes on what another one does.
pub(super) fn wrapped(reader: &Reader<'_>, future: &Value) -> Value {
    let mut value = future.clone();
    for _ in 0..MOST_FIELDS {
        let Some(type_) = parts::type_of(reader, &value) else {
            break;
        };
        let path = names::path_name(&type_.name);
        let inner = match path {
            "core::pin::Pin" | "alloc::boxed::Box" => {
                parts::boxed_object(reader, &value).or_else(|| parts::pointee(reader, &value))
            }
            _ if WRAPPERS.contains(&path) => {
                let found = parts::all(reader, &value, &captures::is_future, &|_| false);
                found.into_iter().next()
            }
            _ => None,
        };
        match inner {
            Some(inner) => value = inner,
            None => break,
        }
    }
    value
}

impl<'a> Search<'a> {
    pub fn new(reader: &'a Reader<'a>, bodies: &'a Bodies, now: Option<Duration>) -> Search<'a> {
        Search {
            reader,
            bodies,
            now,
            visits: Cell::new(0),
            seen: RefCell::default(),
            around: RefCell::default(),
        }
    }

    /// The futures in a value, and what they wait for. Futures that await each other may be nested deeply, so this is no recursion.
    pub fn nodes(&self, value: &Value) -> Vec<Node> {
        let mut found = Vec::new();
        self.collect(value, MOST_FIELDS, &mut found);
        let mut next = found.into_iter();
        let mut nodes = Vec::new();
        let mut open: Vec<Open> = Vec::new();
        loop {
            match next.next() {
                Some(Found::Wait(wait)) => nodes.push(Node::Wait(wait)),
                Some(Found::State(state, type_)) => match self.body(&state, &type_) {
                    None => {}
                    Some((body, None)) => nodes.push(Node::Body(body, Vec::new())),
                    Some((body, Some(variables))) => {
                        let below = self.awaited(&body, variables);
                        open.push(Open {
                            body,
                            rest: std::mem::replace(&mut next, below.into_iter()),
                            nodes: std::mem::take(&mut nodes),
                        });
                    }
                },
                None => {
                    let Some(outer) = open.pop() else {
                        return nodes;
                    };
                    self.around.borrow_mut().pop();
                    let below = std::mem::replace(&mut nodes, outer.nodes);
                    nodes.push(Node::Body(outer.body, below));
                    next = outer.rest;
                }
            }
        }
    }

    /// What a suspended activation awaits; adds the activation to those around. `variables` are in its state.
    fn awaited(&self, body: &Body, variables: Value) -> Vec<Found> {
        let awaited = self.reader.field(&variables, "__awaitee");
        let depth = {
            let mut around = self.around.borrow_mut();
            around.push(Around {
                function: body.function.clone(),
                variables,
            });
            around.len()
        };
        let mut found = Vec::new();
        let Some(awaited) = awaited else {
            return found;
        };
        if depth > MOST_DEPTH {
            let wait = Wait::text("futures that are nested too deeply to be followed".into());
            return vec![Found::Wait(wait.into())];
        }
        self.collect(&awaited, MOST_FIELDS, &mut found);
        if found.is_empty()
            && let Some(type_) = parts::type_of(self.reader, &awaited)
        {
            let wait = waits::unknown(&type_.name, &body.function);
            found.push(Found::Wait(wait));
        }
        found
    }

    fn collect(&self, value: &Value, depth: usize, found: &mut Vec<Found>) {
        let Some(type_) = parts::type_of(self.reader, value) else {
            return;
        };
        self.visits.set(self.visits.get() + 1);
        let place = (value.contents.address(), value.type_id);
        if depth == 0 || self.visits.get() > MOST_VISITS {
            return;
        }
        if captures::is_future(&type_.name) {
            if self.seen.borrow_mut().insert(place) {
                found.push(Found::State(value.clone(), type_));
            }
            return;
        }
        let path = names::path_name(&type_.name);
        if let Some(wait) = waits::known(self.reader, path, value, &self.around.borrow(), self.now)
        {
            found.extend(wait.map(Found::Wait));
            return;
        }
        if type_.size == Some(0) {
            return;
        }
        match path {
            UNORDERED => return self.unordered(value, depth, found),
            "alloc::vec::Vec" | "alloc::collections::vec_deque::VecDeque" => {
                let elements = parts::sequence(self.reader, value);
                return self.each(elements, depth, found);
            }
            _ => {}
        }
        // What a closure captures by reference is a pointer without a name of its own.
        let owns = type_.name.starts_with("&mut ")
            || path == "alloc::boxed::Box"
            || type_.name.ends_with(" *");
        match &type_.kind {
            TypeKind::Pointer(..) if owns => {
                let target = parts::target(self.reader, value, &type_);
                self.each(target, depth, found);
            }
            TypeKind::Aggregate(aggregate) => {
                let has = |name: &str| {
                    aggregate
                        .members
                        .iter()
                        .any(|m| m.name.as_deref() == Some(name))
                };
                match () {
                    () if has("vtable") && has("pointer") => {
                        let object = owns.then(|| parts::object(self.reader, value)).flatten();
                        self.each(object, depth, found);
                    }
                    () if has("data_ptr") && has("length") => {
                        let elements = owns.then(|| parts::elements(self.reader, value));
                        self.each(elements.unwrap_or_default(), depth, found);
                    }
                    () => self.each(parts::fields(self.reader, value, &type_), depth, found),
                }
            }
            _ => {}
        }
    }

    fn each(&self, values: impl IntoIterator<Item = Value>, depth: usize, found: &mut Vec<Found>) {
        for value in values {
            self.collect(&value, depth - 1, found);
        }
    }

    /// The futures of a `FuturesUnordered`, which are in a linked list.
    fn unordered(&self, value: &Value, depth: usize, found: &mut Vec<Found>) {
        let target_of = |value: &Value, field: &str| {
            parts::pointee(self.reader, &self.reader.find(value, field)?)
        };
        let first = target_of(value, "head_all");
        let tasks = std::iter::successors(first, |task| target_of(task, "next_all"));
        for task in tasks.take(MOST_IN_COLLECTION) {
            if !self
                .seen
                .borrow_mut()
                .insert((task.contents.address(), task.type_id))
            {
                break;
            }
            let future = self.reader.field(&task, "future");
            self.each(future, depth, found);
        }
    }

    /// For an `await` in a macro of another file, such as `select!`: the line where the macro is used.
    fn line_of_macro(
        &self,
        body: &Body,
        variant: &Variant,
        opening: Option<&SourcePosition>,
    ) -> Option<SourcePosition> {
        let file = &opening?.file;
        if variant
            .declaration
            .as_ref()
            .is_some_and(|at| at.file == *file)
        {
            return None;
        }
        let loaded = &body.state.module;
        let entry = self.bodies.entry(loaded, body.state.type_id?)?;
        let number = usize::try_from(variant.discriminants.first()?.0).ok()?;
        let row = loaded.module.suspension_row(entry, number)?;
        (row.file == *file).then_some(SourcePosition {
            file: row.file,
            line: row.line,
            column: row.column,
        })
    }

    /// An activation, and its variables if it is suspended. `None`: it has ended.
    fn body(&self, state: &Value, type_: &Type) -> Option<(Body, Option<Value>)> {
        let TypeKind::Aggregate(aggregate) = &type_.kind else {
            return None;
        };
        let variant = active_variant(self.reader, state, aggregate).ok()?;
        let payload = self.reader.member(state, &variant.member);
        let payload_type = parts::type_of(self.reader, &payload);
        let mut body = Body {
            state: state.clone(),
            function: function_of(&type_.name),
            position: None,
        };
        match captures::state_name(payload_type.as_deref()) {
            "Returned" | "Panicked" => return None,
            "Unresumed" => return Some((body, None)),
            _ => {}
        }
        let variants = aggregate.variants.as_ref();
        let opening = variants.and_then(|part| part.variants.first()?.declaration.as_ref());
        let used = self.line_of_macro(&body, variant, opening);
        body.position = used.or(variant.declaration.clone());
        Some((body, Some(payload)))
    }
}

impl Node {
    /// Visits all that is waited for.
    pub fn waits<'a>(nodes: &'a [Node], found: &mut Vec<&'a Waited>) {
        for node in nodes {
            match node {
                Node::Body(_, below) => Node::waits(below, found),
                Node::Wait(wait) => found.push(wait),
            }
        }
    }

    /// The innermost position for which `wanted` is true, of the first branch that has one.
    pub fn innermost(
        nodes: &[Node],
        wanted: &dyn Fn(&SourcePosition) -> bool,
    ) -> Option<SourcePosition> {
        nodes.iter().find_map(|node| match node {
            Node::Body(body, below) => Node::innermost(below, wanted)
                .or_else(|| body.position.clone().filter(|position| wanted(position))),
            Node::Wait(_) => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::function_of;

    #[test]
    fn a_state_has_the_name_of_its_function() {
        let names = [
            ("one::leaf::{async_fn_env#0}", "one::leaf::{async_fn#0}"),
            (
                "one::leaf::{async_fn_env#0}<u8>",
                "one::leaf::{async_fn#0}<u8>",
            ),
            (
                "one::main::{async_block_env#1}",
                "one::main::{async_block#1}",
            ),
            ("one::Future", "one::Future"),
            (
                "tracing::instrument::Instrumented<one::leaf::{async_fn_env#0}>",
                "one::leaf::{async_fn#0}",
            ),
            (
                "core::pin::Pin<alloc::boxed::Box<async_executor::AsyncCallOnDrop<one::leaf::{async_fn_env#0}, u8>, u16>>",
                "one::leaf::{async_fn#0}",
            ),
            (
                "async_executor::{impl#5}::run::{async_fn_env#0}<(), one::main::{async_block_env#0}>",
                "one::main::{async_block#0}",
            ),
        ];
        for (state, function) in names {
            assert_eq!(function_of(state), function);
        }
    }
}
