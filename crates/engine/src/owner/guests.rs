//! Children that share the program's memory, when it is left: they have to leave first what was inserted into it.

use super::Owner;
use crate::ThreadId;
use crate::stops::What;
use crate::target::linux::{ptrace, wait};

/// `si_code` of an `int3` that was executed.
const SI_KERNEL: i32 = 0x80;

impl Owner {
    /// Stops those that run; each with the signal that it is to be given when it is let go.
    pub(super) fn stop_guests(&mut self) -> Vec<(ThreadId, i32)> {
        let mut stopped = Vec::new();
        for guest in self.stops.running_guests() {
            if ptrace::interrupt(guest).is_err() {
                continue;
            }
            while let Some(event) = wait::next_of(guest) {
                let signal = match event.what {
                    What::Interrupted { trap_pending: true } => {
                        // What comes next tells where it has trapped.
                        if ptrace::cont(guest, 0).is_err() {
                            break;
                        }
                        continue;
                    }
                    What::Exited(_) => break,
                    // It is out of this memory.
                    What::Executed { .. } | What::Exiting => {
                        stopped.push((guest, 0));
                        break;
                    }
                    What::Signal(libc::SIGTRAP) if self.guest_ran_into(guest) => 0,
                    What::Signal(signal) => signal,
                    What::NewThread(child) | What::NewProcess { child, .. } => {
                        if wait::until_stopped(child) {
                            self.release_copy(child);
                        }
                        0
                    }
                    What::Interrupted { .. } | What::Group(_) | What::Calling | What::Other => 0,
                };
                self.leave_copy(guest);
                stopped.push((guest, signal));
                break;
            }
        }
        stopped
    }

    /// Whether a guest has trapped on what was inserted, not on a trap of its own; then it is put back.
    fn guest_ran_into(&mut self, guest: ThreadId) -> bool {
        if !ptrace::signal_info(guest).is_ok_and(|info| info.code == SI_KERNEL) {
            return false;
        }
        let Some(mut registers) = self.registers(guest) else {
            return false;
        };
        let at = registers.pc().offset(-1);
        if self.memory.site(at).is_none() && self.memory.traps_at(at) {
            return false;
        }
        registers.set_pc(at);
        self.set_registers(guest, registers);
        true
    }
}
