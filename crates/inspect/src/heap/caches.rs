//! The threads' caches of free chunks (`tcache_perthread_struct`).
//!
//! The first thread's cache is the first chunk of the main arena's heap. The thread-local variable that points to a cache has the same
//! distance from each thread's thread pointer (`fs_base`), since the C library's TLS block is static. The distance is found by searching
//! below the first thread's thread pointer for the known address.

use super::arenas::link;
use super::{Around, FLAGS, HEADER, Head, words};
use dapple_arch::Memory;

/// The number of lists, one for each size.
const LISTS: usize = 64;
/// Where the lists' heads begin, in bytes: after their 16-bit counts.
const ENTRIES: u64 = 2 * LISTS as u64;
/// The size of the chunk that holds a cache (2.30 to 2.41).
const CHUNK: u64 = 0x290;
/// How far below a thread pointer to search for the variable, in bytes.
const REACH: usize = 0x2000;
/// The most threads whose caches are read.
const MOST_THREADS: usize = 64;
/// How many chunks of one list are followed. glibc's default limit is 7.
const MOST_ENTRIES: usize = 64;

/// The caches of all threads.
#[derive(Debug, Default)]
pub(super) struct Caches {
    /// Each cache's address, and the first entry of each of its lists.
    heads: Vec<Cache>,
    /// The keys that cached chunks have. Since 2.34 all have the same; before, each has the address of its cache.
    marks: Vec<u64>,
}

#[derive(Debug)]
struct Cache {
    address: u64,
    heads: Box<[u64; LISTS]>,
}

impl Caches {
    /// Reads the caches. `start` is the first chunk of the main heap, `None` if it can't be told, as where a thread has stopped amid a change
    /// of the heap's end. `offset` keeps how far below the thread pointer the variable is, once found: `start` isn't needed from then on.
    pub(super) fn read(start: Option<u64>, offset: &mut Option<u64>, around: Around<'_>) -> Caches {
        let memory = around.memory;
        let mut caches = Caches::default();
        let pointers = around.live.thread_pointers(MOST_THREADS);
        if offset.is_none() {
            let first = start.map(|start| start.wrapping_add(HEADER));
            let Some(first) = first.filter(|first| caches.add(*first, memory)) else {
                return caches;
            };
            *offset = pointers
                .first()
                .and_then(|(_, main)| distance(*main, first, memory));
        }
        let Some(distance) = *offset else {
            return caches;
        };
        for (_, pointer) in pointers {
            // A thread that hasn't allocated yet has no cache.
            if let Some([cache]) = words(memory, pointer.wrapping_sub(distance))
                && cache != 0
                && !caches.has_read(cache)
            {
                caches.add(cache, memory);
            }
        }
        caches
    }

    fn has_read(&self, cache: u64) -> bool {
        self.heads.iter().any(|read| read.address == cache)
    }

    fn add(&mut self, cache: u64, memory: &dyn Memory) -> bool {
        let Some([head]) = words(memory, cache.wrapping_sub(8)) else {
            return false;
        };
        if Head(head).size() != CHUNK || head & FLAGS & !5 != 0 {
            return false;
        }
        let Some(heads) = words(memory, cache.wrapping_add(ENTRIES)) else {
            return false;
        };
        let mark = heads.iter().filter(|entry| **entry != 0);
        for entry in mark {
            let mark = words(memory, entry.wrapping_add(8));
            if let Some([mark]) = mark.filter(|[mark]| !self.marks.contains(mark)) {
                self.marks.push(mark);
            }
        }
        let heads = Box::new(heads);
        self.heads.push(Cache {
            address: cache,
            heads,
        });
        true
    }

    /// The key that all cached chunks have. `None`: there are several keys, or the key is a cache's address, as before 2.34.
    pub(super) fn only_mark(&self) -> Option<u64> {
        let mark = self.marks.first()?;
        let is_old = self.heads.iter().any(|cache| cache.address == *mark);
        (self.marks.len() == 1 && !is_old).then_some(*mark)
    }

    /// Whether a list for chunks of `size` has the chunk whose memory begins at an address.
    pub(super) fn has(&self, address: u64, size: u64, memory: &dyn Memory) -> bool {
        let index = size.checked_sub(32).map(|over| (over / 16) as usize);
        let lists = self.heads.iter();
        let heads = lists.filter_map(|cache| cache.heads.get(index?));
        heads
            .into_iter()
            .any(|head| list(*head, &self.marks, memory).any(|entry| entry == address))
    }

    /// The memory ranges of all cached chunks.
    pub(super) fn ranges(&self, memory: &dyn Memory) -> Vec<(u64, u64)> {
        let lists = self.heads.iter();
        let heads = lists.flat_map(|cache| cache.heads.iter().zip(0u64..));
        let ranges = heads.flat_map(|(head, index)| {
            let room = 16 * index + 24;
            list(*head, &self.marks, memory).map(move |entry| (entry, entry.saturating_add(room)))
        });
        ranges.collect()
    }
}

/// The entries of a list, up to the first one that doesn't have a known key.
fn list<'a>(head: u64, marks: &'a [u64], memory: &'a dyn Memory) -> impl Iterator<Item = u64> + 'a {
    let mut next = head;
    let entries = std::iter::from_fn(move || {
        let entry = next;
        if entry == 0 || !entry.is_multiple_of(16) {
            return None;
        }
        let [raw, mark] = words(memory, entry)?;
        next = link(entry, raw);
        marks.contains(&mark).then_some(entry)
    });
    entries.take(MOST_ENTRIES)
}

/// How far below a thread pointer the word with the value `cache` is, in bytes. `None`: no such word is within [`REACH`].
fn distance(pointer: u64, cache: u64, memory: &dyn Memory) -> Option<u64> {
    let mut bytes = vec![0; REACH];
    let start = pointer.checked_sub(REACH as u64)?;
    // The mapping may begin later than `start`: try shorter ranges with the same end.
    let (mut skipped, mut length) = (0, REACH);
    while memory
        .read(
            crate::Address(start + skipped as u64),
            &mut bytes[skipped..],
        )
        .is_err()
    {
        length /= 2;
        skipped = REACH - length;
        if length < 64 {
            return None;
        }
    }
    let words = bytes[skipped..].chunks_exact(8);
    let found = words
        .rev()
        .position(|word| u64::from_le_bytes(word.try_into().unwrap_or_default()) == cache)?;
    Some(8 * (found as u64 + 1))
}
