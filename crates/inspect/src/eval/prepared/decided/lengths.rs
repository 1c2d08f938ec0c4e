//! Lengths of texts and containers.

use super::value::{Int, Value};
use super::{Lower, Why};
use crate::eval::prepared::lengths::{Between, Measured};
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
            Measured::Between(between) => self.between(between)?,
        };
        Ok(Value::Integer(word, Int::new(8, false)?))
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
