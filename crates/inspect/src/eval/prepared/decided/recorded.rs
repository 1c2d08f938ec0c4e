//! Values of prepared expressions that the program records for messages ([`Recorded`]), and the numbers that records then have.

use super::value::Value;
use super::{Lower, Why};
use crate::eval::prepared::{Prepared, is_bare};
use crate::values::Number;
use dapple_arch::decision::{Recorded, Word};

/// What a recorded word stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An integer.
    Integer {
        /// Its width in bytes.
        size: u8,
        /// Whether its type is signed.
        signed: bool,
    },
    /// A number with a fraction, in 64 bits.
    Float {
        /// The width of its type in bytes.
        size: u8,
    },
    /// A boolean.
    Bool,
    /// A character.
    Char,
    /// An address.
    Pointer,
}

const NOT_DIGITS: Why = "a value in its message is not just a number";

impl Prepared {
    /// Its value as the program can record it, and what the record then has. `as_digits`: the value is to be shown as a variable is, which
    /// needs more than the number unless it is just the number's digits. `own_id`: as for [`Prepared::decision`].
    ///
    /// # Errors
    /// Why it can't be recorded: a clause about the condition or message.
    pub fn recorded(
        &self,
        as_digits: bool,
        own_id: Option<u64>,
    ) -> Result<(Recorded, Kind), String> {
        if as_digits && !self.bare {
            return Err(NOT_DIGITS.to_owned());
        }
        let value = Lower::new(self, own_id).value(&self.root)?;
        let (recorded, kind) = of(value)?;
        if as_digits && !is_bare(kind.number(0)) {
            return Err(NOT_DIGITS.to_owned());
        }
        Ok((recorded, kind))
    }
}

fn of(value: Value) -> Result<(Recorded, Kind), Why> {
    Ok(match value.checked().expanded()? {
        Value::Integer(word, int) => (
            Recorded::Word(word),
            Kind::Integer {
                size: int.size,
                signed: int.signed,
            },
        ),
        Value::Bool(truth) => (Recorded::Word(Word::Truth(Box::new(truth))), Kind::Bool),
        Value::Char(word, _) => (Recorded::Word(word), Kind::Char),
        Value::Real(real, size) => (Recorded::Real(real), Kind::Float { size }),
        Value::Pointer(word) => (Recorded::Word(word), Kind::Pointer),
        // Neither is left by the two calls above.
        Value::Constant(_) | Value::Flag(_) => return Err(NOT_DIGITS),
    })
}

impl Kind {
    /// The number that a recorded word stands for.
    pub fn number(self, word: u64) -> Number {
        match self {
            Kind::Integer { size, signed } => Number::integer(word.into(), size, signed),
            Kind::Float { size } => Number::Float {
                value: f64::from_bits(word),
                size,
            },
            Kind::Bool => Number::Bool(word != 0),
            Kind::Char => Number::Char(word as u32),
            Kind::Pointer => Number::Pointer {
                address: word,
                target: None,
            },
        }
    }
}
