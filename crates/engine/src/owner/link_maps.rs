//! Reads the dynamic linker's lists of modules from memory: `r_debug` and `link_map` (glibc's and musl's `<link.h>`). [`super::loader`]
//! makes modules of the entries.
//!
//! The lists are read whenever the dynamic linker notifies of a change: two thousand times in a program that loads a thousand libraries one
//! by one. The dynamic linker appends at the lists' ends, and notifies before it removes an entry. So if no removal was notified, only the
//! last known entry of each list and the new ones are read.

use crate::Address;
use dapple_arch::Memory;

/// How many entries are read at most. No program has so many modules, so a longer list is broken.
const MOST_MODULES: usize = 10_000;
/// How many lists are read at most. glibc has fewer (`DL_NNS`).
const MOST_NAMESPACES: usize = 64;
/// The longest path that is read from the debuggee, in bytes.
const LONGEST_PATH: usize = 4096;
/// How much of a path is read at once, in bytes.
const PIECE_OF_PATH: usize = 128;

/// An entry of a list.
#[derive(Debug, Clone)]
pub(super) struct LinkMap {
    pub at: Address,
    pub bias: u64,
    pub dynamic: Address,
    pub name: Vec<u8>,
}

/// What was read from the lists.
#[derive(Debug)]
pub(super) enum Lists {
    /// The entries that were added since the last reading. None was removed.
    Longer(Vec<LinkMap>),
    /// All entries of all lists. Some may have been removed since the last reading.
    Whole(Vec<LinkMap>),
}

/// Where the dynamic linker has its lists, and how much of them was read.
#[derive(Debug, Default)]
pub(super) struct Loader {
    /// The address of `_r_debug`.
    list: Option<Address>,
    /// For each list, how far it was read.
    known: Vec<Known>,
    /// Whether an entry was or may have been removed. If so, the next reading reads all entries.
    shrinks: bool,
}

/// The first and last entry of a list that were read.
#[derive(Debug)]
struct Known {
    first: Address,
    last: LinkMap,
}

/// What `r_state` says (`RT_CONSISTENT`, `RT_ADD`, `RT_DELETE`).
#[derive(PartialEq, Eq)]
enum State {
    Consistent,
    Adding,
    Removing,
}

impl Loader {
    /// A reader of the lists. `list` is the address of `_r_debug`, if the process has one.
    pub fn at(list: Option<Address>) -> Loader {
        Loader {
            list,
            ..Loader::default()
        }
    }

    /// Whether the process has lists or will have them, because its dynamic linker has `_r_debug`.
    pub fn has_lists(&self) -> bool {
        self.list.is_some()
    }

    /// Reads the new entries, or all if one may have been removed. `None`: there is no list, or a list can't be read. Also `None` while a
    /// list is being changed: another notification will follow.
    pub fn look(&mut self, memory: &dyn Memory) -> Option<Lists> {
        let lists = lists(self.list?, memory)?;
        let states: Vec<State> = lists
            .iter()
            .map(|list| state(*list, memory))
            .collect::<Option<_>>()?;
        if states.contains(&State::Removing) {
            self.shrinks = true;
        }
        if states.iter().any(|state| *state != State::Consistent) {
            return None;
        }
        let shrinks = std::mem::replace(&mut self.shrinks, true);
        let longer = if shrinks || lists.len() != self.known.len() {
            None
        } else {
            self.read_new(&lists, memory)
        };
        let found = match longer {
            Some(new) => Lists::Longer(new),
            None => Lists::Whole(self.read_all(&lists, memory)?),
        };
        // Reset only if all could be read: after a failure, the next reading reads all.
        self.shrinks = false;
        Some(found)
    }

    /// The entries after those that were read before. `None`: a list can't be read, or its first or last known entry isn't as it was.
    fn read_new(&mut self, lists: &[Address], memory: &dyn Memory) -> Option<Vec<LinkMap>> {
        let mut new = Vec::new();
        for (list, known) in lists.iter().zip(&mut self.known) {
            let (last, next) = read(known.last.at, memory)?;
            let same = (last.bias, last.dynamic, &last.name)
                == (known.last.bias, known.last.dynamic, &known.last.name);
            if !same || first(*list, memory)? != known.first {
                return None;
            }
            let before = new.len();
            follow(next, memory, &mut new)?;
            if let [.., last] = &new[before..] {
                known.last = last.clone();
            }
        }
        Some(new)
    }

    fn read_all(&mut self, lists: &[Address], memory: &dyn Memory) -> Option<Vec<LinkMap>> {
        let mut all = Vec::new();
        self.known.clear();
        for list in lists {
            let before = all.len();
            let first = first(*list, memory)?;
            follow(first, memory, &mut all)?;
            if let [.., last] = &all[before..] {
                let last = last.clone();
                self.known.push(Known { first, last });
            }
        }
        Some(all)
    }
}

/// The address of each namespace's `r_debug` (dlmopen(3)). `first` is the first one's.
fn lists(first: Address, memory: &dyn Memory) -> Option<Vec<Address>> {
    /// The version from which on an `r_debug` has a pointer to the next one (`r_next`): glibc's since 2.35.
    const EXTENDED: u32 = 2;
    let mut lists = vec![first];
    let mut list = first;
    while lists.len() < MOST_NAMESPACES {
        let mut version = [0; 4];
        memory.read(list, &mut version).ok()?;
        if u32::from_le_bytes(version) < EXTENDED {
            break;
        }
        match memory.read_address(memory.place_behind(list, 5)) {
            Ok(next) if next != 0 => list = Address(next),
            _ => break,
        }
        lists.push(list);
    }
    Some(lists)
}

fn state(list: Address, memory: &dyn Memory) -> Option<State> {
    let mut state = [0; 4];
    memory.read(memory.place_behind(list, 3), &mut state).ok()?;
    Some(match u32::from_le_bytes(state) {
        0 => State::Consistent,
        1 => State::Adding,
        _ => State::Removing,
    })
}

fn first(list: Address, memory: &dyn Memory) -> Option<Address> {
    memory
        .read_address(memory.place_behind(list, 1))
        .ok()
        .map(Address)
}

/// Appends the entries from `at` on to `maps`. `None`: an entry can't be read.
fn follow(mut at: Address, memory: &dyn Memory, maps: &mut Vec<LinkMap>) -> Option<()> {
    while at.0 != 0 && maps.len() < MOST_MODULES {
        let (map, next) = read(at, memory)?;
        maps.push(map);
        at = next;
    }
    Some(())
}

/// The entry at `at`, and the address of the next one (0: there is none). `None`: it can't be read.
fn read(at: Address, memory: &dyn Memory) -> Option<(LinkMap, Address)> {
    let size = memory.address_size().min(8) as usize;
    let mut entry = [0; 32];
    memory.read(at, &mut entry[..4 * size]).ok()?;
    let word = |index: usize| {
        let mut word = [0; 8];
        word[..size].copy_from_slice(&entry[index * size..][..size]);
        u64::from_le_bytes(word)
    };
    let map = LinkMap {
        at,
        bias: word(0),
        dynamic: Address(word(2)),
        name: c_string(Address(word(1)), memory),
    };
    Some((map, Address(word(3))))
}

/// The text at `at`, up to its zero byte. Empty if memory ends or `LONGEST_PATH` is exceeded before a zero byte.
fn c_string(at: Address, memory: &dyn Memory) -> Vec<u8> {
    let mut text = Vec::new();
    let mut piece = [0; PIECE_OF_PATH];
    while text.len() < LONGEST_PATH {
        let count = memory.read_some(at.offset(text.len() as i64), &mut piece);
        let read = &piece[..count];
        match read.iter().position(|byte| *byte == 0) {
            Some(end) => {
                text.extend_from_slice(&read[..end]);
                return text;
            }
            None if count < PIECE_OF_PATH => break,
            None => text.extend_from_slice(read),
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests;
