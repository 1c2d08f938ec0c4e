//! Which bytes the processor's debug registers watch: cutting ranges into what a register can hold, and sharing the few
//! registers there are.
//!
//! A register watches 1, 2, 4 or 8 bytes at a multiple of that, for writes, or for reads and writes: there is none for
//! reads alone. Where what counts is that the value changes, a register may watch more than the range, since
//! the value tells; else it has to be cut exactly.

/// How many registers for addresses the processor has.
pub const SLOTS: usize = 4;

/// What one register watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The first byte.
    pub address: u64,
    /// 1, 2, 4 or 8; divides the address.
    pub length: u64,
    /// Reads, too.
    pub reads: bool,
}

/// The fewest slots that watch the range; with `roomy`, they may watch bytes around it. Ranges of more than `SLOTS` words
/// give more than can be had, but not many more.
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

/// The largest that begins at `at` and doesn't go beyond `room`.
fn largest(at: u64, room: u64) -> u64 {
    let fits = |size: &u64| at.is_multiple_of(*size) && *size <= room;
    [8, 4, 2].into_iter().find(fits).unwrap_or(1)
}

/// The smallest that has all of the range which is in one word with its first byte.
fn enclosing(at: u64, end: u64) -> (u64, u64) {
    let last = (end - 1).min(at | 7);
    let holds = |size: &u64| at / size == last / size;
    let size = [1, 2, 4, 8].into_iter().find(holds).unwrap_or(8);
    (at / size * size, size)
}

/// Who uses which register. What stays keeps its register: threads get to know changes one by one.
#[derive(Debug, Default)]
pub struct Table {
    slots: [Option<Slot>; SLOTS],
    version: u32,
}

impl Table {
    /// What each register watches.
    pub fn slots(&self) -> &[Option<Slot>; SLOTS] {
        &self.slots
    }

    /// Grows with each change; 0: nothing was ever watched.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Watches what each of `wanted` needs, in this order; for each whether it has it, or how many registers were free for
    /// it. Equal slots are one.
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

    /// Which registers watch any of these, as bits.
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
