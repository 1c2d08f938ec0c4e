//! The end of the client's configuration, before or after the start.

use crate::adapter::Adapter;
use dapple_dap::message::Empty;
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::{ConfigurationDoneArguments, TerminatedEvent};

/// The client has configured: the program may run.
pub fn configuration_done(
    adapter: &mut Adapter,
    _: ConfigurationDoneArguments,
    context: &mut Context,
) -> Result<Empty, Failure> {
    adapter.configured = true;
    let started = adapter.start_when_ready(context.outbox());
    started.map_err(|failure| {
        adapter.end();
        context
            .outbox()
            .event::<TerminatedEvent>(Default::default());
        failure.show_user()
    })?;
    Ok(Empty)
}
