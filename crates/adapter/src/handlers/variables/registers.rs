//! The registers of a frame as variables, in groups.

use super::page;
use crate::adapter::{Adapter, Reference};
use crate::to_dap;
use crate::to_dap::OrFail;
use dapple_dap::server::Failure;
use dapple_dap::types::{InitializeRequestArguments, VariablesArguments, VariablesResponse};
use dapple_engine::frame::FrameId;
use dapple_engine::registers::shown::ShownRegister;

/// Lists the parts of the register or group at a path; the empty path has all groups. Registers are read each time, because they may
/// have been set.
pub fn variables(
    adapter: &mut Adapter,
    frame: FrameId,
    path: &[usize],
    arguments: &VariablesArguments,
    client: &InitializeRequestArguments,
) -> Result<VariablesResponse, Failure> {
    let list = at(adapter, frame, path)?;
    let wanted = page(arguments, list.into_iter().enumerate());
    let mut shown = Vec::with_capacity(wanted.len());
    for (index, register) in wanted {
        let reference = match register.parts.is_empty() {
            true => 0,
            false => {
                let inside = [path, &[index]].concat();
                adapter
                    .references
                    .insert(Reference::Registers(frame, inside))?
            }
        };
        shown.push(to_dap::register(&register, reference, client));
    }
    Ok(VariablesResponse::new(shown))
}

/// The parts of the register or group at a path; empty if there is no such register.
pub fn at(
    adapter: &Adapter,
    frame: FrameId,
    path: &[usize],
) -> Result<Vec<ShownRegister>, Failure> {
    let mut list = registers(adapter, frame)?;
    for index in path {
        if *index >= list.len() {
            return Ok(Vec::new());
        }
        list = list.swap_remove(*index).parts;
    }
    Ok(list)
}

fn registers(adapter: &Adapter, frame: FrameId) -> Result<Vec<ShownRegister>, Failure> {
    let debuggee = adapter.partly_stopped()?;
    let registers = debuggee.registers(frame);
    registers.or_fail()
}
