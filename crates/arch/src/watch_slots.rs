//! Allocates the debug registers: cuts ranges of bytes into pieces that a register can watch, and shares the registers between watchpoints.
//!
//! A register watches 1, 2, 4 or 8 bytes, aligned to their number, for writes or for both reads and writes; the hardware can't watch reads
//! alone. If a watchpoint is about changes of a value, its registers may cover more than the range, since comparing the value filters out
//! other accesses. Otherwise the range must be covered exactly.

/// The number of address registers.
pub const SLOTS: usize = 4;

/// In the status register: a single step has completed.
pub const SINGLE_STEP: u64 = 1 << 14;
/// In the status register: which slots were hit.
pub const HITS: u64 = (1 << SLOTS) - 1;

/// The bytes that one register watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The first byte.
    pub address: u64,
    /// 1, 2, 4 or 8; divides the address.
    pub length: u64,
    /// Watches reads as well as writes.
    pub reads: bool,
}

/// The fewest slots that cover the range; with `roomy`, they may also cover bytes around it. A range of more than `SLOTS` words yields more
/// slots than exist, but not many more.
pub fn pieces(address: u64, length: u64, reads: bool, roomy: bool) -> Vec<Slot> {
    let end = address.saturating_add(length);
    let mut at = address;
    let mut pieces = Vec::new();
    while at < end && pieces.len() <= 2 * SLOTS {
        let (start, size) = if roomy {
            enclosing(at, end)
        } else {
            (at, largest(at, end - at))
        };
        pieces.push(Slot {
            address: start,
            length: size,
            reads,
        });
        at = start + size;
    }
    pieces
}

/// The size of the largest slot that begins at `at` and is at most `room` bytes long.
fn largest(at: u64, room: u64) -> u64 {
    let fits = |size: &u64| at.is_multiple_of(*size) && *size <= room;
    [8, 4, 2].into_iter().find(fits).unwrap_or(1)
}

/// The start and size of the smallest slot that contains `at` and the rest of the range within the same 8-byte word.
fn enclosing(at: u64, end: u64) -> (u64, u64) {
    let last = (end - 1).min(at | 7);
    let holds = |size: &u64| at / size == last / size;
    let size = [1, 2, 4, 8].into_iter().find(holds).unwrap_or(8);
    (at / size * size, size)
}

/// The assignment of slots to registers. A slot keeps its register as long as it is used, because threads get their registers updated one
/// by one.
#[derive(Debug, Default)]
pub struct Table {
    slots: [Option<Slot>; SLOTS],
    version: u32,
}

impl Table {
    /// The slot of each register.
    pub fn slots(&self) -> &[Option<Slot>; SLOTS] {
        &self.slots
    }

    /// Increases with each change; 0 means that nothing was ever watched.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Assigns registers to the slots of each item of `wanted`, in this order. An item gets registers for all of its slots or for none; the
    /// error is how many registers were free for it. Equal slots share a register.
    pub fn assign(&mut self, wanted: &[Vec<Slot>]) -> Vec<Result<(), usize>> {
        let before = self.slots;
        let mut given: Vec<Slot> = Vec::new();
        let answers = wanted
            .iter()
            .map(|needs| {
                let mut all = given.clone();
                for slot in needs {
                    if !all.contains(slot) {
                        all.push(*slot);
                    }
                }
                if all.len() > SLOTS {
                    return Err(SLOTS - given.len());
                }
                given = all;
                Ok(())
            })
            .collect();
        for slot in &mut self.slots {
            slot.take_if(|slot| !given.contains(slot));
        }
        for slot in given {
            if !self.slots.contains(&Some(slot))
                && let Some(free) = self.slots.iter_mut().find(|s| s.is_none())
            {
                *free = Some(slot);
            }
        }
        if self.slots != before {
            self.version += 1;
        }
        answers
    }

    /// The registers that watch any of these slots, as a bit mask.
    pub fn mask(&self, slots: &[Slot]) -> u64 {
        let bits = self.slots.iter().enumerate();
        bits.filter(|(_, slot)| slot.is_some_and(|slot| slots.contains(&slot)))
            .fold(0, |mask, (index, _)| mask | 1 << index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(address: u64, length: u64, roomy: bool) -> Vec<(u64, u64)> {
        let pieces = pieces(address, length, false, roomy);
        pieces
            .iter()
            .map(|slot| (slot.address, slot.length))
            .collect()
    }

    #[test]
    fn a_range_is_cut_at_multiples_of_the_pieces() {
        assert_eq!(cut(0x1000, 4, false), [(0x1000, 4)]);
        assert_eq!(cut(0x1000, 16, false), [(0x1000, 8), (0x1008, 8)]);
        assert_eq!(
            cut(0x1001, 7, false),
            [(0x1001, 1), (0x1002, 2), (0x1004, 4)]
        );
        assert_eq!(cut(0x1006, 4, false), [(0x1006, 2), (0x1008, 2)]);
        assert!(cut(0x1000, 40, false).len() > SLOTS);
        assert!(cut(0x1000, u64::MAX, false).len() > SLOTS);
        assert_eq!(cut(0x1000, 0, false), []);
    }

    #[test]
    fn a_roomy_range_takes_one_register_a_word() {
        assert_eq!(cut(0x1001, 7, true), [(0x1000, 8)]);
        assert_eq!(cut(0x1001, 2, true), [(0x1000, 4)]);
        assert_eq!(cut(0x1006, 4, true), [(0x1006, 2), (0x1008, 2)]);
        assert_eq!(cut(0x1003, 1, true), [(0x1003, 1)]);
        assert_eq!(
            cut(0x1004, 24, true),
            [(0x1004, 4), (0x1008, 8), (0x1010, 8), (0x1018, 4)]
        );
    }

    #[test]
    fn registers_are_shared_kept_and_counted() {
        let at = |address| pieces(address, 8, false, true);
        let mut table = Table::default();
        assert_eq!(table.assign(&[at(0x10), at(0x20), at(0x10)]), [Ok(()); 3]);
        assert_eq!(table.version(), 1);
        assert_eq!(table.mask(&at(0x20)), 2);
        let two = pieces(0x40, 16, false, true);
        let needs = [at(0x20), two.clone(), at(0x60), at(0x70)];
        assert_eq!(table.assign(&needs), [Ok(()), Ok(()), Ok(()), Err(0)]);
        assert_eq!(table.mask(&at(0x20)), 2, "it keeps its register");
        assert_eq!(table.mask(&two), 0b101);
        assert_eq!(table.assign(&needs), [Ok(()), Ok(()), Ok(()), Err(0)]);
        assert_eq!(table.version(), 2, "nothing has changed");
        assert_eq!(
            table.assign(&[at(0x60), at(0x70), two.clone(), two, at(0x80)]),
            [Ok(()), Ok(()), Ok(()), Ok(()), Err(0)]
        );
        assert_eq!(table.assign(&[pieces(0, 40, false, true)]), [Err(4)]);
        assert_eq!(table.slots(), &[None; SLOTS]);
    }
}
