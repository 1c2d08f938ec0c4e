//! The `breakpointLocations` request.

use crate::adapter::Adapter;
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::{
    BreakpointLocation, BreakpointLocationsArguments, BreakpointLocationsResponse,
};
use std::collections::HashSet;
use std::path::Path;

/// The longest source file that is looked at, in bytes.
const LONGEST_SOURCE: u64 = 1 << 24;

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
    let places = without_ends_of_words(places.unwrap_or_default(), &here);
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

/// Leaves out places in the middle of a word where the line has another one. For the code that drops what an `await` has awaited, rustc
/// gives the column of the word's last letter.
fn without_ends_of_words(places: Vec<(u32, u32)>, file: &Path) -> Vec<(u32, u32)> {
    let is_several = places.windows(2).any(|pair| pair[0].0 == pair[1].0);
    let is_short = || std::fs::metadata(file).is_ok_and(|file| file.len() <= LONGEST_SOURCE);
    if !is_several || !is_short() {
        return places;
    }
    let text = std::fs::read(file).unwrap_or_default();
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    let is_within = |(line, column): (u32, u32)| {
        let line = lines.get((line as usize).wrapping_sub(1));
        let is_letter = |at: usize| {
            let byte = line.and_then(|line| line.get(at)).copied();
            byte.is_some_and(|byte| {
                byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
            })
        };
        let at = column as usize;
        at >= 2 && is_letter(at - 1) && is_letter(at - 2)
    };
    let begins: HashSet<u32> = { places.iter() }
        .filter(|place| !is_within(**place))
        .map(|(line, _)| *line)
        .collect();
    let mut places = places;
    places.retain(|place| !is_within(*place) || !begins.contains(&place.0));
    places
}
