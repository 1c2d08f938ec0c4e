//! A prepared condition as a decision that can run inside of the program ([`Truth`]).
//!
//! Types of prepared expressions are known before any value is, so the rules of the language ([`binary_on_numbers`] and its like), which
//! look at the types of numbers, are applied once, here. Where the evaluator gives no value, the decision asks. It may also ask in rare
//! cases that have a value, for a shorter decision.
//!
//! [`binary_on_numbers`]: crate::eval::run::arithmetic::binary_on_numbers

use super::machine::{combined, is_signed};
use super::members::BitField;
use super::{Node, Place, Prepared, Shape};
use crate::eval::ir::{Binary, Scalar, Unary};
use crate::eval::run::arithmetic::{as_float, unary};
use crate::eval::run::cast;
use crate::values::Number;
pub(super) use conditional::have_one_type;
use dapple_arch::decision::{Comparison, Operation, Real, RealOperation, Sign, Truth, Word};
use dapple_arch::registers::{FP, FS_BASE, PC, SP};
use dapple_symbols::functions::Language;
use dapple_symbols::types::{Encoding, TypeKind};
pub use recorded::Kind;
use std::cell::Cell;
use value::{Int, Value, not};
use words::{below, extended, not_zero, plus, times};

mod comparisons;
mod conditional;
mod integers;
mod lengths;
mod recorded;
mod texts;
mod value;
mod variants;
mod words;

/// Why there is no decision: a clause about the condition.
type Why = &'static str;

const WIDE_INTEGER: Why = "it has an integer of more than 8 bytes";
const WIDE_FLOAT: Why = "it has a `long double`";
const OTHER_SIZE: Why = "it has a number of an unusual size";
const NO_NUMBERS: Why = "it has an operator that does not go with its operands";
const NO_VALUE: Why = "a part of it never has a value";
const TO_INTEGER: Why = "it converts a number with a fraction to an integer";
const MIXED: Why = "it calculates with signed and unsigned integers together";
const OWN_ID: Why =
    "it has `$thread`, and the program's C library does not tell where threads have their ids";
const REMAINDER: Why = "it has the remainder of a number with a fraction";

/// The most objects inside of each other whose locations are repeated.
const MOST_NESTED: usize = 4;

impl Prepared {
    /// The condition that its number is true, as a decision for threads at its location. `own_id`: what is known of the word in which each
    /// thread has its own id, as its distance from the thread pointer.
    ///
    /// # Errors
    /// Why there is none: a clause about the condition, such as "it has a `long double`".
    pub fn decision(&self, own_id: Option<u64>) -> Result<Truth, String> {
        let value = Lower::new(self, own_id).value(&self.root)?;
        Ok(value.truth())
    }
}

/// Makes decisions of nodes.
struct Lower {
    /// Where a thread has its own id, as a distance from the thread pointer.
    own_id: Option<u64>,
    language: Language,
    /// The address of the location.
    place: u64,
    /// How many objects the one that is looked at is inside of, whose locations a decision repeats.
    nesting: Cell<usize>,
    /// Whether the type of a number was seen to depend on its value.
    varies: Cell<bool>,
}

/// An address: a word and what is added to it.
struct Address {
    base: Option<Word>,
    offset: u64,
}

impl Address {
    fn word(self) -> Word {
        match self.base {
            Some(base) => plus(base, self.offset),
            None => Word::Constant(self.offset),
        }
    }
}

impl Lower {
    fn new(prepared: &Prepared, own_id: Option<u64>) -> Lower {
        Lower {
            own_id,
            language: prepared.language,
            place: prepared.address.0,
            nesting: Cell::new(0),
            varies: Cell::new(false),
        }
    }

    fn is_rust(&self) -> bool {
        self.language == Language::Rust
    }

    /// Calls `make` for an object whose location the decision repeats.
    fn repeated(&self, make: impl FnOnce() -> Result<Value, Why>) -> Result<Value, Why> {
        let nesting = self.nesting.get();
        if nesting >= MOST_NESTED {
            return Err("it has containers in containers in containers");
        }
        self.nesting.set(nesting + 1);
        let value = make();
        self.nesting.set(nesting);
        value
    }

    fn value(&self, node: &Node) -> Result<Value, Why> {
        match node {
            Node::Constant(number) => Ok(Value::Constant(*number)),
            Node::Vector(register, shape) => {
                let real = |size| {
                    Ok(Real::Register {
                        register: *register,
                        size,
                    })
                };
                self.shaped(shape, |_, _| Err(OTHER_SIZE), real)
            }
            Node::Register(register, more, shape) => {
                let word = plus(Word::Register(*register), *more);
                let cut = |size, sign| Ok(extended(word.clone(), size, sign));
                self.shaped(shape, cut, |_| Err(OTHER_SIZE))
            }
            Node::Load(place, shape) => {
                let address = Box::new(self.address(place)?.word());
                let word = |size, sign| match size {
                    1 | 2 | 4 | 8 => Ok(Word::Load {
                        address: address.clone(),
                        size,
                        sign,
                    }),
                    16 => Err(WIDE_INTEGER),
                    _ => Err(OTHER_SIZE),
                };
                let real = |size| {
                    Ok(Real::Load {
                        address: address.clone(),
                        size,
                    })
                };
                self.shaped(shape, word, real)
            }
            Node::Variant(test) => self.repeated(|| self.variant(test)),
            Node::Length(measured) => self.repeated(|| self.length(measured)),
            Node::Text(comparison) => self.repeated(|| self.text_comparison(comparison)),
            Node::Bits(object, field) => self.bits(self.address(object)?, field),
            Node::Known(place, number) => self.known(place, *number),
            Node::Address(place) => Ok(Value::Pointer(self.address(place)?.word())),
            Node::Conditional(it) => self.conditional(it),
            Node::Unary(operator, operand) => self.unary(*operator, self.value(operand)?),
            Node::Binary {
                operator,
                untyped,
                sides,
            } => self.binary(*operator, *untyped, &sides.0, &sides.1),
            Node::Cast(operand, target) => self.cast(self.value(operand)?, *target),
            Node::Thread => {
                let distance = self.own_id.ok_or(OWN_ID)?;
                let word = Word::Load {
                    address: Box::new(plus(Word::ThreadPointer, distance)),
                    size: 4,
                    sign: Sign::Signed,
                };
                Ok(Value::Integer(word, Int::new(4, true)?))
            }
            Node::Named(PC) => Ok(Value::Pointer(Word::Constant(self.place))),
            Node::Named(register @ (SP | FP)) => Ok(Value::Pointer(Word::Register(*register))),
            Node::Named(register) => Ok(Value::Integer(
                Word::Register(*register),
                Int::new(8, true)?,
            )),
        }
    }

    /// The value of a variable. `word` and `real` read it in a size.
    fn shaped(
        &self,
        shape: &Shape,
        word: impl Fn(u8, Sign) -> Result<Word, Why>,
        real: impl FnOnce(u8) -> Result<Real, Why>,
    ) -> Result<Value, Why> {
        let size = shape.size;
        let integer = |signed| {
            let int = Int::new(size, signed)?;
            Ok(Value::Integer(word(size, int.sign())?, int))
        };
        match &shape.type_.kind {
            TypeKind::Base(Encoding::Signed | Encoding::SignedChar) => integer(true),
            TypeKind::Base(Encoding::Unsigned | Encoding::UnsignedChar) => integer(false),
            TypeKind::Base(Encoding::Bool) => Ok(Value::Flag(word(size, Sign::Unsigned)?)),
            TypeKind::Base(Encoding::Utf) if size <= 4 => Ok(Value::Char(
                word(size, Sign::Unsigned)?,
                Int::new(size, false)?,
            )),
            TypeKind::Base(Encoding::Float) => match size {
                4 | 8 => Ok(Value::Real(real(size)?, size)),
                _ => Err(WIDE_FLOAT),
            },
            TypeKind::Enumeration { signed: false, .. }
                if self.language == Language::Cpp && shape.fits && size == 4 =>
            {
                // A value that doesn't fit an `int` isn't promoted to one.
                self.varies.set(true);
                let (word, rest) = below(word(4, Sign::Unsigned)?, 1 << 31);
                Ok(Value::Integer(plus(word, rest), Int::new(4, true)?))
            }
            TypeKind::Enumeration { signed, .. } => integer(*signed),
            TypeKind::Pointer(..) => Ok(Value::Pointer(word(size, Sign::Unsigned)?)),
            _ => Err(OTHER_SIZE),
        }
    }

    fn bits(&self, mut object: Address, field: &BitField) -> Result<Value, Why> {
        object.offset = object.offset.wrapping_add(field.offset);
        let load = Word::Load {
            address: Box::new(object.word()),
            size: field.size,
            sign: Sign::Unsigned,
        };
        let above = 64 - u64::from(field.count);
        let shifted = |operation, word, count| {
            Word::Operation(operation, Box::new((word, Word::Constant(count))))
        };
        let top = shifted(Operation::ShiftLeft, load, above - u64::from(field.skip));
        let sign = match is_signed(&field.shape.type_) {
            true => Sign::Signed,
            false => Sign::Unsigned,
        };
        let word = |_, _| Ok(shifted(Operation::ShiftRight(sign), top.clone(), above));
        let value = self.shaped(&field.shape, word, |_| Err(OTHER_SIZE))?;
        Ok(match value {
            // As `Machine::bits` promotes it.
            Value::Integer(word, int) if field.count < 32 && int.size >= 4 && !self.is_rust() => {
                Value::Integer(word, Int::new(4, true)?)
            }
            value => value,
        })
    }

    // Locations

    fn address(&self, place: &Place) -> Result<Address, Why> {
        match place {
            Place::At(address) => Ok(Address {
                base: None,
                offset: *address,
            }),
            Place::Near(register, offset) if *register < PC => Ok(Address {
                base: Some(Word::Register(*register)),
                offset: offset.cast_unsigned(),
            }),
            Place::Near(FS_BASE, offset) => Ok(Address {
                base: Some(Word::ThreadPointer),
                offset: offset.cast_unsigned(),
            }),
            Place::Near(..) => Err(NO_VALUE),
            Place::Behind(pointer) => match self.value(pointer)? {
                Value::Pointer(pointer) => {
                    let (pointer, rest) = not_zero(pointer);
                    Ok(Address {
                        base: Some(pointer),
                        offset: rest,
                    })
                }
                _ => Err(NO_VALUE),
            },
            Place::Element {
                first,
                index,
                count,
                size,
            } => {
                let index = self.value(index)?;
                self.element(self.address(first)?, index, *count, *size)
            }
            Place::Guarded(test, place) => {
                let test = self.repeated(|| self.variant(test))?.truth();
                let word = self.address(place)?.word();
                Ok(Address {
                    base: Some(Word::If(Box::new((test, word)))),
                    offset: 0,
                })
            }
            Place::Part(whole, offset) => {
                let mut whole = self.address(whole)?;
                whole.offset = whole.offset.wrapping_add(*offset);
                Ok(whole)
            }
        }
    }

    /// The word at an offset in an object.
    fn word_of(&self, object: &Place, offset: u64) -> Result<Word, Why> {
        let mut address = self.address(object)?;
        address.offset = address.offset.wrapping_add(offset);
        Ok(Word::Load {
            address: Box::new(address.word()),
            size: 8,
            sign: Sign::Unsigned,
        })
    }

    fn element(
        &self,
        first: Address,
        index: Value,
        count: Option<u64>,
        size: u64,
    ) -> Result<Address, Why> {
        let (base, steps) = match (index, count) {
            (Value::Constant(Number::Integer { value, .. }), count) => {
                let is_inside = |count| u64::try_from(value).is_ok_and(|index: u64| index < count);
                if !count.is_none_or(is_inside) {
                    return Err("an index in it is outside of the array");
                }
                (first.base, value as u64)
            }
            (Value::Integer(index, _), count) => {
                let (index, steps) = match count {
                    Some(0) => return Err(NO_VALUE),
                    Some(count) => below(index, count),
                    None => (index, 0),
                };
                let index = times(index, size);
                let base = match first.base {
                    Some(base) => Word::Operation(Operation::Add, Box::new((base, index))),
                    None => index,
                };
                (Some(base), steps)
            }
            _ => return Err(NO_NUMBERS),
        };
        Ok(Address {
            base,
            offset: first.offset.wrapping_add(steps.wrapping_mul(size)),
        })
    }

    // Operators

    fn unary(&self, operator: Unary, operand: Value) -> Result<Value, Why> {
        let is_rust = self.is_rust();
        match (operator, operand) {
            (operator, Value::Constant(number)) => unary(self.language, operator, number, 0)
                .map(Value::Constant)
                .map_err(|_| NO_VALUE),
            (Unary::Not, Value::Integer(word, int)) if is_rust => {
                Ok(Value::Integer(integers::complement(word, int), int))
            }
            (Unary::Not, Value::Real(..)) if is_rust => Err(NO_NUMBERS),
            (Unary::Not, flag @ Value::Flag(_)) if is_rust => {
                Ok(Value::Bool(not(flag.checked().truth())))
            }
            (Unary::Not, value) => Ok(Value::Bool(not(value.truth()))),
            (operator, value) => {
                let value = if is_rust { value } else { value.promoted()? };
                match (operator, value) {
                    (Unary::Negate, Value::Integer(word, int)) => {
                        integers::negated(is_rust, word, int)
                    }
                    // The sign of zero changes as well.
                    (Unary::Negate, Value::Real(real, size)) => {
                        let sides = (Real::Constant(-0.0), real);
                        let negated = Real::Operation(RealOperation::Subtract, Box::new(sides));
                        Ok(Value::Real(negated, size))
                    }
                    (Unary::Plus, value @ (Value::Integer(..) | Value::Real(..))) => Ok(value),
                    (Unary::Complement, Value::Integer(word, int)) => {
                        Ok(Value::Integer(integers::complement(word, int), int))
                    }
                    _ => Err(NO_NUMBERS),
                }
            }
        }
    }

    fn binary(
        &self,
        operator: Binary,
        untyped: (bool, bool),
        left: &Node,
        right: &Node,
    ) -> Result<Value, Why> {
        let first = self.value(left)?;
        if let Binary::And | Binary::Or = operator {
            let is_and = operator == Binary::And;
            if let Value::Constant(number) = &first {
                return match number.is_true() == is_and {
                    true => Ok(Value::Bool(self.value(right)?.truth())),
                    false => Ok(Value::Constant(Number::Bool(!is_and))),
                };
            }
            let sides = Box::new((first.truth(), self.value(right)?.truth()));
            return Ok(Value::Bool(match is_and {
                true => Truth::And(sides),
                false => Truth::Or(sides),
            }));
        }
        let second = self.value(right)?;
        if let (Value::Constant(a), Value::Constant(b)) = (&first, &second) {
            let number = combined(self.language, operator, untyped, *a, *b);
            return number.map(Value::Constant).ok_or(NO_VALUE);
        }
        let (first, second) = match self.is_rust() {
            true => value::with_typed_literals(untyped, first, second),
            false => (first, second),
        };
        let (first, second) = (first.expanded()?, second.expanded()?);
        self.on_values(operator, first, second)
    }

    /// Applies an operator to two values, of which none is a [`Value::Constant`].
    fn on_values(&self, operator: Binary, first: Value, second: Value) -> Result<Value, Why> {
        let is_rust = self.is_rust();
        if let (Value::Pointer(_), _) | (_, Value::Pointer(_)) = (&first, &second) {
            let (a, b) = (first.into_address()?, second.into_address()?);
            return comparisons::integers(operator, a, b).ok_or(NO_NUMBERS);
        }
        let (a_bool, b_bool) = (first.is_bool(), second.is_bool());
        let bitwise = match operator {
            Binary::BitAnd => Some(Operation::And),
            Binary::BitOr => Some(Operation::Or),
            Binary::BitXor => Some(Operation::Xor),
            _ => None,
        };
        if let (true, true, true, Some(operation)) = (is_rust, a_bool, b_bool, bitwise) {
            let ((a, _), (b, _)) = (first.promoted()?.integer()?, second.promoted()?.integer()?);
            let word = Word::Operation(operation, Box::new((a, b)));
            let sides = Box::new((word, Word::Constant(0)));
            return Ok(Value::Bool(Truth::Words(Comparison::NotEqual, sides)));
        }
        if comparisons::is_comparison(operator) {
            let (a, b) = (first.promoted()?, second.promoted()?);
            return comparisons::numbers(is_rust, operator, a, b);
        }
        if is_rust && a_bool != b_bool {
            return Err(NO_NUMBERS);
        }
        let types = (first.int(), second.int());
        match (first.promoted()?, second.promoted()?) {
            (Value::Integer(a, x), Value::Integer(b, y)) => {
                let int = integers::result_type(is_rust, operator, types, (x, y));
                integers::calculated(is_rust, operator, (a, x), (b, y), int)
            }
            (a, b) => {
                let size = a.real_size().max(b.real_size());
                let (a, b) = (a.real(size)?, b.real(size)?);
                on_reals(is_rust, operator, a, b, size)
            }
        }
    }

    fn cast(&self, value: Value, target: Scalar) -> Result<Value, Why> {
        let value = match value {
            Value::Constant(number) => {
                return Ok(Value::Constant(cast(self.language, number, target)));
            }
            value => value,
        };
        match target {
            Scalar::Integer { size, signed } => {
                let int = Int::new(size, signed)?;
                let (word, from) = value.into_integer()?;
                Ok(Value::Integer(integers::converted(word, from, int), int))
            }
            Scalar::Float { size } => Ok(Value::Real(value.into_real(size)?, size)),
            Scalar::Bool => Ok(Value::Bool(value.truth())),
            Scalar::Char => {
                // C's plain `char` is signed.
                let int = Int::new(1, !self.is_rust())?;
                let (word, _) = value.into_integer()?;
                Ok(Value::Char(extended(word, 1, int.sign()), int))
            }
        }
    }
}

fn on_reals(is_rust: bool, operator: Binary, a: Real, b: Real, size: u8) -> Result<Value, Why> {
    let operation = match operator {
        Binary::Add => RealOperation::Add,
        Binary::Subtract => RealOperation::Subtract,
        Binary::Multiply => RealOperation::Multiply,
        Binary::Divide => RealOperation::Divide,
        Binary::Remainder if is_rust => return Err(REMAINDER),
        _ => return Err(NO_NUMBERS),
    };
    let result = Real::Operation(operation, Box::new((a, b)));
    Ok(Value::Real(value::rounded(result, size), size))
}

/// A constant as a number with a fraction, of `size` bytes.
fn constant_real(number: Number, size: u8) -> Real {
    Real::Constant(as_float(number, size))
}
