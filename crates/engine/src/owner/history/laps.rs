//! The checkpoints that a search takes of copies ([`crate::owner::laps`]), among those of the process.

use super::Kept;
use crate::ThreadId;
use crate::owner::Owner;
use crate::owner::checkpoints;
use std::ops::Range;

impl Owner {
    /// Takes a checkpoint of the copy that is shown, which has run on from checkpoint `shown`. Returns its index.
    ///
    /// # Errors
    /// The end of a sentence that says why none can be taken here.
    pub(in crate::owner) fn keep_lap(&mut self) -> Result<usize, String> {
        let beside = self.beside();
        let history = &mut self.history;
        let live = history.live.as_ref().ok_or("it isn't recorded")?;
        let time = |index: usize| history.kept.get(index).map(|kept| kept.time);
        let before = time(history.shown).unwrap_or_default();
        let after = time(history.shown + 1).unwrap_or(before + 1.0);
        let mut kept = Kept::of(live, before.midpoint(after), beside)?;
        kept.is_lap = true;
        if let Some(before) = history.kept.get(history.shown) {
            kept.comes_after(before);
        }
        history.shown += 1;
        history.kept.insert(history.shown, kept);
        Ok(history.shown)
    }

    /// Drops every second checkpoint of a range, but for its last one, from which the copy that is shown runs on, and those with these processes.
    /// Returns how many.
    pub(in crate::owner) fn drop_laps(
        &mut self,
        range: Range<usize>,
        needed: &[ThreadId],
    ) -> usize {
        let history = &mut self.history;
        let last = range.end.saturating_sub(1);
        let mut gone = 0;
        for index in range.rev().filter(|index| (last - index) % 2 == 1) {
            if !needed.contains(&history.kept[index].process()) {
                checkpoints::drop_one(&mut history.kept, index);
                gone += 1;
            }
        }
        history.shown -= gone;
        gone
    }

    /// Whether the checkpoints of a range take more memory than laps may.
    pub(in crate::owner) fn are_laps_large(&self, range: Range<usize>) -> bool {
        let laps = self.history.kept.get(range).unwrap_or_default();
        let cost = laps.iter().map(|kept| kept.cost).sum::<u64>();
        cost > checkpoints::memory_for_laps(self.history.limits)
    }

    /// Forgets the newest checkpoints before what is shown. Returns how many.
    pub(in crate::owner) fn forget_laps(&mut self, count: usize) -> usize {
        let history = &mut self.history;
        let count = count.min(history.shown);
        for _ in 0..count {
            checkpoints::drop_one(&mut history.kept, history.shown);
            history.shown -= 1;
        }
        count
    }

    /// Before and during a search: there may be too many checkpoints by its laps. As [`super::History::thin_out`].
    pub(in crate::owner) fn thin_out_history(&mut self, needed: &[ThreadId]) -> Vec<usize> {
        self.history.thin_out(needed)
    }

    /// Whether a checkpoint was taken of a copy.
    pub(in crate::owner) fn is_lap(&self, index: usize) -> bool {
        self.history.kept.get(index).is_some_and(|kept| kept.is_lap)
    }

    /// The process that is a checkpoint.
    pub(in crate::owner) fn checkpoint_process(&self, index: usize) -> Option<ThreadId> {
        self.history.kept.get(index).map(Kept::process)
    }

    /// The index of the checkpoint that is a process.
    pub(in crate::owner) fn checkpoint_of(&self, process: ThreadId) -> Option<usize> {
        let mut kept = self.history.kept.iter();
        kept.position(|kept| kept.process() == process)
    }
}
