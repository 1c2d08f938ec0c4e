//! Expands values of the debug console. They stay available after the program has run on.

use super::{raw_last, wants_hex};
use crate::adapter::Adapter;
use crate::kept::{Lasting, Logged};
use crate::to_dap::OrFail;
use crate::{from_dap, to_dap};
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::{
    Variable, VariablePresentationHint, VariablePresentationHintKind, VariablesArguments,
    VariablesArgumentsFilter, VariablesResponse,
};
use dapple_engine::frame::FrameId;
use dapple_engine::session::values::KeptValue;
use dapple_engine::values::{Format, NamedValue, Rendered};
use std::ops::Range;
use std::rc::Rc;

/// The name of the child that shows the present value, if it has changed.
const CHANGED: &str = "[changed since]";

/// Lists the children of a lasting reference.
pub fn variables(
    adapter: &mut Adapter,
    arguments: &VariablesArguments,
    context: &mut Context,
) -> Result<VariablesResponse, Failure> {
    Ok(VariablesResponse::new(
        match adapter.kept.get(arguments.variables_reference)? {
            Lasting::Message(logged) => vec![message(adapter, logged)?],
            Lasting::Values(logged) => values(adapter, &logged, arguments, context)?,
            Lasting::Value(value) => children(adapter, &value, arguments, context)?,
        },
    ))
}

/// A message as a variable, because some clients show the children of an `output` event in place of its text.
fn message(adapter: &mut Adapter, logged: Rc<Logged>) -> Result<Variable, Failure> {
    let (text, count) = (logged.text.clone(), logged.values.len());
    let reference = adapter.kept.insert_logged(Lasting::Values(logged))?;
    Ok(Variable::new("message", text, reference)
        .with_named_variables(to_dap::saturated(count as u64))
        .with_indexed_variables(0))
}

/// The values in a message as they were when it was written. The program need not be stopped.
fn values(
    adapter: &mut Adapter,
    logged: &Logged,
    arguments: &VariablesArguments,
    context: &Context,
) -> Result<Vec<Variable>, Failure> {
    let page = super::page(arguments, logged.values.iter());
    let shown = page.into_iter().map(|value| {
        let reference = adapter.kept.insert(value.clone())?;
        let (named, rendered) = (value.named(), value.rendered());
        let plain = NamedValue {
            expression: None,
            ..named.clone()
        };
        Ok(to_dap::variable(
            &plain,
            rendered,
            reference,
            context.client(),
        ))
    });
    shown.collect()
}

/// The children of a kept value. The first child shows the present value, if it has changed.
fn children(
    adapter: &mut Adapter,
    value: &KeptValue,
    arguments: &VariablesArguments,
    context: &Context,
) -> Result<Vec<Variable>, Failure> {
    let debuggee = adapter.partly_stopped()?;
    let (named, indexed) = (value.rendered().named, value.rendered().indexed);
    let range = from_dap::children(arguments, named, indexed);
    let is_first = range.start == 0 && arguments.filter != Some(VariablesArgumentsFilter::Indexed);
    let format = wants_hex(arguments.format.as_ref()).then_some(Format::Hexadecimal);
    let mut now = None;
    let mut children_in = |range: Range<u64>| {
        let opened = debuggee.open_kept(value, range, format).or_fail()?;
        now = opened.now;
        Ok(opened.children)
    };
    let is_mixed = arguments.filter.is_none() && named > 0 && indexed > 0;
    let children = match is_mixed {
        true => raw_last(range, named, indexed, |child| &child.0.name, children_in)?,
        false => children_in(range)?,
    };
    let mut shown = Vec::with_capacity(children.len() + 1);
    if let Some(now) = now.filter(|_| is_first) {
        let text = to_dap::value_text(&now, context.client());
        let hint = VariablePresentationHint::new().with_kind(VariablePresentationHintKind::Virtual);
        shown.push(Variable::new(CHANGED, text, 0).with_presentation_hint(hint));
    }
    for (named, rendered, kept) in children {
        let reference = match kept {
            Some(kept) => adapter.kept.insert(kept)?,
            None => 0,
        };
        let mut variable = to_dap::variable(&named, &rendered, reference, context.client());
        variable.value_location_reference = adapter.code_reference(&rendered)?;
        shown.push(variable);
    }
    Ok(shown)
}

/// Children, and their frame if they have one.
pub(super) type Children = (Vec<(NamedValue, Rendered)>, Option<FrameId>);

/// Children of a kept value, to be searched by name. `range` gets the numbers of named and indexed children,
/// and returns the positions to search.
pub(super) fn looked_through(
    adapter: &Adapter,
    container: i64,
    range: impl FnOnce(u64, u64) -> Range<u64>,
) -> Result<Children, Failure> {
    let Lasting::Value(value) = adapter.kept.get(container)? else {
        return Err(Failure::new(
            "what a breakpoint has written can't be changed or watched",
        ));
    };
    let rendered = value.rendered();
    let range = range(rendered.named, rendered.indexed);
    let opened = adapter
        .partly_stopped()?
        .open_kept(&value, range, None)
        .or_fail()?;
    let children = opened.children.into_iter();
    let children = children.map(|(named, rendered, _)| (named, rendered));
    Ok((children.collect(), opened.frame))
}
