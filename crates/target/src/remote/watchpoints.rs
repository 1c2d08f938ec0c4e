//! The watched ranges of memory: what the engine has in debug registers of threads is a list of watchpoints of the stub, for all threads.

use dapple_arch::watch_slots::{SLOTS, Slot};
use dapple_gdb_remote::client::BreakpointKind;

/// The watchpoints that the stub has.
#[derive(Debug, Default)]
pub(super) struct Watchpoints {
    slots: [Option<Slot>; SLOTS],
}

/// The protocol's kind of a watchpoint.
pub(super) fn kind(slot: &Slot) -> BreakpointKind {
    match slot.reads {
        true => BreakpointKind::AccessWatchpoint,
        false => BreakpointKind::WriteWatchpoint,
    }
}

impl Watchpoints {
    /// Those that the stub has and is to have no more, and those that it has yet to get, each with its index.
    pub(super) fn changes(
        &self,
        wanted: &[Option<Slot>; SLOTS],
    ) -> (Vec<Slot>, Vec<(usize, Slot)>) {
        let pairs = || self.slots.iter().zip(wanted).enumerate();
        let differing = || pairs().filter(|(_, (now, wanted))| now != wanted);
        let gone = differing().filter_map(|(_, (now, _))| *now);
        let new = differing().filter_map(|(index, (_, wanted))| Some((index, (*wanted)?)));
        (gone.collect(), new.collect())
    }

    /// The stub has these now.
    pub(super) fn set(&mut self, slots: &[Option<Slot>; SLOTS]) {
        self.slots = *slots;
    }

    /// Those that the stub has.
    pub(super) fn all(&self) -> Vec<Slot> {
        self.slots.iter().flatten().copied().collect()
    }

    /// The stub has none any more.
    pub(super) fn forget(&mut self) {
        self.slots = [None; SLOTS];
    }

    /// Which have matched at an access to `address`, as a debug status register says it.
    pub(super) fn hits(&self, address: u64) -> u64 {
        let contains = |slot: &Slot| address.wrapping_sub(slot.address) < slot.length;
        let hits = self.slots.iter().enumerate();
        let hits = hits.filter(|(_, slot)| slot.as_ref().is_some_and(contains));
        hits.fold(0, |hits, (index, _)| hits | 1 << index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changes_is_sent() {
        let slot = |address, reads| Slot {
            address,
            length: 8,
            reads,
        };
        let mut watchpoints = Watchpoints::default();
        let first = [Some(slot(0x10, false)), None, Some(slot(0x20, true)), None];
        let (gone, new) = watchpoints.changes(&first);
        assert_eq!(gone, []);
        assert_eq!(new, [(0, slot(0x10, false)), (2, slot(0x20, true))]);
        watchpoints.set(&first);
        assert_eq!(watchpoints.hits(0x27), 1 << 2);
        assert_eq!(watchpoints.hits(0x28), 0);
        let second = [Some(slot(0x10, true)), None, Some(slot(0x20, true)), None];
        let (gone, new) = watchpoints.changes(&second);
        assert_eq!(gone, [slot(0x10, false)]);
        assert_eq!(new, [(0, slot(0x10, true))]);
    }
}
