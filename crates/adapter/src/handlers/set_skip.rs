//! The custom request `dapple/setSkip`: changes during a session which functions and files steps don't enter.

use crate::adapter::Adapter;
use crate::to_dap::OrFail;
use dapple_dap::Request;
use dapple_dap::message::Empty;
use dapple_dap::server::{Context, Failure};
use dapple_engine::session::stepping::SkipList;
use serde::{Deserialize, Serialize};

/// Replaces the patterns of code that steps don't enter, which `skip` in the launch configuration sets at first.
#[derive(Debug)]
pub struct SetSkipRequest;

/// The arguments of [`SetSkipRequest`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SetSkipArguments {
    /// The complete list of patterns.
    pub skip: Vec<String>,
}

impl Request for SetSkipRequest {
    const COMMAND: &'static str = "dapple/setSkip";
    type Arguments = SetSkipArguments;
    type Response = Empty;
}

/// Replaces the patterns, also while the program runs: a step in progress continues with the new ones. A later launch sets the
/// patterns of its own arguments.
pub fn set_skip(
    adapter: &mut Adapter,
    arguments: SetSkipArguments,
    _: &mut Context,
) -> Result<Empty, Failure> {
    let patterns = arguments.skip.iter().map(String::as_str);
    let list = SkipList::parse(patterns).map_err(Failure::new)?;
    let list = list.with_third_party(adapter.third_party.clone());
    if let Some(debuggee) = &adapter.debuggee {
        debuggee.set_skip(list.clone()).or_fail()?;
    }
    adapter.skip = list;
    Ok(Empty)
}
