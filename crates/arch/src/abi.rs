//! The calling convention (ABI §3.2).

use crate::Machine;
use crate::registers::{FP, PC, SP};

/// DWARF numbers of the callee-saved registers, besides the stack pointer: rbx, rbp, r12 to r15 (ABI §3.2.1).
pub const CALLEE_SAVED: [u16; 6] = [3, FP, 12, 13, 14, 15];

/// DWARF number of the register of a function's first integer argument: rdi (ABI §3.2.3).
pub const FIRST_ARGUMENT: u16 = 5;
/// DWARF number of the register of the second integer argument: rsi.
pub const SECOND_ARGUMENT: u16 = 4;
/// DWARF number of the register of a function's integer result: rax.
pub const RESULT: u16 = 0;

/// The red zone: how many bytes below its stack pointer belong to a thread (ABI §3.2.2).
pub const RED_ZONE: u64 = 128;

/// Offsets in a `jmp_buf`, in bytes.
#[derive(Debug, Clone, Copy)]
pub struct JumpBuffer {
    /// Of the stack pointer.
    pub sp: i64,
    /// Of the address to go on at.
    pub pc: i64,
}

/// Where a machine's `jmp_buf` has what; the same in glibc (`jmpbuf-offsets.h`, for riscv64 and arm `setjmp.S`) and musl, but for arm: that is
/// glibc's.
pub const fn jump_buffer(machine: Machine) -> JumpBuffer {
    match machine {
        Machine::X86_64 => JumpBuffer { sp: 48, pc: 56 },
        Machine::Aarch64 => JumpBuffer { sp: 104, pc: 88 },
        Machine::Riscv64 => JumpBuffer { sp: 104, pc: 0 },
        Machine::Arm => JumpBuffer { sp: 0, pc: 4 },
    }
}

/// Offset in the thread's control block of the value with which glibc encodes addresses in a `jmp_buf` (`PTR_MANGLE`), in bytes.
pub const POINTER_GUARD: i64 = 0x30;

/// DWARF numbers of the registers in the order in which the kernel saves them for a signal handler (`struct sigcontext`, asm/sigcontext.h).
pub const SIGNAL_CONTEXT: [u16; 17] = [8, 9, 10, 11, 12, 13, 14, 15, 5, 4, FP, 3, 1, 0, 2, SP, PC];

/// Offset in a signal handler's context (`ucontext_t`) of the signals that are blocked when it returns, in bytes.
pub const SIGNAL_MASK_OF_CONTEXT: u64 = 0x128;

/// Whether a register, by its DWARF number, is in [`CALLEE_SAVED`]. A bit test, because the unwinder calls this for each register of each
/// frame.
#[inline]
pub const fn is_callee_saved(register: u16) -> bool {
    const BITS: u32 = {
        let (mut bits, mut index) = (0, 0);
        while index < CALLEE_SAVED.len() {
            bits |= 1 << CALLEE_SAVED[index];
            index += 1;
        }
        bits
    };
    register < 32 && BITS >> register & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_register_is_callee_saved_where_the_list_has_it() {
        for register in (0..100).chain([u16::MAX]) {
            assert_eq!(
                is_callee_saved(register),
                CALLEE_SAVED.contains(&register),
                "{register}"
            );
        }
    }
}
