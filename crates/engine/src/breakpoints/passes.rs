//! Passes: hits that a program may count by itself ([`dapple_arch::decision::Counter`]).
//!
//! They are in memory that the program and the debugger share, and both take them one at a time while the other runs. So a count is exact
//! without a stop: each hit has either taken a pass or is counted by the debugger, which finds none left then.

use crate::Address;
use dapple_arch::decision::Counter;
use dapple_target::linux::shared_words::SharedWords;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The memory for counters, in bytes.
pub(crate) const COUNTERS: u64 = 64 << 10;
/// The most passes that are given at a time: so many are never used up.
const MOST: u64 = 1 << 62;

/// All counters of a process.
#[derive(Debug)]
pub(crate) struct Counters {
    at: Address,
    words: Arc<SharedWords>,
    /// Those that breakpoints have had so far.
    all: Vec<Arc<Passes>>,
}

/// The passes of one breakpoint.
#[derive(Debug)]
pub(crate) struct Passes {
    words: Arc<SharedWords>,
    pub(crate) counter: Counter,
    /// Where its words are in the memory.
    offset: u64,
    /// How many passes were given, or were left when it was last asked how many were used.
    given: AtomicU64,
}

impl Counters {
    /// Counters in memory that the process has at `at`.
    pub(crate) fn new(at: Address, words: SharedWords) -> Counters {
        Counters {
            at,
            words: Arc::new(words),
            all: Vec::new(),
        }
    }

    /// A counter without passes that no trampoline has. `None`: there is no more memory.
    pub(crate) fn free(&mut self) -> Option<Arc<Passes>> {
        let free = self.all.iter().find(|one| Arc::strong_count(one) == 1);
        if let Some(free) = free {
            free.withdraw();
            free.given.store(0, Ordering::Relaxed);
            return Some(free.clone());
        }
        let offset = self.all.len() as u64 * Counter::SIZE;
        let has_room = offset + Counter::SIZE <= COUNTERS;
        has_room.then(|| {
            let passes = Arc::new(Passes {
                words: self.words.clone(),
                counter: Counter {
                    at: self.at.offset(offset.cast_signed()),
                },
                offset,
                given: AtomicU64::new(0),
            });
            self.all.push(passes.clone());
            passes
        })
    }
}

impl Passes {
    /// Lets `count` more hits go on. Call only when none are left.
    pub(crate) fn give(&self, count: u64) {
        let count = count.min(MOST);
        self.given.fetch_add(count, Ordering::Relaxed);
        let each = count / Counter::words().count() as u64;
        let mut rest = count - each * Counter::words().count() as u64;
        for offset in self.offsets() {
            let more = u64::from(rest > 0);
            rest -= more;
            if let Some(word) = self.words.at(offset) {
                word.store((each + more).cast_signed(), Ordering::Release);
            }
        }
    }

    /// Takes one for a hit that the debugger has seen. Returns whether there was one.
    pub(crate) fn take(&self) -> bool {
        self.offsets().any(|offset| self.words.take_one(offset))
    }

    /// Takes back those that are left: no hit goes on any more.
    pub(crate) fn withdraw(&self) {
        let left = self.offsets().filter_map(|offset| self.words.at(offset));
        let left = sum(left.map(|word| word.swap(0, Ordering::AcqRel)));
        let given = self.given.load(Ordering::Relaxed);
        let used = given.saturating_sub(left);
        self.given.store(used, Ordering::Relaxed);
    }

    /// How many were used since this was last asked.
    pub(crate) fn used(&self) -> u64 {
        let left = self.offsets().filter_map(|offset| self.words.at(offset));
        let left = sum(left.map(|word| word.load(Ordering::Acquire)));
        let given = self.given.load(Ordering::Relaxed);
        // The program may have written anything.
        let left = left.min(given);
        self.given.store(left, Ordering::Relaxed);
        given - left
    }

    fn offsets(&self) -> impl Iterator<Item = u64> {
        Counter::words().map(|offset| self.offset + offset)
    }
}

fn sum(words: impl Iterator<Item = i64>) -> u64 {
    let words = words.map(|word| u64::try_from(word).unwrap_or(0));
    words.fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    fn counters() -> Counters {
        let file = rustix::fs::memfd_create(c"", rustix::fs::MemfdFlags::ALLOW_SEALING);
        let file = File::from(file.expect("memory"));
        file.set_len(COUNTERS).expect("its size");
        rustix::fs::fcntl_add_seals(&file, rustix::fs::SealFlags::SHRINK).expect("sealed");
        let words = SharedWords::new(&file, COUNTERS as usize).expect("mapped");
        Counters::new(Address(0x10000), words)
    }

    #[test]
    fn what_is_given_is_used_or_left() {
        let passes = counters().free().expect("a counter");
        assert!(!passes.take());
        for count in [1, 2, 8, 9, 100] {
            passes.give(count);
            assert!((0..count).all(|_| passes.take()));
            assert!(!passes.take());
            assert_eq!((passes.used(), passes.used()), (count, 0));
        }
        passes.give(u64::MAX);
        assert!(passes.take() && passes.take());
        assert_eq!(passes.used(), 2);
        assert!(passes.take());
        passes.withdraw();
        assert!(!passes.take());
        assert_eq!((passes.used(), passes.used()), (1, 0));
    }

    #[test]
    fn counters_are_used_again() {
        let mut counters = counters();
        let most = COUNTERS / Counter::SIZE;
        let mut held: Vec<_> = (0..most).map(|_| counters.free().expect("one")).collect();
        assert!(counters.free().is_none());
        let last = held.pop().expect("one");
        last.give(5);
        let place = last.counter;
        drop(last);
        let again = counters.free().expect("one");
        assert_eq!(
            (again.counter, again.take(), again.used()),
            (place, false, 0)
        );
    }
}
