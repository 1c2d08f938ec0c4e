//! What is kept of a recorded process, so that it can be shown as it was: the journal of what came from outside, and checkpoints
//! ([`dapple_target::linux::recording`]).
//!
//! The process itself is *the present*. A checkpoint is taken at each stop that is reported there, also at the very first. Older ones are
//! thinned out. While the user looks at the past, the present stands still, and a copy of a checkpoint is the process of all other modules:
//! [`Owner::process`].

use super::Owner;
use super::threads::Control;
use crate::breakpoints::site::Reason;
use crate::stops::Mode;
use crate::{Address, Error, ThreadId};
use dapple_arch::registers::user::UserRegisters;
use dapple_inspect::inspect::Inspect;
use dapple_target::linux::checkpoint::{Checkpoint, Original};
use dapple_target::linux::live_process::LiveProcess;
use dapple_target::linux::recording::{Journal, Recorder, Replayer, start};
use dapple_target::linux::wait::Waker;
use dapple_target::process::Process;
use std::sync::Arc;

/// The most checkpoints that are kept.
const MOST: usize = 64;
/// How much memory is compared at a time, in bytes.
const BLOCK: u64 = 1 << 16;
/// The bytes below a thread's stack pointer that are its own (ABI §3.2.2).
const RED_ZONE: u64 = 128;

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
}

/// A checkpoint.
#[derive(Debug)]
struct Kept {
    checkpoint: Checkpoint,
    moment: Moment,
}

/// A state of the thread, in time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    /// How many things have come from outside.
    pub(super) position: usize,
    pub(super) registers: UserRegisters,
}

/// A process that stands still while another one is shown in its place.
#[derive(Debug)]
pub(super) struct Left {
    pub(super) process: Arc<dyn Process>,
    pub(super) moment: Moment,
    control: Control,
    /// As [`History::shown`].
    shown: usize,
}

/// Begins to record a process, before its first instruction.
pub(super) fn begun(process: LiveProcess) -> Result<(LiveProcess, History), String> {
    let thread = process.id();
    start::prepare(thread)?;
    let recorder = Recorder::new(thread)?;
    let journal = recorder.journal().clone();
    let process = process.recorded(recorder);
    let mut history = History {
        journal: Some(journal),
        ..History::default()
    };
    history.keep(thread, &process)?;
    Ok((process, history))
}

impl History {
    /// Takes a checkpoint of the stopped process.
    fn keep(&mut self, thread: ThreadId, process: &dyn Process) -> Result<(), String> {
        let registers = process.registers(thread).map_err(|e| e.to_string())?;
        let position = process.position().unwrap_or_default();
        let checkpoint = Checkpoint::take(&[Original::ask(thread)?])?;
        let moment = Moment {
            position,
            registers,
        };
        self.kept.push(Kept { checkpoint, moment });
        if self.kept.len() > MOST {
            self.thin_out();
        }
        Ok(())
    }

    /// Drops every second one of the older half, but not the first.
    fn thin_out(&mut self) {
        let half = self.kept.len() / 2;
        let mut index = 0;
        self.kept.retain(|_| {
            index += 1;
            index > half || index % 2 == 1
        });
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
                let is_same =
                    at.position == moment.position && at.registers.runs_on_as(&moment.registers);
                at.position < moment.position || *index <= last && !is_same
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
            true => Err(Error::Refused(
                "the past can't be changed; `continue` leads back to the present".into(),
            )),
        }
    }

    /// Why the process can't run backwards, as a sentence. `None`: it can.
    pub(super) fn no_history(&self) -> Option<String> {
        let Some(journal) = &self.history.journal else {
            return Some("the program is not recorded: launch it with `\"record\": true`".into());
        };
        let gap = journal.gap()?;
        Some(format!("the recording has ended: {gap}"))
    }

    /// Checks that the present is shown, and notes that it is about to be changed: [`Owner::forget_history`].
    pub(super) fn will_change(&mut self) -> Result<(), Error> {
        self.require_present()?;
        self.forget_history();
        Ok(())
    }

    /// As [`Owner::will_change`], for a thread, which has to be stopped.
    pub(super) fn will_change_thread(&mut self, thread: ThreadId) -> Result<(), Error> {
        self.require_thread(thread)?;
        self.will_change()
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
        if self.is_in_past() || self.mode() != Mode::Stopped {
            return;
        }
        let thread = self.current();
        let Some(registers) = self.registers(thread) else {
            return;
        };
        let is_between = self.control(thread).signal != 0
            || registers.restarts_system_call()
            || self.process().is_within_system_call(thread);
        if is_between {
            return;
        }
        let process = self.memory_process();
        if let Err(reason) = self.history.keep(thread, process.as_ref()) {
            tracing::warn!(%reason, "no checkpoint can be taken");
        }
    }

    /// The state of a stopped thread, in time.
    pub(super) fn moment_of(&mut self, thread: ThreadId) -> Option<Moment> {
        Some(Moment {
            position: self.process().position()?,
            registers: self.registers(thread)?,
        })
    }

    /// Shows a copy of a checkpoint in place of the present process.
    ///
    /// # Errors
    /// A sentence that says why it can't be shown.
    pub(super) fn show_copy(&mut self, thread: ThreadId, index: usize) -> Result<(), String> {
        let id = self.process().id();
        let copy = self.history.copy(index, id, &self.link.waker)?;
        let passed = { self.history.moment(index) }.map(|moment| moment.registers.pc());
        self.exchange_process(Arc::new(copy));
        self.history.shown = index;
        *self.control(thread) = Control {
            passed,
            ..Control::default()
        };
        Ok(())
    }

    /// Leaves the process that is shown, which stands still from now on. `None`: it has died.
    pub(super) fn leave_process(&mut self, thread: ThreadId) -> Option<Left> {
        let moment = self.moment_of(thread)?;
        let control = std::mem::take(self.control(thread));
        Some(Left {
            process: self.memory_process(),
            moment,
            control,
            shown: self.history.shown,
        })
    }

    /// Shows a process again that was left.
    pub(super) fn return_to(&mut self, thread: ThreadId, left: Left) {
        self.exchange_process(left.process);
        self.history.shown = left.shown;
        *self.control(thread) = Control {
            registers: None,
            unwritten: false,
            watched: 0,
            ..left.control
        };
    }

    /// The moment of a checkpoint.
    pub(super) fn history_moment(&self, index: usize) -> Option<Moment> {
        self.history.moment(index)
    }

    /// The process of a checkpoint, to look at.
    pub(super) fn history_process(&self, index: usize) -> Result<Arc<dyn Process>, String> {
        self.history.kept_process(index, &self.link.waker)
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

    /// Whether a stopped thread of the past has come to the present.
    pub(super) fn is_at_present(&mut self, thread: ThreadId) -> bool {
        let Some(present) = &self.history.present else {
            return false;
        };
        let (process, moment) = (Arc::clone(&present.process), present.moment);
        self.is_at(thread, &moment, process.as_ref(), &mut None)
    }

    /// Shows the present in place of the past.
    pub(super) fn return_to_present(&mut self, thread: ThreadId) {
        self.remove_sites(Reason::Present);
        if let Some(present) = self.history.present.take() {
            self.return_to(thread, present);
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
        if self.is_in_past() && self.mode() == Mode::Stopped {
            self.return_to_present(self.current());
        }
    }

    /// Before the process is let go: it is shown as it is, and runs on unrecorded.
    pub(super) fn leave_history(&mut self) {
        if !self.is_recorded() {
            return;
        }
        self.leave_past();
        for thread in self.stopped_threads() {
            if let Err(reason) = start::untrap_time(thread) {
                tracing::warn!(%reason, "instructions still trap that read the time");
            }
        }
        self.history = History::default();
    }

    /// Whether the process is in a state in which `other` stands still. `differs`: where memory has differed before.
    pub(super) fn is_at(
        &mut self,
        thread: ThreadId,
        moment: &Moment,
        other: &dyn Process,
        differs: &mut Option<Address>,
    ) -> bool {
        let Some(now) = self.moment_of(thread) else {
            return false;
        };
        if now.position != moment.position || !now.registers.runs_on_as(&moment.registers) {
            return false;
        }
        *differs = first_difference(self.process(), other, now.registers.sp(), *differs);
        differs.is_none()
    }
}

/// The address of a block of memory in which two processes differ that have the same mappings; `None`: they don't. `first` is looked at first.
fn first_difference(
    one: &dyn Process,
    other: &dyn Process,
    sp: u64,
    first: Option<Address>,
) -> Option<Address> {
    if let Some(at) = first
        && differ(one, other, at, BLOCK)
    {
        return first;
    }
    for mapping in one.mappings() {
        if !mapping.write || !mapping.read {
            continue;
        }
        let is_stack = (mapping.start..mapping.end).contains(&sp);
        let mut at = match is_stack {
            true => sp - RED_ZONE,
            false => mapping.start,
        };
        while at < mapping.end {
            let size = BLOCK.min(mapping.end - at);
            if differ(one, other, Address(at), size) {
                return Some(Address(at));
            }
            at += size;
        }
    }
    None
}

fn differ(one: &dyn Process, other: &dyn Process, at: Address, size: u64) -> bool {
    let read = |process: &dyn Process| {
        let mut bytes = vec![0; size as usize];
        let length = process.read_some(at, &mut bytes);
        bytes.truncate(length);
        bytes
    };
    read(one) != read(other)
}
