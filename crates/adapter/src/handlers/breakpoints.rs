//! Breakpoints on lines and functions. They can be set before the launch, while the program runs, and at stops.

use super::instruction_breakpoints::set_listed;
use crate::adapter::Adapter;
use crate::adapter::fetched;
use crate::{from_dap, to_dap};
use dapple_dap::server::{Context, Failure, LateProgress};
use dapple_dap::types::{
    Breakpoint, BreakpointReason, SetBreakpointsArguments, SetBreakpointsResponse,
    SetFunctionBreakpointsArguments, SetFunctionBreakpointsResponse, Source,
};
use dapple_engine::session::LineBreakpoint;

/// Replaces all breakpoints of a source.
pub fn set_breakpoints(
    adapter: &mut Adapter,
    arguments: SetBreakpointsArguments,
    context: &mut Context,
) -> Result<SetBreakpointsResponse, Failure> {
    let asked = from_dap::line_breakpoints(&arguments, context.conventions());
    let wanted = asked.iter().flatten().cloned().collect();
    let mut set = set_lines(adapter, &arguments.source, wanted, context)?.into_iter();
    let answer = |asked: Result<_, from_dap::BadLine>| match asked {
        Ok(_) => set.next(),
        Err((line, why)) => {
            let mut answer = to_dap::unverified(&why, BreakpointReason::Failed);
            // The protocol has no negative line numbers.
            answer.line = Some(line).filter(|line| *line >= 0);
            Some(answer)
        }
    };
    let answers = asked.into_iter().filter_map(answer).collect();
    Ok(SetBreakpointsResponse::new(answers))
}

/// Replaces all breakpoints of a source by `wanted`; the answers have the same order.
fn set_lines(
    adapter: &mut Adapter,
    source: &Source,
    wanted: Vec<LineBreakpoint>,
    context: &mut Context,
) -> Result<Vec<Breakpoint>, Failure> {
    let client = context.conventions();
    if let Some(reference @ 1..fetched::FIRST) = source.source_reference
        && !adapter.no_debug
    {
        return set_listed(adapter, reference, wanted, context);
    }
    let Some(file) = adapter.path_of(source, client) else {
        let answer = to_dap::unverified("the source has no path", BreakpointReason::Failed);
        return Ok(vec![answer; wanted.len()]);
    };
    let wanted = adapter.breakpoints.replace(&file, source.clone(), wanted);
    if source
        .source_reference
        .is_some_and(|reference| reference > 0)
    {
        adapter.breakpoints.is_unnamed(&file);
    }
    let there = adapter.source_map.in_debuggee(&file);
    let set = adapter.set_wanted(&wanted, |debuggee, lines| {
        let _progress = LateProgress::start(context.outbox(), "Looking for breakpoints");
        debuggee.set_line_breakpoints(&there, lines)
    })?;
    Ok(match set {
        Ok(states) => states
            .iter()
            .zip(&wanted)
            .map(|(state, wanted)| {
                to_dap::breakpoint(state, wanted.id, Some(source.clone()), client)
            })
            .collect(),
        Err(why) => wanted
            .iter()
            .map(|wanted| {
                to_dap::unverified(&why, BreakpointReason::Pending)
                    .with_id(wanted.id)
                    .with_line(client.line_to_client(i64::from(wanted.what.line)))
                    .with_source(source.clone())
            })
            .collect(),
    })
}

/// Replaces all function breakpoints.
pub fn set_function_breakpoints(
    adapter: &mut Adapter,
    arguments: SetFunctionBreakpointsArguments,
    context: &mut Context,
) -> Result<SetFunctionBreakpointsResponse, Failure> {
    let functions = arguments.breakpoints.iter();
    let functions = functions.map(from_dap::function_breakpoint).collect();
    let wanted = adapter.breakpoints.replace_functions(functions);
    let set = adapter.set_wanted(&wanted, |debuggee, functions| {
        let _progress = LateProgress::start(context.outbox(), "Looking for functions");
        debuggee.set_function_breakpoints(functions)
    })?;
    let answers = match set {
        Ok(states) => states
            .iter()
            .zip(&wanted)
            .map(|(state, wanted)| adapter.located(state, wanted.id, context.conventions()))
            .collect(),
        Err(why) => wanted
            .iter()
            .map(|wanted| to_dap::unverified(&why, BreakpointReason::Pending).with_id(wanted.id))
            .collect(),
    };
    Ok(SetFunctionBreakpointsResponse::new(answers))
}
