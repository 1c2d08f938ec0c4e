//! The commands that run and end the debuggee: resume, pause, terminate by a signal, kill, and leave, which kills or detaches.

use super::Owner;
use crate::stops::Mode;
use crate::{Error, ThreadId};
use dapple_target::follow_forks::FollowForks;

/// What becomes of the debuggee when the session ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leave {
    /// It is killed.
    Kill,
    /// It runs on, as if there had never been a debugger.
    Detach,
    /// As `Detach`, but it is stopped by SIGSTOP, and runs on when it gets SIGCONT.
    Suspend,
}

impl Owner {
    pub(crate) fn resume(&mut self) {
        self.drop_kept();
        if self.is_stopped() && self.tell_put_off() {
            return;
        }
        if self.is_stopped() || self.runs_only_some() {
            self.resume_all();
        }
    }

    pub(crate) fn pause(&mut self, thread: Option<ThreadId>) {
        if !self.is_stopped() {
            self.stop.pause = Some(thread);
            self.stop_all();
        }
    }

    pub(crate) fn terminate(&mut self, signal: i32) -> Result<(), Error> {
        if self.leave_only_children() {
            return Ok(());
        }
        if self.replays_file() {
            // No code of it may run but as recorded.
            return self.kill();
        }
        self.leave_past();
        self.leaving.ends_with = Some(signal);
        self.kill_with(signal)?;
        if self.is_group_stopped() {
            // A process in a group stop handles the signal only after SIGCONT.
            self.kill_with(libc::SIGCONT)?;
        }
        self.resume();
        Ok(())
    }

    pub(crate) fn kill(&mut self) -> Result<(), Error> {
        if self.leave_only_children() {
            return Ok(());
        }
        self.end_diversion();
        self.kill_with(libc::SIGKILL)
    }

    pub(crate) fn leave(&mut self, how: Leave) -> Result<(), Error> {
        if self.leave_only_children() {
            return Ok(());
        }
        self.let_children_go();
        self.follow(FollowForks::Parent);
        self.end_diversion();
        match how {
            // The session ends with the debuggee's exit event.
            Leave::Kill => self.kill_with(libc::SIGKILL),
            _ if self.replays_file() => self.kill_with(libc::SIGKILL),
            Leave::Detach | Leave::Suspend => {
                self.drop_kept();
                self.leaving.detaching = true;
                self.leaving.suspend = how == Leave::Suspend;
                match self.mode() {
                    Mode::Stopped => self.detach(),
                    Mode::Running | Mode::Stopping => self.stop_all(),
                }
                Ok(())
            }
        }
    }

    fn kill_with(&self, signal: i32) -> Result<(), Error> {
        self.process()
            .signal(self.process().id(), signal)
            .map_err(|e| Error::System {
                operation: format!(
                    "signal {signal} can't be sent to process {}",
                    self.process().id()
                ),
                reason: e.to_string(),
            })
    }

    /// Detaches from the stopped debuggee, with nothing of the debugger left in it, and ends the session.
    pub(super) fn detach(&mut self) {
        self.end_step();
        self.leave_history();
        let vfork_children = self.leave_inserted();
        if self.leaving.suspend {
            // The signal is pending until a thread runs again, and then stops all threads.
            let _ = self.kill_with(libc::SIGSTOP);
        }
        self.let_cleaned_threads_go(&vfork_children);
        self.let_children_go();
        self.leaving.over = true;
        self.release_guardian();
        self.link.waker.abandon();
        self.link.output.let_go();
    }

    /// Detaches from all threads, which are stopped, with nothing of the debugger left in the process.
    pub(super) fn let_threads_go(&mut self) {
        let vfork_children = self.leave_inserted();
        self.let_cleaned_threads_go(&vfork_children);
    }

    /// Moves all threads out of copied instructions, and takes everything inserted out of memory. For that it stops the vfork children that
    /// share the memory; returns them with the signals to deliver to them.
    fn leave_inserted(&mut self) -> Vec<(ThreadId, i32)> {
        for thread in self.stopped_threads() {
            self.leave_copy(thread);
        }
        let vfork_children = self.stop_vfork_children();
        self.handle_no_traps(!vfork_children.is_empty());
        self.remove_all_sites();
        vfork_children
    }

    fn let_cleaned_threads_go(&mut self, vfork_children: &[(ThreadId, i32)]) {
        let their_threads = vfork_children.iter().map(|(child, _)| *child);
        for thread in self.stopped_threads().into_iter().chain(their_threads) {
            let _ = self.process().prepare_detach(thread);
        }
        for thread in self.stopped_threads() {
            self.write_back(thread);
            self.unwatch(thread);
            let signal = self.control(thread).signal;
            let _ = self.process().detach(thread, signal);
        }
        for (child, signal) in vfork_children {
            let _ = self.process().detach(*child, *signal);
        }
    }
}
