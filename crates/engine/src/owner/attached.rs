//! Keeps a process that was attached to alive if the debugger is killed.
//!
//! A launched process, and its children while they are traced, die with the debugger (PTRACE_O_EXITKILL). An attached one has to survive.
//! While a stop is reported, nothing is left in the process that a thread could run into: no site's byte, no debug register in use, no
//! unfinished single step ([`Owner::clean_for_stop`]). So the threads can run on if the debugger is killed then. While the process runs, a
//! guardian ([`dapple_target::linux::guardian`]) watches it, and cleans it if the debugger is killed.
//!
//! The guardian may come late. A thread must then wait for it in the handler of SIGTRAP (`trap_handler`), or at worst die of that signal, and never
//! compute something wrong. So an event is first only peeked at. If its thread has run into a site, the thread is moved back to the site. Only then is the event taken from the kernel
//! ([`Owner::next_event`]): from then on, the thread would run from where its registers say, without the trap.
//!
//! What the guardian can't repair is listed at [`dapple_target::linux::guardian`].

use super::Owner;
use crate::stops::How;
use crate::{Address, ThreadId};
use dapple_target::linux::guardian::Guardian;
use dapple_target::linux::live_process::LiveProcess;
use dapple_target::process::Process;
use dapple_target::process::{Peeked, Resume, Waited};
use dapple_target::process_info::Start;
use dapple_target::wait_event::WaitEvent;
use std::io;

/// Starts a guardian for a process. `None`: it can't be started. The session works without one, but killing the debugger may then harm the
/// process.
pub(super) fn guardian_of(process: ThreadId) -> Option<Guardian> {
    Guardian::start(process)
        .inspect_err(|error| tracing::warn!(%error, "there is no guardian"))
        .ok()
}

/// What a thread has that it gets back if the debugger is killed while the thread does something for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lent {
    /// Its signal mask.
    WithSignals,
    /// Its signal mask and its registers: it makes system calls at this address.
    ForCalls(Address),
}

impl Owner {
    /// Before a stopped thread does something for the debugger, with another signal mask and perhaps other registers. One thread at a time.
    pub(super) fn lend(&mut self, thread: ThreadId, with: Lent) {
        let registers = self.registers(thread);
        if let Some(guardian) = self.guardian()
            && let Ok(mask) = self.process().signal_mask(thread)
        {
            let calls = match (with, &registers) {
                (Lent::ForCalls(place), Some(registers)) => Some((place, registers)),
                _ => None,
            };
            guardian.lend(thread, mask, calls);
        }
    }

    /// When the thread that was lent has its signal mask and its registers back.
    pub(super) fn give_back(&self) {
        if let Some(guardian) = self.guardian() {
            guardian.give_back();
        }
    }

    /// Whether the process that is shown is killed if the debugger is: a debugger has launched it or an ancestor of it, or it is a copy. Also if
    /// it is behind a stub, whose affair it is what becomes of it then.
    pub(super) fn dies_with_debugger(&self) -> bool {
        let debuggee = self.debuggee;
        debuggee.of_launched
            || debuggee.start == Start::Remote
            || self.history_live().is_some_and(LiveProcess::is_copy)
    }

    /// Waits for the next event of any thread, or of the thread `one` if it is given.
    pub(super) fn next_event(&mut self, one: Option<ThreadId>) -> io::Result<Waited<WaitEvent>> {
        if self.dies_with_debugger() {
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

    /// Handles an event that the kernel has already, if there is one. A wait returns before it looks for events if it is woken, so without
    /// this, frequent wake-ups would keep events from being handled.
    pub(super) fn handle_pending_event(&mut self) {
        let event = match () {
            () if self.is_over() => None,
            () if self.dies_with_debugger() => self.process().pending_event(),
            () if !self.process().has_event() => None,
            () => match self.next_event(None) {
                Ok(Waited::Event(event)) => Some(event),
                _ => None,
            },
        };
        if let Some(event) = event {
            self.handle_event(event);
        }
    }

    /// Waits for the next event of one thread while the others are stopped. `None`: the thread is gone. Like [`Owner::next_event`], it moves
    /// a thread back to the site that it has run into, so other code must not wait for threads by itself.
    pub(super) fn next_of(&mut self, thread: ThreadId) -> Option<WaitEvent> {
        if self.dies_with_debugger() {
            return self.process().event_of(thread);
        }
        loop {
            let peeked = self.process().peek_event_of(thread)?;
            self.correct_trapped_thread(peeked);
            // Of a recorded thread, some are not for whoever runs it.
            if let Some(event) = self.process().take_event(peeked.thread) {
                return Some(event);
            }
        }
    }

    /// Moves a thread that has run into a site back to the site, before its event is taken. Once the event is taken, the kernel forgets the
    /// trap. If the debugger were killed then, the thread would go on after the site's byte, in the middle of an instruction.
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

    /// Starts a guardian for the process after exec, or for a child that takes the process's place. `None`: none is needed, because the
    /// process was launched; or none can be started.
    pub(super) fn guardian_of(&self, process: ThreadId) -> Option<Guardian> {
        (!self.dies_with_debugger())
            .then(|| guardian_of(process))
            .flatten()
    }

    /// Takes out of the process everything of the debugger's that a thread could run into: sites, debug registers, single steps. Call when
    /// all threads are stopped for the user; then they can run on if the debugger is killed.
    pub(super) fn clean_for_stop(&mut self) {
        self.lift_sites();
        for thread in self.stopped_threads() {
            self.write_back(thread);
            self.unwatch(thread);
            self.end_single_step(thread);
        }
    }

    /// Resumes a thread that has made a single step, and stops it again at once. The kernel clears the trap flag only when a thread is
    /// resumed without a step: without this, if the debugger were killed, the thread would trap after its next instruction.
    fn end_single_step(&mut self, thread: ThreadId) {
        let stops = self.last_run(thread) == How::Step
            && !self.waits_for_vfork_child(thread)
            && !self.is_in_group_stop(thread);
        // A pending signal can only be delivered by resuming the thread from its present stop.
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
