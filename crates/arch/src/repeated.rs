//! String instructions with a prefix that repeats them, `rep movsb` and its like (Intel SDM vol. 2, REP).
//!
//! A thread may be interrupted amid one: its instruction pointer is still at the instruction, and the registers say how much is left.

use crate::Address;
use crate::instructions::decode;
use crate::registers::user::UserRegisters;
use iced_x86::{Mnemonic, Register};
use std::ops::Range;

/// The direction flag: the addresses go down.
const DOWN: u64 = 1 << 10;
/// The flags that a comparison changes: carry, parity, adjust, zero, sign and overflow.
const COMPARED: u64 = 0x8d5;
/// The registers' numbers (ABI §3.6.2).
const RAX: u16 = 0;
const RCX: u16 = 2;
const RSI: u16 = 4;
const RDI: u16 = 5;
/// How much is copied at a time, in bytes.
const CHUNK: u64 = 1 << 16;

/// A repeated string instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repeated {
    does: Does,
    /// The size of an element in bytes.
    size: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    Moves,
    Stores,
    Loads,
    /// Compares elements with each other, or with a register.
    Compares,
    Scans,
}

/// What a thread does between two states amid the same repeated instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repeats {
    does: Does,
    size: u64,
    count: u64,
    is_down: bool,
    from: u64,
    to: u64,
    value: u64,
}

/// The repeated string instruction at the beginning of some code. `None`: there is another one, or one with other addresses than usual (a
/// segment's, or of 32 bits).
pub fn repeated(at: Address, code: &[u8]) -> Option<Repeated> {
    let instruction = decode(at, code)?;
    let is_repeated = instruction.has_rep_prefix() || instruction.has_repne_prefix();
    let is_usual = instruction.segment_prefix() == Register::None
        && !code[..instruction.len()].contains(&0x67);
    if !is_repeated || !instruction.is_string_instruction() || !is_usual {
        return None;
    }
    use Mnemonic::*;
    let (does, size) = match instruction.mnemonic() {
        Movsb => (Does::Moves, 1),
        Movsw => (Does::Moves, 2),
        Movsd => (Does::Moves, 4),
        Movsq => (Does::Moves, 8),
        Stosb => (Does::Stores, 1),
        Stosw => (Does::Stores, 2),
        Stosd => (Does::Stores, 4),
        Stosq => (Does::Stores, 8),
        Lodsb => (Does::Loads, 1),
        Lodsw => (Does::Loads, 2),
        Lodsd => (Does::Loads, 4),
        Lodsq => (Does::Loads, 8),
        Cmpsb => (Does::Compares, 1),
        Cmpsw => (Does::Compares, 2),
        Cmpsd => (Does::Compares, 4),
        Cmpsq => (Does::Compares, 8),
        Scasb => (Does::Scans, 1),
        Scasw => (Does::Scans, 2),
        Scasd => (Does::Scans, 4),
        Scasq => (Does::Scans, 8),
        _ => return None,
    };
    Some(Repeated { does, size })
}

impl Repeated {
    /// What a thread at this instruction does from one state to a later one amid it. `None`: it doesn't come to that by repeating the
    /// instruction.
    pub fn between(self, now: &UserRegisters, later: &UserRegisters) -> Option<Repeats> {
        let get = |registers: &UserRegisters, which| registers.get(which).unwrap_or_default();
        let both = |which| (get(now, which), get(later, which));
        let (left, later_left) = both(Register::RCX);
        let count = left.checked_sub(later_left).filter(|count| *count > 0)?;
        let is_down = now.flags() & DOWN != 0;
        let bytes = count.checked_mul(self.size)?;
        let moved = |address: u64, moves: bool| match (moves, is_down) {
            (false, _) => address,
            (true, false) => address.wrapping_add(bytes),
            (true, true) => address.wrapping_sub(bytes),
        };
        let reads = matches!(self.does, Does::Moves | Does::Loads | Does::Compares);
        let (from, later_from) = both(Register::RSI);
        let (to, later_to) = both(Register::RDI);
        let moves_to = self.does != Does::Loads;
        if moved(from, reads) != later_from || moved(to, moves_to) != later_to {
            return None;
        }
        // All others are the same.
        let mut same = *now;
        for (number, value) in [(RCX, later_left), (RSI, later_from), (RDI, later_to)] {
            same.set(number, value);
        }
        match self.does {
            Does::Moves | Does::Stores => {}
            Does::Loads => {
                same.set(RAX, get(later, Register::RAX));
            }
            Does::Compares | Does::Scans => {
                same.set_flags(now.flags() & !COMPARED | later.flags() & COMPARED);
            }
        }
        same.runs_on_as(later, false).then_some(Repeats {
            does: self.does,
            size: self.size,
            count,
            is_down,
            from,
            to,
            value: get(now, Register::RAX),
        })
    }
}

/// A part of what a repeated instruction does to memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// From where the bytes are copied. `None`: they are `bytes`.
    pub from: Option<Address>,
    /// Where they are written.
    pub to: Address,
    /// As many bytes as are written.
    pub bytes: Vec<u8>,
}

impl Repeats {
    /// Whether it does nothing.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The same up to the first element that writes to `watched`.
    pub fn before(self, watched: &Range<Address>) -> Repeats {
        let written = self.written();
        if watched.start >= written.end || watched.end <= written.start {
            return self;
        }
        let between = match self.is_down {
            false => watched.start.0.saturating_sub(written.start.0),
            true => written.end.0.saturating_sub(watched.end.0),
        };
        let count = between / self.size;
        Repeats { count, ..self }
    }

    /// The registers of the thread behind this, which had `now` in front of it, and moves or stores.
    pub fn after(&self, mut now: UserRegisters) -> UserRegisters {
        let bytes = self.count * self.size;
        let moved = |address: u64| match self.is_down {
            false => address.wrapping_add(bytes),
            true => address.wrapping_sub(bytes),
        };
        let left = now.get(Register::RCX).unwrap_or_default();
        now.set(RCX, left.saturating_sub(self.count));
        now.set(RDI, moved(self.to));
        if self.does == Does::Moves {
            now.set(RSI, moved(self.from));
        }
        now
    }

    /// The memory that this writes.
    pub fn written(&self) -> Range<Address> {
        let bytes = match self.does {
            Does::Moves | Does::Stores => self.count * self.size,
            Does::Loads | Does::Compares | Does::Scans => 0,
        };
        let lowest = match self.is_down {
            false => self.to,
            true => self.to.wrapping_sub(bytes.saturating_sub(self.size)),
        };
        Address(lowest)..Address(lowest.wrapping_add(bytes))
    }

    /// What this does to memory, part by part: the next one may read what one has written.
    pub fn parts(self) -> impl Iterator<Item = Part> {
        // Of what is written and read again, by the elements behind, no more than lies between is copied at once.
        let distance = self.from.abs_diff(self.to) / self.size * self.size;
        let feeds = self.from != self.to && (self.to > self.from) != self.is_down;
        let most = match self.does {
            Does::Moves if feeds => distance.clamp(self.size, CHUNK),
            _ => CHUNK,
        };
        let written = self.written();
        let all = written.end.0.wrapping_sub(written.start.0);
        let mut done = 0;
        std::iter::from_fn(move || {
            let length = most.min(all - done);
            let lowest = |address: u64| match self.is_down {
                false => Address(address.wrapping_add(done)),
                true => Address(address.wrapping_sub(done + length - self.size)),
            };
            let value = self.value.to_le_bytes();
            let part = Part {
                from: (self.does == Does::Moves).then(|| lowest(self.from)),
                to: lowest(self.to),
                bytes: value[..self.size as usize].repeat((length / self.size) as usize),
            };
            done += length;
            (length > 0).then_some(part)
        })
    }
}

#[cfg(test)]
mod tests;
