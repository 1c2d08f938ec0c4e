//! Where a thread may be after its next instruction, by the values of its registers: a debugger that has no single steps puts breakpoints there.
//!
//! A few instructions that only work together count as one: between a load and a store that are *exclusive* (Arm) or *reserved* (RISC-V),
//! a debugger's stop makes the store fail, and the loop around them would never end.

mod arm;
mod exclusive;
mod thumb;

use crate::code::{Decoded, Flow, decode};
use crate::emulate::{EmulatedMemory, target};
use crate::registers::Registers;
use crate::registers::user::UserRegisters;
use crate::{Address, InstructionSet, Machine, instructions, signal_frame};
use std::cell::RefCell;

/// A place where the thread may be next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Successor {
    /// The address of an instruction.
    pub address: Address,
    /// How it is decoded.
    pub set: InstructionSet,
}

/// Reads memory into a buffer, and returns how many bytes could be read.
pub type Read<'r> = &'r mut dyn FnMut(Address, &mut [u8]) -> usize;

/// The places where a thread may be after its next instruction. Whatever it executes, it comes to one of them before it executes anything else. Empty:
/// the instruction can't be read, so the thread won't execute it. `None`: where it leads isn't known.
pub fn successors(registers: &UserRegisters, read: Read<'_>) -> Option<Vec<Successor>> {
    if let Some(behind) = behind_exclusive(registers, read) {
        return Some(behind);
    }
    let mut code = [0; instructions::LONGEST];
    let count = read(registers.pc(), &mut code);
    one_step(&code[..count], registers, read)
}

/// The places behind a load that is exclusive and the store that belongs to it. `None`: the thread is at no such load, so a processor can step.
pub fn behind_exclusive(registers: &UserRegisters, read: Read<'_>) -> Option<Vec<Successor>> {
    let set = registers.instruction_set();
    let behind = exclusive::behind(set, registers.pc(), read)?;
    Some(behind.into_iter().map(|it| of_set(set, it)).collect())
}

fn of_set(set: InstructionSet, address: Address) -> Successor {
    Successor { address, set }
}

fn one_step(code: &[u8], registers: &UserRegisters, read: Read<'_>) -> Option<Vec<Successor>> {
    let set = registers.instruction_set();
    let Some(decoded) = decode(set, code, registers.pc()) else {
        return Some(Vec::new());
    };
    let next = of_set(set, decoded.next());
    let block = arm::rest_of_block(code, registers);
    if !arm::is_executed(code, registers) {
        return Some(with_block(next, block, read));
    }
    Some(match decoded.flow {
        // A trap of the program's own is told by the signal that it causes.
        Flow::Next | Flow::Other => with_block(next, block, read),
        Flow::Kernel => match after_kernel(registers, read)? {
            Some(elsewhere) => vec![elsewhere],
            None => with_block(next, block, read),
        },
        Flow::Branch(target) => vec![of_set(set, target), next],
        Flow::Jump(Some(target)) | Flow::Call(Some(target)) => {
            let set = arm::set_behind(set, code).unwrap_or(set);
            vec![of_set(set, target)]
        }
        Flow::Jump(None) | Flow::Call(None) | Flow::Return => {
            let target = by_registers(&decoded, set, code, registers, read);
            match target {
                Target::Known(target) => vec![target],
                Target::Unreadable => vec![next],
                Target::Unknown => return None,
            }
        }
    })
}

/// `next`, and all other instructions of a conditional block that `count` more instructions belong to, with the one behind it: a breakpoint on an instruction
/// that isn't executed may not stop the thread.
fn with_block(next: Successor, count: u32, read: Read<'_>) -> Vec<Successor> {
    let mut all = vec![next];
    let mut at = next.address;
    for _ in 0..count {
        let mut code = [0; 4];
        let length = read(at, &mut code);
        let Some(decoded) = decode(next.set, &code[..length], at) else {
            break;
        };
        at = decoded.next();
        all.push(of_set(next.set, at));
    }
    all
}

/// Where an instruction leads.
enum Target {
    Known(Successor),
    /// That is in memory, which can't be read: the thread faults at the instruction.
    Unreadable,
    Unknown,
}

impl From<Option<Successor>> for Target {
    fn from(known: Option<Successor>) -> Target {
        known.map_or(Target::Unknown, Target::Known)
    }
}

/// Where a jump, a call or a return goes whose target is in a register or in memory.
fn by_registers(
    decoded: &Decoded,
    set: InstructionSet,
    code: &[u8],
    registers: &UserRegisters,
    read: Read<'_>,
) -> Target {
    let mut word = [0; 4];
    word.iter_mut().zip(code).for_each(|(to, from)| *to = *from);
    let word = u32::from_le_bytes(word);
    match set {
        InstructionSet::X86_64 => match of_x86(decoded, code, registers, read) {
            Some(address) => Target::Known(of_set(set, Address(address))),
            None => Target::Unreadable,
        },
        InstructionSet::Aarch64 => {
            /// The link register, which retaa and retab don't name.
            const LR: u32 = 30;
            let is_signed = word >> 11 & 1 == 1;
            let register = match word & 0xffff_fbff {
                0xd65f_0bff => LR,
                _ => word >> 5 & 31,
            };
            let value = registers.to_dwarf().get(register as u16);
            let address = value.map(|value| match is_signed {
                true => registers.machine().code_address(value),
                false => Address(value),
            });
            address.map(|address| of_set(set, address)).into()
        }
        InstructionSet::Riscv64 => {
            let (base, offset) = match decoded.length {
                2 => (word >> 7 & 31, 0),
                _ => (word >> 15 & 31, i64::from(word.cast_signed() >> 20)),
            };
            let value = match base {
                0 => Some(0),
                base => registers.to_dwarf().get(base as u16),
            };
            let address = value.map(|value| Address(value.wrapping_add_signed(offset) & !1));
            address.map(|address| of_set(set, address)).into()
        }
        InstructionSet::Arm => arm::target(word, &ArmState::of(registers), read),
        InstructionSet::Thumb => thumb::target(code, &ArmState::of(registers), read),
    }
}

/// Memory that is only read, as the emulation asks for it.
struct Reading<'r>(RefCell<Read<'r>>);

impl EmulatedMemory for Reading<'_> {
    fn word(&self, address: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        let count = (self.0.borrow_mut())(Address(address), &mut bytes);
        (count == bytes.len()).then_some(u64::from_le_bytes(bytes))
    }

    fn push(&mut self, _: u64, _: u64) -> bool {
        false
    }
}

fn of_x86(
    decoded: &Decoded,
    code: &[u8],
    registers: &UserRegisters,
    read: Read<'_>,
) -> Option<u64> {
    let memory = Reading(RefCell::new(read));
    match decoded.flow {
        Flow::Return => memory.word(registers.sp()),
        _ => {
            let instruction = instructions::decode(registers.pc(), code)?;
            target(&instruction, registers, &memory)
        }
    }
}

/// Where a thread goes on after sigreturn(2): where the signal has interrupted it. `Some(None)`: it makes another system call.
fn after_kernel(registers: &UserRegisters, read: Read<'_>) -> Option<Option<Successor>> {
    let machine = registers.machine();
    let Some(offset) = saved_pc(registers) else {
        return Some(None);
    };
    let at = Address(registers.sp().wrapping_add(offset));
    let mut bytes = [0; 12];
    let size = machine.address_size() as usize;
    // The flags follow the program counter.
    let size = if machine == Machine::Arm { 8 } else { size };
    if read(at, &mut bytes[..size]) < size {
        return None;
    }
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap_or_default());
    let found = match machine {
        Machine::Arm => {
            let mut there = *registers;
            there.set_flags(word(4).into());
            Successor {
                address: Address(word(0).into()),
                set: there.instruction_set(),
            }
        }
        _ => of_set(
            registers.instruction_set(),
            Address(u64::from(word(0)) | u64::from(word(4)) << 32),
        ),
    };
    Some(Some(found))
}

/// Where on the stack sigreturn(2) finds the program counter, if a thread is about to make that call: in `ucontext_t` of the kernel's frame,
/// behind `siginfo_t` (128 bytes) on others than x86-64.
fn saved_pc(registers: &UserRegisters) -> Option<u64> {
    let values = registers.to_dwarf();
    let is_call = |register: u16, number: u64| values.get(register) == Some(number);
    match registers.machine() {
        // rax.
        Machine::X86_64 => is_call(0, 15).then_some(signal_frame::SAVED_PC),
        // x8, and a7.
        Machine::Aarch64 => is_call(8, 139).then_some(128 + 0xb0 + 33 * 8),
        Machine::Riscv64 => is_call(17, 139).then_some(128 + 0xb0),
        // r7. The older frame has no `siginfo_t`.
        Machine::Arm if is_call(7, 173) => Some(128 + 0x14 + 18 * 4),
        Machine::Arm => is_call(7, 119).then_some(0x14 + 18 * 4),
    }
}

/// The registers of a 32-bit Arm.
struct ArmState {
    values: Registers,
    flags: u64,
    pc: u32,
}

impl ArmState {
    fn of(registers: &UserRegisters) -> ArmState {
        ArmState {
            values: registers.to_dwarf(),
            flags: registers.flags(),
            pc: registers.pc().0 as u32,
        }
    }

    /// The value of a register; the program counter reads as `ahead` bytes behind the instruction.
    fn get(&self, register: u32, ahead: u32) -> Option<u32> {
        match register {
            15 => Some(self.pc.wrapping_add(ahead)),
            register => Some(self.values.get(register as u16)? as u32),
        }
    }

    fn carry(&self) -> u32 {
        (self.flags >> 29 & 1) as u32
    }
}

/// An address whose lowest bit says which instruction set is there.
fn interworking(value: u32) -> Successor {
    match value & 1 {
        1 => of_set(InstructionSet::Thumb, Address((value & !1).into())),
        _ => of_set(InstructionSet::Arm, Address((value & !3).into())),
    }
}

/// The interworking address that is in memory.
fn loaded(address: u32, read: Read<'_>) -> Target {
    let mut bytes = [0; 4];
    match read(Address(address.into()), &mut bytes) {
        4 => Target::Known(interworking(u32::from_le_bytes(bytes))),
        _ => Target::Unreadable,
    }
}

#[cfg(test)]
mod tests;
