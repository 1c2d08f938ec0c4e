//! Code that computes and compares numbers with a fraction, in SSE registers.

use super::compile::Walk;
use super::emit::Label;
use super::registers::{Free, sse};
use super::{Comparison, Real, RealOperation, Sign, Word};
use iced_x86::{Code, MemoryOperand, Register};

/// Where the second operand of an instruction on numbers is.
#[derive(Clone, Copy)]
enum Place {
    Register(Register),
    Memory(MemoryOperand),
}

impl Walk<'_> {
    /// Goes to `label` if the comparison's result is `when`, else goes on behind.
    pub(super) fn branch_on_numbers(
        &mut self,
        comparison: Comparison,
        pair: &(Real, Real),
        when: bool,
        label: Label,
        free: Free,
    ) {
        let (first, second) = (&pair.0, &pair.1);
        // If one isn't a number, `ucomisd` sets ZF, PF and CF: neither above, nor above or equal.
        let (jump, when) = match comparison {
            Comparison::Equal => return self.branch_on_equal((first, second), when, label, free),
            Comparison::NotEqual => {
                return self.branch_on_equal((first, second), !when, label, free);
            }
            Comparison::Less(_) => (Code::Ja_rel32_64, when),
            Comparison::LessOrEqual(_) => (Code::Jae_rel32_64, when),
        };
        self.arithmetic(Code::Ucomisd_xmm_xmmm64, second, first, free);
        self.code.jump(
            if when {
                jump
            } else {
                jump.negate_condition_code()
            },
            label,
        );
    }

    fn branch_on_equal(&mut self, pair: (&Real, &Real), when: bool, label: Label, free: Free) {
        self.arithmetic(Code::Ucomisd_xmm_xmmm64, pair.0, pair.1, free);
        if when {
            let end = self.code.label();
            self.code.jump(Code::Jp_rel32_64, end);
            self.code.jump(Code::Je_rel32_64, label);
            self.code.place(end);
        } else {
            self.code.jump(Code::Jp_rel32_64, label);
            self.code.jump(Code::Jne_rel32_64, label);
        }
    }

    /// Computes two numbers, the first one into the first free SSE register, and executes an instruction on them.
    fn arithmetic(&mut self, code: Code, first: &Real, second: &Real, free: Free) {
        let target = free.sse.first();
        if let Some(place) = self.direct_real(second) {
            self.real(first, free);
            self.operate(code, target, place);
        } else if free.sse.second().is_none() {
            let register = self.real(second, free);
            let slot = self.spill();
            self.code.store(Code::Movsd_xmmm64_xmm, slot, register);
            self.real(first, free);
            self.operate(code, target, Place::Memory(slot));
            self.unspill();
        } else {
            self.real(first, free);
            let register = self.real(second, free.behind_sse());
            self.operate(code, target, Place::Register(register));
        }
    }

    fn operate(&mut self, code: Code, target: Register, place: Place) {
        match place {
            Place::Register(register) => self.code.two(code, target, register),
            Place::Memory(memory) => self.code.load(code, target, memory),
        }
    }

    /// Where a number of 8 bytes is, if an instruction can take it from there.
    fn direct_real(&self, real: &Real) -> Option<Place> {
        match real {
            Real::Register { register, size: 8 } => Some(self.register(*register)),
            Real::Load { address, size: 8 } => self.direct_address(address).map(Place::Memory),
            _ => None,
        }
    }

    /// The thread's value of an SSE register.
    fn register(&self, number: u8) -> Place {
        let register = sse(number);
        let saved = self.saved_sse(register);
        saved.map_or(Place::Register(register), Place::Memory)
    }

    /// Computes a number into the first free SSE register.
    pub(super) fn real(&mut self, real: &Real, free: Free) -> Register {
        let target = free.sse.first();
        self.used.add_sse(target);
        match real {
            Real::Constant(value) => {
                let register = self.target(free);
                self.code.set(register, value.to_bits());
                self.code.two(Code::Movq_xmm_rm64, target, register);
            }
            Real::Load { address, size } => {
                let memory = self.address(address, free);
                self.number(target, Place::Memory(memory), *size);
            }
            Real::Register { register, size } => {
                let place = self.register(*register);
                self.number(target, place, *size);
            }
            Real::Integer(word, sign) => self.integer(word, *sign, free),
            Real::Operation(operation, pair) => {
                let code = match operation {
                    RealOperation::Add => Code::Addsd_xmm_xmmm64,
                    RealOperation::Subtract => Code::Subsd_xmm_xmmm64,
                    RealOperation::Multiply => Code::Mulsd_xmm_xmmm64,
                    RealOperation::Divide => Code::Divsd_xmm_xmmm64,
                };
                self.arithmetic(code, &pair.0, &pair.1, free);
            }
            Real::Choice(parts) => {
                let (no, end) = (self.code.label(), self.code.label());
                self.branch(&parts.0, false, no, free);
                self.real(&parts.1, free);
                self.code.jump(Code::Jmp_rel32_64, end);
                self.code.place(no);
                self.real(&parts.2, free);
                self.code.place(end);
            }
            Real::Rounded(real) => {
                self.real(real, free);
                self.code.two(Code::Cvtsd2ss_xmm_xmmm64, target, target);
                self.code.two(Code::Cvtss2sd_xmm_xmmm32, target, target);
            }
        }
        target
    }

    /// Loads a number of `size` bytes.
    fn number(&mut self, target: Register, place: Place, size: u8) {
        let code = match (size, place) {
            (4, _) => Code::Cvtss2sd_xmm_xmmm32,
            (_, Place::Memory(_)) => Code::Movsd_xmm_xmmm64,
            (_, Place::Register(_)) => Code::Movaps_xmm_xmmm128,
        };
        self.operate(code, target, place);
    }

    fn integer(&mut self, word: &Word, sign: Sign, free: Free) {
        let register = self.value(word, free);
        if sign == Sign::Unsigned {
            let no_value = self.no_value();
            self.code.two(Code::Test_rm64_r64, register, register);
            self.code.jump(Code::Js_rel32_64, no_value);
        }
        let target = free.sse.first();
        // Only its lower half is written, so without this it waits for what was in it.
        self.code.two(Code::Pxor_xmm_xmmm128, target, target);
        self.code.two(Code::Cvtsi2sd_xmm_rm64, target, register);
    }
}
