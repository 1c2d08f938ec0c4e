//! Hits that are counted in the program, by a number of passes that the debugger gives out.
//!
//! A thread for which the condition holds takes a pass, and goes on; where there is none left, it asks. So hits are counted by what is gone of
//! the passes, and a thread that asks has counted nothing. Threads that share one word would be slower together than one alone: a processor
//! that writes a word takes its line of the cache from the others. So the passes are in several words, on a line each. A thread begins with
//! the word that its stack pointer stands for, and takes passes of other words when that has none. No thread gives passes back, so a word
//! without any stays so until the debugger gives more: a thread that has seen each word without one knows that none was left.

use super::compile::{Walk, at};
use super::emit::Label;
use super::state::State;
use crate::Address;
use iced_x86::{Code, Instruction, Register};

/// How many words have passes, a power of two.
const WORDS: u64 = 8;
/// How far they are apart, as a power of two: a line of the cache.
const LINE_BITS: i32 = 6;
/// The lowest bit of a stack pointer that differs between threads: the smallest usual stacks have 2 MiB.
const STACK_BITS: i32 = 21;

/// Words in the program's memory with the number of hits that may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counter {
    /// Where the words begin: a multiple of [`Counter::SIZE`].
    pub at: Address,
}

impl Counter {
    /// The size of all words, with what is between them, in bytes.
    pub const SIZE: u64 = WORDS << LINE_BITS;

    /// Where the words are, as offsets from the first one. Each is a signed integer of 8 bytes: so many hits may go on. Threads change only words
    /// that are above 0.
    pub fn words() -> impl Iterator<Item = u64> {
        (0..WORDS).map(|index| index << LINE_BITS)
    }
}

impl Walk<'_> {
    /// Takes a pass and goes to `done`, or falls through if there is none.
    pub(super) fn take_pass(&mut self, counter: Counter, done: Label) {
        // `one`: the offset of the first word looked at, then the address of the present one. `far`: how far that is from the first one, by
        // exclusive or: threads that begin at different words look at different ones all the time.
        let (present, next) = (Register::RAX, Register::RCX);
        let (one, far) = (Register::RDX, Register::RSI);
        for register in [present, next, one, far] {
            self.used.add_general(register);
        }
        let (again, none) = (self.code.label(), self.code.label());
        self.code.changes_flags = false;
        let shifted = |code, register, bits| Instruction::with2(code, register, bits);
        self.code.two(Code::Mov_r64_rm64, one, Register::RSP);
        self.code
            .push(shifted(Code::Shr_rm64_imm8, one, STACK_BITS));
        // The usual stack has 8 MiB, so that the lowest bits are often equal.
        self.code.two(Code::Mov_r64_rm64, next, one);
        self.code.push(shifted(Code::Shr_rm64_imm8, next, 2));
        self.code
            .two(Code::Xor_r32_rm32, Register::EDX, Register::ECX);
        let mask = WORDS as i32 - 1;
        self.code.constant(Code::And_rm32_imm8, Register::EDX, mask);
        self.code
            .push(shifted(Code::Shl_rm32_imm8, Register::EDX, LINE_BITS));
        self.code.set(next, counter.at.0);
        self.code.two(Code::Add_r64_rm64, one, next);
        self.code
            .two(Code::Xor_r32_rm32, Register::ESI, Register::ESI);

        self.code.place(again);
        let saved = self.all_saved();
        self.code.state(State::Deciding(saved.clone()));
        self.code.load(Code::Mov_r64_rm64, present, at(one, 0));
        self.code.two(Code::Test_rm64_r64, present, present);
        self.code.jump(Code::Jle_rel32_64, none);
        self.code.load(Code::Lea_r64_m, next, at(present, -1));
        let mut take = Instruction::with2(Code::Cmpxchg_rm64_r64, at(one, 0), next);
        if let Ok(take) = &mut take {
            take.set_has_lock_prefix(true);
        }
        self.code.push(take);
        self.code.state(State::Counted);
        self.code.jump(Code::Jne_rel32_64, again);
        self.code.jump(Code::Jmp_rel32_64, done);

        self.code.place(none);
        self.code.state(State::Deciding(saved));
        self.code
            .two(Code::Mov_r32_rm32, Register::ECX, Register::ESI);
        let line = 1 << LINE_BITS;
        self.code.constant(Code::Add_rm32_imm8, Register::ESI, line);
        self.code
            .two(Code::Xor_r32_rm32, Register::ECX, Register::ESI);
        self.code.two(Code::Xor_r64_rm64, one, next);
        let all = Counter::SIZE as i32;
        self.code
            .constant(Code::Test_rm32_imm32, Register::ESI, all);
        self.code.jump(Code::Je_rel32_64, again);
        self.note_flags();
    }
}
