//! The `stepBack` and `reverseContinue` requests, and their capability.

use super::step::granularity;
use crate::adapter::Adapter;
use crate::from_dap;
use crate::to_dap::OrFail;
use dapple_dap::message::Empty;
use dapple_dap::server::{Context, Failure, Outbox};
use dapple_dap::types::{
    Capabilities, CapabilitiesEvent, CapabilitiesEventBody, ReverseContinueArguments,
    StepBackArguments, SteppingGranularity,
};
use dapple_engine::session::travel::StepBack;

/// Tells the client that the program is recorded.
pub fn is_recorded(outbox: &Outbox) {
    let can = Capabilities::new().with_supports_step_back(true);
    outbox.event::<CapabilitiesEvent>(CapabilitiesEventBody::new(can));
}

/// Steps backwards.
pub fn step_back(
    adapter: &mut Adapter,
    arguments: StepBackArguments,
    _: &mut Context,
) -> Result<Empty, Failure> {
    let granularity = granularity(adapter, arguments.thread_id, arguments.granularity.as_ref());
    let how = match granularity {
        Some(SteppingGranularity::Instruction) => StepBack::Instruction,
        _ => StepBack::Line,
    };
    let thread = from_dap::thread(arguments.thread_id)?;
    adapter.stopped()?.step_back(thread, how).or_fail()?;
    adapter.resumed();
    Ok(Empty)
}

/// Runs backwards.
pub fn reverse_continue(
    adapter: &mut Adapter,
    arguments: ReverseContinueArguments,
    _: &mut Context,
) -> Result<Empty, Failure> {
    let thread = from_dap::thread(arguments.thread_id)?;
    adapter.stopped()?.reverse(thread).or_fail()?;
    adapter.resumed();
    Ok(Empty)
}
