//! Whether code at a place may change the status flags.

use super::{Code, direct_target};
use crate::Address;
use crate::instructions::{comes_back_by_itself, decode};
use iced_x86::{FlowControl, Instruction, Mnemonic, Register, RflagsBits};

/// The flags that arithmetic sets. The direction flag is not among them.
const STATUS: u32 = RflagsBits::OF
    | RflagsBits::SF
    | RflagsBits::ZF
    | RflagsBits::AF
    | RflagsBits::PF
    | RflagsBits::CF;

/// How many instructions are looked at.
const LIMIT: usize = 64;

/// Whether the status flags at `site` have no effect: on each path from there, all are overwritten before they are read. `function` has all
/// ranges of the function.
///
/// Calls, returns and jumps out of the function end a path: no flag is passed to a function or kept by one (ABI §3.2.1). What can't be
/// followed (indirect jumps, system calls, traps, more than 64 instructions) counts as reading them.
pub fn flags_are_dead(site: Address, function: &[Code<'_>]) -> bool {
    let mut open = vec![(site, STATUS)];
    let mut seen: Vec<(Address, u32)> = Vec::new();
    while let Some((address, live)) = open.pop() {
        let is_covered = |(at, flags): &(Address, u32)| *at == address && live & !flags == 0;
        if seen.iter().any(is_covered) {
            continue;
        }
        if seen.len() == LIMIT {
            return false;
        }
        seen.push((address, live));
        let code = function.iter().find_map(|range| range.from(address));
        let Some(instruction) = code.and_then(|code| decode(address, code)) else {
            return false;
        };
        if instruction.rflags_read() & live != 0 {
            return false;
        }
        let live = live & !overwritten(&instruction);
        if live == 0 {
            continue;
        }
        let Some(next) = successors(&instruction, function) else {
            return false;
        };
        open.extend(next.into_iter().flatten().map(|next| (next, live)));
    }
    true
}

/// The flags that an instruction sets whatever its operands are.
fn overwritten(instruction: &Instruction) -> u32 {
    // By 0 bits, a shift changes no flag; neither does a repeated comparison of no elements.
    let counts = match instruction.mnemonic() {
        Mnemonic::Shld | Mnemonic::Shrd => instruction.op2_register() == Register::CL,
        Mnemonic::Rol
        | Mnemonic::Ror
        | Mnemonic::Rcl
        | Mnemonic::Rcr
        | Mnemonic::Shl
        | Mnemonic::Sal
        | Mnemonic::Shr
        | Mnemonic::Sar => instruction.op1_register() == Register::CL,
        _ => {
            instruction.is_string_instruction()
                && (instruction.has_rep_prefix() || instruction.has_repne_prefix())
        }
    };
    if counts {
        0
    } else {
        instruction.rflags_modified()
    }
}

/// The instructions of the function that come after an instruction: none if it leaves the function. `None`: they aren't known.
fn successors(instruction: &Instruction, function: &[Code<'_>]) -> Option<[Option<Address>; 2]> {
    let is_in_function =
        |address: &Address| function.iter().any(|one| one.from(*address).is_some());
    let next = Some(Address(instruction.next_ip()));
    let target = direct_target(instruction);
    let inner = target.filter(is_in_function);
    match instruction.flow_control() {
        // An aborted transaction goes on where it started.
        FlowControl::Next if matches!(instruction.mnemonic(), Mnemonic::Hlt | Mnemonic::Xabort) => {
            None
        }
        FlowControl::Next => Some([next, None]),
        FlowControl::UnconditionalBranch if target.is_some() => Some([inner, None]),
        FlowControl::ConditionalBranch if target.is_some() => Some([inner, next]),
        FlowControl::Return if instruction.mnemonic() == Mnemonic::Ret => Some([None, None]),
        // A call within the function follows no convention, unless it calls the function itself; system calls keep the flags.
        FlowControl::Call | FlowControl::IndirectCall
            if !comes_back_by_itself(instruction.code())
                && inner.is_none_or(|inner| function.iter().any(|one| one.start == inner)) =>
        {
            Some([None, None])
        }
        _ => None,
    }
}
