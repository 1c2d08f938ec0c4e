//! Accesses to watched memory that a thread has yet to make when it stops for them: on others than x86-64, the processor traps before the
//! instruction, which is to have run when the stop is told.

use super::{Link, says_breakpoint};
use crate::ThreadId;
use dapple_arch::Machine;
use dapple_gdb_remote::resume::{Action, Resume};
use dapple_gdb_remote::stop_reply::{Reason, Stop, StopReply};
use std::io;
use std::time::Duration;

/// How long the instruction may take.
const LONGEST: Duration = Duration::from_secs(5);

impl Link {
    /// Has a thread that has stopped for an access to watched memory make it: without watchpoints, one instruction. Another event that comes meanwhile is
    /// handled behind the access.
    pub(super) fn make_access(&mut self, thread: ThreadId, stop: &Stop) {
        let is_access = matches!(stop.reason, Some(Reason::Watchpoint { .. }));
        if !is_access || self.layout.machine() == Machine::X86_64 || self.backwards {
            return;
        }
        // An error is noted where it ends the connection. Else the thread stays where it is.
        if let Ok(Some(reply)) = self.step_past(thread) {
            self.replied(reply);
        }
    }

    /// Runs the instruction. Returns what the stub has said, unless it is that this is done.
    fn step_past(&mut self, thread: ThreadId) -> io::Result<Option<StopReply>> {
        let action = match self.is_software_step(thread)? {
            true => Action::Continue,
            false => Action::Step,
        };
        self.exchange_watchpoints(false)?;
        let reply = self.step_unwatched(thread, action);
        self.remove_breakpoints_of_steps();
        let lives = match &reply {
            Ok(reply) => matches!(reply, StopReply::Stopped(_)),
            Err(_) => self.lost.is_none(),
        };
        if lives {
            self.exchange_watchpoints(true)?;
        }
        let reply = reply?;
        let is_done = match &reply {
            StopReply::Stopped(stop) => {
                let is_same = stop
                    .thread
                    .is_none_or(|it| self.ids.known(it) == Some(thread));
                let is_trap = self.of_stub(stop.signal) == libc::SIGTRAP;
                let is_plain = matches!(stop.reason, None | Some(Reason::Watchpoint { .. }));
                let is_of_step = action == Action::Continue && says_breakpoint(stop);
                is_same && is_trap && (is_plain || is_of_step)
            }
            _ => false,
        };
        Ok(Some(reply).filter(|_| !is_done))
    }

    /// Resumes one thread, and waits for the process's stop.
    fn step_unwatched(&mut self, thread: ThreadId, action: Action) -> io::Result<StopReply> {
        let threads = self.ids.stub(thread).filter(|_| self.ids.are_named());
        self.forget();
        let resumed = self.client.resume(&[Resume { action, threads }]);
        self.noted(resumed)?;
        self.next_reply(LONGEST)
    }

    /// Takes all watchpoints out, or puts them back.
    pub(super) fn exchange_watchpoints(&mut self, back: bool) -> io::Result<()> {
        for slot in self.watchpoints.all() {
            let kind = super::super::watchpoints::kind(&slot);
            let done = match back {
                true => self
                    .client
                    .insert_breakpoint(kind, slot.address, slot.length),
                false => self
                    .client
                    .remove_breakpoint(kind, slot.address, slot.length),
            };
            let _ = self.noted(done)?;
        }
        Ok(())
    }
}
