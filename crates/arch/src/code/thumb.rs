//! Instructions of 32-bit Arm in T32, formerly Thumb and Thumb-2 (Arm Architecture Reference Manual for ARMv7-A and ARMv7-R, A6; that for
//! ARMv8-M, C2).

use super::arm::{
    ALWAYS, PC, SP, by_load, by_loads, by_register, conditional, coprocessor_stack, go_to_made,
    is_in, is_named, keeps, moved, register, several_stack, to, with_high, with_low,
};
use super::{Before, Decoded, Flow, signed};
use crate::Address;

/// The instruction that `code` begins with, outside an IT block.
pub(super) fn decode(code: &[u8], at: u64) -> Option<Decoded> {
    let half = u32::from(first_half(code)?);
    let (length, flow, stack) = if half >> 11 < 0x1d {
        (2, short_flow(half, at), short_stack(half))
    } else {
        let word = long(code)?;
        (4, flow(word, at), stack(word))
    };
    Some(Decoded {
        address: Address(at),
        length,
        flow,
        stack,
        is_conditional: false,
    })
}

fn first_half(code: &[u8]) -> Option<u16> {
    Some(u16::from_le_bytes(*code.first_chunk()?))
}

/// An instruction of 4 bytes, with its first half in the upper bits, as the manual shows it.
fn long(code: &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(*code.first_chunk()?).rotate_left(16))
}

fn short_flow(half: u32, at: u64) -> Flow {
    let named = register(half, 3);
    match half >> 8 {
        // add, mov; bx, blx.
        0x44 if high_target(half) == PC => Flow::Jump(None),
        0x46 if high_target(half) == PC => by_register(named),
        0x47 => match half >> 7 & 1 {
            0 => by_register(named),
            _ => Flow::Call(None),
        },
        // cbz, cbnz.
        0xb1 | 0xb3 | 0xb9 | 0xbb => {
            let offset = (half >> 2 & 0x3e) | (half >> 3 & 0x40);
            Flow::Branch(to(at, 4 + i64::from(offset)))
        }
        // hlt; pop of the program counter; bkpt.
        0xba if half & 0xc0 == 0x80 => Flow::Other,
        0xbd => Flow::Return,
        0xbe => Flow::Other,
        // b with a condition; udf; svc.
        0xd0..=0xdd => Flow::Branch(to(at, 4 + 2 * signed(half, 8))),
        0xde => Flow::Other,
        0xdf => Flow::Kernel,
        // b.
        0xe0..=0xe7 => Flow::Jump(Some(to(at, 4 + 2 * signed(half, 11)))),
        _ => Flow::Next,
    }
}

/// The register that `add` and `mov` write in their short encodings with any register.
fn high_target(half: u32) -> u32 {
    (half >> 4 & 8) | half & 7
}

/// How many bytes an instruction of 2 bytes adds to the stack pointer.
fn short_stack(half: u32) -> Option<i64> {
    let amount = i64::from(half & 0x7f) * 4;
    // The list of push and pop ends with one more register.
    let listed = 4 * i64::from((half & 0x1ff).count_ones());
    match half >> 8 {
        0x44 | 0x46 => (high_target(half) != SP).then_some(0),
        0xb0 => Some(match half >> 7 & 1 {
            0 => amount,
            _ => -amount,
        }),
        0xb4 | 0xb5 => Some(-listed),
        0xbc | 0xbd => Some(listed),
        _ => Some(0),
    }
}

fn flow(word: u32, at: u64) -> Flow {
    match word >> 25 & 15 {
        // ldm of the program counter; rfe. A base of 15 is clrm, which clears registers.
        4 if word & 0x0040_0000 == 0 => {
            let base = register(word, 16);
            let is_single_way = matches!(word >> 23 & 3, 1 | 2);
            match (word >> 20 & 1, is_single_way) {
                (1, true) if word >> 15 & 1 == 1 && base != PC => by_loads(base),
                (1, false) => Flow::Return,
                _ => Flow::Next,
            }
        }
        // tbb, tbh.
        4 if word & 0xfff0_ffe0 == 0xe8d0_f000 => Flow::Jump(None),
        8..=11 if word >> 15 & 1 == 1 => branch_flow(word, at),
        // ldr of the program counter.
        12 if word & 0x0170_0000 == 0x0050_0000 && register(word, 12) == PC => {
            let is_popped = word & 0x0080_0f00 == 0x0b00;
            by_load(register(word, 16), is_popped)
        }
        // bxaut.
        13 if word & 0xfff0_0ff0 == 0xfb50_0f10 => by_register(register(word, 16)),
        _ => Flow::Next,
    }
}

/// The flow of branches and of what is among their encodings.
fn branch_flow(word: u32, at: u64) -> Flow {
    let (sign, upper) = (word >> 26 & 1, word >> 16 & 0x3ff);
    let (first, second) = (word >> 13 & 1, word >> 11 & 1);
    let lower = word & 0x7ff;
    let far = {
        let (first, second) = (first ^ sign ^ 1, second ^ sign ^ 1);
        let offset = sign << 24 | first << 23 | second << 22 | upper << 12 | lower << 1;
        signed(offset, 25)
    };
    match (word >> 14 & 1, word >> 12 & 1) {
        (0, 0) if word >> 23 & 7 == 7 => control_flow(word),
        // b with a condition.
        (0, 0) => {
            let offset =
                sign << 20 | second << 19 | first << 18 | (upper & 0x3f) << 12 | lower << 1;
            Flow::Branch(to(at, 4 + signed(offset, 21)))
        }
        // b.
        (0, _) => Flow::Jump(Some(to(at, 4 + far))),
        // blx to A32.
        (_, 0) if word & 1 == 0 => Flow::Call(Some(to(at & !3, 4 + far))),
        (_, 0) => loop_flow(word, at),
        // bl.
        _ => Flow::Call(Some(to(at, 4 + far))),
    }
}

/// The flow of miscellaneous control instructions.
fn control_flow(word: u32) -> Flow {
    match (word >> 20 & 0x7f, word >> 13 & 1) {
        // bxj; subs pc, lr and eret.
        (0x3c, 0) => by_register(register(word, 16)),
        (0x3d, 0) => Flow::Return,
        // hvc, smc.
        (0x7e | 0x7f, 0) => Flow::Kernel,
        // dcps; udf.
        (0x78, 0) if word & 0xf_fffc == 0xf_8000 => Flow::Other,
        (0x7f, 1) => Flow::Other,
        _ => Flow::Next,
    }
}

/// The flow of loops with a count: `wls` forward and `le` back.
fn loop_flow(word: u32, at: u64) -> Flow {
    if word & 0xff80_f001 != 0xf000_c001 {
        return Flow::Next;
    }
    let offset = i64::from((word << 1 & 0xffc) | (word >> 10 & 2));
    match (register(word, 16), word >> 20 & 7) {
        // Without a count.
        (PC, 2) => Flow::Jump(Some(to(at, 4 - offset))),
        (PC, 0 | 1) => Flow::Branch(to(at, 4 - offset)),
        (..PC, 0..=4) => Flow::Branch(to(at, 4 + offset)),
        _ => Flow::Next,
    }
}

/// How many bytes an instruction of 4 bytes adds to the stack pointer.
fn stack(word: u32) -> Option<i64> {
    let target = register(word, 8);
    match word >> 25 & 15 {
        4 if word & 0x0040_0000 == 0 => list_stack(word),
        4 => double_stack(word),
        5 | 13 => (target != SP && !has_second(word)).then_some(0),
        8..=11 if word >> 15 & 1 == 0 => constant_stack(word),
        // mrs.
        8..=11 if word & 0xffe0_f000 == 0xf3e0_8000 => (target != SP).then_some(0),
        12 => single_stack(word),
        6 | 7 | 14 | 15 => coprocessor_stack(word),
        _ => Some(0),
    }
}

/// Whether the stack pointer is the second register for the result of a long multiplication.
fn has_second(word: u32) -> bool {
    word & 0xff80_0000 == 0xfb80_0000 && register(word, 12) == SP
}

/// The change by `ldm`, `stm`, `rfe` and `srs`.
fn list_stack(word: u32) -> Option<i64> {
    let base = register(word, 16);
    let loads = word >> 20 & 1 == 1;
    let writes_back = word >> 21 & 1 == 1;
    match (word >> 23 & 3, loads) {
        (1 | 2, _) => several_stack(word, base, loads.then_some(word & 0xffff), writes_back),
        // rfe loads two words; srs stores them at the stack pointer of some mode of the processor.
        (_, true) if base == SP && writes_back => Some(moved(word, 8)),
        (_, false) if writes_back => None,
        _ => Some(0),
    }
}

/// The change by loads and stores of two words, and by accesses that are exclusive or ordered.
fn double_stack(word: u32) -> Option<i64> {
    let loads = word >> 20 & 1 == 1;
    let (first, second) = (register(word, 12) == SP, register(word, 8) == SP);
    let writes_back = word >> 21 & 1 == 1;
    if word >> 24 & 1 == 0 && !writes_back {
        // Stores among these have a result, whether they have succeeded, in one of two places.
        let succeeds = match word >> 23 & 1 {
            0 => second,
            _ => register(word, 0) == SP,
        };
        let is_written = match loads {
            true => first || word & 0x00f0_0070 == 0x00d0_0070 && second,
            false => succeeds,
        };
        return (!is_written).then_some(0);
    }
    if loads && (first || second) {
        return None;
    }
    match register(word, 16) == SP && writes_back {
        true => Some(moved(word, 4 * (word & 0xff))),
        false => Some(0),
    }
}

/// The change by data processing with a constant.
fn constant_stack(word: u32) -> Option<i64> {
    if register(word, 8) != SP {
        return Some(0);
    }
    let is_based = register(word, 16) == SP;
    let bits = (word >> 15 & 0x800) | (word >> 4 & 0x700) | word & 0xff;
    // add, sub; addw, subw.
    match (word >> 25 & 1, word >> 21 & 15) {
        (0, 8) if is_based => Some(expanded(bits)),
        (0, 13) if is_based => Some(-expanded(bits)),
        (1, 0) if is_based => Some(bits.into()),
        (1, 5) if is_based => Some(-i64::from(bits)),
        _ => None,
    }
}

/// The constant of 32 bits that 12 bits stand for (A6.3.2).
fn expanded(bits: u32) -> i64 {
    let low = bits & 0xff;
    let constant = match bits >> 8 {
        0 => low,
        1 => low << 16 | low,
        2 => low << 24 | low << 8,
        3 => low << 24 | low << 16 | low << 8 | low,
        _ => (0x80 | bits & 0x7f).rotate_right(bits >> 7),
    };
    constant.cast_signed().into()
}

/// The change by loads and stores of one register, and of structures of vectors.
fn single_stack(word: u32) -> Option<i64> {
    let is_base = register(word, 16) == SP;
    // Structures of vectors, behind which the address moves by what they take or by a register.
    if word & 0x0110_0000 == 0x0100_0000 {
        return (!is_base || register(word, 0) == PC).then_some(0);
    }
    let loads = word >> 20 & 1 == 1;
    if loads && register(word, 12) == SP {
        return None;
    }
    // With a constant of 8 bits: bits 10, 9 and 8 are here what 24, 23 and 21 are elsewhere.
    if !is_base || word & 0x0080_0900 != 0x0900 {
        return Some(0);
    }
    Some(moved(word << 14, word & 0xff))
}

/// What follows from the instructions before: whether this one is in an IT block, and the address that `movw` and `movt` have made in a
/// register, to which `bx` or `blx` goes.
pub(super) fn follow(decoded: &mut Decoded, code: &[u8], before: &mut Before) {
    let Some(half) = first_half(code) else {
        return;
    };
    let block = before.block;
    // Four conditions shift through the lower bits, of which the last one set ends the block.
    before.block = match block & 7 {
        0 => 0,
        _ => block & 0xe0 | block << 1 & 0x1f,
    };
    // Traps are always executed: bkpt, hlt.
    let is_trap = half >> 8 == 0xbe || half >> 6 == 0xba80 >> 6;
    if block != 0 && u32::from(block >> 4) < ALWAYS && !is_trap {
        *decoded = conditional(*decoded);
    }
    // it.
    if half >> 8 == 0xbf && half & 15 != 0 {
        before.block = half as u8;
    }
    follow_made(decoded, code, before);
}

fn follow_made(decoded: &mut Decoded, code: &[u8], before: &mut Before) {
    let made = before.made.take();
    let Some(half) = first_half(code).map(u32::from) else {
        return;
    };
    if half >> 8 == 0x47 {
        go_to_made(decoded, register(half, 3), made);
    }
    let word = long(code).filter(|_| decoded.length == 4);
    let Some(word) = word else {
        before.made = made.filter(|made| keeps(decoded, may_write_short(half, made.register)));
        return;
    };
    let constant = (word >> 4 & 0xf000) | (word >> 15 & 0x800) | (word >> 4 & 0x700) | word & 0xff;
    let target = register(word, 8);
    before.made = match word & 0xfbf0_8000 {
        0xf240_0000 if !decoded.is_conditional => with_low(target, constant),
        0xf2c0_0000 if !decoded.is_conditional && is_in(made, target) => with_high(made, constant),
        _ => made.filter(|made| keeps(decoded, may_write(word, made.register))),
    };
}

/// Whether an instruction of 2 bytes may write `target`.
fn may_write_short(half: u32, target: u32) -> bool {
    match half >> 8 {
        0x44..=0x46 => high_target(half) == target,
        // Lists of registers.
        0xb4 | 0xb5 | 0xbc | 0xbd | 0xc0..=0xcf if target < 8 && half >> target & 1 == 1 => true,
        _ => half & 7 == target || half >> 8 & 7 == target,
    }
}

/// Whether an instruction of 4 bytes may write `target`: one of its fields is that number, whatever the field is.
fn may_write(word: u32, target: u32) -> bool {
    let is_listed = word & 0xfe50_0000 == 0xe810_0000 && word >> target & 1 == 1;
    is_listed || is_named(word, target)
}
