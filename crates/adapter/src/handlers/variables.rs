//! The `variables` request: the variables of a scope, and the children of a value.
//!
//! A `variablesReference` is valid until the program runs on. References of console values (`kept`) stay valid.

pub mod by_name;
pub mod kept;
pub mod registers;

use super::scopes::in_scope;
use crate::adapter::{Adapter, Location, Reference, ScopeKind};
use crate::to_dap::OrFail;
use crate::{from_dap, to_dap};
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::{ValueFormat, Variable, VariablesArguments, VariablesResponse};
use dapple_engine::frame::FrameId;
use dapple_engine::values::{Format, NamedValue, RAW, Rendered, Value};
use std::borrow::Cow;
use std::ops::Range;

/// Lists the variables that a `variablesReference` stands for.
pub fn variables(
    adapter: &mut Adapter,
    arguments: VariablesArguments,
    context: &mut Context,
) -> Result<VariablesResponse, Failure> {
    let id = arguments.variables_reference;
    if adapter.kept.has_number(id) {
        return kept::variables(adapter, &arguments, context);
    }
    adapter.partly_stopped()?;
    match referenced(adapter, id)? {
        &Reference::Scope(frame, ScopeKind::Registers) => {
            registers::variables(adapter, frame, &[], &arguments, context.client())
        }
        Reference::Registers(frame, path) => {
            let (frame, path) = (*frame, path.clone());
            registers::variables(adapter, frame, &path, &arguments, context.client())
        }
        &Reference::Scope(frame, kind) => {
            let wanted = in_scope(adapter, frame, kind, |values| {
                page(&arguments, values.into_iter())
            })?;
            let (places, values): (Vec<_>, Vec<_>) = wanted.into_iter().unzip();
            let values = formatted(adapter, values, arguments.format.as_ref())?;
            let mut shown = show(adapter, values, Some(frame), context)?;
            for (variable, place) in shown.iter_mut().zip(places) {
                let Some((list, index)) = place else { continue };
                let location = Location::Declaration { frame, list, index };
                let reference = adapter.locations.insert(location)?;
                variable.declaration_location_reference = Some(reference);
            }
            Ok(VariablesResponse::new(shown))
        }
        Reference::Value {
            value,
            expression,
            frame,
            counts: (named, indexed),
        } => {
            let (frame, named, indexed) = (*frame, *named, *indexed);
            let value = in_format(value, arguments.format.as_ref());
            let range = from_dap::children(&arguments, named, indexed);
            let debuggee = adapter.debuggee()?;
            let children_in = |range: Range<u64>| {
                debuggee
                    .children(&value, expression.as_deref(), range)
                    .or_fail()
            };
            let is_mixed = arguments.filter.is_none() && named > 0 && indexed > 0;
            let children = match is_mixed {
                true => raw_last(range, named, indexed, |child| &child.0.name, children_in)?,
                false => children_in(range)?,
            };
            let shown = show(adapter, children, frame, context)?;
            Ok(VariablesResponse::new(shown))
        }
    }
}

/// What a `variablesReference` of the present stop stands for.
///
/// # Errors
/// The reference is from an earlier stop.
fn referenced(adapter: &Adapter, id: i64) -> Result<&Reference, Failure> {
    adapter.references.get(id).map_err(|_| {
        Failure::new(format!(
            "there are no variables {id} any more; they are good until the program runs on"
        ))
    })
}

/// A value in the format that the client asks for, unless it has a format already.
fn in_format<'v>(value: &'v Value, format: Option<&ValueFormat>) -> Cow<'v, Value> {
    if !wants_hex(format) || value.format != Format::Natural {
        return Cow::Borrowed(value);
    }
    let mut value = value.clone();
    value.format = Format::Hexadecimal;
    Cow::Owned(value)
}

/// Children in a range of positions. If the last named child is the value's raw view (`RAW`), it is moved behind the indexed children. `named`
/// must not be 0.
pub(super) fn raw_last<T>(
    range: Range<u64>,
    named: u64,
    indexed: u64,
    name: impl Fn(&T) -> &str,
    mut children_in: impl FnMut(Range<u64>) -> Result<Vec<T>, Failure>,
) -> Result<Vec<T>, Failure> {
    let (own, all) = (named - 1, named.saturating_add(indexed));
    let raw = children_in(own..named)?;
    if !raw.iter().any(|child| name(child) == RAW) {
        return children_in(range);
    }
    let mut children = Vec::new();
    if range.start < own {
        children.extend(children_in(range.start..range.end.min(own))?);
    }
    let elements = range.start.max(own)..range.end.min(all - 1);
    if !elements.is_empty() {
        children.extend(children_in(elements.start + 1..elements.end + 1)?);
    }
    if range.contains(&(all - 1)) {
        children.extend(raw);
    }
    Ok(children)
}

/// The page that was asked for, of variables that are all named.
pub(super) fn page<T>(
    arguments: &VariablesArguments,
    all: impl ExactSizeIterator<Item = T>,
) -> Vec<T> {
    let count = all.len();
    let range = from_dap::children(arguments, count as u64, 0);
    all.skip(usize::try_from(range.start).unwrap_or(usize::MAX))
        .take(usize::try_from(range.end - range.start).unwrap_or(usize::MAX))
        .collect()
}

pub(super) fn wants_hex(format: Option<&ValueFormat>) -> bool {
    format.is_some_and(|format| format.hex == Some(true))
}

/// Values in the format that the client asks for.
fn formatted(
    adapter: &Adapter,
    values: Vec<(NamedValue, Rendered)>,
    format: Option<&ValueFormat>,
) -> Result<Vec<(NamedValue, Rendered)>, Failure> {
    if !wants_hex(format) {
        return Ok(values);
    }
    let values = values.into_iter().map(|(named, _)| named).collect();
    adapter
        .partly_stopped()?
        .shown_as(values, Format::Hexadecimal)
        .or_fail()
}

/// [`formatted`] for one value.
pub(super) fn formatted_one(
    adapter: &Adapter,
    value: (NamedValue, Rendered),
    format: Option<&ValueFormat>,
) -> Result<(NamedValue, Rendered), Failure> {
    match wants_hex(format) {
        true => shown_as(adapter, value.0, Format::Hexadecimal),
        false => Ok(value),
    }
}

/// A value rendered in a format.
pub(super) fn shown_as(
    adapter: &Adapter,
    named: NamedValue,
    format: Format,
) -> Result<(NamedValue, Rendered), Failure> {
    let shown = adapter.partly_stopped()?.shown_as(vec![named], format);
    let first = shown.or_fail()?.into_iter().next();
    first.ok_or_else(|| Failure::new("the value is gone"))
}

fn show(
    adapter: &mut Adapter,
    values: Vec<(NamedValue, Rendered)>,
    frame: Option<FrameId>,
    context: &mut Context,
) -> Result<Vec<Variable>, Failure> {
    values
        .into_iter()
        .map(|(named, rendered)| {
            let mut shown = to_dap::variable(&named, &rendered, 0, context.client());
            shown.value_location_reference = adapter.code_reference(&rendered)?;
            shown.variables_reference = adapter.reference(named, &rendered, frame)?;
            Ok(shown)
        })
        .collect()
}
