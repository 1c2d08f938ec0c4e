//! The `threads` request.

use super::tasks;
use crate::adapter::Adapter;
use crate::{clients, to_dap};
use dapple_dap::message::Empty;
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::ThreadsResponse;
use dapple_engine::Error;
use dapple_engine::untraced::Untraced;

/// Lists the live threads. The list is empty without a program, because clients ask at any time.
pub fn threads(
    adapter: &mut Adapter,
    _: Empty,
    context: &mut Context,
) -> Result<ThreadsResponse, Failure> {
    let threads = match &adapter.debuggee {
        Some(debuggee) => debuggee.threads(),
        None => Ok(adapter
            .untraced
            .as_ref()
            .map(Untraced::threads)
            .unwrap_or_default()),
    };
    let threads = match threads {
        Ok(threads) => threads,
        Err(Error::Ended) => Vec::new(),
        Err(error) => return Err(to_dap::failure(&error)),
    };
    let mut listed = clients::threads(context.client(), &threads);
    // The terminal debugger has commands of its own for tasks.
    if !clients::is_terminal(context.client()) && !adapter.hides_tasks {
        listed.extend(tasks::as_threads(adapter));
    }
    Ok(ThreadsResponse::new(listed))
}
