//! Which checkpoints of a recorded process are kept, and when some are taken while it runs.
//!
//! The more checkpoints there are, the shorter is the way from one of them to a moment of the past. So one is taken about each second while the process
//! runs, besides those at stops. All threads are stopped for a moment for that. The older they are, the fewer are kept: those go first that are near to
//! their neighbours, compared with how far away they are from what is shown, and that take much memory. A checkpoint costs the memory that the process has
//! written since; that is estimated from page faults.

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

/// What there may be too much of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limit {
    Count,
    /// The memory of laps.
    Laps,
    Memory,
}

impl Limit {
    fn is_exceeded(self, kept: &[Kept], limits: CheckpointLimits) -> bool {
        let bookmarks = kept.iter().filter(|kept| kept.bookmark.is_some()).count();
        let memory = kept.iter().map(|kept| kept.cost).sum::<u64>();
        let laps = { kept.iter() }.filter(|kept| kept.is_lap && kept.bookmark.is_none());
        match self {
            Limit::Count => kept.len() > limits.count + bookmarks,
            Limit::Laps => laps.map(|kept| kept.cost).sum::<u64>() > memory_for_laps(limits),
            Limit::Memory => memory > limits.memory,
        }
    }
}

/// How much memory laps may take: the checkpoints that were there before are needed, too, if a search goes far back.
pub(super) fn memory_for_laps(limits: CheckpointLimits) -> u64 {
    limits.memory / 4
}

/// Drops the least useful checkpoints of a list until it is within the limits, but neither the first, nor the last, nor those with bookmarks or for
/// which `stays` is true. `here`: the time of the moment that is shown. Returns the indices of those that are gone, each as it was when it went.
pub(super) fn thin_out(
    kept: &mut Vec<Kept>,
    limits: CheckpointLimits,
    here: f64,
    stays: impl Fn(&Kept) -> bool,
) -> Vec<usize> {
    let mut gone = Vec::new();
    let all = [Limit::Count, Limit::Laps, Limit::Memory];
    let mut next = || {
        let exceeded = all
            .into_iter()
            .filter(|limit| limit.is_exceeded(kept, limits));
        let least = { exceeded }.find_map(|limit| least_useful(kept, limit, here, &stays))?;
        drop_one(kept, least);
        Some(least)
    };
    while let Some(index) = next() {
        gone.push(index);
    }
    gone
}

/// The index of the checkpoint that goes first. `None`: none may, or it would be of no use.
fn least_useful(
    kept: &[Kept],
    limit: Limit,
    here: f64,
    stays: impl Fn(&Kept) -> bool,
) -> Option<usize> {
    let may_go = |kept: &Kept| {
        kept.bookmark.is_none() && !stays(kept) && (limit != Limit::Laps || kept.is_lap)
    };
    let inner = 1..kept.len().saturating_sub(1);
    let free = inner.filter(|index| may_go(&kept[*index]));
    // How much longer the way gets, compared with how far it is away, for what is saved.
    let harms = free.filter_map(|index| {
        let gap = kept[index + 1].time - kept[index - 1].time;
        let harm = gap / (here - kept[index].time).abs().max(f64::EPSILON);
        match (limit, saved_by(kept, index)) {
            (Limit::Count, _) => Some((index, harm)),
            (_, 0) => None,
            (_, saved) => Some((index, harm / saved as f64)),
        }
    });
    let least = harms.min_by(|(_, one), (_, other)| one.total_cmp(other));
    least.map(|(index, _)| index)
}

/// What a checkpoint costs that comes after another one, if that goes: what was written up to that one was written since the one before that.
fn joined_cost(kept: &Kept, gone: &Kept) -> u64 {
    (kept.cost + gone.cost).min(kept.most).max(kept.cost)
}

/// About how many bytes are free when a checkpoint is gone.
fn saved_by(kept: &[Kept], index: usize) -> u64 {
    let gone = &kept[index];
    let next = kept
        .iter()
        .filter(|kept| kept.after == Some(gone.process()));
    let more = next.map(|next| joined_cost(next, gone) - next.cost).sum();
    gone.cost.saturating_sub(more)
}

/// Drops a checkpoint.
pub(super) fn drop_one(kept: &mut Vec<Kept>, index: usize) {
    let gone = kept.remove(index);
    let process = Some(gone.process());
    for next in kept.iter_mut().filter(|kept| kept.after == process) {
        next.cost = joined_cost(next, &gone);
        next.after = gone.after;
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
