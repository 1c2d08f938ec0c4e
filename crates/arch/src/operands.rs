//! The memory that the code around a thread works on, as far as its registers tell.

use crate::instructions::{decoder, enters_kernel};
use crate::registers::user::UserRegisters;
use crate::{Address, Memory};
use iced_x86::{Code, FlowControl, Instruction, Mnemonic, OpKind};

/// How far before and behind the thread code is looked at, in bytes.
const BEFORE: u64 = 512;
const BEHIND: u64 = 256;
/// The most instructions that are looked at in a row.
const MOST: usize = 96;

/// The addresses of operands in memory of the instructions that a thread is about to execute: those up to the next jump backwards, and those from
/// where that leads to up to the thread. Computed with the registers that the thread has now.
pub fn used_near(registers: &UserRegisters, memory: &dyn Memory) -> Vec<Address> {
    let pc = registers.pc();
    let mut found = Vec::new();
    let mut ahead = vec![0; BEHIND as usize];
    let length = memory.read_some(pc, &mut ahead);
    let mut back = None;
    for instruction in decoder(&ahead[..length], pc.0).iter().take(MOST) {
        found.extend(operands(&instruction, registers));
        if ends(&instruction) {
            break;
        }
        let target = instruction.near_branch_target();
        if is_jump(&instruction) && (pc.0.saturating_sub(BEFORE)..pc.0).contains(&target) {
            back = Some(target);
            break;
        }
    }
    if let Some(start) = back {
        let mut behind = vec![0; (pc.0 - start) as usize];
        let length = memory.read_some(Address(start), &mut behind);
        for instruction in decoder(&behind[..length], start).iter().take(MOST) {
            found.extend(operands(&instruction, registers));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The addresses of an instruction's operands in memory.
fn operands<'i>(
    instruction: &'i Instruction,
    registers: &'i UserRegisters,
) -> impl Iterator<Item = Address> + 'i {
    let has_memory = !matches!(instruction.mnemonic(), Mnemonic::Lea | Mnemonic::Nop);
    let all = 0..instruction.op_count();
    let in_memory =
        all.filter(move |operand| has_memory && instruction.op_kind(*operand) == OpKind::Memory);
    in_memory.filter_map(|operand| {
        let value = |register, _, _| registers.get(register);
        let address = instruction.virtual_address(operand, 0, value)?;
        Some(Address(address))
    })
}

fn is_jump(instruction: &Instruction) -> bool {
    matches!(
        instruction.flow_control(),
        FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
    )
}

/// Whether a thread doesn't come to what is behind an instruction, or not at once.
fn ends(instruction: &Instruction) -> bool {
    let code = instruction.code();
    code == Code::INVALID
        || enters_kernel(code)
        || matches!(
            instruction.flow_control(),
            FlowControl::Return | FlowControl::IndirectBranch
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Code<'c>(u64, &'c [u8]);

    impl Memory for Code<'_> {
        fn read(&self, address: Address, buffer: &mut [u8]) -> Result<(), Address> {
            let start = address.0.wrapping_sub(self.0) as usize;
            let bytes = self
                .1
                .get(start..)
                .and_then(|bytes| bytes.get(..buffer.len()));
            buffer.copy_from_slice(bytes.ok_or(address)?);
            Ok(())
        }

        fn read_some(&self, address: Address, buffer: &mut [u8]) -> usize {
            let start = address.0.wrapping_sub(self.0) as usize;
            let bytes = self.1.get(start..).unwrap_or_default();
            let count = bytes.len().min(buffer.len());
            buffer[..count].copy_from_slice(&bytes[..count]);
            count
        }
    }

    #[test]
    fn the_whole_loop_around_a_thread_is_looked_at() {
        // loop: add [rbx], rax; nop; mov rax, [rip + 0x100]; lea rcx, [rsi]; jne loop; ret
        let code = [
            0x48, 0x01, 0x03, 0x90, 0x48, 0x8b, 0x05, 0x00, 0x01, 0x00, 0x00, 0x48, 0x8d, 0x0e,
            0x75, 0xf0, 0xc3,
        ];
        let memory = Code(0x1000, &code);
        let mut registers = UserRegisters::from_words(Default::default());
        registers.set(3, 0x7000);
        registers.set_pc(Address(0x1004));
        let found = used_near(&registers, &memory);
        assert_eq!(found, [Address(0x110b), Address(0x7000)]);
    }
}
