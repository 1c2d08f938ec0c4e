//! A set of numbers, most of which follow one another.

use std::collections::BTreeMap;

/// A set of numbers that takes space for each of its ranges, not for each number.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    /// The last number of each range, by its first. No range begins right after another one.
    ranges: BTreeMap<i64, i64>,
}

impl Numbers {
    pub(crate) fn contains(&self, number: i64) -> bool {
        let before = self.ranges.range(..=number).next_back();
        before.is_some_and(|(_, &last)| number <= last)
    }

    pub(crate) fn insert(&mut self, number: i64) {
        if self.contains(number) {
            return;
        }
        let before = self.ranges.range(..number).next_back();
        let first = before
            .filter(|&(_, &last)| last.checked_add(1) == Some(number))
            .map_or(number, |(&first, _)| first);
        let after = number.checked_add(1);
        let last = after.and_then(|after| self.ranges.remove(&after));
        self.ranges.insert(first, last.unwrap_or(number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_follow_one_another_are_one_range() {
        let mut numbers = Numbers::default();
        for number in [1, 2, 5, 4, 2, 9, i64::MAX, i64::MIN] {
            numbers.insert(number);
        }
        let ranges = |numbers: &Numbers| numbers.ranges.clone().into_iter().collect::<Vec<_>>();
        let ends = [(i64::MIN, i64::MIN), (i64::MAX, i64::MAX)];
        assert_eq!(ranges(&numbers), [ends[0], (1, 2), (4, 5), (9, 9), ends[1]]);
        for number in [1, 2, 4, 5, 9, i64::MAX, i64::MIN] {
            assert!(numbers.contains(number), "{number}");
        }
        for number in [0, 3, 6, 8, 10] {
            assert!(!numbers.contains(number), "{number}");
        }
        numbers.insert(3);
        assert_eq!(ranges(&numbers), [ends[0], (1, 5), (9, 9), ends[1]]);
    }
}
