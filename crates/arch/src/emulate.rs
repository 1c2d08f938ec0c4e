//! Emulates control-transfer instructions, and those that load a register (Intel SDM, volume 2).

use crate::instructions::{COUNT, is_system_call, number, part, with_part};
use crate::registers::user::UserRegisters;
use crate::{Address, Memory};
use iced_x86::{Code, FlowControl, Instruction, Mnemonic, OpKind, Register};

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
            memory.word(address(instruction, 0, registers)?)
        }
        _ => None,
    }
}

/// Emulates an instruction that gives a general register a value, and changes neither memory nor flags: a move from a register, a constant or
/// memory, with or without an extension, or the computation of an address. Returns the registers after it. `None` for other instructions, and
/// if memory can't be read.
pub fn emulate_load(
    instruction: &Instruction,
    registers: &UserRegisters,
    memory: &impl Memory,
) -> Option<UserRegisters> {
    if instruction.segment_prefix() != Register::None || instruction.has_lock_prefix() {
        return None;
    }
    let (to, value) = match instruction.mnemonic() {
        Mnemonic::Mov | Mnemonic::Movzx => {
            let (value, _) = source(instruction, registers, memory)?;
            (instruction.op0_register(), value)
        }
        Mnemonic::Movsx | Mnemonic::Movsxd => {
            let (value, size) = source(instruction, registers, memory)?;
            let unused = u64::BITS - 8 * u32::try_from(size).ok()?;
            let extended = (value << unused).cast_signed() >> unused;
            (instruction.op0_register(), extended.cast_unsigned())
        }
        Mnemonic::Cdqe => {
            let (value, _) = general(Register::EAX, registers)?;
            let extended = i64::from((value as u32).cast_signed());
            (Register::RAX, extended.cast_unsigned())
        }
        Mnemonic::Lea => (
            instruction.op0_register(),
            address(instruction, 1, registers)?,
        ),
        _ => return None,
    };
    let whole = to.full_register();
    let value = with_part(to, registers.get(whole)?, value)?;
    let number = number(whole)?;
    let mut after = *registers;
    after.set(number, value);
    after.set_pc(Address(instruction.next_ip()));
    Some(after)
}

/// The second operand's value, with zeros above it, and its size in bytes.
fn source(
    instruction: &Instruction,
    registers: &UserRegisters,
    memory: &impl Memory,
) -> Option<(u64, usize)> {
    match instruction.op1_kind() {
        OpKind::Register => general(instruction.op1_register(), registers),
        OpKind::Memory => {
            let size = instruction.memory_size().size();
            let mut bytes = [0; 8];
            let wanted = bytes.get_mut(..size)?;
            memory
                .read(Address(address(instruction, 1, registers)?), wanted)
                .ok()?;
            Some((u64::from_le_bytes(bytes), size))
        }
        _ => Some((instruction.try_immediate(1).ok()?, 8)),
    }
}

/// The value of a general register or of a lowest part of one, with zeros above it, and its size in bytes.
fn general(register: Register, registers: &UserRegisters) -> Option<(u64, usize)> {
    let whole = register.full_register();
    number(whole)?;
    let value = part(register, registers.get(whole)?)?;
    Some((value, register.size()))
}

/// Where an operand is in memory. `None`: its address is made of parts of registers.
fn address(instruction: &Instruction, operand: u32, registers: &UserRegisters) -> Option<u64> {
    instruction.virtual_address(operand, 0, |register, _, _| registers.get(register))
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
