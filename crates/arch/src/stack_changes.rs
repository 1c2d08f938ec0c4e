//! The effect of instructions on the stack pointer.

use crate::instructions::STACK_POINTER;
use iced_x86::{Instruction, InstructionInfoFactory};

/// Computes by how much instructions move the stack pointer.
pub struct StackChanges(InstructionInfoFactory);

impl Default for StackChanges {
    fn default() -> StackChanges {
        StackChanges(InstructionInfoFactory::new())
    }
}

impl StackChanges {
    /// The number of bytes that an instruction adds to the stack pointer. `None` if that depends on more than the instruction itself.
    pub fn of(&mut self, instruction: &Instruction) -> Option<i64> {
        let change = i64::from(instruction.stack_pointer_increment());
        let writes = |used: &iced_x86::UsedRegister| {
            use iced_x86::OpAccess::{CondWrite, ReadCondWrite, ReadWrite, Write};
            used.register().full_register() == STACK_POINTER
                && matches!(used.access(), Write | CondWrite | ReadWrite | ReadCondWrite)
        };
        let used = self.0.info(instruction).used_registers();
        if change == 0 && used.iter().any(writes) {
            return adjusts(instruction);
        }
        let pops_it = instruction.op_count() > 0
            && instruction.op0_register() == STACK_POINTER
            && change != 0;
        (!pops_it).then_some(change)
    }
}

/// The bytes that `add rsp, N` or `sub rsp, N` adds to the stack pointer. `None` for any other instruction.
fn adjusts(instruction: &Instruction) -> Option<i64> {
    use iced_x86::Code;
    let amount = || instruction.immediate(1).cast_signed();
    if instruction.op0_register() != STACK_POINTER {
        return None;
    }
    match instruction.code() {
        Code::Add_rm64_imm8 | Code::Add_rm64_imm32 => Some(amount()),
        Code::Sub_rm64_imm8 | Code::Sub_rm64_imm32 => Some(amount().wrapping_neg()),
        _ => None,
    }
}
