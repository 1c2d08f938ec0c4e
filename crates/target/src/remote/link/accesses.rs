//! Accesses to watched memory that a thread has yet to make when it stops for them: on aarch64 and riscv64, the processor traps before the
//! instruction, which is to have run when the stop is told.

use super::Link;
use crate::ThreadId;
use dapple_arch::Machine;
use dapple_gdb_remote::connection::after;
use dapple_gdb_remote::resume::{Action, Resume};
use dapple_gdb_remote::stop_reply::{Reason, Stop, StopReply};
use std::io;
use std::time::Duration;

/// How long the instruction may take.
const LONGEST: Duration = Duration::from_secs(5);

impl Link {
    /// Has a thread that has stopped for an access to watched memory make it: without watchpoints, one instruction. What else has happened then is
    /// handled as if it had come later.
    pub(super) fn make_access(&mut self, thread: ThreadId, stop: &Stop) {
        let is_access = matches!(stop.reason, Some(Reason::Watchpoint { .. }));
        if !is_access || self.layout.machine() == Machine::X86_64 {
            return;
        }
        // An error is noted where it ends the connection. Else the thread stays where it is.
        if let Ok(Some(reply)) = self.step_past(thread) {
            self.replied(reply);
        }
    }

    /// Runs the instruction. Returns what the stub has said, unless it is that this is done.
    fn step_past(&mut self, thread: ThreadId) -> io::Result<Option<StopReply>> {
        let stub = self.ids.stub(thread).filter(|_| self.ids.are_named());
        self.exchange_watchpoints(false)?;
        self.forget();
        let step = Resume {
            action: Action::Step,
            threads: stub,
        };
        let resumed = self.client.resume(&[step]);
        self.noted(resumed)?;
        let deadline = after(LONGEST);
        let reply = loop {
            let reply = self.client.wait(deadline);
            match self.noted(reply)? {
                StopReply::Output(text) => self.console.take(&text),
                reply => break reply,
            }
        };
        let (is_done, lives) = match &reply {
            StopReply::Stopped(stop) => {
                let is_same = stop
                    .thread
                    .is_none_or(|it| self.ids.known(it) == Some(thread));
                let is_trap = self.of_stub(stop.signal) == libc::SIGTRAP;
                let is_plain = matches!(stop.reason, None | Some(Reason::Watchpoint { .. }));
                (is_same && is_trap && is_plain, true)
            }
            _ => (false, false),
        };
        if lives {
            self.exchange_watchpoints(true)?;
        }
        Ok(Some(reply).filter(|_| !is_done))
    }

    /// Takes all watchpoints out, or puts them back.
    fn exchange_watchpoints(&mut self, back: bool) -> io::Result<()> {
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
