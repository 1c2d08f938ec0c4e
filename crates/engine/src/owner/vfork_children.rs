//! Children that share the program's memory, when it is left: they have to leave first what was inserted into it.

use super::Owner;
use crate::ThreadId;
use dapple_target::linux::{ptrace, wait};
use dapple_target::wait_event::What;

impl Owner {
    /// Stops those that run; each with the signal that it is to be given when it is let go.
    pub(super) fn stop_guests(&mut self) -> Vec<(ThreadId, i32)> {
        let mut stopped = Vec::new();
        for guest in self.stops.running_guests() {
            if ptrace::interrupt(guest).is_err() {
                continue;
            }
            while let Some(event) = self.next_of(guest) {
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
                    What::Signal(libc::SIGTRAP) if self.ran_into_site(guest) => 0,
                    What::Signal(signal) => signal,
                    What::NewThread(child) | What::NewProcess { child, .. } => {
                        if wait::until_stopped(child) {
                            self.release_copy(child);
                        }
                        0
                    }
                    What::Interrupted { .. } | What::Group(_) | What::Calling | What::Other => 0,
                };
                // Back at the site that it has run into.
                self.write_back(guest);
                self.leave_copy(guest);
                stopped.push((guest, signal));
                break;
            }
        }
        stopped
    }
}
