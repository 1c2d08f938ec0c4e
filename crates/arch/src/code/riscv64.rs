//! Instructions of 64-bit RISC-V, with compressed ones (RISC-V ISA Manual, volume 1, "RV64I", "C").

use super::{Before, Decoded, Flow, Made, signed};
use crate::Address;

/// The return address, and the second register that may hold one (RISC-V ISA Manual, "Unconditional Jumps").
const LINKS: [u32; 2] = [1, 5];
/// The stack pointer.
const SP: u32 = 2;

/// The instruction that `code` begins with.
pub(super) fn decode(code: &[u8], at: u64) -> Option<Decoded> {
    let half = u16::from_le_bytes(*code.first_chunk()?);
    let (length, flow, stack) = if half & 3 != 3 {
        let word = half.into();
        (2, short_flow(word, at), short_stack(word))
    } else {
        let word = u32::from_le_bytes(*code.first_chunk()?);
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

/// The bits of `word` from `low` on, `count` of them, moved to `to`.
fn bits(word: u32, low: u32, count: u32, to: u32) -> u32 {
    (word >> low & ((1 << count) - 1)) << to
}

/// A jump to the address in `base` that leaves the next address in `link`.
fn by_register(link: u32, base: u32) -> Flow {
    match (LINKS.contains(&link), LINKS.contains(&base)) {
        (true, _) => Flow::Call(None),
        (false, true) => Flow::Return,
        (false, false) => Flow::Jump(None),
    }
}

fn flow(word: u32, at: u64) -> Flow {
    let to = |offset: i64| Address(at.wrapping_add_signed(offset));
    let (target, base) = (bits(word, 7, 5, 0), bits(word, 15, 5, 0));
    match word & 0x7f {
        // jal.
        0x6f => {
            let offset = bits(word, 21, 10, 1)
                | bits(word, 20, 1, 11)
                | bits(word, 12, 8, 12)
                | bits(word, 31, 1, 20);
            let goes = Some(to(signed(offset, 21)));
            match LINKS.contains(&target) {
                true => Flow::Call(goes),
                false => Flow::Jump(goes),
            }
        }
        // jalr.
        0x67 => by_register(target, base),
        // beq and the like.
        0x63 => {
            let offset = bits(word, 8, 4, 1)
                | bits(word, 25, 6, 5)
                | bits(word, 7, 1, 11)
                | bits(word, 31, 1, 12);
            Flow::Branch(to(signed(offset, 13)))
        }
        // ecall; ebreak, sret and mret. Others wait, order accesses, or read and write control registers.
        0x73 => match word {
            0x0000_0073 => Flow::Kernel,
            0x0010_0073 | 0x1020_0073 | 0x3020_0073 => Flow::Other,
            _ => Flow::Next,
        },
        _ => Flow::Next,
    }
}

fn short_flow(word: u32, at: u64) -> Flow {
    let to = |offset: i64| Address(at.wrapping_add_signed(offset));
    let register = bits(word, 7, 5, 0);
    match (word & 3, word >> 13) {
        (0, 0) if word == 0 => Flow::Other,
        // c.j.
        (1, 5) => {
            let offset = bits(word, 3, 3, 1)
                | bits(word, 11, 1, 4)
                | bits(word, 2, 1, 5)
                | bits(word, 7, 1, 6)
                | bits(word, 6, 1, 7)
                | bits(word, 9, 2, 8)
                | bits(word, 8, 1, 10)
                | bits(word, 12, 1, 11);
            Flow::Jump(Some(to(signed(offset, 12))))
        }
        // c.beqz, c.bnez.
        (1, 6 | 7) => {
            let offset = bits(word, 3, 2, 1)
                | bits(word, 10, 2, 3)
                | bits(word, 2, 1, 5)
                | bits(word, 5, 2, 6)
                | bits(word, 12, 1, 8);
            Flow::Branch(to(signed(offset, 9)))
        }
        // c.jr, c.jalr, c.ebreak: without a second register.
        (2, 4) if bits(word, 2, 5, 0) == 0 => match (bits(word, 12, 1, 0), register) {
            (0, base) => by_register(0, base),
            (_, 0) => Flow::Other,
            (_, base) => by_register(1, base),
        },
        _ => Flow::Next,
    }
}

/// Calls and jumps that go far are two instructions: `auipc` makes an address of the code around it, from which `jalr` goes.
pub(super) fn follow(decoded: &mut Decoded, code: &[u8], before: &mut Before) {
    let made = before.made.take();
    let Some(word) = code.first_chunk() else {
        return;
    };
    let word = u32::from_le_bytes(*word);
    match (word & 0x7f, made) {
        (0x17, _) => {
            let high = i64::from((word & 0xffff_f000).cast_signed());
            before.made = Some(Made {
                register: bits(word, 7, 5, 0),
                address: decoded.address.0.wrapping_add_signed(high),
            });
        }
        (0x67, Some(made)) if bits(word, 15, 5, 0) == made.register => {
            let low = i64::from(word.cast_signed() >> 20);
            let target = Some(Address(made.address.wrapping_add_signed(low)));
            decoded.flow = match LINKS.contains(&bits(word, 7, 5, 0)) {
                true => Flow::Call(target),
                false => Flow::Jump(target),
            };
        }
        _ => (),
    }
}

/// How many bytes an instruction adds to the stack pointer.
fn stack(word: u32) -> Option<i64> {
    let (target, base) = (bits(word, 7, 5, 0), bits(word, 15, 5, 0));
    // Stores, branches, barriers and floating-point numbers have no general register as their target.
    let has_none = matches!(
        word & 0x7f,
        0x23 | 0x27 | 0x63 | 0x0f | 0x07 | 0x43 | 0x47 | 0x4b | 0x4f
    );
    // Of floating-point operations, comparisons, conversions to integers and moves have.
    let is_float = word & 0x7f == 0x53 && !matches!(word >> 27, 0x14 | 0x18 | 0x1c);
    if target != SP || has_none || is_float {
        return Some(0);
    }
    // addi.
    (word & 0x707f == 0x13 && base == SP).then(|| signed(word >> 20, 12))
}

fn short_stack(word: u32) -> Option<i64> {
    let register = bits(word, 7, 5, 0);
    let amount = signed(bits(word, 2, 5, 0) | bits(word, 12, 1, 5), 6);
    match (word & 3, word >> 13) {
        // c.addi16sp.
        (1, 3) if register == SP => {
            let amount = bits(word, 6, 1, 4)
                | bits(word, 2, 1, 5)
                | bits(word, 5, 1, 6)
                | bits(word, 3, 2, 7)
                | bits(word, 12, 1, 9);
            Some(signed(amount, 10))
        }
        // c.addi.
        (1, 0) if register == SP => Some(amount),
        // c.addiw, c.li; c.slli, c.lwsp, c.ldsp, c.mv, c.add.
        (1, 1 | 2) | (2, 0 | 2 | 3) => (register != SP).then_some(0),
        (2, 4) => (register != SP || bits(word, 2, 5, 0) == 0).then_some(0),
        _ => Some(0),
    }
}
