//! Tests the variant of an enum.

use super::Machine;
use crate::eval::prepared::variants::IsVariant;
use crate::values::Number;

impl Machine<'_> {
    pub(super) fn variant(&self, test: &IsVariant) -> Option<Number> {
        let mut bytes = [0; 8];
        let address = self.address(&test.discriminant)?;
        self.read(address, &mut bytes[..usize::from(test.size)])?;
        let number = u64::from_le_bytes(bytes);
        let has = |ranges: &[(u64, u64)]| {
            let mut ranges = ranges.iter();
            ranges.any(|(low, high)| (*low..=*high).contains(&number))
        };
        match (has(&test.this), has(&test.other)) {
            (true, _) => Some(Number::Bool(true)),
            (_, true) => Some(Number::Bool(false)),
            // A variant without discriminants has all others.
            _ if test.this.is_empty() => Some(Number::Bool(true)),
            _ if test.other.is_empty() => Some(Number::Bool(false)),
            _ => None,
        }
    }
}
