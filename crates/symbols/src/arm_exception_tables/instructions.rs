//! The instructions that unwind a frame (EHABI32, "Frame unwinding instructions").
//!
//! Each moves a virtual stack pointer or restores registers from where it points. Their effects are collected relative to
//! a register of the frame. In the end the virtual stack pointer is the caller's: the canonical frame address. If the
//! instructions also restore the stack pointer itself, it has a rule of its own.

use crate::cfi::{CfaRule, RegisterRule};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// DWARF's register number of the stack pointer, r13.
pub(super) const STACK_POINTER: u16 = 13;
/// DWARF's register number of the link register, r14.
pub(super) const LINK: u16 = 14;
/// DWARF's register number of r15.
const PROGRAM_COUNTER: u16 = 15;
/// DWARF's register number of d0.
const FIRST_DOUBLE: u16 = 256;

/// What instructions amount to; see [`crate::cfi::UnwindRules`].
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rules {
    pub cfa: CfaRule,
    pub registers: Vec<(u16, RegisterRule)>,
    pub return_address: u16,
    pub signal_frame: bool,
}

/// The rules that instructions amount to. `None` if they are malformed or refuse to unwind, or if rules can't express
/// them.
pub(super) fn rules(mut instructions: impl Iterator<Item = u8>) -> Option<Rules> {
    let mut frame = Frame {
        base: STACK_POINTER,
        offset: 0,
        saved: BTreeMap::new(),
    };
    while let Some(first) = instructions.next() {
        // "Finish". It is also implied after the last instruction.
        if first == 0xb0 {
            break;
        }
        // The virtual stack pointer is then a value from memory, which can't be the base of rules.
        if frame.saved.contains_key(&STACK_POINTER) {
            return None;
        }
        frame.execute(first, &mut instructions)?;
    }
    Some(frame.into_rules())
}

/// The state of the virtual machine.
struct Frame {
    /// The virtual stack pointer is the frame's value of this register plus `offset`.
    base: u16,
    offset: i64,
    /// Where the caller's registers are saved, as distances from the base register.
    saved: BTreeMap<u16, i64>,
}

impl Frame {
    /// Executes the instruction whose first byte is `first`; takes its other bytes from `rest`.
    fn execute(&mut self, first: u8, rest: &mut impl Iterator<Item = u8>) -> Option<()> {
        let low = u16::from(first & 7);
        match first {
            0x00..=0x3f => self.offset += i64::from(first & 0x3f) * 4 + 4,
            0x40..=0x7f => self.offset -= i64::from(first & 0x3f) * 4 + 4,
            0x80..=0x8f => {
                let mask = u16::from_be_bytes([first & 0xf, rest.next()?]);
                self.pop_mask(mask, 4)?;
            }
            0x90..=0x9f => self.rebase(u16::from(first & 0xf))?,
            0xa0..=0xaf => {
                self.pop(4..=4 + low, 4);
                if first & 8 != 0 {
                    self.pop(LINK..=LINK, 4);
                }
            }
            0xb1 => self.pop_mask(u16::from(low_mask(rest.next()?)?), 0)?,
            0xb2 => self.offset += 0x204 + i64::from(uleb128(rest)?) * 4,
            0xb3 => {
                let range = register_range(rest.next()?);
                self.pop_doubles(range, 15)?;
                self.offset += 4;
            }
            // The return address authentication code. The return address itself is not changed by signing.
            0xb4 => self.offset += 4,
            // The virtual stack pointer is what the code was made with.
            0xb5 => {}
            // `FSTMFDX` leaves a word after the registers.
            0xb8..=0xbf => {
                self.pop_doubles(8..=8 + low, 15)?;
                self.offset += 4;
            }
            // Registers of iWMMXt, which no debugger shows, are left out: eight bytes each, control registers four.
            0xc0..=0xc5 => self.offset += 8 * i64::from(low + 1),
            0xc6 => self.offset += 8 * register_range(rest.next()?).count() as i64,
            0xc7 => self.offset += 4 * i64::from(low_mask(rest.next()?)?.count_ones()),
            0xc8 => {
                let range = register_range(rest.next()?);
                self.pop_doubles(range.start() + 16..=range.end() + 16, 31)?;
            }
            0xc9 => self.pop_doubles(register_range(rest.next()?), 31)?,
            0xd0..=0xd7 => self.pop_doubles(8..=8 + low, 31)?,
            // "Spare".
            _ => return None,
        }
        Some(())
    }

    /// Continues at the frame's value of a register.
    fn rebase(&mut self, register: u16) -> Option<()> {
        // The numbers of these registers mark moves between registers, which no processor defines.
        let reserved = matches!(register, STACK_POINTER | PROGRAM_COUNTER);
        // Rules have all distances from one register. What is saved so far has its distance from another.
        if reserved || !self.saved.is_empty() {
            return None;
        }
        (self.base, self.offset) = (register, 0);
        Some(())
    }

    /// Restores registers that lie one after the other.
    fn pop(&mut self, registers: RangeInclusive<u16>, size: i64) {
        for register in registers {
            self.saved.insert(register, self.offset);
            self.offset += size;
        }
    }

    /// Restores core registers; bit 0 of the mask is for `first`. An empty mask means to refuse to unwind.
    fn pop_mask(&mut self, mask: u16, first: u16) -> Option<()> {
        if mask == 0 {
            return None;
        }
        for bit in (0..12).filter(|bit| mask >> bit & 1 == 1) {
            self.pop(first + bit..=first + bit, 4);
        }
        Some(())
    }

    /// Restores double precision registers, of which `last` is the last that the instruction may name.
    fn pop_doubles(&mut self, registers: RangeInclusive<u16>, last: u16) -> Option<()> {
        if *registers.end() > last {
            return None;
        }
        let numbers = FIRST_DOUBLE + registers.start()..=FIRST_DOUBLE + registers.end();
        self.pop(numbers, 8);
        Some(())
    }

    fn into_rules(mut self) -> Rules {
        let is_saved = |register| self.saved.contains_key(register);
        // Only the code that a signal interrupted needs both its link register and its program counter back.
        let signal_frame = [STACK_POINTER, LINK, PROGRAM_COUNTER].iter().all(is_saved);
        if !signal_frame {
            // Where the program counter is saved is the return address; otherwise the link register has it.
            if let Some(slot) = self.saved.remove(&PROGRAM_COUNTER) {
                self.saved.insert(LINK, slot);
            }
        }
        let mut registers: Vec<_> = self
            .saved
            .iter()
            .map(|(register, slot)| (*register, RegisterRule::Offset(slot - self.offset)))
            .collect();
        if !self.saved.contains_key(&LINK) {
            registers.push((LINK, RegisterRule::SameValue));
        }
        Rules {
            cfa: CfaRule::RegisterOffset(self.base, self.offset),
            registers,
            return_address: if signal_frame { PROGRAM_COUNTER } else { LINK },
            signal_frame,
        }
    }
}

/// The operand of instructions that name a first register and how many follow it.
fn register_range(operand: u8) -> RangeInclusive<u16> {
    let first = u16::from(operand >> 4);
    first..=first + u16::from(operand & 0xf)
}

/// The operand of instructions that select some of four registers.
fn low_mask(operand: u8) -> Option<u8> {
    matches!(operand, 1..=0xf).then_some(operand)
}

/// An unsigned LEB128 number of at most 32 bits.
fn uleb128(bytes: &mut impl Iterator<Item = u8>) -> Option<u32> {
    let mut value = 0;
    for shift in [0, 7, 14, 21, 28] {
        let byte = bytes.next()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return u32::try_from(value).ok();
        }
    }
    None
}
