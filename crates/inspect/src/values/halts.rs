//! Where walks through containers of nodes have ended, so that the next page doesn't begin at the first node.
//!
//! Valid as long as memory is as it was: whoever has let a thread run or has written has changed the stamp
//! ([`Live::memory_stamp`](crate::live::Live)).

use super::Reader;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many are kept.
const MOST: usize = 16;
/// A walk up to here is as quick as keeping where it ended.
const NEAR: u64 = 500;

/// What tells a walk from others: which links it follows, and from where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Walk {
    /// A tree's root, what that has for its parent, and which words its links are.
    Tree(u64, Option<u64>, [usize; 3]),
    /// A list's first node, what is behind the last one, and which word its link is.
    Chain(u64, u64, usize),
}

/// Where a walk was, before an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    /// A tree's: nodes whose left side has been seen, with their right links; the next node, and its parent.
    Tree {
        path: Vec<(u64, u64)>,
        next: u64,
        parent: Option<u64>,
    },
    /// A list's: the next node, the one behind it, and the mark by which a round is noticed, with where that is moved next.
    Chain {
        node: u64,
        behind: Option<u64>,
        mark: u64,
        until: u64,
    },
}

/// Where walks have ended.
#[derive(Debug, Default)]
pub(crate) struct Halts {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    stamp: Option<u64>,
    /// The newest last.
    halts: VecDeque<(Walk, u64, State)>,
}

impl Halts {
    /// What is kept of memory with this stamp.
    fn kept(&self, stamp: u64) -> MutexGuard<'_, Kept> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.stamp != Some(stamp) {
            kept.stamp = Some(stamp);
            kept.halts.clear();
        }
        kept
    }
}

impl Reader<'_> {
    /// The last element up to `position` that a walk is known to have come to, and where it was then.
    pub(super) fn halt_before(&self, walk: Walk, position: u64) -> Option<(u64, State)> {
        let stamp = self.live?.memory_stamp().filter(|_| position >= NEAR)?;
        let kept = self.known.halts().kept(stamp);
        let of_walk = kept
            .halts
            .iter()
            .filter(|(of, at, _)| *of == walk && *at <= position);
        let (_, at, state) = of_walk.max_by_key(|(_, at, _)| *at)?;
        Some((*at, state.clone()))
    }

    /// Keeps where a walk is before the element at `position`.
    pub(super) fn keep_halt(&self, walk: Walk, position: u64, state: impl FnOnce() -> State) {
        let stamp = self.live.filter(|_| position >= NEAR);
        let Some(stamp) = stamp.and_then(|live| live.memory_stamp()) else {
            return;
        };
        let mut kept = self.known.halts().kept(stamp);
        let is_known = |(of, at, _): &(Walk, u64, State)| *of == walk && *at == position;
        if kept.halts.iter().any(is_known) {
            return;
        }
        if kept.halts.len() >= MOST {
            kept.halts.pop_front();
        }
        kept.halts.push_back((walk, position, state()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Address;
    use crate::ThreadId;
    use crate::live::Live;
    use crate::modules::Modules;
    use crate::values::known::Known;
    use dapple_arch::Memory;
    use dapple_arch::registers::user::UserRegisters;
    use std::cell::Cell;

    struct Still(Cell<u64>);

    impl Live for Still {
        fn of(&self, _: ThreadId) -> Option<(UserRegisters, Vec<u8>)> {
            None
        }
        fn memory_stamp(&self) -> Option<u64> {
            Some(self.0.get())
        }
    }

    struct Nothing;

    impl Memory for Nothing {
        fn read(&self, address: Address, _: &mut [u8]) -> Result<(), Address> {
            Err(address)
        }
    }

    fn at(node: u64) -> State {
        State::Chain {
            node,
            behind: None,
            mark: 0,
            until: 1,
        }
    }

    #[test]
    fn a_walk_is_gone_on_with_as_long_as_memory_is_as_it_was() {
        let live = Still(Cell::new(1));
        let (modules, known) = (Modules::default(), Known::default());
        let reader = Reader {
            live: Some(&live),
            ..Reader::new(&Nothing, &modules, &known)
        };
        let walk = Walk::Chain(16, 0, 0);
        for position in [1000, 1100] {
            reader.keep_halt(walk, position, || at(position));
        }
        assert_eq!(reader.halt_before(walk, 1099), Some((1000, at(1000))));
        assert_eq!(reader.halt_before(walk, 5000), Some((1100, at(1100))));
        assert_eq!(reader.halt_before(walk, 999), None);
        assert_eq!(reader.halt_before(Walk::Chain(32, 0, 0), 5000), None);
        live.0.set(2);
        assert_eq!(reader.halt_before(walk, 5000), None);
    }

    #[test]
    fn only_some_walks_are_kept() {
        let live = Still(Cell::new(1));
        let (modules, known) = (Modules::default(), Known::default());
        let reader = Reader {
            live: Some(&live),
            ..Reader::new(&Nothing, &modules, &known)
        };
        for list in 1..=MOST as u64 + 1 {
            reader.keep_halt(Walk::Chain(list, 0, 0), 1000, || at(list));
        }
        assert_eq!(reader.halt_before(Walk::Chain(1, 0, 0), 1000), None);
        assert!(reader.halt_before(Walk::Chain(2, 0, 0), 1000).is_some());
    }
}
