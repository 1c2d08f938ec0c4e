//! Reference numbers.
//!
//! [`References`] hands out the integers by which a client names frames, variables and the like. One table never uses a number for two
//! things, so a stale number never names something else and is distinguished from an unknown one.

use std::collections::HashMap;
use std::ops::RangeInclusive;

/// Why a reference names nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// The reference named a thing until the debuggee was resumed or the thing was removed.
    #[error("reference {0} is stale: the debuggee ran since it was given out")]
    Stale(i64),
    /// The reference was never assigned.
    #[error("there is no reference {0}")]
    Unknown(i64),
}

/// A table of things that a client names by number, such as frames and variables.
///
/// Numbers are greater than 0, at most `i32::MAX`, and ascend. A number is never assigned to two things, so a stale number never
/// names something else and is distinguished from an unknown one.
///
/// ```
/// use dapple_dap::server::{ReferenceError, References};
///
/// let mut frames = References::new();
/// let main = frames.insert("main")?;
/// assert_eq!(frames.get(main), Ok(&"main"));
/// frames.clear_generation();
/// assert_eq!(frames.get(main), Err(ReferenceError::Stale(main)));
/// assert_eq!(frames.get(77), Err(ReferenceError::Unknown(77)));
/// # Ok::<(), dapple_dap::server::Exhausted>(())
/// ```
#[derive(Debug, Clone)]
pub struct References<T> {
    /// Things that [`Self::clear_generation`] drops: those of the present stop.
    current: HashMap<i64, T>,
    /// Things that outlive a resume.
    lasting: HashMap<i64, T>,
    /// The number that was assigned last.
    last: i64,
    numbers: RangeInclusive<i64>,
}

/// All numbers of a table are used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("all references of this session are used up; start a new session")]
pub struct Exhausted;

impl<T> Default for References<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> References<T> {
    /// An empty table.
    pub fn new() -> Self {
        Self::within(1..=i64::from(i32::MAX))
    }

    /// An empty table that assigns only these numbers, as far as they are from 1 to `i32::MAX`. For several tables whose numbers a
    /// client gets as the same kind of reference.
    pub fn within(numbers: RangeInclusive<i64>) -> Self {
        let first = *numbers.start().max(&1);
        let numbers = first..=*numbers.end().min(&i32::MAX.into());
        Self {
            current: HashMap::new(),
            lasting: HashMap::new(),
            last: first - 1,
            numbers,
        }
    }

    /// Whether a number is in this table's range, assigned or not.
    pub fn has_number(&self, reference: i64) -> bool {
        self.numbers.contains(&reference)
    }

    /// Removes a thing; its number becomes stale.
    pub fn remove(&mut self, reference: i64) -> Option<T> {
        let current = self.current.remove(&reference);
        current.or_else(|| self.lasting.remove(&reference))
    }

    /// Adds a thing that lives until [`clear_generation`](Self::clear_generation).
    ///
    /// # Errors
    /// No number is left.
    pub fn insert(&mut self, thing: T) -> Result<i64, Exhausted> {
        let reference = self.next()?;
        self.current.insert(reference, thing);
        Ok(reference)
    }

    /// Adds a thing that lives until it is [removed](Self::remove).
    ///
    /// # Errors
    /// No number is left.
    pub fn insert_lasting(&mut self, thing: T) -> Result<i64, Exhausted> {
        let reference = self.next()?;
        self.lasting.insert(reference, thing);
        Ok(reference)
    }

    /// The reference of a thing equal to `wanted` that was [inserted](Self::insert) during this stop; the lowest if there are several.
    /// Lasting things are not searched.
    pub fn find(&self, wanted: &T) -> Option<i64>
    where
        T: PartialEq,
    {
        let same = self.current.iter().filter(|(_, thing)| *thing == wanted);
        same.map(|(reference, _)| *reference).min()
    }

    /// The thing that a reference names.
    ///
    /// # Errors
    /// The reference is stale or unknown.
    pub fn get(&self, reference: i64) -> Result<&T, ReferenceError> {
        self.current
            .get(&reference)
            .or_else(|| self.lasting.get(&reference))
            .ok_or_else(|| self.missing(reference))
    }

    /// As [`get`](Self::get), to change the thing.
    ///
    /// # Errors
    /// The reference is stale or unknown.
    pub fn get_mut(&mut self, reference: i64) -> Result<&mut T, ReferenceError> {
        let missing = self.missing(reference);
        self.current
            .get_mut(&reference)
            .or_else(|| self.lasting.get_mut(&reference))
            .ok_or(missing)
    }

    /// Drops all things but the lasting ones. Call it when the debuggee is resumed.
    pub fn clear_generation(&mut self) {
        self.current.clear();
    }

    /// How many references name something.
    pub fn len(&self) -> usize {
        self.current.len() + self.lasting.len()
    }

    /// True if no reference names anything.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn missing(&self, reference: i64) -> ReferenceError {
        if (*self.numbers.start()..=self.last).contains(&reference) {
            ReferenceError::Stale(reference)
        } else {
            ReferenceError::Unknown(reference)
        }
    }

    fn next(&mut self) -> Result<i64, Exhausted> {
        if self.last >= *self.numbers.end() {
            return Err(Exhausted);
        }
        self.last += 1;
        Ok(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lasting_reference_survives_a_resume_and_numbers_are_not_used_again() {
        let mut table = References::new();
        let [passing, lasting] =
            [table.insert("a"), table.insert_lasting("b")].map(|result| result.expect("room"));
        table.clear_generation();
        assert_eq!(table.get(lasting), Ok(&"b"));
        assert_eq!(table.get_mut(passing), Err(ReferenceError::Stale(passing)));
        assert!(table.insert("c").expect("room") > lasting);
        for unknown in [0, -1, 99, i64::MAX, i64::MIN] {
            assert_eq!(table.get(unknown), Err(ReferenceError::Unknown(unknown)));
        }
    }

    #[test]
    fn a_thing_of_this_stop_is_found_again_and_one_of_the_last_is_not() {
        let mut table = References::new();
        let first = table.insert("a").expect("room");
        table.insert("a").expect("room");
        assert_eq!(table.find(&"a"), Some(first));
        assert_eq!(table.find(&"b"), None);
        table.clear_generation();
        assert_eq!(table.find(&"a"), None);
    }

    #[test]
    fn tables_share_numbers_and_forget_what_is_taken_out() {
        let mut table = References::within(10..=11);
        let first = table.insert_lasting("a").expect("room");
        assert_eq!(
            (first, table.has_number(11), table.has_number(9)),
            (10, true, false)
        );
        assert_eq!(table.remove(first), Some("a"));
        assert_eq!(table.get(first), Err(ReferenceError::Stale(first)));
        assert_eq!(table.get(9), Err(ReferenceError::Unknown(9)));
        assert_eq!(table.insert("b"), Ok(11));
        assert_eq!(table.insert("c"), Err(Exhausted));
    }

    #[test]
    fn references_end_at_the_largest_number_clients_take() {
        let mut table = References {
            last: i64::from(i32::MAX) - 1,
            ..References::new()
        };
        assert_eq!(table.insert(()), Ok(i64::from(i32::MAX)));
        assert_eq!(table.insert(()), Err(Exhausted));
        assert_eq!(table.insert_lasting(()), Err(Exhausted));
    }
}
