//! Compares the memory of two processes that may be in the same state.

use super::signal_frames::is_the_kernels;
use crate::Address;
use dapple_arch::abi::RED_ZONE;
use dapple_target::process::Process;
use std::ops::Range;

/// How much memory is compared at a time, in bytes.
const BLOCK: u64 = 1 << 16;
/// The size of what is told to differ.
const PIECE: u64 = 4;

/// The address of 4 bytes of memory in which two processes differ that have the same mappings but for `arenas`; `None`: they don't. `sp`: the
/// stack pointer of a thread, below whose own bytes nothing counts. `first`: where to look first.
pub(super) fn first_difference(
    one: &dyn Process,
    other: &dyn Process,
    sp: u64,
    arenas: &[Range<Address>],
    first: Option<Address>,
) -> Option<Address> {
    if let Some(at) = first
        && let Some(found) = difference_in(one, other, at, PIECE)
    {
        return Some(found);
    }
    for mapping in one.mappings() {
        let start = Address(mapping.start);
        let is_arena = arenas.iter().any(|arena| arena.contains(&start));
        if !mapping.write || !mapping.read || is_arena {
            continue;
        }
        let is_stack = (mapping.start..mapping.end).contains(&sp);
        let mut at = match is_stack {
            true => (sp - RED_ZONE) & !(PIECE - 1),
            false => mapping.start,
        };
        while at < mapping.end {
            let size = BLOCK.min(mapping.end - at);
            if let Some(found) = difference_in(one, other, Address(at), size) {
                return Some(found);
            }
            at += size;
        }
    }
    None
}

/// The address of the first 4 bytes of a block of memory in which two processes differ.
fn difference_in(
    one: &dyn Process,
    other: &dyn Process,
    at: Address,
    size: u64,
) -> Option<Address> {
    let read = |process: &dyn Process| {
        let mut bytes = vec![0; size as usize];
        let length = process.read_some(at, &mut bytes);
        bytes.truncate(length);
        bytes
    };
    let (ours, theirs) = (read(one), read(other));
    if ours == theirs {
        return None;
    }
    let mut from = 0;
    while let Some(differs) = { ours.iter().zip(&theirs).skip(from) }
        .position(|(one, other)| one != other)
        .map(|same| from + same)
    {
        let found = at.offset((differs as u64 & !(PIECE - 1)).cast_signed());
        let begin = (found.0 - at.0) as usize;
        let piece = |bytes: &[u8]| bytes.get(begin..begin + PIECE as usize).map(<[u8]>::to_vec);
        if let (Some(one), Some(other)) = (piece(&ours), piece(&theirs))
            && is_of_processor(&one, &other)
        {
            from = begin + PIECE as usize;
            continue;
        }
        if !is_the_kernels(one, found) {
            return Some(found);
        }
        // The rest of the word.
        from = (found.0 & !7) as usize + 8 - at.0 as usize;
    }
    let length = ours.len().min(theirs.len()) as i64;
    (ours.len() != theirs.len()).then(|| at.offset(length))
}

/// Whether two words are what the instruction `cpuid` has said of two processors of one machine, which keeps no process from running on either: they differ
/// only in the processor's number. It is the highest byte of EBX for leaf 1; the others are the brand, the size of a cache line in units of
/// 8 bytes, and how many processors there are in the package (Intel's manual, volume 2A, CPUID).
fn is_of_processor(one: &[u8], other: &[u8]) -> bool {
    /// 64 bytes.
    const LINE: u8 = 8;
    match (one, other) {
        ([brand, line, count, _], other) => {
            other.starts_with(&[*brand, *line, *count]) && *line == LINE && *count != 0
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_the_processor_is_no_difference() {
        assert!(is_of_processor(&[0, 8, 2, 0], &[0, 8, 2, 1]));
        assert!(!is_of_processor(&[0, 8, 2, 0], &[0, 8, 1, 0]));
        assert!(!is_of_processor(&[1, 8, 2, 0], &[0, 8, 2, 0]));
        assert!(!is_of_processor(&[0, 4, 2, 0], &[0, 4, 2, 1]));
        assert!(!is_of_processor(&[0, 8, 0, 0], &[0, 8, 0, 1]));
    }
}
