//! Makes steps over recursive calls fast: a million inner calls may return before the call that is stepped over does.
//!
//! The inner calls return to the same addresses as the call that is stepped over, so the step's sites there stop the thread after each
//! inner call. After a few such stops, a debug register watches the stack word that has the return address of the call that is stepped
//! over. As a rule, only that call's return reads the word. The step's sites are taken out, and inserted again when the word is read.

use super::Owner;
use super::stepping::Stepping;
use crate::breakpoints::site::Reason;
use crate::{Address, ThreadId};
use dapple_arch::registers::user::UserRegisters;
use dapple_arch::watch_slots::Slot;
use dapple_inspect::inspect::Inspect;

/// After how many stops in inner calls a debug register is used.
const FEW: u32 = 16;
/// The size of a return address in bytes.
const WORD: u64 = 8;

impl Owner {
    /// Called when the stepping thread is at a site of the step, but in an inner call. The step waits until the thread returns to `address`
    /// with the stack pointer at `height`. After a few such stops, watches that return address instead.
    pub(super) fn returned_inside(
        &mut self,
        stepping: &mut Stepping,
        address: Address,
        height: Address,
    ) {
        stepping.inside += 1;
        if stepping.inside < FEW {
            return;
        }
        stepping.inside = 0;
        // Where calls leave the return address in a register, it has no place of its own that is known.
        if self.process().machine().link().is_some() {
            return;
        }
        let place = stepping.step.return_place(address, height, self.memory());
        let Some(place) = place.filter(|place| place.0.is_multiple_of(WORD)) else {
            return;
        };
        let slot = Slot {
            address: place.0,
            length: WORD,
            reads: true,
        };
        self.watches.of_step = Some(slot);
        let _ = self.share_slots();
        let is_watched = self.watches.table.mask(&[slot]) != 0;
        if is_watched && self.set_debug_registers(stepping.thread).is_ok() {
            self.remove_sites(Reason::Step);
            // The site where an exception or a jump is about to land is still needed: it may land in the frame that the step waits for.
            let landing = stepping
                .landing()
                .map(|at| self.insert_site(at, Reason::Step));
            if let Some(Err(error)) = landing {
                tracing::warn!(%error, "a step can't follow a throw or jump");
            }
        } else {
            self.watch_no_return();
        }
    }

    /// Stops watching the return address for the step, if it is watched.
    pub(super) fn watch_no_return(&mut self) {
        if self.watches.of_step.take().is_some() {
            let _ = self.share_slots();
        }
    }

    /// Called when a thread has accessed what the debug registers in the mask `hits` watch. If the step's thread has read the watched return
    /// address, inserts the step's sites again.
    pub(super) fn return_is_read(&mut self, thread: ThreadId, hits: u64) {
        let Some(slot) = self.watches.of_step else {
            return;
        };
        let is_read = self.watches.table.mask(&[slot]) & hits != 0;
        if is_read && self.is_stepping(thread) {
            self.control(thread).passed = None;
            self.wait_at_sites();
        }
    }

    /// As [`Owner::return_is_read`], but for an instruction that the debugger has emulated, whose reads no debug register sees. `before` and
    /// `after` are the thread's registers around it: a return pops the word at the stack pointer.
    pub(super) fn return_is_emulated(
        &mut self,
        thread: ThreadId,
        before: UserRegisters,
        after: UserRegisters,
    ) {
        let slot = self.watches.of_step;
        let slot = slot.filter(|s| s.address == before.sp() && after.sp() > before.sp());
        if let Some(slot) = slot {
            self.return_is_read(thread, self.watches.table.mask(&[slot]));
        }
    }

    /// Stops watching the return address, and inserts the step's sites again. The thread then stops at them in inner calls, too.
    pub(super) fn wait_at_sites(&mut self) {
        self.watch_no_return();
        for address in self.step_sites() {
            if let Err(error) = self.insert_site(address, Reason::Step) {
                tracing::warn!(%address, %error, "a step can't stop where it should");
            }
        }
    }
}
