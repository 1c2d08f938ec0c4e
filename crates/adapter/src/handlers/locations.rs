//! The `locations` request: where a variable is declared, and the source of the code that a pointer points to.

use crate::adapter::{Adapter, Location};
use crate::to_dap::OrFail;
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::{LocationsArguments, LocationsResponse};

/// Resolves a `locationReference` to a source and a line.
pub fn locations(
    adapter: &mut Adapter,
    arguments: LocationsArguments,
    context: &mut Context,
) -> Result<LocationsResponse, Failure> {
    let debuggee = adapter.partly_stopped()?;
    let id = arguments.location_reference;
    let Ok(location) = adapter.locations.get(id) else {
        return Err(Failure::new(format!(
            "there is no location {id} any more; they are good until the program runs on"
        )));
    };
    let (found, what, code) = match *location {
        Location::Declaration { frame, list, index } => {
            let found = debuggee.declaration(frame, list, index);
            (found, "where this is declared", None)
        }
        Location::Code(address) => (
            debuggee.code_position(address),
            "what source that code is of",
            Some(address),
        ),
    };
    let found = found.or_fail()?;
    let Some(at) = found else {
        return Err(Failure::new(format!("no debug information says {what}")));
    };
    let client = context.conventions();
    let (source, line) = adapter.shown_source(&at, code, client);
    let is_listing = source.source_reference.is_some();
    if source.path.is_none() && !is_listing {
        let (file, line) = (at.file.display(), at.line);
        return Err(Failure::new(format!(
            "this is line {line} of {file}, which is not on this machine"
        )));
    }
    let response = LocationsResponse::new(source, client.line_to_client(line));
    Ok(match at.column {
        _ if is_listing => response,
        0 => response,
        column => response.with_column(client.column_to_client(i64::from(column))),
    })
}
