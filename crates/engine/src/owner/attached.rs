//! Keeps a process that was attached to alive if the debugger is killed.
//!
//! A launched process, and its children while they are traced, die with the debugger (PTRACE_O_EXITKILL). An attached one has to survive.
//! In a reported stop there is nothing of the debugger that a thread can run into: no site's byte, no debug register, no single step left
//! to finish ([`Owner::clean_for_stop`]), so the kernel may let all threads run. While the process runs, a guardian watches it
//! ([`dapple_target::linux::guardian`]).
//!
//! The guardian may come late. A thread must then at worst die of SIGTRAP, and never compute something wrong. So an event is first peeked
//! at; if its thread has run into a site, the thread is moved back to the site; only then is the event taken from the kernel
//! ([`Owner::next_event`]). Once the event is taken, the kernel has forgotten the trap and lets the thread run from where its registers
//! say.
//!
//! What the guardian can't repair is listed at [`dapple_target::linux::guardian`].

use super::Owner;
use crate::ThreadId;
use crate::stops::How;
use dapple_target::linux::guardian::Guardian;
use dapple_target::process::{Peeked, Resume, Waited};
use dapple_target::wait_event::WaitEvent;
use std::io;

/// Starts a guardian for a process. Without one the session works, but killing the debugger harms the process.
pub(super) fn guardian_of(process: ThreadId) -> Option<Guardian> {
    Guardian::start(process)
        .inspect_err(|error| tracing::warn!(%error, "there is no guardian"))
        .ok()
}

impl Owner {
    /// The next event of any thread, or of `one`.
    pub(super) fn next_event(&mut self, one: Option<ThreadId>) -> io::Result<Waited<WaitEvent>> {
        if self.debuggee.of_launched {
            return self.process().next_event(one);
        }
        loop {
            match self.process().peek_event(one)? {
                Waited::Event(peeked) => {
                    self.correct_trapped_thread(peeked);
                    if let Some(event) = self.process().take_event(peeked.thread) {
                        return Ok(Waited::Event(event));
                    }
                }
                Waited::Woken => return Ok(Waited::Woken),
                Waited::NoThreads => return Ok(Waited::NoThreads),
            }
        }
    }

    /// Handles an event that the kernel has already, if there is one. A wait that is woken returns before it looks for events, so frequent
    /// wake-ups would otherwise starve them.
    pub(super) fn handle_pending_event(&mut self) {
        if !self.is_over()
            && self.process().has_event()
            && let Ok(Waited::Event(event)) = self.next_event(None)
        {
            self.handle_event(event);
        }
    }

    /// Waits for the next event of one thread while the others are stopped. `None`: the thread is gone. As [`Owner::next_event`], it
    /// protects an attached process meanwhile, so nothing else may wait for a thread.
    pub(super) fn next_of(&mut self, thread: ThreadId) -> Option<WaitEvent> {
        if !self.debuggee.of_launched {
            let peeked = self.process().peek_event_of(thread)?;
            self.correct_trapped_thread(peeked);
        }
        self.process().event_of(thread)
    }

    /// Moves a thread that has run into a site back to the site, before its event is taken. Once the event is taken, the kernel forgets the
    /// trap: from behind the site's byte the thread would go on in the middle of an instruction if the debugger were killed.
    fn correct_trapped_thread(&mut self, Peeked { thread, is_trap }: Peeked) {
        if !is_trap {
            return;
        }
        let control = self.control(thread);
        (control.registers, control.trap) = (None, None);
        let trap = self.trap(thread);
        self.write_back(thread);
        self.control(thread).trap = trap;
    }

    /// A guardian for another program, in the same process or in a child that takes its place. `None`: it needs none, or none can be
    /// started.
    pub(super) fn guardian_of(&self, process: ThreadId) -> Option<Guardian> {
        (!self.debuggee.of_launched)
            .then(|| guardian_of(process))
            .flatten()
    }

    /// While all threads are stopped for the user: takes everything of the debugger's that a thread can run into out of the process, so that
    /// the kernel may let all threads run at any time.
    pub(super) fn clean_for_stop(&mut self) {
        self.lift_sites();
        for thread in self.stopped_threads() {
            self.write_back(thread);
            self.unwatch(thread);
            self.end_single_step(thread);
        }
    }

    /// Lets a thread go on from a single step, and stop again at once. Otherwise it would trap after its next instruction, too: the
    /// kernel clears the trap flag only when the thread is resumed without a step.
    fn end_single_step(&mut self, thread: ThreadId) {
        let stops = self.last_run(thread) == How::Step
            && !self.waits_for_vfork_child(thread)
            && !self.stops.is_in_group_stop(thread);
        // A pending signal can only be delivered from the present stop.
        let undelivered = self.signal_of(thread) != 0;
        if !stops || undelivered || self.process().interrupt(thread).is_err() {
            return;
        }
        if self.process().resume(thread, Resume::Continue, 0).is_err() {
            return;
        }
        if let Some(event) = self.next_of(thread) {
            self.stops.stepped_aside(event, &mut self.actions);
        }
    }
}
