//! Reads lengths, with the checks that the display of values makes.

use super::Machine;
use crate::eval::prepared::lengths::{Between, Entries, MOST_ENTRIES, Measured};
use crate::eval::prepared::texts::{Capacity, Counted};
use crate::values::Number;

/// The largest object in bytes.
const MOST_BYTES: u64 = i64::MAX as u64;

impl Machine<'_> {
    pub(super) fn length(&self, measured: &Measured) -> Option<Number> {
        let length = match measured {
            Measured::Text(counted) => self.counted(counted)?.len() as u64,
            Measured::Elements(counted, size) => self.elements(counted, *size)?,
            Measured::Viewed(counted, size) => self.viewed(counted, *size)?,
            Measured::Between(between) => self.between(between)?,
            Measured::Entries(entries) => self.entries(entries)?,
        };
        Some(Number::integer(length.into(), 8, false))
    }

    /// Whether the first and the last of some bytes can be read.
    fn can_read(&self, address: u64, bytes: u64) -> Option<()> {
        let Some(last) = bytes.checked_sub(1) else {
            return Some(());
        };
        self.read(address, &mut [0])?;
        self.read(address.checked_add(last)?, &mut [0])
    }

    fn elements(&self, counted: &Counted, size: u64) -> Option<u64> {
        let object = self.address(&counted.object)?;
        let word = |offset| self.word(object.wrapping_add(offset));
        let (data, length) = (word(counted.data)?, word(counted.length)?);
        let capacity = match counted.capacity {
            Capacity::At(offset) => word(offset)?,
            _ => length,
        };
        if size == 0 {
            return (length <= MOST_BYTES).then_some(length);
        }
        let bytes = capacity.checked_mul(size)?;
        if length > capacity || bytes > MOST_BYTES || data == 0 {
            return None;
        }
        self.can_read(data, length.saturating_mul(size))?;
        Some(length)
    }

    fn viewed(&self, counted: &Counted, size: u64) -> Option<u64> {
        let object = self.address(&counted.object)?;
        let word = |offset| self.word(object.wrapping_add(offset));
        let (data, length) = (word(counted.data)?, word(counted.length)?);
        let bytes = length.checked_mul(size)?;
        if bytes > MOST_BYTES {
            return None;
        }
        self.can_read(data, bytes)?;
        Some(length)
    }

    fn entries(&self, entries: &Entries) -> Option<u64> {
        let object = self.address(&entries.object)?;
        let word = |offset| self.word(object.wrapping_add(offset));
        let count = word(entries.count)?;
        if let Some(mask) = entries.mask {
            let mask = word(mask)?;
            if mask & mask.wrapping_add(1) != 0 || count > mask {
                return None;
            }
        }
        if count == 0 {
            return Some(0);
        }
        let first = word(entries.first)?;
        if count > MOST_ENTRIES || first == 0 {
            return None;
        }
        self.word(first)?;
        Some(count)
    }

    fn between(&self, between: &Between) -> Option<u64> {
        let object = self.address(&between.object)?;
        let word = |offset| self.word(object.wrapping_add(offset));
        let (start, end, room) = (
            word(between.start)?,
            word(between.end)?,
            word(between.room)?,
        );
        let bytes = end.checked_sub(start)?;
        if end > room || room - start > MOST_BYTES || !bytes.is_multiple_of(between.size) {
            return None;
        }
        self.can_read(start, bytes)?;
        Some(bytes / between.size)
    }
}
