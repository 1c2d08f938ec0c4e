//! Compares the memory of two processes that may be in the same state.

use super::Owner;
use crate::Address;
use dapple_arch::abi::RED_ZONE;
use dapple_arch::signal_frame::is_the_kernels;
use dapple_target::memory_map::Mapping;
use dapple_target::process::Process;
use std::ops::Range;

/// How much memory is compared at a time, in bytes.
const BLOCK: u64 = 1 << 16;
/// The size of what is told to differ.
const PIECE: u64 = 4;

/// How far below its stack pointer a stack counts as unused that has other data around it, in bytes.
const UNUSED: u64 = 16 << 10;

/// Where states have differed from one that is looked for, the last place first. A state that others pass close by may differ from one of them
/// here, and from the next one there.
#[derive(Debug, Clone, Default)]
pub(super) struct Differences(Vec<Address>);

impl Differences {
    /// How many places are kept.
    const MOST: usize = 8;

    pub(super) fn note(&mut self, at: Address) {
        self.0.retain(|known| *known != at);
        self.0.insert(0, at);
        self.0.truncate(Self::MOST);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Address> {
        self.0.iter().copied()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Owner {
    /// The address of 4 bytes of memory in which the process differs from another that has the same mappings, but for what the debugger has mapped.
    /// `None`: they don't differ. `before`: where to look first. All threads must stand still.
    pub(super) fn difference_from(
        &mut self,
        other: &dyn Process,
        before: &Differences,
    ) -> Option<Address> {
        let mut before = before.iter();
        let again = before.find_map(|at| difference_in(self.process(), other, at, PIECE));
        if again.is_some() {
            return again;
        }
        let arenas = self.trampolines().all_arenas();
        let registers = |thread| self.process().registers(thread).ok();
        let registers = self.live_threads().filter_map(registers);
        let mut stacks: Vec<u64> = registers.map(|registers| registers.sp()).collect();
        let found = first_difference(self.process(), other, &stacks, &arenas)?;
        // A signal handler may run on a stack of its own.
        self.forget_past_interruptions();
        let threads = stacks.len();
        stacks.extend(self.interruptions().stack_pointers());
        match stacks.len() > threads {
            true => first_difference(self.process(), other, &stacks, &arenas),
            false => Some(found),
        }
    }
}

/// As [`Owner::difference_from`]. `stacks`: the threads' stack pointers, below whose own bytes nothing counts: functions leave there what they had
/// saved, and how much of the vector registers the dynamic linker saves depends on when the thread was last interrupted (XSAVEC, Intel SDM
/// vol. 1, 13.10). `arenas`: the debugger's.
fn first_difference(
    one: &dyn Process,
    other: &dyn Process,
    stacks: &[u64],
    arenas: &[Range<Address>],
) -> Option<Address> {
    let mappings = one.mappings();
    for (index, mapping) in mappings.iter().enumerate() {
        let start = Address(mapping.start);
        let is_arena = arenas.iter().any(|arena| arena.contains(&start));
        if !mapping.write || !mapping.read || is_arena {
            continue;
        }
        let below = index.checked_sub(1).and_then(|below| mappings.get(below));
        for used in used(mapping, below, stacks) {
            let mut at = used.start;
            while at < used.end {
                let size = BLOCK.min(used.end - at);
                if let Some(found) = difference_in(one, other, Address(at), size) {
                    return Some(found);
                }
                at += size;
            }
        }
    }
    None
}

/// The parts of a mapping that aren't the unused ones of stacks. `below`: the mapping below.
fn used(mapping: &Mapping, below: Option<&Mapping>, stacks: &[u64]) -> Vec<Range<u64>> {
    let has = |sp: &u64| (mapping.start..mapping.end).contains(sp);
    let mut inside: Vec<u64> = stacks.iter().copied().filter(has).collect();
    inside.sort_unstable();
    // A thread's stack has a page below that nobody may read.
    let has_guard = below.is_some_and(|below| below.end == mapping.start && !below.read);
    let is_stack = mapping.name == "[stack]" || has_guard;
    let mut used = Vec::new();
    let mut from = mapping.start;
    for (index, sp) in inside.into_iter().enumerate() {
        let unused = sp.saturating_sub(UNUSED);
        match (is_stack, index) {
            (true, 0) => {}
            (false, 0) => used.push(from..unused.max(from)),
            (false, _) if unused >= from => used.push(from..unused),
            // What is below may be the used part of another.
            _ => continue,
        }
        from = from.max(sp.saturating_sub(RED_ZONE) & !(PIECE - 1));
    }
    used.push(from..mapping.end);
    used
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

    fn mapping(range: Range<u64>, read: bool, name: &str) -> Mapping {
        Mapping {
            start: range.start,
            end: range.end,
            read,
            write: read,
            execute: false,
            offset: 0,
            name: name.to_owned(),
        }
    }

    #[test]
    fn of_a_stack_what_is_below_the_threads_own_bytes_does_not_count() {
        let stack = mapping(0x10_0000..0x20_0000, true, "[stack]");
        let only = |range| vec![range];
        // A handler's, in which the thread is, and the interrupted one's.
        let two = [0x1f_0000, 0x18_0000, 0x50_0000];
        assert_eq!(used(&stack, None, &two), only(0x17_ff80..0x20_0000));
        let of_thread = mapping(0x10_0000..0x20_0000, true, "");
        let guard = mapping(0xf_f000..0x10_0000, false, "");
        assert_eq!(
            used(&of_thread, Some(&guard), &two),
            used(&stack, None, &two)
        );
        assert_eq!(used(&stack, None, &[]), only(0x10_0000..0x20_0000));
    }

    #[test]
    fn a_stack_amid_other_data_counts_but_for_a_part() {
        let heap = mapping(0x10_0000..0x20_0000, true, "[heap]");
        let all = used(&heap, None, &[0x1f_0000, 0x18_0000, 0x18_1000]);
        assert_eq!(
            all,
            [
                0x10_0000..0x17_c000,
                0x17_ff80..0x1e_c000,
                0x1e_ff80..0x20_0000
            ]
        );
        let low = used(&heap, None, &[0x10_0040]);
        assert_eq!(low, [0x10_0000..0x10_0000, 0x10_0000..0x20_0000]);
    }

    #[test]
    fn the_number_of_the_processor_is_no_difference() {
        assert!(is_of_processor(&[0, 8, 2, 0], &[0, 8, 2, 1]));
        assert!(!is_of_processor(&[0, 8, 2, 0], &[0, 8, 1, 0]));
        assert!(!is_of_processor(&[1, 8, 2, 0], &[0, 8, 2, 0]));
        assert!(!is_of_processor(&[0, 4, 2, 0], &[0, 4, 2, 1]));
        assert!(!is_of_processor(&[0, 8, 0, 0], &[0, 8, 0, 1]));
    }
}
