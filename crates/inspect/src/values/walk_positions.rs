//! Where walks through node-based containers have ended, so that the next page doesn't start at the first node.
//!
//! The positions are valid while memory is unchanged: when a thread was resumed or memory was written, the stamp has changed
//! ([`Live::memory_stamp`](crate::live::Live)).

use super::Reader;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many positions are remembered. The oldest is forgotten for a new one.
const MOST: usize = 16;
/// A walk to an element before this position is as fast as looking up where an earlier walk has ended.
const NEAR: u64 = 500;

/// Identifies a walk: which links it follows, and from where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Walk {
    /// Through a tree: its root, the root's parent, and the indices of the words with links.
    Tree(u64, Option<u64>, [usize; 3]),
    /// Along a list: its first node, the end mark, and the index of the word with the link.
    Chain(u64, u64, usize),
}

/// The state of a walk before an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    /// In a tree: the nodes whose left subtree is done, with their right links; the next node, and its parent.
    Tree {
        path: Vec<(u64, u64)>,
        next: u64,
        parent: Option<u64>,
    },
    /// In a list: the node, its predecessor, an earlier node (`mark`, which is met again in a cycle), and the position at which the
    /// then current node becomes the `mark`.
    Chain {
        node: u64,
        behind: Option<u64>,
        mark: u64,
        until: u64,
    },
}

/// The ends of earlier walks.
#[derive(Debug, Default)]
pub(crate) struct WalkPositions {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    stamp: Option<u64>,
    /// Oldest first.
    positions: VecDeque<(Walk, u64, State)>,
}

impl WalkPositions {
    /// The positions of memory with this stamp. Forgets those of memory with another stamp.
    fn kept(&self, stamp: u64) -> MutexGuard<'_, Kept> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.stamp != Some(stamp) {
            kept.stamp = Some(stamp);
            kept.positions.clear();
        }
        kept
    }
}

impl Reader<'_> {
    /// Of the positions remembered for this walk, the highest one up to `position`, with the walk's state there. `None`: there is none,
    /// `position` is near the start, or it isn't known whether memory has changed.
    pub(super) fn position_before(&self, walk: Walk, position: u64) -> Option<(u64, State)> {
        let stamp = self.live?.memory_stamp().filter(|_| position >= NEAR)?;
        let kept = self.known.walk_positions().kept(stamp);
        let of_walk = kept
            .positions
            .iter()
            .filter(|(of, at, _)| *of == walk && *at <= position);
        let (_, at, state) = of_walk.max_by_key(|(_, at, _)| *at)?;
        Some((*at, state.clone()))
    }

    /// Remembers the state of a walk before the element at `position`, unless that is near the start or changes of memory aren't known.
    pub(super) fn keep_position(&self, walk: Walk, position: u64, state: impl FnOnce() -> State) {
        let stamp = self.live.filter(|_| position >= NEAR);
        let Some(stamp) = stamp.and_then(|live| live.memory_stamp()) else {
            return;
        };
        let mut kept = self.known.walk_positions().kept(stamp);
        let is_known = |(of, at, _): &(Walk, u64, State)| *of == walk && *at == position;
        if kept.positions.iter().any(is_known) {
            return;
        }
        if kept.positions.len() >= MOST {
            kept.positions.pop_front();
        }
        kept.positions.push_back((walk, position, state()));
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
            reader.keep_position(walk, position, || at(position));
        }
        assert_eq!(reader.position_before(walk, 1099), Some((1000, at(1000))));
        assert_eq!(reader.position_before(walk, 5000), Some((1100, at(1100))));
        assert_eq!(reader.position_before(walk, 999), None);
        assert_eq!(reader.position_before(Walk::Chain(32, 0, 0), 5000), None);
        live.0.set(2);
        assert_eq!(reader.position_before(walk, 5000), None);
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
            reader.keep_position(Walk::Chain(list, 0, 0), 1000, || at(list));
        }
        assert_eq!(reader.position_before(Walk::Chain(1, 0, 0), 1000), None);
        assert!(reader.position_before(Walk::Chain(2, 0, 0), 1000).is_some());
    }
}
