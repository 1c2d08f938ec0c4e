//! Where what is shown is declared, and where functions' pointers lead.

use crate::adapter::{Adapter, Location};
use crate::to_dap;
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::{LocationsArguments, LocationsResponse};

/// The place that a reference of a variable or value stands for.
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
    let (found, what) = match *location {
        Location::Declaration { frame, list, index } => {
            let found = debuggee.declaration(frame, list, index);
            (found, "where this is declared")
        }
        Location::Code(address) => (
            debuggee.code_position(address),
            "what source that code is of",
        ),
    };
    let found = found.map_err(|error| to_dap::failure(&error))?;
    let Some(at) = found else {
        return Err(Failure::new(format!("no debug information says {what}")));
    };
    let client = context.conventions();
    let source = adapter.source_map.source(&at.file, client);
    let line = client.line_to_client(i64::from(at.line));
    let response = LocationsResponse::new(source, line);
    Ok(match at.column {
        0 => response,
        column => response.with_column(client.column_to_client(i64::from(column))),
    })
}
