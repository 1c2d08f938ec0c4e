//! How often breakpoints have been hit, in time: in the past, counts are those of then.
//!
//! A search runs a copy from a checkpoint more than once, and a hit that counts the first time has to count the next time. So a checkpoint has
//! the counts of its moment. A breakpoint that is newer than a checkpoint is counted from there.
//!
//! In a run that stops are of no use for, breakpoints aren't in the program, and their hits aren't counted. Checkpoints that are taken in such a run
//! have counts that are too low: a search for hits that count doesn't begin there.

use super::Owner;
use super::travel::Goal;
use rustc_hash::FxHashMap;

/// The counts of all breakpoints, by their ids.
#[derive(Debug, Default, Clone)]
pub(super) struct HitCounts {
    code: FxHashMap<i64, u64>,
    data: FxHashMap<i64, u64>,
    /// Hits have come that weren't counted.
    pub(super) lack_hits: bool,
}

impl Owner {
    /// The counts now.
    pub(super) fn hit_counts(&mut self) -> HitCounts {
        let data = self.watches.list.iter();
        HitCounts {
            code: self.counts_in_code(),
            data: data.map(|watch| (watch.id, watch.rules.count())).collect(),
            lack_hits: self.counts_lack_hits(),
        }
    }

    /// Another moment is shown, with these counts.
    pub(super) fn count_from(&mut self, counts: &HitCounts) {
        let count = |of: &FxHashMap<i64, u64>, id: i64| of.get(&id).copied().unwrap_or_default();
        self.count_in_code_from(|id| count(&counts.code, id));
        for watch in &mut self.watches.list {
            watch.rules.count_from(count(&counts.data, watch.id));
        }
        self.set_counts_lack_hits(counts.lack_hits);
    }

    /// Whether what is looked for depends on how often a breakpoint has been hit.
    pub(super) fn depends_on_counts(&self, goal: &Goal) -> bool {
        let mut watches = self.watches.list.iter();
        matches!(goal, Goal::Stop)
            && (self.counts_hits_in_code()
                || watches.any(|watch| watch.rules.hit_condition().is_some()))
    }

    /// The checkpoint from which a search can run, the last one up to this.
    pub(super) fn last_with_counts(&self, goal: &Goal, index: usize) -> usize {
        if !self.depends_on_counts(goal) {
            return index;
        }
        let mut before = (0..=index).rev();
        let has_all = |index: &usize| !self.history_lacks_hits(*index);
        before.find(has_all).unwrap_or(0)
    }
}
