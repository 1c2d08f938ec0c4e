//! Instructions of aarch64 (Arm Architecture Reference Manual for A-profile, C4.1).

use super::{Decoded, Flow, signed};
use crate::Address;

/// The stack pointer, where an instruction can name it.
const SP: u32 = 31;

/// The instruction that `code` begins with.
pub(super) fn decode(code: &[u8], at: u64) -> Option<Decoded> {
    let word = u32::from_le_bytes(*code.first_chunk()?);
    Some(Decoded {
        address: Address(at),
        length: 4,
        flow: flow(word, at),
        stack: stack(word),
        is_conditional: false,
    })
}

fn flow(word: u32, at: u64) -> Flow {
    let to = |offset: i64| Address(at.wrapping_add_signed(4 * offset));
    // b, bl.
    if word & 0x7c00_0000 == 0x1400_0000 {
        let target = Some(to(signed(word, 26)));
        return match word >> 31 {
            0 => Flow::Jump(target),
            _ => Flow::Call(target),
        };
    }
    // b.cond and bc.cond; cbz and cbnz.
    if word & 0xff00_0000 == 0x5400_0000 || word & 0x7e00_0000 == 0x3400_0000 {
        return Flow::Branch(to(signed(word >> 5, 19)));
    }
    // tbz and tbnz.
    if word & 0x7e00_0000 == 0x3600_0000 {
        return Flow::Branch(to(signed(word >> 5, 14)));
    }
    // br, blr, ret, each also with authentication of the address; eret and drps.
    if word & 0xfe00_0000 == 0xd600_0000 {
        return match word >> 21 & 7 {
            0 => Flow::Jump(None),
            1 => Flow::Call(None),
            2 => Flow::Return,
            _ => Flow::Other,
        };
    }
    // svc, hvc, smc; brk, hlt and the like.
    if word & 0xff00_0000 == 0xd400_0000 {
        return match (word >> 21 & 7, word & 3) {
            (0, 1..=3) => Flow::Kernel,
            _ => Flow::Other,
        };
    }
    match word >> 16 {
        // udf.
        0 => Flow::Other,
        _ => Flow::Next,
    }
}

/// How many bytes an instruction adds to the stack pointer.
fn stack(word: u32) -> Option<i64> {
    let (target, base) = (word & 31, word >> 5 & 31);
    // add and sub of a constant, without flags.
    if word & 0xbf80_0000 == 0x9100_0000 || word & 0x3f80_0000 == 0x1100_0000 {
        if target != SP || word >> 29 & 1 == 1 {
            return Some(0);
        }
        let amount = i64::from(word >> 10 & 0xfff) << (12 * (word >> 22 & 1));
        let is_wide = word >> 31 == 1;
        return (base == SP && is_wide).then_some(match word >> 30 & 1 {
            0 => amount,
            _ => -amount,
        });
    }
    // and, orr, eor with a constant; add and sub of a register that is extended: the result may be the stack pointer.
    let is_logical = word & 0x1f80_0000 == 0x1200_0000 && word >> 29 & 3 != 3;
    let is_extended = word & 0x3fe0_0000 == 0x0b20_0000;
    if is_logical || is_extended {
        return (target != SP).then_some(0);
    }
    if base != SP {
        return Some(0);
    }
    // Pairs: the kind of address is 1 (behind) or 3 (in front).
    if word & 0x3a00_0000 == 0x2800_0000 {
        let scale = match (word >> 26 & 1, word >> 30) {
            (0, 2) => 3,
            (0, _) => 2,
            (_, size) => 2 + size,
        };
        let moves = matches!(word >> 23 & 3, 1 | 3);
        return Some(i64::from(moves) * (signed(word >> 15, 7) << scale));
    }
    // One register with a constant of 9 bits: the kind of address is 1 (behind) or 3 (in front).
    if word & 0x3b20_0000 == 0x3800_0000 {
        let moves = matches!(word >> 10 & 3, 1 | 3);
        return Some(i64::from(moves) * signed(word >> 12, 9));
    }
    // Tags of memory.
    if word & 0xff20_0000 == 0xd920_0000 {
        let moves = matches!(word >> 10 & 3, 1 | 3);
        return Some(i64::from(moves) * signed(word >> 12, 9) * 16);
    }
    // Structures of vectors, behind which the address moves by what they take.
    if word & 0xbe80_0000 == 0x0c80_0000 {
        return None;
    }
    Some(0)
}
