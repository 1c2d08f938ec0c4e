//! Running on, stepping, pausing.

use crate::adapter::Adapter;
use crate::{from_dap, to_dap};
use dapple_dap::message::Empty;
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::{
    ContinueArguments, ContinueResponse, NextArguments, PauseArguments, StepInArguments,
    StepOutArguments, SteppingGranularity,
};
use dapple_engine::session::StepKind;

/// Runs all threads, or with `singleThread` one while the others stay as they are.
pub fn resume(
    adapter: &mut Adapter,
    arguments: ContinueArguments,
    _: &mut Context,
) -> Result<ContinueResponse, Failure> {
    if arguments.single_thread == Some(true) {
        let thread = from_dap::thread(arguments.thread_id)?;
        adapter
            .partly_stopped()?
            .resume_only(thread)
            .map_err(|error| to_dap::failure(&error))?;
        adapter.partly_resumed();
        return Ok(ContinueResponse::new().with_all_threads_continued(false));
    }
    adapter
        .partly_stopped()?
        .resume()
        .map_err(|error| to_dap::failure(&error))?;
    adapter.resumed();
    Ok(ContinueResponse::new().with_all_threads_continued(true))
}

/// Steps over.
pub fn next(
    adapter: &mut Adapter,
    arguments: NextArguments,
    _: &mut Context,
) -> Result<Empty, Failure> {
    step(
        adapter,
        arguments.thread_id,
        StepKind::Over,
        arguments.granularity.as_ref(),
    )
}

/// Steps into.
pub fn step_in(
    adapter: &mut Adapter,
    arguments: StepInArguments,
    _: &mut Context,
) -> Result<Empty, Failure> {
    step(
        adapter,
        arguments.thread_id,
        StepKind::Into,
        arguments.granularity.as_ref(),
    )
}

/// Steps out.
pub fn step_out(
    adapter: &mut Adapter,
    arguments: StepOutArguments,
    _: &mut Context,
) -> Result<Empty, Failure> {
    step(
        adapter,
        arguments.thread_id,
        StepKind::Out,
        arguments.granularity.as_ref(),
    )
}

fn step(
    adapter: &mut Adapter,
    thread: i64,
    kind: StepKind,
    granularity: Option<&SteppingGranularity>,
) -> Result<Empty, Failure> {
    adapter
        .stopped()?
        .step(from_dap::thread(thread)?, from_dap::step(kind, granularity))
        .map_err(|error| to_dap::failure(&error))?;
    adapter.resumed();
    Ok(Empty)
}

/// Stops all threads. The answer comes at once, the stop as an event; nothing happens to a stopped program.
pub fn pause(
    adapter: &mut Adapter,
    arguments: PauseArguments,
    _: &mut Context,
) -> Result<Empty, Failure> {
    let debuggee = adapter.debuggee()?;
    // Clients that know of no thread yet send 0 or 1; what isn't a thread of the program counts as none.
    let thread = from_dap::thread(arguments.thread_id).ok();
    if adapter.stopped().is_err() {
        debuggee
            .pause(thread)
            .map_err(|error| to_dap::failure(&error))?;
    }
    Ok(Empty)
}
