//! Arithmetic of integers of known types: C's wraps around, Rust's asks where a result doesn't fit.

use super::value::{Int, Value};
use super::words::{below, extended, plus};
use super::{MIXED, NO_NUMBERS, NO_VALUE, Why};
use crate::eval::ir::Binary;
use crate::eval::run::arithmetic::common_type;
use dapple_arch::decision::{ExactOperation, Operation, Sign, Word};

/// The type in which an operator works, as `arithmetic::integer_type`. `types` are the operands' own, if they are integers.
pub(super) fn result_type(
    is_rust: bool,
    operator: Binary,
    types: (Option<Int>, Option<Int>),
    (x, y): (Int, Int),
) -> Int {
    let is_shift = matches!(operator, Binary::ShiftLeft | Binary::ShiftRight);
    if let (true, (Some(first), Some(second))) = (is_rust, types)
        && (first.size == second.size || is_shift)
    {
        return first;
    }
    if is_shift {
        return x;
    }
    let (size, signed) = common_type((x.size, x.signed), (y.size, y.signed));
    Int { size, signed }
}

/// An integer in another type, cut if it has to be.
pub(super) fn converted(word: Word, from: Int, to: Int) -> Word {
    match to.includes(from) {
        true => word,
        false => extended(word, to.size, to.sign()),
    }
}

/// All bits inverted.
pub(super) fn complement(word: Word, int: Int) -> Word {
    let bits = match int.signed {
        true => u64::MAX,
        false => u64::MAX >> (64 - int.bits()),
    };
    Word::Operation(Operation::Xor, Box::new((word, Word::Constant(bits))))
}

pub(super) fn negated(is_rust: bool, word: Word, int: Int) -> Result<Value, Why> {
    let zero = (Word::Constant(0), int);
    calculated(is_rust, Binary::Subtract, zero, (word, int), int)
}

/// Whether an integer of a type, perhaps a constant, is certainly one of another type.
fn is_within((word, from): (&Word, Int), to: Int) -> bool {
    let is_small = |constant: u64| constant <= i64::MAX.cast_unsigned() && to.size == 8;
    to.includes(from) || matches!(word, Word::Constant(constant) if is_small(*constant))
}

/// Applies an operator in the type `int`. The operands have the given types.
pub(super) fn calculated(
    is_rust: bool,
    operator: Binary,
    (a, x): (Word, Int),
    (b, y): (Word, Int),
    int: Int,
) -> Result<Value, Why> {
    let word = match operator {
        Binary::Add | Binary::Subtract | Binary::Multiply => {
            sum(is_rust, operator, (a, x), (b, y), int)?
        }
        Binary::Divide | Binary::Remainder => {
            if is_rust && !(is_within((&a, x), int) && is_within((&b, y), int)) {
                return Err(MIXED);
            }
            let (a, b) = (converted(a, x, int), converted(b, y, int));
            quotient(is_rust, operator, a, b, int)?
        }
        Binary::BitAnd => bitwise(Operation::And, converted(a, x, int), converted(b, y, int)),
        Binary::BitOr => bitwise(Operation::Or, converted(a, x, int), converted(b, y, int)),
        Binary::BitXor => bitwise(Operation::Xor, converted(a, x, int), converted(b, y, int)),
        Binary::ShiftLeft | Binary::ShiftRight => shift(operator, converted(a, x, int), b, int)?,
        _ => return Err(NO_NUMBERS),
    };
    Ok(Value::Integer(word, int))
}

fn bitwise(operation: Operation, a: Word, b: Word) -> Word {
    Word::Operation(operation, Box::new((a, b)))
}

/// The sum, difference or product.
fn sum(
    is_rust: bool,
    operator: Binary,
    (a, x): (Word, Int),
    (b, y): (Word, Int),
    int: Int,
) -> Result<Word, Why> {
    let (operation, exact) = match operator {
        Binary::Add => (Operation::Add, ExactOperation::Add),
        Binary::Subtract => (Operation::Subtract, ExactOperation::Subtract),
        _ => (Operation::Multiply, ExactOperation::Multiply),
    };
    if !is_rust {
        let word = Word::Operation(operation, Box::new((a, b)));
        return Ok(extended(word, int.size, int.sign()));
    }
    if int.size == 8 {
        if !(is_within((&a, x), int) && is_within((&b, y), int)) {
            return Err(MIXED);
        }
        return Ok(Word::Exact(exact, int.sign(), Box::new((a, b))));
    }
    // The result of integers of 4 bytes has at most 8 bytes.
    Ok(Word::Fitting {
        word: Box::new(Word::Operation(operation, Box::new((a, b)))),
        size: int.size,
        sign: int.sign(),
    })
}

/// The quotient or remainder of integers of type `int`.
fn quotient(is_rust: bool, operator: Binary, a: Word, b: Word, int: Int) -> Result<Word, Why> {
    if let Word::Constant(0) = b {
        return Err(NO_VALUE);
    }
    let sign = int.sign();
    if operator == Binary::Divide {
        let word = Word::Quotient(sign, Box::new((a, b)));
        return Ok(match (int.size, is_rust, int.signed) {
            (8, ..) | (_, _, false) => word,
            // The least integer divided by -1.
            (size, true, true) => Word::Fitting {
                word: Box::new(word),
                size,
                sign,
            },
            (size, false, true) => extended(word, size, sign),
        });
    }
    // In Rust the least integer has no remainder by -1. This asks for all remainders by -1.
    let b = match b {
        b @ Word::Constant(_) if b != Word::Constant(u64::MAX) => b,
        b if is_rust && int.signed && int.size < 8 => {
            let sides = Box::new((plus(b, 1), Word::Constant(1)));
            Word::Exact(ExactOperation::Subtract, Sign::Unsigned, sides)
        }
        b => b,
    };
    Ok(Word::Remainder(sign, Box::new((a, b))))
}

/// A shift of an integer of type `int`. Asks if the count is not below the number of bits.
fn shift(operator: Binary, a: Word, count: Word, int: Int) -> Result<Word, Why> {
    if let Word::Constant(constant) = count
        && constant >= int.bits()
    {
        return Err(NO_VALUE);
    }
    let count = match int.size {
        // The shift itself asks.
        8 => count,
        _ => {
            let (count, rest) = below(count, int.bits());
            plus(count, rest)
        }
    };
    let sides = Box::new((a, count));
    Ok(match operator {
        Binary::ShiftLeft => {
            let word = Word::Operation(Operation::ShiftLeft, sides);
            extended(word, int.size, int.sign())
        }
        _ => Word::Operation(Operation::ShiftRight(int.sign()), sides),
    })
}
