//! The `stepBack` and `reverseContinue` requests, and their capability.

use super::step::granularity;
use crate::adapter::Adapter;
use crate::from_dap;
use crate::to_dap::OrFail;
use dapple_dap::Request;
use dapple_dap::message::Empty;
use dapple_dap::server::{Context, Failure, Outbox};
use dapple_dap::types::{
    Capabilities, CapabilitiesEvent, CapabilitiesEventBody, ReverseContinueArguments,
    StepBackArguments, SteppingGranularity,
};
use dapple_engine::session::travel::StepBack;
use serde::{Deserialize, Serialize};

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
        Some(SteppingGranularity::Statement) => StepBack::Statement,
        _ => StepBack::Line,
    };
    let thread = from_dap::thread(arguments.thread_id)?;
    adapter.stopped()?.step_back(thread, how).or_fail()?;
    adapter.resumed();
    Ok(Empty)
}

/// Steps a thread backwards in a way that the protocol doesn't have.
#[derive(Debug)]
pub struct StepBackFurtherRequest;

/// Which thread, and how far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepBackFurtherArguments {
    /// The thread.
    pub thread_id: i64,
    /// How far.
    pub how: Further,
}

/// How far a step back goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Further {
    /// To the line that ran before, also in a function that was called.
    Into,
    /// To the call of this function.
    Out,
}

impl Request for StepBackFurtherRequest {
    const COMMAND: &'static str = "dapple/stepBack";
    type Arguments = StepBackFurtherArguments;
    type Response = Empty;
}

/// Steps backwards, into a function or out to the call.
pub fn step_back_further(
    adapter: &mut Adapter,
    arguments: StepBackFurtherArguments,
    _: &mut Context,
) -> Result<Empty, Failure> {
    let how = match arguments.how {
        Further::Into => StepBack::Into,
        Further::Out => StepBack::Out,
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
