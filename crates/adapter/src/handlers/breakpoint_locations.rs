//! The `breakpointLocations` request.

use crate::adapter::Adapter;
use crate::source_words;
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::{
    BreakpointLocation, BreakpointLocationsArguments, BreakpointLocationsResponse,
};

/// Lists the statements in a range of lines. The list is empty without a program, and for a source without a file.
pub fn breakpoint_locations(
    adapter: &mut Adapter,
    arguments: BreakpointLocationsArguments,
    context: &mut Context,
) -> Result<BreakpointLocationsResponse, Failure> {
    let client = context.conventions();
    let Some(here) = adapter.path_of(&arguments.source, client) else {
        return Ok(BreakpointLocationsResponse::new(Vec::new()));
    };
    let file = adapter.source_map.in_debuggee(&here);
    let line = |line: i64| u32::try_from(client.line_from_client(line).max(0)).unwrap_or(u32::MAX);
    let column =
        |column: i64| u32::try_from(client.column_from_client(column).max(0)).unwrap_or(u32::MAX);
    let first = line(arguments.line);
    let last = arguments.end_line.map_or(first, line);
    let from = (first, arguments.column.map_or(0, column));
    let to = (last, arguments.end_column.map_or(u32::MAX, column));
    let places = adapter.if_debugged(|debuggee| debuggee.breakpoint_places(&file, first..=last))?;
    let places = source_words::without_ends_of_words(places.unwrap_or_default(), &here);
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
