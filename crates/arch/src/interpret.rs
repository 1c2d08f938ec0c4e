//! Interprets a small function without running it in the debuggee; mainly for what `std::exception::what()` returns.
//!
//! It knows the few instructions that such functions consist of. It reads the debuggee's memory but writes nothing: the function's stores
//! are kept in an overlay. An unknown instruction, too many instructions or unreadable memory end
//! it without a result.

use crate::instructions::{decoder, part, with_part};
use crate::{Address, Memory};
use iced_x86::{Code, Instruction, Mnemonic, OpKind, Register};
use rustc_hash::FxHashMap;

/// The most instructions that are interpreted.
const MOST_INSTRUCTIONS: usize = 500;
/// The return address that the function gets. Nothing is ever mapped there.
const RETURN: u64 = u64::MAX - 0xfff;

/// Whether the function at an address returns the text of a `std::string`. Such calls aren't interpreted: the string's first word, the
/// pointer to its characters, is the result.
pub type GivesText<'a> = &'a dyn Fn(Address) -> bool;

struct Machine<'a> {
    memory: &'a dyn Memory,
    gives_text: GivesText<'a>,
    /// Indexed by iced's register numbers, RAX to R15.
    registers: [u64; 16],
    written: FxHashMap<u64, u8>,
    pc: u64,
    /// The result of the latest comparison: equal, signed less, unsigned below. `None`: the flags aren't known.
    flags: Option<(bool, bool, bool)>,
}

/// The result of a function of one argument; `None` if it can't be found out. `stack` is an address on the thread's stack, whose contents don't
/// matter.
pub fn call(
    function: Address,
    argument: u64,
    stack: u64,
    memory: &dyn Memory,
    gives_text: GivesText<'_>,
) -> Option<u64> {
    let mut machine = Machine {
        memory,
        gives_text,
        registers: [0; 16],
        written: FxHashMap::default(),
        pc: function.0,
        flags: None,
    };
    machine.set(Register::RDI, argument)?;
    // Below any data that the thread may have below its stack pointer; aligned as after a call.
    machine.set(Register::RSP, (stack.checked_sub(4096)? & !15) - 8)?;
    machine.store(machine.get(Register::RSP)?, RETURN, 8);
    for _ in 0..MOST_INSTRUCTIONS {
        if machine.pc == RETURN {
            return machine.get(Register::RAX);
        }
        machine.step()?;
    }
    None
}

impl Machine<'_> {
    fn get(&self, register: Register) -> Option<u64> {
        if register == Register::None {
            return Some(0);
        }
        let full = register.full_register();
        if full == Register::RIP {
            return Some(self.pc);
        }
        let value = *self
            .registers
            .get(full.number())
            .filter(|_| full.is_gpr64())?;
        part(register, value)
    }

    fn set(&mut self, register: Register, value: u64) -> Option<()> {
        let full = register.full_register();
        let place = self
            .registers
            .get_mut(full.number())
            .filter(|_| full.is_gpr64())?;
        *place = with_part(register, *place, value)?;
        Some(())
    }

    fn load(&self, at: u64, size: usize) -> Option<u64> {
        let mut bytes = [0; 8];
        let wanted = bytes.get_mut(..size)?;
        let known = (0..size as u64).filter_map(|i| self.written.get(&at.wrapping_add(i)));
        if known.count() < size {
            self.memory.read(Address(at), wanted).ok()?;
        }
        for (index, byte) in wanted.iter_mut().enumerate() {
            if let Some(written) = self.written.get(&at.wrapping_add(index as u64)) {
                *byte = *written;
            }
        }
        Some(u64::from_le_bytes(bytes))
    }

    fn store(&mut self, at: u64, value: u64, size: usize) {
        for (index, byte) in value.to_le_bytes().into_iter().take(size).enumerate() {
            self.written.insert(at.wrapping_add(index as u64), byte);
        }
    }

    fn address(&self, instruction: &Instruction) -> Option<u64> {
        if instruction.segment_prefix() != Register::None {
            return None;
        }
        if instruction.is_ip_rel_memory_operand() {
            return Some(instruction.ip_rel_memory_address());
        }
        let base = self.get(instruction.memory_base())?;
        let index = self.get(instruction.memory_index())?;
        let index = index.wrapping_mul(u64::from(instruction.memory_index_scale()));
        let sum = base.wrapping_add(index);
        Some(sum.wrapping_add(instruction.memory_displacement64()))
    }

    fn operand(&self, instruction: &Instruction, index: u32) -> Option<u64> {
        match instruction.op_kind(index) {
            OpKind::Register => self.get(instruction.op_register(index)),
            OpKind::Memory => {
                self.load(self.address(instruction)?, instruction.memory_size().size())
            }
            OpKind::NearBranch64 => Some(instruction.near_branch64()),
            _ => instruction.try_immediate(index).ok(),
        }
    }

    fn put(&mut self, instruction: &Instruction, value: u64) -> Option<()> {
        match instruction.op0_kind() {
            OpKind::Register => self.set(instruction.op0_register(), value),
            OpKind::Memory => {
                let at = self.address(instruction)?;
                self.store(at, value, instruction.memory_size().size());
                Some(())
            }
            _ => None,
        }
    }

    fn push(&mut self, value: u64) -> Option<()> {
        let sp = self.get(Register::RSP)?.wrapping_sub(8);
        self.store(sp, value, 8);
        self.set(Register::RSP, sp)
    }

    fn pop(&mut self) -> Option<u64> {
        let sp = self.get(Register::RSP)?;
        self.set(Register::RSP, sp.wrapping_add(8))?;
        self.load(sp, 8)
    }

    fn step(&mut self) -> Option<()> {
        let instruction = self.fetch()?;
        let (first, second) = (
            || self.operand(&instruction, 0),
            || self.operand(&instruction, 1),
        );
        let mut to = instruction.next_ip();
        match instruction.mnemonic() {
            Mnemonic::Nop | Mnemonic::Endbr64 => {}
            Mnemonic::Mov | Mnemonic::Movzx => {
                let value = second()?;
                self.put(&instruction, value)?;
            }
            Mnemonic::Movsxd | Mnemonic::Movsx => {
                let bits = 8 * operand_size(&instruction, 1)?;
                let value = (second()? << (64 - bits)).cast_signed() >> (64 - bits);
                self.put(&instruction, value.cast_unsigned())?;
            }
            Mnemonic::Cdqe => {
                let value = self.get(Register::EAX)? as u32;
                self.set(
                    Register::RAX,
                    i64::from(value.cast_signed()).cast_unsigned(),
                )?;
            }
            Mnemonic::Lea => {
                let value = self.address(&instruction)?;
                self.put(&instruction, value)?;
            }
            Mnemonic::Add | Mnemonic::Sub | Mnemonic::Xor | Mnemonic::And => {
                let (a, b) = (first()?, second()?);
                let value = match instruction.mnemonic() {
                    Mnemonic::Add => a.wrapping_add(b),
                    Mnemonic::Sub => a.wrapping_sub(b),
                    Mnemonic::Xor => a ^ b,
                    _ => a & b,
                };
                self.flags = None;
                self.put(&instruction, value)?;
            }
            Mnemonic::Test => {
                let bits = 8 * operand_size(&instruction, 0)?;
                let value = first()? & second()?;
                let negative = (value << (64 - bits)).cast_signed() < 0;
                self.flags = Some((value == 0, negative, false));
            }
            Mnemonic::Cmp => {
                let bits = 8 * operand_size(&instruction, 0)?;
                let (a, b) = (first()? << (64 - bits), second()? << (64 - bits));
                self.flags = Some((a == b, a.cast_signed() < b.cast_signed(), a < b));
            }
            Mnemonic::Push => {
                let value = first()?;
                self.push(value)?;
            }
            Mnemonic::Pop => {
                let value = self.pop()?;
                self.put(&instruction, value)?;
            }
            Mnemonic::Leave => {
                let frame = self.get(Register::RBP)?;
                self.set(Register::RSP, frame)?;
                let value = self.pop()?;
                self.set(Register::RBP, value)?;
            }
            Mnemonic::Call => {
                let target = first()?;
                to = self.call(target, to)?;
            }
            Mnemonic::Jmp => to = first()?,
            Mnemonic::Ret if instruction.code() == Code::Retnq => to = self.pop()?,
            jump => {
                if self.is_taken(jump)? {
                    to = first()?;
                }
            }
        }
        self.pc = to;
        Some(())
    }

    /// The next instruction.
    fn fetch(&self) -> Option<Instruction> {
        let mut code = [0; 16];
        // The readable memory may end within 16 bytes.
        let length = (1..=16).rev().find(|length| {
            self.memory
                .read(Address(self.pc), &mut code[..*length])
                .is_ok()
        })?;
        Some(decoder(&code[..length], self.pc).decode())
    }

    /// Begins a call of the function at `target`, which returns to `next`. Returns the address to go on at. For a function that gives a text,
    /// that is `next`: it isn't interpreted.
    fn call(&mut self, target: u64, next: u64) -> Option<u64> {
        if (self.gives_text)(Address(target)) {
            let text = self.load(self.get(Register::RDI)?, 8)?;
            self.set(Register::RAX, text)?;
            return Some(next);
        }
        self.push(next)?;
        Some(target)
    }

    /// Whether a conditional jump is taken. `None`: it is no conditional jump, or what it depends on is not known.
    fn is_taken(&self, jump: Mnemonic) -> Option<bool> {
        let (equal, less, below) = self.flags?;
        Some(match jump {
            Mnemonic::Je => equal,
            Mnemonic::Jne => !equal,
            Mnemonic::Jl => less,
            Mnemonic::Jge => !less,
            Mnemonic::Jle => less || equal,
            Mnemonic::Jg => !less && !equal,
            Mnemonic::Jb => below,
            Mnemonic::Jae => !below,
            Mnemonic::Jbe => below || equal,
            Mnemonic::Ja => !below && !equal,
            _ => return None,
        })
    }
}

fn operand_size(instruction: &Instruction, index: u32) -> Option<usize> {
    let size = match instruction.op_kind(index) {
        OpKind::Register => instruction.op_register(index).size(),
        OpKind::Memory => instruction.memory_size().size(),
        _ => return None,
    };
    (1..=8).contains(&size).then_some(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Literal(u64, Vec<u8>);

    impl Memory for Literal {
        fn read(&self, address: Address, buffer: &mut [u8]) -> Result<(), Address> {
            let start = address.0.checked_sub(self.0).ok_or(address)?;
            let start = usize::try_from(start).map_err(|_| address)?;
            let end = start.checked_add(buffer.len()).ok_or(address)?;
            buffer.copy_from_slice(self.1.get(start..end).ok_or(address)?);
            Ok(())
        }
    }

    fn result(code: &[u8], argument: u64) -> Option<u64> {
        let mut bytes = code.to_vec();
        bytes.resize(256, 0);
        bytes[128..136].copy_from_slice(&0x7777_u64.to_le_bytes());
        call(
            Address(0x1000),
            argument,
            0x9_0000,
            &Literal(0x1000, bytes),
            &|_| false,
        )
    }

    #[test]
    fn a_field_and_an_address_are_found() {
        // mov rax, [rdi + 8]; ret
        assert_eq!(
            result(&[0x48, 0x8b, 0x47, 0x08, 0xc3], 0x1078),
            Some(0x7777)
        );
        // lea rax, [rip + 0x10]; ret
        assert_eq!(
            result(&[0x48, 0x8d, 0x05, 0x10, 0, 0, 0, 0xc3], 0),
            Some(0x1017)
        );
    }

    #[test]
    fn a_frame_and_a_call_are_followed() {
        // push rbp; mov rbp, rsp; mov [rbp - 8], rdi; mov rax, [rbp - 8]; call 0x1020; pop rbp; ret
        let mut code = vec![
            0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0x7d, 0xf8, 0x48, 0x8b, 0x45, 0xf8, 0xe8, 0x0f, 0,
            0, 0, 0x5d, 0xc3,
        ];
        code.resize(0x20, 0x90);
        // add rax, 5; ret
        code.extend([0x48, 0x83, 0xc0, 0x05, 0xc3]);
        assert_eq!(result(&code, 37), Some(42));
    }

    #[test]
    fn what_is_not_known_and_what_has_no_end_gives_nothing() {
        // cpuid; ret
        assert_eq!(result(&[0x0f, 0xa2, 0xc3], 0), None);
        // jmp to itself
        assert_eq!(result(&[0xeb, 0xfe], 0), None);
        // mov rax, [0]; ret
        assert_eq!(result(&[0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0, 0xc3], 0), None);
    }
}
