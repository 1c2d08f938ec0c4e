//! Makes the code of a decision, and around it what keeps the thread's registers, counts or records hits, and goes on or asks.
//!
//! ```text
//!   lea rsp, [rsp - depth]        the frame, below the red zone (`lea` changes no flags)
//!   mov [rsp + …], …              registers that the decision uses, flags
//!   …                             the decision: jumps to `false`
//!   lock cmpxchg [pass], …        takes a pass if it counts hits, and jumps to `false` if there was one
//! ask:
//!   mov …, [rsp + …]
//!   lea rsp, [rsp + depth]
//!   int3
//!   jmp go_on
//! false:
//!   mov …, [rsp + …]
//!   lea rsp, [rsp + depth]
//! go_on:
//! ```
//!
//! What isn't needed is left out: a decision that compares a variable with a constant where the flags are dead is two instructions.
//!
//! Which registers the code uses is known only when it is made. So it is made again with a frame for those, until it uses no other ones.

use super::check::{Facts, check};
use super::count::Counter;
use super::emit::{Assembler, Label};
use super::record::{Record, Recorded};
use super::registers::{Frame, Free, Used};
use super::state::{Saved, State, Trampoline};
use super::{Refused, Truth};
use crate::Address;
use iced_x86::{Code, Instruction, MemoryOperand, Register};

/// The most bytes of code, without what goes on.
const MOST_CODE: usize = 4096;
/// The largest frame: a thread has little room below its stack pointer that is sure.
const MOST_FRAME: u32 = 512;
/// MXCSR as a process starts with it: all exceptions masked, rounded to the nearest (Intel SDM volume 1, §10.2.3).
const DEFAULT_MXCSR: i32 = 0x1f80;

/// What to compile.
pub struct Request<'a> {
    /// The condition.
    pub truth: &'a Truth,
    /// Where the code will be.
    pub at: Address,
    /// Whether the status flags must be kept.
    pub keeps_flags: bool,
    /// What a thread does for which the condition holds.
    pub then: Then<'a>,
    /// Makes the code that a thread goes on with, given its address: the displaced instructions and the jump back. `None`: can't be made for
    /// that address.
    pub go_on: &'a dyn Fn(Address) -> Option<Vec<u8>>,
}

/// What a thread does for which the condition holds.
#[derive(Debug, Clone, Copy)]
pub enum Then<'a> {
    /// It asks.
    Ask,
    /// It takes a pass, which counts its hit. It asks if there is none.
    Count(Counter),
    /// It writes a record, and goes on. It asks if the ring is full.
    Record(Record<'a>),
}

/// Makes the code of a decision.
///
/// # Errors
/// If the condition is too large, or can't be compiled at this address.
pub fn compile(request: &Request<'_>) -> Result<Trampoline, Refused> {
    let facts = check(request.truth, request.then.values())?;
    let mut used = Used::default();
    let mut bare = !matches!(request.then, Then::Record(_));
    loop {
        let mut walk = Walk::new(request, &facts, Frame(used), bare);
        let ends = walk.all(request);
        let stays_bare = bare && !walk.leaves_bare;
        let wanted = used.or(walk.used);
        if wanted != used || stays_bare != bare {
            (used, bare) = (wanted, stays_bare);
        } else {
            return walk.finish(request, ends);
        }
    }
}

impl<'a> Then<'a> {
    fn values(&self) -> &'a [Recorded] {
        match self {
            Then::Record(record) => record.values,
            _ => &[],
        }
    }
}

/// The labels at the ends.
struct Ends {
    ask: Label,
    go_on: Label,
}

/// Makes code.
pub(super) struct Walk<'a> {
    pub(super) code: Assembler,
    pub(super) free: Free,
    frame: Frame,
    /// Whether the frame exists.
    entered: bool,
    /// Whether there is no frame while the thread decides.
    bare: bool,
    /// Whether that doesn't do.
    leaves_bare: bool,
    /// Whether the flags must be kept.
    keeps_flags: bool,
    then: Then<'a>,
    /// What the code has used so far.
    pub(super) used: Used,
    /// How many intermediate values are in the frame.
    spilled: u16,
    /// Where to go if the condition has no value, and whether anything goes there.
    no_value: Label,
    goes_to_no_value: bool,
}

impl<'a> Walk<'a> {
    fn new(request: &'a Request<'_>, facts: &Facts, frame: Frame, bare: bool) -> Walk<'a> {
        let mut code = Assembler::default();
        let no_value = code.label();
        Walk {
            code,
            free: Free::choose(facts, request.keeps_flags),
            frame,
            entered: false,
            bare,
            leaves_bare: false,
            keeps_flags: request.keeps_flags,
            then: request.then,
            used: Used::default(),
            spilled: 0,
            no_value,
            goes_to_no_value: false,
        }
    }

    /// The whole code but what goes on.
    fn all(&mut self, request: &Request<'_>) -> Ends {
        let ends = Ends {
            ask: self.code.label(),
            go_on: self.code.label(),
        };
        let fails = self.code.label();
        let ask = self.code.label();
        self.code.state(State::Deciding(Saved::default()));
        if !self.bare {
            self.enter();
        }
        self.code.changes_flags = false;
        let no = if self.bare { ends.go_on } else { fails };
        self.branch(request.truth, false, no, self.free);
        self.note_flags();
        self.leaves_bare = self.used != Used::default();
        match self.then {
            Then::Ask => {}
            Then::Count(counter) => {
                if self.bare {
                    self.enter();
                }
                self.take_pass(counter, fails);
            }
            Then::Record(record) => self.record(&record, fails),
        }
        if !self.bare && !self.records() {
            self.code.place(self.no_value);
        }
        self.code.place(ask);
        self.decided(false);
        self.leave();
        if self.bare {
            self.code.place(self.no_value);
        }
        self.code.place(ends.ask);
        self.code.state(State::Asking);
        self.code.simple(Code::Int3);
        self.code.jump(Code::Jmp_rel32_64, ends.go_on);
        if self.records() && self.goes_to_no_value {
            self.code.place(self.no_value);
            self.decided(false);
            self.set_why(0);
            self.code.jump(Code::Jmp_rel32_64, ask);
        }
        self.code.place(fails);
        self.decided(!matches!(self.then, Then::Ask));
        self.leave();
        // Cut off in the end.
        self.code.place(ends.go_on);
        self.code.simple(Code::Nopd);
        ends
    }

    /// Makes the frame, and saves in it what the code changes.
    fn enter(&mut self) {
        let depth = self.frame.depth();
        self.entered = true;
        if depth == 0 {
            return;
        }
        self.code.load(
            Code::Lea_r64_m,
            Register::RSP,
            at(Register::RSP, -i64::from(depth)),
        );
        let mut saved = Saved {
            stack: depth.into(),
            ..Saved::default()
        };
        self.code.state(State::Deciding(saved.clone()));
        for (register, number, slot) in self.frame.all_general() {
            let memory = self.slot(slot);
            self.code.store(Code::Mov_rm64_r64, memory, register);
            saved.general.push((number, slot.into()));
            self.code.state(State::Deciding(saved.clone()));
        }
        if self.frame.0.flags {
            self.code.simple(Code::Lahf);
            self.code.one(Code::Seto_rm8, Register::AL);
            let memory = self.slot(self.frame.flags());
            self.code.store(Code::Mov_rm64_r64, memory, Register::RAX);
            saved.flags = Some(self.frame.flags().into());
            self.code.state(State::Deciding(saved.clone()));
        }
        for (register, number, slot) in self.frame.all_sse() {
            let memory = self.slot(slot);
            self.code.store(Code::Movups_xmmm128_xmm, memory, register);
            saved.sse.push((number, slot.into()));
            self.code.state(State::Deciding(saved.clone()));
        }
        if self.frame.0.mxcsr {
            let slot = self.frame.mxcsr();
            let (present, default) = (self.slot(slot), self.slot(slot + 4));
            self.code
                .push(Instruction::with1(Code::Stmxcsr_m32, present));
            saved.mxcsr = Some(slot.into());
            self.code.state(State::Deciding(saved));
            let store = Instruction::with2(Code::Mov_rm32_imm32, default, DEFAULT_MXCSR);
            self.code.push(store);
            self.code
                .push(Instruction::with1(Code::Ldmxcsr_m32, default));
        }
    }

    /// Restores what [`Walk::enter`] saved, and gives the frame up.
    fn leave(&mut self) {
        let depth = self.frame.depth();
        if depth == 0 || !self.entered {
            return;
        }
        for (register, _, slot) in self.frame.all_sse() {
            let memory = self.slot(slot);
            self.code.load(Code::Movups_xmm_xmmm128, register, memory);
        }
        if self.frame.0.mxcsr {
            let memory = self.slot(self.frame.mxcsr());
            self.code
                .push(Instruction::with1(Code::Ldmxcsr_m32, memory));
        }
        if self.frame.0.flags {
            let memory = self.slot(self.frame.flags());
            self.code.load(Code::Mov_r64_rm64, Register::RAX, memory);
            // 0x7f + 1 overflows, 0x7f + 0 doesn't.
            self.code.constant(Code::Add_AL_imm8, Register::AL, 0x7f);
            self.code.simple(Code::Sahf);
        }
        for (register, _, slot) in self.frame.all_general() {
            let memory = self.slot(slot);
            self.code.load(Code::Mov_r64_rm64, register, memory);
        }
        let memory = at(Register::RSP, depth.into());
        self.code.load(Code::Lea_r64_m, Register::RSP, memory);
    }

    /// Whether a thread writes records.
    fn records(&self) -> bool {
        matches!(self.then, Then::Record(_))
    }

    /// Keeps in the frame why the thread asks: 0, or [`super::RING_IS_FULL`].
    pub(super) fn set_why(&mut self, why: i32) {
        self.used.why = true;
        let slot = self.slot(self.frame.why());
        let store = Instruction::with2(Code::Mov_rm64_imm32, slot, why);
        self.code.push(store);
    }

    /// From here on the thread has decided. `may_have_counted`: it mustn't be put back.
    fn decided(&mut self, may_have_counted: bool) {
        if may_have_counted {
            self.code.state(State::Counted);
        } else {
            self.code.state(State::Deciding(self.all_saved()));
        }
    }

    /// Where everything is while the thread decides.
    pub(super) fn all_saved(&self) -> Saved {
        let flags = self.frame.0.flags.then(|| self.frame.flags().into());
        let mxcsr = self.frame.0.mxcsr.then(|| self.frame.mxcsr().into());
        let general = self.frame.all_general();
        let sse = self.frame.all_sse();
        Saved {
            stack: self.frame.depth().into(),
            general: general.map(|it| (it.1, it.2.into())).collect(),
            flags,
            sse: sse.map(|it| (it.1, it.2.into())).collect(),
            mxcsr,
        }
    }

    /// Has the flags saved if they must be kept and the code since the last look changes them.
    pub(super) fn note_flags(&mut self) {
        if self.keeps_flags && self.code.changes_flags {
            self.used.flags = true;
            self.used.add_general(Register::RAX);
        }
    }

    fn finish(self, request: &Request<'_>, ends: Ends) -> Result<Trampoline, Refused> {
        let (frame, records) = (self.frame, self.records());
        if frame.size() > MOST_FRAME {
            return Err(Refused::TooLarge);
        }
        let assembled = self.code.finish(request.at, &[ends.ask, ends.go_on])?;
        let (mut bytes, places) = (assembled.bytes, assembled.places);
        let &[ask, go_on] = places.as_slice() else {
            return Err(Refused::TooLarge);
        };
        bytes.truncate(usize::try_from(go_on).unwrap_or(usize::MAX));
        if bytes.len() > MOST_CODE {
            return Err(Refused::TooLarge);
        }
        let behind = (request.go_on)(Address(request.at.0.wrapping_add(go_on)));
        bytes.extend(behind.ok_or(Refused::OutOfReach)?);
        let why = i64::from(frame.why()) - i64::from(frame.depth());
        Ok(Trampoline {
            bytes,
            ask,
            go_on,
            why_slot: records.then_some(why),
            zones: assembled.states,
        })
    }

    /// A slot in the frame.
    fn slot(&self, slot: u32) -> MemoryOperand {
        at(Register::RSP, slot.into())
    }

    /// How far the stack pointer is below the thread's.
    pub(super) fn depth(&self) -> u32 {
        match self.entered {
            true => self.frame.depth(),
            false => 0,
        }
    }

    /// The slot with the thread's value of a general register, if the code changes the register.
    pub(super) fn saved_general(&self, register: Register) -> Option<MemoryOperand> {
        let slot = self.frame.general(register).filter(|_| self.entered);
        slot.map(|slot| self.slot(slot))
    }

    /// The same of an SSE register.
    pub(super) fn saved_sse(&self, register: Register) -> Option<MemoryOperand> {
        let slot = self.frame.sse(register).filter(|_| self.entered);
        slot.map(|slot| self.slot(slot))
    }

    /// A new slot for an intermediate value. Given back by [`Walk::unspill`], the latest first.
    pub(super) fn spill(&mut self) -> MemoryOperand {
        let slot = self.slot(self.frame.spilled(self.spilled));
        self.spilled += 1;
        self.used.spilled = self.used.spilled.max(self.spilled);
        slot
    }

    pub(super) fn unspill(&mut self) {
        self.spilled -= 1;
    }

    /// Where to jump if the condition has no value.
    pub(super) fn no_value(&mut self) -> Label {
        self.goes_to_no_value = true;
        self.no_value
    }
}

/// Memory at a register and a displacement.
pub(super) fn at(base: Register, displacement: i64) -> MemoryOperand {
    let size = u32::from(displacement != 0);
    MemoryOperand::new(
        base,
        Register::None,
        1,
        displacement,
        size,
        false,
        Register::None,
    )
}
