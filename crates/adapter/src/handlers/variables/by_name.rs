//! Finds a child of a container by its name, which is how `setVariable` and `dataBreakpointInfo` name a variable.

use super::{kept, referenced, registers};
use crate::adapter::{Adapter, Reference, ScopeKind};
use crate::handlers::scopes;
use crate::to_dap::OrFail;
use dapple_dap::server::Failure;
use dapple_engine::frame::FrameId;
use dapple_engine::registers::shown::ShownRegister;
use dapple_engine::values::{NamedValue, Rendered};
use std::ops::Range;

/// The most children that are searched for a name.
const MOST_NAMED: u64 = 10_000;

/// A child of a container.
pub enum Child {
    /// A register of the frame, a part of a register, or a group of registers.
    Register(Box<ShownRegister>),
    /// A value. Boxed because it is large.
    Value(Box<(NamedValue, Rendered)>),
}

/// The child of a container with this name, and its frame if it has one. The inner error says that there is no such child.
///
/// # Errors
/// All threads run, or the container is from an earlier stop.
pub fn child(
    adapter: &mut Adapter,
    container: i64,
    name: &str,
) -> Result<Result<(Child, Option<FrameId>), String>, Failure> {
    if adapter.kept.has_number(container) {
        let range = |named, indexed| range_for(name, named, indexed);
        let (children, frame) = kept::looked_through(adapter, container, range)?;
        return Ok(last_named(children, name, frame));
    }
    adapter.partly_stopped()?;
    let (children, frame) = match referenced(adapter, container)? {
        &Reference::Scope(frame, ScopeKind::Registers) => {
            return Ok(register(adapter, frame, &[], name)?.map(|found| (found, Some(frame))));
        }
        Reference::Registers(frame, path) => {
            return Ok(register(adapter, *frame, path, name)?.map(|found| (found, Some(*frame))));
        }
        &Reference::Scope(frame, kind) => {
            let found = scopes::in_scope(adapter, frame, kind, |mut values| {
                values.retain(|(_, (child, _))| child.name == name);
                values
            })?;
            (
                found.into_iter().map(|(_, value)| value).collect(),
                Some(frame),
            )
        }
        Reference::Value {
            value,
            expression,
            frame,
            counts,
        } => {
            let range = range_for(name, counts.0, counts.1);
            let debuggee = adapter.partly_stopped()?;
            let children = debuggee.children(value, expression.as_deref(), range);
            (children.or_fail()?, *frame)
        }
    };
    Ok(last_named(children, name, frame))
}

/// The positions of the children to search: for a name such as `[3]` that element alone, else all, but not more than
/// [`MOST_NAMED`].
fn range_for(name: &str, named: u64, indexed: u64) -> Range<u64> {
    let index = name
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .and_then(|index| index.parse::<u64>().ok())
        .filter(|index| *index < indexed);
    match index {
        Some(index) => named + index..named + index + 1,
        None => 0..named.saturating_add(indexed).min(MOST_NAMED),
    }
}

/// The last child with this name: of variables that shadow each other, the innermost comes last.
fn last_named(
    children: Vec<(NamedValue, Rendered)>,
    name: &str,
    frame: Option<FrameId>,
) -> Result<(Child, Option<FrameId>), String> {
    let found = children.into_iter().rfind(|(child, _)| child.name == name);
    match found {
        Some(found) => Ok((Child::Value(Box::new(found)), frame)),
        None => Err(nothing(name)),
    }
}

fn register(
    adapter: &Adapter,
    frame: FrameId,
    path: &[usize],
    name: &str,
) -> Result<Result<Child, String>, Failure> {
    let mut parts = registers::at(adapter, frame, path)?.into_iter();
    let found = parts.find(|register| register.name == name);
    let child = found.map(|register| Child::Register(Box::new(register)));
    Ok(child.ok_or_else(|| nothing(name)))
}

fn nothing(name: &str) -> String {
    format!("there is no `{name}` in there")
}
