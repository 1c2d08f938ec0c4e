//! Code that computes words.
//!
//! Of two words, the one that needs more registers is computed first (Sethi and Ullman, 1970), so few registers are needed. If none is
//! left, one of the two is kept in the frame meanwhile. What an instruction can take from where it is isn't computed at all.

use super::compile::{Walk, at};
use super::emit::{Arithmetic, Operand};
use super::registers::{Free, general, part};
use super::{ExactOperation, Operation, Sign, Word};
use crate::registers::SP;
use iced_x86::{Code, MemoryOperand, Register};

/// Two words: the first is in the register, the second is the operand.
struct Pair {
    first: Register,
    second: Operand,
    spilled: bool,
}

impl Walk<'_> {
    /// Computes a word into the first free general register.
    pub(super) fn value(&mut self, word: &Word, free: Free) -> Register {
        let target = self.target(free);
        match word {
            Word::Constant(value) => self.code.set(target, *value),
            Word::Register(SP) => {
                let sp = at(Register::RSP, self.depth().into());
                self.code.load(Code::Lea_r64_m, target, sp);
            }
            Word::Register(_) | Word::ThreadPointer => {
                if let Some(operand) = self.direct(word) {
                    self.code.arithmetic(Arithmetic::Move, target, operand);
                }
            }
            Word::Load {
                address,
                size,
                sign,
            } => {
                let memory = self.address(address, free);
                self.load(target, memory, *size, *sign);
            }
            Word::Extended { word, size, sign } => {
                let from = match self.direct(word) {
                    Some(Operand::Register(register)) => register,
                    _ => self.value(word, free),
                };
                self.extend(target, from, *size, *sign);
            }
            Word::Operation(operation, pair) => self.operation(*operation, pair, free),
            Word::Exact(operation, sign, pair) => self.exact(*operation, *sign, pair, free),
            Word::Quotient(sign, pair) => self.divide(*sign, pair, Register::RAX, free),
            Word::Remainder(sign, pair) => self.divide(*sign, pair, Register::RDX, free),
            Word::Truth(truth) => {
                let (no, end) = (self.code.label(), self.code.label());
                self.branch(truth, false, no, free);
                self.code.set(target, 1);
                self.code.jump(Code::Jmp_rel32_64, end);
                self.code.place(no);
                self.code.set(target, 0);
                self.code.place(end);
            }
            Word::If(pair) => {
                let no_value = self.no_value();
                self.branch(&pair.0, false, no_value, free);
                self.value(&pair.1, free);
            }
            Word::Choice(parts) => {
                let (no, end) = (self.code.label(), self.code.label());
                self.branch(&parts.0, false, no, free);
                self.value(&parts.1, free);
                self.code.jump(Code::Jmp_rel32_64, end);
                self.code.place(no);
                self.value(&parts.2, free);
                self.code.place(end);
            }
            Word::Fitting { word, size, sign } => {
                self.value(word, free);
                self.check_fits(target, *size, *sign);
            }
        }
        target
    }

    /// The first free general register, to be changed.
    pub(super) fn target(&mut self, free: Free) -> Register {
        let target = free.general.first();
        self.used.add_general(target);
        target
    }

    /// A word as an operand of 64 bits, if an instruction can take it from where it is.
    pub(super) fn direct(&self, word: &Word) -> Option<Operand> {
        match word {
            Word::Constant(value) => {
                let value = i32::try_from(value.cast_signed()).ok()?;
                Some(Operand::Constant(value))
            }
            Word::Register(SP) => (self.depth() == 0).then_some(Operand::Register(Register::RSP)),
            Word::Register(number) => {
                let register = general(*number);
                let saved = self.saved_general(register);
                Some(saved.map_or(Operand::Register(register), Operand::Memory))
            }
            Word::ThreadPointer => Some(Operand::Memory(in_thread(0))),
            Word::Load {
                address, size: 8, ..
            } => self.direct_address(address).map(Operand::Memory),
            _ => None,
        }
    }

    /// An address as an operand of an instruction, computed into the first free general register where that is necessary.
    pub(super) fn address(&mut self, address: &Word, free: Free) -> MemoryOperand {
        if let Some(memory) = self.direct_address(address) {
            return memory;
        }
        match displaced(address) {
            (Some(base), displacement) => match i32::try_from(displacement) {
                Ok(displacement) => at(self.value(base, free), displacement.into()),
                Err(_) => at(self.value(address, free), 0),
            },
            (None, _) => at(self.value(address, free), 0),
        }
    }

    /// An address as an operand, if no register is needed for it.
    pub(super) fn direct_address(&self, address: &Word) -> Option<MemoryOperand> {
        let (base, displacement) = displaced(address);
        let fits = |displacement: i64| i32::try_from(displacement).ok().map(i64::from);
        match base {
            None => {
                let displacement = fits(displacement)?;
                let none = Register::None;
                Some(MemoryOperand::new(
                    none,
                    none,
                    1,
                    displacement,
                    8,
                    false,
                    none,
                ))
            }
            Some(Word::Register(SP)) => {
                let displacement = displacement.checked_add(self.depth().into())?;
                Some(at(Register::RSP, fits(displacement)?))
            }
            Some(Word::Register(number)) => {
                let register = general(*number);
                let saved = self.saved_general(register).is_some();
                (!saved).then_some(at(register, fits(displacement)?))
            }
            Some(Word::ThreadPointer) => Some(in_thread(fits(displacement)?)),
            Some(_) => None,
        }
    }

    fn load(&mut self, target: Register, memory: MemoryOperand, size: u8, sign: Sign) {
        let (code, width) = match (size, sign) {
            (1, Sign::Unsigned) => (Code::Movzx_r32_rm8, 4),
            (1, Sign::Signed) => (Code::Movsx_r64_rm8, 8),
            (2, Sign::Unsigned) => (Code::Movzx_r32_rm16, 4),
            (2, Sign::Signed) => (Code::Movsx_r64_rm16, 8),
            (4, Sign::Unsigned) => (Code::Mov_r32_rm32, 4),
            (4, Sign::Signed) => (Code::Movsxd_r64_rm32, 8),
            _ => (Code::Mov_r64_rm64, 8),
        };
        self.code.load(code, part(target, width), memory);
    }

    fn extend(&mut self, target: Register, from: Register, size: u8, sign: Sign) {
        let (code, width) = match (size, sign) {
            (1, Sign::Unsigned) => (Code::Movzx_r32_rm8, 4),
            (1, Sign::Signed) => (Code::Movsx_r64_rm8, 8),
            (2, Sign::Unsigned) => (Code::Movzx_r32_rm16, 4),
            (2, Sign::Signed) => (Code::Movsx_r64_rm16, 8),
            (_, Sign::Unsigned) => (Code::Mov_r32_rm32, 4),
            (_, Sign::Signed) => (Code::Movsxd_r64_rm32, 8),
        };
        self.code.two(code, part(target, width), part(from, size));
    }

    /// Computes two words, the first one into the first free general register.
    fn pair(&mut self, first: &Word, second: &Word, free: Free) -> Pair {
        let (second, spilled) = if let Some(operand) = self.direct(second) {
            self.value(first, free);
            (operand, false)
        } else if free.general.second().is_none() {
            let register = self.value(second, free);
            let slot = self.spill();
            self.code.store(Code::Mov_rm64_r64, slot, register);
            self.value(first, free);
            (Operand::Memory(slot), true)
        } else if self.need(second) > self.need(first) {
            let register = self.value(second, free.general_swapped());
            self.value(first, free.around_general());
            (Operand::Register(register), false)
        } else {
            self.value(first, free);
            let register = self.value(second, free.behind_general());
            (Operand::Register(register), false)
        };
        Pair {
            first: free.general.first(),
            second,
            spilled,
        }
    }

    fn used(&mut self, pair: &Pair) {
        if pair.spilled {
            self.unspill();
        }
    }

    /// Computes two words for an instruction that doesn't change its operands, so that the first can stay in the thread's register.
    pub(super) fn compare(&mut self, first: &Word, second: &Word, free: Free) {
        if let (Some(Operand::Register(first)), Some(second)) =
            (self.direct(first), self.direct(second))
        {
            self.code.arithmetic(Arithmetic::Compare, first, second);
            return;
        }
        let pair = self.pair(first, second, free);
        let (first, second) = (pair.first, pair.second);
        self.code.arithmetic(Arithmetic::Compare, first, second);
        self.used(&pair);
    }

    /// About how many registers a word needs.
    pub(super) fn need(&self, word: &Word) -> u32 {
        if self.direct(word).is_some() {
            return 0;
        }
        let inner = match word {
            Word::Constant(_) | Word::Register(_) | Word::ThreadPointer => 0,
            Word::Load { address, .. } if self.direct_address(address).is_some() => 0,
            Word::Load { address: word, .. }
            | Word::Extended { word, .. }
            | Word::Fitting { word, .. } => self.need(word),
            Word::Operation(_, pair)
            | Word::Exact(_, _, pair)
            | Word::Quotient(_, pair)
            | Word::Remainder(_, pair) => match (self.need(&pair.0), self.need(&pair.1)) {
                (first, 0) => first,
                (first, second) if first == second => first + 1,
                (first, second) => first.max(second),
            },
            Word::Truth(_) => 2,
            Word::If(pair) => self.need(&pair.1).max(2),
            Word::Choice(parts) => self.need(&parts.1).max(self.need(&parts.2)).max(2),
        };
        inner.max(1)
    }

    fn operation(&mut self, operation: Operation, pair: &(Word, Word), free: Free) {
        let (mut first, mut second) = (&pair.0, &pair.1);
        let (what, commutes) = match operation {
            Operation::Add => (Arithmetic::Add, true),
            Operation::Subtract => (Arithmetic::Subtract, false),
            Operation::Multiply => (Arithmetic::Multiply, true),
            Operation::And => (Arithmetic::And, true),
            Operation::Or => (Arithmetic::Or, true),
            Operation::Xor => (Arithmetic::Xor, true),
            Operation::ShiftLeft => {
                return self.shift(Code::Shl_rm64_imm8, Code::Shl_rm64_CL, pair, free);
            }
            Operation::ShiftRight(Sign::Unsigned) => {
                return self.shift(Code::Shr_rm64_imm8, Code::Shr_rm64_CL, pair, free);
            }
            Operation::ShiftRight(Sign::Signed) => {
                return self.shift(Code::Sar_rm64_imm8, Code::Sar_rm64_CL, pair, free);
            }
        };
        if commutes && self.direct(first).is_some() && self.direct(second).is_none() {
            (first, second) = (second, first);
        }
        let pair = self.pair(first, second, free);
        self.code.arithmetic(what, pair.first, pair.second);
        self.used(&pair);
    }

    fn shift(&mut self, by_constant: Code, by_register: Code, pair: &(Word, Word), free: Free) {
        let (word, count) = (&pair.0, &pair.1);
        if let Word::Constant(count) = count {
            let register = self.value(word, free);
            match i32::try_from(*count) {
                Ok(count @ 0..64) => self.code.constant(by_constant, register, count),
                _ => {
                    let no_value = self.no_value();
                    self.code.jump(Code::Jmp_rel32_64, no_value);
                }
            }
            return;
        }
        let pair = self.pair(word, count, free);
        self.used.add_general(Register::RCX);
        self.code
            .arithmetic(Arithmetic::Move, Register::RCX, pair.second);
        self.code
            .arithmetic(Arithmetic::Compare, Register::RCX, Operand::Constant(63));
        let no_value = self.no_value();
        self.code.jump(Code::Ja_rel32_64, no_value);
        self.code.two(by_register, pair.first, Register::CL);
        self.used(&pair);
    }

    fn exact(&mut self, operation: ExactOperation, sign: Sign, pair: &(Word, Word), free: Free) {
        let what = match operation {
            ExactOperation::Add => Arithmetic::Add,
            ExactOperation::Subtract => Arithmetic::Subtract,
            ExactOperation::Multiply => Arithmetic::Multiply,
        };
        let pair = self.pair(&pair.0, &pair.1, free);
        let no_value = self.no_value();
        if (operation, sign) == (ExactOperation::Multiply, Sign::Unsigned) {
            let (rax, rdx) = self.for_division();
            self.code.two(Code::Mov_r64_rm64, rax, pair.first);
            self.code.arithmetic(Arithmetic::Move, rdx, pair.second);
            self.code.one(Code::Mul_rm64, rdx);
            self.code.jump(Code::Jo_rel32_64, no_value);
            self.code.two(Code::Mov_r64_rm64, pair.first, rax);
        } else {
            let overflow = match sign {
                Sign::Signed => Code::Jo_rel32_64,
                Sign::Unsigned => Code::Jb_rel32_64,
            };
            self.code.arithmetic(what, pair.first, pair.second);
            self.code.jump(overflow, no_value);
        }
        self.used(&pair);
    }

    /// `result`: `rax` for the quotient, `rdx` for the remainder.
    fn divide(&mut self, sign: Sign, pair: &(Word, Word), result: Register, free: Free) {
        let pair = self.pair(&pair.0, &pair.1, free);
        let no_value = self.no_value();
        let (rax, rdx) = self.for_division();
        // The divisor is used more than once. In memory it could change meanwhile.
        let divisor = pair.first;
        self.code.two(Code::Mov_r64_rm64, rax, pair.first);
        self.code.arithmetic(Arithmetic::Move, divisor, pair.second);
        self.used(&pair);
        self.code.two(Code::Test_rm64_r64, divisor, divisor);
        self.code.jump(Code::Je_rel32_64, no_value);
        match sign {
            Sign::Unsigned => {
                self.code.set(rdx, 0);
                self.code.one(Code::Div_rm64, divisor);
            }
            Sign::Signed => {
                let fine = self.code.label();
                self.code
                    .arithmetic(Arithmetic::Compare, divisor, Operand::Constant(-1));
                self.code.jump(Code::Jne_rel32_64, fine);
                self.code.set(rdx, i64::MIN.cast_unsigned());
                self.code
                    .arithmetic(Arithmetic::Compare, rax, Operand::Register(rdx));
                self.code.jump(Code::Je_rel32_64, no_value);
                self.code.place(fine);
                self.code.simple(Code::Cqo);
                self.code.one(Code::Idiv_rm64, divisor);
            }
        }
        self.code.two(Code::Mov_r64_rm64, divisor, result);
    }

    fn for_division(&mut self) -> (Register, Register) {
        self.used.add_general(Register::RAX);
        self.used.add_general(Register::RDX);
        (Register::RAX, Register::RDX)
    }

    /// Goes to where the condition has no value unless a register is an integer of `size` bytes.
    fn check_fits(&mut self, register: Register, size: u8, sign: Sign) {
        let no_value = self.no_value();
        let bits = 8 * u32::from(size);
        match sign {
            Sign::Signed => {
                let lowest = i32::MIN >> 32_u32.saturating_sub(bits);
                let place = Operand::Register(register);
                self.code.compare_constant(place, 8, lowest);
                self.code.jump(Code::Jl_rel32_64, no_value);
                self.code.compare_constant(place, 8, !lowest);
                self.code.jump(Code::Jg_rel32_64, no_value);
            }
            Sign::Unsigned if bits < 32 => {
                let place = Operand::Register(register);
                self.code.compare_constant(place, 8, (1 << bits) - 1);
                self.code.jump(Code::Ja_rel32_64, no_value);
            }
            Sign::Unsigned => {
                let low = part(register, 4);
                self.code.constant(Code::Rol_rm64_imm8, register, 32);
                self.code.two(Code::Test_rm32_r32, low, low);
                self.code.jump(Code::Jne_rel32_64, no_value);
                self.code.constant(Code::Shr_rm64_imm8, register, 32);
            }
        }
    }
}

/// Splits an address into what is computed and a displacement.
fn displaced(address: &Word) -> (Option<&Word>, i64) {
    let mut word = address;
    let mut displacement = 0_i64;
    while let Word::Operation(operation, pair) = word {
        match (operation, &pair.0, &pair.1) {
            (Operation::Add, inner, Word::Constant(by))
            | (Operation::Add, Word::Constant(by), inner) => {
                displacement = displacement.wrapping_add(by.cast_signed());
                word = inner;
            }
            (Operation::Subtract, inner, Word::Constant(by)) => {
                displacement = displacement.wrapping_sub(by.cast_signed());
                word = inner;
            }
            _ => break,
        }
    }
    match word {
        Word::Constant(base) => (None, displacement.wrapping_add(base.cast_signed())),
        _ => (Some(word), displacement),
    }
}

/// Memory at a displacement from the thread pointer.
fn in_thread(displacement: i64) -> MemoryOperand {
    let none = Register::None;
    MemoryOperand::new(none, none, 1, displacement, 8, false, Register::FS)
}
