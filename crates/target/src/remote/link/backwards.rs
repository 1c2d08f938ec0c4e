//! Running backwards, by a stub that replays a recording, such as QEMU's and rr's: `bs` and `bc` in place of steps and `vCont`.

use super::{Link, WaitEvent, What};
use crate::ThreadId;
use crate::process::Resume as How;
use dapple_gdb_remote::Error;
use dapple_gdb_remote::error::Support;
use dapple_gdb_remote::features::Feature;
use dapple_gdb_remote::stop_reply::{Reason, Stop, StopReply};
use std::io;
use std::time::Duration;

/// How long one instruction may take: QEMU replays the program from its beginning for each.
const LONGEST: Duration = Duration::from_secs(60);

impl Link {
    /// Whether the stub can run the process backwards.
    pub(in crate::remote) fn can_run_backwards(&self) -> bool {
        let features = self.client.features();
        features.has(Feature::ReverseContinue) && features.has(Feature::ReverseStep)
    }

    /// Sends what threads are to do backwards: one steps, or all run. No signal is delivered, since each comes as it was recorded.
    pub(super) fn run_backwards(&mut self, wishes: &[(ThreadId, How, i32)]) -> io::Result<()> {
        self.send_all_removed();
        let stepping = wishes.iter().find(|(_, how, _)| *how == How::Step);
        let stepping = stepping.map(|(thread, ..)| *thread);
        if let Some(thread) = stepping {
            self.choose_to_run(thread)?;
        }
        self.forget();
        for (thread, ..) in wishes {
            self.causes.remove(thread);
        }
        let resumed = match stepping {
            Some(_) => self.client.step_backwards(),
            None => self.client.resume_backwards(),
        };
        resumed.or_else(|error| self.unresumed(&error))?;
        self.schedule
            .runs(wishes.iter().map(|(thread, ..)| *thread));
        Ok(())
    }

    fn choose_to_run(&mut self, thread: ThreadId) -> io::Result<()> {
        let stub = self.ids.stub(thread).filter(|_| self.ids.are_named());
        let Some(stub) = stub else {
            return Ok(());
        };
        let chosen = self.client.choose_running_thread(stub);
        let _: Support = self.noted(chosen)?;
        Ok(())
    }

    /// At the beginning, QEMU refuses to run backwards. Returns whether that is why an error has come; threads have stopped then.
    pub(super) fn is_at_beginning(&mut self, error: &Error) -> bool {
        let is_refused = self.backwards && matches!(error, Error::Stub { .. });
        if is_refused {
            let thread = self.schedule.runners().next().unwrap_or(self.process);
            self.schedule.stopped(Some(replay_ends(thread)));
        }
        is_refused
    }

    /// Whether a stop is at an end of what was recorded: the stub says so, or, as QEMU at the beginning, says nothing.
    pub(super) fn is_end_of_replay(&mut self, thread: ThreadId, stop: &Stop) -> bool {
        match stop.reason {
            Some(Reason::ReplayBegin | Reason::ReplayEnd) => true,
            None => {
                self.backwards
                    && self.of_stub(stop.signal) == libc::SIGTRAP
                    && !self.schedule.steps(thread)
                    && !self.is_at_breakpoint(thread)
            }
            _ => false,
        }
    }

    /// Has a stopped thread execute one instruction, forwards or backwards, and waits for that. Accesses to watched data aren't seen.
    pub(in crate::remote) fn step_once(
        &mut self,
        thread: ThreadId,
        backwards: bool,
    ) -> io::Result<()> {
        self.require_rest()?;
        self.send_all_removed();
        // Some processors stop before an access, again and again.
        self.exchange_watchpoints(false)?;
        let stepped = self.step_once_unwatched(thread, backwards);
        if stepped.is_ok() || self.lost.is_none() {
            self.exchange_watchpoints(true)?;
        }
        stepped
    }

    fn step_once_unwatched(&mut self, thread: ThreadId, backwards: bool) -> io::Result<()> {
        self.choose_to_run(thread)?;
        self.forget();
        let resumed = match (backwards, self.ids.stub(thread)) {
            (true, _) => self.client.step_backwards(),
            (false, Some(stub)) => self.client.step(stub),
            (false, None) => return Err(io::Error::from_raw_os_error(libc::ESRCH)),
        };
        self.noted(resumed)?;
        match self.next_reply(LONGEST)? {
            StopReply::Stopped(_) => Ok(()),
            other => {
                let why = format!("the process has not made a step: {other:?}");
                self.lost.get_or_insert(why.clone());
                Err(io::Error::other(why))
            }
        }
    }
}

/// The event that tells of an end of what was recorded.
pub(super) fn replay_ends(thread: ThreadId) -> WaitEvent {
    WaitEvent {
        thread,
        what: What::ReplayEnds,
    }
}
