//! glibc's arenas (`struct malloc_state`): finds them by their form, and reads their free lists.

use super::{Around, FLAGS, HEADER, Head, PREVIOUS_IN_USE, words};
use crate::Address;
use crate::modules::LoadedModule;
use dapple_arch::Memory;
use dapple_symbols::module::ModuleKind;
use std::sync::Arc;

// `struct malloc_state` since 2.27: mutex, flags and have_fastchunks come first.
const FAST_BINS: usize = 0x10;
const FAST_COUNT: usize = 10;
const TOP: usize = 0x60;
const BINS: usize = 0x70;
const BIN_COUNT: usize = 127;
const NEXT: usize = 0x870;
const SYSTEM_MEMORY: usize = 0x888;
const SIZE: usize = 0x898;

/// Alignment and largest size of a heap that isn't the main arena's.
const REGION: u64 = 64 << 20;
/// `flags`: the main arena's memory is not in one piece.
const NONCONTIGUOUS: u64 = 2;
/// The most arenas to follow.
const MOST_ARENAS: usize = 1024;
/// How many bytes of a module's data are searched.
const MOST_DATA: u64 = 2 << 20;
/// How many chunks are followed in each fast bin, and in all other bins together.
const MOST_CHUNKS: usize = 1000;

/// An arena as it was when it was read.
#[derive(Debug, Clone)]
pub(super) struct Arena {
    address: u64,
    pub is_main: bool,
    words: Arc<[u64]>,
}

/// Where an address in an arena is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In the unused end of the heap (the top chunk).
    Unused,
    /// Before the top chunk.
    Used,
}

/// The start of the aligned region that an address is in.
pub(super) fn region(address: u64) -> u64 {
    address & !(REGION - 1)
}

/// The arenas by address, the main one first; empty if their circular list doesn't come back to it.
pub(super) fn all(main: Arena, memory: &dyn Memory) -> Vec<(u64, Option<Arena>)> {
    let start = main.address;
    let mut next = main.word(NEXT);
    let mut found = vec![(start, Some(main))];
    while next != start {
        let after = words(memory, next.wrapping_add(NEXT as u64));
        let Some([after]) = after.filter(|_| found.len() < MOST_ARENAS) else {
            return Vec::new();
        };
        found.push((next, None));
        next = after;
    }
    found
}

/// Looks for the main arena in the data of the C library, or of a statically linked program.
pub(super) fn find_main(around: Around<'_>) -> Option<u64> {
    let has_malloc = |module: &&Arc<LoadedModule>| {
        let name = module.module.path().file_name().unwrap_or_default();
        let name = name.to_string_lossy();
        let is_static = module.module.kind() != ModuleKind::SharedObject
            && module.module.interpreter().is_none();
        name.starts_with("libc.so") || name.starts_with("libc-2.") || is_static
    };
    let module = around.modules.iter().find(has_malloc)?;
    let segments = module.module.segments().iter();
    segments.filter(|segment| segment.writable).find_map(|it| {
        let start = module.to_process(it.address).0.next_multiple_of(8);
        let length = it.size.min(MOST_DATA) as usize & !7;
        let mut bytes = vec![0; length];
        let length = around.memory.read_some(Address(start), &mut bytes);
        let words = bytes[..length].chunks_exact(8);
        let words: Vec<u64> = words
            .filter_map(|word| Some(u64::from_le_bytes(word.try_into().ok()?)))
            .collect();
        main_in(start, &words, around.memory)
    })
}

/// Looks for the main arena in a module's data, by its form: `next` is the arena's own address or that of an arena at the start of a heap;
/// each bin is empty or has a list.
fn main_in(start: u64, words: &[u64], memory: &dyn Memory) -> Option<u64> {
    let fits = words.len().checked_sub(SIZE / 8)?;
    (0..=fits).find_map(|index| {
        let address = start + 8 * index as u64;
        let arena = words.get(index..index + SIZE / 8)?;
        let next = arena[NEXT / 8];
        // An arena other than the main one follows the `heap_info` at the start of an aligned region.
        let is_other = || next.wrapping_sub(region(next)) < 0x100 && next > REGION;
        if next != address && !is_other() {
            return None;
        }
        let arena = Arena {
            address,
            is_main: true,
            words: arena.into(),
        };
        let is_one = arena.has_form() && !all(arena, memory).is_empty();
        is_one.then_some(address)
    })
}

/// Whether the neighbours of a free chunk in its list link back to it.
pub(super) fn is_linked(chunk: u64, forward: u64, back: u64, memory: &dyn Memory) -> bool {
    let leads_back = |to: u64, offset: u64| {
        let link = to
            .is_multiple_of(16)
            .then(|| words::<1>(memory, to.wrapping_add(offset)));
        link.flatten() == Some([chunk])
    };
    leads_back(forward, 24) && leads_back(back, 16)
}

/// The target of a list's link: since 2.32 it is XORed with its own position (safe-linking).
pub(super) fn link(position: u64, raw: u64) -> u64 {
    raw ^ (position >> 12)
}

impl Arena {
    pub(super) fn read(address: u64, is_main: bool, memory: &dyn Memory) -> Option<Arena> {
        let words: [u64; SIZE / 8] = words(memory, address)?;
        Some(Arena {
            address,
            is_main,
            words: words.into(),
        })
    }

    fn word(&self, offset: usize) -> u64 {
        self.words.get(offset / 8).copied().unwrap_or(0)
    }

    /// The address of a bin seen as a chunk: the bin's links are then where a chunk has its links. As glibc's `bin_at`.
    fn bin(&self, index: usize) -> u64 {
        self.address.wrapping_add((BINS + 16 * index) as u64) - HEADER
    }

    fn top(&self) -> u64 {
        self.word(TOP)
    }

    /// Whether it has the form of an arena in use: a top chunk, memory from the system, and consistent bins.
    fn has_form(&self) -> bool {
        let memory = self.word(SYSTEM_MEMORY);
        let has_bins = (0..BIN_COUNT).all(|index| {
            let (forward, back) = self.links(index);
            let own = self.bin(index);
            let is_chunk = |link: u64| link != own && link != 0 && link.is_multiple_of(16);
            (forward, back) == (own, own) || (is_chunk(forward) && is_chunk(back))
        });
        let top = self.top();
        has_bins && top != 0 && top.is_multiple_of(16) && memory != 0 && memory.is_multiple_of(16)
    }

    /// The first and the last chunk of a bin.
    fn links(&self, index: usize) -> (u64, u64) {
        let at = BINS + 16 * index;
        (self.word(at), self.word(at + 8))
    }

    /// The start of the main arena's heap, which is one piece that ends with the top chunk.
    fn start(&self, memory: &dyn Memory) -> Option<u64> {
        let [head] = words(memory, self.top().checked_add(8)?)?;
        let end = self.top().checked_add(head & !FLAGS)?;
        end.checked_sub(self.word(SYSTEM_MEMORY))
    }

    /// Whether an address may be in the main arena's heap.
    pub(super) fn covers(&self, address: u64) -> bool {
        let reach = self.word(SYSTEM_MEMORY);
        let top = self.top();
        self.is_main
            && self.word(0) >> 32 & NONCONTIGUOUS == 0
            && address >= top.saturating_sub(reach)
            && address < top.saturating_add(reach)
    }

    /// The first chunk of the main arena's heap: the cache of the first thread.
    pub(super) fn first_chunk(&self, memory: &dyn Memory) -> Option<u64> {
        Some(self.start(memory)?.next_multiple_of(16))
    }

    /// Whether an address in this arena is in the top chunk or before it. `None`: it is behind that, or the top chunk's header is
    /// implausible.
    pub(super) fn place_of(&self, address: u64, memory: &dyn Memory) -> Option<Place> {
        let top = self.top();
        let is_tops = match self.is_main {
            true => address >= top,
            false => region(address) == region(top) && address >= top,
        };
        if !is_tops {
            return Some(Place::Used);
        }
        let [head] = words(memory, top.checked_add(8)?)?;
        let head = Head(head);
        let inside = address - top;
        let is_unused = head.0 & PREVIOUS_IN_USE != 0 && (HEADER..head.size()).contains(&inside);
        is_unused.then_some(Place::Unused)
    }

    /// Whether the fast bin for `size` has the chunk.
    pub(super) fn has_fast(&self, chunk: u64, size: u64, memory: &dyn Memory) -> bool {
        let index = (size >> 4).checked_sub(2).map(|index| index as usize);
        let Some(index) = index.filter(|index| *index < FAST_COUNT) else {
            return false;
        };
        self.fast(index, memory).any(|(found, _)| found == chunk)
    }

    /// The chunks of a fast bin, with their sizes.
    fn fast<'a>(
        &self,
        index: usize,
        memory: &'a dyn Memory,
    ) -> impl Iterator<Item = (u64, u64)> + 'a {
        let expected = (index as u64 + 2) << 4;
        let mut next = self.word(FAST_BINS + 8 * index);
        let chunks = std::iter::from_fn(move || {
            let chunk = next;
            if chunk == 0 || !chunk.is_multiple_of(16) {
                return None;
            }
            let [head, raw] = words(memory, chunk.checked_add(8)?)?;
            next = link(chunk.checked_add(HEADER)?, raw);
            (Head(head).size() == expected).then_some((chunk, expected))
        });
        chunks.take(MOST_CHUNKS)
    }

    /// The ranges of its free chunks, as far as the lists are followed.
    pub(super) fn free_ranges(&self, memory: &dyn Memory) -> Vec<(u64, u64)> {
        let mut ranges = Vec::new();
        if !self.has_form() {
            return ranges;
        }
        for index in 0..FAST_COUNT {
            for (chunk, size) in self.fast(index, memory) {
                ranges.push((chunk + HEADER, chunk.saturating_add(size)));
            }
        }
        let mut looked_at = 0;
        for index in 0..BIN_COUNT {
            let bin = self.bin(index);
            let (mut chunk, _) = self.links(index);
            while chunk != bin && looked_at < MOST_CHUNKS {
                looked_at += 1;
                let Some([_, head, forward, back]) = words(memory, chunk) else {
                    break;
                };
                let size = Head(head).size();
                let end = chunk
                    .checked_add(size)
                    .filter(|_| Head(head).is_plausible());
                let Some(end) = end else { break };
                let is_free = words(memory, end).is_some_and(|[foot, next]: [u64; 2]| {
                    foot == size && next & PREVIOUS_IN_USE == 0
                });
                if !is_free || !is_linked(chunk, forward, back, memory) {
                    break;
                }
                ranges.push((chunk + HEADER, end));
                chunk = forward;
            }
        }
        ranges
    }
}
