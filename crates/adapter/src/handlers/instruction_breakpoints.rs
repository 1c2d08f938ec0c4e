//! Breakpoints on instructions, by address or by a line of a disassembly source.

use crate::adapter::Adapter;
use crate::breakpoints::Wanted;
use crate::{from_dap, to_dap};
use dapple_dap::server::{ClientConventions, Context, Failure};
use dapple_dap::types::{
    Breakpoint, BreakpointReason, SetInstructionBreakpointsArguments,
    SetInstructionBreakpointsResponse,
};
use dapple_engine::Session;
use dapple_engine::session::{BreakpointState, InstructionBreakpoint, LineBreakpoint};
use std::collections::{HashMap, VecDeque};

/// Replaces all instruction breakpoints but those on lines of disassembly.
pub fn set_instruction_breakpoints(
    adapter: &mut Adapter,
    arguments: SetInstructionBreakpointsArguments,
    context: &mut Context,
) -> Result<SetInstructionBreakpointsResponse, Failure> {
    let wanted: Vec<_> = arguments
        .breakpoints
        .iter()
        .map(from_dap::instruction_breakpoint)
        .collect();
    let good = wanted.iter().filter_map(|wanted| wanted.as_ref().ok());
    let good = adapter
        .breakpoints
        .replace_instructions(good.cloned().collect());
    let ids: Vec<i64> = good.iter().map(|wanted| wanted.id).collect();
    let answers = |mut good: VecDeque<Breakpoint>| {
        let answer = |wanted: &Result<InstructionBreakpoint, String>| match wanted {
            Ok(_) => good.pop_front(),
            Err(why) => Some(to_dap::unverified(why, BreakpointReason::Failed)),
        };
        SetInstructionBreakpointsResponse::new(wanted.iter().filter_map(answer).collect())
    };
    let unresolved = |message: &str| {
        let answer = |wanted: &Wanted<InstructionBreakpoint>| {
            to_dap::unverified(message, BreakpointReason::Pending)
                .with_id(wanted.id)
                .with_instruction_reference(wanted.what.address.to_string())
        };
        answers(good.iter().map(answer).collect())
    };
    Ok(match set_all(adapter, &ids, context.conventions())? {
        Ok(set) => answers(set.into()),
        Err(why) => unresolved(&why),
    })
}

/// Replaces the breakpoints on lines of a disassembly source.
pub(super) fn set_listed(
    adapter: &mut Adapter,
    reference: i64,
    wanted: Vec<LineBreakpoint>,
    context: &mut Context,
) -> Result<Vec<Breakpoint>, Failure> {
    let client = context.conventions();
    let instruction = |wanted: &LineBreakpoint| {
        let address = adapter.disassembled.instruction(reference, wanted.line)?;
        let options = wanted.options.clone();
        Some((wanted.line, InstructionBreakpoint { address, options }))
    };
    let wanted: Vec<_> = wanted.iter().map(instruction).collect();
    let good = wanted.iter().flatten().cloned().collect();
    let ids = adapter.breakpoints.replace_listed(reference, good);
    let mut set = match set_all(adapter, &ids, client)? {
        Ok(set) => VecDeque::from(set),
        Err(why) => {
            let unset = |id: &i64| to_dap::unverified(&why, BreakpointReason::Pending).with_id(*id);
            ids.iter().map(unset).collect()
        }
    };
    let answer = |wanted: &Option<_>| match wanted {
        Some(_) => set.pop_front(),
        None => {
            let why = "there is no instruction on that line";
            Some(to_dap::unverified(why, BreakpointReason::Failed))
        }
    };
    Ok(wanted.iter().filter_map(answer).collect())
}

/// Sets all instruction breakpoints in the engine; returns the states of those with `ids`, in that order. The inner error says why all are
/// pending.
fn set_all(
    adapter: &mut Adapter,
    ids: &[i64],
    client: &ClientConventions,
) -> Result<Result<Vec<Breakpoint>, String>, Failure> {
    let all = adapter.breakpoints.instructions();
    let states = match adapter.set_wanted(&all, Session::set_instruction_breakpoints)? {
        Ok(states) => states,
        Err(why) => return Ok(Err(why)),
    };
    let by_id: HashMap<i64, &BreakpointState> =
        all.iter().map(|wanted| wanted.id).zip(&states).collect();
    let shown = |id: &i64| Some(adapter.placed(by_id.get(id)?, *id, client));
    Ok(Ok(ids.iter().filter_map(shown).collect()))
}
