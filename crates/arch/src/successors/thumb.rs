//! Targets of T32's jumps (Arm Architecture Reference Manual for ARMv7-A and ARMv7-R, A8).

use super::{ArmState, Read, Successor, Target, interworking, loaded, of_set};
use crate::{Address, InstructionSet};

/// By how much the program counter reads ahead of an instruction.
const AHEAD: u32 = 4;
/// The stack pointer.
const SP: u32 = 13;
/// The program counter.
const PC: u32 = 15;

/// The target of a jump by a register or memory. It isn't known for returns from exceptions, which programs don't make.
pub(super) fn target(code: &[u8], state: &ArmState, read: Read<'_>) -> Target {
    let Some(half) = code.first_chunk() else {
        return Target::Unreadable;
    };
    let half = u32::from(u16::from_le_bytes(*half));
    let named = |register: u32| state.get(register, AHEAD);
    if half >> 11 >= 0x1d {
        let word = code.first_chunk();
        let word = word.map(|word| u32::from_le_bytes(*word).rotate_left(16));
        return word.map_or(Target::Unreadable, |word| long_target(word, state, read));
    }
    let register = named(half >> 3 & 15);
    match half >> 8 {
        // add, mov: the instruction set stays.
        0x44 => { register.zip(named(PC)) }
            .map(|(value, pc)| stays(value.wrapping_add(pc)))
            .into(),
        0x46 => register.map(stays).into(),
        // bx, blx.
        0x47 => register.map(interworking).into(),
        // pop.
        0xbd => {
            let below = 4 * (half & 0xff).count_ones();
            let at = named(SP).map(|sp| sp.wrapping_add(below));
            at.map_or(Target::Unknown, |at| loaded(at, read))
        }
        _ => Target::Unknown,
    }
}

fn stays(value: u32) -> Successor {
    of_set(InstructionSet::Thumb, Address((value & !1).into()))
}

fn long_target(word: u32, state: &ArmState, read: Read<'_>) -> Target {
    let Some(base) = state.get(word >> 16 & 15, AHEAD) else {
        return Target::Unknown;
    };
    match word >> 25 & 15 {
        4 if word & 0xfff0_ffe0 == 0xe8d0_f000 => table_target(word, base, state, read),
        // ldm: the program counter comes last.
        4 if word >> 20 & 1 == 1 => match word >> 23 & 3 {
            1 => {
                let size = 4 * (word & 0xffff).count_ones();
                loaded(base.wrapping_add(size).wrapping_sub(4), read)
            }
            2 => loaded(base.wrapping_sub(4), read),
            _ => Target::Unknown,
        },
        // ldr.
        12 => match load_address(word, base, state) {
            Some(address) => loaded(address, read),
            None => Target::Unknown,
        },
        // bxj; bxaut.
        8..=11 if word & 0xfff0_d000 == 0xf3c0_8000 => Target::Known(interworking(base)),
        13 => Target::Known(interworking(base)),
        _ => Target::Unknown,
    }
}

/// Where `tbb` and `tbh` go: twice what a table has, behind the program counter.
fn table_target(word: u32, base: u32, state: &ArmState, read: Read<'_>) -> Target {
    let (Some(index), Some(pc)) = (state.get(word & 15, AHEAD), state.get(PC, AHEAD)) else {
        return Target::Unknown;
    };
    let is_half = word >> 4 & 1 == 1;
    let (at, size) = match is_half {
        true => (base.wrapping_add(index << 1), 2),
        false => (base.wrapping_add(index), 1),
    };
    let mut bytes = [0; 2];
    if read(Address(at.into()), &mut bytes[..size]) < size {
        return Target::Unreadable;
    }
    let count = u32::from(u16::from_le_bytes(bytes));
    Target::Known(stays(pc.wrapping_add(2 * count)))
}

/// The address from which `ldr` loads.
fn load_address(word: u32, base: u32, state: &ArmState) -> Option<u32> {
    let is_literal = word >> 16 & 15 == PC;
    let rises = word >> 23 & 1 == 1;
    let wide = word & 0xfff;
    Some(match (is_literal, rises) {
        (true, true) => (base & !3).wrapping_add(wide),
        (true, false) => (base & !3).wrapping_sub(wide),
        (false, true) => base.wrapping_add(wide),
        (false, false) if word >> 11 & 1 == 1 => {
            let offset = word & 0xff;
            match (word >> 10 & 1, word >> 9 & 1) {
                (0, _) => base,
                (_, 1) => base.wrapping_add(offset),
                _ => base.wrapping_sub(offset),
            }
        }
        (false, false) => {
            let index = state.get(word & 15, AHEAD)?;
            base.wrapping_add(index << (word >> 4 & 3))
        }
    })
}
