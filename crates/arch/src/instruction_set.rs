//! How the bytes of code are to be read. A processor may have several ways, which its programs change between.

use crate::Machine;

/// An instruction set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InstructionSet {
    /// x86-64's.
    X86_64,
    /// A64, that of aarch64.
    Aarch64,
    /// That of riscv64, with compressed instructions.
    Riscv64,
    /// A32, the instructions of 4 bytes of 32-bit Arm.
    Arm,
    /// T32, also called Thumb: those of 2 and 4 bytes. Processors with an M profile have no others.
    Thumb,
}

impl InstructionSet {
    /// What the addresses of instructions are multiples of.
    pub const fn alignment(self) -> u64 {
        match self {
            InstructionSet::X86_64 => 1,
            InstructionSet::Riscv64 | InstructionSet::Thumb => 2,
            InstructionSet::Aarch64 | InstructionSet::Arm => 4,
        }
    }

    /// The kind of breakpoint that a stub is asked for: the size of its instruction (gdb manual, "ARM Breakpoint Kinds" and the like), given the
    /// code at its place. It is as long as the instruction there, so that the one behind it is left alone.
    pub fn breakpoint_kind(self, code: &[u8]) -> u64 {
        match self {
            InstructionSet::X86_64 => 1,
            InstructionSet::Aarch64 | InstructionSet::Arm => 4,
            InstructionSet::Riscv64 => match code.first() {
                Some(first) if first & 3 == 3 => 4,
                _ => 2,
            },
            // One of 4 bytes has a kind of its own.
            InstructionSet::Thumb => match code.get(1) {
                Some(second) if second >> 3 >= 0b11101 => 3,
                _ => 2,
            },
        }
    }

    /// The breakpoint instruction for a kind from [`InstructionSet::breakpoint_kind`].
    pub fn trap(self, kind: u64) -> &'static [u8] {
        match (self, kind) {
            // int3.
            (InstructionSet::X86_64, _) => &[0xcc],
            // brk #0.
            (InstructionSet::Aarch64, _) => &[0x00, 0x00, 0x20, 0xd4],
            // c.ebreak, ebreak.
            (InstructionSet::Riscv64, 2) => &[0x02, 0x90],
            (InstructionSet::Riscv64, _) => &[0x73, 0x00, 0x10, 0x00],
            // bkpt #0. In T32 it may replace the first half of an instruction of 4 bytes.
            (InstructionSet::Arm, _) => &[0x70, 0x00, 0x20, 0xe1],
            (InstructionSet::Thumb, _) => &[0x00, 0xbe],
        }
    }
}

/// The set that a processor begins with, or whose code isn't marked.
impl From<Machine> for InstructionSet {
    fn from(machine: Machine) -> InstructionSet {
        match machine {
            Machine::X86_64 => InstructionSet::X86_64,
            Machine::Aarch64 => InstructionSet::Aarch64,
            Machine::Riscv64 => InstructionSet::Riscv64,
            Machine::Arm => InstructionSet::Arm,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trap_is_known_as_one() {
        use InstructionSet::{Aarch64, Arm, Riscv64, Thumb, X86_64};
        for (set, machine, kind) in [
            (X86_64, Machine::X86_64, 1),
            (Aarch64, Machine::Aarch64, 4),
            (Riscv64, Machine::Riscv64, 2),
            (Riscv64, Machine::Riscv64, 4),
            (Arm, Machine::Arm, 4),
            (Thumb, Machine::Arm, 3),
        ] {
            let trap = set.trap(kind);
            assert_eq!(machine.trap_size(trap), Some(trap.len() as u64), "{set:?}");
        }
    }

    #[test]
    fn a_breakpoint_is_as_long_as_the_instruction_in_its_place() {
        use InstructionSet::{Arm, Riscv64, Thumb, X86_64};
        assert_eq!(X86_64.breakpoint_kind(&[]), 1);
        assert_eq!(Riscv64.breakpoint_kind(&[0x13, 0]), 4);
        assert_eq!(Riscv64.breakpoint_kind(&[0x01, 0]), 2);
        assert_eq!(Arm.breakpoint_kind(&[0x00, 0xf0, 0x20, 0xe3]), 4);
        // push {r7, lr}; bl; push.w; b.
        assert_eq!(Thumb.breakpoint_kind(&[0x80, 0xb5]), 2);
        assert_eq!(Thumb.breakpoint_kind(&[0xff, 0xf7, 0xfe, 0xff]), 3);
        assert_eq!(Thumb.breakpoint_kind(&[0x2d, 0xe9, 0xf0, 0x41]), 3);
        assert_eq!(Thumb.breakpoint_kind(&[0xfe, 0xe7]), 2);
    }
}
