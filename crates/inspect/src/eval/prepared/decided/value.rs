//! Values of known types, whose numbers are computed inside of the program.

use super::words::{below, extended, plus};
use super::{NO_NUMBERS, TO_INTEGER, WIDE_INTEGER, Why, constant_real};
use crate::eval::run::arithmetic::type_literals;
use crate::values::Number;
use dapple_arch::decision::{Comparison, Real, Sign, Truth, Word};

/// The type of an integer of at most 8 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Int {
    pub(super) size: u8,
    pub(super) signed: bool,
}

impl Int {
    pub(super) fn new(size: u8, signed: bool) -> Result<Int, Why> {
        match size {
            1 | 2 | 4 | 8 => Ok(Int { size, signed }),
            _ => Err(WIDE_INTEGER),
        }
    }

    pub(super) fn sign(self) -> Sign {
        match self.signed {
            true => Sign::Signed,
            false => Sign::Unsigned,
        }
    }

    /// Whether each integer of another type is one of this type.
    pub(super) fn includes(self, other: Int) -> bool {
        match (self.signed, other.signed) {
            (true, false) => self.size > other.size,
            (false, true) => false,
            _ => self.size >= other.size,
        }
    }

    /// The number of its bits.
    pub(super) fn bits(self) -> u64 {
        8 * u64::from(self.size)
    }
}

/// A value. Each form stands for the numbers that the evaluator would have.
#[derive(Debug, Clone)]
pub(super) enum Value {
    /// A number that is known already.
    Constant(Number),
    /// [`Number::Integer`].
    Integer(Word, Int),
    /// [`Number::Bool`].
    Bool(Truth),
    /// A byte of memory that holds a boolean, if it is 0 or 1. With other bytes it counts as true, and has the rules of an integer.
    Flag(Word),
    /// [`Number::Char`].
    Char(Word, Int),
    /// [`Number::Float`], with its size.
    Real(Real, u8),
    /// [`Number::Pointer`].
    Pointer(Word),
}

/// The integer that a `bool` or a character is promoted to.
const PROMOTED: Int = Int {
    size: 4,
    signed: true,
};
/// The type of an address.
const ADDRESS: Int = Int {
    size: 8,
    signed: false,
};

impl Value {
    /// The condition that the number is true.
    pub(super) fn truth(self) -> Truth {
        match self {
            Value::Constant(number) => Truth::Constant(number.is_true()),
            Value::Bool(truth) => truth,
            Value::Integer(Word::Truth(truth), _) => *truth,
            Value::Integer(word, _)
            | Value::Flag(word)
            | Value::Char(word, _)
            | Value::Pointer(word) => {
                Truth::Words(Comparison::NotEqual, Box::new((word, Word::Constant(0))))
            }
            Value::Real(real, _) => {
                let sides = (real, Real::Constant(0.0));
                Truth::Numbers(Comparison::NotEqual, Box::new(sides))
            }
        }
    }

    /// A constant in the form that other values have.
    pub(super) fn expanded(self) -> Result<Value, Why> {
        let Value::Constant(number) = self else {
            return Ok(self);
        };
        Ok(match number {
            Number::Integer {
                value,
                size,
                signed,
            } => Value::Integer(Word::Constant(value as u64), Int::new(size, signed)?),
            Number::Float { size, .. } => Value::Real(constant_real(number, size), size),
            Number::Bool(value) => Value::Bool(Truth::Constant(value)),
            Number::Char(code) => {
                let int = Int::new(4, false)?;
                Value::Char(Word::Constant(code.into()), int)
            }
            Number::Pointer { address, .. } => Value::Pointer(Word::Constant(address)),
        })
    }

    /// A flag as a boolean: asks if it is neither 0 nor 1.
    pub(super) fn checked(self) -> Value {
        match self {
            Value::Flag(word) => {
                let (word, rest) = below(word, 2);
                let sides = (plus(word, rest), Word::Constant(0));
                Value::Bool(Truth::Words(Comparison::NotEqual, Box::new(sides)))
            }
            value => value,
        }
    }

    /// C's integer promotion, as `arithmetic::promote`.
    pub(super) fn promoted(self) -> Result<Value, Why> {
        Ok(match self.expanded()? {
            Value::Integer(word, int) if int.size < 4 => Value::Integer(word, PROMOTED),
            Value::Bool(Truth::Constant(value)) => {
                Value::Integer(Word::Constant(value.into()), PROMOTED)
            }
            Value::Bool(truth) => Value::Integer(Word::Truth(Box::new(truth)), PROMOTED),
            Value::Flag(word) => {
                let (word, rest) = below(word, 2);
                Value::Integer(plus(word, rest), PROMOTED)
            }
            Value::Char(word, int) if int.size >= 4 => {
                Value::Integer(extended(word, 4, Sign::Signed), PROMOTED)
            }
            Value::Char(word, _) => Value::Integer(word, PROMOTED),
            value => value,
        })
    }

    pub(super) fn is_bool(&self) -> bool {
        matches!(
            self,
            Value::Bool(_) | Value::Flag(_) | Value::Constant(Number::Bool(_))
        )
    }

    /// Its type, if it is an integer.
    pub(super) fn int(&self) -> Option<Int> {
        match self {
            Value::Integer(_, int) => Some(*int),
            _ => None,
        }
    }

    pub(super) fn integer(self) -> Result<(Word, Int), Why> {
        match self {
            Value::Integer(word, int) => Ok((word, int)),
            _ => Err(NO_NUMBERS),
        }
    }

    /// The integer that a pointer is compared by.
    pub(super) fn into_address(self) -> Result<(Word, Int), Why> {
        match self {
            Value::Pointer(word) => Ok((word, ADDRESS)),
            value => value.integer(),
        }
    }

    /// The integer that a cast to an integer begins with.
    pub(super) fn into_integer(self) -> Result<(Word, Int), Why> {
        match self {
            Value::Integer(word, int) | Value::Char(word, int) => Ok((word, int)),
            Value::Pointer(word) => Ok((word, ADDRESS)),
            Value::Real(..) => Err(TO_INTEGER),
            value => value.promoted()?.integer(),
        }
    }

    /// Its size in bytes if it is a number with a fraction, else 0.
    pub(super) fn real_size(&self) -> u8 {
        match self {
            Value::Real(_, size) => *size,
            _ => 0,
        }
    }

    /// As a number with a fraction of `size` bytes, as `arithmetic::as_float` gives it.
    pub(super) fn real(self, size: u8) -> Result<Real, Why> {
        let (word, int) = match self {
            Value::Real(real, _) => return Ok(real),
            Value::Constant(number) => return Ok(constant_real(number, size)),
            value => value.into_integer()?,
        };
        if let Word::Constant(constant) = word {
            let value = match int.signed {
                true => constant.cast_signed().into(),
                false => constant.into(),
            };
            let number = Number::integer(value, int.size, int.signed);
            return Ok(constant_real(number, size));
        }
        // Words of narrower types are the same with a sign.
        let sign = match int.size {
            8 => int.sign(),
            _ => Sign::Signed,
        };
        match (size, int.size) {
            // Integers of more than 53 bits would be rounded twice.
            (4, 8) => {
                const EXACT: u64 = 1 << 53;
                let low = if int.signed { EXACT } else { 0 };
                let (word, rest) = below(plus(word, low), low + EXACT + 1);
                let word = plus(word, rest.wrapping_sub(low));
                Ok(rounded(Real::Integer(Box::new(word), Sign::Signed), 4))
            }
            (4, 4) => Ok(rounded(Real::Integer(Box::new(word), sign), 4)),
            _ => Ok(Real::Integer(Box::new(word), sign)),
        }
    }

    /// As a cast to a number with a fraction gives it.
    pub(super) fn into_real(self, size: u8) -> Result<Real, Why> {
        match self {
            Value::Real(real, from) if from != size => Ok(rounded(real, size)),
            Value::Pointer(word) => {
                let real = Real::Integer(Box::new(word), Sign::Unsigned);
                Ok(rounded(real, size))
            }
            value => value.real(size),
        }
    }
}

/// A number with a fraction, rounded to `size` bytes. Numbers of more than 8 bytes have the precision of 8.
pub(super) fn rounded(real: Real, size: u8) -> Real {
    match (real, size) {
        (Real::Constant(value), 4) => Real::Constant(f64::from(value as f32)),
        (real @ Real::Rounded(_), _) => real,
        (real, 4) => Real::Rounded(Box::new(real)),
        (real, _) => real,
    }
}

/// The negation.
pub(super) fn not(truth: Truth) -> Truth {
    match truth {
        Truth::Constant(value) => Truth::Constant(!value),
        Truth::Not(inner) => *inner,
        Truth::Words(Comparison::Equal, sides) => Truth::Words(Comparison::NotEqual, sides),
        Truth::Words(Comparison::NotEqual, sides) => Truth::Words(Comparison::Equal, sides),
        truth => Truth::Not(Box::new(truth)),
    }
}

/// As [`type_literals`], for one literal and one value that isn't a constant.
pub(super) fn with_typed_literals(
    untyped: (bool, bool),
    first: Value,
    second: Value,
) -> (Value, Value) {
    match (untyped, &first, &second) {
        ((true, false), Value::Constant(literal), other) => {
            let other = other.sample();
            let (literal, _) = type_literals((true, *literal), (false, other));
            (Value::Constant(literal), second)
        }
        ((false, true), other, Value::Constant(literal)) => {
            let other = other.sample();
            let (_, literal) = type_literals((false, other), (true, *literal));
            (first, Value::Constant(literal))
        }
        _ => (first, second),
    }
}

impl Value {
    /// A number of its type.
    fn sample(&self) -> Number {
        match self {
            Value::Constant(number) => *number,
            Value::Integer(_, int) => Number::integer(0, int.size, int.signed),
            Value::Bool(_) | Value::Flag(_) => Number::Bool(false),
            Value::Char(..) => Number::Char(0),
            Value::Real(_, size) => Number::Float {
                value: 0.0,
                size: *size,
            },
            Value::Pointer(_) => Number::Pointer {
                address: 0,
                target: None,
            },
        }
    }
}
