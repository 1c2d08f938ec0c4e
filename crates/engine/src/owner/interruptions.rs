//! Where signal handlers may return to.
//!
//! A thread's handler returns to where the signal was delivered, unless it leaves by `siglongjmp` or the like. Nobody notices either. But where
//! the thread has the same stack pointer again, the handler has ended: until then, its frame or that of the interrupted function is below, or
//! the thread is on another stack.

use super::Owner;
use crate::{Address, ThreadId};
use dapple_inspect::inspect::Inspect;
use dapple_inspect::unwind;
use rustc_hash::{FxHashMap, FxHashSet};

/// The most interruptions that are noted of a thread.
const MOST: usize = 1024;
/// The most frames of a thread's stack that are searched for handlers.
const MOST_FRAMES: usize = 10_000;

/// Interruptions of all threads by signals.
#[derive(Debug, Default, Clone)]
pub(super) struct Interruptions {
    /// By thread and stack pointer: the interrupted address.
    of: FxHashMap<ThreadId, FxHashMap<u64, Address>>,
    /// Whether there may be others.
    incomplete: bool,
    /// Threads that may have some from before the debugger traced them.
    unsearched: FxHashSet<ThreadId>,
}

impl Interruptions {
    /// Notes that a signal is delivered to a thread at `pc`, where its stack pointer is `sp`.
    pub(super) fn add(&mut self, thread: ThreadId, pc: Address, sp: u64) {
        let of = self.of.entry(thread).or_default();
        if of.len() < MOST || of.contains_key(&sp) {
            of.insert(sp, pc);
        } else {
            self.incomplete = true;
        }
    }

    /// Notes that these threads may have some from before the debugger traced them.
    pub(super) fn miss_earlier(&mut self, threads: &[ThreadId]) {
        self.unsearched.extend(threads);
    }

    /// Adds all that a thread had before the debugger traced it: address and stack pointer.
    fn add_earlier(&mut self, thread: ThreadId, earlier: Vec<(Address, u64)>) {
        for (pc, sp) in earlier {
            self.add(thread, pc, sp);
        }
        self.unsearched.remove(&thread);
    }

    /// A thread's stack has been searched: it has these, and no others.
    fn replace(&mut self, thread: ThreadId, found: Vec<(Address, u64)>) {
        self.of.remove(&thread);
        self.add_earlier(thread, found);
    }

    /// Notes that a thread runs outside of handlers, or in another, with this stack pointer.
    pub(super) fn is_at(&mut self, thread: ThreadId, sp: u64) {
        if let Some(of) = self.of.get_mut(&thread) {
            of.remove(&sp);
        }
    }

    /// A thread has ended.
    pub(super) fn ended(&mut self, thread: ThreadId) {
        self.of.remove(&thread);
        self.unsearched.remove(&thread);
    }

    /// Those of a copy of the process in which only `child` runs, as `maker` did.
    pub(super) fn of_child(&mut self, maker: ThreadId, child: ThreadId) -> Interruptions {
        let of = self.of.remove(&maker);
        Interruptions {
            of: of.into_iter().map(|of| (child, of)).collect(),
            incomplete: self.incomplete,
            unsearched: { self.unsearched.remove(&maker).then_some(child) }
                .into_iter()
                .collect(),
        }
    }

    /// The stack pointers of the threads where they were interrupted.
    pub(super) fn stack_pointers(&self) -> impl Iterator<Item = u64> {
        self.of.values().flat_map(FxHashMap::keys).copied()
    }

    /// Whether a handler may return to an address that `is_meant`.
    pub(super) fn may_return_to(&self, is_meant: impl Fn(Address) -> bool) -> bool {
        let mut all = self.of.values().flat_map(FxHashMap::values);
        self.incomplete || !self.unsearched.is_empty() || all.any(|pc| is_meant(*pc))
    }
}

impl Owner {
    /// Notes where the handlers return to that began before the debugger traced the process. Those that haven't ended are on the stacks of the
    /// threads, which must be stopped. A thread whose stack can't be unwound to its end is searched again the next time.
    pub(super) fn find_earlier_interruptions(&mut self) {
        let threads: Vec<_> = self.interruptions().unsearched.iter().copied().collect();
        for thread in threads {
            if let Some(found) = self.search_interruptions(thread) {
                self.interruptions().add_earlier(thread, found);
            }
        }
    }

    /// Forgets those that have ended. All threads must be stopped.
    pub(super) fn forget_past_interruptions(&mut self) {
        let threads: Vec<_> = self.interruptions().of.keys().copied().collect();
        for thread in threads {
            if let Some(found) = self.search_interruptions(thread) {
                self.interruptions().replace(thread, found);
            }
        }
    }

    /// Those on a thread's stack. `None`: there may be others.
    fn search_interruptions(&mut self, thread: ThreadId) -> Option<Vec<(Address, u64)>> {
        // Threads that wait for their turns are stopped, too.
        let registers = self.registers(thread);
        let registers = registers.or_else(|| self.process().registers(thread).ok())?;
        let (modules, memory) = (self.modules(), self.memory());
        unwind::interrupted(registers.to_dwarf(), modules, memory, MOST_FRAMES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ThreadId = ThreadId(1);
    const B: ThreadId = ThreadId(2);

    #[test]
    fn a_handler_is_over_where_its_thread_has_the_same_stack_pointer_again() {
        let mut all = Interruptions::default();
        let is_noted = |all: &Interruptions| all.may_return_to(|pc| pc == Address(0x10));
        all.add(A, Address(0x10), 0x7000);
        all.is_at(A, 0x6f00);
        all.is_at(B, 0x7000);
        assert!(is_noted(&all));
        all.is_at(A, 0x7000);
        assert!(!is_noted(&all));
        all.add(A, Address(0x10), 0x7000);
        all.add(A, Address(0x20), 0x7000);
        assert!(!is_noted(&all));
    }

    #[test]
    fn a_copy_of_the_process_has_the_handlers_of_the_thread_that_made_it() {
        let mut all = Interruptions::default();
        all.add(A, Address(0x10), 0x7000);
        all.add(B, Address(0x20), 0x8000);
        let copy = all.of_child(A, ThreadId(3));
        assert!(copy.may_return_to(|pc| pc == Address(0x10)));
        assert!(!copy.may_return_to(|pc| pc == Address(0x20)));
    }

    #[test]
    fn of_what_was_before_nothing_is_known_until_it_is_found() {
        let mut all = Interruptions::default();
        all.miss_earlier(&[A, B]);
        all.add_earlier(A, vec![(Address(0x10), 0x7000)]);
        assert!(all.may_return_to(|pc| pc == Address(0x20)));
        all.add_earlier(B, Vec::new());
        assert!(!all.may_return_to(|pc| pc == Address(0x20)));
        assert!(all.may_return_to(|pc| pc == Address(0x10)));
    }

    #[test]
    fn of_too_many_any_address_may_be_meant() {
        let mut all = Interruptions::default();
        for index in 0..=MOST as u64 {
            all.add(A, Address(0x10), 0x7000 + index);
        }
        assert!(all.may_return_to(|_| false));
    }
}
