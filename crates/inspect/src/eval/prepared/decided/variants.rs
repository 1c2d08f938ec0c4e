//! Tests of an enum's variant.

use super::value::{Value, not};
use super::{Lower, Why};
use crate::eval::prepared::variants::IsVariant;
use dapple_arch::decision::{Comparison, Sign, Truth, Word};

impl Lower {
    pub(super) fn variant(&self, test: &IsVariant) -> Result<Value, Why> {
        let number = Word::Load {
            address: Box::new(self.address(&test.discriminant)?.word()),
            size: test.size,
            sign: Sign::Unsigned,
        };
        let (this, other) = (within(&number, &test.this), within(&number, &test.other));
        Ok(Value::Bool(match (this, other) {
            (Some(this), None) => this,
            (None, Some(other)) => not(other),
            (Some(this), Some(other)) => {
                // Asks if the number belongs to neither variant.
                let zero = Word::If(Box::new((other, Word::Constant(0))));
                let sides = Box::new((zero, Word::Constant(0)));
                let never = Truth::Words(Comparison::NotEqual, sides);
                Truth::Or(Box::new((this, never)))
            }
            (None, None) => Truth::Constant(true),
        }))
    }
}

/// Whether a number is within one of some ranges. `None`: there are no ranges.
fn within(number: &Word, ranges: &[(u64, u64)]) -> Option<Truth> {
    let words = |comparison, first, second| Truth::Words(comparison, Box::new((first, second)));
    let ranges = ranges.iter().map(|(low, high)| match low == high {
        true => words(Comparison::Equal, number.clone(), Word::Constant(*low)),
        false => {
            let order = Comparison::LessOrEqual(Sign::Unsigned);
            let above = words(order, Word::Constant(*low), number.clone());
            let below = words(order, number.clone(), Word::Constant(*high));
            Truth::And(Box::new((above, below)))
        }
    });
    ranges.reduce(|one, other| Truth::Or(Box::new((one, other))))
}
