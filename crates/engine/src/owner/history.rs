//! What is kept of a recorded process, so that it can be shown as it was: the journal of what came from outside, and checkpoints
//! ([`dapple_target::linux::recording`]).
//!
//! The process itself is *the present*. A checkpoint is taken at each stop that is reported there, also at the very first. Long searches take
//! some of copies ([`super::laps`]). Older ones are thinned out. While the user looks at the past, the present stands still, and a copy of a checkpoint is the process of all other modules:
//! [`Owner::process`].

pub(super) mod file;
mod laps;
mod midway;

use super::Owner;
use super::checkpoints::{self, Clock};
use super::hit_counts::HitCounts;
use super::interruptions::Interruptions;
use super::past_jumps::Ahead;
use super::same_memory::Differences;
use super::step_back_again::LastStep;
use super::threads::{Control, Table};
use crate::breakpoints::site::{Protection, Reason};
use crate::stops::{Mode, Stops};
use crate::{Address, Error, ThreadId};
use dapple_arch::registers::user::UserRegisters;
use dapple_inspect::values::Value;
use dapple_target::launch::CheckpointLimits;
use dapple_target::linux::checkpoint::Checkpoint;
use dapple_target::linux::live_process::LiveProcess;
use dapple_target::linux::recording::{Journal, Recorder, Replayer, start};
use dapple_target::linux::wait::Waker;
use dapple_target::process::Process;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// The history of a recorded process. Empty for others.
#[derive(Debug, Default)]
pub(super) struct History {
    journal: Option<Journal>,
    /// The oldest first.
    kept: Vec<Kept>,
    /// The present, while the past is shown.
    present: Option<Left>,
    /// The checkpoint of which a copy is shown, while the past is.
    shown: usize,
    /// The process that is shown.
    live: Option<Arc<LiveProcess>>,
    /// Whether hits have come up to what is shown that weren't counted ([`super::hit_counts`]).
    counts_lack_hits: bool,
    /// How many bookmarks there were.
    bookmarks: u32,
    /// Of a recording that was read from a file: how it ends ([`file`]).
    end: Option<String>,
    limits: CheckpointLimits,
    clock: Clock,
    /// When the recording began.
    begun: Option<Instant>,
    /// The thread that has stepped back just now, and how many inlined calls there count as not entered.
    stepped_back: Option<(ThreadId, usize)>,
    /// Where a step back has ended, until something moves the program.
    last_step: Option<LastStep>,
    /// While a copy is shown in which something is changed.
    diverted: Option<Diverted>,
    /// Of a process that was attached to, while a copy of it is shown.
    protection: Protection,
}

/// A checkpoint.
#[derive(Debug)]
pub(super) struct Kept {
    checkpoint: Checkpoint,
    moment: Moment,
    pub(super) bookmark: Option<Bookmark>,
    /// When the process was there, in seconds since the recording began. For those that were taken of copies, a time in between.
    pub(super) time: f64,
    /// Whether it was taken of a copy, for a search.
    pub(super) is_lap: bool,
    /// The process of the checkpoint from which the process has come here. `None`: of none.
    pub(super) after: Option<ThreadId>,
    /// About how many bytes the process has written since that one, which that one therefore has for its own.
    pub(super) cost: u64,
    /// The most that it can be.
    pub(super) most: u64,
    /// What the process was given by then ([`MemoryUse::faulted`]), and which process that was: the original, or a copy.
    ///
    /// [`MemoryUse::faulted`]: dapple_target::linux::process::MemoryUse::faulted
    given: (ThreadId, u64),
    beside: Beside,
}

/// What is kept with a checkpoint of what the engine knows at its moment.
#[derive(Debug, Default, Clone)]
struct Beside {
    /// Where signal handlers may return to.
    interruptions: Interruptions,
    /// How often breakpoints have been hit.
    counts: HitCounts,
}

/// A moment that is kept for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bookmark {
    /// Its number.
    pub number: u32,
    /// What the user has called it; or what was written there.
    pub name: String,
    /// Whether a search for a write has set it.
    pub is_of_write: bool,
    /// How many things had come from outside.
    pub position: usize,
}

impl Kept {
    /// The process that is the checkpoint.
    pub(super) fn process(&self) -> ThreadId {
        self.checkpoint.process()
    }

    /// The process has come here from another checkpoint.
    fn comes_after(&mut self, before: &Kept) {
        self.after = Some(before.process());
        self.cost = self.written_since(before);
    }

    /// About how much memory the process has written since the checkpoint before.
    fn written_since(&self, before: &Kept) -> u64 {
        let (process, given) = self.given;
        // A copy begins with nothing of its own.
        let then = match before.given {
            (same, then) if same == process => then,
            _ => 0,
        };
        given.saturating_sub(then).min(self.most)
    }

    /// Takes a checkpoint of the stopped process.
    fn of(process: &LiveProcess, time: f64, beside: Beside) -> Result<Kept, String> {
        let runner = process.runner().ok_or("its threads wait in system calls")?;
        let registers = process.registers(runner).map_err(|e| e.to_string())?;
        let memory = process.memory_use();
        Ok(Kept {
            time,
            is_lap: false,
            after: None,
            cost: 0,
            most: memory.resident,
            given: (process.actual_process(), memory.faulted),
            moment: Moment {
                position: process.position().unwrap_or_default(),
                runner: Some((runner, registers)),
            },
            checkpoint: process.checkpoint()?,
            bookmark: None,
            beside,
        })
    }
}

/// A state of the process, in time. All but one of its threads are where something has come to them from outside.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    /// How many things have come from outside.
    pub(super) position: usize,
    /// The thread that runs code of its own, with its registers. `None`: all wait in system calls.
    pub(super) runner: Option<(ThreadId, UserRegisters)>,
}

impl Moment {
    /// Whether two are the same, as far as that is seen by registers. `is_at_call`: as of [`UserRegisters::runs_on_as`].
    fn is(&self, other: &Moment, is_at_call: bool) -> bool {
        let is_same_runner = match (&self.runner, &other.runner) {
            (None, None) => true,
            (Some((one, own)), Some((other, others))) => {
                one == other && own.runs_on_as(others, is_at_call)
            }
            _ => false,
        };
        self.position == other.position && is_same_runner
    }

    /// The thread that runs code of its own.
    pub(super) fn thread(&self) -> Option<ThreadId> {
        self.runner.map(|(thread, _)| thread)
    }

    /// The registers of that thread.
    pub(super) fn registers(&self) -> Option<UserRegisters> {
        self.runner.map(|(_, registers)| registers)
    }

    /// Where that thread is.
    pub(super) fn pc(&self) -> Option<Address> {
        self.registers().map(|registers| registers.pc())
    }
}

/// A process that stands still while another one is shown in its place.
#[derive(Debug)]
pub(super) struct Left {
    pub(super) process: Arc<LiveProcess>,
    pub(super) moment: Moment,
    pub(super) table: Table,
    stops: Stops,
    counts: HitCounts,
    /// As [`History::shown`].
    pub(super) shown: usize,
    /// Where a thread was different that was like this one otherwise.
    differs: Differences,
}

/// A process that was left for a copy in which something is changed, and the temporaries that expressions have kept in it.
pub(super) type Diverted = (Left, Vec<(ThreadId, Value)>);

/// Begins to record a process, before its first instruction.
pub(super) fn begun(
    process: LiveProcess,
    limits: CheckpointLimits,
) -> Result<(Arc<LiveProcess>, History), String> {
    let thread = process.id();
    start::prepare(thread)?;
    let recorder = Recorder::new(thread)?;
    let journal = recorder.journal().clone();
    let process = Arc::new(process.recorded(recorder));
    let mut history = History {
        journal: Some(journal),
        live: Some(Arc::clone(&process)),
        limits,
        begun: Some(Instant::now()),
        ..History::default()
    };
    history.keep(Beside::default())?;
    Ok((process, history))
}

impl History {
    /// What is kept with a checkpoint.
    fn beside(&self, index: usize) -> Beside {
        let kept = self.kept.get(index);
        kept.map(|kept| kept.beside.clone()).unwrap_or_default()
    }

    /// Takes a checkpoint of the stopped process.
    fn keep(&mut self, beside: Beside) -> Result<(), String> {
        let live = self.live.as_ref().ok_or("it isn't recorded")?;
        let time = self
            .begun
            .map_or(0.0, |begun| begun.elapsed().as_secs_f64());
        let mut kept = Kept::of(live, time, beside)?;
        if let Some(last) = self.kept.last() {
            if last.moment.is(&kept.moment, false) {
                return Ok(());
            }
            kept.comes_after(last);
        }
        self.kept.push(kept);
        self.thin_out(&[]);
        Ok(())
    }

    /// Drops checkpoints that are too many, but neither the one from which the copy that is shown has run on, nor those with these
    /// processes.
    /// Returns the indices of those that are gone, each as it was when it went.
    fn thin_out(&mut self, needed: &[ThreadId]) -> Vec<usize> {
        let shown = self.kept.get(self.shown);
        let here = match self.present {
            None => self.kept.last(),
            Some(_) => shown,
        };
        let here = here.map_or(0.0, |kept| kept.time);
        let shown = shown.map(Kept::process);
        let stays = |kept: &Kept| {
            let process = kept.process();
            shown == Some(process) || needed.contains(&process)
        };
        let gone = checkpoints::thin_out(&mut self.kept, self.limits, here, stays);
        for index in &gone {
            self.shown -= usize::from(self.shown > *index);
        }
        gone
    }

    /// The index of the last checkpoint that is known to be before the moment that is shown.
    pub(super) fn before(&self, moment: &Moment) -> Option<usize> {
        // Of those with the same position, which is the earlier one can't be seen. A copy runs on from its own checkpoint.
        let last = match self.present {
            None => usize::MAX,
            Some(_) => self.shown,
        };
        { self.kept.iter().enumerate() }
            .rfind(|(index, kept)| {
                let at = &kept.moment;
                at.position < moment.position || *index <= last && !at.is(moment, false)
            })
            .map(|(index, _)| index)
    }

    /// The moment of a checkpoint.
    pub(super) fn moment(&self, index: usize) -> Option<Moment> {
        self.kept.get(index).map(|kept| kept.moment)
    }

    /// The process of a checkpoint, to look at.
    pub(super) fn kept_process(
        &self,
        index: usize,
        waker: &Arc<Waker>,
    ) -> Result<Arc<dyn Process>, String> {
        let kept = self.kept.get(index).ok_or("there is no such checkpoint")?;
        let process = LiveProcess::open(kept.checkpoint.process(), Arc::clone(waker));
        Ok(Arc::new(process.map_err(|error| error.to_string())?))
    }

    /// A copy of a checkpoint, to run. `process`: the id of the present.
    fn copy(
        &self,
        index: usize,
        process: ThreadId,
        waker: &Arc<Waker>,
    ) -> Result<LiveProcess, String> {
        let kept = self.kept.get(index).ok_or("there is no such checkpoint")?;
        let journal = self.journal.clone().ok_or("nothing was recorded")?;
        let copy = kept.checkpoint.copy()?;
        let replayer = Replayer::new(copy, journal, kept.moment.position)?;
        LiveProcess::replayed(process, Arc::clone(waker), replayer).map_err(|e| e.to_string())
    }
}

impl Owner {
    /// What interrupts the wait for the process.
    fn waker(&self) -> Arc<Waker> {
        Arc::clone(&self.link.waker)
    }

    /// Whether the process is recorded, or was until something came that can't be.
    pub(super) fn is_recorded(&self) -> bool {
        self.history.journal.is_some()
    }

    /// Whether the past is shown.
    pub(super) fn is_in_past(&self) -> bool {
        self.history.present.is_some()
    }

    /// Checks that the present is shown, which can be changed.
    pub(crate) fn require_present(&self) -> Result<(), Error> {
        match self.is_in_past() {
            false => Ok(()),
            true if self.replays_file() => Err(Error::Refused(
                "a recording runs only as it was recorded".into(),
            )),
            true => Err(Error::Refused(
                "the past runs only as it was; `continue` leads back to the present".into(),
            )),
        }
    }

    /// Why the process can't run backwards, as a sentence. `None`: it can.
    pub(super) fn no_history(&self) -> Option<String> {
        let Some(journal) = &self.history.journal else {
            return Some("the program is not recorded: launch it with `\"record\": true`, or enter `record on` in the console".into());
        };
        let gap = journal.gap()?;
        Some(format!("the recording has ended: {gap}"))
    }

    /// Checks that the process can run backwards.
    pub(super) fn require_history(&self) -> Result<(), Error> {
        match self.no_history() {
            Some(why) => Err(Error::Refused(why)),
            None => Ok(()),
        }
    }

    /// Something is about to be changed: in the past, in a copy ([`Owner::divert`]); the present loses its history ([`Owner::forget_history`]).
    pub(super) fn will_change(&mut self) -> Result<(), Error> {
        self.end_present_diversion();
        self.divert()?;
        self.forget_history();
        Ok(())
    }

    /// A thread, which has to be stopped, is about to go on elsewhere. That can only be in the present.
    pub(super) fn will_change_thread(&mut self, thread: ThreadId) -> Result<(), Error> {
        self.require_thread(thread)?;
        self.end_present_diversion();
        self.require_present()?;
        self.forget_history();
        Ok(())
    }

    /// Whether a copy is shown in place of the process that runs: of the past, or one in which something is changed.
    pub(super) fn shows_copy(&self) -> bool {
        self.is_in_past() || self.is_diverted()
    }

    /// Whether a copy is shown in which something is changed.
    pub(super) fn is_diverted(&self) -> bool {
        self.history.diverted.is_some()
    }

    /// A copy is shown in place of this process, in which something is changed.
    pub(super) fn set_diverted(&mut self, left: Diverted) {
        self.history.diverted = Some(left);
    }

    /// As [`Owner::set_diverted`], no more.
    pub(super) fn take_diverted(&mut self) -> Option<Diverted> {
        self.history.diverted.take()
    }

    /// Something other than the program is about to change the present: what was before can't be reached from here any more.
    pub(super) fn forget_history(&mut self) {
        if !self.is_in_past() {
            self.history.kept.clear();
        }
    }

    /// At a stop in the present: takes a checkpoint, if that can be done here.
    pub(super) fn keep_moment(&mut self) {
        let goes_on = { self.history.journal.as_ref() }.is_some_and(Journal::goes_on);
        if !goes_on {
            // Nothing leads back any more.
            return self.forget_history();
        }
        if self.shows_copy() || self.mode() != Mode::Stopped {
            return;
        }
        if self.has_undelivered_signal() {
            return;
        }
        let beside = self.beside();
        if let Err(reason) = self.history.keep(beside) {
            tracing::debug!(%reason, "no checkpoint can be taken");
        }
    }

    fn beside(&mut self) -> Beside {
        Beside {
            interruptions: self.interruptions().clone(),
            counts: self.hit_counts(),
        }
    }

    /// The state of the process, in time. At least the thread that runs code of its own is stopped.
    pub(super) fn moment_now(&mut self) -> Option<Moment> {
        let runner = self.history.live.as_ref()?.runner();
        let runner = runner.and_then(|thread| Some((thread, self.registers(thread)?)));
        Some(Moment {
            position: self.process().position()?,
            runner,
        })
    }

    /// Whether the copy that is shown is where its checkpoint is: it hasn't run on.
    pub(super) fn stands_at_checkpoint(&mut self) -> bool {
        let checkpoint = self.history.moment(self.history.shown);
        checkpoint.is_some_and(|moment| self.stands_at_moment(&moment))
    }

    /// Whether this is a moment, as far as that is seen by registers.
    pub(super) fn stands_at_moment(&mut self, moment: &Moment) -> bool {
        let is_call = moment.pc().is_some_and(|pc| self.is_call_at(pc));
        let now = self.moment_now();
        now.is_some_and(|now| now.is(moment, is_call))
    }

    /// How many things have come from outside in all.
    pub(super) fn journal_length(&self) -> usize {
        self.history.journal.as_ref().map_or(0, Journal::len)
    }

    /// All bookmarks, the earliest moment first.
    pub(super) fn all_bookmarks(&self) -> Vec<Bookmark> {
        let kept = self.history.kept.iter();
        kept.filter_map(|kept| kept.bookmark.clone()).collect()
    }

    /// The index of the checkpoint that has a bookmark.
    pub(super) fn bookmarked(&self, number: u32) -> Result<usize, Error> {
        let has = |kept: &Kept| kept.bookmark.as_ref().is_some_and(|it| it.number == number);
        let index = self.history.kept.iter().position(has);
        index.ok_or_else(|| Error::Refused(format!("there is no bookmark {number}")))
    }

    /// Sets a bookmark at a checkpoint, which keeps one that it has. Returns its number.
    pub(super) fn mark(&mut self, index: usize, name: String, is_of_write: bool) -> u32 {
        let Some(kept) = self.history.kept.get_mut(index) else {
            return 0;
        };
        if let Some(bookmark) = &mut kept.bookmark {
            if !is_of_write {
                (bookmark.name, bookmark.is_of_write) = (name, false);
            }
            return bookmark.number;
        }
        self.history.bookmarks += 1;
        let number = self.history.bookmarks;
        kept.bookmark = Some(Bookmark {
            number,
            name,
            is_of_write,
            position: kept.moment.position,
        });
        number
    }

    /// Removes the bookmark of a checkpoint.
    pub(super) fn unmark(&mut self, index: usize) {
        if let Some(kept) = self.history.kept.get_mut(index) {
            kept.bookmark = None;
        }
    }

    /// The index of a checkpoint of the state that is shown, which is stopped, and whether it was taken just now.
    ///
    /// # Errors
    /// The end of a sentence that says why none can be taken here.
    pub(super) fn keep_here(&mut self) -> Result<(usize, bool), String> {
        if self.is_diverted() {
            // The copy began there.
            return Ok((self.history.shown, false));
        }
        let is_past = self.is_in_past();
        let newest = self.history.kept.len().saturating_sub(1);
        let near = match is_past {
            true => [self.history.shown, self.history.shown + 1],
            false => [newest, newest],
        };
        for index in near {
            if let Some(moment) = self.history.moment(index)
                && self.stands_at_moment(&moment)
            {
                let process = self.history_process(index)?;
                if self.is_at(&moment, process.as_ref(), &mut Differences::default()) {
                    return Ok((index, false));
                }
            }
        }
        match is_past {
            true => Ok((self.keep_lap()?, true)),
            false => {
                let beside = self.beside();
                self.history.keep(beside)?;
                Ok((self.history.kept.len() - 1, true))
            }
        }
    }

    /// A step back has ended where so many inlined calls count as not entered.
    pub(super) fn keep_stepped_back(&mut self, thread: ThreadId, count: usize) {
        self.history.stepped_back = Some((thread, count));
    }

    /// As [`Owner::keep_stepped_back`], once.
    pub(super) fn take_stepped_back(&mut self) -> Option<(ThreadId, usize)> {
        self.history.stepped_back.take()
    }

    /// Keeps where a step back has ended, in place of another one, which is returned.
    pub(super) fn set_last_step(&mut self, step: Option<LastStep>) -> Option<LastStep> {
        std::mem::replace(&mut self.history.last_step, step)
    }

    /// Shows a copy of a checkpoint in place of the present process.
    ///
    /// # Errors
    /// A sentence that says why it can't be shown.
    pub(super) fn show_copy(&mut self, index: usize) -> Result<(), String> {
        let id = self.process().id();
        let copy = self.history.copy(index, id, &self.waker())?;
        let runner = { self.history.moment(index) }.and_then(|moment| moment.runner);
        let copy = Arc::new(copy);
        let threads = copy.replayed_threads();
        self.exchange_process(Arc::clone(&copy));
        self.history.live = Some(copy);
        self.history.shown = index;
        self.exchange_stops(Stops::at_rest(id, &threads));
        let control = |thread: ThreadId| Control {
            passed: { runner }
                .filter(|(runner, _)| *runner == thread)
                .map(|(_, registers)| registers.pc()),
            ..Control::default()
        };
        let controls = threads.iter().map(|thread| (*thread, control(*thread)));
        let Beside {
            interruptions,
            counts,
        } = self.history.beside(index);
        self.exchange_threads(Table::of(controls.collect(), interruptions));
        self.count_from(&counts);
        Ok(())
    }

    /// Leaves the process that is shown, which stands still from now on. `None`: it has died. What is shown next has to be set at once.
    pub(super) fn leave_process(&mut self) -> Option<Left> {
        let moment = self.moment_now()?;
        let process = Arc::clone(self.history.live.as_ref()?);
        let id = self.process().id();
        Some(Left {
            process,
            moment,
            table: self.exchange_threads(Table::default()),
            stops: self.exchange_stops(Stops::at_rest(id, &[])),
            counts: self.hit_counts(),
            shown: self.history.shown,
            differs: Differences::default(),
        })
    }

    /// Shows a process again that was left. All its threads are stopped.
    pub(super) fn return_to(&mut self, left: Left) {
        self.exchange_process(Arc::clone(&left.process));
        self.history.live = Some(left.process);
        self.history.shown = left.shown;
        self.exchange_stops(left.stops);
        self.exchange_threads(left.table.resting());
        self.count_from(&left.counts);
    }

    /// When checkpoints are taken while the process runs.
    pub(super) fn checkpoint_clock(&mut self) -> &mut Clock {
        &mut self.history.clock
    }

    /// The process that is shown, if it is recorded or replayed.
    pub(super) fn history_live(&self) -> Option<&LiveProcess> {
        self.history.live.as_deref()
    }

    /// The moment of a checkpoint.
    pub(super) fn history_moment(&self, index: usize) -> Option<Moment> {
        self.history.moment(index)
    }

    /// The process of a checkpoint, to look at.
    pub(super) fn history_process(&self, index: usize) -> Result<Arc<dyn Process>, String> {
        self.history.kept_process(index, &self.waker())
    }

    /// Whether hits had come up to a checkpoint that weren't counted.
    pub(super) fn history_lacks_hits(&self, index: usize) -> bool {
        let kept = self.history.kept.get(index);
        kept.is_some_and(|kept| kept.beside.counts.lack_hits)
    }

    /// As [`History::counts_lack_hits`].
    pub(super) fn counts_lack_hits(&self) -> bool {
        self.history.counts_lack_hits
    }

    pub(super) fn set_counts_lack_hits(&mut self, lack: bool) {
        self.history.counts_lack_hits = lack;
    }

    /// As [`History::before`].
    pub(super) fn history_before(&self, moment: &Moment) -> Option<usize> {
        self.history.before(moment)
    }

    /// Notes that a process that was left is the present, if there is none yet. Otherwise returns it.
    pub(super) fn keep_present(&mut self, left: Left) -> Option<Left> {
        if self.is_in_past() {
            return Some(left);
        }
        self.history.present = Some(left);
        None
    }

    /// The moment of the present, while the past is shown.
    pub(super) fn present_moment(&self) -> Option<Moment> {
        self.history.present.as_ref().map(|present| present.moment)
    }

    /// Whether the past has come to the present.
    pub(super) fn is_at_present(&mut self) -> bool {
        let Some(present) = &self.history.present else {
            return false;
        };
        let (process, moment) = (Arc::clone(&present.process), present.moment);
        let mut differs = present.differs.clone();
        let is_there = self.is_at(&moment, process.as_ref(), &mut differs);
        if let Some(present) = &mut self.history.present {
            present.differs = differs;
        }
        is_there
    }

    /// The state of the present, while the past is shown.
    pub(super) fn present_ahead(&self) -> Option<Ahead> {
        let present = self.history.present.as_ref()?;
        let registers = present.moment.registers()?;
        Some(Ahead::of(
            registers,
            present.process.as_ref(),
            &present.differs,
        ))
    }

    /// In a copy: all memory that the recorded process has ever mapped, or has now.
    pub(super) fn mapped_in_history(&self) -> Vec<Range<u64>> {
        let Some(present) = &self.history.present else {
            return Vec::new();
        };
        let journal = self.history.journal.as_ref();
        let mut mapped = journal.map(Journal::mapped).unwrap_or_default();
        let now = present.process.mappings().into_iter();
        mapped.extend(now.map(|mapping| mapping.start..mapping.end));
        mapped
    }

    /// Shows the present in place of the past. All its threads are stopped.
    pub(super) fn return_to_present(&mut self) {
        self.remove_sites(Reason::Present);
        self.history.diverted = None;
        if let Some(present) = self.history.present.take() {
            self.return_to(present);
        }
    }

    /// While the past runs: it has come to the present, with a thread that is stopped. All others run on there, unless all were asked to stop
    /// in the past: in the present, they have stopped already.
    pub(super) fn arrive_in_present(&mut self, thread: ThreadId) {
        let mode = self.mode();
        self.return_to_present();
        match mode {
            Mode::Running => {
                self.run_again();
                for other in self.stopped_threads() {
                    if other != thread {
                        self.release(other);
                    }
                }
            }
            Mode::Stopping => self.have_all_stopped(),
            // The action that says so is queued.
            Mode::Stopped => {}
        }
    }

    /// Before a forked child runs, which isn't recorded.
    pub(super) fn runs_unrecorded(&self, child: ThreadId) {
        if self.is_recorded()
            && let Err(reason) = start::untrap_time(child)
        {
            tracing::warn!(%child, %reason, "instructions still trap that read the time");
        }
    }

    /// Shows the present, if the past is shown and stands still.
    pub(super) fn leave_past(&mut self) {
        self.end_diversion();
        if self.is_in_past() && self.mode() == Mode::Stopped {
            self.return_to_present();
        }
    }

    /// Before the process is let go: it is shown as it is, and runs on unrecorded.
    pub(super) fn leave_history(&mut self) {
        if !self.is_recorded() {
            return;
        }
        self.leave_past();
        self.untrap_time();
        self.history = History::default();
    }

    /// Whether the process is in a state in which `other` stands still. `differs`: where memory has differed before.
    pub(super) fn is_at(
        &mut self,
        moment: &Moment,
        other: &dyn Process,
        differs: &mut Differences,
    ) -> bool {
        let is_call = moment.pc().is_some_and(|pc| self.is_call_at(pc));
        let now = self.moment_now();
        if !now.is_some_and(|now| now.is(moment, is_call)) {
            return false;
        }
        let found = self.difference_from(other, differs);
        if let Some(at) = found {
            tracing::debug!(%at, pc = ?moment.pc(), "the memory of two states differs");
        }
        // Where they have differed once, they may again.
        found.into_iter().for_each(|at| differs.note(at));
        found.is_none()
    }
}
