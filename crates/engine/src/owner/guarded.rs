//! A process that was attached to isn't the debugger's: it has to survive the debugger's sudden end.
//!
//! While it is stopped and a user looks at it, nothing needs to be done then: everything that the debugger has put into it is out,
//! and the threads are as the kernel should let them run. While it runs, a guardian watches over it ([`crate::target::linux::guardian`]).

use super::Owner;
use crate::ThreadId;
use crate::stops::How;
use crate::target::linux::guardian::Guardian;
use crate::target::linux::memory::ProcessMemory;
use crate::target::linux::{ptrace, wait};

/// Somebody who watches over a process; without one a debugger that is killed does harm, but it works.
pub(super) fn guardian_of(process: ThreadId, memory: &ProcessMemory) -> Option<Guardian> {
    Guardian::start(process, memory)
        .inspect_err(|error| tracing::warn!(%error, "there is no guardian"))
        .ok()
}

impl Owner {
    /// For another program, in the same process or in a child that takes its place.
    pub(super) fn guardian_of(
        &self,
        process: ThreadId,
        memory: &ProcessMemory,
    ) -> Option<Guardian> {
        (!self.of_launched)
            .then(|| guardian_of(process, memory))
            .flatten()
    }

    /// All are stopped, for a user to look at. From here on the kernel may let all threads run at any time, if it has to.
    pub(super) fn make_safe(&mut self) {
        self.memory.lift_all();
        for thread in self.stops.all_stopped() {
            self.write_back(thread);
            self.unwatch(thread);
            self.end_single_step(thread);
        }
    }

    /// A thread that was let execute one instruction would trap after the next one, too: only going on in another way ends that. So
    /// it goes on, to where it stops at once.
    fn end_single_step(&mut self, thread: ThreadId) {
        let stops = self.stops.last_run(thread) == How::Step
            && !self.stops.has_lent(thread)
            && !self.stops.is_in_group_stop(thread);
        // A signal that it has yet to get can only be given to it in the stop where it is.
        let undelivered = self.threads.get(&thread).is_some_and(|c| c.signal != 0);
        if !stops || undelivered || ptrace::interrupt(thread).is_err() {
            return;
        }
        if ptrace::cont(thread, 0).is_err() {
            return;
        }
        if let Some(event) = wait::next_of(thread) {
            self.stops.stepped_aside(event, &mut self.actions);
        }
    }
}
