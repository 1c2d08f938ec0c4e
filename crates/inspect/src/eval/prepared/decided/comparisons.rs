//! Comparisons of numbers of known types.

use super::integers::converted;
use super::value::{Int, Value};
use super::words::{below, plus};
use super::{NO_NUMBERS, Why};
use crate::eval::ir::Binary;
use crate::eval::run::arithmetic::common_type;
use dapple_arch::decision::{Comparison, Sign, Truth, Word};

/// Whether an operator compares.
pub(super) fn is_comparison(operator: Binary) -> bool {
    comparison(operator, Sign::Signed).is_some()
}

/// The comparison, and whether the operands change their sides.
fn comparison(operator: Binary, sign: Sign) -> Option<(Comparison, bool)> {
    Some(match operator {
        Binary::Equal => (Comparison::Equal, false),
        Binary::NotEqual => (Comparison::NotEqual, false),
        Binary::Less => (Comparison::Less(sign), false),
        Binary::LessEqual => (Comparison::LessOrEqual(sign), false),
        Binary::Greater => (Comparison::Less(sign), true),
        Binary::GreaterEqual => (Comparison::LessOrEqual(sign), true),
        _ => return None,
    })
}

/// Compares two promoted numbers.
pub(super) fn numbers(
    is_rust: bool,
    operator: Binary,
    first: Value,
    second: Value,
) -> Result<Value, Why> {
    if let (Value::Integer(a, x), Value::Integer(b, y)) = (&first, &second) {
        let (mut a, mut b) = ((a.clone(), *x), (b.clone(), *y));
        if !is_rust {
            let (size, signed) = common_type((x.size, x.signed), (y.size, y.signed));
            let int = Int { size, signed };
            a = (converted(a.0, *x, int), int);
            b = (converted(b.0, *y, int), int);
        }
        return integers(operator, a, b).ok_or(NO_NUMBERS);
    }
    // C converts an integer to the other operand's type.
    let size = match is_rust {
        true => 8,
        false => first.real_size().max(second.real_size()),
    };
    let (a, b) = (first.real(size)?, second.real(size)?);
    let (comparison, swapped) = comparison(operator, Sign::Signed).ok_or(NO_NUMBERS)?;
    let sides = if swapped { (b, a) } else { (a, b) };
    Ok(Value::Bool(Truth::Numbers(comparison, Box::new(sides))))
}

/// Compares two integers by their values, whatever their types. `None`: the operator doesn't compare.
pub(super) fn integers(
    operator: Binary,
    (a, x): (Word, Int),
    (b, y): (Word, Int),
) -> Option<Value> {
    let sign = match (as_signed(&a, x), as_signed(&b, y)) {
        (true, true) => Sign::Signed,
        _ => Sign::Unsigned,
    };
    let (comparison, swapped) = comparison(operator, sign)?;
    let ((a, x), (b, y)) = if swapped {
        ((b, y), (a, x))
    } else {
        ((a, x), (b, y))
    };
    let words = |a, b| Truth::Words(comparison, Box::new((a, b)));
    if sign == Sign::Signed {
        return Some(Value::Bool(words(a, b)));
    }
    // One is an unsigned integer of 8 bytes. A constant below 0 is less than it. The comparison is made only to evaluate the other one.
    let (a_negative, b_negative) = (is_negative(&a, x), is_negative(&b, y));
    let truth = match comparison {
        _ if !a_negative && !b_negative => words(without_sign(a, x), without_sign(b, y)),
        Comparison::Equal => always(words(a, b), false),
        Comparison::NotEqual => always(words(a, b), true),
        _ => always(words(a, b), a_negative),
    };
    Some(Value::Bool(truth))
}

/// A condition with a constant result, which asks where `truth` does.
fn always(truth: Truth, result: bool) -> Truth {
    let sides = Box::new((truth, Truth::Constant(result)));
    match result {
        true => Truth::Or(sides),
        false => Truth::And(sides),
    }
}

fn is_negative(word: &Word, int: Int) -> bool {
    matches!(word, Word::Constant(constant) if int.signed && constant.cast_signed() < 0)
}

/// Whether a word is the integer also as one with a sign.
fn as_signed(word: &Word, int: Int) -> bool {
    let is_small = |constant: u64| constant <= i64::MAX.cast_unsigned();
    int.signed || int.size < 8 || matches!(word, Word::Constant(c) if is_small(*c))
}

/// A word that is the integer as one without a sign. Asks if the integer is below 0.
fn without_sign(word: Word, int: Int) -> Word {
    if !int.signed || matches!(word, Word::Constant(_)) {
        return word;
    }
    let (word, rest) = below(word, 1 << 63);
    plus(word, rest)
}
