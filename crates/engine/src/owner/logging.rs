//! Messages of breakpoints that the program writes by itself, into a ring ([`crate::breakpoints::log_ring`]).
//!
//! The ring is read every few milliseconds while the program runs, and before anything else is told that a thread did: its messages come in
//! its order. A thread that finds the ring full traps. It comes to the breakpoint again once there is room, as if it had not been there.

use super::Owner;
use crate::breakpoints::log_ring::{LogRing, Writer};
use crate::event::{LoggedLines, LoggedRun};
use crate::stops::How;
use crate::{Address, Event, ThreadId};
use dapple_arch::decision::{RING_IS_FULL, Ring};

impl Owner {
    /// The ring of the process. `thread`: a stopped one.
    ///
    /// # Errors
    /// Why there can't be one, as a clause.
    pub(super) fn log_ring(&mut self, thread: ThreadId) -> Result<&mut LogRing, String> {
        if self.trampolines().log_ring.is_none() {
            let size = Ring::SIZE.next_multiple_of(4096);
            let shared =
                self.calling_system(thread, |process, call| process.share(thread, size, call));
            let (at, file) = shared.map_err(|why| format!("no memory can be shared: {why}"))?;
            let mut ring = LogRing::new(Ring { at }, file);
            if !ring.wake(true) {
                return Err("the system gives no timer".to_owned());
            }
            self.trampolines_mut().log_ring = Some(ring);
        }
        let ring = self.trampolines_mut().log_ring.as_mut();
        ring.ok_or_else(|| "no memory can be shared".to_owned())
    }

    /// Tells the messages that the program has written.
    pub(super) fn tell_logged(&mut self) {
        let Some(ring) = self.trampolines_mut().log_ring.as_mut() else {
            return;
        };
        let lines = ring.read();
        if lines.text.is_empty() {
            return;
        }
        let mut runs = Vec::new();
        let mut counts = Vec::new();
        for (writer, count, end) in ring.runs(&lines) {
            counts.push((writer.breakpoint, writer.options.clone(), count));
            runs.push(LoggedRun {
                breakpoint: writer.breakpoint,
                position: writer.position.clone(),
                end,
            });
        }
        let text = ring.send(lines.text);
        self.tell(Event::LoggedLines(LoggedLines { text, runs }));
        for (id, options, count) in counts {
            let rules = self.rules(id);
            if let Some(rules) = rules.filter(|rules| rules.counts_as(&options)) {
                rules.count_more(count);
            }
        }
    }

    /// Tells what was logged, unless the client has got too little of that yet; then lets threads go on that wait for room in the ring.
    pub(super) fn log_regularly(&mut self) {
        let ring = self.trampolines().log_ring.as_ref();
        if ring.is_none_or(LogRing::is_client_behind) {
            return;
        }
        self.tell_logged();
        for thread in std::mem::take(&mut self.trampolines_mut().waiting) {
            self.release(thread);
        }
        self.perform();
    }

    /// Has the debugger woken to read the ring while the program runs.
    pub(super) fn log_while_running(&mut self, runs: bool) {
        let trampolines = self.trampolines_mut();
        let writes = trampolines.used().any(|it| it.writer.is_some());
        if let Some(ring) = &mut trampolines.log_ring {
            // It has rung before, so the system doesn't refuse.
            ring.wake(runs && writes);
        }
    }

    /// A thread has ended, or all are released.
    pub(super) fn waits_no_more(&mut self, thread: Option<ThreadId>) {
        let waiting = &mut self.trampolines_mut().waiting;
        waiting.retain(|waits| thread.is_some_and(|thread| thread != *waits));
    }

    /// All threads have stopped, none is in a trampoline, and retired ones are forgotten.
    pub(super) fn all_logged(&mut self) {
        self.tell_logged();
        let trampolines = self.trampolines_mut();
        trampolines.waiting.clear();
        trampolines.forget_writers();
        if let Some(ring) = &mut trampolines.log_ring {
            ring.give_up_rest();
        }
        self.log_while_running(false);
    }

    /// Whether a thread that has run into the trap of a trampoline has found the ring full.
    pub(super) fn found_ring_full(&self, sp: u64, slot: Option<i64>) -> bool {
        let word = slot.and_then(|slot| self.process().read_u64(Address(sp).offset(slot)).ok());
        word == Some(RING_IS_FULL)
    }

    /// If a thread has found the ring full: lets it come to the site again, at once or when there is room. Returns `false` if its hit has to be
    /// handled like any other: it hasn't found the ring full, or reading makes no room, since a thread has yet to complete an earlier record.
    pub(super) fn waits_for_room(&mut self, thread: ThreadId, site: Address) -> bool {
        let found = self.control(thread).found_full.take();
        if found != Some(site) {
            return false;
        }
        let has_room = |owner: &Owner| {
            { owner.trampolines().log_ring.as_ref() }.is_some_and(LogRing::has_room)
        };
        let ring = self.trampolines().log_ring.as_ref();
        if ring.is_some_and(LogRing::is_client_behind) {
            self.trampolines_mut().waiting.push(thread);
            return true;
        }
        if !has_room(self) {
            self.tell_logged();
        }
        let goes_on = has_room(self);
        if goes_on {
            self.go(thread, How::Continue, 0);
        }
        goes_on
    }

    /// Adds a breakpoint that writes records. Returns the ring, and the id for its records.
    pub(super) fn add_writer(
        &mut self,
        thread: ThreadId,
        writer: Writer,
    ) -> Result<(Ring, u64), String> {
        let ring = self.log_ring(thread)?;
        Ok((ring.ring, ring.add(writer)))
    }
}
