//! How often breakpoints have been hit, in time: in the past, counts are those of then.
//!
//! A search runs a copy from a checkpoint more than once, and a hit that counts the first time has to count the next time. So a checkpoint has
//! the counts of its moment. A breakpoint that is newer than a checkpoint is counted from there.

use super::Owner;
use rustc_hash::FxHashMap;

/// The counts of all breakpoints, by their ids.
#[derive(Debug, Default, Clone)]
pub(super) struct HitCounts {
    code: FxHashMap<i64, u64>,
    data: FxHashMap<i64, u64>,
}

impl Owner {
    /// The counts now.
    pub(super) fn hit_counts(&mut self) -> HitCounts {
        let data = self.watches.list.iter();
        HitCounts {
            code: self.counts_in_code(),
            data: data.map(|watch| (watch.id, watch.rules.count())).collect(),
        }
    }

    /// Another moment is shown, with these counts.
    pub(super) fn count_from(&mut self, counts: &HitCounts) {
        let count = |of: &FxHashMap<i64, u64>, id: i64| of.get(&id).copied().unwrap_or_default();
        self.count_in_code_from(|id| count(&counts.code, id));
        for watch in &mut self.watches.list {
            watch.rules.count_from(count(&counts.data, watch.id));
        }
    }
}
