//! Comparisons of texts.

use super::value::{Value, not};
use super::words::{below, not_zero, plus};
use super::{Lower, NO_VALUE, Why};
use crate::eval::prepared::texts::{Capacity, Comparison, Counted, MOST_TEXT, Text};
use dapple_arch::decision::{self, Operation, Sign, Truth, Word};

impl Lower {
    pub(super) fn text_comparison(&self, comparison: &Comparison) -> Result<Value, Why> {
        let literal = &comparison.literal;
        let with_end = || [&literal[..], &[0]].concat().into_boxed_slice();
        let equal = match &comparison.text {
            Text::Counted(counted) => self.counted(counted, literal)?,
            Text::ZeroEnded(pointer) => match self.value(pointer)? {
                Value::Pointer(pointer) => {
                    let (pointer, rest) = not_zero(pointer);
                    Truth::Bytes(Box::new(plus(pointer, rest)), with_end())
                }
                _ => return Err(NO_VALUE),
            },
            Text::Array(place, count) => {
                let address = Box::new(self.address(place)?.word());
                match (literal.len() as u64).cmp(count) {
                    std::cmp::Ordering::Less => Truth::Bytes(address, with_end()),
                    std::cmp::Ordering::Equal => Truth::Bytes(address, literal[..].into()),
                    std::cmp::Ordering::Greater => Truth::Constant(false),
                }
            }
        };
        Ok(Value::Bool(match comparison.equal {
            true => equal,
            false => not(equal),
        }))
    }

    /// Whether a text with a length is equal to a literal. Asks for most texts in an invalid state.
    fn counted(&self, counted: &Counted, literal: &[u8]) -> Result<Truth, Why> {
        let length = self.length_of_text(counted)?;
        let wanted = Word::Constant(literal.len() as u64);
        let same_length = Truth::Words(decision::Comparison::Equal, Box::new((length, wanted)));
        if literal.is_empty() {
            return Ok(same_length);
        }
        let (data, rest) = not_zero(self.data(counted)?);
        let same_bytes = Truth::Bytes(Box::new(plus(data, rest)), literal.into());
        Ok(Truth::And(Box::new((same_length, same_bytes))))
    }

    pub(super) fn length_of_text(&self, counted: &Counted) -> Result<Word, Why> {
        let length = self.word_of(&counted.object, counted.length)?;
        let length = match counted.capacity {
            Capacity::FirstBit => {
                let first = self.first(counted)?;
                let byte = Box::new((first, Word::Constant(0xff)));
                let byte = Word::Operation(Operation::And, byte);
                let half = Operation::ShiftRight(Sign::Unsigned);
                let short = Word::Operation(half, Box::new((byte, Word::Constant(1))));
                Word::Choice(Box::new((self.is_short(counted)?, short, length)))
            }
            _ => length,
        };
        let (length, rest) = below(length, MOST_TEXT + 1);
        self.valid_length(counted, plus(length, rest))
    }

    fn first(&self, counted: &Counted) -> Result<Word, Why> {
        self.word_of(&counted.object, 0)
    }

    /// Whether a string of libc++ has its text in itself.
    fn is_short(&self, counted: &Counted) -> Result<Truth, Why> {
        let bit = Box::new((self.first(counted)?, Word::Constant(1)));
        let bit = Word::Operation(Operation::And, bit);
        let sides = Box::new((bit, Word::Constant(0)));
        Ok(Truth::Words(decision::Comparison::Equal, sides))
    }

    /// Where a text's bytes are.
    fn data(&self, counted: &Counted) -> Result<Word, Why> {
        let elsewhere = self.word_of(&counted.object, counted.data)?;
        Ok(match counted.capacity {
            Capacity::FirstBit => {
                let mut own = self.address(&counted.object)?;
                own.offset = own.offset.wrapping_add(1);
                let parts = (self.is_short(counted)?, own.word(), elsewhere);
                Word::Choice(Box::new(parts))
            }
            _ => elsewhere,
        })
    }

    /// The length, in an object that is not in an invalid state.
    pub(super) fn valid_length(&self, counted: &Counted, length: Word) -> Result<Word, Why> {
        let word = |offset| self.word_of(&counted.object, offset);
        let order = decision::Comparison::LessOrEqual(Sign::Unsigned);
        let is_valid = match counted.capacity {
            Capacity::None => return Ok(length),
            Capacity::At(capacity) => {
                let is_owned = Value::Pointer(word(counted.data)?).truth();
                let sides = Box::new((word(counted.length)?, word(capacity)?));
                let fits = Truth::Words(order, sides);
                Truth::And(Box::new((is_owned, fits)))
            }
            // There is a zero behind the text.
            Capacity::Local { .. } | Capacity::FirstBit => {
                let (data, rest) = not_zero(self.data(counted)?);
                let end = Word::Operation(Operation::Add, Box::new((data, length.clone())));
                let zero = Word::Load {
                    address: Box::new(plus(end, rest)),
                    size: 1,
                    sign: Sign::Unsigned,
                };
                let sides = Box::new((zero, Word::Constant(0)));
                Truth::Words(decision::Comparison::Equal, sides)
            }
        };
        Ok(Word::If(Box::new((is_valid, length))))
    }
}
