//! What a decision gives, by its definition.

use dapple_arch::decision::{
    Comparison, ExactOperation, Operation, Real, RealOperation, Sign, Truth, Word,
};
use dapple_arch::registers::{FS_BASE, Registers};
use dapple_arch::{Address, Memory};

/// A thread's state.
pub struct Thread<'a> {
    pub registers: &'a Registers,
    pub memory: &'a dyn Memory,
}

fn narrowed(word: u64, size: u8, sign: Sign) -> u64 {
    let shift = 64 - 8 * u32::from(size);
    match sign {
        Sign::Signed => ((word << shift) as i64 >> shift) as u64,
        Sign::Unsigned => word << shift >> shift,
    }
}

fn wide(word: u64, sign: Sign) -> i128 {
    match sign {
        Sign::Signed => i128::from(word as i64),
        Sign::Unsigned => i128::from(word),
    }
}

fn exact(value: i128, sign: Sign) -> Option<u64> {
    match sign {
        Sign::Signed => i64::try_from(value).ok().map(|value| value as u64),
        Sign::Unsigned => u64::try_from(value).ok(),
    }
}

impl Thread<'_> {
    /// Whether the condition holds; `None`: it asks.
    pub fn truth(&self, truth: &Truth) -> Option<bool> {
        Some(match truth {
            Truth::Constant(value) => *value,
            Truth::Words(comparison, sides) => {
                let (a, b) = (self.word(&sides.0)?, self.word(&sides.1)?);
                match *comparison {
                    Comparison::Equal => a == b,
                    Comparison::NotEqual => a != b,
                    Comparison::Less(sign) => wide(a, sign) < wide(b, sign),
                    Comparison::LessOrEqual(sign) => wide(a, sign) <= wide(b, sign),
                }
            }
            Truth::Numbers(comparison, sides) => {
                let (a, b) = (self.real(&sides.0)?, self.real(&sides.1)?);
                match comparison {
                    Comparison::Equal => a == b,
                    Comparison::NotEqual => a != b,
                    Comparison::Less(_) => a < b,
                    Comparison::LessOrEqual(_) => a <= b,
                }
            }
            Truth::Not(inner) => !self.truth(inner)?,
            Truth::And(sides) => self.truth(&sides.0)? && self.truth(&sides.1)?,
            Truth::Or(sides) => self.truth(&sides.0)? || self.truth(&sides.1)?,
            Truth::Bytes(address, wanted) => {
                let mut bytes = vec![0; wanted.len()];
                let address = Address(self.word(address)?);
                self.memory.read(address, &mut bytes).ok()?;
                bytes == wanted[..]
            }
        })
    }

    fn load(&self, address: &Word, size: u8) -> Option<u64> {
        assert!([1, 2, 4, 8].contains(&size));
        let mut bytes = [0; 8];
        let address = Address(self.word(address)?);
        (self.memory)
            .read(address, &mut bytes[..usize::from(size)])
            .ok()?;
        Some(u64::from_le_bytes(bytes))
    }

    fn word(&self, word: &Word) -> Option<u64> {
        Some(match word {
            Word::Constant(value) => *value,
            Word::Register(number) => {
                assert!(*number < 16);
                self.registers.get(*number)?
            }
            Word::ThreadPointer => self.registers.get(FS_BASE)?,
            Word::Load {
                address,
                size,
                sign,
            } => narrowed(self.load(address, *size)?, *size, *sign),
            Word::Extended { word, size, sign } => {
                assert!([1, 2, 4].contains(size));
                narrowed(self.word(word)?, *size, *sign)
            }
            Word::Operation(operation, sides) => {
                let (a, b) = (self.word(&sides.0)?, self.word(&sides.1)?);
                match operation {
                    Operation::Add => a.wrapping_add(b),
                    Operation::Subtract => a.wrapping_sub(b),
                    Operation::Multiply => a.wrapping_mul(b),
                    Operation::And => a & b,
                    Operation::Or => a | b,
                    Operation::Xor => a ^ b,
                    Operation::ShiftLeft => a.checked_shl(b.try_into().ok()?)?,
                    Operation::ShiftRight(sign) => {
                        let count = u32::try_from(b).ok().filter(|count| *count < 64)?;
                        (wide(a, *sign) >> count) as u64
                    }
                }
            }
            Word::Exact(operation, sign, sides) => {
                let (a, b) = (self.word(&sides.0)?, self.word(&sides.1)?);
                let (a, b) = (wide(a, *sign), wide(b, *sign));
                let result = match operation {
                    ExactOperation::Add => a.checked_add(b),
                    ExactOperation::Subtract => a.checked_sub(b),
                    ExactOperation::Multiply => a.checked_mul(b),
                };
                exact(result?, *sign)?
            }
            Word::Quotient(sign, sides) | Word::Remainder(sign, sides) => {
                let (a, b) = (self.word(&sides.0)?, self.word(&sides.1)?);
                let (a, b) = (wide(a, *sign), wide(b, *sign));
                let quotient = exact(a.checked_div(b)?, *sign)?;
                match word {
                    Word::Quotient(..) => quotient,
                    _ => (a % b) as u64,
                }
            }
            Word::Truth(truth) => self.truth(truth)?.into(),
            Word::If(parts) => match self.truth(&parts.0)? {
                true => self.word(&parts.1)?,
                false => return None,
            },
            Word::Choice(parts) => match self.truth(&parts.0)? {
                true => self.word(&parts.1)?,
                false => self.word(&parts.2)?,
            },
            Word::Fitting { word, size, sign } => {
                assert!([1, 2, 4].contains(size));
                let word = self.word(word)?;
                (narrowed(word, *size, *sign) == word).then_some(word)?
            }
        })
    }

    fn real(&self, real: &Real) -> Option<f64> {
        let of_bits = |bits: u64, size| match size {
            4 => f64::from(f32::from_bits(bits as u32)),
            8 => f64::from_bits(bits),
            _ => panic!("a number of {size} bytes"),
        };
        Some(match real {
            Real::Constant(value) => *value,
            Real::Load { address, size } => of_bits(self.load(address, *size)?, *size),
            Real::Register { .. } => return None,
            Real::Integer(word, Sign::Signed) => self.word(word)? as i64 as f64,
            Real::Integer(word, Sign::Unsigned) => i64::try_from(self.word(word)?).ok()? as f64,
            Real::Operation(operation, sides) => {
                let (a, b) = (self.real(&sides.0)?, self.real(&sides.1)?);
                match operation {
                    RealOperation::Add => a + b,
                    RealOperation::Subtract => a - b,
                    RealOperation::Multiply => a * b,
                    RealOperation::Divide => a / b,
                }
            }
            Real::Choice(parts) => match self.truth(&parts.0)? {
                true => self.real(&parts.1)?,
                false => self.real(&parts.2)?,
            },
            Real::Rounded(real) => f64::from(self.real(real)? as f32),
        })
    }
}
