//! Chooses one of two values.

use super::Machine;
use crate::eval::prepared::conditional::Conditional;
use crate::eval::run::arithmetic::in_common_type;
use crate::values::Number;

impl Machine<'_> {
    pub(super) fn conditional(&self, it: &Conditional) -> Option<Number> {
        let (taken, other) = match self.number(&it.condition)?.is_true() {
            true => (&it.yes, &it.no),
            false => (&it.no, &it.yes),
        };
        let number = self.number(taken)?;
        match self.number(other) {
            Some(other) => match in_common_type(self.language, number, other, 0) {
                Some(converted) => converted.ok(),
                None => Some(number),
            },
            // Only its type matters, and that is known.
            None => it.has_one_type.then_some(number),
        }
    }
}
