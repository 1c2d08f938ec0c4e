//! Words made of words, in their shortest form.

use dapple_arch::decision::{ExactOperation, Operation, Sign, Word};

/// A word plus a constant.
pub(super) fn plus(word: Word, more: u64) -> Word {
    match word {
        word if more == 0 => word,
        Word::Constant(constant) => Word::Constant(constant.wrapping_add(more)),
        word => Word::Operation(Operation::Add, Box::new((word, Word::Constant(more)))),
    }
}

/// A word times a constant.
pub(super) fn times(word: Word, factor: u64) -> Word {
    match factor {
        1 => word,
        factor if factor.is_power_of_two() => {
            let count = Word::Constant(factor.trailing_zeros().into());
            Word::Operation(Operation::ShiftLeft, Box::new((word, count)))
        }
        factor => Word::Operation(
            Operation::Multiply,
            Box::new((word, Word::Constant(factor))),
        ),
    }
}

/// The lowest bytes of a word, extended.
pub(super) fn extended(word: Word, size: u8, sign: Sign) -> Word {
    match (word, size) {
        (word, 8..) => word,
        (Word::Constant(constant), size) => {
            let shift = 64 - 8 * u32::from(size);
            Word::Constant(match sign {
                Sign::Unsigned => constant << shift >> shift,
                Sign::Signed => (constant.cast_signed() << shift >> shift).cast_unsigned(),
            })
        }
        (word, size) => Word::Extended {
            word: Box::new(word),
            size,
            sign,
        },
    }
}

/// A word that must be below a constant, as a number without a sign. Asks if it isn't. Returns a word, and what has to be added to it:
/// whether it was below is seen from an overflow, so the word is evaluated once.
pub(super) fn below(word: Word, count: u64) -> (Word, u64) {
    if let Word::Constant(constant) = word
        && constant < count
    {
        return (Word::Constant(constant), 0);
    }
    let sides = (word, Word::Constant(count.wrapping_neg()));
    let sum = Word::Exact(ExactOperation::Add, Sign::Unsigned, Box::new(sides));
    (sum, count)
}

/// A word that must not be 0, as [`below`].
pub(super) fn not_zero(word: Word) -> (Word, u64) {
    if let Word::Constant(1..) = word {
        return (word, 0);
    }
    let sides = Box::new((word, Word::Constant(1)));
    let less = Word::Exact(ExactOperation::Subtract, Sign::Unsigned, sides);
    (less, 1)
}
