//! Decisions in the program that depend on the thread's id: whether all threads have their own ids where such a decision reads them.
//!
//! A thread that the C library has made has. One that the program has made by `clone` alone may have another thread's thread pointer: then
//! no such decision is made in the program any more.

use super::Owner;
use super::jumps::NoJump;
use crate::ThreadId;
use dapple_inspect::own_ids::has_own_id;

const NOT_OWN: &str =
    "its condition has `$thread`, and the program has a thread that the C library does not know";

impl Owner {
    /// Checks that threads have their ids at a distance from their thread pointers.
    pub(super) fn have_own_ids(
        &mut self,
        threads: &[ThreadId],
        distance: u64,
    ) -> Result<(), NoJump> {
        let all = threads
            .iter()
            .all(|thread| self.has_own_id(*thread, distance));
        all.then_some(())
            .ok_or_else(|| NoJump::Ever(NOT_OWN.to_owned()))
    }

    fn has_own_id(&mut self, thread: ThreadId, distance: u64) -> bool {
        let Some(registers) = self.registers(thread) else {
            // It has ended.
            return true;
        };
        has_own_id(thread, &registers.to_dwarf(), distance, &self.memory)
    }

    /// Notes that a thread has begun, which has yet to stop for the first time.
    pub(super) fn check_own_id_of(&mut self, thread: ThreadId) {
        let trampolines = &mut self.memory.trampolines;
        if trampolines.used().any(|one| one.own_id.is_some()) {
            trampolines.unchecked.insert(thread);
        }
    }

    /// Before a thread runs.
    pub(super) fn check_new_thread(&mut self, thread: ThreadId) {
        if !self.memory.trampolines.unchecked.remove(&thread) {
            return;
        }
        let used = self.memory.trampolines.used();
        let Some(distance) = used.filter_map(|one| one.own_id).next() else {
            return;
        };
        if !self.has_own_id(thread, distance) {
            (self.memory).take_stale_jumps_out(|trampoline| trampoline.own_id.is_some());
        }
    }
}
