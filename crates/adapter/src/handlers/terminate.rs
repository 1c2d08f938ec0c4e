//! The `terminate` request.

use crate::adapter::{Adapter, Phase};
use crate::to_dap;
use dapple_dap::message::Empty;
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::{ContinuedEvent, ContinuedEventBody, TerminateArguments, TerminatedEvent};
use dapple_engine::Error;

/// Asks the program to end by a signal, which it may handle or ignore; the second request kills it. A stopped program is resumed so
/// that it can handle the signal; a `continued` event reports that.
pub fn terminate(
    adapter: &mut Adapter,
    arguments: TerminateArguments,
    context: &mut Context,
) -> Result<Empty, Failure> {
    context.outbox().shed_output();
    if adapter.phase == Phase::Ended {
        return Ok(Empty);
    }
    if let Some(building) = &mut adapter.building {
        // The launch fails when its build is cancelled, and that ends the session.
        building.give_up();
        return Ok(Empty);
    }
    if adapter
        .untraced
        .as_ref()
        .is_some_and(|untraced| untraced.process().is_none())
    {
        // The process is not started yet.
        adapter.end();
        context
            .outbox()
            .event::<TerminatedEvent>(Default::default());
        return Ok(Empty);
    }
    let asked = match (&adapter.untraced, adapter.asked_to_end) {
        (Some(untraced), true) => untraced.kill(),
        (None, true) => adapter.debuggee()?.kill(),
        (Some(_), false) => adapter.ask_to_end(),
        (None, false) => {
            adapter.debuggee()?;
            adapter.ask_to_end()
        }
    };
    match asked {
        Ok(()) => {}
        Err(Error::Ended) => return Ok(Empty),
        Err(error) => return Err(to_dap::failure(&error)),
    }
    adapter.asked_to_end = true;
    adapter.begun_again = arguments.restart == Some(true);
    if let Some(thread) = adapter.stopped_thread() {
        context.outbox().event::<ContinuedEvent>(
            ContinuedEventBody::new(i64::from(thread.0)).with_all_threads_continued(true),
        );
    }
    adapter.resumed();
    Ok(Empty)
}
