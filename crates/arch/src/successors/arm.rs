//! Targets of A32's jumps (Arm Architecture Reference Manual for ARMv7-A and ARMv7-R, A8).

use super::{ArmState, Read, Target, interworking, loaded};
use crate::InstructionSet;
use crate::registers::user::UserRegisters;

/// The instruction set that a jump with a known target changes to. `None`: it stays.
pub(super) fn set_behind(set: InstructionSet, code: &[u8]) -> Option<InstructionSet> {
    let word = u32::from_le_bytes(*code.first_chunk()?);
    match set {
        // blx with an offset.
        InstructionSet::Arm if word & 0xfe00_0000 == 0xfa00_0000 => Some(InstructionSet::Thumb),
        InstructionSet::Thumb if word.rotate_left(16) & 0xf800_d001 == 0xf000_c000 => {
            Some(InstructionSet::Arm)
        }
        _ => None,
    }
}

/// How many instructions of a block that `it` has made conditional come behind the thread's next one.
pub(super) fn rest_of_block(code: &[u8], registers: &UserRegisters) -> u32 {
    if registers.instruction_set() != InstructionSet::Thumb {
        return 0;
    }
    let half = code.first_chunk().map(|half| u16::from_le_bytes(*half));
    // The lowest bit that is set ends the block.
    let left = |mask: u32| 4 - mask.trailing_zeros().min(4);
    match (registers.conditional_block(), half) {
        (0, Some(half)) if half >> 8 == 0xbf && half & 15 != 0 => left((half & 15).into()),
        (block, _) => left(block & 15).saturating_sub(1),
    }
}

/// Whether the condition of the thread's next instruction holds. Branches with a condition of their own count as executed.
pub(super) fn is_executed(code: &[u8], registers: &UserRegisters) -> bool {
    let condition = match registers.instruction_set() {
        InstructionSet::Arm => { code.first_chunk() }.map(|it| u32::from_le_bytes(*it) >> 28),
        InstructionSet::Thumb => match registers.conditional_block() {
            0 => None,
            block => Some(block >> 4),
        },
        _ => None,
    };
    condition.is_none_or(|condition| holds(condition, registers.flags()))
}

/// Whether a condition holds (Arm Architecture Reference Manual for ARMv7-A and ARMv7-R, A8.3).
fn holds(condition: u32, flags: u64) -> bool {
    let is = |bit: u32| flags >> bit & 1 == 1;
    let (negative, zero, carry, overflow) = (is(31), is(30), is(29), is(28));
    let base = match condition >> 1 {
        0 => zero,
        1 => carry,
        2 => negative,
        3 => overflow,
        4 => carry && !zero,
        5 => negative == overflow,
        6 => negative == overflow && !zero,
        _ => return true,
    };
    base != (condition & 1 == 1)
}

/// The target of a jump by a register or memory. It isn't known for returns from exceptions, which programs don't make.
pub(super) fn target(word: u32, state: &ArmState, read: Read<'_>) -> Target {
    match word >> 25 & 7 {
        // bx, bxj, blx.
        0 if matches!(word & 0x0ff0_00f0, 0x0120_0010 | 0x0120_0020 | 0x0120_0030) => {
            get(state, word).map(interworking).into()
        }
        0 | 1 => result(word, state).map(interworking).into(),
        // ldr.
        2 | 3 => match load_address(word, state) {
            Some(address) => loaded(address, read),
            None => Target::Unknown,
        },
        // ldm; without a condition it is rfe.
        4 if word >> 22 & 1 == 0 && word >> 28 != 15 => match state.get(word >> 16 & 15, 8) {
            Some(base) => loaded(last_loaded(word, base), read),
            None => Target::Unknown,
        },
        _ => Target::Unknown,
    }
}

/// The address from which `ldr` loads.
fn load_address(word: u32, state: &ArmState) -> Option<u32> {
    let base = state.get(word >> 16 & 15, 8)?;
    let offset = match word >> 25 & 1 {
        0 => word & 0xfff,
        _ => shifted(word, state)?,
    };
    let moved = match word >> 23 & 1 {
        0 => base.wrapping_sub(offset),
        _ => base.wrapping_add(offset),
    };
    let is_before = word >> 24 & 1 == 1;
    Some(if is_before { moved } else { base })
}

/// From where `ldm` loads the program counter, which is the last register.
fn last_loaded(word: u32, base: u32) -> u32 {
    let size = 4 * (word & 0xffff).count_ones();
    let (rises, is_before) = (word >> 23 & 1, word >> 24 & 1);
    let end = match rises {
        0 => base,
        _ => base.wrapping_add(size),
    };
    // With `ia` and `db`, the last word is below the upper end.
    match (rises, is_before) {
        (1, 0) | (0, 1) => end.wrapping_sub(4),
        _ => end,
    }
}

fn get(state: &ArmState, word: u32) -> Option<u32> {
    state.get(word & 15, 8)
}

/// The second operand: a register that is shifted.
fn shifted(word: u32, state: &ArmState) -> Option<u32> {
    let value = get(state, word)?;
    let kind = word >> 5 & 3;
    let amount = match word >> 4 & 1 {
        0 => word >> 7 & 31,
        _ => state.get(word >> 8 & 15, 8)? & 0xff,
    };
    let is_constant = word >> 4 & 1 == 0;
    Some(match (kind, amount) {
        // rrx.
        (3, 0) if is_constant => state.carry() << 31 | value >> 1,
        (_, 0) if !is_constant => value,
        (0, amount) => value.checked_shl(amount).unwrap_or(0),
        // A constant 0 means 32.
        (1, 0) => 0,
        (1, amount) => value.checked_shr(amount).unwrap_or(0),
        (2, 0) => (value.cast_signed() >> 31).cast_unsigned(),
        (2, amount) => (value.cast_signed() >> amount.min(31)).cast_unsigned(),
        (_, amount) => value.rotate_right(amount & 31),
    })
}

/// The result of data processing without flags.
fn result(word: u32, state: &ArmState) -> Option<u32> {
    let has_flags = word >> 20 & 1 == 1;
    if has_flags {
        return None;
    }
    let first = state.get(word >> 16 & 15, 8)?;
    let second = match word >> 25 & 1 {
        1 => (word & 0xff).rotate_right(word >> 7 & 0x1e),
        _ => shifted(word, state)?,
    };
    let carry = state.carry();
    Some(match word >> 21 & 15 {
        0 => first & second,
        1 => first ^ second,
        2 => first.wrapping_sub(second),
        3 => second.wrapping_sub(first),
        4 => first.wrapping_add(second),
        5 => first.wrapping_add(second).wrapping_add(carry),
        6 => first.wrapping_sub(second).wrapping_sub(1 - carry),
        7 => second.wrapping_sub(first).wrapping_sub(1 - carry),
        12 => first | second,
        13 => second,
        14 => first & !second,
        15 => !second,
        _ => return None,
    })
}
