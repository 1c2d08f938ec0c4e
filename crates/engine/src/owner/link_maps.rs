//! Reads the dynamic linker's lists of modules from memory: `r_debug` and `link_map` (glibc's and musl's `<link.h>`). [`super::loader`]
//! makes modules of the entries.
//!
//! They are read when the dynamic linker notifies of a change, which happens two thousand times in a program that loads a thousand
//! libraries. The dynamic linker appends at the lists' ends, and notifies before it removes an entry. So if no removal was notified, only
//! the last known entry of each list and the new ones are read.

use crate::Address;
use dapple_arch::Memory;

/// More modules than any program has: a longer list is broken, and reading it ends.
const MOST_MODULES: usize = 10_000;
/// More than glibc has (`DL_NNS`).
const MOST_NAMESPACES: usize = 64;
/// The longest path that is read from the debuggee.
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

/// The result of reading the lists.
#[derive(Debug)]
pub(super) enum Lists {
    /// The entries that were added since the last reading; none was removed.
    Longer(Vec<LinkMap>),
    /// All entries.
    Whole(Vec<LinkMap>),
}

/// Where the dynamic linker keeps its lists, and how much of them was read.
#[derive(Debug, Default)]
pub(super) struct Loader {
    /// `_r_debug`.
    list: Option<Address>,
    /// For each list, how far it was read.
    known: Vec<Known>,
    /// An entry was or may have been removed: the next reading reads all.
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
    /// A reader of the lists at `_r_debug`, if there is one.
    pub fn at(list: Option<Address>) -> Loader {
        Loader {
            list,
            ..Loader::default()
        }
    }

    /// Whether the process has lists, or will have them.
    pub fn has_lists(&self) -> bool {
        self.list.is_some()
    }

    /// Reads the new entries, or all if one may have been removed. `None`: there is no list, it can't be read, or one is being changed and
    /// another notification will follow.
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
        // Reset only after everything could be read.
        self.shrinks = false;
        Some(found)
    }

    /// The entries behind those that were read before. `None`: a list isn't the known one any more, or can't be read.
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

/// The address of each namespace's list (dlmopen(3)).
fn lists(first: Address, memory: &dyn Memory) -> Option<Vec<Address>> {
    /// The version of `r_debug` with a next one behind it: glibc's since 2.35.
    const EXTENDED: u32 = 2;
    let mut lists = vec![first];
    let mut list = first;
    while lists.len() < MOST_NAMESPACES {
        let mut version = [0; 4];
        memory.read(list, &mut version).ok()?;
        if u32::from_le_bytes(version) < EXTENDED {
            break;
        }
        match memory.read_u64(list.offset(40)) {
            Ok(next) if next != 0 => list = Address(next),
            _ => break,
        }
        lists.push(list);
    }
    Some(lists)
}

fn state(list: Address, memory: &dyn Memory) -> Option<State> {
    let mut state = [0; 4];
    memory.read(list.offset(24), &mut state).ok()?;
    Some(match u32::from_le_bytes(state) {
        0 => State::Consistent,
        1 => State::Adding,
        _ => State::Removing,
    })
}

fn first(list: Address, memory: &dyn Memory) -> Option<Address> {
    memory.read_u64(list.offset(8)).ok().map(Address)
}

/// Appends the entries from `at` on.
fn follow(mut at: Address, memory: &dyn Memory, maps: &mut Vec<LinkMap>) -> Option<()> {
    while at.0 != 0 && maps.len() < MOST_MODULES {
        let (map, next) = read(at, memory)?;
        maps.push(map);
        at = next;
    }
    Some(())
}

/// An entry, and the address of the next one.
fn read(at: Address, memory: &dyn Memory) -> Option<(LinkMap, Address)> {
    let mut entry = [0; 32];
    memory.read(at, &mut entry).ok()?;
    let word = |index: usize| {
        let bytes = entry[index * 8..][..8].try_into();
        bytes.map(u64::from_le_bytes).unwrap_or(0)
    };
    let map = LinkMap {
        at,
        bias: word(0),
        dynamic: Address(word(2)),
        name: c_string(Address(word(1)), memory),
    };
    Some((map, Address(word(3))))
}

/// The text up to its zero byte. Empty if there is none within `LONGEST_PATH` or before unreadable memory.
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
