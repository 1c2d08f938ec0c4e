//! Reads texts, with the checks that the display of values makes: a text in an invalid state can't be compared.

use super::{BLOCK, Machine};
use crate::eval::prepared::texts::{Capacity, Comparison, Counted, MOST_TEXT, Text};
use crate::values::Number;

impl Machine<'_> {
    pub(super) fn text_comparison(&self, comparison: &Comparison) -> Option<Number> {
        let bytes = match &comparison.text {
            Text::Counted(counted) => self.counted(counted)?,
            Text::ZeroEnded(pointer) => match self.number(pointer)? {
                Number::Pointer {
                    address: address @ 1..,
                    ..
                } => self.zero_ended(address)?,
                _ => return None,
            },
            Text::Array(place, count) => {
                let mut bytes = vec![0; usize::try_from(*count).ok()?];
                self.read(self.address(place)?, &mut bytes)?;
                let end = bytes.iter().position(|byte| *byte == 0);
                bytes.truncate(end.unwrap_or(bytes.len()));
                bytes
            }
        };
        let equal = bytes == *comparison.literal;
        Some(Number::Bool(equal == comparison.equal))
    }

    pub(super) fn word(&self, address: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.read(address, &mut bytes)?;
        Some(u64::from_le_bytes(bytes))
    }

    pub(super) fn counted(&self, counted: &Counted) -> Option<Vec<u8>> {
        let object = self.address(&counted.object)?;
        let word = |offset| self.word(object.wrapping_add(offset));
        let first = match counted.capacity {
            Capacity::FirstBit => word(0)?,
            _ => 1,
        };
        let (data, length) = match first & 1 {
            0 => (object.wrapping_add(1), (first & 0xff) >> 1),
            _ => (word(counted.data)?, word(counted.length)?),
        };
        let capacity = match counted.capacity {
            Capacity::None => u64::MAX,
            Capacity::At(offset) => {
                let capacity = word(offset)?;
                let is_valid = data != 0 && i64::try_from(capacity).is_ok();
                is_valid.then_some(capacity)?
            }
            Capacity::Local { local, .. } if data == object.wrapping_add(local) => 15,
            Capacity::Local { elsewhere, .. } => word(elsewhere)?,
            Capacity::FirstBit if first & 1 == 0 => 22,
            Capacity::FirstBit => first - 1,
        };
        if length > capacity || length > MOST_TEXT {
            return None;
        }
        let end = data.checked_add(length)?;
        if let Capacity::Local { .. } | Capacity::FirstBit = counted.capacity {
            let mut zero = [1];
            self.read(end, &mut zero)?;
            if zero != [0] {
                return None;
            }
        }
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        if length > 0 {
            self.read(data, &mut bytes)?;
        }
        Some(bytes)
    }

    /// The bytes up to the first zero.
    fn zero_ended(&self, address: u64) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut at = address;
        while bytes.len() as u64 <= MOST_TEXT {
            let length = (BLOCK - at % BLOCK) as usize;
            let mut block = [0; BLOCK as usize];
            let block = &mut block[..length];
            self.read(at, block)?;
            if let Some(end) = block.iter().position(|byte| *byte == 0) {
                bytes.extend(&block[..end]);
                return (bytes.len() as u64 <= MOST_TEXT).then_some(bytes);
            }
            bytes.extend(&*block);
            at = at.checked_add(length as u64)?;
        }
        None
    }
}
