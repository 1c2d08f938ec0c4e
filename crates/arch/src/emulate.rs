//! Emulates control-transfer instructions (Intel SDM, volume 2).

use crate::Address;
use crate::instructions::{COUNT, is_system_call};
use crate::registers::user::UserRegisters;
use iced_x86::{Code, FlowControl, Instruction, Mnemonic, OpKind};

/// The memory accesses of the emulation.
pub trait EmulatedMemory {
    /// Reads an 8-byte word; `None` if that fails.
    fn word(&self, address: u64) -> Option<u64>;
    /// Writes an 8-byte word to the stack; `false` if that fails.
    fn push(&mut self, address: u64, value: u64) -> bool;
}

/// Emulates an instruction that transfers control or has no effect (`nop`, `endbr64`), and returns the registers after it. `None`, with
/// nothing changed, for other instructions (system calls are among them), and if memory can't be read or written.
pub fn emulate(
    instruction: &Instruction,
    registers: &UserRegisters,
    memory: &mut impl EmulatedMemory,
) -> Option<UserRegisters> {
    let mut after = *registers;
    let next = instruction.next_ip();
    let sp = registers.sp();
    match instruction.flow_control() {
        FlowControl::Next
            if matches!(instruction.mnemonic(), Mnemonic::Endbr64 | Mnemonic::Nop)
                && instruction.code() != Code::INVALID =>
        {
            after.set_pc(Address(next));
        }
        FlowControl::UnconditionalBranch | FlowControl::IndirectBranch => {
            after.set_pc(Address(target(instruction, registers, memory)?));
        }
        FlowControl::ConditionalBranch => {
            let (taken, count) = condition(instruction, registers)?;
            if let Some(count) = count {
                after.set_count(count);
            }
            after.set_pc(Address(if taken {
                instruction.near_branch_target()
            } else {
                next
            }));
        }
        FlowControl::Call | FlowControl::IndirectCall => {
            if is_system_call(instruction) {
                return None;
            }
            let target = target(instruction, registers, memory)?;
            let below = sp.wrapping_sub(8);
            if !memory.push(below, next) {
                return None;
            }
            after.set_sp(below);
            after.set_pc(Address(target));
        }
        FlowControl::Return => {
            let popped = match instruction.code() {
                Code::Retnq => 8,
                Code::Retnq_imm16 => 8 + u64::from(instruction.immediate16()),
                _ => return None,
            };
            after.set_pc(Address(memory.word(sp)?));
            after.set_sp(sp.wrapping_add(popped));
        }
        _ => return None,
    }
    Some(after)
}

/// The target of a near jump or call; `None` if the instruction is neither, or the target can't be read from memory.
pub fn target(
    instruction: &Instruction,
    registers: &UserRegisters,
    memory: &impl EmulatedMemory,
) -> Option<u64> {
    match instruction.op0_kind() {
        OpKind::NearBranch64 => Some(instruction.near_branch64()),
        OpKind::Register if instruction.op0_register().size() == 8 => {
            registers.get(instruction.op0_register())
        }
        OpKind::Memory if instruction.memory_size().size() == 8 => {
            let address =
                instruction.virtual_address(0, 0, |register, _, _| registers.get(register))?;
            memory.word(address)
        }
        _ => None,
    }
}

/// Whether a conditional branch is taken, and the new value of `rcx` for `loop` instructions.
fn condition(instruction: &Instruction, registers: &UserRegisters) -> Option<(bool, Option<u64>)> {
    const CARRY: u64 = 1;
    const PARITY: u64 = 1 << 2;
    const ZERO: u64 = 1 << 6;
    const SIGN: u64 = 1 << 7;
    const OVERFLOW: u64 = 1 << 11;
    use iced_x86::ConditionCode as Is;
    let set = |flag: u64| registers.flags() & flag != 0;
    let less = set(SIGN) != set(OVERFLOW);
    let count = registers.get(COUNT)?;
    let taken = match instruction.condition_code() {
        Is::o => set(OVERFLOW),
        Is::no => !set(OVERFLOW),
        Is::b => set(CARRY),
        Is::ae => !set(CARRY),
        Is::e if !is_loop(instruction) => set(ZERO),
        Is::ne if !is_loop(instruction) => !set(ZERO),
        Is::be => set(CARRY) || set(ZERO),
        Is::a => !set(CARRY) && !set(ZERO),
        Is::s => set(SIGN),
        Is::ns => !set(SIGN),
        Is::p => set(PARITY),
        Is::np => !set(PARITY),
        Is::l => less,
        Is::ge => !less,
        Is::le => less || set(ZERO),
        Is::g => !less && !set(ZERO),
        _ => {
            let counted = count.wrapping_sub(1);
            return match instruction.code() {
                Code::Jrcxz_rel8_64 => Some((count == 0, None)),
                Code::Loop_rel8_64_RCX => Some((counted != 0, Some(counted))),
                Code::Loope_rel8_64_RCX => Some((counted != 0 && set(ZERO), Some(counted))),
                Code::Loopne_rel8_64_RCX => Some((counted != 0 && !set(ZERO), Some(counted))),
                _ => None,
            };
        }
    };
    Some((taken, None))
}

fn is_loop(instruction: &Instruction) -> bool {
    matches!(
        instruction.mnemonic(),
        Mnemonic::Loop | Mnemonic::Loope | Mnemonic::Loopne
    )
}
