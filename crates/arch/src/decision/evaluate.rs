//! Evaluates a decision without code: the meaning that compiled code must have.

use super::{
    Comparison, ExactOperation, Operation, Real, RealOperation, Recorded, Sign, Truth, Word,
    extend, pieces,
};
use crate::{Address, Memory};

/// A thread whose registers and memory a decision reads.
struct Thread<'a> {
    registers: &'a dyn Fn(u16) -> u64,
    sse: &'a dyn Fn(u8) -> u64,
    thread_pointer: u64,
    memory: &'a dyn Memory,
}

/// Evaluates a decision. `registers` gives a general register by its DWARF number, `sse` the lowest 8 bytes of an SSE register, by its
/// number.
///
/// `None`: the condition has no value, so the thread asks. Memory that can't be read gives no value either.
pub fn evaluate(
    truth: &Truth,
    registers: &dyn Fn(u16) -> u64,
    sse: &dyn Fn(u8) -> u64,
    thread_pointer: u64,
    memory: &dyn Memory,
) -> Option<bool> {
    let thread = Thread {
        registers,
        sse,
        thread_pointer,
        memory,
    };
    thread.truth(truth)
}

/// Evaluates a value that is recorded, as [`evaluate`] does a condition.
pub fn evaluate_recorded(
    value: &Recorded,
    registers: &dyn Fn(u16) -> u64,
    sse: &dyn Fn(u8) -> u64,
    thread_pointer: u64,
    memory: &dyn Memory,
) -> Option<u64> {
    let thread = Thread {
        registers,
        sse,
        thread_pointer,
        memory,
    };
    match value {
        Recorded::Word(word) => thread.word(word),
        Recorded::Real(real) => thread.real(real).map(f64::to_bits),
    }
}

impl Thread<'_> {
    fn truth(&self, truth: &Truth) -> Option<bool> {
        Some(match truth {
            Truth::Constant(value) => *value,
            Truth::Words(comparison, pair) => {
                words_hold(*comparison, self.word(&pair.0)?, self.word(&pair.1)?)
            }
            Truth::Numbers(comparison, pair) => {
                let (left, right) = (self.real(&pair.0)?, self.real(&pair.1)?);
                match comparison {
                    Comparison::Equal => left == right,
                    Comparison::NotEqual => left != right,
                    Comparison::Less(_) => left < right,
                    Comparison::LessOrEqual(_) => left <= right,
                }
            }
            Truth::Not(truth) => !self.truth(truth)?,
            Truth::And(pair) => self.truth(&pair.0)? && self.truth(&pair.1)?,
            Truth::Or(pair) => self.truth(&pair.0)? || self.truth(&pair.1)?,
            Truth::Bytes(address, bytes) => {
                let address = Address(self.word(address)?);
                for (offset, piece) in pieces(bytes) {
                    let mut present = [0; 4];
                    let present = present.get_mut(..piece.len())?;
                    let from = address.offset(offset as i64);
                    self.memory.read(from, present).ok()?;
                    if present != piece {
                        return Some(false);
                    }
                }
                true
            }
        })
    }

    fn word(&self, word: &Word) -> Option<u64> {
        match word {
            Word::Constant(value) => Some(*value),
            Word::Register(number) => Some((self.registers)(*number)),
            Word::ThreadPointer => Some(self.thread_pointer),
            Word::Load {
                address,
                size,
                sign,
            } => Some(extend(self.load(address, *size)?, *size, *sign)),
            Word::Extended { word, size, sign } => Some(extend(self.word(word)?, *size, *sign)),
            Word::Operation(operation, pair) => {
                operate(*operation, self.word(&pair.0)?, self.word(&pair.1)?)
            }
            Word::Exact(operation, sign, pair) => {
                operate_exactly(*operation, *sign, self.word(&pair.0)?, self.word(&pair.1)?)
            }
            Word::Quotient(sign, pair) => {
                let (left, right) = (self.word(&pair.0)?, self.word(&pair.1)?);
                match sign {
                    Sign::Unsigned => left.checked_div(right),
                    Sign::Signed => left
                        .cast_signed()
                        .checked_div(right.cast_signed())
                        .map(i64::cast_unsigned),
                }
            }
            Word::Remainder(sign, pair) => {
                let (left, right) = (self.word(&pair.0)?, self.word(&pair.1)?);
                match sign {
                    Sign::Unsigned => left.checked_rem(right),
                    Sign::Signed => left
                        .cast_signed()
                        .checked_rem(right.cast_signed())
                        .map(i64::cast_unsigned),
                }
            }
            Word::Truth(truth) => Some(u64::from(self.truth(truth)?)),
            Word::If(pair) => match self.truth(&pair.0)? {
                true => self.word(&pair.1),
                false => None,
            },
            Word::Choice(parts) => match self.truth(&parts.0)? {
                true => self.word(&parts.1),
                false => self.word(&parts.2),
            },
            Word::Fitting { word, size, sign } => {
                let word = self.word(word)?;
                (extend(word, *size, *sign) == word).then_some(word)
            }
        }
    }

    fn real(&self, real: &Real) -> Option<f64> {
        Some(match real {
            Real::Constant(value) => *value,
            Real::Load { address, size } => number(self.load(address, *size)?, *size),
            Real::Register { register, size } => number((self.sse)(*register), *size),
            Real::Integer(word, Sign::Signed) => self.word(word)?.cast_signed() as f64,
            Real::Integer(word, Sign::Unsigned) => i64::try_from(self.word(word)?).ok()? as f64,
            Real::Operation(operation, pair) => {
                let (left, right) = (self.real(&pair.0)?, self.real(&pair.1)?);
                match operation {
                    RealOperation::Add => left + right,
                    RealOperation::Subtract => left - right,
                    RealOperation::Multiply => left * right,
                    RealOperation::Divide => left / right,
                }
            }
            Real::Choice(parts) => match self.truth(&parts.0)? {
                true => self.real(&parts.1)?,
                false => self.real(&parts.2)?,
            },
            Real::Rounded(real) => f64::from(self.real(real)? as f32),
        })
    }

    fn load(&self, address: &Word, size: u8) -> Option<u64> {
        let mut bytes = [0; 8];
        let wanted = bytes.get_mut(..size.into())?;
        let address = Address(self.word(address)?);
        self.memory.read(address, wanted).ok()?;
        Some(u64::from_le_bytes(bytes))
    }
}

/// The number of `size` bytes in the lowest bytes of a word.
fn number(word: u64, size: u8) -> f64 {
    match size {
        4 => f64::from(f32::from_bits(word as u32)),
        _ => f64::from_bits(word),
    }
}

fn words_hold(comparison: Comparison, left: u64, right: u64) -> bool {
    match comparison {
        Comparison::Equal => left == right,
        Comparison::NotEqual => left != right,
        Comparison::Less(Sign::Signed) => left.cast_signed() < right.cast_signed(),
        Comparison::Less(Sign::Unsigned) => left < right,
        Comparison::LessOrEqual(Sign::Signed) => left.cast_signed() <= right.cast_signed(),
        Comparison::LessOrEqual(Sign::Unsigned) => left <= right,
    }
}

fn operate(operation: Operation, left: u64, right: u64) -> Option<u64> {
    let count = || u32::try_from(right).ok();
    match operation {
        Operation::Add => Some(left.wrapping_add(right)),
        Operation::Subtract => Some(left.wrapping_sub(right)),
        Operation::Multiply => Some(left.wrapping_mul(right)),
        Operation::And => Some(left & right),
        Operation::Or => Some(left | right),
        Operation::Xor => Some(left ^ right),
        Operation::ShiftLeft => left.checked_shl(count()?),
        Operation::ShiftRight(Sign::Unsigned) => left.checked_shr(count()?),
        Operation::ShiftRight(Sign::Signed) => {
            let shifted = left.cast_signed().checked_shr(count()?);
            shifted.map(i64::cast_unsigned)
        }
    }
}

fn operate_exactly(operation: ExactOperation, sign: Sign, left: u64, right: u64) -> Option<u64> {
    match sign {
        Sign::Unsigned => match operation {
            ExactOperation::Add => left.checked_add(right),
            ExactOperation::Subtract => left.checked_sub(right),
            ExactOperation::Multiply => left.checked_mul(right),
        },
        Sign::Signed => {
            let (left, right) = (left.cast_signed(), right.cast_signed());
            let result = match operation {
                ExactOperation::Add => left.checked_add(right),
                ExactOperation::Subtract => left.checked_sub(right),
                ExactOperation::Multiply => left.checked_mul(right),
            };
            result.map(i64::cast_unsigned)
        }
    }
}
