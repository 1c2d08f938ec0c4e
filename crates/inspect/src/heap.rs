//! Whether an address is in memory that a program has freed with glibc's malloc.
//!
//! Needs no debug information of glibc. The main arena is found in glibc's data by its form (`arenas`), and its lists are believed only
//! where they are consistent. Supported are glibc 2.27 and later, for fast bins 2.32 and later, for the threads' caches 2.32 to 2.41. For
//! other versions, other allocators, and lists that are too long, the answer is "not freed".
//!
//! An address counts as freed if it is in a chunk of a free list (a thread's cache, a fast bin, or another bin with consistent links and
//! sizes) or in the unused end of a heap. That is correct wherever threads have stopped: malloc takes a chunk from its list before it
//! returns it, and free inserts it after the program has given it up. The lists are read again when memory may have changed.

mod arenas;
mod caches;

use crate::Address;
use crate::live::Live;
use crate::modules::Modules;
use arenas::{Arena, Place};
use caches::Caches;
use dapple_arch::Memory;
use rustc_hash::FxHashMap;
use std::sync::{Mutex, PoisonError};

/// From a chunk's start to the memory that the program gets, in bytes.
const HEADER: u64 = 16;
/// How many times the main arena is looked for in one set of modules.
const MOST_TRIES: u32 = 100;
/// The smallest size of a chunk, in bytes.
const SMALLEST: u64 = 32;
/// The bits of a chunk's size word that are flags.
const FLAGS: u64 = 7;
/// Flag: the chunk before is in use.
const PREVIOUS_IN_USE: u64 = 1;
/// Flag: the chunk is a mapping of its own.
const MAPPED: u64 = 2;
/// Flag: the chunk isn't in the main arena.
const OTHER_ARENA: u64 = 4;

/// What is known of a process's heap.
#[derive(Debug, Default)]
pub(crate) struct Heap {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The version of a set of modules, and the address of the main arena found in it.
    main: Option<(u64, u64)>,
    /// The version of a set of modules, and how many times the main arena was looked for in it.
    tries: (u64, u32),
    /// The thread-local variable that points to a thread's cache is this many bytes below the thread pointer (`fs_base`).
    cache_offset: Option<u64>,
    /// The key that marks all cached chunks, since 2.34.
    mark: Option<u64>,
    /// What was read for the current memory stamp.
    seen: Seen,
}

#[derive(Debug, Default)]
struct Seen {
    /// The [`Live::memory_stamp`] of the read.
    stamp: Option<u64>,
    /// The arenas by address; each is read when it is needed.
    arenas: Option<Vec<(u64, Option<Arena>)>>,
    /// The arena of each aligned region looked up so far.
    regions: FxHashMap<u64, Option<usize>>,
    caches: Option<Caches>,
    /// The free parts of each arena, sorted.
    ranges: FxHashMap<usize, Vec<(u64, u64)>>,
}

/// What the heap is inspected with.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    pub memory: &'a dyn Memory,
    pub modules: &'a Modules,
    pub live: &'a dyn Live,
}

/// A chunk's size word, with the flags.
#[derive(Debug, Clone, Copy)]
struct Head(u64);

impl Head {
    fn size(self) -> u64 {
        self.0 & !FLAGS
    }

    fn is_plausible(self) -> bool {
        self.size() >= SMALLEST && self.size().is_multiple_of(16)
    }
}

fn words<const COUNT: usize>(memory: &dyn Memory, address: u64) -> Option<[u64; COUNT]> {
    let mut bytes = [[0; 8]; COUNT];
    memory
        .read(Address(address), bytes.as_flattened_mut())
        .ok()?;
    Some(bytes.map(u64::from_le_bytes))
}

impl Heap {
    /// Whether an address is in freed memory; `false` if unknown.
    pub(crate) fn is_freed(&self, address: u64, around: Around<'_>) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.is_freed(address, around).unwrap_or(false)
    }
}

impl State {
    fn is_freed(&mut self, address: u64, around: Around<'_>) -> Option<bool> {
        // The structures below are glibc's with words of 8 bytes.
        if around.memory.address_size() != 8 {
            return None;
        }
        let memory = around.memory;
        // There is no stamp while threads run: the lists would change during the read.
        let stamp = around.live.memory_stamp()?;
        if self.seen.stamp != Some(stamp) {
            self.seen = Seen {
                stamp: Some(stamp),
                ..Seen::default()
            };
        }
        if self.seen.arenas.is_none() {
            let main = self.main_arena(around);
            let main = main.and_then(|main| Arena::read(main, true, memory));
            self.seen.arenas = Some(main.map_or_else(Vec::new, |main| arenas::all(main, memory)));
        }
        let index = self.arena_of(address, memory)?;
        let arena = self.arena(index, memory)?;
        match arena.place_of(address, memory)? {
            Place::Unused => return Some(true),
            Place::Used => {}
        }
        if let Some(freed) = self.by_header(address, &arena, around) {
            return Some(freed);
        }
        if !self.seen.ranges.contains_key(&index) {
            let mut ranges = arena.free_ranges(memory);
            ranges.extend(self.caches(around).ranges(memory));
            ranges.sort_unstable();
            self.seen.ranges.insert(index, ranges);
        }
        let ranges = self.seen.ranges.get(&index)?;
        let after = ranges.partition_point(|(start, _)| *start <= address);
        let (_, end) = ranges.get(after.checked_sub(1)?)?;
        Some(address < *end)
    }

    /// Whether the chunk whose contents begin at `address` is free, by the chunk's header. `None`: no header is there, or the header
    /// doesn't tell, because the chunk has been merged with others.
    fn by_header(&mut self, address: u64, arena: &Arena, around: Around<'_>) -> Option<bool> {
        let memory = around.memory;
        if !address.is_multiple_of(16) {
            return None;
        }
        let chunk = address.checked_sub(HEADER)?;
        let [_, head, first, second] = words(memory, chunk)?;
        let head = Head(head);
        let of_main = head.0 & OTHER_ARENA == 0;
        if !head.is_plausible() || head.0 & MAPPED != 0 || of_main != arena.is_main {
            return None;
        }
        let next = chunk.checked_add(head.size())?;
        let [foot, next_head] = words(memory, next)?;
        if next_head & PREVIOUS_IN_USE != 0 {
            let fast = || arena.has_fast(chunk, head.size(), memory);
            return Some(self.is_cached(address, head.size(), second, around) || fast());
        }
        let is_linked = arenas::is_linked(chunk, first, second, memory);
        (foot == head.size() && is_linked).then_some(true)
    }

    /// Whether a thread's cache has the chunk with the contents at `address`. `second` is the second word of the contents, where the key of
    /// a cached chunk is.
    fn is_cached(&mut self, address: u64, size: u64, second: u64, around: Around<'_>) -> bool {
        // Where all cached chunks have the same key, another value proves that this one isn't cached.
        let is_marked = second != 0 && self.mark.is_none_or(|mark| mark == second);
        is_marked && self.caches(around).has(address, size, around.memory)
    }

    fn caches(&mut self, around: Around<'_>) -> &Caches {
        if self.seen.caches.is_none() {
            let main = self.arena(0, around.memory);
            let start = main.and_then(|main| main.first_chunk(around.memory));
            let found = Caches::read(start, &mut self.cache_offset, around);
            self.mark = self.mark.or(found.only_mark());
            self.seen.caches = Some(found);
        }
        self.seen.caches.get_or_insert_default()
    }

    /// The main arena, found once for a set of modules.
    fn main_arena(&mut self, around: Around<'_>) -> Option<u64> {
        let version = around.modules.version();
        if let Some((_, main)) = self.main.filter(|(known, _)| *known == version) {
            return Some(main);
        }
        // The arena has no recognisable form before its first use, and never in a program with another allocator.
        let tried = Some(self.tries.1).filter(|_| self.tries.0 == version);
        let tried = tried.unwrap_or(0);
        if tried >= MOST_TRIES {
            return None;
        }
        self.tries = (version, tried + 1);
        let found = arenas::find_main(around)?;
        self.main = Some((version, found));
        // A new set of modules may be another program.
        (self.mark, self.cache_offset) = (None, None);
        Some(found)
    }

    /// The index of the arena that contains an address.
    fn arena_of(&mut self, address: u64, memory: &dyn Memory) -> Option<usize> {
        let is_main = self.arena(0, memory)?.covers(address);
        if is_main {
            return Some(0);
        }
        let region = arenas::region(address);
        let known = self.seen.regions.get(&region).copied();
        known.unwrap_or_else(|| {
            let all = self.seen.arenas.as_ref()?;
            let found = || {
                let [owner] = words(memory, region)?;
                all.iter()
                    .skip(1)
                    .position(|(address, _)| *address == owner)
            };
            let found = (all.len() > 1).then(found).flatten().map(|at| at + 1);
            self.seen.regions.insert(region, found);
            found
        })
    }

    fn arena(&mut self, index: usize, memory: &dyn Memory) -> Option<Arena> {
        let all = self.seen.arenas.as_mut()?;
        let (address, read) = all.get_mut(index)?;
        if read.is_none() {
            *read = Arena::read(*address, index == 0, memory);
        }
        read.clone()
    }
}
