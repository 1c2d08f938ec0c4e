//! The `restartFrame` request.

use crate::adapter::Adapter;
use crate::to_dap::OrFail;
use dapple_dap::message::Empty;
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::RestartFrameArguments;

/// Moves the thread back to the beginning of the function of a frame.
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
