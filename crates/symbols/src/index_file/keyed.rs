//! A table of sorted keys, each with a list of postings.

use super::file::{IndexError, IndexFile};
use std::cmp::Ordering;

/// Four tables of an index file: the end of each key, the keys' bytes, the end of each key's postings, the postings'
/// bytes.
pub(crate) struct Keyed {
    first_table: usize,
    count: usize,
}

impl Keyed {
    pub const TABLES: usize = 4;

    pub fn new(file: &IndexFile, first_table: usize) -> Result<Keyed, IndexError> {
        let count = file.table_len(first_table) / 4;
        if file.table_len(first_table + 2) / 4 != count {
            return Err(file.wrong("it has not as many keys as lists".to_owned()));
        }
        Ok(Keyed { first_table, count })
    }

    pub fn len(&self) -> usize {
        self.count
    }

    pub fn key<'f>(&self, file: &'f IndexFile, index: usize) -> Result<&'f [u8], IndexError> {
        self.item(file, 0, index)
    }

    pub fn postings<'f>(&self, file: &'f IndexFile, index: usize) -> Result<&'f [u8], IndexError> {
        self.item(file, 2, index)
    }

    fn item<'f>(
        &self,
        file: &'f IndexFile,
        table: usize,
        index: usize,
    ) -> Result<&'f [u8], IndexError> {
        let ends = self.first_table + table;
        let from = index.saturating_sub(1) * 4;
        let bytes = file.table(ends, from..(index + 1) * 4)?;
        let number = |at: usize| {
            let bytes = bytes.get(at..).and_then(|bytes| bytes.first_chunk());
            u32::from_le_bytes(bytes.copied().unwrap_or_default()) as usize
        };
        let (start, end) = match index {
            0 => (0, number(0)),
            _ => (number(0), number(4)),
        };
        file.table(ends + 1, start..end)
    }

    /// The index of the first key for which `before` is false, or the number of keys. `before` must be true for all keys
    /// up to some key, and false from there on.
    pub fn partition_point(
        &self,
        file: &IndexFile,
        before: impl Fn(&[u8]) -> bool,
    ) -> Result<usize, IndexError> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            match before(self.key(file, middle)?) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        Ok(low)
    }

    /// The index of the first key for which `compare` returns `Equal`; `Ok(None)` if there is no such key. `compare`
    /// orders the key that it is given relative to the wanted key.
    pub fn find(
        &self,
        file: &IndexFile,
        compare: impl Fn(&[u8]) -> Ordering,
    ) -> Result<Option<usize>, IndexError> {
        let index = self.partition_point(file, |key| compare(key) == Ordering::Less)?;
        let found = index < self.count && compare(self.key(file, index)?) == Ordering::Equal;
        Ok(found.then_some(index))
    }
}

/// Writes the four tables.
#[derive(Default)]
pub(crate) struct KeyedWriter {
    tables: [Vec<u8>; Keyed::TABLES],
}

impl KeyedWriter {
    /// Adds a key, which must not sort before the keys added so far. `None` if a table gets larger than 4 GiB.
    pub fn add(&mut self, key: &[u8], postings: &[u8]) -> Option<()> {
        let [key_ends, keys, posting_ends, all] = &mut self.tables;
        keys.extend_from_slice(key);
        all.extend_from_slice(postings);
        key_ends.extend_from_slice(&u32::try_from(keys.len()).ok()?.to_le_bytes());
        posting_ends.extend_from_slice(&u32::try_from(all.len()).ok()?.to_le_bytes());
        Some(())
    }

    pub fn finish(self) -> [Vec<u8>; Keyed::TABLES] {
        self.tables
    }
}

/// Reads numbers that are encoded as DWARF's ULEB128: seven bits a byte, the lowest bits first.
pub(crate) struct Numbers<'b>(pub &'b [u8]);

impl Numbers<'_> {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next number; `None` at the end, or if the number is truncated or has more than 63 bits.
    pub fn next(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..63).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }
}

/// Writes a number in the encoding of [`Numbers`]; `number` has at most 63 bits.
pub(crate) fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_were_written() {
        let numbers = [0, 1, 127, 128, 300, 1 << 32, (1 << 63) - 1];
        let mut bytes = Vec::new();
        for number in numbers {
            put(&mut bytes, number);
        }
        let mut read = Numbers(&bytes);
        for number in numbers {
            assert_eq!(read.next(), Some(number));
        }
        assert!(read.is_empty());
        assert_eq!(read.next(), None);
        assert_eq!(Numbers(&[0x80; 20]).next(), None);
        assert_eq!(Numbers(&[0x80]).next(), None);
    }
}
