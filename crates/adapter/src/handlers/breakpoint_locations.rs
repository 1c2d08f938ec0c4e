//! Where breakpoints can be.

use crate::adapter::Adapter;
use crate::to_dap;
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::{
    BreakpointLocation, BreakpointLocationsArguments, BreakpointLocationsResponse,
};
use dapple_engine::Error;

/// Lists the statements of a stretch of lines. Without a program, or for a source without a file, there are none.
pub fn breakpoint_locations(
    adapter: &mut Adapter,
    arguments: BreakpointLocationsArguments,
    context: &mut Context,
) -> Result<BreakpointLocationsResponse, Failure> {
    let client = context.conventions();
    let none = || Ok(BreakpointLocationsResponse::new(Vec::new()));
    let (Some(file), Some(debuggee)) = (
        adapter.path_of(&arguments.source, client),
        &adapter.debuggee,
    ) else {
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
        Err(Error::Ended | Error::PostMortem) => return none(),
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
