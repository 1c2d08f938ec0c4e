//! The `configurationDone` request. It comes before or after the program is launched.

use crate::adapter::Adapter;
use dapple_dap::message::Empty;
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::{ConfigurationDoneArguments, TerminatedEvent};

/// Runs the program if it is launched already; otherwise the launch runs it.
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
