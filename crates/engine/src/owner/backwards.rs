//! Running backwards behind a stub that replays a recording, such as QEMU's and rr's.
//!
//! Threads run into sites from behind then, and what makes them stop (breakpoints, conditions, watched data) works as ever. A step back has sites
//! at the same places as one in a recording of Dapple's own ([`super::step_back`]). A line may have several places, and a loop on one line comes to each
//! again and again. So at each place, one more instruction is stepped back: if that is in the same line, the line has begun earlier.

use super::Owner;
use super::step_back::{Line, Places, StepBack};
use crate::breakpoints::site::Reason;
use crate::event::StopReason;
use crate::{Address, Error, ThreadId};

/// What the process runs backwards for.
#[derive(Debug)]
pub(super) struct Backwards {
    thread: ThreadId,
    /// The places to which a step back goes. `None`: the thread runs until something makes it stop.
    places: Option<Places>,
}

impl Owner {
    /// Whether the process runs backwards.
    pub(super) fn is_running_backwards(&self) -> bool {
        self.backwards().is_some()
    }

    /// Whether the process can run backwards, because a stub replays it.
    pub(crate) fn can_run_backwards(&self) -> bool {
        self.process().runs_backwards()
    }

    /// Runs backwards until something makes a thread stop.
    pub(super) fn run_backwards(&mut self, thread: ThreadId) -> Result<(), Error> {
        self.begin_backwards(thread, None)
    }

    /// Steps a thread backwards.
    pub(super) fn step_backwards(&mut self, thread: ThreadId, how: StepBack) -> Result<(), Error> {
        match how {
            StepBack::Instruction => self.step_instruction_back(thread),
            StepBack::Into => Err(Error::Refused(
                "behind a stub, a step back doesn't enter functions; set a breakpoint there, and run back to it"
                    .into(),
            )),
            StepBack::Line | StepBack::Statement | StepBack::Out => {
                let places = self.places_before(thread, how).map_err(Error::Refused)?;
                self.begin_backwards(thread, Some(places))
            }
        }
    }

    fn begin_backwards(&mut self, thread: ThreadId, places: Option<Places>) -> Result<(), Error> {
        self.drop_kept();
        self.end_step();
        let here = self.registers(thread).map(|registers| registers.pc());
        for at in places.iter().flat_map(|places| places.all.keys()) {
            let inserted = self.insert_site(*at, Reason::Travel);
            if let Err(why) = inserted {
                self.remove_sites(Reason::Travel);
                return Err(Error::Refused(format!(
                    "a step back needs a breakpoint at {at}: {why}"
                )));
            }
        }
        // The thread has been at this site.
        if let Some(here) = here.filter(|here| self.site(*here).is_some()) {
            self.control(thread).passed = Some(here);
        }
        self.set_running_backwards(Some(Backwards { thread, places }));
        self.process().set_backwards(true);
        self.resume_all();
        Ok(())
    }

    /// The process has stopped: it runs forwards from now on.
    pub(super) fn end_backwards(&mut self) {
        self.set_running_backwards(None);
        self.process().set_backwards(false);
        self.remove_sites(Reason::Travel);
    }

    /// Steps one instruction back; over a call, to the call.
    fn step_instruction_back(&mut self, thread: ThreadId) -> Result<(), Error> {
        let before = self.frames_now(thread).next();
        let stepped = self.step_once(thread, true);
        stepped.map_err(|_| Error::Refused("this is the beginning of the recording".into()))?;
        let called = before.and_then(|before| {
            let (cfa, pc) = (before.physical.cfa?, before.physical.pc);
            let caller = self.frames_now(thread).nth(1)?;
            // The instruction was the last one of a function that was called here.
            (caller.physical.cfa == Some(cfa) && caller.physical.pc == pc).then_some((cfa, pc))
        });
        if let Some((cfa, back)) = called
            && let Some(call) = self.call_before(back)
        {
            let mut places = Places::default();
            places.all.insert(call, call.0);
            places.frames.push(cfa);
            return self.begin_backwards(thread, Some(places));
        }
        self.show_at(thread, StopReason::Step);
        self.all_stopped();
        Ok(())
    }

    /// Steps one instruction while everything stands still, without a stop.
    fn step_once(&mut self, thread: ThreadId, backwards: bool) -> std::io::Result<()> {
        self.write_back(thread);
        let stepped = self.process().step_once(thread, backwards);
        let control = self.control(thread);
        control.registers = None;
        control.passed = None;
        stepped
    }

    /// A thread has run backwards into a site of a step. Returns whether that was all.
    pub(super) fn passes_backwards(&mut self, thread: ThreadId, at: Address) -> bool {
        let Some(backwards) = self.backwards_mut() else {
            return false;
        };
        let Some(places) = backwards.places.take() else {
            return false;
        };
        let of_step = backwards.thread;
        let is_wanted = thread == of_step && self.begins_place(thread, at, &places);
        if let Some(backwards) = self.backwards_mut() {
            backwards.places = Some(places);
        }
        match is_wanted {
            true => self.report(thread, StopReason::Step),
            false => self.release(thread),
        }
        true
    }

    /// Whether a thread is where a step back ends: at one of the places, in its frame, and at the beginning of its line.
    fn begins_place(&mut self, thread: ThreadId, at: Address, places: &Places) -> bool {
        let Some(frame) = self.frame_of(thread, places) else {
            return false;
        };
        let Some(line) = places.all.get(&at).copied().filter(|_| places.by_line) else {
            return places.all.contains_key(&at);
        };
        if self.step_once(thread, true).is_err() {
            // The recording begins here.
            return true;
        }
        let before = self.line_among(thread, places);
        let is_back = self.step_once(thread, false).is_ok();
        self.control(thread).passed = Some(at);
        !is_back || before != Some(Line { frame, line })
    }

    /// The process has come to an end of what the stub replays. Running backwards, it may also be at an access to watched data: QEMU tells both in the same
    /// way.
    pub(super) fn replay_ended_behind_stub(&mut self, thread: ThreadId) {
        if self.is_running_backwards() {
            return match self.control(thread).watched {
                0 => self.report(thread, StopReason::Beginning),
                _ => self.accessed_backwards(thread),
            };
        }
        let reason = StopReason::RecordingEnds {
            why: "the stub has nothing more to replay".into(),
        };
        self.report(thread, reason);
    }

    /// A thread has run backwards to an access to watched data. It is shown behind the access, as in a program that runs forwards: so the access is
    /// made once more.
    pub(super) fn accessed_backwards(&mut self, thread: ThreadId) {
        // QEMU stops behind the access; then the data is as before.
        let is_behind = !self.watched_data_has_changed();
        if is_behind && self.step_once(thread, true).is_err() {
            return self.report(thread, StopReason::Beginning);
        }
        self.refresh_watched();
        let is_made = self.step_once(thread, false).is_ok();
        match self.judge_accesses(thread, u64::MAX).filter(|_| is_made) {
            Some(reason) => self.report(thread, reason),
            None => {
                let _ = self.step_once(thread, true);
                self.release(thread);
            }
        }
    }
}
