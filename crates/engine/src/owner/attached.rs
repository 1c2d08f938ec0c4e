//! A process that was attached to isn't the debugger's: it has to survive the debugger's sudden end.
//!
//! While it is stopped and a user looks at it, nothing needs to be done then: everything that the debugger has put into it is out,
//! and the threads are as the kernel should let them run. While it runs, a guardian watches over it ([`dapple_target::linux::guardian`]).

use super::Owner;
use crate::ThreadId;
use crate::stops::How;
use dapple_target::linux::guardian::Guardian;
use dapple_target::linux::memory::ProcessMemory;
use dapple_target::linux::ptrace;
use dapple_target::linux::wait::{self, Waited};
use dapple_target::wait_event::WaitEvent;
use std::io;

/// Somebody who watches over a process; without one a debugger that is killed does harm, but it works.
pub(super) fn guardian_of(process: ThreadId, memory: &ProcessMemory) -> Option<Guardian> {
    Guardian::start(process, memory)
        .inspect_err(|error| tracing::warn!(%error, "there is no guardian"))
        .ok()
}

impl Owner {
    /// The next status of any thread, or of `one`.
    pub(super) fn next_status(&mut self, one: Option<ThreadId>) -> io::Result<Waited> {
        if self.debuggee.of_launched {
            return wait::wait(&self.link.waker, one);
        }
        loop {
            match wait::look(&self.link.waker, one)? {
                Waited::Status(thread, seen) => {
                    self.make_right(thread, seen);
                    if let Some(status) = wait::take(thread) {
                        return Ok(Waited::Status(thread, status));
                    }
                }
                other => return Ok(other),
            }
        }
    }

    /// Deals with a status that needn't be waited for: where something else comes all the time, each wait would end before it begins.
    pub(super) fn deal_with_what_is_there(&mut self) {
        if !self.is_over()
            && wait::has_status()
            && let Ok(Waited::Status(thread, status)) = self.next_status(None)
        {
            self.deal_with(thread, status);
        }
    }

    /// Waits for the next event of one thread while the others are stopped; `None` when the thread is gone. Every wait for a single
    /// thread is this one, so that attached processes are guarded in it, too.
    pub(super) fn next_of(&mut self, thread: ThreadId) -> Option<WaitEvent> {
        if !self.debuggee.of_launched {
            let seen = wait::look_at(thread)?;
            self.make_right(thread, seen);
        }
        wait::next_of(thread)
    }

    /// Puts a thread where it has to be without a debugger, before its status is taken. Once that is, the kernel forgets the trap: from
    /// behind an inserted byte the thread would go on in the middle of an instruction if the debugger were killed.
    fn make_right(&mut self, thread: ThreadId, seen: i32) {
        if !wait::is_trap(seen) {
            return;
        }
        let control = self.control(thread);
        (control.registers, control.trap) = (None, None);
        let trap = self.trap(thread);
        self.write_back(thread);
        self.control(thread).trap = trap;
    }

    /// For another program, in the same process or in a child that takes its place.
    pub(super) fn guardian_of(
        &self,
        process: ThreadId,
        memory: &ProcessMemory,
    ) -> Option<Guardian> {
        (!self.debuggee.of_launched)
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
        let undelivered = self.threads.get(thread).is_some_and(|c| c.signal != 0);
        if !stops || undelivered || ptrace::interrupt(thread).is_err() {
            return;
        }
        if ptrace::cont(thread, 0).is_err() {
            return;
        }
        if let Some(event) = self.next_of(thread) {
            self.stops.stepped_aside(event, &mut self.actions);
        }
    }
}
