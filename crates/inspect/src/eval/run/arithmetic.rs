//! Arithmetic: C's promotions, and Rust literals that take the type of the other operand.

use super::builtins::behind_reference;
use super::{Fault, MAX_STEPS, Runner};
use crate::Address;
use crate::eval::a_type;
use crate::eval::ir::{Binary, Expression, Kind, Unary};
use crate::values::view::{LONG, View};
use crate::values::{Contents, Number};
use dapple_symbols::functions::Language;
use dapple_symbols::types::{Encoding, Type, TypeKind};
use std::cmp::Ordering;

impl Runner<'_> {
    pub(super) fn unary(
        &self,
        operator: Unary,
        number: Number,
        at: usize,
    ) -> Result<Number, Fault> {
        unary(self.frame.language, operator, number, at)
    }

    pub(super) fn binary(
        &self,
        operator: Binary,
        left: &Expression,
        right: &Expression,
    ) -> Result<Number, Fault> {
        // References are compared by their targets.
        let (own_left, own_right) = (behind_reference(left), behind_reference(right));
        if self.frame.language == Language::Rust
            && ordered(operator, None).is_some()
            && !std::ptr::eq(own_left, left)
            && !std::ptr::eq(own_right, right)
        {
            return self.binary(operator, own_left, own_right);
        }
        if let Some(result) = self.compare_built(operator, left, right)? {
            return Ok(result);
        }
        let is_text = |side: &Expression| matches!(side.kind, Kind::Text(_));
        if (is_text(left) || is_text(right))
            && let Some(result) = self.compare_texts(operator, left, right)?
        {
            return Ok(result);
        }
        // The second operand is evaluated only if the first doesn't decide: the first may be a guard, as in `p && p->x`.
        match operator {
            Binary::And if !self.holds(left)? => return Ok(Number::Bool(false)),
            Binary::Or if self.holds(left)? => return Ok(Number::Bool(true)),
            Binary::And | Binary::Or => return Ok(Number::Bool(self.number(right)?.is_true())),
            _ => {}
        }
        let first = match self.number(left) {
            Err(fault) => match self.compare_texts(operator, left, right) {
                Ok(Some(result)) => return Ok(result),
                _ if let Some(result) = self.compare_parts(operator, left, right) => {
                    return Ok(result);
                }
                // In `shape == Shape::Cirlce` the fault is the unknown name.
                _ => return Err(self.unknown_name(right).unwrap_or(fault)),
            },
            Ok(first) => first,
        };
        let second = match self.number(right) {
            // In `color == RED`, a name that is no variable may be a constant of the enumeration.
            Err(fault) => self.enumerator(left, right).ok_or(fault)?,
            Ok(number) => number,
        };
        let (first, second) = match self.frame.language {
            Language::Rust => type_literals((is_untyped(left), first), (is_untyped(right), second)),
            _ => (first, second),
        };
        let at = right.at;
        if let (Number::Pointer { .. }, _) | (_, Number::Pointer { .. }) = (first, second) {
            return self.on_pointers(operator, first, second, at);
        }
        binary_on_numbers(self.frame.language, operator, first, second, at)
    }

    fn unknown_name(&self, expression: &Expression) -> Option<Fault> {
        let is_name = matches!(expression.kind, Kind::Name(_));
        let fault = self.value(expression).err().filter(|_| is_name)?;
        fault.is_unknown.then_some(fault)
    }

    /// The value of `right`, a constant's name, in the enumeration of `left`.
    fn enumerator(&self, left: &Expression, right: &Expression) -> Option<Number> {
        let Kind::Name(name) = &right.kind else {
            return None;
        };
        let name = name.rsplit("::").next()?;
        let mut value = self.value(left).ok()?;
        for _ in 0..MAX_STEPS {
            match self.reader.view(&value, LONG) {
                View::Alias(target) => value = target,
                _ => break,
            }
        }
        let type_ = self.reader.resolve(&value)?.type_;
        let TypeKind::Enumeration { signed, values } = &type_.kind else {
            return None;
        };
        let (_, number) = values.iter().find(|(known, _)| **known == *name)?;
        let size = u8::try_from(type_.size?).ok()?;
        Some(Number::integer(*number, size, *signed))
    }

    fn on_pointers(
        &self,
        operator: Binary,
        first: Number,
        second: Number,
        at: usize,
    ) -> Result<Number, Fault> {
        let (Some(a), Some(b)) = (as_address(first), as_address(second)) else {
            return Err(Fault::new(
                at,
                "a pointer goes with integers and pointers only",
            ));
        };
        if let Some(result) = compare_pointers(operator, first, second) {
            return Ok(Number::Bool(result));
        }
        let size = |target| {
            let mut value = self.computed(first);
            value.contents = Contents::Memory(Address(0));
            value.type_id = target;
            // Arithmetic on `void *` counts bytes, as in gcc.
            let size = if target.is_some() {
                self.reader.size_of(&value)
            } else {
                Some(1)
            };
            size.filter(|size| *size > 0)
                .map(i128::from)
                .ok_or_else(|| Fault::new(at, "the pointee's size is not known"))
        };
        match (operator, first, second) {
            (Binary::Subtract, Number::Pointer { target, .. }, Number::Pointer { .. }) => Ok(
                Number::integer((a - b) / size(target)?, self.word_size(), true),
            ),
            (Binary::Add, Number::Pointer { target, .. }, Number::Integer { .. })
            | (Binary::Add, Number::Integer { .. }, Number::Pointer { target, .. }) => {
                let (base, steps) = match first {
                    Number::Pointer { .. } => (a, b),
                    _ => (b, a),
                };
                let address = base.wrapping_add(steps.wrapping_mul(size(target)?)) as u64;
                Ok(Number::Pointer { address, target })
            }
            (Binary::Subtract, Number::Pointer { target, .. }, Number::Integer { .. }) => {
                let address = a.wrapping_sub(b.wrapping_mul(size(target)?)) as u64;
                Ok(Number::Pointer { address, target })
            }
            _ => Err(Fault::new(
                at,
                "pointers can be compared, moved and subtracted only",
            )),
        }
    }
}

/// Applies a prefix operator, by the rules of a language.
pub(in crate::eval) fn unary(
    language: Language,
    operator: Unary,
    number: Number,
    at: usize,
) -> Result<Number, Fault> {
    let is_rust = language == Language::Rust;
    let number = if is_rust { number } else { promote(number) };
    match (operator, number) {
        (
            Unary::Not,
            Number::Integer {
                value,
                size,
                signed,
            },
        ) if is_rust => Ok(Number::integer(!value, size, signed)),
        (Unary::Not, Number::Float { .. }) if is_rust => {
            Err(Fault::new(at, "`!` needs an integer or a `bool`"))
        }
        (Unary::Not, number) => Ok(Number::Bool(!number.is_true())),
        // The minimum is written as a negated literal that is too large by one.
        (
            Unary::Negate,
            Number::Integer {
                value: i128::MIN,
                size: 16,
                ..
            },
        ) => Ok(Number::integer(i128::MIN, 16, true)),
        (
            Unary::Negate,
            Number::Integer {
                value,
                size,
                signed,
            },
        ) => {
            let negated = Number::integer(value.wrapping_neg(), size, signed);
            if is_rust && overflows(Binary::Subtract, 0, value, size, signed) {
                let name = negated.type_name(language);
                return Err(Fault::new(
                    at,
                    format!("the result does not fit {}: an overflow", a_type(name)),
                ));
            }
            Ok(negated)
        }
        (Unary::Negate, Number::Float { value, size }) => Ok(Number::Float {
            value: -value,
            size,
        }),
        (Unary::Plus, number @ (Number::Integer { .. } | Number::Float { .. })) => Ok(number),
        (
            Unary::Complement,
            Number::Integer {
                value,
                size,
                signed,
            },
        ) => Ok(Number::integer(!value, size, signed)),
        _ => Err(Fault::new(at, "this operator needs a number")),
    }
}

/// Applies a binary operator to two numbers that aren't pointers, by the rules of a language.
pub(in crate::eval) fn binary_on_numbers(
    language: Language,
    operator: Binary,
    first: Number,
    second: Number,
    at: usize,
) -> Result<Number, Fault> {
    let is_rust = language == Language::Rust;
    if let (true, Number::Bool(a), Number::Bool(b)) = (is_rust, first, second) {
        match operator {
            Binary::BitAnd => return Ok(Number::Bool(a & b)),
            Binary::BitOr => return Ok(Number::Bool(a | b)),
            Binary::BitXor => return Ok(Number::Bool(a ^ b)),
            _ => {}
        }
    }
    let (a, b) = match is_rust {
        true => (first, second),
        false => common(first, second),
    };
    if let Some(result) = compare(operator, a, b) {
        return Ok(Number::Bool(result));
    }
    let is_truth = |number| matches!(number, Number::Bool(_));
    if is_rust && is_truth(first) != is_truth(second) {
        return Err(Fault::new(at, "a `bool` goes with a `bool` only"));
    }
    let is_float = |number| matches!(number, Number::Float { .. });
    if operator == Binary::Remainder && !is_rust && (is_float(first) || is_float(second)) {
        return Err(Fault::new(at, "`%` needs integers on both sides"));
    }
    match (promote(first), promote(second)) {
        (one @ Number::Float { size: s, .. }, other @ Number::Float { size: t, .. }) => {
            let size = s.max(t);
            on_floats(
                operator,
                as_float(one, size),
                as_float(other, size),
                size,
                at,
            )
        }
        (one @ Number::Float { size, .. }, other @ Number::Integer { .. })
        | (one @ Number::Integer { .. }, other @ Number::Float { size, .. }) => on_floats(
            operator,
            as_float(one, size),
            as_float(other, size),
            size,
            at,
        ),
        (
            Number::Integer {
                value: a,
                size: s,
                signed: x,
            },
            Number::Integer {
                value: b,
                size: t,
                signed: y,
            },
        ) => {
            let types = ((s, x), (t, y));
            let (size, signed) = integer_type(is_rust, operator, (first, second), types);
            let result = on_integers(operator, a, b, size, signed, at)?;
            if is_rust && overflows(operator, a, b, size, signed) {
                let name = result.type_name(language);
                return Err(Fault::new(
                    at,
                    format!("the result does not fit {}: an overflow", a_type(name)),
                ));
            }
            Ok(result)
        }
        _ => Err(Fault::new(at, "this operator needs numbers on both sides")),
    }
}

/// The type in which an operator works on two integers: size and sign. `promoted`: the operands' types after C's promotion.
fn integer_type(
    is_rust: bool,
    operator: Binary,
    operands: (Number, Number),
    promoted: ((u8, bool), (u8, bool)),
) -> (u8, bool) {
    let is_shift = matches!(operator, Binary::ShiftLeft | Binary::ShiftRight);
    // Both operands have the same type in Rust, and are not promoted.
    if is_rust
        && let (
            Number::Integer {
                size: s, signed: x, ..
            },
            Number::Integer { size: t, .. },
        ) = operands
        && (s == t || is_shift)
    {
        return (s, x);
    }
    match is_shift {
        true => promoted.0,
        false => common_type(promoted.0, promoted.1),
    }
}

/// A number in the type that it has in common with another: the type of `condition ? number : other`. `None`: it stays as it is.
pub(in crate::eval) fn in_common_type(
    language: Language,
    number: Number,
    other: Number,
    at: usize,
) -> Option<Result<Number, Fault>> {
    let nothing = match (number, other) {
        (_, Number::Pointer { .. }) | (Number::Pointer { .. }, _) => return None,
        (Number::Bool(_), Number::Bool(_)) => return None,
        (_, Number::Integer { size, signed, .. }) => Number::integer(0, size, signed),
        (_, Number::Float { size, .. }) => Number::Float { value: -0.0, size },
        (_, Number::Bool(_)) => Number::Bool(false),
        (_, Number::Char(_)) => Number::Char(0),
    };
    let sum = binary_on_numbers(language, Binary::Add, number, nothing, at);
    Some(sum)
}

/// C's common type of two promoted integers (C 2011 §6.3.1.8): size and sign.
pub(in crate::eval) fn common_type((s, x): (u8, bool), (t, y): (u8, bool)) -> (u8, bool) {
    match s.cmp(&t) {
        Ordering::Greater => (s, x),
        Ordering::Less => (t, y),
        Ordering::Equal => (s, x && y),
    }
}

/// Converts two numbers to their common type, as C does before comparing them.
fn common(first: Number, second: Number) -> (Number, Number) {
    let (first, second) = (promote(first), promote(second));
    match (first, second) {
        (
            Number::Integer {
                value: a,
                size: s,
                signed: x,
            },
            Number::Integer {
                value: b,
                size: t,
                signed: y,
            },
        ) => {
            let (size, signed) = common_type((s, x), (t, y));
            (
                Number::integer(a, size, signed),
                Number::integer(b, size, signed),
            )
        }
        (Number::Float { size, .. }, Number::Integer { .. })
        | (Number::Integer { .. }, Number::Float { size, .. }) => {
            let of = |number| Number::Float {
                value: as_float(number, size),
                size,
            };
            (of(first), of(second))
        }
        other => other,
    }
}

/// A number as a float of `size` bytes, rounded only once.
pub(in crate::eval) fn as_float(number: Number, size: u8) -> f64 {
    match (number, size) {
        (
            Number::Integer {
                value,
                size: 16,
                signed: false,
            },
            4,
        ) => f64::from(value as u128 as f32),
        (
            Number::Integer {
                value,
                size: 16,
                signed: false,
            },
            _,
        ) => value as u128 as f64,
        (Number::Integer { value, .. }, 4) => f64::from(value as f32),
        (Number::Integer { value, .. }, _) => value as f64,
        (Number::Float { value, .. }, _) => value,
        (Number::Bool(value), _) => f64::from(u8::from(value)),
        (Number::Char(code), _) => f64::from(code),
        (Number::Pointer { address, .. }, _) => address as f64,
    }
}

/// Whether a result doesn't fit its type, where Rust panics.
fn overflows(operator: Binary, a: i128, b: i128, size: u8, signed: bool) -> bool {
    if size == 16 && !signed {
        let (a, b) = (a as u128, b as u128);
        return match operator {
            Binary::Add => a.checked_add(b).is_none(),
            Binary::Subtract => a.checked_sub(b).is_none(),
            Binary::Multiply => a.checked_mul(b).is_none(),
            _ => false,
        };
    }
    let exact = match operator {
        Binary::Add => a.checked_add(b),
        Binary::Subtract => a.checked_sub(b),
        Binary::Multiply => a.checked_mul(b),
        Binary::Divide => a.checked_div(b),
        // A remainder overflows when the division does.
        Binary::Remainder => a.checked_div(b),
        _ => return false,
    };
    let fits = |exact| matches!(Number::integer(exact, size, signed), Number::Integer { value, .. } if value == exact);
    !exact.is_some_and(fits)
}

/// Whether two numbers are equal, whatever their types.
pub(super) fn is_equal(one: Number, other: Number) -> bool {
    compare(Binary::Equal, one, other)
        .or_else(|| compare_pointers(Binary::Equal, one, other))
        .unwrap_or(false)
}

/// Converts a Rust literal without a suffix to the type of the other operand. The booleans say which operands are such literals.
pub(in crate::eval) fn type_literals(
    (first_untyped, first): (bool, Number),
    (second_untyped, second): (bool, Number),
) -> (Number, Number) {
    let adapted = |literal: Number, other: Number| match (literal, other) {
        (Number::Integer { value, .. }, Number::Integer { size, signed, .. }) => {
            Number::integer(value, size, signed)
        }
        (Number::Float { value, .. }, Number::Float { size, .. }) => {
            let value = if size == 4 {
                f64::from(value as f32)
            } else {
                value
            };
            Number::Float { value, size }
        }
        (literal, _) => literal,
    };
    match (first_untyped, second_untyped) {
        (true, false) => (adapted(first, second), second),
        (false, true) => (first, adapted(second, first)),
        _ => (first, second),
    }
}

/// The result of comparing two numbers of which at least one is a pointer. `None` for operators that don't compare, and for numbers
/// that can't be compared with a pointer.
pub(in crate::eval) fn compare_pointers(
    operator: Binary,
    first: Number,
    second: Number,
) -> Option<bool> {
    ordered(
        operator,
        as_address(first)?.partial_cmp(&as_address(second)?),
    )
}

fn as_address(number: Number) -> Option<i128> {
    match number {
        Number::Pointer { address, .. } => Some(i128::from(address)),
        Number::Integer { value, .. } => Some(value),
        _ => None,
    }
}

/// The size and sign that the literals in `source` take when it is assigned to a value of `type_`. `None` unless `type_` is an
/// integer's, and `source` consists only of literals without a suffix.
pub(super) fn literals_for(type_: &Type, source: &Expression) -> Option<(u8, bool)> {
    fn is_of_literals(source: &Expression, signed: bool) -> bool {
        let is_of_literals = |source| is_of_literals(source, signed);
        match &source.kind {
            Kind::Literal { untyped, .. } => *untyped,
            // For an unsigned type, the fault that a negative number doesn't fit has to come from the target.
            Kind::Unary { operator, operand } => {
                (signed || *operator != Unary::Negate) && is_of_literals(operand)
            }
            // The shift count has a type of its own.
            Kind::Binary {
                operator: Binary::ShiftLeft | Binary::ShiftRight,
                left,
                ..
            } => is_of_literals(left),
            Kind::Binary { left, right, .. } => is_of_literals(left) && is_of_literals(right),
            _ => false,
        }
    }
    let signed = match type_.kind {
        TypeKind::Base(Encoding::Signed | Encoding::SignedChar) => true,
        TypeKind::Base(Encoding::Unsigned | Encoding::UnsignedChar) => false,
        _ => return None,
    };
    let size = u8::try_from(type_.size?).ok()?;
    is_of_literals(source, signed).then_some((size, signed))
}

/// A literal as a number of the given size and sign, if it fits.
pub(super) fn typed_literal(number: Number, (size, signed): (u8, bool)) -> Option<Number> {
    let Number::Integer { value, .. } = number else {
        return None;
    };
    let typed = Number::integer(value, size, signed);
    matches!(typed, Number::Integer { value: now, .. } if now == value).then_some(typed)
}

pub(in crate::eval) fn is_untyped(expression: &Expression) -> bool {
    match &expression.kind {
        Kind::Literal { untyped, .. } => *untyped,
        Kind::Unary { operand, .. } => is_untyped(operand),
        Kind::Binary { left, right, .. } => is_untyped(left) && is_untyped(right),
        _ => false,
    }
}

/// C's integer promotion: integers smaller than an `int` become an `int`.
fn promote(number: Number) -> Number {
    match number {
        Number::Integer { value, size, .. } if size < 4 => Number::integer(value, 4, true),
        Number::Bool(value) => Number::integer(value.into(), 4, true),
        Number::Char(value) => Number::integer(value.into(), 4, true),
        number => number,
    }
}

fn compare(operator: Binary, first: Number, second: Number) -> Option<bool> {
    let order = match (promote(first), promote(second)) {
        (Number::Float { value: a, .. }, Number::Float { value: b, .. }) => a.partial_cmp(&b),
        (Number::Float { value: a, .. }, Number::Integer { value: b, .. }) => {
            a.partial_cmp(&(b as f64))
        }
        (Number::Integer { value: a, .. }, Number::Float { value: b, .. }) => {
            (a as f64).partial_cmp(&b)
        }
        (
            Number::Integer {
                value: a,
                size: 16,
                signed: false,
            },
            Number::Integer {
                value: b,
                signed: false,
                ..
            },
        ) => Some((a as u128).cmp(&(b as u128))),
        (Number::Integer { value: a, .. }, Number::Integer { value: b, .. }) => Some(a.cmp(&b)),
        _ => return None,
    };
    ordered(operator, order)
}

/// The result of a comparison operator for the ordering of its operands. `None` for operators that don't compare. Unordered operands
/// (NaN) are unequal.
pub(super) fn ordered(operator: Binary, order: Option<Ordering>) -> Option<bool> {
    Some(match operator {
        Binary::Equal => order == Some(Ordering::Equal),
        Binary::NotEqual => order != Some(Ordering::Equal),
        Binary::Less => order == Some(Ordering::Less),
        Binary::LessEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Binary::Greater => order == Some(Ordering::Greater),
        Binary::GreaterEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        _ => return None,
    })
}

fn on_floats(operator: Binary, a: f64, b: f64, size: u8, at: usize) -> Result<Number, Fault> {
    let value = match operator {
        Binary::Add => a + b,
        Binary::Subtract => a - b,
        Binary::Multiply => a * b,
        Binary::Divide => a / b,
        Binary::Remainder => a % b,
        _ => return Err(Fault::new(at, "this operator needs integers")),
    };
    // For 32-bit operands, one 64-bit operation rounded to 32 bits gives the same result as a 32-bit operation.
    let value = if size == 4 {
        f64::from(value as f32)
    } else {
        value
    };
    Ok(Number::Float { value, size })
}

fn on_integers(
    operator: Binary,
    a: i128,
    b: i128,
    size: u8,
    signed: bool,
    at: usize,
) -> Result<Number, Fault> {
    let cut = |value| match Number::integer(value, size, signed) {
        Number::Integer { value, .. } => value,
        _ => value,
    };
    let is_shift = matches!(operator, Binary::ShiftLeft | Binary::ShiftRight);
    let (a, b) = (cut(a), if is_shift { b } else { cut(b) });
    let is_wide = size == 16 && !signed;
    if matches!(operator, Binary::Divide | Binary::Remainder) && b == 0 {
        return Err(Fault::new(at, "division by zero"));
    }
    let value = match operator {
        Binary::Add => a.wrapping_add(b),
        Binary::Subtract => a.wrapping_sub(b),
        Binary::Multiply => a.wrapping_mul(b),
        Binary::Divide if is_wide => (a as u128 / b as u128) as i128,
        Binary::Remainder if is_wide => (a as u128 % b as u128) as i128,
        Binary::Divide => a.wrapping_div(b),
        Binary::Remainder => a.wrapping_rem(b),
        Binary::BitOr => a | b,
        Binary::BitXor => a ^ b,
        Binary::BitAnd => a & b,
        Binary::ShiftLeft | Binary::ShiftRight => {
            let count = u32::try_from(b)
                .ok()
                .filter(|count| *count < 8 * u32::from(size));
            let count = count.ok_or_else(|| {
                Fault::new(
                    at,
                    format!("a shift by {b} does not fit {} bits", 8 * u32::from(size)),
                )
            })?;
            match operator {
                Binary::ShiftLeft => a << count,
                _ if is_wide => ((a as u128) >> count) as i128,
                _ => a >> count,
            }
        }
        _ => return Err(Fault::new(at, "this operator is not understood here")),
    };
    Ok(Number::integer(value, size, signed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(value: i128) -> Number {
        Number::integer(value, 4, true)
    }

    #[test]
    fn division_by_zero_and_wide_shifts_are_faults() {
        assert!(on_integers(Binary::Divide, 1, 0, 4, true, 0).is_err());
        assert!(on_integers(Binary::Remainder, 1, 0, 4, true, 0).is_err());
        assert!(on_integers(Binary::ShiftLeft, 1, 32, 4, true, 0).is_err());
        assert!(on_integers(Binary::ShiftLeft, 1, -1, 4, true, 0).is_err());
        let least = i32::MIN.into();
        assert_eq!(
            on_integers(Binary::Divide, least, -1, 4, true, 0),
            Ok(int(least))
        );
        let least = Number::integer(i128::MIN, 16, true);
        assert_eq!(
            on_integers(Binary::Divide, i128::MIN, -1, 16, true, 0),
            Ok(least)
        );
    }

    #[test]
    fn comparing_knows_signs_and_nan() {
        let big = Number::integer(-1, 16, false);
        assert_eq!(
            compare(Binary::Greater, big, Number::integer(1, 8, false)),
            Some(true)
        );
        assert_eq!(compare(Binary::Less, int(-1), int(0)), Some(true));
        let nan = Number::Float {
            value: f64::NAN,
            size: 8,
        };
        assert_eq!(compare(Binary::Equal, nan, nan), Some(false));
        assert_eq!(compare(Binary::NotEqual, nan, nan), Some(true));
        assert_eq!(compare(Binary::Add, int(1), int(2)), None);
    }

    #[test]
    fn results_have_the_width_of_their_type() {
        assert_eq!(
            on_integers(Binary::Add, 255, 1, 1, false, 0),
            Ok(Number::integer(0, 1, false))
        );
        assert_eq!(
            on_integers(Binary::ShiftRight, -8, 1, 4, true, 0),
            Ok(int(-4))
        );
    }
}
