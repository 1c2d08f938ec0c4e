//! Runs single threads while the others are held. Threads that are created meanwhile are held, too.

use super::Owner;
use crate::event::{Stop, StopReason};
use crate::stops::Mode;
use crate::{Error, ThreadId};

impl Owner {
    /// Lets one thread go on. In a stop, only that thread runs; while others are held already, it runs in addition; while all run, nothing
    /// changes. Stops that an inferior call has put off are reported instead.
    pub(crate) fn resume_only(&mut self, thread: ThreadId) -> Result<(), Error> {
        if !self.is_live(thread) {
            return Err(Error::NoSuchThread(thread));
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

    /// The stop to report when the last thread that might run has ended: of the oldest of the held threads. `None`: that thread has ended the
    /// whole process. The sign is a live thread that is no longer stopped, because the kernel kills the held threads before it reports
    /// the end of the thread that ends the process.
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
