//! Where a value's bytes have to be written to change it: the inverse of reading its contents.
//!
//! Nothing is written here. The result is a list of [`Change`]s for the caller that can write to the debuggee.

use super::contents::extract_bits;
use super::{Contents, Reader, Value};
use crate::Address;
use dapple_symbols::location::{Place, Unavailable};

/// Something to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Bytes in memory.
    Memory {
        /// The address.
        address: Address,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// Bits of a register, in the physical frame at a level.
    Register {
        /// DWARF's register number.
        number: u16,
        /// 0 is the innermost frame.
        level: usize,
        /// The position of the lowest bit.
        skip: u64,
        /// The number of bits.
        count: u64,
        /// The bits.
        value: u128,
    },
}

impl Reader<'_> {
    /// The changes that give a value these bytes.
    ///
    /// # Errors
    /// Why the value can't be changed, as the end of a sentence about it.
    pub(crate) fn changes(&self, value: &Value, bytes: &[u8]) -> Result<Vec<Change>, String> {
        match &value.bits {
            Some(bits) => self.changes_of(&bits.storage, bits.skip, bits.count, bytes),
            None => self.changes_of(&value.contents, 0, bytes.len() as u64 * 8, bytes),
        }
    }

    /// As [`Reader::changes`], but changes only `count` bits of `contents`, from the bit `skip` on. `bytes`
    /// begins with these bits.
    fn changes_of(
        &self,
        contents: &Contents,
        skip: u64,
        count: u64,
        bytes: &[u8],
    ) -> Result<Vec<Change>, String> {
        let (pieces, frame) = match contents {
            Contents::Memory(address) => {
                return Ok(vec![self.in_memory(*address, skip, count, bytes, 0)?]);
            }
            Contents::Pieces(pieces, frame) => (pieces, frame),
            Contents::Bytes(_) | Contents::Number(_) | Contents::Made(_) => {
                return Err("is computed, it has no place in the program".to_owned());
            }
            Contents::Unavailable(reason) => return Err(self.why_not(reason)),
        };
        let mut changes = Vec::new();
        let (mut begin, end) = (0u64, skip.saturating_add(count));
        for piece in pieces.iter() {
            let length = piece.bits.unwrap_or(u64::MAX - begin);
            let (from, to) = (begin.max(skip), (begin + length).min(end));
            if from < to {
                let (inside, count, done) = (from - begin, to - from, from - skip);
                changes.push(match &piece.place {
                    Place::Memory(address) => {
                        self.in_memory(Address(*address), inside, count, bytes, done)?
                    }
                    Place::Register {
                        register,
                        bit_offset,
                    } => Change::Register {
                        number: *register,
                        level: frame.level,
                        skip: bit_offset.saturating_add(inside),
                        count,
                        value: extract_bits(bytes, done, count),
                    },
                    Place::Bytes(_) => {
                        return Err("is a value that the compiler computes here, it has no place in the program".to_owned());
                    }
                    Place::ImplicitPointer { .. } => {
                        return Err("has been optimised away, it has no place in the program".to_owned());
                    }
                    Place::Unavailable(reason) => return Err(self.why_not(reason)),
                });
            }
            begin = begin.saturating_add(length);
        }
        if begin < end {
            return Err(self.why_not(&Unavailable::OptimizedOut));
        }
        Ok(changes)
    }

    fn why_not(&self, reason: &Unavailable) -> String {
        let reason = self.reason(reason);
        format!("can't be set: {}", reason.trim_matches(['<', '>']))
    }

    /// The change that takes `count` bits of `bytes`, from the bit `done` on, and writes them to memory, from
    /// the bit `skip` after `address` on.
    fn in_memory(
        &self,
        address: Address,
        skip: u64,
        count: u64,
        bytes: &[u8],
        done: u64,
    ) -> Result<Change, String> {
        let address = Address(address.0.wrapping_add(skip / 8));
        let skip = skip % 8;
        let whole = |bits: u64| bits.is_multiple_of(8);
        if whole(skip) && whole(count) && whole(done) {
            let from = (done / 8) as usize;
            let part = bytes.get(from..from.saturating_add((count / 8) as usize));
            return Ok(Change::Memory {
                address,
                bytes: part.unwrap_or_default().to_vec(),
            });
        }
        let mut there = vec![0; (skip + count).div_ceil(8) as usize];
        self.memory
            .read(address, &mut there)
            .map_err(|at| self.why_not(&Unavailable::Unreadable(at.0)))?;
        for bit in 0..count {
            let set = extract_bits(bytes, done + bit, 1) as u8;
            let to = skip + bit;
            let byte = &mut there[(to / 8) as usize];
            *byte = *byte & !(1 << (to % 8)) | set << (to % 8);
        }
        Ok(Change::Memory {
            address,
            bytes: there,
        })
    }
}
