//! How it is decided whether breakpoints act: the custom request `dapple/decided`.

use crate::adapter::Adapter;
use crate::to_dap::OrFail;
use dapple_dap::Request;
use dapple_dap::message::Empty;
use dapple_dap::server::{Context, Failure};
use serde::{Deserialize, Serialize};

/// Lists the breakpoints that have a condition, a hit condition or a message.
#[derive(Debug)]
pub struct DecidedRequest;

/// The breakpoints.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct DecidedResponse {
    /// One for each.
    pub breakpoints: Vec<DecidedBreakpoint>,
    /// How many bytes of code, counters and messages the debugger has added to the program's memory for that.
    #[serde(default)]
    pub memory: u64,
}

/// How it is decided whether a breakpoint acts on a hit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DecidedBreakpoint {
    /// The breakpoint's id.
    pub id: i64,
    /// At how many of its places the program decides by itself.
    pub in_program: usize,
    /// At how many of its places a stub decides whether to stop a thread.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub by_stub: usize,
    /// Why each hit stops the thread at the other places: clauses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_stops: Vec<String>,
    /// How often its condition has held so far.
    pub hits: u64,
    /// How many hits come before the next on which it acts. `None`: it acts on no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skips: Option<u64>,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Request for DecidedRequest {
    const COMMAND: &'static str = "dapple/decided";
    type Arguments = Empty;
    type Response = DecidedResponse;
}

/// Lists the breakpoints.
pub fn decided(
    adapter: &mut Adapter,
    _arguments: Empty,
    _context: &mut Context,
) -> Result<DecidedResponse, Failure> {
    let decisions = adapter.debuggee()?.decisions().or_fail()?;
    let breakpoints = decisions
        .breakpoints
        .into_iter()
        .map(|decided| DecidedBreakpoint {
            id: decided.id,
            in_program: decided.in_program,
            by_stub: decided.by_stub,
            by_stops: decided.by_stops,
            hits: decided.hits,
            skips: decided.skips,
        });
    Ok(DecidedResponse {
        breakpoints: breakpoints.collect(),
        memory: decisions.memory,
    })
}
