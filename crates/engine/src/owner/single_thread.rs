//! Runs single threads while the others stay stopped. Threads that are created meanwhile are kept stopped, too.

use super::Owner;
use super::queries::no_such_thread;
use crate::event::{Stop, StopReason};
use crate::stops::Mode;
use crate::{Error, ThreadId};

impl Owner {
    /// Lets one thread go on. If all threads are stopped, only this one runs then. If only some run, this one runs in addition. If all run,
    /// nothing changes. If other threads' stops during an inferior call are still to be reported, reports those instead.
    pub(crate) fn resume_only(&mut self, thread: ThreadId) -> Result<(), Error> {
        if !self.is_live(thread) {
            return Err(no_such_thread(thread));
        }
        if self.mode() == Mode::Stopping {
            // A stop is under way; its event follows.
            return Ok(());
        }
        self.drop_kept();
        if self.is_stopped() && self.tell_put_off() {
            return Ok(());
        }
        if self.is_stopped() {
            self.refresh_watched();
        }
        self.settle_steps();
        self.set_running(Some(thread));
        self.forget_stack(thread);
        for thread in self.stopped_threads() {
            self.release(thread);
        }
        Ok(())
    }

    /// The stop to report when the last thread that might run has ended: the stop of the oldest remaining thread. `None`: the whole process
    /// is ending. The sign of that is a remaining thread that the kernel no longer has in a stop: a thread that ends the process kills the
    /// other threads before its own end is reported.
    pub(super) fn last_runner_ended(&mut self) -> Option<Stop> {
        let live: Vec<ThreadId> = self.live_threads().collect();
        if live
            .iter()
            .any(|thread| !self.process().is_stopped(*thread))
        {
            return None;
        }
        let thread = *live.first()?;
        Some(Stop {
            thread,
            address: self.registers(thread)?.pc(),
            reason: StopReason::LastRunnerEnded,
        })
    }
}
