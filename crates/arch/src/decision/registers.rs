//! The registers that the code of a decision works with, and the frame that keeps the thread's values of them.

use super::check::Facts;
use crate::instructions::GENERAL;
use iced_x86::Register;

/// The bytes below the stack pointer that belong to the program (ABI §3.2.2).
pub(super) const RED_ZONE: u32 = crate::abi::RED_ZONE as u32;
/// How many registers of a kind the code works with. Other intermediate values are in the frame.
const MOST: usize = 5;

/// A general register by its DWARF number. [`super::check`] has made sure that the number is one.
pub(super) fn general(number: u16) -> Register {
    GENERAL[usize::from(number) % GENERAL.len()]
}

/// An SSE register by its number.
pub(super) fn sse(number: u8) -> Register {
    Register::XMM0 + u32::from(number % 16)
}

/// The DWARF number of a general register.
fn dwarf_number(register: Register) -> u16 {
    let place = GENERAL.iter().position(|it| *it == register);
    place.unwrap_or_default() as u16
}

/// The lowest `size` bytes of a general register.
pub(super) fn part(register: Register, size: u8) -> Register {
    let number = register.number() as u32;
    match size {
        1 if number < 4 => Register::AL + number,
        1 => Register::SPL + (number - 4),
        2 => Register::AX + number,
        4 => Register::EAX + number,
        _ => register,
    }
}

/// Registers for intermediate values, never none. The first takes the result.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pool {
    registers: [Register; MOST],
    length: usize,
}

impl Pool {
    fn new(registers: impl Iterator<Item = Register>) -> Pool {
        let mut pool = Pool {
            registers: [Register::None; MOST],
            length: 0,
        };
        for (place, register) in pool.registers.iter_mut().zip(registers) {
            *place = register;
            pool.length += 1;
        }
        pool
    }

    pub(super) fn first(&self) -> Register {
        self.registers[0]
    }

    /// The second register, if there is one.
    pub(super) fn second(&self) -> Option<Register> {
        (self.length > 1).then_some(self.registers[1])
    }

    /// All but the first; for use only if there is a second.
    fn behind_first(mut self) -> Pool {
        self.registers.rotate_left(1);
        self.length -= 1;
        self
    }

    fn swapped(mut self) -> Pool {
        self.registers.swap(0, 1);
        self
    }
}

/// The registers that are free for intermediate values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Free {
    pub(super) general: Pool,
    pub(super) sse: Pool,
}

impl Free {
    /// Chooses registers, first those that the decision doesn't read. `keeps_flags`: the code saves `rax` in any case.
    pub(super) fn choose(facts: &Facts, keeps_flags: bool) -> Free {
        let fixed = |register: &Register| match register {
            Register::RAX | Register::RDX => facts.divides,
            Register::RCX => facts.shifts,
            Register::RSP => true,
            _ => false,
        };
        let mut general: Vec<Register> = GENERAL.into_iter().filter(|it| !fixed(it)).collect();
        general.sort_by_key(|register| {
            let saved = keeps_flags && *register == Register::RAX;
            !saved && facts.general & (1 << dwarf_number(*register)) != 0
        });
        let mut sse: Vec<u8> = (0..16).collect();
        sse.sort_by_key(|number| facts.sse & (1 << number) != 0);
        Free {
            general: Pool::new(general.into_iter()),
            sse: Pool::new(sse.into_iter().map(self::sse)),
        }
    }

    /// For the second of two words, while the first one is in the first register.
    pub(super) fn behind_general(self) -> Free {
        let general = self.general.behind_first();
        Free { general, ..self }
    }

    /// With the first two general registers exchanged.
    pub(super) fn general_swapped(self) -> Free {
        let general = self.general.swapped();
        Free { general, ..self }
    }

    /// For a word while another is in the second general register.
    pub(super) fn around_general(self) -> Free {
        self.general_swapped().behind_general()
    }

    /// For the second of two numbers, while the first one is in the first register.
    pub(super) fn behind_sse(self) -> Free {
        let sse = self.sse.behind_first();
        Free { sse, ..self }
    }
}

/// What the code changes, or needs in the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Used {
    /// General registers, one bit each, by their number in instructions.
    general: u16,
    /// SSE registers, one bit each.
    sse: u16,
    /// How many intermediate values are in the frame at a time.
    pub(super) spilled: u16,
    /// Whether status flags are changed that must be kept.
    pub(super) flags: bool,
    /// Whether numbers with a fraction are computed.
    pub(super) mxcsr: bool,
    /// Whether it is kept why a thread asks.
    pub(super) why: bool,
}

impl Used {
    pub(super) fn add_general(&mut self, register: Register) {
        self.general |= 1 << (register.number() & 15);
    }

    pub(super) fn add_sse(&mut self, register: Register) {
        self.sse |= 1 << (register.number() & 15);
        self.mxcsr = true;
    }

    /// All that is in one of two.
    pub(super) fn or(self, other: Used) -> Used {
        Used {
            general: self.general | other.general,
            sse: self.sse | other.sse,
            spilled: self.spilled.max(other.spilled),
            flags: self.flags | other.flags,
            mxcsr: self.mxcsr | other.mxcsr,
            why: self.why | other.why,
        }
    }
}

/// The frame: from the stack pointer up, in this order: general registers, flags, intermediate values, MXCSR and the value that replaces it,
/// why a thread asks, SSE registers. None of them is aligned to more than 8 bytes, nor even to that if the thread's stack isn't.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame(pub(super) Used);

impl Frame {
    /// Its size in bytes, without the red zone above it.
    pub(super) fn size(&self) -> u32 {
        self.sse_from() + 16 * self.0.sse.count_ones()
    }

    /// What is subtracted from the stack pointer: nothing if there is no frame.
    pub(super) fn depth(&self) -> u32 {
        match self.size() {
            0 => 0,
            size => RED_ZONE + size,
        }
    }

    /// The slot of a general register, if it is saved.
    pub(super) fn general(&self, register: Register) -> Option<u32> {
        slot(self.0.general, register).map(|index| 8 * index)
    }

    pub(super) fn flags(&self) -> u32 {
        8 * self.0.general.count_ones()
    }

    pub(super) fn spilled(&self, index: u16) -> u32 {
        self.flags() + 8 * u32::from(self.0.flags) + 8 * u32::from(index)
    }

    pub(super) fn mxcsr(&self) -> u32 {
        self.spilled(self.0.spilled)
    }

    pub(super) fn why(&self) -> u32 {
        self.mxcsr() + 8 * u32::from(self.0.mxcsr)
    }

    fn sse_from(&self) -> u32 {
        self.why() + 8 * u32::from(self.0.why)
    }

    /// The slot of an SSE register, if it is saved.
    pub(super) fn sse(&self, register: Register) -> Option<u32> {
        slot(self.0.sse, register).map(|index| self.sse_from() + 16 * index)
    }

    /// The saved general registers, with their DWARF numbers and slots.
    pub(super) fn all_general(&self) -> impl Iterator<Item = (Register, u16, u32)> {
        let all = (0..16).map(|number| Register::RAX + number);
        all.filter_map(|it| Some((it, dwarf_number(it), self.general(it)?)))
    }

    /// The saved SSE registers, with their numbers and slots.
    pub(super) fn all_sse(&self) -> impl Iterator<Item = (Register, u8, u32)> {
        (0..16).filter_map(|number| Some((sse(number), number, self.sse(sse(number))?)))
    }
}

/// How many registers of a set have a lower number than one that is in it.
fn slot(set: u16, register: Register) -> Option<u32> {
    let bit = 1 << (register.number() & 15);
    (set & bit != 0).then(|| (set & (bit - 1)).count_ones())
}
