//! What a signal's frame has that isn't the program's own: it may be different when the program runs again.
//!
//! The frame tells of the thread's last exception, which may be one that a debugger has caused. And it has the floating-point and vector
//! registers, of which the kernel writes only those that the processor knows to be in use: whether it does, depends on when the thread was
//! last interrupted. What was there before stays otherwise.

use crate::Address;
use crate::memory::Memory;
use std::ops::Range;

/// Where a signal's frame has the instruction pointer, from the beginning of `ucontext_t`.
pub const SAVED_PC: u64 = 0xa8;
/// The size of the part of `ucontext_t` up to and with the segment registers.
pub const UP_TO_SEGMENTS: usize = 0xc0;

/// Where a signal's frame has words about the thread's last exception: its error code, its number, and the address of a page fault. From the
/// beginning of `ucontext_t`.
const OF_LAST_EXCEPTION: [u64; 3] = [0xc0, 0xc8, 0xd8];

/// Where a signal's frame has the address of the floating-point and vector registers, from the beginning of `ucontext_t`.
const OF_VECTORS: u64 = 0xe0;
/// How these are aligned.
const VECTORS_ALIGNMENT: u64 = 64;
/// How far above the beginning of `ucontext_t` the kernel puts them: behind that and `siginfo_t`, aligned (`get_sigframe` in the kernel).
const VECTORS_ABOVE: u64 = 448;
/// The most that a processor's registers take (AMX has the largest, 8 KiB).
const MOST_VECTORS: u64 = 12 << 10;
/// Memory is read in blocks of this size: either all of one can be read or none.
const BLOCK: u64 = 4096;

/// Whether the 4 bytes at an address are of that kind.
pub fn is_the_kernels(memory: &dyn Memory, at: Address) -> bool {
    let is_of_last_exception = { OF_LAST_EXCEPTION.iter() }.any(|offset| {
        let mut context = [0; UP_TO_SEGMENTS];
        let start = Address((at.0 & !7).wrapping_sub(*offset));
        memory.read(start, &mut context).is_ok() && is_signal_frame(&context)
    });
    is_of_last_exception || vectors_at(memory, at).is_some()
}

/// The floating-point and vector registers in a signal's frame that have a byte at `at`.
pub fn vectors_at(memory: &dyn Memory, at: Address) -> Option<Range<Address>> {
    let last = at.0 & !(VECTORS_ALIGNMENT - 1);
    let lowest = last.saturating_sub(MOST_VECTORS + VECTORS_ABOVE);
    let (below, bytes) = read_from(memory, lowest, last.saturating_add(512))?;
    let word = |at: u64| {
        let at = usize::try_from(at.checked_sub(below)?).ok()?;
        Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
    };
    let mut starts = (last.saturating_sub(MOST_VECTORS)..=last)
        .rev()
        .step_by(VECTORS_ALIGNMENT as usize);
    starts.find_map(|start| {
        let context = start.checked_sub(VECTORS_ABOVE)?;
        (word(context.checked_add(OF_VECTORS)?)? == start).then_some(())?;
        let part = |at: u64| bytes.get(usize::try_from(at.checked_sub(below)?).ok()?..);
        is_signal_frame(part(context)?.first_chunk()?).then_some(())?;
        let end = start.checked_add(size_of_vectors(part(start)?.first_chunk()?))?;
        (at.0 < end).then_some(Address(start)..Address(end))
    })
}

/// As much memory before `end` as can be read without a gap, but nothing before `lowest`. Returns where it begins.
fn read_from(memory: &dyn Memory, lowest: u64, end: u64) -> Option<(u64, Vec<u8>)> {
    let mut all = Vec::new();
    let mut before = end;
    while before > lowest {
        let start = ((before - 1) & !(BLOCK - 1)).max(lowest);
        let mut block = vec![0; (before - start) as usize];
        let count = memory.read_some(Address(start), &mut block);
        // Behind its readable part, only the last block may have some that can't be read.
        let is_last = all.is_empty() && count > 0;
        if count < block.len() && !is_last {
            break;
        }
        block.truncate(count);
        block.append(&mut all);
        all = block;
        before = start;
    }
    (!all.is_empty()).then_some((before, all))
}

/// The parts of a piece of memory that are the same when the program runs again: all but vector registers in a signal's frame, and what
/// [`without_last_exceptions`] leaves out. `at`: where it is. It is no larger than a frame's vector registers.
pub fn without_the_kernels(
    memory: &dyn Memory,
    at: Address,
    bytes: &[u8],
) -> Vec<(Address, Box<[u8]>)> {
    let length = bytes.len();
    let last = at.offset(length.saturating_sub(1) as i64);
    let vectors = vectors_at(memory, at).or_else(|| vectors_at(memory, last));
    let offset = |place: Address| (place.0.saturating_sub(at.0) as usize).min(length);
    let left_out = vectors.map_or(length..length, |it| offset(it.start)..offset(it.end));
    let behind = at.offset(left_out.end as i64);
    let mut parts = without_last_exceptions(at, &bytes[..left_out.start]);
    parts.extend(without_last_exceptions(behind, &bytes[left_out.end..]));
    parts
}

/// The parts of a piece of a stack that are the same when the program runs again: all but the words about last exceptions in signals' frames that
/// begin within it. `at`: where it is.
pub fn without_last_exceptions(at: Address, bytes: &[u8]) -> Vec<(Address, Box<[u8]>)> {
    const WORD: usize = 8;
    let first = (at.0.wrapping_neg() % WORD as u64) as usize;
    let contexts = (first..bytes.len()).step_by(WORD).filter(|offset| {
        let context = bytes[*offset..].first_chunk();
        context.is_some_and(is_signal_frame)
    });
    let mut words: Vec<usize> = contexts
        .flat_map(|offset| OF_LAST_EXCEPTION.map(|word| offset + word as usize))
        .collect();
    words.sort_unstable();
    let (mut parts, mut from) = (Vec::new(), 0);
    for word in words.into_iter().chain([bytes.len()]) {
        let end = word.min(bytes.len());
        if from < end {
            parts.push((at.offset(from as i64), bytes[from..end].into()));
        }
        from = from.max(end + WORD);
    }
    parts
}

/// Whether this is the beginning of a `ucontext_t` as the kernel makes it for a signal handler.
pub fn is_signal_frame(context: &[u8; UP_TO_SEGMENTS]) -> bool {
    const SEGMENTS: usize = 0xb8;
    /// The code segment of 64-bit programs.
    const CODE_SEGMENT: u64 = 0x33;
    /// All that may be in `uc_flags` (asm/ucontext.h).
    const FLAGS: u64 = 7;
    let word = |at: usize| {
        context[at..]
            .first_chunk()
            .map_or(0, |bytes| u64::from_le_bytes(*bytes))
    };
    let (flags, link) = (word(0), word(8));
    flags <= FLAGS && link == 0 && word(SEGMENTS) & 0xffff == CODE_SEGMENT
}

/// How many bytes the floating-point and vector registers take in a signal's frame, given their first 512 bytes (`struct _fpx_sw_bytes`,
/// asm/sigcontext.h).
fn size_of_vectors(area: &[u8; 512]) -> u64 {
    const MAGIC: u32 = 0x4650_5853;
    let word = |at: usize| {
        area[at..]
            .first_chunk()
            .map_or(0, |bytes| u32::from_le_bytes(*bytes))
    };
    match word(464) {
        MAGIC => word(468).into(),
        _ => 512,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_about_last_exceptions_are_left_out_of_a_stack() {
        let mut stack = vec![0x11_u8; 448];
        // Behind a return address and what the handler has kept.
        let context = 44;
        stack[context..context + 16].fill(0);
        stack[context + 0xb8..context + 0xc0].copy_from_slice(&0x33_u64.to_le_bytes());
        let at = Address(0x1004);
        let parts = without_last_exceptions(at, &stack);
        let ranges: Vec<_> = parts
            .iter()
            .map(|(start, bytes)| (start.0 - at.0, bytes.len()))
            .collect();
        let (error, number, address) = (context + 0xc0, context + 0xc8, context + 0xd8);
        assert_eq!(number, error + 8);
        let between = ((number + 8) as u64, address - number - 8);
        let rest = ((address + 8) as u64, 448 - address - 8);
        assert_eq!(ranges, [(0, error), between, rest]);
        let none = without_last_exceptions(at, &[0x11; 448]);
        assert_eq!(none.len(), 1);
        assert_eq!(without_last_exceptions(at, &[]), []);
    }

    /// Memory from an address on.
    struct From(u64, Vec<u8>);

    impl Memory for From {
        fn read(&self, address: Address, buffer: &mut [u8]) -> Result<(), Address> {
            let start = address.0.checked_sub(self.0).ok_or(address)? as usize;
            let end = Address(self.0 + self.1.len() as u64);
            let bytes = self.1.get(start..start + buffer.len()).ok_or(end)?;
            buffer.copy_from_slice(bytes);
            Ok(())
        }
    }

    #[test]
    fn vector_registers_in_a_frame_are_left_out_wherever_memory_begins() {
        const SIZE: u32 = 2696;
        for bottom in [0xf_e000, 0x10_0000, 0x10_1000] {
            let (context, start) = (0x10_1e40_u64, 0x10_2000_u64);
            let mut memory = From(bottom, vec![0x11; (0x10_3800 - bottom) as usize]);
            let mut put = |at: u64, bytes: &[u8]| {
                let at = (at - bottom) as usize;
                memory.1[at..at + bytes.len()].copy_from_slice(bytes);
            };
            put(context, &[0; 16]);
            put(context + 0xb8, &0x33_u64.to_le_bytes());
            put(context + 0xe0, &start.to_le_bytes());
            put(start + 464, b"SXPF");
            put(start + 468, &SIZE.to_le_bytes());
            let end = start + u64::from(SIZE);
            let range = |range: Range<u64>| Some(Address(range.start)..Address(range.end));
            for inside in [start, start + 2423, end - 1] {
                let found = vectors_at(&memory, Address(inside));
                assert_eq!(found, range(start..end), "{inside:x} {bottom:x}");
                assert!(is_the_kernels(&memory, Address(inside)));
            }
            for outside in [start - 1, end, 0x10_37fc] {
                assert_eq!(vectors_at(&memory, Address(outside)), None, "{outside:x}");
            }
            assert!(is_the_kernels(&memory, Address(context + 0xc8)));
            let kept = |at: u64| {
                let parts = without_the_kernels(&memory, Address(at), &[0x11; 16]);
                let sizes = parts.iter().map(|(at, bytes)| (at.0, bytes.len()));
                sizes.collect::<Vec<_>>()
            };
            assert_eq!(kept(start + 2416), []);
            assert_eq!(kept(start - 4), [(start - 4, 4)]);
            assert_eq!(kept(end - 12), [(end, 4)]);
            assert_eq!(kept(end), [(end, 16)]);
        }
    }
}
