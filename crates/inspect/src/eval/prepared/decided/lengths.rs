//! Lengths of texts and containers.

use super::value::{Int, Value};
use super::words::{below, plus};
use super::{Lower, Why};
use crate::eval::prepared::lengths::{Between, Entries, MOST_ENTRIES, Measured};
use crate::eval::prepared::texts::Capacity;
use dapple_arch::decision::{Comparison, Operation, Sign, Truth, Word};

impl Lower {
    /// A length. Asks for most containers in an invalid state.
    pub(super) fn length(&self, measured: &Measured) -> Result<Value, Why> {
        let word = match measured {
            Measured::Text(counted) => self.length_of_text(counted)?,
            Measured::Elements(counted, 0) => self.word_of(&counted.object, counted.length)?,
            Measured::Elements(counted, _) => {
                let length = self.word_of(&counted.object, counted.length)?;
                let length = self.valid_length(counted, length)?;
                let data = self.word_of(&counted.object, counted.data)?;
                match counted.capacity {
                    Capacity::None => Word::If(Box::new((Value::Pointer(data).truth(), length))),
                    _ => length,
                }
            }
            Measured::Viewed(counted, size) => {
                let length = self.word_of(&counted.object, counted.length)?;
                // As many as fit into memory.
                let (length, rest) = below(length, (1 << 63) / *size + 1);
                plus(length, rest)
            }
            Measured::Between(between) => self.between(between)?,
            Measured::Entries(entries) => self.entries(entries)?,
        };
        Ok(Value::Integer(word, Int::new(8, false)?))
    }

    fn entries(&self, entries: &Entries) -> Result<Word, Why> {
        let word = |offset| self.word_of(&entries.object, offset);
        let count = word(entries.count)?;
        let words = |comparison, first: &Word, second: Word| {
            Truth::Words(comparison, Box::new((first.clone(), second)))
        };
        let both = |first, second| Truth::And(Box::new((first, second)));
        let order = Comparison::LessOrEqual(Sign::Unsigned);
        // It leads somewhere: what is there can be read.
        let behind = Word::Load {
            address: Box::new(word(entries.first)?),
            size: 8,
            sign: Sign::Unsigned,
        };
        let leads = Truth::Or(Box::new((
            words(Comparison::Equal, &behind, Word::Constant(0)),
            Truth::Constant(true),
        )));
        let some = both(
            words(order, &count, Word::Constant(MOST_ENTRIES)),
            both(Value::Pointer(word(entries.first)?).truth(), leads),
        );
        let none = words(Comparison::Equal, &count, Word::Constant(0));
        let mut is_valid = Truth::Or(Box::new((none, some)));
        if let Some(mask) = entries.mask {
            let mask = word(mask)?;
            let next = Box::new((mask.clone(), plus(mask.clone(), 1)));
            let both_of = Word::Operation(Operation::And, next);
            let is_mask = words(Comparison::Equal, &both_of, Word::Constant(0));
            is_valid = both(both(is_mask, words(order, &count, mask)), is_valid);
        }
        Ok(Word::If(Box::new((is_valid, count))))
    }

    fn between(&self, between: &Between) -> Result<Word, Why> {
        let word = |offset| self.word_of(&between.object, offset);
        let (start, end, room) = (
            word(between.start)?,
            word(between.end)?,
            word(between.room)?,
        );
        let ordered = |low: &Word, high: &Word| {
            let sides = Box::new((low.clone(), high.clone()));
            Truth::Words(Comparison::LessOrEqual(Sign::Unsigned), sides)
        };
        let is_valid = Truth::And(Box::new((ordered(&start, &end), ordered(&end, &room))));
        let bytes = Word::Operation(Operation::Subtract, Box::new((end, start)));
        let length = match between.size {
            1 => bytes,
            size if size.is_power_of_two() => {
                let count = Word::Constant(size.trailing_zeros().into());
                let shift = Operation::ShiftRight(Sign::Unsigned);
                Word::Operation(shift, Box::new((bytes, count)))
            }
            size => Word::Quotient(Sign::Unsigned, Box::new((bytes, Word::Constant(size)))),
        };
        Ok(Word::If(Box::new((is_valid, length))))
    }
}
