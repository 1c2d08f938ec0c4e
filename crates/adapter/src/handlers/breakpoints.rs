//! Setting breakpoints, before the launch, while the program runs, and at stops.

use crate::adapter::{Adapter, source_of};
use crate::{from_dap, to_dap};
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::{
    Breakpoint, BreakpointReason, SetBreakpointsArguments, SetBreakpointsResponse,
    SetExceptionBreakpointsArguments, SetExceptionBreakpointsResponse,
    SetFunctionBreakpointsArguments, SetFunctionBreakpointsResponse, SourceBreakpoint,
};
use dapple_engine::Error;
use dapple_engine::session::{FunctionBreakpoint, LineBreakpoint};

const NO_DEBUG: &str = "the program runs without debugging (`noDebug`)";
const NO_PROGRAM: &str = "no program is running";

/// Replaces a source's breakpoints.
pub fn set_breakpoints(
    adapter: &mut Adapter,
    arguments: SetBreakpointsArguments,
    context: &mut Context,
) -> Result<SetBreakpointsResponse, Failure> {
    let client = context.conventions();
    let lines = from_dap::lines(&arguments, client);
    let Some(file) = from_dap::path(&arguments.source, client) else {
        let answer = to_dap::unverified("the source has no path", BreakpointReason::Failed);
        return Ok(SetBreakpointsResponse::new(vec![answer; lines.len()]));
    };
    let source = arguments.source.clone();
    let ids = adapter.breakpoints.replace(&file, source.clone(), &lines);
    let unresolved = |message: &str| {
        ids.iter()
            .zip(&lines)
            .map(|(id, line)| {
                to_dap::unverified(message, BreakpointReason::Pending)
                    .with_id(*id)
                    .with_line(client.line_to_client(i64::from(*line)))
                    .with_source(source.clone())
            })
            .collect()
    };
    if adapter.no_debug {
        return Ok(SetBreakpointsResponse::new(unresolved(NO_DEBUG)));
    }
    let Some(debuggee) = &adapter.debuggee else {
        return Ok(SetBreakpointsResponse::new(unresolved(NO_PROGRAM)));
    };
    let wanted = lines.iter().map(|line| LineBreakpoint { line: *line });
    let states = match debuggee.set_line_breakpoints(&file, wanted.collect()) {
        Ok(states) => states,
        Err(error @ Error::Ended) => {
            return Ok(SetBreakpointsResponse::new(unresolved(&error.to_string())));
        }
        Err(error) => return Err(to_dap::failure(&error)),
    };
    let mut answers: Vec<Breakpoint> = Vec::with_capacity(states.len());
    for (state, id) in states.iter().zip(&ids) {
        adapter.breakpoints.bind(state.id, *id);
        answers.push(to_dap::breakpoint(state, *id, Some(source.clone()), client));
    }
    for (answer, wanted) in answers
        .iter_mut()
        .zip(arguments.breakpoints.iter().flatten())
    {
        if answer.verified
            && let Some(message) = ignored(wanted)
        {
            answer.message = Some(message.to_owned());
        }
    }
    Ok(SetBreakpointsResponse::new(answers))
}

/// What of a breakpoint was not offered and is ignored.
fn ignored(wanted: &SourceBreakpoint) -> Option<&'static str> {
    if wanted.condition.is_some() || wanted.hit_condition.is_some() {
        Some(NO_CONDITIONS)
    } else if wanted.log_message.is_some() {
        Some("log messages are not supported; it stops instead")
    } else {
        None
    }
}

const NO_CONDITIONS: &str = "conditions are not supported; it stops every time";

/// Replaces the breakpoints on functions.
pub fn set_function_breakpoints(
    adapter: &mut Adapter,
    arguments: SetFunctionBreakpointsArguments,
    context: &mut Context,
) -> Result<SetFunctionBreakpointsResponse, Failure> {
    let names: Vec<String> = arguments
        .breakpoints
        .iter()
        .map(|wanted| wanted.name.clone())
        .collect();
    let ids = adapter.breakpoints.replace_functions(&names);
    let unresolved = |message: &str| {
        let answer = |id: &i64| to_dap::unverified(message, BreakpointReason::Pending).with_id(*id);
        SetFunctionBreakpointsResponse::new(ids.iter().map(answer).collect())
    };
    if adapter.no_debug {
        return Ok(unresolved(NO_DEBUG));
    }
    let Some(debuggee) = &adapter.debuggee else {
        return Ok(unresolved(NO_PROGRAM));
    };
    let wanted = names.into_iter().map(|name| FunctionBreakpoint { name });
    let states = match debuggee.set_function_breakpoints(wanted.collect()) {
        Ok(states) => states,
        Err(error @ Error::Ended) => return Ok(unresolved(&error.to_string())),
        Err(error) => return Err(to_dap::failure(&error)),
    };
    let mut answers = Vec::with_capacity(states.len());
    for ((state, id), wanted) in states.iter().zip(&ids).zip(&arguments.breakpoints) {
        adapter.breakpoints.bind(state.id, *id);
        let source = source_of(state, context.conventions());
        let mut answer = to_dap::breakpoint(state, *id, source, context.conventions());
        if answer.verified && (wanted.condition.is_some() || wanted.hit_condition.is_some()) {
            answer.message = Some(NO_CONDITIONS.to_owned());
        }
        answers.push(answer);
    }
    Ok(SetFunctionBreakpointsResponse::new(answers))
}

/// No filters are offered, so whatever is asked for can't be had.
pub fn set_exception_breakpoints(
    _: &mut Adapter,
    arguments: SetExceptionBreakpointsArguments,
    _: &mut Context,
) -> Result<SetExceptionBreakpointsResponse, Failure> {
    let options = arguments
        .filter_options
        .iter()
        .flatten()
        .map(|option| &option.filter_id);
    let answers = arguments
        .filters
        .iter()
        .chain(options)
        .map(|filter| {
            let message = format!("there is no exception filter `{filter}`");
            to_dap::unverified(&message, BreakpointReason::Failed)
        })
        .collect();
    Ok(SetExceptionBreakpointsResponse::new().with_breakpoints(answers))
}
