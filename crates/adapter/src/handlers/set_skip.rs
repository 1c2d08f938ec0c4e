//! Which code steps don't enter, changed while the session goes on: a request of our own, for clients that know it.

use crate::adapter::Adapter;
use crate::to_dap::OrFail;
use dapple_dap::Request;
use dapple_dap::message::Empty;
use dapple_dap::server::{Context, Failure};
use dapple_engine::session::stepping::SkipList;
use serde::{Deserialize, Serialize};

/// Says which code steps don't enter from now on, as `skip` in the launch configuration does for the session's begin.
#[derive(Debug)]
pub struct SetSkipRequest;

/// What [`SetSkipRequest`] carries.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SetSkipArguments {
    /// All patterns, those that stay as well.
    pub skip: Vec<String>,
}

impl Request for SetSkipRequest {
    const COMMAND: &'static str = "dapple/setSkip";
    type Arguments = SetSkipArguments;
    type Response = Empty;
}

/// Works before and while the program runs; a step under way ends as it would have.
pub fn set_skip(
    adapter: &mut Adapter,
    arguments: SetSkipArguments,
    _: &mut Context,
) -> Result<Empty, Failure> {
    let patterns = arguments.skip.iter().map(String::as_str);
    let list = SkipList::parse(patterns).map_err(Failure::new)?;
    if let Some(debuggee) = &adapter.debuggee {
        debuggee.set_skip(list.clone()).or_fail()?;
    }
    adapter.skip = list;
    Ok(Empty)
}
