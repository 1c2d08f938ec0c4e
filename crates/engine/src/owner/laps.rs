//! Getting near the end of a long search.
//!
//! What is looked for in the past is often near its end: the line before, the last hit of a breakpoint that is hit often. But the last checkpoint
//! may be a second before, in which a step back's places are passed millions of times. So a search that takes long is given up, and a copy runs
//! up to the end without stops: in *laps*, with a checkpoint between two of them. Then another copy does the last lap in shorter laps, and so on.
//! The search begins anew in the last, short lap; those before are searched if nothing is found there. The checkpoints stay for the next search.
//!
//! Where next to nothing stops the threads, the search itself is as fast as that. It goes on then, and takes the checkpoints on its way.

use super::Owner;
use super::travel::{Goal, Run, Travel};
use crate::ThreadId;
use crate::stops::Mode;
use dapple_target::linux::alarm::Alarm;
use std::time::{Duration, Instant};

/// How long a search may take before laps are made.
const PATIENCE: Duration = Duration::from_millis(50);
/// How long the first laps are.
const FIRST: Duration = Duration::from_millis(64);
/// How many times shorter the laps within a lap are.
const SHORTER: u32 = 8;
/// How long a lap is that isn't divided.
const SHORTEST: Duration = Duration::from_millis(2);
/// The most laps of one length.
const MOST: usize = 16;
/// How long laps become if they take much memory: behind each checkpoint, the program copies each page that it writes, and runs slowly.
const LARGE: Duration = Duration::from_millis(256);

/// When the end of a lap is tried again.
const SOON: Duration = Duration::from_micros(100);
/// How often it is tried at most.
const MOST_TRIES: usize = 8;

/// How many stops in a lap are few.
const FEW: u32 = 16;

/// The laps of a search.
#[derive(Debug)]
pub(super) struct Laps {
    /// How long a lap is, or the search may take. `None`: as long as it takes.
    every: Option<Duration>,
    /// When the present lap, or the search, has begun.
    begun: Instant,
    /// How many checkpoints were taken in this run.
    taken: usize,
    /// Whether those of this run took more memory than laps may.
    are_large: bool,
    /// How long they become then.
    large: Duration,
    /// How long laps are in the next run.
    next: Duration,
    /// How often no checkpoint could be taken at the end of this lap.
    tries: usize,
    /// Whether there were laps already.
    made: bool,
    /// Whether the search begins as near to its end as can be.
    near: bool,
    /// The process of the checkpoint from which this run has begun.
    origin: Option<ThreadId>,
    /// The process of the last checkpoint behind which a search has found something before it has taken the next one, and how many.
    found: Option<(ThreadId, usize)>,
    alarm: Alarm,
}

impl Default for Laps {
    fn default() -> Laps {
        Laps {
            every: None,
            begun: Instant::now(),
            taken: 0,
            are_large: false,
            large: LARGE,
            next: FIRST,
            tries: 0,
            made: false,
            near: false,
            origin: None,
            found: None,
            alarm: Alarm::default(),
        }
    }
}

impl Laps {
    /// A run begins at a checkpoint.
    pub(super) fn run_begins(&mut self, run: Run, checkpoint: Option<ThreadId>) {
        (self.origin, self.found) = (checkpoint, None);
        self.every = match run {
            Run::Search => (!self.made || !self.near).then_some(PATIENCE),
            Run::Laps => Some(self.next),
            Run::Count(_) | Run::Near(..) | Run::To(_) => None,
        };
        self.made |= run == Run::Laps;
        (self.taken, self.tries) = (0, 0);
        self.are_large &= run != Run::Laps;
        self.large = match run {
            Run::Laps => LARGE,
            // Nothing has to be done in the last lap.
            _ => Duration::MAX,
        };
        self.begun = Instant::now();
        match self.every {
            Some(every) => {
                self.alarm.ring_every(every);
            }
            None => self.alarm.end(),
        }
    }

    /// Whether it is time for a checkpoint, or for laps.
    fn is_over(&self) -> bool {
        self.every
            .is_some_and(|every| self.begun.elapsed() >= every)
    }

    /// The search begins as near to its end as can be.
    pub(super) fn is_near(&mut self) {
        self.near = true;
    }

    /// The search goes on with what was before.
    pub(super) fn is_further(&mut self) {
        self.near = false;
    }

    /// A lap begins.
    fn begins(&mut self) {
        self.begun = Instant::now();
        if std::mem::take(&mut self.tries) > 0
            && let Some(every) = self.every
        {
            self.alarm.ring_every(every);
        }
    }

    /// The thread has come nowhere in this lap: where the machine is busy, it takes longer to let a thread run than a lap is long.
    fn lengthens(&mut self) {
        self.begun = Instant::now();
        self.every = self.every.map(|every| every * 2);
        if let Some(every) = self.every {
            self.alarm.ring_every(every);
        }
    }

    /// No checkpoint can be taken where the thread is now. Returns whether it will be stopped again soon.
    fn tries_soon_again(&mut self) -> bool {
        self.tries += 1;
        self.alarm.ring_every(SOON);
        self.tries < MOST_TRIES
    }

    /// The run in laps has come to its end. Returns whether the last lap is to be divided.
    pub(super) fn divides(&mut self) -> bool {
        let every = self.every.unwrap_or_default();
        self.next = every / SHORTER;
        let is_long = self.taken > 0 && self.begun.elapsed() > SHORTEST && every > SHORTEST;
        // Shorter ones would take more memory, and most of their time would go to copying it.
        is_long && !self.are_large
    }

    /// No passes can be counted in the last lap, which was not divided: whether it is to be.
    pub(super) fn divides_after_all(&mut self) -> bool {
        std::mem::take(&mut self.are_large)
    }

    /// The laps take more memory than they may: some are gone.
    fn get_large(&mut self) {
        self.are_large = true;
        let longer = |every: Duration| (every * 2).min(every.max(self.large));
        self.every = self.every.map(longer);
    }

    /// A checkpoint before `from` is gone, from which the copy runs on.
    pub(super) fn dropped(&mut self, from: usize, index: usize) {
        if (from + 1 - self.taken..from).contains(&index) {
            self.taken -= 1;
            self.get_large();
        }
    }

    /// Whether a search has found something before its last checkpoint.
    pub(super) fn have_found(&self) -> bool {
        self.found.is_some()
    }

    /// The processes of checkpoints that the run may come back to.
    fn needed(&self) -> impl Iterator<Item = ThreadId> {
        let found = self.found.map(|(process, _)| process);
        self.origin.into_iter().chain(found)
    }

    /// How many checkpoints were taken in this run.
    pub(super) fn taken(&self) -> usize {
        self.taken
    }
}

impl Travel {
    /// A checkpoint was inserted at an index, from which the copy runs on.
    pub(super) fn inserted(&mut self, index: usize) {
        self.from = index;
        if let Some(left) = &mut self.left
            && left.shown >= index
        {
            left.shown += 1;
        }
    }

    /// Some of the last checkpoints that were inserted are gone.
    pub(super) fn removed(&mut self, gone: usize) {
        self.from -= gone;
        if let Some(left) = &mut self.left
            && left.shown > self.from
        {
            left.shown -= gone;
        }
    }

    /// A checkpoint is gone, but not the one from which the copy runs on.
    pub(super) fn dropped(&mut self, index: usize) {
        self.laps.dropped(self.from, index);
        self.from -= usize::from(self.from > index);
        if let Some(left) = &mut self.left {
            left.shown = left.shown.saturating_sub(usize::from(left.shown >= index));
        }
    }
}

impl Owner {
    /// The wait for the debuggee was interrupted, perhaps because a lap is over.
    pub(super) fn lap_ticks(&mut self) {
        let is_over = self.search().is_some_and(|travel| travel.laps.is_over());
        if is_over && self.mode() == Mode::Running {
            self.stop_all();
            self.perform();
        }
    }

    /// All threads have stopped during a search. Returns the run with which it has to begin anew, if the search takes long. Otherwise a lap may
    /// be over: takes a checkpoint.
    pub(super) fn lap_stopped(&mut self, travel: &mut Travel) -> Option<Run> {
        if !travel.laps.is_over() {
            return None;
        }
        if travel.span.is_long() {
            // There are checkpoints on its way.
            travel.laps.begins();
            return self.shortens_span(travel).then_some(Run::Search);
        }
        if travel.run == Run::Search && !self.stops_rarely(travel) {
            if self.depends_on_counts(&travel.goal) {
                // Hits come in each run, and have to be counted.
                travel.laps.begins();
                return None;
            }
            if !travel.laps.made {
                return Some(Run::Laps);
            }
            let run = self.counts_instead(travel);
            travel.laps.begins();
            let is_slow = run.is_none() && self.is_slow(travel);
            return match is_slow && travel.laps.divides_after_all() {
                true => Some(Run::Laps),
                false => run,
            };
        }
        // Between two checkpoints of the same state, a search would never come to its end.
        if self.stands_at_moment(&travel.end.moment) || self.stands_at_checkpoint() {
            travel.laps.lengthens();
            return None;
        }
        // A search that ends here must be able to find this state without a stop for each pass.
        let pc = self.moment_now().and_then(|now| now.pc());
        let fits = pc.is_some_and(|pc| self.fits_jump(travel.thread, pc));
        if !fits && travel.laps.tries_soon_again() {
            return None;
        }
        match fits {
            true => self.take_lap(travel),
            // There may be no such place around.
            false => travel.laps.every = travel.laps.every.map(|every| every * 2),
        }
        travel.laps.begins();
        None
    }

    /// Whether next to nothing stops a thread in a search that may take checkpoints on its way.
    pub(super) fn stops_rarely(&self, travel: &Travel) -> bool {
        if matches!(travel.goal, Goal::Places(_)) || self.is_calling() {
            return false;
        }
        let hot = travel.hot.iter().filter(|(at, _)| !self.has_jump(**at));
        hot.map(|(_, stops)| *stops).sum::<u32>() <= FEW
    }

    /// A search has come to its end, and has found nothing behind its last checkpoint. It goes on from the last one behind which it has found
    /// something: returns how many. `None`: it has found nothing, and goes on from where it has begun.
    pub(super) fn found_in_laps(&mut self, travel: &mut Travel) -> Option<usize> {
        if travel.run != Run::Search {
            return None;
        }
        let index = |process: ThreadId| self.checkpoint_of(process);
        if let Some((process, count)) = travel.laps.found {
            travel.from = index(process)?;
            return Some(count);
        }
        travel.from = travel.laps.origin.and_then(index).unwrap_or(travel.from);
        None
    }

    /// Takes a checkpoint of the copy that runs, with which the search goes on.
    pub(super) fn take_lap(&mut self, travel: &mut Travel) {
        self.clean_for_stop();
        let before = self.checkpoint_process(travel.from);
        match self.keep_lap() {
            Ok(index) => travel.inserted(index),
            Err(reason) => {
                tracing::debug!(%reason, "no checkpoint can be taken here");
                return;
            }
        }
        if travel.run == Run::Search
            && let Some(count) = travel.begins_lap()
        {
            travel.laps.found = before.map(|before| (before, count));
        }
        let end = travel.end.process.id();
        let needed: Vec<ThreadId> = travel.laps.needed().chain([end]).collect();
        let laps = &mut travel.laps;
        laps.taken += 1;
        let all = travel.from + 1 - laps.taken..travel.from + 1;
        let are_large = laps.taken > 2 && self.are_laps_large(all.clone());
        if laps.taken >= MOST || are_large {
            let gone = self.drop_laps(all, &needed);
            laps.taken -= gone;
            match are_large {
                true => laps.get_large(),
                false => laps.every = laps.every.map(|every| every * 2),
            }
            travel.removed(gone);
        }
        tracing::debug!(taken = travel.laps.taken, every = ?travel.laps.every, "a lap");
        for index in self.thin_out_history(&needed) {
            travel.dropped(index);
        }
    }
}
