//! The `evaluate` request: expressions from the console, watches, the clipboard and hovers.

mod program_input;

use super::stack_trace::frame;
use super::variables::{formatted_one, shown_as};
use super::{read_visualizers, record, sources};
use crate::adapter::Adapter;
use crate::to_dap::OrFail;
use crate::{from_dap, to_dap};
use dapple_dap::server::{Context, Failure, byte_of_column};
use dapple_dap::types::{EvaluateArguments, EvaluateArgumentsContext, EvaluateResponse};
use dapple_engine::eval::expression_at;
use dapple_engine::values::{Format, NamedValue, Rendered};

/// In front of a command for the stub that has the program. It is no expression in any language.
const MONITOR: &str = "monitor ";

/// Does what was typed into the debug console, if that is no expression; `None` if it is one.
fn typed(
    adapter: &mut Adapter,
    arguments: &EvaluateArguments,
    context: &Context,
) -> Option<Result<EvaluateResponse, Failure>> {
    if arguments.context != Some(EvaluateArgumentsContext::Repl) {
        return None;
    }
    if let Some(text) = arguments.expression.strip_prefix('>') {
        return Some(program_input::send(adapter, text));
    }
    if let Some(command) = arguments.expression.strip_prefix(MONITOR) {
        let debuggee = match adapter.stopped() {
            Ok(debuggee) => debuggee,
            Err(failure) => return Some(Err(failure)),
        };
        let said = debuggee.monitor(command.trim()).or_fail();
        if said.is_ok() {
            adapter.stub_commanded(context);
        }
        return Some(said.map(|said| EvaluateResponse::new(said, 0)));
    }
    let words: Vec<&str> = arguments.expression.split_whitespace().collect();
    let said = match &*words.join(" ") {
        read_visualizers::TYPED => read_visualizers::typed(adapter, context),
        record::TYPED => record::typed(adapter, context),
        _ => return None,
    };
    Some(said.map(|said| EvaluateResponse::new(said, 0)))
}

/// Evaluates an expression. Console input may assign; console input, watches and the clipboard may call functions of the program. All
/// other contexts only read. An expression without a context counts as console input, because some clients send none for their console.
pub fn evaluate(
    adapter: &mut Adapter,
    arguments: EvaluateArguments,
    context: &mut Context,
) -> Result<EvaluateResponse, Failure> {
    let mut arguments = arguments;
    arguments
        .context
        .get_or_insert(EvaluateArgumentsContext::Repl);
    if let Some(done) = typed(adapter, &arguments, context) {
        return done;
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
        // No `invalidated` event after a call here: clients evaluate watches again after it, without end.
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
    let shown = shown.or_fail()?;
    // The value of a function is its address, whose type says nothing about the function.
    let function = match shown.1.code {
        Some(_) => debuggee.described(expression, frame).ok().flatten(),
        None => None,
    };
    let (named, rendered) = formatted_one(adapter, shown, arguments.format.as_ref())?;
    let (named, rendered) = match arguments.context {
        Some(EvaluateArgumentsContext::Clipboard) => whole(adapter, named)?,
        _ => (named, rendered),
    };
    let mut response = EvaluateResponse::new(rendered.text.clone(), 0);
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
    response.variables_reference = match arguments.context {
        Some(EvaluateArgumentsContext::Repl) => {
            adapter.lasting_reference(named, rendered, frame)?
        }
        _ => adapter.reference(named, &rendered, frame)?,
    };
    Ok(response)
}

/// A value with its whole content, for the clipboard.
fn whole(adapter: &Adapter, mut named: NamedValue) -> Result<(NamedValue, Rendered), Failure> {
    named.value.whole = true;
    shown_as(adapter, named, Format::Natural)
}

/// The expression under the pointer, for a client that sends a position in the source in place of an expression; else `None`.
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
