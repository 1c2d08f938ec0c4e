//! Where breakpoints can be, and breakpoints on single instructions.

use super::NO_DEBUG;
use super::breakpoints::NO_PROGRAM;
use crate::adapter::Adapter;
use crate::{from_dap, to_dap};
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::{
    Breakpoint, BreakpointLocation, BreakpointLocationsArguments, BreakpointLocationsResponse,
    BreakpointReason, SetInstructionBreakpointsArguments, SetInstructionBreakpointsResponse,
};
use dapple_engine::Error;
use dapple_engine::session::InstructionBreakpoint;
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
    let good = wanted.iter().filter_map(|wanted| wanted.as_ref().ok());
    let good: Vec<_> = good.cloned().collect();
    let ids = adapter.breakpoints.replace_instructions(good.clone());
    let answers = |mut good: VecDeque<Breakpoint>| {
        let answer = |wanted: &Result<InstructionBreakpoint, String>| match wanted {
            Ok(_) => good.pop_front(),
            Err(why) => Some(to_dap::unverified(why, BreakpointReason::Failed)),
        };
        SetInstructionBreakpointsResponse::new(wanted.iter().filter_map(answer).collect())
    };
    let unresolved = |message: &str| {
        let answer = |(id, wanted): (&i64, &InstructionBreakpoint)| {
            to_dap::unverified(message, BreakpointReason::Pending)
                .with_id(*id)
                .with_instruction_reference(wanted.address.to_string())
        };
        answers(ids.iter().zip(&good).map(answer).collect())
    };
    if adapter.no_debug {
        return Ok(unresolved(NO_DEBUG));
    }
    let Some(debuggee) = &adapter.debuggee else {
        return Ok(unresolved(NO_PROGRAM));
    };
    let states = match debuggee.set_instruction_breakpoints(good.clone()) {
        Ok(states) => states,
        Err(error @ Error::Ended) => return Ok(unresolved(&error.to_string())),
        Err(error) => return Err(to_dap::failure(&error)),
    };
    let client = context.conventions();
    let mut set = VecDeque::with_capacity(states.len());
    for (state, id) in states.iter().zip(&ids) {
        adapter.breakpoints.bind(state.id, *id);
        let source = adapter.source_at(state, client);
        set.push_back(to_dap::breakpoint(state, *id, source, client));
    }
    Ok(answers(set))
}
