//! Resuming threads and pausing them.

use crate::adapter::Adapter;
use crate::from_dap;
use crate::to_dap::OrFail;
use dapple_dap::message::Empty;
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::{ContinueArguments, ContinueResponse, PauseArguments};

/// Resumes all threads. With `singleThread`, resumes only one, and the others stay as they are.
pub fn continue_(
    adapter: &mut Adapter,
    arguments: ContinueArguments,
    _: &mut Context,
) -> Result<ContinueResponse, Failure> {
    if arguments.single_thread == Some(true) {
        let thread = from_dap::thread(arguments.thread_id)?;
        adapter.partly_stopped()?.resume_only(thread).or_fail()?;
        adapter.partly_resumed();
        return Ok(ContinueResponse::new().with_all_threads_continued(false));
    }
    adapter.partly_stopped()?.resume().or_fail()?;
    adapter.resumed();
    Ok(ContinueResponse::new().with_all_threads_continued(true))
}

/// Stops all threads. The response comes at once, the stop as an event. Does nothing if all threads are stopped.
pub fn pause(
    adapter: &mut Adapter,
    arguments: PauseArguments,
    _: &mut Context,
) -> Result<Empty, Failure> {
    let debuggee = adapter.debuggee()?;
    // Clients that know no thread yet send 0 or 1. An unknown thread id counts as none.
    let thread = from_dap::thread(arguments.thread_id).ok();
    if adapter.stopped().is_err() {
        debuggee.pause(thread).or_fail()?;
    }
    Ok(Empty)
}
