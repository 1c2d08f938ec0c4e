//! Decisions that run inside of a program: whether a thread that has come to a place must stop there.
//!
//! A decision is an expression on the thread's registers and memory, whose types are known. It gives *false*: the thread goes on; or it
//! *asks*: the thread traps, and the debugger decides. It asks if its condition is true, and also where the condition has no value (a null
//! pointer, an index out of bounds, an overflow). So only "false" has to be right.
//!
//! Integers are 64-bit words. A narrower integer is one whose upper bits are its sign, or zeros if it has none: each operation whose result
//! may not be so is followed by [`Word::Extended`].
//!
//! [`compile`] makes code of a decision; [`evaluate`] says what that code must do.

mod check;
mod compile;
mod count;
mod emit;
mod evaluate;
mod exact;
mod reals;
mod record;
mod registers;
mod state;
mod truths;
mod words;

pub use compile::{Request, Then, compile};
pub use count::Counter;
pub use evaluate::{evaluate, evaluate_recorded};
pub use exact::{Exact, KEPT, MOST_PIECES, MOST_WITH_PASSES, PASSES, compile_exact};
pub use record::{MOST_VALUES, RECORDS, Record, Recorded, Ring};
pub use state::{RING_IS_FULL, SWITCH, SWITCHED, Saved, State, Trampoline, with_flags};

use std::fmt;

/// Why a decision can't be compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// Its expressions are nested too deeply.
    TooDeep,
    /// The decision, its code or its frame is too large.
    TooLarge,
    /// It has a register or a size that doesn't exist.
    Malformed,
    /// The code that goes on can't be made for this address, or an operand is out of reach.
    OutOfReach,
}

impl fmt::Display for Refused {
    /// A clause for the user.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refused::TooDeep => "the condition is nested too deeply",
            Refused::TooLarge => "the condition is too long",
            Refused::Malformed => "the condition has a register or a size that doesn't exist",
            Refused::OutOfReach => "what the condition or the code there refers to is too far away",
        })
    }
}

/// The pieces of bytes that are compared at a time, of 4, 2 or 1 bytes, each with its offset. A piece isn't read if one before differs.
pub fn pieces(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let size = match rest.len() {
            0 => return None,
            1 => 1,
            2 | 3 => 2,
            4.. => 4,
        };
        let offset = bytes.len() - rest.len();
        let (piece, behind) = rest.split_at(size);
        rest = behind;
        Some((offset, piece))
    })
}

/// The lowest `size` bytes of a word, extended to a word.
fn extend(word: u64, size: u8, sign: Sign) -> u64 {
    // No integer has 0 bytes; this only keeps the shift in range.
    let shift = 64_u32.saturating_sub(8 * u32::from(size)).min(63);
    match sign {
        Sign::Unsigned => word << shift >> shift,
        Sign::Signed => (word.cast_signed() << shift >> shift).cast_unsigned(),
    }
}

/// A condition.
#[derive(Debug, Clone, PartialEq)]
pub enum Truth {
    /// Always the same.
    Constant(bool),
    /// A comparison of words.
    Words(Comparison, Box<(Word, Word)>),
    /// A comparison of numbers. Each but `NotEqual` is false if one of them is not a number (NaN).
    Numbers(Comparison, Box<(Real, Real)>),
    /// The negation.
    Not(Box<Truth>),
    /// Whether both hold. The second isn't evaluated if the first doesn't hold.
    And(Box<(Truth, Truth)>),
    /// Whether one of them holds. The second isn't evaluated if the first holds.
    Or(Box<(Truth, Truth)>),
    /// Whether the bytes at an address are these. Those behind a difference may be unreadable.
    Bytes(Box<Word>, Box<[u8]>),
}

/// How two numbers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`; of words, as signed or unsigned integers.
    Less(Sign),
    /// `<=`
    LessOrEqual(Sign),
}

/// Whether an integer has a sign. Of no meaning where numbers that aren't integers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// It has a sign.
    Signed,
    /// It has none.
    Unsigned,
}

/// An expression that gives a 64-bit word.
#[derive(Debug, Clone, PartialEq)]
pub enum Word {
    /// A constant.
    Constant(u64),
    /// A general register of the thread, by its DWARF number (0 to 15), as it is at the place.
    Register(u16),
    /// The thread pointer: the base of `fs`, from the word that the ABI keeps there (ABI TLS, §3.4.6).
    ThreadPointer,
    /// The integer of `size` bytes (1, 2, 4 or 8) at an address, extended to a word.
    Load {
        /// Where it is.
        address: Box<Word>,
        /// Its size in bytes.
        size: u8,
        /// How it is extended.
        sign: Sign,
    },
    /// The lowest `size` bytes (1, 2 or 4) of a word, extended to a word.
    Extended {
        /// The word.
        word: Box<Word>,
        /// How many of its bytes.
        size: u8,
        /// How they are extended.
        sign: Sign,
    },
    /// An operation on two words. Its result is cut to 64 bits.
    Operation(Operation, Box<(Word, Word)>),
    /// An operation whose exact result must be an integer of 64 bits, with or without a sign; asks if it isn't.
    Exact(ExactOperation, Sign, Box<(Word, Word)>),
    /// The quotient, rounded to zero. Asks if the divisor is 0, or the result is no integer of 64 bits.
    Quotient(Sign, Box<(Word, Word)>),
    /// The remainder, with the dividend's sign. Asks where [`Word::Quotient`] does.
    Remainder(Sign, Box<(Word, Word)>),
    /// 1 if a condition holds, else 0.
    Truth(Box<Truth>),
    /// A word; asks unless the condition holds, which is evaluated first.
    If(Box<(Truth, Word)>),
    /// The first word if a condition holds, else the second. The other one isn't evaluated.
    Choice(Box<(Truth, Word, Word)>),
    /// A word that must be an integer of `size` bytes (1, 2 or 4); asks if it isn't.
    Fitting {
        /// The word.
        word: Box<Word>,
        /// The size in bytes.
        size: u8,
        /// Whether the integer has a sign.
        sign: Sign,
    },
}

/// An operation on two words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `&`
    And,
    /// `|`
    Or,
    /// `^`
    Xor,
    /// `<<`; asks if the second word is more than 63.
    ShiftLeft,
    /// `>>`, with zeros from above if unsigned, else with copies of the sign; asks if the second word is more than 63.
    ShiftRight(Sign),
}

/// An operation whose result may be too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExactOperation {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
}

/// An expression that gives a number with a fraction, in 64 bits (IEEE 754 binary64).
#[derive(Debug, Clone, PartialEq)]
pub enum Real {
    /// A constant.
    Constant(f64),
    /// The number of `size` bytes (4 or 8) at an address.
    Load {
        /// Where it is.
        address: Box<Word>,
        /// Its size in bytes.
        size: u8,
    },
    /// The number of `size` bytes (4 or 8) in the lowest bytes of an SSE register (0 to 15), as it is at the place.
    Register {
        /// The register's number.
        register: u8,
        /// The number's size in bytes.
        size: u8,
    },
    /// A word as a number. An unsigned one must be below 2⁶³; asks if it isn't.
    Integer(Box<Word>, Sign),
    /// An operation on two numbers.
    Operation(RealOperation, Box<(Real, Real)>),
    /// A number rounded to 32 bits (binary32).
    Rounded(Box<Real>),
    /// The first number if a condition holds, else the second. The other one isn't evaluated.
    Choice(Box<(Truth, Real, Real)>),
}

/// An operation on two numbers with a fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RealOperation {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
}
