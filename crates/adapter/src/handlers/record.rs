//! Recording a program from a stop on: by the custom request `dapple/record`, or by `record on` in the debug console.

use super::back;
use crate::adapter::Adapter;
use crate::to_dap::OrFail;
use dapple_dap::Request;
use dapple_dap::message::Empty;
use dapple_dap::server::{Context, Failure};

/// The console command. It is no expression in any language.
pub const TYPED: &str = "record on";

/// Records the program from here on. A `capabilities` event says that it can run backwards.
#[derive(Debug)]
pub struct RecordRequest;

impl Request for RecordRequest {
    const COMMAND: &'static str = "dapple/record";
    type Arguments = Empty;
    type Response = Empty;
}

/// Records the stopped program from here on.
pub fn record(
    adapter: &mut Adapter,
    _arguments: Empty,
    context: &mut Context,
) -> Result<Empty, Failure> {
    begin(adapter, context)?;
    Ok(Empty)
}

fn begin(adapter: &mut Adapter, context: &Context) -> Result<(), Failure> {
    adapter.stopped()?.record_from_here().or_fail()?;
    back::is_recorded(context.outbox());
    Ok(())
}

/// Runs the console command. Returns what is said.
pub fn typed(adapter: &mut Adapter, context: &Context) -> Result<String, Failure> {
    begin(adapter, context)?;
    Ok("the program is recorded from here on, and can run backwards up to here".to_owned())
}
