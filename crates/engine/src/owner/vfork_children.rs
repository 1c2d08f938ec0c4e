//! Stops vfork children when the debugger detaches. They share the program's memory, so they have to leave inserted code before it is
//! taken out.

use super::Owner;
use crate::ThreadId;
use dapple_target::process::Resume;
use dapple_target::wait_event::What;

impl Owner {
    /// Stops the vfork children that run. Returns those that could be stopped, each with the signal to deliver when it is detached.
    pub(super) fn stop_vfork_children(&mut self) -> Vec<(ThreadId, i32)> {
        let mut stopped = Vec::new();
        for child in self.running_vfork_children() {
            if self.process().interrupt(child).is_err() {
                continue;
            }
            while let Some(event) = self.next_of(child) {
                let signal = match event.what {
                    What::Interrupted { trap_pending: true } => {
                        // The next event is the pending trap.
                        if self.process().resume(child, Resume::Continue, 0).is_err() {
                            break;
                        }
                        continue;
                    }
                    What::Exited(_) => break,
                    // The child no longer uses the program's memory.
                    What::Executed { .. } | What::Exiting => {
                        stopped.push((child, 0));
                        break;
                    }
                    What::Signal(libc::SIGTRAP) if self.ran_into_site(child) => 0,
                    What::Signal(signal) => signal,
                    What::NewThread(child) | What::NewProcess { child, .. } => {
                        if self.process().wait_until_stopped(child) {
                            self.release_copy(child);
                        }
                        0
                    }
                    What::Interrupted { .. }
                    | What::Group(_)
                    | What::SystemCall
                    | What::ReplayEnds
                    | What::TurnAhead
                    | What::KernelWrote
                    | What::Other => 0,
                };
                // A child that has run into a site was moved back to the site's address.
                self.write_back(child);
                self.leave_copy(child);
                stopped.push((child, signal));
                break;
            }
        }
        stopped
    }
}
