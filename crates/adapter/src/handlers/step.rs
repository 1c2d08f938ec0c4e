//! The `next`, `stepIn`, `stepInTargets` and `stepOut` requests.

use crate::adapter::Adapter;
use crate::to_dap::OrFail;
use crate::{from_dap, to_dap};
use dapple_dap::message::Empty;
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::{
    NextArguments, StepInArguments, StepInTargetsArguments, StepInTargetsResponse,
    StepOutArguments, SteppingGranularity,
};
use dapple_engine::session::stepping::Callee;
use dapple_engine::session::{StepKind, StepOptions};

/// Steps over.
pub fn next(
    adapter: &mut Adapter,
    arguments: NextArguments,
    _: &mut Context,
) -> Result<Empty, Failure> {
    let granularity = granularity(adapter, arguments.thread_id, arguments.granularity.as_ref());
    let (kind, options) = from_dap::step(StepKind::Over, granularity, arguments.single_thread);
    step(adapter, arguments.thread_id, kind, options)
}

/// The granularity of a step. The default is an instruction for a thread whose innermost frame is shown as disassembly, except at a
/// sanitizer's report or a panic.
pub(super) fn granularity<'a>(
    adapter: &Adapter,
    thread: i64,
    asked: Option<&'a SteppingGranularity>,
) -> Option<&'a SteppingGranularity> {
    let mut shown = adapter.in_disassembly.difference(&adapter.in_runtime);
    let is_shown = asked.is_none() && shown.any(|shown| i64::from(shown.0) == thread);
    is_shown
        .then_some(&SteppingGranularity::Instruction)
        .or(asked)
}

/// Steps into.
pub fn step_in(
    adapter: &mut Adapter,
    arguments: StepInArguments,
    _: &mut Context,
) -> Result<Empty, Failure> {
    let granularity = granularity(adapter, arguments.thread_id, arguments.granularity.as_ref());
    let (mut kind, mut options) =
        from_dap::step(StepKind::Into, granularity, arguments.single_thread);
    if let Some(id) = arguments.target_id {
        options.target = Some(chosen(adapter, arguments.thread_id, id)?);
        kind = StepKind::Into;
    }
    step(adapter, arguments.thread_id, kind, options)
}

/// The call that a `targetId` stands for.
fn chosen(adapter: &Adapter, thread: i64, id: i64) -> Result<Callee, Failure> {
    let Ok((of, callee)) = adapter.callees.get(id) else {
        return Err(Failure::new(format!(
            "there is no target {id} to step into any more; targets are good until the program runs on"
        )));
    };
    if i64::from(of.0) != thread {
        return Err(Failure::new(format!(
            "target {id} is a call of thread {of}, and not of thread {thread}"
        )));
    }
    Ok(*callee)
}

/// Lists the calls that the rest of the line makes in the innermost frame.
pub fn step_in_targets(
    adapter: &mut Adapter,
    arguments: StepInTargetsArguments,
    context: &mut Context,
) -> Result<StepInTargetsResponse, Failure> {
    let frame = super::stack_trace::frame(adapter, arguments.frame_id)?;
    let targets = adapter.stopped()?.step_targets(frame).or_fail()?;
    let mut shown = Vec::with_capacity(targets.len());
    for target in targets {
        let callee = (frame.thread, target.into);
        let id = match adapter.callees.find(&callee) {
            Some(id) => id,
            None => adapter.callees.insert(callee)?,
        };
        shown.push(to_dap::step_in_target(&target, id, context.conventions()));
    }
    Ok(StepInTargetsResponse::new(shown))
}

/// Steps out.
pub fn step_out(
    adapter: &mut Adapter,
    arguments: StepOutArguments,
    _: &mut Context,
) -> Result<Empty, Failure> {
    let granularity = arguments.granularity.as_ref();
    let (kind, options) = from_dap::step(StepKind::Out, granularity, arguments.single_thread);
    step(adapter, arguments.thread_id, kind, options)
}

fn step(
    adapter: &mut Adapter,
    thread: i64,
    kind: StepKind,
    options: StepOptions,
) -> Result<Empty, Failure> {
    adapter
        .stopped()?
        .step_as(from_dap::thread(thread)?, kind, options)
        .or_fail()?;
    match options.alone {
        true => {
            adapter
                .in_disassembly
                .retain(|shown| i64::from(shown.0) != thread);
            adapter.partly_resumed();
        }
        false => adapter.resumed(),
    }
    Ok(Empty)
}
