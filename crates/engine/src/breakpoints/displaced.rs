//! Displaced stepping: gets a thread past an inserted `int3` while other threads may run into it.
//!
//! There are two ways, neither of which takes the byte out. Instructions that transfer control are *emulated*: their whole effect is on the
//! instruction pointer, the stack and `rcx`. Others are run from a *copy* followed by a jump back, which costs no extra stop: the thread is
//! moved to the copy and simply continued. A copy doesn't change, so a site needs only one, and any number of threads may be in it at once.
//! After a write into the instruction, the site gets a new copy. `owner::trap` handles the few instructions that allow neither way.
//!
//! Copies are written into *caves*: executable bytes past the end of a module's code, up to the end of its last page. These bytes are
//! mapped but unused, and mostly near enough for 32-bit displacements. No memory needs to be allocated in the debuggee.
//!
//! A thread that stops in a copy for another reason (a signal, an interrupt) counts as being at the original instruction, or behind it if
//! the copied instruction has been executed: [`Caves::original`].

use crate::Address;
use dapple_arch::Machine;
use dapple_arch::displaced::{CopiedCode, ROOM, copy};
use dapple_arch::instructions::decode;
use dapple_target::linux::guardian::{CopyNote, Guardian};
use dapple_target::process::Process;
use std::ops::Range;

/// Bytes for one copy.
const SLOT: u64 = ROOM as u64;
/// The largest part of a module's cave that is used, in bytes: 128 copies.
const CAVE_LIMIT: u64 = 4096;
/// A smaller cave, in bytes, has no room for a copy.
const CAVE_MINIMUM: u64 = SLOT;

/// A copy of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Copy {
    /// Where the copy starts.
    pub(crate) start: Address,
    /// Where the original is.
    pub(crate) original: Address,
    /// The copy's length in bytes, without the jump back that follows.
    copied: u64,
    /// The original's length in bytes.
    length: u64,
}

impl Copy {
    /// The address behind the copied instruction.
    pub(crate) fn behind(&self) -> Address {
        self.start.offset(self.copied as i64)
    }
}

/// All memory that is used for copies, with the copies in it.
#[derive(Debug, Default)]
pub(crate) struct Caves {
    caves: Vec<Cave>,
}

#[derive(Debug)]
struct Cave {
    start: Address,
    /// The bytes of the whole cave, as they are without copies.
    before: Vec<u8>,
    slots: Vec<Slot>,
    /// Whether a copy was ever written into the cave, perhaps only in part because the write failed.
    changed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slot {
    Free,
    Used(Copy),
    /// No site uses this copy any more, but a thread may still be in it.
    Retired(Copy),
    /// Has [`CALLS`].
    Calls,
}

/// A system call, and an endless loop: `syscall; jmp .`. If the debugger is killed while a thread makes the call for it, the thread waits there
/// for the guardian.
const CALLS: [u8; 4] = [0x0f, 0x05, 0xeb, 0xfe];

impl Caves {
    /// Makes a cave of the bytes from the end of a module's code, `code_end`, to the end of that page. Makes none if they are too few or
    /// can't be read. `raw` reads memory, and returns `false` if it can't.
    pub(crate) fn add(&mut self, code_end: Address, raw: &impl Fn(Address, &mut [u8]) -> bool) {
        let start = code_end.0.next_multiple_of(16);
        let end = code_end.0.next_multiple_of(4096);
        let size = end.saturating_sub(start).min(CAVE_LIMIT);
        if size < CAVE_MINIMUM || self.caves.iter().any(|c| c.start.0 == start) {
            return;
        }
        let count = (size / SLOT) as usize;
        let mut before = vec![0; count * SLOT as usize];
        if raw(Address(start), &mut before) {
            self.caves.push(Cave {
                start: Address(start),
                before,
                slots: vec![Slot::Free; count],
                changed: false,
            });
        }
    }

    /// Where all caves are.
    pub(crate) fn places(&self) -> Vec<Range<Address>> {
        let place = |cave: &Cave| cave.start..cave.start.offset(cave.before.len() as i64);
        self.caves.iter().map(place).collect()
    }

    /// Makes a copy of the instruction in `code`, whose address is `address`. `None`: the instruction can't be run elsewhere, there is no
    /// room near enough, or the guardian can't record another copy.
    pub(crate) fn place(
        &mut self,
        address: Address,
        code: &[u8],
        memory: &dyn Process,
        mut guardian: Option<&mut Guardian>,
    ) -> Option<Copy> {
        if memory.machine() != Machine::X86_64 {
            return None;
        }
        let instruction = decode(address, code)?;
        let mut caves: Vec<&mut Cave> = self.caves.iter_mut().collect();
        caves.sort_by_key(|c| c.start.0.abs_diff(address.0));
        for cave in caves {
            let Some(index) = cave.slots.iter().position(|s| *s == Slot::Free) else {
                continue;
            };
            let start = Address(cave.start.0 + index as u64 * SLOT);
            let Some(CopiedCode { bytes, copied }) = copy(&instruction, start) else {
                continue;
            };
            let offset = index * SLOT as usize;
            let mut written = cave.before[offset..][..SLOT as usize].to_vec();
            let before = written.clone();
            written[..bytes.len()].copy_from_slice(&bytes);
            let note = CopyNote {
                start,
                original: address,
                copied,
                length: instruction.len() as u64,
                before: &before,
                written: &written,
            };
            if let Some(guardian) = &mut guardian
                && !guardian.note_copy(&note)
            {
                return None;
            }
            cave.changed = true;
            if memory.write(start, &written).is_err() {
                // Code can't be written there, as behind QEMU's user-mode emulation.
                if cave.slots.iter().all(|slot| *slot == Slot::Free) {
                    cave.slots.clear();
                }
                continue;
            }
            let copy = Copy {
                start,
                original: address,
                copied,
                length: instruction.len() as u64,
            };
            cave.slots[index] = Slot::Used(copy);
            return Some(copy);
        }
        None
    }

    /// Where a thread can make a system call for the debugger, and then waits. `None`: there is no room for the code, or the guardian can't record
    /// it.
    pub(crate) fn calls(
        &mut self,
        memory: &dyn Process,
        guardian: &mut Guardian,
    ) -> Option<Address> {
        let place = |cave: &Cave, index: usize| Address(cave.start.0 + index as u64 * SLOT);
        let find = |slot: Slot| {
            let mut caves = self.caves.iter().enumerate();
            caves.find_map(|(cave, it)| Some((cave, it.slots.iter().position(|s| *s == slot)?)))
        };
        if let Some((cave, index)) = find(Slot::Calls) {
            return Some(place(&self.caves[cave], index));
        }
        let (cave, index) = find(Slot::Free)?;
        let cave = &mut self.caves[cave];
        let start = place(cave, index);
        let before = cave.before[index * SLOT as usize..][..SLOT as usize].to_vec();
        let mut written = before.clone();
        written[..CALLS.len()].copy_from_slice(&CALLS);
        let note = CopyNote {
            start,
            // It isn't a copy of an instruction.
            original: Address(0),
            copied: 0,
            length: 0,
            before: &before,
            written: &written,
        };
        if !guardian.note_copy(&note) {
            return None;
        }
        cave.changed = true;
        memory.write(start, &written).ok()?;
        cave.slots[index] = Slot::Calls;
        Some(start)
    }

    /// Keeps a copy from further use, because its site is gone or its instruction was overwritten. A thread may still be in the copy.
    pub(crate) fn retire(&mut self, copy: Copy) {
        for slot in self.caves.iter_mut().flat_map(|c| &mut c.slots) {
            if *slot == Slot::Used(copy) {
                *slot = Slot::Retired(copy);
            }
        }
    }

    /// Makes retired slots free again. Call only when no thread, nor a vfork child, is in any copy.
    pub(crate) fn reclaim(&mut self) {
        for slot in self.caves.iter_mut().flat_map(|c| &mut c.slots) {
            if matches!(slot, Slot::Retired(_)) {
                *slot = Slot::Free;
            }
        }
    }

    /// The copy that `pc` is in, and the address in the original program that corresponds to `pc`. `None`: `pc` is in no copy.
    pub(crate) fn original(&self, pc: Address) -> Option<(Copy, Address)> {
        let cave = self.caves.iter().find(|c| {
            pc.0.checked_sub(c.start.0)
                .is_some_and(|offset| offset < c.before.len() as u64)
        })?;
        let offset = pc.0 - cave.start.0;
        match cave.slots.get((offset / SLOT) as usize)? {
            Slot::Free | Slot::Calls => None,
            Slot::Used(copy) | Slot::Retired(copy) => {
                let inside = offset % SLOT;
                let original = if inside < copy.copied {
                    copy.original
                } else {
                    copy.original.offset(copy.length as i64)
                };
                Some((*copy, original))
            }
        }
    }

    /// Whether there is no room for another copy.
    pub(crate) fn is_full(&self) -> bool {
        let mut slots = self.caves.iter().flat_map(|cave| &cave.slots);
        !slots.any(|slot| *slot == Slot::Free)
    }

    /// Whether there are no copies.
    pub(crate) fn is_unused(&self) -> bool {
        self.caves
            .iter()
            .flat_map(|c| &c.slots)
            .all(|s| *s == Slot::Free)
    }

    /// Hides copies in `bytes`, which were read from `address` on: what was read from caves is replaced by the caves' original bytes.
    pub(crate) fn mask(&self, address: Address, bytes: &mut [u8]) {
        for cave in &self.caves {
            if let Some((in_cave, place)) = cave.shared_with(address, bytes.len()) {
                bytes[place].copy_from_slice(&cave.before[in_cave]);
            }
        }
    }

    /// Adapts `bytes`, which the caller is about to write at `address`, so that they leave copies intact: in `bytes`, those in the place of
    /// a copy become the copy's. What is to be written into caves is stored as their original bytes.
    pub(crate) fn write(&mut self, address: Address, bytes: &mut [u8], memory: &dyn Process) {
        for cave in &mut self.caves {
            let Some((in_cave, place)) = cave.shared_with(address, bytes.len()) else {
                continue;
            };
            cave.before[in_cave.clone()].copy_from_slice(&bytes[place.clone()]);
            for (offset, at) in in_cave.zip(place) {
                let slot = cave.slots.get(offset / SLOT as usize);
                if slot.is_some_and(|slot| *slot != Slot::Free) {
                    let here = Address(address.0.wrapping_add(at as u64));
                    // Can be read, since a copy was written here.
                    let _ = memory.read(here, &mut bytes[at..=at]);
                }
            }
        }
    }

    /// Writes the original bytes back into all caves that copies were written into.
    pub(crate) fn restore(&self, memory: &dyn Process) {
        for cave in &self.caves {
            if cave.changed {
                let _ = memory.write(cave.start, &cave.before);
            }
        }
    }

    /// Makes all slots free. Call only when no copy is in memory any more.
    pub(crate) fn empty(&mut self) {
        for slot in self.caves.iter_mut().flat_map(|c| &mut c.slots) {
            *slot = Slot::Free;
        }
    }

    /// Forgets the caves of modules that are no longer mapped. `gone` says whether an address was in such a module.
    pub(crate) fn forget(&mut self, gone: &impl Fn(Address) -> bool) {
        // A cave begins after its module's code, perhaps outside of the module's bounds, so `gone` is asked about an address in the code.
        self.caves
            .retain(|cave| !gone(Address(cave.start.0.wrapping_sub(32))));
    }
}

impl Cave {
    /// Where the cave overlaps the `length` bytes from `address` on: as a range in the cave, and as a range in those bytes. `None`: nowhere.
    fn shared_with(&self, address: Address, length: usize) -> Option<(Range<usize>, Range<usize>)> {
        let end = address.0.saturating_add(length as u64);
        let from = self.start.0.max(address.0);
        let to = (self.start.0 + self.before.len() as u64).min(end);
        let within = |start: Address| (from - start.0) as usize..(to - start.0) as usize;
        (from < to).then(|| (within(self.start), within(address)))
    }
}
