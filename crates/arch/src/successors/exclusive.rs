//! Loads and stores that work together: those of Arm that are exclusive, and RISC-V's `lr` and `sc`.

use super::Read;
use crate::code::{Flow, decode};
use crate::{Address, InstructionSet};
use std::collections::{BTreeMap, BTreeSet};

/// How far before and behind a load its store is looked for, in bytes. RISC-V allows 16 instructions for the whole loop (ISA Manual, "Eventual Success
/// of Store-Conditional Instructions").
const FAR: u64 = 64;
/// The longest instruction.
const LONGEST: usize = 4;

/// The places where a thread goes on from a load and the store that belongs to it, whatever way it takes between them. `None`: the thread is at no such load,
/// or no way leads to a store.
pub(super) fn behind(set: InstructionSet, at: Address, read: Read<'_>) -> Option<Vec<Address>> {
    let mut instruction = [0; LONGEST];
    let count = read(at, &mut instruction);
    if !is_access(set, word(&instruction[..count])?, true) {
        return None;
    }
    // What is before it may not be there.
    let before = at.0.saturating_sub(FAR);
    let is_readable = read(Address(before), &mut [0; FAR as usize]) as u64 == FAR;
    let start = Address(if is_readable { before } else { at.0 });
    let mut code = vec![0; (at.0 - start.0 + FAR) as usize + LONGEST];
    let count = read(start, &mut code);
    code.truncate(count);
    let code_at = |place: Address| {
        let from = usize::try_from(place.0.checked_sub(start.0)?).ok()?;
        code.get(from..).filter(|code| !code.is_empty())
    };
    let first = decode(set, code_at(at)?, at)?.next();
    let mut ways = BTreeMap::from([(at, Way::Outside)]);
    let mut ahead = vec![first];
    while let Some(place) = ahead.pop() {
        if ways.contains_key(&place) {
            continue;
        }
        let code = code_at(place).filter(|_| place.0.abs_diff(at.0) <= FAR);
        let way = code.map_or(Way::Outside, |code| way_from(set, code, place));
        if let Way::On(next) = &way {
            ahead.extend(next);
        }
        ways.insert(place, way);
    }
    let within = with_store_ahead(&ways);
    if !within.contains(&first) {
        return None;
    }
    // The thread leaves behind the store, or where no store is ahead any more. Back at the load, it begins anew.
    let places = within.iter().flat_map(|place| match &ways[place] {
        Way::Store(next) => vec![*next],
        Way::On(next) => next.clone(),
        Way::Outside => Vec::new(),
    });
    let leaves = |place: &Address| *place != at && !within.contains(place);
    let places: BTreeSet<Address> = places.filter(leaves).collect();
    Some(places.into_iter().collect())
}

/// Where an instruction leads between a load and its store.
enum Way {
    On(Vec<Address>),
    /// It is the store, and this is behind it.
    Store(Address),
    /// It doesn't belong to them.
    Outside,
}

fn way_from(set: InstructionSet, code: &[u8], at: Address) -> Way {
    let Some(decoded) = decode(set, code, at) else {
        return Way::Outside;
    };
    let next = decoded.next();
    let word = word(code).unwrap_or_default();
    match decoded.flow {
        _ if is_access(set, word, false) => Way::Store(next),
        _ if gives_up(set, word) || is_access(set, word, true) => Way::Outside,
        Flow::Next => Way::On(vec![next]),
        Flow::Branch(target) => Way::On(vec![next, target]),
        Flow::Jump(Some(target)) => Way::On(vec![target]),
        _ => Way::Outside,
    }
}

/// The instructions from which a way leads to a store.
fn with_store_ahead(ways: &BTreeMap<Address, Way>) -> BTreeSet<Address> {
    let mut found = BTreeSet::new();
    loop {
        let before = found.len();
        for (place, way) in ways {
            let has = match way {
                Way::Store(_) => true,
                Way::On(next) => next.iter().any(|next| found.contains(next)),
                Way::Outside => false,
            };
            if has {
                found.insert(*place);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

fn word(code: &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(*code.first_chunk()?))
}

/// Whether an instruction forgets the load (`clrex`).
fn gives_up(set: InstructionSet, word: u32) -> bool {
    match set {
        InstructionSet::Aarch64 => word & 0xffff_f0ff == 0xd503_305f,
        InstructionSet::Arm => word == 0xf57f_f01f,
        InstructionSet::Thumb => word.rotate_left(16) == 0xf3bf_8f2f,
        InstructionSet::X86_64 | InstructionSet::Riscv64 => false,
    }
}

/// Whether an instruction is such a load, or such a store.
fn is_access(set: InstructionSet, word: u32, loads: bool) -> bool {
    match set {
        InstructionSet::X86_64 => false,
        InstructionSet::Aarch64 => {
            // A pair of less than 4 bytes each is casp.
            let is_pair = word >> 21 & 1 == 1;
            let is_exchange = is_pair && word >> 31 == 0;
            let kind = if loads { 0x0840_0000 } else { 0x0800_0000 };
            word & 0x3fc0_0000 == kind && !is_exchange
        }
        InstructionSet::Riscv64 => {
            let kind = if loads { 2 } else { 3 };
            word & 0x7f == 0x2f && word >> 27 == kind
        }
        InstructionSet::Arm => {
            let kind = if loads { 0x0190_0290 } else { 0x0180_0290 };
            word >> 28 != 15 && word & 0x0f90_02f0 == kind
        }
        InstructionSet::Thumb => {
            let word = word.rotate_left(16);
            let (plain, sized) = match loads {
                true => (0xe850_0000, 0xe8d0_0000),
                false => (0xe840_0000, 0xe8c0_0000),
            };
            // Bytes, halves and pairs; those that are ordered have one bit more, and there are words among them.
            let is_sized = matches!(word >> 4 & 15, 4 | 5 | 7 | 12..=15);
            word & 0xfff0_0000 == plain || word & 0xfff0_0000 == sized && is_sized
        }
    }
}
