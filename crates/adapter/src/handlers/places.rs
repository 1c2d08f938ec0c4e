//! Where breakpoints can be, and breakpoints on single instructions.

use super::NO_DEBUG;
use super::breakpoints::NO_PROGRAM;
use crate::adapter::Adapter;
use crate::breakpoints::Wanted;
use crate::{from_dap, to_dap};
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::{
    Breakpoint, BreakpointLocation, BreakpointLocationsArguments, BreakpointLocationsResponse,
    BreakpointReason, SetInstructionBreakpointsArguments, SetInstructionBreakpointsResponse,
};
use dapple_engine::Error;
use std::collections::VecDeque;

/// Lists the statements of a stretch of lines. Without a program, or for a source without a file, there are none.
pub fn breakpoint_locations(
    adapter: &mut Adapter,
    arguments: BreakpointLocationsArguments,
    context: &mut Context,
) -> Result<BreakpointLocationsResponse, Failure> {
    let client = context.conventions();
    let none = || Ok(BreakpointLocationsResponse::new(Vec::new()));
    let (Some(file), Some(debuggee)) =
        (from_dap::path(&arguments.source, client), &adapter.debuggee)
    else {
        return none();
    };
    let file = adapter.source_map.in_debuggee(&file);
    let line = |line: i64| u32::try_from(client.line_from_client(line).max(0)).unwrap_or(u32::MAX);
    let column =
        |column: i64| u32::try_from(client.column_from_client(column).max(0)).unwrap_or(u32::MAX);
    let first = line(arguments.line);
    let last = arguments.end_line.map_or(first, line);
    let from = (first, arguments.column.map_or(0, column));
    let to = (last, arguments.end_column.map_or(u32::MAX, column));
    let places = match debuggee.breakpoint_places(&file, first..=last) {
        Ok(places) => places,
        Err(Error::Ended) => return none(),
        Err(error) => return Err(to_dap::failure(&error)),
    };
    let wanted = places
        .into_iter()
        .filter(|place| (from..=to).contains(place));
    let shown = |(line, column): (u32, u32)| {
        let location = BreakpointLocation::new(client.line_to_client(i64::from(line)));
        match column {
            0 => location,
            column => location.with_column(client.column_to_client(i64::from(column))),
        }
    };
    Ok(BreakpointLocationsResponse::new(
        wanted.map(shown).collect(),
    ))
}

/// Replaces the breakpoints on instructions.
pub fn set_instruction_breakpoints(
    adapter: &mut Adapter,
    arguments: SetInstructionBreakpointsArguments,
    context: &mut Context,
) -> Result<SetInstructionBreakpointsResponse, Failure> {
    let wanted: Vec<_> = arguments
        .breakpoints
        .iter()
        .map(from_dap::instruction_breakpoint)
        .collect();
    let unresolved = |message: &str| {
        let answer = to_dap::unverified(message, BreakpointReason::Pending);
        SetInstructionBreakpointsResponse::new(vec![answer; wanted.len()])
    };
    if adapter.no_debug {
        return Ok(unresolved(NO_DEBUG));
    }
    let Some(debuggee) = &adapter.debuggee else {
        return Ok(unresolved(NO_PROGRAM));
    };
    let good = wanted.iter().filter_map(|wanted| wanted.as_ref().ok());
    let states = match debuggee.set_instruction_breakpoints(good.cloned().collect()) {
        Ok(states) => states,
        Err(error @ Error::Ended) => return Ok(unresolved(&error.to_string())),
        Err(error) => return Err(to_dap::failure(&error)),
    };
    let mut states = VecDeque::from(states);
    let mut kept = Vec::new();
    let mut answers: Vec<Breakpoint> = Vec::with_capacity(wanted.len());
    let client = context.conventions();
    for wanted in &wanted {
        let answer = match (wanted, wanted.is_ok().then(|| states.pop_front()).flatten()) {
            (Ok(wanted), Some(state)) => {
                let id = adapter.breakpoints.client_id(state.id);
                let what = wanted.clone();
                kept.push(Wanted { what, id });
                let answer = match &state.refused {
                    None => Breakpoint::new(true),
                    Some(why) => to_dap::unverified(why, BreakpointReason::Failed),
                };
                let answer = answer
                    .with_id(id)
                    .with_instruction_reference(wanted.address.to_string());
                match &state.position {
                    None => answer,
                    Some(position) => {
                        let source = adapter.source_map.source(&position.file, client);
                        answer
                            .with_source(source)
                            .with_line(client.line_to_client(i64::from(position.line)))
                    }
                }
            }
            (Err(why), _) => to_dap::unverified(why, BreakpointReason::Failed),
            (Ok(_), None) => to_dap::unverified(NO_PROGRAM, BreakpointReason::Failed),
        };
        answers.push(answer);
    }
    adapter.breakpoints.set_instructions(kept);
    Ok(SetInstructionBreakpointsResponse::new(answers))
}
