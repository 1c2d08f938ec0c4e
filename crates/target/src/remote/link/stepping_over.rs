//! QEMU steps over the breakpoint that a thread is at. For a lone step, it isn't taken out there and put back, which saves two packets.
//!
//! gdbserver and others execute the breakpoint instruction instead, and some tell an address behind it then. So only QEMU is tried, which moves threads
//! back: if a thread has stayed where it was, the breakpoint is taken out, and the step is made again.

use super::Link;
use crate::ThreadId;
use crate::process::Resume as How;
use dapple_gdb_remote::stop_reply::Stop;

/// What is known of the stub.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Known {
    #[default]
    Nothing,
    /// It is QEMU.
    MayStepOver,
    StepsOver,
    DoesNot,
}

/// Whether the stub steps over breakpoints, and who does so now.
#[derive(Debug, Default)]
pub(super) struct SteppingOver {
    known: Known,
    /// The thread that steps, and where from.
    now: Option<(ThreadId, u64)>,
}

impl Link {
    /// Whether one thread is to step, from a breakpoint that was removed for that, and the stub needs not be told.
    pub(super) fn steps_over_breakpoint(&mut self, wishes: &[(ThreadId, How, i32)]) -> bool {
        let [(thread, How::Step, 0)] = wishes else {
            return false;
        };
        if self.removed.is_empty() || self.stepping_over.known == Known::DoesNot {
            return false;
        }
        let Ok(registers) = self.general(*thread) else {
            return false;
        };
        let at = registers.pc().0;
        if !self.removed.contains_key(&at) {
            return false;
        }
        if self.stepping_over.known == Known::Nothing {
            // A packet of QEMU's alone: which flags a single step can have.
            let flags = self.client.query(b"qqemu.sstepbits");
            let is_qemu = matches!(self.noted(flags), Ok(Some(flags)) if !flags.is_empty());
            self.stepping_over.known = match is_qemu {
                true => Known::MayStepOver,
                false => Known::DoesNot,
            };
        }
        if self.stepping_over.known == Known::DoesNot {
            return false;
        }
        self.stepping_over.now = Some((*thread, at));
        true
    }

    /// Whether a thread that was to step over a breakpoint has stopped there again. Then it has to step again, without the breakpoint.
    pub(super) fn has_stayed_at_breakpoint(&mut self, stop: &Stop) -> bool {
        let Some((thread, at)) = self.stepping_over.now.take() else {
            return false;
        };
        if self.stepping_over.known != Known::MayStepOver
            || self.of_stub(stop.signal) != libc::SIGTRAP
            || stop.reason.is_some()
        {
            return false;
        }
        let Ok(registers) = self.general(thread) else {
            return false;
        };
        let stayed = registers.pc().0 == at;
        self.stepping_over.known = match stayed {
            true => Known::DoesNot,
            false => Known::StepsOver,
        };
        stayed
    }
}
