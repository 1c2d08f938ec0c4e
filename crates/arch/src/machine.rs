//! The processors whose programs can be debugged, and the facts about each that the unwinder, the values and the steps need: numbers and
//! names of registers, the calling convention, the sizes of instructions.
//!
//! What goes further, on x86-64 alone, is in the other modules: decided conditions, displaced steps, recording. Sources: *ABI* for x86-64
//! (see the crate's front page); for aarch64 *DWARF for the Arm 64-bit Architecture* and *Procedure Call Standard for the Arm 64-bit
//! Architecture*; for arm *DWARF for the Arm Architecture* and *Procedure Call Standard for the Arm Architecture*; for riscv64 *RISC-V ABIs
//! Specification*.

use crate::Address;
use std::ops::Range;

/// A processor, with the ABI of its programs on Linux. All are little-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Machine {
    /// x86-64, also called amd64.
    #[default]
    X86_64,
    /// The 64-bit state of Arm, also called arm64.
    Aarch64,
    /// 64-bit RISC-V.
    Riscv64,
    /// The 32-bit state of Arm, with floating-point registers (armhf), and microcontrollers with an M profile.
    Arm,
}

/// The number of Dapple's own for a program counter that DWARF has no number for.
const OWN_PC: u16 = 0x2000;

/// The most general registers that a machine has, with the program counter.
pub(crate) const MOST: usize = 33;

const X86_64_NAMES: [&str; 17] = crate::registers::NAMES;
const AARCH64_NAMES: [&str; 33] = [
    "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
    "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27",
    "x28", "x29", "x30", "sp", "pc",
];
const RISCV64_NAMES: [&str; 33] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "fp", "s1", "a0", "a1", "a2", "a3", "a4",
    "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4",
    "t5", "t6", "pc",
];
const ARM_NAMES: [&str; 16] = [
    "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "sp", "lr",
    "pc",
];

impl Machine {
    /// All of them.
    pub const ALL: [Machine; 4] = [
        Machine::X86_64,
        Machine::Aarch64,
        Machine::Riscv64,
        Machine::Arm,
    ];

    /// The size of an address, in bytes.
    #[inline]
    pub const fn address_size(self) -> u64 {
        match self {
            Machine::Arm => 4,
            Machine::X86_64 | Machine::Aarch64 | Machine::Riscv64 => 8,
        }
    }

    /// The machine of an ELF file, by `e_machine` of its header (the registry of the ELF specification). Its class is that of
    /// [`Machine::address_size`].
    pub fn of_elf(number: u16) -> Option<Machine> {
        Machine::ALL.into_iter().find(|one| one.elf() == number)
    }

    /// Its number in ELF files (`e_machine`).
    pub const fn elf(self) -> u16 {
        match self {
            Machine::X86_64 => 62,
            Machine::Aarch64 => 183,
            Machine::Riscv64 => 243,
            Machine::Arm => 40,
        }
    }

    /// The machine of a target description (gdb manual, "Target Description Format"), by its name in BFD, or as lldb-server has it, in LLVM.
    pub fn of_description(name: &str) -> Option<Machine> {
        match name {
            "i386:x86-64" | "i386:x86-64:intel" | "x86_64" => Some(Machine::X86_64),
            "aarch64" | "arm64" => Some(Machine::Aarch64),
            "riscv:rv64" | "riscv" | "riscv64" => Some(Machine::Riscv64),
            // By versions and profiles: `armv7`, `armv6-m`, `thumbv7m`.
            _ if name.starts_with("armeb") => None,
            _ if name.starts_with("arm") || name.starts_with("thumb") => Some(Machine::Arm),
            _ => None,
        }
    }

    /// Its name for users.
    pub const fn name(self) -> &'static str {
        match self {
            Machine::X86_64 => "x86-64",
            Machine::Aarch64 => "aarch64",
            Machine::Riscv64 => "riscv64",
            Machine::Arm => "arm",
        }
    }

    // Registers. The numbers are DWARF's.

    /// The names of the general registers by their numbers; the program counter is the last.
    pub const fn names(self) -> &'static [&'static str] {
        match self {
            Machine::X86_64 => &X86_64_NAMES,
            Machine::Aarch64 => &AARCH64_NAMES,
            Machine::Riscv64 => &RISCV64_NAMES,
            Machine::Arm => &ARM_NAMES,
        }
    }

    /// The numbers of the general registers, without the program counter.
    pub const fn general(self) -> Range<u16> {
        0..self.names().len() as u16 - 1
    }

    /// The program counter.
    pub const fn pc(self) -> u16 {
        match self {
            Machine::X86_64 => 16,
            Machine::Aarch64 => 32,
            Machine::Riscv64 => OWN_PC,
            Machine::Arm => 15,
        }
    }

    /// The stack pointer.
    pub const fn sp(self) -> u16 {
        match self {
            Machine::X86_64 => 7,
            Machine::Aarch64 => 31,
            Machine::Riscv64 => 2,
            Machine::Arm => 13,
        }
    }

    /// The frame pointer, in code that keeps one. On arm, that of Thumb code.
    pub const fn fp(self) -> u16 {
        match self {
            Machine::X86_64 => 6,
            Machine::Aarch64 => 29,
            Machine::Riscv64 => 8,
            Machine::Arm => 7,
        }
    }

    /// The register in which a call leaves its return address. `None`: calls push it.
    pub const fn link(self) -> Option<u16> {
        match self {
            Machine::X86_64 => None,
            Machine::Aarch64 => Some(30),
            Machine::Riscv64 => Some(1),
            Machine::Arm => Some(14),
        }
    }

    /// What locates a thread's own storage: the base of `fs`, `tpidr_el0`, `tp`, `TPIDRURO`.
    pub const fn thread_pointer(self) -> u16 {
        match self {
            Machine::X86_64 => crate::registers::FS_BASE,
            Machine::Aarch64 => 36,
            Machine::Riscv64 => 4,
            Machine::Arm => 320,
        }
    }

    /// The numbers of the registers for floating-point numbers and vectors.
    pub const fn vectors(self) -> Range<u16> {
        match self {
            Machine::X86_64 => 17..33,
            Machine::Aarch64 => 64..96,
            Machine::Riscv64 => 32..64,
            Machine::Arm => 256..288,
        }
    }

    /// The index of one of these registers among [`Vectors`](crate::registers::Vectors); `None` for other registers.
    #[inline]
    pub fn vector_index(self, number: u16) -> Option<usize> {
        let all = self.vectors();
        all.contains(&number)
            .then(|| usize::from(number - all.start))
    }

    /// How many bytes of each of these are known, from the lowest on.
    pub const fn vector_size(self) -> usize {
        match self {
            Machine::X86_64 | Machine::Aarch64 => 16,
            Machine::Riscv64 | Machine::Arm => 8,
        }
    }

    /// The register that has another in it, and the bits before that: on arm, `d0` to `d15` have `s0` to `s31` (numbers 64 to 95; DWARF for the Arm
    /// Architecture, §4.1).
    pub fn register_around(self, number: u16) -> Option<(u16, u32)> {
        let index = number.checked_sub(64).filter(|index| *index < 32)?;
        let place = (self.vectors().start + index / 2, 32 * u32::from(index % 2));
        (self == Machine::Arm).then_some(place)
    }

    /// The name of one of these registers by its index.
    pub fn vector_name(self, index: u16) -> String {
        match self {
            Machine::X86_64 => format!("xmm{index}"),
            Machine::Aarch64 => format!("v{index}"),
            Machine::Arm => format!("d{index}"),
            // By its use in calls.
            Machine::Riscv64 => match index {
                0..8 => format!("ft{index}"),
                8..10 => format!("fs{}", index - 8),
                10..18 => format!("fa{}", index - 10),
                18..28 => format!("fs{}", index - 16),
                _ => format!("ft{}", index - 20),
            },
        }
    }

    /// The general register that users call `name`: also by the names of its uses and of other debuggers.
    pub fn named(self, name: &str) -> Option<u16> {
        let number = match name {
            "pc" => self.pc(),
            "sp" => self.sp(),
            "fp" => self.fp(),
            "lr" => self.link()?,
            _ => match self {
                Machine::Riscv64 if name == "s0" => self.fp(),
                Machine::Riscv64 if name.starts_with('x') => {
                    let number = name[1..].parse().ok()?;
                    return self.general().contains(&number).then_some(number);
                }
                _ => {
                    let index = self.names().iter().position(|known| *known == name)?;
                    return self.number_of_slot(index);
                }
            },
        };
        Some(number)
    }

    /// The name of a general register or the program counter.
    pub fn name_of(self, number: u16) -> Option<&'static str> {
        self.names().get(self.slot(number)?).copied()
    }

    /// The place of a register among those of a frame.
    pub(crate) fn slot(self, number: u16) -> Option<usize> {
        let last = self.names().len() - 1;
        match usize::from(number) {
            at if at < last => Some(at),
            _ if number == self.pc() => Some(last),
            _ => None,
        }
    }

    fn number_of_slot(self, slot: usize) -> Option<u16> {
        let last = self.names().len() - 1;
        match slot {
            _ if slot == last => Some(self.pc()),
            _ => u16::try_from(slot).ok().filter(|_| slot < last),
        }
    }

    // The calling convention.

    /// Whether a function leaves a general register as it was; the stack pointer doesn't count. A bit test, because the unwinder calls this
    /// for each register of each frame.
    #[inline]
    pub const fn is_callee_saved(self, register: u16) -> bool {
        let bits: u32 = match self {
            // rbx, rbp, r12 to r15 (ABI §3.2.1).
            Machine::X86_64 => 1 << 3 | 1 << 6 | 0xf << 12,
            // x19 to x29.
            Machine::Aarch64 => 0x7ff << 19,
            // gp and tp, which nobody changes, s0, s1, s2 to s11.
            Machine::Riscv64 => 3 << 3 | 3 << 8 | 0x3ff << 18,
            // r4 to r11.
            Machine::Arm => 0xff << 4,
        };
        register < 32 && bits >> register & 1 == 1
    }

    /// The general registers that a function leaves as they were ([`Machine::is_callee_saved`]).
    pub fn callee_saved(self) -> impl Iterator<Item = u16> {
        let all = self.general();
        all.filter(move |register| self.is_callee_saved(*register))
    }

    /// The registers of integer and pointer arguments, in their order.
    pub const fn arguments(self) -> &'static [u16] {
        match self {
            Machine::X86_64 => &[5, 4, 1, 2, 8, 9],
            Machine::Aarch64 => &[0, 1, 2, 3, 4, 5, 6, 7],
            Machine::Riscv64 => &[10, 11, 12, 13, 14, 15, 16, 17],
            Machine::Arm => &[0, 1, 2, 3],
        }
    }

    /// The registers of an integer result, of at most two words.
    pub const fn results(self) -> [u16; 2] {
        match self {
            Machine::X86_64 => [0, 1],
            Machine::Aarch64 => [0, 1],
            Machine::Riscv64 => [10, 11],
            Machine::Arm => [0, 1],
        }
    }

    /// The index of the first register in which floating-point numbers are passed and returned, among
    /// [`Vectors`](crate::registers::Vectors).
    pub const fn first_float(self) -> usize {
        match self {
            Machine::X86_64 | Machine::Aarch64 | Machine::Arm => 0,
            Machine::Riscv64 => 10,
        }
    }

    /// How many bytes below its stack pointer belong to a thread.
    pub const fn red_zone(self) -> u64 {
        match self {
            Machine::X86_64 => 128,
            Machine::Aarch64 | Machine::Riscv64 | Machine::Arm => 0,
        }
    }

    /// The stack pointer in a caller is the callee's at its entry, plus this.
    pub const fn pushed_by_call(self) -> u64 {
        match self.link() {
            None => 8,
            Some(_) => 0,
        }
    }

    // Code.

    /// How far behind a trap instruction that it has executed a thread is, in bytes.
    pub const fn behind_trap(self) -> u64 {
        match self {
            Machine::X86_64 => 1,
            Machine::Aarch64 | Machine::Riscv64 | Machine::Arm => 0,
        }
    }

    /// The size of the trap instruction that `code` begins with; `None` if it begins with another.
    pub fn trap_size(self, code: &[u8]) -> Option<u64> {
        match self {
            Machine::X86_64 => (*code.first()? == crate::trap::TRAP).then_some(1),
            // `brk` with any number.
            Machine::Aarch64 => {
                let word = u32::from_le_bytes(*code.first_chunk()?);
                (word & 0xffe0_001f == 0xd420_0000).then_some(4)
            }
            Machine::Riscv64 => {
                let half = u16::from_le_bytes(*code.first_chunk()?);
                if half == 0x9002 {
                    return Some(2);
                }
                let word = u32::from_le_bytes(*code.first_chunk()?);
                (word == 0x0010_0073).then_some(4)
            }
            Machine::Arm => {
                // `udf #16`, which the kernel takes for a breakpoint, and `bkpt`: of A32, then of Thumb.
                let word = code.first_chunk().map(|word| u32::from_le_bytes(*word));
                if word.is_some_and(|it| it == 0xe7f0_01f0 || it & 0xfff0_00f0 == 0xe120_0070) {
                    return Some(4);
                }
                let half = u16::from_le_bytes(*code.first_chunk()?);
                (half == 0xde01 || half >> 8 == 0xbe).then_some(2)
            }
        }
    }

    /// The address of code that a pointer or a return address means, which may be signed or tagged.
    pub const fn code_address(self, value: u64) -> Address {
        Address(match self {
            // A user's addresses have 48 bits, unless asked for otherwise; above is a signature (`paciasp`) or a tag.
            Machine::Aarch64 if value >> 55 & 1 == 0 => value & ((1 << 48) - 1),
            // The lowest bit says that it is Thumb code.
            Machine::Arm => value & 0xffff_fffe,
            _ => value,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_have_names_numbers_and_places() {
        for machine in Machine::ALL {
            assert_eq!(Machine::of_elf(machine.elf()), Some(machine));
            for (slot, name) in machine.names().iter().enumerate() {
                let number = machine.named(name).expect("a number");
                assert_eq!(machine.slot(number), Some(slot), "{name}");
                assert_eq!(machine.name_of(number), Some(*name));
            }
            assert!(machine.names().len() <= MOST);
            assert_eq!(machine.named("pc"), Some(machine.pc()));
            assert_eq!(
                machine.name_of(machine.sp()).map(|it| it.ends_with("sp")),
                Some(true)
            );
            assert_eq!(machine.named("nothing"), None);
            assert!(!machine.is_callee_saved(machine.results()[0]));
            assert!(machine.is_callee_saved(machine.fp()));
            assert!(!machine.is_callee_saved(machine.sp()));
            assert!(!machine.is_callee_saved(u16::MAX));
        }
        assert_eq!(Machine::Riscv64.named("s0"), Some(8));
        assert_eq!(Machine::Riscv64.named("x10"), Some(10));
        assert_eq!(Machine::Riscv64.named("x32"), None);
        assert_eq!(Machine::Aarch64.named("lr"), Some(30));
        assert_eq!(Machine::X86_64.named("lr"), None);
        assert_eq!(Machine::Riscv64.vector_name(31), "ft11");
        assert_eq!(Machine::Arm.register_around(67), Some((257, 32)));
        assert_eq!(Machine::Arm.register_around(96), None);
        assert_eq!(Machine::Aarch64.register_around(67), None);
    }

    #[test]
    fn traps_are_told_from_other_instructions() {
        let size = |machine: Machine, code: &[u8]| machine.trap_size(code);
        assert_eq!(size(Machine::X86_64, &[0xcc]), Some(1));
        assert_eq!(
            size(Machine::Aarch64, &0xd420_0000_u32.to_le_bytes()),
            Some(4)
        );
        assert_eq!(
            size(Machine::Aarch64, &0xd43e_0000_u32.to_le_bytes()),
            Some(4)
        );
        assert_eq!(size(Machine::Aarch64, &0xd503_201f_u32.to_le_bytes()), None);
        assert_eq!(size(Machine::Riscv64, &[0x02, 0x90]), Some(2));
        assert_eq!(size(Machine::Riscv64, &[0x73, 0, 0x10, 0]), Some(4));
        assert_eq!(size(Machine::Riscv64, &[0x73, 0]), None);
        assert_eq!(size(Machine::Arm, &0xe7f0_01f0_u32.to_le_bytes()), Some(4));
        assert_eq!(size(Machine::Arm, &0xe124_5670_u32.to_le_bytes()), Some(4));
        assert_eq!(size(Machine::Arm, &[0x01, 0xde, 0, 0]), Some(2));
        assert_eq!(size(Machine::Arm, &[0xab, 0xbe]), Some(2));
        assert_eq!(size(Machine::Arm, &[0x00, 0xbf, 0, 0]), None);
    }

    #[test]
    fn a_signed_return_address_is_that_of_its_code() {
        let signed = 0x0032_5555_5555_0800;
        assert_eq!(
            Machine::Aarch64.code_address(signed),
            Address(0x5555_5555_0800)
        );
        assert_eq!(Machine::X86_64.code_address(signed).0, signed);
        assert_eq!(Machine::Arm.code_address(0x8001), Address(0x8000));
    }
}
