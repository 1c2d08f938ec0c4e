//! The `terminateThreads` request.

use crate::adapter::Adapter;
use crate::from_dap;
use crate::to_dap::OrFail;
use dapple_dap::message::Empty;
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::TerminateThreadsArguments;

/// Ends threads without destructors or unlocking.
pub fn terminate_threads(
    adapter: &mut Adapter,
    arguments: TerminateThreadsArguments,
    _: &mut Context,
) -> Result<Empty, Failure> {
    let threads = arguments.thread_ids.unwrap_or_default();
    let threads = threads
        .into_iter()
        .map(from_dap::thread)
        .collect::<Result<Vec<_>, _>>()?;
    if threads.is_empty() {
        return Err(Failure::new("no threads are named to end"));
    }
    let debuggee = adapter.debuggee()?;
    debuggee.end_threads(threads).or_fail()?;
    Ok(Empty)
}
