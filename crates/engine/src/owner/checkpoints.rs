//! Which checkpoints of a recorded process are kept, and when some are taken while it runs.
//!
//! The more checkpoints there are, the shorter is the way from one of them to a moment of the past. So one is taken about each second while the process
//! runs, besides those at stops. All threads are stopped for a moment for that. The older they are, the fewer are kept: those go first that are near to
//! their neighbours, compared with their age. A checkpoint costs the memory that the process has written since; that is estimated from page faults.

use super::Owner;
use super::history::Kept;
use crate::stops::Mode;
use dapple_target::launch::CheckpointLimits;
use dapple_target::linux::alarm::Alarm;
use std::time::{Duration, Instant};

/// How long the process runs between two checkpoints.
const EVERY: Duration = Duration::from_secs(1);
/// When it is tried again, if none can be taken, and how often at most.
const SOON: Duration = Duration::from_millis(2);
const MOST_TRIES: usize = 16;

/// When checkpoints are taken while the process runs.
#[derive(Debug, Default)]
pub(super) struct Clock {
    alarm: Alarm,
    /// When the process began to run, or the last checkpoint was taken.
    since: Option<Instant>,
    /// How many things had come from outside then.
    length: usize,
    /// All threads are being stopped for a checkpoint.
    is_due: bool,
    tries: usize,
}

impl Clock {
    fn starts(&mut self, length: usize) {
        *self = Clock {
            alarm: std::mem::take(&mut self.alarm),
            since: Some(Instant::now()),
            length,
            ..Clock::default()
        };
        self.alarm.ring_every(EVERY);
    }

    fn ends(&mut self) {
        if self.since.take().is_some() {
            self.alarm.end();
        }
        self.is_due = false;
    }
}

/// What is kept of a list of checkpoints: drops the least useful ones until it is within the limits, but neither the first, nor the last, nor those
/// with bookmarks. `shown` is the index of one of them, or of the one before if that goes.
pub(super) fn thin_out(kept: &mut Vec<Kept>, shown: &mut usize, limits: CheckpointLimits) {
    let now = kept.last().map_or(0.0, |last| last.time);
    loop {
        let bookmarks = kept.iter().filter(|kept| kept.bookmark.is_some()).count();
        let memory: u64 = kept.iter().map(|kept| kept.cost).sum();
        if kept.len() <= limits.count + bookmarks && memory <= limits.memory {
            return;
        }
        let inner = 1..kept.len().saturating_sub(1);
        let free = inner.filter(|index| kept[*index].bookmark.is_none());
        // How much longer the way gets, compared with how far it is away.
        let harm = |index: &usize| {
            let gap = kept[index + 1].time - kept[index - 1].time;
            gap / (now - kept[*index].time).max(1e-3)
        };
        let Some(least) = free.min_by(|one, other| harm(one).total_cmp(&harm(other))) else {
            return;
        };
        drop_one(kept, least);
        if *shown >= least {
            *shown = shown.saturating_sub(1);
        }
    }
}

/// Drops a checkpoint.
pub(super) fn drop_one(kept: &mut Vec<Kept>, index: usize) {
    let gone = kept.remove(index);
    // What was written up to it was written since the one before that.
    if let Some(next) = kept.get_mut(index) {
        next.cost = (next.cost + gone.cost).min(next.most);
    }
}

impl Owner {
    /// The process runs from now on: checkpoints are taken, if it is recorded and this is the present.
    pub(super) fn begin_checkpoints(&mut self) {
        if self.is_recorded() && !self.shows_copy() {
            let length = self.journal_length();
            self.checkpoint_clock().starts(length);
        }
    }

    /// A stop is reported.
    pub(super) fn end_checkpoints(&mut self) {
        if self.is_recorded() {
            self.checkpoint_clock().ends();
        }
    }

    /// The wait for the debuggee was interrupted, perhaps because it is time for a checkpoint.
    pub(super) fn checkpoint_ticks(&mut self) {
        if !self.is_recorded() || self.shows_copy() || self.mode() != Mode::Running {
            return;
        }
        if self.is_calling() || self.is_travelling() || self.no_history().is_some() {
            return;
        }
        let length = self.journal_length();
        let computes = self.history_live().is_some_and(|live| live.computes());
        let clock = self.checkpoint_clock();
        let is_over = clock.since.is_some_and(|since| since.elapsed() >= EVERY);
        // Where all wait, there is nothing to go over.
        if !is_over || clock.is_due || !computes && clock.length == length {
            return;
        }
        clock.is_due = true;
        self.stop_all();
        self.perform();
    }

    /// All threads have stopped, and there is nothing to report: takes a checkpoint if that is what they have stopped for.
    pub(super) fn take_due_checkpoint(&mut self) {
        if !self.is_recorded() || !std::mem::take(&mut self.checkpoint_clock().is_due) {
            return;
        }
        let pc = self
            .moment_now()
            .and_then(|now| Some((now.thread()?, now.pc()?)));
        // A search that ends here must be able to find this state without a stop for each pass.
        let fits = pc.is_some_and(|(thread, pc)| self.fits_jump(thread, pc));
        let length = self.journal_length();
        let clock = self.checkpoint_clock();
        if !fits && clock.tries < MOST_TRIES {
            clock.tries += 1;
            clock.alarm.ring_every(SOON);
            return;
        }
        self.clean_for_stop();
        self.keep_moment();
        self.checkpoint_clock().starts(length);
    }
}
