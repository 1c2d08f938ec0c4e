//! Call frame information of 32-bit Arm: the sections `.ARM.exidx` and `.ARM.extab` (*Exception Handling ABI for the Arm
//! Architecture*, EHABI32).
//!
//! `.ARM.exidx` is the index: pairs of words sorted by function. The first word of a pair refers to the function's code;
//! the second has the function's entry, or refers to the entry in `.ARM.extab`. An entry describes the frame after the
//! prologue, so its rules hold where the function calls another or raises an exception, not in a prologue or an epilogue.
//!
//! This module doesn't decode language-specific data; it only says where the data is.

mod instructions;
#[cfg(test)]
mod tests;

use crate::FileAddress;
use crate::cfi::{CfaRule, RegisterRule, UnwindRules};
use instructions::{LINK, Rules, STACK_POINTER};
use std::ops::Range;
use std::slice;

/// The second word of an index pair whose function can't be unwound.
const CANNOT_UNWIND: u32 = 1;

/// A word of the tables, as in the file.
type Word = [u8; 4];

/// Bytes of a file, and the address of the first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Section<'a> {
    pub address: u64,
    pub bytes: &'a [u8],
}

/// The exception tables of a little-endian Arm file.
pub(crate) struct ExceptionTables<'a> {
    index_address: u64,
    index: &'a [[Word; 2]],
    table: Section<'a>,
    end: u64,
}

/// What the tables say of the code in a range.
struct Entry<'a> {
    range: Range<u64>,
    unwinding: Unwinding<'a>,
}

/// How to unwind a frame.
enum Unwinding<'a> {
    /// No exception passes the frame: the code throws nothing, has no tables, or is where a thread starts.
    Impossible,
    /// With instructions.
    Instructions {
        /// The words that have the instructions, from the most significant byte to the least significant one.
        words: &'a [Word],
        /// How many of the first bytes are not instructions.
        skipped: usize,
        /// The address of the language-specific data.
        language_data: Option<u64>,
    },
}

impl<'a> ExceptionTables<'a> {
    /// `index` is `.ARM.exidx`. `table` is `.ARM.extab`, or any part of the file that contains it, such as its segment.
    /// `end` is the end of the code that the last pair of the index is for.
    pub fn new(index: Section<'a>, table: Section<'a>, end: u64) -> ExceptionTables<'a> {
        let (words, _) = index.bytes.as_chunks();
        let (pairs, _) = words.as_chunks();
        ExceptionTables {
            index_address: index.address,
            index: pairs,
            table,
            end,
        }
    }

    /// The code that has the same entry as `address`: usually one function. Linkers give neighbours with equal
    /// instructions one entry, and one to a stretch of functions without unwinding tables.
    pub fn function_at(&self, address: u64) -> Option<Range<u64>> {
        Some(self.locate(address)?.1)
    }

    /// The rules for the frame of the function at `address`, for where it calls another. `None` without an entry, or if
    /// its instructions are malformed or can't be expressed as rules.
    ///
    /// The frame of a function that can't be unwound is an outermost one. That is seldom the truth: GCC marks C++ functions
    /// that throw nothing in this way, and the linker marks code without tables, as that of C. Trust other rules first.
    pub fn rules_at(&self, address: u64) -> Option<UnwindRules> {
        let entry = self.entry_at(address)?;
        let rules = match entry.unwinding {
            Unwinding::Impossible => Rules {
                cfa: CfaRule::RegisterOffset(STACK_POINTER, 0),
                registers: vec![(LINK, RegisterRule::Undefined)],
                return_address: LINK,
                signal_frame: false,
            },
            Unwinding::Instructions { words, skipped, .. } => {
                let bytes = words.iter().flat_map(|word| word.iter().rev());
                instructions::rules(bytes.copied().skip(skipped))?
            }
        };
        Some(UnwindRules {
            range: FileAddress(entry.range.start)..FileAddress(entry.range.end),
            cfa: rules.cfa,
            registers: rules.registers,
            return_address: rules.return_address,
            only_at_calls: true,
            signal_frame: rules.signal_frame,
        })
    }

    /// The code of the function at `address`, and the address of its language-specific data. Only functions with a
    /// personality routine of their language have such data.
    pub fn language_data_at(&self, address: u64) -> Option<(Range<u64>, u64)> {
        let entry = self.entry_at(address)?;
        match entry.unwinding {
            Unwinding::Instructions { language_data, .. } => Some((entry.range, language_data?)),
            Unwinding::Impossible => None,
        }
    }

    /// The position in the index of the pair for `address`, and the range of code that the pair is for.
    fn locate(&self, address: u64) -> Option<(usize, Range<u64>)> {
        let position = self.count_to(address).checked_sub(1)?;
        let end = self.start(position + 1).unwrap_or(self.end);
        let range = self.start(position)?..end;
        // Only an index that isn't sorted has the address elsewhere.
        range.contains(&address).then_some((position, range))
    }

    /// How many functions start at or before `address`.
    fn count_to(&self, address: u64) -> usize {
        let mut range = 0..self.index.len();
        while !range.is_empty() {
            let middle = range.start + range.len() / 2;
            match self.start(middle) {
                Some(start) if start <= address => range.start = middle + 1,
                _ => range.end = middle,
            }
        }
        range.start
    }

    /// The address of the first instruction of the code that a pair is for.
    fn start(&self, position: usize) -> Option<u64> {
        let [start, _] = self.index.get(position)?;
        // Bit 0 of a function's address only says that it has Thumb instructions.
        Some(resolve(self.pair_address(position), *start) & !1)
    }

    fn pair_address(&self, position: usize) -> u64 {
        self.index_address
            .wrapping_add((position as u64).wrapping_mul(8))
    }

    fn entry_at(&self, address: u64) -> Option<Entry<'a>> {
        let (position, range) = self.locate(address)?;
        let [_, content] = self.index.get(position)?;
        let unwinding = match u32::from_le_bytes(*content) {
            CANNOT_UNWIND => Unwinding::Impossible,
            entry if is_compact(entry) => compact(slice::from_ref(content))?,
            _ => {
                let place = self.pair_address(position).wrapping_add(4);
                self.table_entry(resolve(place, *content))?
            }
        };
        Some(Entry { range, unwinding })
    }

    /// The entry at an address of `.ARM.extab`.
    fn table_entry(&self, address: u64) -> Option<Unwinding<'a>> {
        let offset = usize::try_from(address.checked_sub(self.table.address)?).ok()?;
        let (words, _) = self.table.bytes.get(offset..)?.as_chunks();
        let [first, rest @ ..] = words else {
            return None;
        };
        if is_compact(u32::from_le_bytes(*first)) {
            return compact(words);
        }
        // The first word refers to a personality routine. What follows is the routine's affair; those of GCC, LLVM and
        // Rust all expect a count of words, the instructions, and the language-specific data.
        let &[.., count] = rest.first()?;
        let words = rest.get(..1 + usize::from(count))?;
        let size = size_of_val(first) + size_of_val(words);
        Some(Unwinding::Instructions {
            words,
            skipped: 1,
            language_data: Some(address.wrapping_add(size as u64)),
        })
    }
}

/// Whether an entry that starts with this word is for one of the personality routines of the ABI.
fn is_compact(word: u32) -> bool {
    word >> 31 == 1
}

/// An entry for a personality routine of the ABI. Their number is in the first byte.
fn compact(words: &[Word]) -> Option<Unwinding<'_>> {
    let (count, skipped) = match *words.first()? {
        [.., 0x80] => (0, 1),
        [.., count, 0x81 | 0x82] => (count, 2),
        _ => return None,
    };
    Some(Unwinding::Instructions {
        words: words.get(..1 + usize::from(count))?,
        skipped,
        language_data: None,
    })
}

/// The address that a word at `place` refers to: a distance of 31 bits (`R_ARM_PREL31`).
fn resolve(place: u64, word: Word) -> u64 {
    let distance = i32::from_le_bytes(word) << 1 >> 1;
    place.wrapping_add_signed(i64::from(distance)) & u64::from(u32::MAX)
}
