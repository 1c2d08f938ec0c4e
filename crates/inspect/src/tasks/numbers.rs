//! Numbers for tasks whose executors have none. A task keeps its number from stop to stop.

use rustc_hash::FxHashMap;

/// In a process that also has tasks of tokio's, which have numbers of their own, the numbers begin here.
const BESIDE_TOKIO: u64 = 1_000_000;
/// The ids of tasks with such numbers begin here.
const FIRST_ID: i32 = (1 << 29) + (1 << 28);
/// The most numbers that are kept.
const MOST: usize = 4_000_000;

/// The numbers of tasks, by the addresses of their headers.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    given: FxHashMap<u64, u64>,
    last: u64,
}

/// The part of a task's id that its number makes.
pub(super) fn id_of(number: u64) -> i32 {
    let number = i32::try_from(number).unwrap_or(i32::MAX);
    FIRST_ID.saturating_add(number)
}

impl Numbers {
    /// The number of the task at an address.
    pub fn of(&mut self, address: u64, beside_tokio: bool) -> u64 {
        if self.given.len() >= MOST {
            self.given.clear();
        }
        if beside_tokio {
            self.last = self.last.max(BESIDE_TOKIO);
        }
        let last = &mut self.last;
        *self.given.entry(address).or_insert_with(|| {
            *last += 1;
            *last
        })
    }

    /// Forgets the numbers of tasks that have ended.
    pub fn retain(&mut self, lives: impl Fn(u64) -> bool) {
        self.given.retain(|address, _| lives(*address));
    }
}
