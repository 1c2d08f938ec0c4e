//! Beginning a frame's function again.

use crate::adapter::Adapter;
use crate::to_dap::OrFail;
use dapple_dap::message::Empty;
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::RestartFrameArguments;

/// Begins a frame's function again.
pub fn restart_frame(
    adapter: &mut Adapter,
    arguments: RestartFrameArguments,
    _: &mut Context,
) -> Result<Empty, Failure> {
    let frame = super::stack_trace::frame(adapter, arguments.frame_id)?;
    let debuggee = adapter.stopped()?;
    debuggee.restart_frame(frame).or_fail()?;
    adapter.resumed();
    Ok(Empty)
}
