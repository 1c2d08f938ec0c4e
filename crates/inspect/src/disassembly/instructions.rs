//! Finds where instructions begin.
//!
//! Forwards, each begins where the previous one ends, up to the next known border. Backwards, decoding starts at an earlier address where
//! an instruction is known to begin: the function's start, or a line row's in a long function. Where nothing is known (code made at run
//! time), decoding is tried from every byte: wrong starts fall into step with the right instructions after a few of them, so the start to
//! choose is the one that most others lead to.

use crate::Address;
use crate::modules::Modules;
use dapple_arch::code::{self, Decoded, Instructions};
use dapple_arch::instructions::decoder;
use dapple_arch::{InstructionSet, Memory};
use iced_x86::{DecoderError, Instruction};
use std::collections::VecDeque;
use std::ops::Range;

/// The longest instruction, in bytes (Intel SDM, volume 2, §2.3.11).
const LONGEST: u64 = 15;
/// The most code that is read at once, in bytes, without what precedes it up to a known start.
const PIECE: u64 = 1 << 15;
/// The longest way to decode from a known start, in bytes.
const FARTHEST: u64 = 1 << 17;
/// How many bytes to decode in advance where no start is known: enough to fall into step.
const RUN_UP: u64 = 64;
const PAGE: u64 = 4096;

/// An instruction, as it was decoded.
#[derive(Debug, Clone, Copy)]
pub(super) enum Meaning {
    /// One of x86-64.
    X86(Instruction),
    /// One of another machine, of which only the flow is known.
    Other(Decoded),
}

/// An instruction, bytes that aren't one, or a byte that can't be read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub address: u64,
    /// `None`: not an instruction.
    pub instruction: Option<Meaning>,
    bytes: [u8; LONGEST as usize],
    /// 0 for a byte that can't be read.
    length: u8,
}

impl Found {
    /// Its bytes; empty where memory can't be read.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.length)).unwrap_or(&[])
    }

    fn new(address: u64, code: &[u8], instruction: Option<Meaning>) -> Found {
        let mut bytes = [0; LONGEST as usize];
        let length = code.len().min(bytes.len());
        bytes[..length].copy_from_slice(&code[..length]);
        Found {
            address,
            instruction,
            bytes,
            length: length as u8,
        }
    }

    fn unreadable(address: u64) -> Found {
        Found::new(address, &[], None)
    }

    fn end(&self) -> u64 {
        self.address.saturating_add(u64::from(self.length.max(1)))
    }
}

/// The source of instructions.
#[derive(Clone, Copy)]
pub(super) struct Code<'a> {
    pub modules: &'a Modules,
    pub memory: &'a dyn Memory,
}

impl Code<'_> {
    fn set_at(&self, address: u64) -> InstructionSet {
        self.modules.instruction_set(Address(address))
    }

    /// The `count` instructions from `at` on.
    pub fn from(&self, at: u64, count: usize) -> Vec<Found> {
        let mut found = Vec::with_capacity(count);
        let mut at = at;
        while found.len() < count {
            let rest = (count - found.len()) as u64;
            let border = self.piece(at).map_or(u64::MAX, |piece| piece.end);
            let length = rest.saturating_mul(LONGEST).min(PIECE).min(border - at);
            let code = self.read(at, length);
            if code.is_empty() {
                // Memory is mapped by pages, so the rest of the page can't be read either.
                let bytes = (PAGE - at % PAGE).min(rest);
                found.extend((0..bytes).map(|n| Found::unreadable(at.saturating_add(n))));
                at = at.saturating_add(bytes);
                continue;
            }
            let ends = at + length == border || (code.len() as u64) < length;
            decode(self.set_at(at), at, &code, ends, &mut |one| found.push(one));
            at = found.last().map_or(u64::MAX, Found::end);
        }
        found.truncate(count);
        found
    }

    /// The instructions of a range; they end where it can't be read.
    pub fn within(&self, range: Range<u64>) -> Vec<Found> {
        let length = range.end.saturating_sub(range.start);
        let code = self.read(range.start, length);
        let mut found = Vec::new();
        decode(
            self.set_at(range.start),
            range.start,
            &code,
            true,
            &mut |one| found.push(one),
        );
        found
    }

    /// The `count` instructions before `end`.
    pub fn before(&self, end: u64, count: usize) -> Vec<Found> {
        let mut found = VecDeque::with_capacity(count);
        let mut end = end;
        while found.len() < count {
            let rest = count - found.len();
            let piece = self.last_before(end, rest);
            let Some(first) = piece.first() else {
                // The address space begins here.
                found.push_front(Found::unreadable(0));
                continue;
            };
            end = first.address;
            let unwanted = piece.len().saturating_sub(rest);
            for one in piece.into_iter().skip(unwanted).rev() {
                found.push_front(one);
            }
        }
        found.into()
    }

    /// Some instructions up to `end`, perhaps more or fewer than `count`; empty at address 0.
    fn last_before(&self, end: u64, count: usize) -> Vec<Found> {
        let Some(last) = end.checked_sub(1) else {
            return Vec::new();
        };
        let wanted = (count as u64).saturating_mul(LONGEST).min(PIECE);
        let near = end.saturating_sub(wanted);
        let piece = self.piece(last);
        let start = piece.as_ref().and_then(|piece| {
            if piece.start >= near {
                return Some(piece.start);
            }
            let row = self.row_before(near).filter(|row| *row >= piece.start);
            row.or_else(|| (near - piece.start <= FARTHEST).then_some(piece.start))
        });
        if let Some(start) = start {
            let code = self.read(start, end - start);
            if code.len() as u64 == end - start {
                let mut found = Vec::new();
                decode(self.set_at(start), start, &code, true, &mut |one| {
                    found.push(one)
                });
                return found;
            }
        }
        let lowest = piece.map_or(0, |piece| piece.start);
        let start = near.saturating_sub(RUN_UP).max(lowest);
        let (start, code) = self.read_before(start, end);
        if code.is_empty() {
            let first = end.saturating_sub(count as u64).max(last - last % PAGE);
            return (first..end).map(Found::unreadable).collect();
        }
        guess(self.set_at(start), start, &code)
    }

    /// The borders of the code around an address, if known.
    fn piece(&self, at: u64) -> Option<Range<u64>> {
        let loaded = self.modules.at(Address(at))?;
        let piece = loaded.module.code_around(loaded.to_file(Address(at)))?;
        let process = |address| loaded.to_process(address).0;
        Some(process(piece.start)..process(piece.end)).filter(|piece| piece.contains(&at))
    }

    /// The start of the line row that covers an address, if it isn't too far away.
    fn row_before(&self, at: u64) -> Option<u64> {
        let loaded = self.modules.at(Address(at))?;
        let row = loaded.module.row_at(loaded.to_file(Address(at)))?;
        let start = loaded.to_process(row.range.start).0;
        (start <= at && at - start <= FARTHEST).then_some(start)
    }

    /// Bytes from `at` on, up to the first that can't be read.
    fn read(&self, at: u64, length: u64) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
        let count = self.memory.read_some(Address(at), &mut bytes);
        bytes.truncate(count);
        bytes
    }

    /// The bytes before `end` and not before `start` that can be read without a gap, with their address.
    fn read_before(&self, start: u64, end: u64) -> (u64, Vec<u8>) {
        let mut from = start;
        while from < end {
            let code = self.read(from, end - from);
            let gap = from + code.len() as u64;
            if gap >= end {
                return (from, code);
            }
            from = (gap - gap % PAGE).saturating_add(PAGE);
        }
        (end, Vec::new())
    }
}

/// Decodes from `at` on. If the code `ends` here, an incomplete instruction at the end is reported as invalid bytes.
fn decode(set: InstructionSet, at: u64, code: &[u8], ends: bool, each: &mut impl FnMut(Found)) {
    if set != InstructionSet::X86_64 {
        return decode_other(set, at, code, ends, each);
    }
    let mut decoder = decoder(code, at);
    while decoder.can_decode() {
        let start = decoder.position();
        let instruction = decoder.decode();
        let is_cut = decoder.last_error() == DecoderError::NoMoreBytes;
        let (end, instruction) = match (instruction.is_invalid(), is_cut) {
            (false, _) => (decoder.position(), Some(Meaning::X86(instruction))),
            // The rest of the instruction is in the next piece.
            (true, true) if !ends && start > 0 => return,
            (true, true) => (code.len(), None),
            (true, false) => (start + 1, None),
        };
        let address = at.saturating_add(start as u64);
        each(Found::new(address, &code[start..end], instruction));
        if decoder.set_position(end).is_err() {
            return;
        }
        decoder.set_ip(at.saturating_add(end as u64));
    }
}

/// As [`decode`], for machines whose instructions have a size that is known from their first bytes.
fn decode_other(
    set: InstructionSet,
    at: u64,
    code: &[u8],
    ends: bool,
    each: &mut impl FnMut(Found),
) {
    let alignment = set.alignment() as usize;
    // An `it` of Thumb decides about instructions behind it.
    let mut following = Instructions::of(set, code, Address(at));
    let mut start = 0;
    while start < code.len() {
        let address = at.saturating_add(start as u64);
        let rest = &code[start..];
        let odd = address as usize % alignment;
        let decoded = match (odd, set) {
            (0, InstructionSet::Thumb) => following.next(),
            (0, _) => code::decode(set, rest, Address(address)),
            _ => None,
        };
        let length = match decoded {
            Some(decoded) => decoded.length as usize,
            // The rest of the instruction is in the next piece.
            None if odd == 0 && !ends && start > 0 => return,
            None => (alignment - odd).min(rest.len()),
        };
        each(Found::new(
            address,
            &rest[..length],
            decoded.map(Meaning::Other),
        ));
        start += length;
        if decoded.is_none() {
            let next = Address(at.saturating_add(start as u64));
            following = Instructions::of(set, code.get(start..).unwrap_or(&[]), next);
        }
    }
}

/// The length of the instruction that code begins with; 0 if it begins with none.
fn length_of(set: InstructionSet, at: u64, code: &[u8]) -> usize {
    if set == InstructionSet::X86_64 {
        let instruction = decoder(code, at).decode();
        return match instruction.is_invalid() {
            true => 0,
            false => instruction.len(),
        };
    }
    match at.is_multiple_of(set.alignment()) {
        true => code::decode(set, code, Address(at)).map_or(0, |it| it.length as usize),
        false => 0,
    }
}

/// The most likely instructions of code that ends where an instruction ends, if no start of one is known.
fn guess(set: InstructionSet, at: u64, code: &[u8]) -> Vec<Found> {
    // For each byte, the end of the instruction that begins there, and how many starts lead to the byte.
    let mut ends = vec![0; code.len()];
    let mut ways = vec![1_u32; code.len() + 1];
    for start in 0..code.len() {
        let address = at.saturating_add(start as u64);
        ends[start] = match length_of(set, address, &code[start..]) {
            0 => 0,
            length => start + length,
        };
        if let Some(way) = ways.get(ends[start]).filter(|_| ends[start] > start) {
            ways[ends[start]] = way.saturating_add(ways[start]);
        }
    }
    let mut chosen = Vec::new();
    let mut end = code.len();
    while end > 0 {
        let lowest = end.saturating_sub(LONGEST as usize);
        let leads = (lowest..end).filter(|start| ends[*start] == end);
        // Where no instruction ends here, the byte stands alone as invalid.
        let start = leads.max_by_key(|start| ways[*start]).unwrap_or(end - 1);
        chosen.push(start..end);
        end = start;
    }
    let mut found = Vec::with_capacity(chosen.len());
    for range in chosen.into_iter().rev() {
        let address = at.saturating_add(range.start as u64);
        decode(set, address, &code[range], true, &mut |one| found.push(one));
    }
    found
}
