//! Looking at the program: threads, stacks, variables, expressions, modules.

use super::{frame_names, input, kept, read_visualizers, registers, sources};
use crate::adapter::{Adapter, Location, Reference, ScopeKind};
use crate::shown_frame::ShownFrame;
use crate::{clients, from_dap, to_dap};
use dapple_dap::message::Empty;
use dapple_dap::server::{Context, Failure, byte_of_column};
use dapple_dap::types::{
    EvaluateArguments, EvaluateArgumentsContext, EvaluateResponse, Scope, ScopePresentationHint,
    ScopesArguments, ScopesResponse, StackTraceArguments, StackTraceResponse, ThreadsResponse,
    ValueFormat, Variable, VariablesArguments, VariablesResponse,
};
use dapple_engine::Error;
use dapple_engine::eval::expression_at;
use dapple_engine::frame::FrameId;
use dapple_engine::session::declarations::VariableList;
use dapple_engine::untraced::Untraced;
use dapple_engine::values::{Format, NamedValue, RAW, Rendered, VariableKind};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The live threads; none where there is no program, which is no error to clients that ask at any time.
pub fn threads(
    adapter: &mut Adapter,
    _: Empty,
    context: &mut Context,
) -> Result<ThreadsResponse, Failure> {
    let threads = match &adapter.debuggee {
        Some(debuggee) => debuggee.threads(),
        None => Ok(adapter
            .untraced
            .as_ref()
            .map(Untraced::threads)
            .unwrap_or_default()),
    };
    let threads = match threads {
        Ok(threads) => threads,
        Err(Error::Ended) => Vec::new(),
        Err(error) => return Err(to_dap::failure(&error)),
    };
    Ok(ThreadsResponse::new(clients::threads(
        context.client(),
        &threads,
    )))
}

/// A window of a stack, with names in the client's format. Without a known end, one more frame than returned is promised, so that the client asks on.
pub fn stack_trace(
    adapter: &mut Adapter,
    arguments: StackTraceArguments,
    context: &mut Context,
) -> Result<StackTraceResponse, Failure> {
    let thread = from_dap::thread(arguments.thread_id)?;
    let window = from_dap::frames(arguments.start_frame, arguments.levels);
    let stack = adapter
        .partly_stopped()?
        .stack(thread, window.clone())
        .map_err(|error| to_dap::failure(&error))?;
    let seen = window.start.saturating_add(stack.frames.len());
    let total = stack.total.unwrap_or(seen.saturating_add(1));
    let format = arguments.format.as_ref();
    let sets_aside = format.is_none_or(|format| format.include_all != Some(true));
    let mut frames = Vec::with_capacity(stack.frames.len());
    // Most frames are in a few files, and many in that of the one before.
    let mut located: Vec<(Arc<Path>, (PathBuf, bool))> = Vec::new();
    let mut last = 0;
    for frame in stack.frames {
        let found = frame.position.as_ref().map(|at| {
            let file = &at.file;
            let is_it = |(known, _): &(Arc<Path>, _)| Arc::ptr_eq(known, file);
            if !located.get(last).is_some_and(is_it) {
                last = located.iter().position(is_it).unwrap_or_else(|| {
                    located.push((Arc::clone(file), adapter.locate(file)));
                    located.len() - 1
                });
            }
            located[last].1.clone()
        });
        let is_here = found.as_ref().map(|(_, is_here)| *is_here);
        let locate = |_: &Path| found.unwrap_or_default();
        let arrived = frame.id.index == 0 && adapter.arrived.contains(&frame.id.thread);
        let aside = sets_aside && frame.in_library() && !arrived;
        let mut shown = to_dap::frame(&frame, 0, aside, locate, context.conventions());
        adapter.open_frame(&frame, is_here, &mut shown, context)?;
        if let Some(format) = format {
            shown.name = frame_names::written(adapter, &frame, shown.name, format)?;
        }
        shown.id = adapter.frames.insert(ShownFrame::of(&frame))?;
        frames.push(shown);
    }
    let total = to_dap::saturated(total.try_into().unwrap_or(u64::MAX));
    Ok(StackTraceResponse::new(frames).with_total_frames(total))
}

/// The groups of variables a frame has.
pub fn scopes(
    adapter: &mut Adapter,
    arguments: ScopesArguments,
    _: &mut Context,
) -> Result<ScopesResponse, Failure> {
    let frame = frame(adapter, arguments.frame_id)?;
    let mut scopes = Vec::new();
    // Most clients open, or read, only the first scope or the one of that name.
    let in_one = !adapter.separate_scopes;
    let returned = returned(adapter, frame)?;
    let has_source = adapter
        .frames
        .get(arguments.frame_id)
        .is_ok_and(|frame| frame.has_source);
    if in_one && (has_source || !returned.is_empty()) {
        scopes.push(scope(adapter, "Locals", frame, ScopeKind::All)?);
    } else if !returned.is_empty() {
        scopes.push(scope(adapter, "Return Value", frame, ScopeKind::Returned)?);
    }
    if has_source && !in_one {
        let listing = adapter.variables(frame)?;
        let arguments = listing
            .iter()
            .filter(|(named, _)| is_in(named, ScopeKind::Arguments))
            .count();
        if arguments > 0 {
            scopes.push(scope(adapter, "Arguments", frame, ScopeKind::Arguments)?);
        }
        scopes.push(scope(adapter, "Locals", frame, ScopeKind::Locals)?);
    }
    if has_source {
        scopes.push(scope(adapter, "Statics", frame, ScopeKind::Statics)?);
    }
    scopes.push(scope(adapter, "Registers", frame, ScopeKind::Registers)?);
    Ok(ScopesResponse::new(scopes))
}

fn scope(
    adapter: &mut Adapter,
    name: &str,
    frame: FrameId,
    kind: ScopeKind,
) -> Result<Scope, Failure> {
    let reference = adapter.references.insert(Reference::Scope(frame, kind))?;
    let expensive = matches!(kind, ScopeKind::Statics | ScopeKind::Registers);
    let scope = Scope::new(name, reference, expensive);
    Ok(match kind {
        ScopeKind::Returned => scope.with_presentation_hint(ScopePresentationHint::ReturnValue),
        ScopeKind::Arguments => scope.with_presentation_hint(ScopePresentationHint::Arguments),
        ScopeKind::Locals | ScopeKind::All => {
            scope.with_presentation_hint(ScopePresentationHint::Locals)
        }
        ScopeKind::Registers => scope.with_presentation_hint(ScopePresentationHint::Registers),
        ScopeKind::Statics => scope,
    })
}

/// Whether a parameter or local is in a scope.
fn is_in(named: &NamedValue, kind: ScopeKind) -> bool {
    let is_parameter = named.kind == Some(VariableKind::Parameter);
    match kind {
        ScopeKind::Arguments => is_parameter,
        ScopeKind::Locals => !is_parameter,
        ScopeKind::All => true,
        ScopeKind::Returned | ScopeKind::Statics | ScopeKind::Registers => false,
    }
}

/// What the function has returned that was called from a frame last: one value or none.
fn returned(adapter: &Adapter, frame: FrameId) -> Result<Vec<(NamedValue, Rendered)>, Failure> {
    let returned = adapter.debuggee()?.returned(frame);
    let returned = returned.map_err(|error| to_dap::failure(&error))?;
    Ok(returned.into_iter().collect())
}

/// A value of a scope, and where it is declared, as a place in a list; none of what has no declaration.
pub(super) type Placed = (Option<(VariableList, usize)>, (NamedValue, Rendered));

/// The values of a scope that has no registers.
pub(super) fn in_scope(
    adapter: &mut Adapter,
    frame: FrameId,
    kind: ScopeKind,
) -> Result<Vec<Placed>, Failure> {
    let mut values: Vec<Placed> = Vec::new();
    if kind == ScopeKind::Returned {
        let returned = returned(adapter, frame)?;
        values.extend(returned.into_iter().map(|value| (None, value)));
    }
    if kind == ScopeKind::Statics {
        let statics = adapter.debuggee()?.statics(frame);
        let statics = statics.map_err(|error| to_dap::failure(&error))?;
        let placed = statics.iter().cloned().enumerate();
        values.extend(placed.map(|(place, value)| (Some((VariableList::Statics, place)), value)));
    }
    if matches!(
        kind,
        ScopeKind::Arguments | ScopeKind::Locals | ScopeKind::All
    ) {
        let listing = adapter.variables(frame)?;
        let here = listing
            .iter()
            .enumerate()
            .filter(|(_, (named, _))| is_in(named, kind));
        values.extend(
            here.map(|(place, value)| (Some((VariableList::Visible, place)), value.clone())),
        );
    }
    if kind == ScopeKind::All {
        let parameters = values
            .iter()
            .take_while(|(_, (named, _))| is_in(named, ScopeKind::Arguments))
            .count();
        let returned = returned(adapter, frame)?.into_iter();
        // Among variables the function's name alone doesn't say what it is.
        let returned = returned.map(|(mut named, shown)| {
            named.name = format!("returned by {}", named.name);
            (None, (named, shown))
        });
        values.splice(parameters..parameters, returned);
    }
    Ok(values)
}

/// The frame a client's id stands for.
pub(super) fn frame(adapter: &Adapter, id: i64) -> Result<FrameId, Failure> {
    adapter.partly_stopped()?;
    match adapter.frames.get(id) {
        Ok(frame) => Ok(frame.id),
        Err(_) => Err(Failure::new(format!(
            "there is no frame {id} any more; frames are good until the program runs on"
        ))),
    }
}

/// The variables of a scope, or the children of a value.
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
    let Ok(reference) = adapter.references.get(id).cloned() else {
        return Err(Failure::new(format!(
            "there are no variables {id} any more; they are good until the program runs on"
        )));
    };
    match reference {
        Reference::Scope(frame, ScopeKind::Registers) => {
            registers::variables(adapter, frame, &[], &arguments, context.client())
        }
        Reference::Registers(frame, path) => {
            registers::variables(adapter, frame, &path, &arguments, context.client())
        }
        Reference::Scope(frame, kind) => {
            let wanted = page(&arguments, in_scope(adapter, frame, kind)?.into_iter());
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
            mut value,
            expression,
            frame,
            counts: (named, indexed),
        } => {
            if wants_hex(arguments.format.as_ref()) && value.format == Format::Natural {
                value.format = Format::Hexadecimal;
            }
            let range = from_dap::children(&arguments, named, indexed);
            let debuggee = adapter.debuggee()?;
            let children_in = |range: Range<u64>| {
                debuggee
                    .children(&value, expression.as_deref(), range)
                    .map_err(|error| to_dap::failure(&error))
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

/// Children by position, with what the value is made of behind its elements instead of among its named children.
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

/// What of a scope's variables, all of them named, was asked for.
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

/// Values in the format that the client wants.
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
        .map_err(|error| to_dap::failure(&error))
}

/// As [`formatted`], of one.
pub(super) fn formatted_one(
    adapter: &Adapter,
    value: (NamedValue, Rendered),
    format: Option<&ValueFormat>,
) -> Result<(NamedValue, Rendered), Failure> {
    if !wants_hex(format) {
        return Ok(value);
    }
    let shown = formatted(adapter, vec![value.clone()], format)?;
    Ok(shown.into_iter().next().unwrap_or(value))
}

fn show(
    adapter: &mut Adapter,
    values: Vec<(NamedValue, Rendered)>,
    frame: Option<FrameId>,
    context: &mut Context,
) -> Result<Vec<Variable>, Failure> {
    values
        .iter()
        .map(|(named, rendered)| {
            let reference = adapter.reference(named, rendered, frame)?;
            let mut shown = to_dap::variable(named, rendered, reference, context.client());
            shown.value_location_reference = adapter.code_reference(rendered)?;
            Ok(shown)
        })
        .collect()
}

/// Evaluates an expression. Only what was typed into the console may be an assignment, and only that, what is watched and what is
/// copied may call functions; all others leave the program alone. Without a context a person has typed it: some clients send none.
pub fn evaluate(
    adapter: &mut Adapter,
    arguments: EvaluateArguments,
    context: &mut Context,
) -> Result<EvaluateResponse, Failure> {
    let mut arguments = arguments;
    arguments
        .context
        .get_or_insert(EvaluateArgumentsContext::Repl);
    if let Some(sent) = input::typed(adapter, &arguments) {
        return sent;
    }
    if let Some(read) = read_visualizers::typed(adapter, &arguments, context) {
        return read;
    }
    let frame = match arguments.frame_id {
        Some(id) => Some(frame(adapter, id)?),
        None => None,
    };
    if let Some(expression) = hovered(adapter, &arguments, context)? {
        arguments.expression = expression;
    }
    let debuggee = adapter.partly_stopped()?;
    let expression = arguments.expression.as_str();
    let options = adapter.call_options(context);
    let shown = match arguments.context {
        Some(EvaluateArgumentsContext::Repl) => {
            let (shown, changed) = debuggee.execute(expression, frame, &options);
            adapter.assigned(&changed, context);
            shown
        }
        // Clients evaluate these again when values are invalidated: what they call must not do that.
        Some(EvaluateArgumentsContext::Watch | EvaluateArgumentsContext::Clipboard) => {
            let (shown, changed) = debuggee.evaluate_calling(expression, frame, &options);
            if changed.called {
                adapter.forget_variables();
            }
            shown
        }
        _ => debuggee.evaluate(expression, frame),
    };
    let debuggee = adapter.partly_stopped()?;
    if shown.is_err()
        && let Ok(Some(description)) = debuggee.described(expression, frame)
    {
        let response = EvaluateResponse::new(description.clone(), 0);
        return Ok(response.with_type(description));
    }
    let shown = shown.map_err(|error| to_dap::failure(&error))?;
    // A function is shown as its address, whose type says nothing.
    let function = match shown.1.code {
        Some(_) => debuggee.described(expression, frame).ok().flatten(),
        None => None,
    };
    let (named, rendered) = formatted_one(adapter, shown, arguments.format.as_ref())?;
    let (named, rendered) = match arguments.context {
        Some(EvaluateArgumentsContext::Clipboard) => whole(adapter, named)?,
        _ => (named, rendered),
    };
    let reference = match arguments.context {
        Some(EvaluateArgumentsContext::Repl) => {
            adapter.lasting_reference(&named, &rendered, frame)?
        }
        _ => adapter.reference(&named, &rendered, frame)?,
    };
    let mut response = EvaluateResponse::new(rendered.text.clone(), reference);
    if context.client().supports_variable_type == Some(true) && !rendered.type_name.is_empty() {
        response = response.with_type(function.unwrap_or_else(|| rendered.type_name.clone()));
    }
    if let Some((named, indexed)) = to_dap::counts(&rendered) {
        response = response
            .with_named_variables(named)
            .with_indexed_variables(indexed);
    }
    if let Some(address) = rendered.memory {
        response = response.with_memory_reference(address.to_string());
    }
    response.value_location_reference = adapter.code_reference(&rendered)?;
    Ok(response)
}

/// A value with all that is in it, to be copied.
fn whole(adapter: &Adapter, mut named: NamedValue) -> Result<(NamedValue, Rendered), Failure> {
    named.value.whole = true;
    let shown = adapter
        .partly_stopped()?
        .shown_as(vec![named], Format::Natural)
        .map_err(|error| to_dap::failure(&error))?;
    shown
        .into_iter()
        .next()
        .ok_or_else(|| Failure::new("the value is gone"))
}

/// The expression that the pointer is over, where a client leaves that to be found.
fn hovered(
    adapter: &Adapter,
    arguments: &EvaluateArguments,
    context: &Context,
) -> Result<Option<String>, Failure> {
    let is_hover = arguments.context == Some(EvaluateArgumentsContext::Hover);
    let (Some(source), Some(line), Some(column)) =
        (&arguments.source, arguments.line, arguments.column)
    else {
        return Ok(None);
    };
    if !is_hover || !arguments.expression.trim().is_empty() {
        return Ok(None);
    }
    let client = context.conventions();
    let path =
        from_dap::path(source, client).ok_or_else(|| Failure::new("the source has no path"))?;
    let text = sources::text_here(adapter, path)?;
    let line = usize::try_from(client.line_from_client(line).saturating_sub(1)).unwrap_or(0);
    let line = text.lines().nth(line).unwrap_or_default();
    let at = byte_of_column(line, client.column_from_client(column));
    match expression_at(line, at) {
        Some(expression) => Ok(Some(expression.to_owned())),
        None => Err(Failure::new("there is no name there to be evaluated")),
    }
}
