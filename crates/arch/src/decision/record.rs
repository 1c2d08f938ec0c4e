//! Records that threads write into a ring, for the debugger to read while they go on.
//!
//! A thread computes all values first, in its frame: where one has no value, it asks, and nothing was written. Then it takes the next number,
//! if that is below the limit, writes the record that the number stands for, and last the word that says so. So the debugger never sees half a
//! record, and a thread never waits for another.

use super::compile::{Walk, at};
use super::emit::{Arithmetic, Label, Operand};
use super::state::State;
use super::{RING_IS_FULL, Real, Word};
use crate::Address;
use iced_x86::{Code, Instruction, Register};

/// How many records a [`Ring`] has room for.
pub const RECORDS: u64 = 4096;
/// The most values of a record.
pub const MOST_VALUES: usize = 14;
/// The size of a record in bytes, as a power of two: two words, and the values.
const RECORD_BITS: i32 = 7;
/// Where the limit is in a ring, on a cache line of its own.
const LIMIT: i64 = 64;
/// Where the records are in a ring.
const FIRST: i64 = 4096;

/// Memory of the program that threads write records into.
///
/// Records are numbered from 0. The one with the number *n* is at [`Ring::record`], as words of 8 bytes: *n* + 1 once it is complete, the id
/// of who has written it, the values. It may be written if *n* is below the limit, the word at [`Ring::limit`], which the debugger
/// raises: it is at most [`RECORDS`] more than the number of the first record that the debugger has yet to read. The memory has zeros at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ring {
    /// Where it begins.
    pub at: Address,
}

impl Ring {
    /// Its size in bytes.
    pub const SIZE: u64 = FIRST.cast_unsigned() + (RECORDS << RECORD_BITS);
    /// The size of a record in bytes.
    pub const RECORD: u64 = 1 << RECORD_BITS;

    /// Where the word is that says how many numbers were taken.
    pub fn used(self) -> Address {
        self.at
    }

    /// Where the word with the limit is.
    pub fn limit(self) -> Address {
        self.at.offset(LIMIT)
    }

    /// Where the record with a number is.
    pub fn record(self, number: u64) -> Address {
        let index = number % RECORDS;
        self.at.offset(FIRST + (index << RECORD_BITS).cast_signed())
    }
}

/// A record to write.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// The ring that it is written into.
    pub ring: Ring,
    /// What it is of.
    pub id: u64,
    /// What is recorded, [`MOST_VALUES`] at most.
    pub values: &'a [Recorded],
}

/// A value to record.
#[derive(Debug, Clone, PartialEq)]
pub enum Recorded {
    /// A word.
    Word(Word),
    /// A number with a fraction, as IEEE 754 binary64.
    Real(Real),
}

impl Walk<'_> {
    /// Computes the values, writes the record, and goes to `done`; falls through if the ring is full.
    pub(super) fn record(&mut self, record: &Record<'_>, done: Label) {
        let free = self.free;
        let mut slots = Vec::new();
        self.code.changes_flags = false;
        for value in record.values {
            let (code, register) = match value {
                Recorded::Word(word) => (Code::Mov_rm64_r64, self.value(word, free)),
                Recorded::Real(real) => (Code::Movsd_xmmm64_xmm, self.real(real, free)),
            };
            let slot = self.spill();
            self.code.store(code, slot, register);
            slots.push(slot);
        }
        let (number, next, ring) = (Register::RAX, Register::RCX, Register::RDX);
        for register in [number, next, ring] {
            self.used.add_general(register);
        }
        let (again, full) = (self.code.label(), self.code.label());
        let (used, limit) = (at(ring, 0), at(ring, LIMIT));
        self.code.set(ring, record.ring.at.0);
        self.code.place(again);
        self.code.load(Code::Mov_r64_rm64, number, used);
        self.code
            .arithmetic(Arithmetic::Compare, number, Operand::Memory(limit));
        self.code.jump(Code::Jae_rel32_64, full);
        self.code.load(Code::Lea_r64_m, next, at(number, 1));
        let mut take = Instruction::with2(Code::Cmpxchg_rm64_r64, used, next);
        if let Ok(take) = &mut take {
            take.set_has_lock_prefix(true);
        }
        self.code.push(take);
        self.code.state(State::Counted);
        self.code.jump(Code::Jne_rel32_64, again);

        let index = RECORDS as i32 - 1;
        self.code
            .constant(Code::And_rm32_imm32, Register::EAX, index);
        let shift = Instruction::with2(Code::Shl_rm32_imm8, Register::EAX, RECORD_BITS);
        self.code.push(shift);
        self.code.two(Code::Add_r64_rm64, number, ring);
        let (to, word) = (number, ring);
        for (index, slot) in (2_i64..).zip(&slots) {
            self.code.load(Code::Mov_r64_rm64, word, *slot);
            let place = at(to, FIRST + 8 * index);
            self.code.store(Code::Mov_rm64_r64, place, word);
        }
        self.code.set(word, record.id);
        self.code.store(Code::Mov_rm64_r64, at(to, FIRST + 8), word);
        self.code.store(Code::Mov_rm64_r64, at(to, FIRST), next);
        self.note_flags();
        self.code.jump(Code::Jmp_rel32_64, done);

        self.code.place(full);
        let saved = self.all_saved();
        self.code.state(State::Deciding(saved));
        self.set_why(RING_IS_FULL.cast_signed() as i32);
        for _ in slots {
            self.unspill();
        }
    }
}
