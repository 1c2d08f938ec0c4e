//! Instructions of 32-bit Arm in A32 (Arm Architecture Reference Manual for ARMv7-A and ARMv7-R, A5), and what they have in common with T32.

use super::{Before, Decoded, Flow, Made, signed};
use crate::Address;

/// The stack pointer.
pub(super) const SP: u32 = 13;
/// The return address.
pub(super) const LR: u32 = 14;
/// The program counter.
pub(super) const PC: u32 = 15;

/// The condition of what is always executed.
pub(super) const ALWAYS: u32 = 14;
/// In place of a condition: instructions of their own, which are always executed.
const UNCONDITIONAL: u32 = 15;

/// The instruction that `code` begins with.
pub(super) fn decode(code: &[u8], at: u64) -> Option<Decoded> {
    let word = u32::from_le_bytes(*code.first_chunk()?);
    let condition = word >> 28;
    let (flow, stack) = match condition {
        UNCONDITIONAL => (unconditional_flow(word, at), unconditional_stack(word)),
        _ => (flow(word, at), stack(word)),
    };
    let decoded = Decoded {
        address: Address(at),
        length: 4,
        flow,
        stack,
        is_conditional: false,
    };
    Some(match condition {
        ALWAYS | UNCONDITIONAL => decoded,
        _ => conditional(decoded),
    })
}

/// The instruction, where a condition decides whether it does anything.
pub(super) fn conditional(decoded: Decoded) -> Decoded {
    Decoded {
        is_conditional: !matches!(decoded.flow, Flow::Branch(_)),
        stack: decoded.stack.filter(|&change| change == 0),
        ..decoded
    }
}

/// The four bits of `word` from `low` on, which name a register.
pub(super) fn register(word: u32, low: u32) -> u32 {
    word >> low & 15
}

/// The address behind `at` by `offset`, in 32 bits.
pub(super) fn to(at: u64, offset: i64) -> Address {
    Address(at.wrapping_add_signed(offset) & 0xffff_ffff)
}

/// A jump to the address in a register: `bx`, and `mov` to the program counter.
pub(super) fn by_register(register: u32) -> Flow {
    match register {
        LR => Flow::Return,
        _ => Flow::Jump(None),
    }
}

/// A load of the program counter together with other registers. `base` is the register with the address to load from.
pub(super) fn by_loads(base: u32) -> Flow {
    match base {
        SP => Flow::Return,
        _ => Flow::Jump(None),
    }
}

/// A load of the program counter alone.
pub(super) fn by_load(base: u32, is_popped: bool) -> Flow {
    match (base, is_popped) {
        (SP, true) => Flow::Return,
        _ => Flow::Jump(None),
    }
}

fn unconditional_flow(word: u32, at: u64) -> Flow {
    // blx to T32.
    if word & 0x0e00_0000 == 0x0a00_0000 {
        let offset = 4 * signed(word, 24) + i64::from(word >> 23 & 2);
        return Flow::Call(Some(to(at, 8 + offset)));
    }
    // rfe.
    match word & 0x0e50_0000 {
        0x0810_0000 => Flow::Return,
        _ => Flow::Next,
    }
}

fn flow(word: u32, at: u64) -> Flow {
    match word >> 25 & 7 {
        0 | 1 => processing_flow(word),
        2 | 3 => load_flow(word),
        // ldm of the program counter. With bit 22 it is also the return from an exception.
        4 if word & 0x0010_8000 == 0x0010_8000 => match word >> 22 & 1 {
            0 => by_loads(register(word, 16)),
            _ => Flow::Return,
        },
        // b, bl.
        5 => {
            let target = to(at, 8 + 4 * signed(word, 24));
            match (word >> 24 & 1, word >> 28) {
                (0, ALWAYS) => Flow::Jump(Some(target)),
                (0, _) => Flow::Branch(target),
                _ => Flow::Call(Some(target)),
            }
        }
        // svc.
        7 if word >> 24 & 1 == 1 => Flow::Kernel,
        _ => Flow::Next,
    }
}

/// The flow of data processing, and of what is among its encodings.
fn processing_flow(word: u32) -> Flow {
    match word & 0x0ff0_00f0 {
        // bx, bxj, blx.
        0x0120_0010 | 0x0120_0020 => return by_register(register(word, 0)),
        0x0120_0030 => return Flow::Call(None),
        // eret.
        0x0160_0060 if word & 0xf_ffff == 0x6e => return Flow::Return,
        // hlt, bkpt.
        0x0100_0070 | 0x0120_0070 => return Flow::Other,
        // hvc, smc.
        0x0140_0070 | 0x0160_0070 => return Flow::Kernel,
        _ => (),
    }
    if !is_processing(word) || !has_result(word) || register(word, 12) != PC {
        return Flow::Next;
    }
    // With flags it is the return from an exception.
    let has_flags = word >> 20 & 1 == 1;
    // mov pc, lr.
    match has_flags || word & 0x0fff_ffff == 0x01a0_f00e {
        true => Flow::Return,
        false => Flow::Jump(None),
    }
}

/// Whether it is data processing, rather than a multiplication, a load, a store or one of the miscellaneous instructions, among the encodings
/// that begin with 00.
fn is_processing(word: u32) -> bool {
    let is_constant = word >> 25 & 1 == 1;
    let is_miscellaneous = word & 0x0190_0000 == 0x0100_0000;
    !is_miscellaneous && (is_constant || word & 0x90 != 0x90)
}

/// Whether data processing has a result besides the flags: it isn't `tst`, `teq`, `cmp` or `cmn`.
fn has_result(word: u32) -> bool {
    word >> 23 & 3 != 2
}

/// The flow of loads, stores and media instructions.
fn load_flow(word: u32) -> Flow {
    if is_media(word) {
        // udf, and what is undefined with a condition.
        return match word & 0x0ff0_00f0 {
            0x07f0_00f0 => Flow::Other,
            _ => Flow::Next,
        };
    }
    // ldr of a word.
    if word & 0x0050_0000 != 0x0010_0000 || register(word, 12) != PC {
        return Flow::Next;
    }
    let is_popped = word & 0x0320_0000 == 0 && word >> 23 & 1 == 1;
    by_load(register(word, 16), is_popped)
}

fn is_media(word: u32) -> bool {
    word & 0x0200_0010 == 0x0200_0010
}

/// How many bytes an instruction without a condition adds to the stack pointer.
fn unconditional_stack(word: u32) -> Option<i64> {
    let is_base = register(word, 16) == SP;
    let writes_back = word >> 21 & 1 == 1;
    match word >> 25 & 7 {
        // Structures of vectors, behind which the address moves by what they take or by a register.
        2 if word & 0x0110_0000 == 0 && is_base => (register(word, 0) == PC).then_some(0),
        // rfe loads two words; srs stores them at the stack pointer of some mode of the processor.
        4 => match word & 0x0050_0000 {
            0x0010_0000 if is_base && writes_back => Some(moved(word, 8)),
            0x0040_0000 if writes_back => None,
            _ => Some(0),
        },
        6 | 7 => coprocessor_stack(word),
        _ => Some(0),
    }
}

/// How many bytes an instruction adds to the stack pointer.
fn stack(word: u32) -> Option<i64> {
    match word >> 25 & 7 {
        0 if word & 0x90 == 0x90 => match word >> 5 & 3 {
            0 => multiplied_stack(word),
            _ => short_load_stack(word),
        },
        0 | 1 => processing_stack(word),
        2 | 3 => load_stack(word),
        4 => {
            let (base, list) = (register(word, 16), word & 0xffff);
            let loads = word >> 20 & 1 == 1;
            let writes_back = word >> 21 & 1 == 1;
            several_stack(word, base, loads.then_some(list), writes_back)
        }
        6 | 7 => coprocessor_stack(word),
        _ => Some(0),
    }
}

/// By how much the base of loads and stores moves for `amount` bytes: bit 23 says where to.
pub(super) fn moved(word: u32, amount: u32) -> i64 {
    match word >> 23 & 1 {
        0 => -i64::from(amount),
        _ => i64::from(amount),
    }
}

/// The change by `ldm` and `stm`; `loaded`: the registers that are loaded.
pub(super) fn several_stack(
    word: u32,
    base: u32,
    loaded: Option<u32>,
    writes_back: bool,
) -> Option<i64> {
    if loaded.is_some_and(|list| list >> SP & 1 == 1) {
        return None;
    }
    match base == SP && writes_back {
        true => Some(moved(word, 4 * (word & 0xffff).count_ones())),
        false => Some(0),
    }
}

/// The change by multiplications and by accesses that are exclusive or ordered.
fn multiplied_stack(word: u32) -> Option<i64> {
    let is_access = word >> 24 & 1 == 1;
    let is_long = word >> 23 & 1 == 1;
    let (upper, lower) = (register(word, 16) == SP, register(word, 12) == SP);
    match is_access {
        true => (!lower).then_some(0),
        false => (!(upper || is_long && lower)).then_some(0),
    }
}

/// The change by loads and stores of a half, of a byte with a sign and of two words.
fn short_load_stack(word: u32) -> Option<i64> {
    let target = register(word, 12);
    let is_double = word & 0x0010_0060 == 0x40;
    let loads = is_double || word >> 20 & 1 == 1;
    if loads && (target == SP || is_double && target + 1 == SP) {
        return None;
    }
    let is_constant = word >> 22 & 1 == 1;
    let amount = (word >> 4 & 0xf0) | word & 0xf;
    indexed_stack(word, is_constant.then_some(amount))
}

/// The change by data processing, and by what is among its encodings.
fn processing_stack(word: u32) -> Option<i64> {
    let target = register(word, 12);
    let is_constant = word >> 25 & 1 == 1;
    if !is_processing(word) {
        // hlt, bkpt, hvc and smc have a number in these places.
        if !is_constant && word & 0xf0 == 0x70 {
            return Some(0);
        }
        // msr and hints; movw and movt; of the others, multiplications of halves have their result elsewhere.
        let upper = !is_constant && word & 0x80 == 0x80;
        return match (word >> 21 & 1, is_constant) {
            (1, true) => Some(0),
            _ => (target != SP && !(upper && register(word, 16) == SP)).then_some(0),
        };
    }
    if target != SP || !has_result(word) {
        return Some(0);
    }
    let amount = (word & 0xff).rotate_right(word >> 7 & 0x1e);
    let amount = i64::from(amount.cast_signed());
    match (word >> 21 & 15, is_constant && register(word, 16) == SP) {
        (2, true) => Some(-amount),
        (4, true) => Some(amount),
        _ => None,
    }
}

/// The change by loads and stores of a word or a byte, and by media instructions.
fn load_stack(word: u32) -> Option<i64> {
    let target = register(word, 12);
    if is_media(word) {
        return media_stack(word);
    }
    let loads = word >> 20 & 1 == 1;
    if loads && target == SP {
        return None;
    }
    let is_constant = word >> 25 & 1 == 0;
    indexed_stack(word, is_constant.then_some(word & 0xfff))
}

/// The change by media instructions. Those that multiply or divide, and `usad8`, have their result where the others have an operand.
fn media_stack(word: u32) -> Option<i64> {
    let multiplies = word & 0x0180_0000 == 0x0100_0000;
    let is_long = multiplies && word & 0x0070_0000 == 0x0040_0000;
    let is_upper = multiplies || word & 0x01f0_0000 == 0x0180_0000;
    let is_undefined = word & 0x01f0_00e0 == 0x01f0_00e0;
    let upper = is_upper && register(word, 16) == SP;
    let lower = (!is_upper || is_long) && register(word, 12) == SP;
    (is_undefined || !upper && !lower).then_some(0)
}

/// The change by the base of a load or store: it moves if the address is the one before the move (bit 24 is 0) or is written back (bit 21).
/// `amount`: `None` if it is in a register.
pub(super) fn indexed_stack(word: u32, amount: Option<u32>) -> Option<i64> {
    let moves = word >> 24 & 1 == 0 || word >> 21 & 1 == 1;
    match register(word, 16) == SP && moves {
        true => amount.map(|amount| moved(word, amount)),
        false => Some(0),
    }
}

/// The change by instructions of coprocessors, which include floating-point numbers. Their encodings are the same in T32.
pub(super) fn coprocessor_stack(word: u32) -> Option<i64> {
    let loads = word >> 20 & 1 == 1;
    let target = register(word, 12);
    // Vectors.
    if word >> 28 == UNCONDITIONAL && matches!(register(word, 8), 8..=13) {
        return Some(0);
    }
    // mrc.
    if word & 0x0f00_0000 == 0x0e00_0000 {
        return (!loads || word & 0x10 == 0 || target != SP).then_some(0);
    }
    if word & 0x0e00_0000 != 0x0c00_0000 {
        return Some(0);
    }
    // mrrc and mcrr.
    if word & 0x01e0_0000 == 0x0040_0000 {
        return (!loads || target != SP && register(word, 16) != SP).then_some(0);
    }
    let writes_back = word >> 21 & 1 == 1;
    // vldr and vstr of a system register (ARMv8.1-M) have a constant of 7 bits, the others of 8.
    let amount = match register(word, 8) {
        15 => word & 0x7f,
        _ => word & 0xff,
    };
    match writes_back && register(word, 16) == SP {
        true => Some(moved(word, 4 * amount)),
        false => Some(0),
    }
}

/// `movw` and `movt` make an address in a register, to which `bx` or `blx` goes.
pub(super) fn follow(decoded: &mut Decoded, code: &[u8], before: &mut Before) {
    let made = before.made.take();
    let Some(word) = code.first_chunk() else {
        return;
    };
    let word = u32::from_le_bytes(*word);
    if word & 0x0fff_ffd0 == 0x012f_ff10 {
        go_to_made(decoded, register(word, 0), made);
    }
    let half = (word >> 4 & 0xf000) | word & 0xfff;
    before.made = match word & 0xfff0_0000 {
        0xe300_0000 => with_low(register(word, 12), half),
        0xe340_0000 if is_in(made, register(word, 12)) => with_high(made, half),
        _ => made.filter(|made| keeps(decoded, may_write(word, made.register))),
    };
}

/// `bx` and `blx` by a register in which an address is made. Bit 0 of the address only says which instruction set is there.
pub(super) fn go_to_made(decoded: &mut Decoded, register: u32, made: Option<Made>) {
    let Some(made) = made.filter(|made| made.register == register) else {
        return;
    };
    let target = Some(Address(made.address & !1));
    decoded.flow = match decoded.flow {
        Flow::Call(_) => Flow::Call(target),
        Flow::Jump(_) => Flow::Jump(target),
        other => other,
    };
}

/// What `movw` makes.
pub(super) fn with_low(register: u32, half: u32) -> Option<Made> {
    Some(Made {
        register,
        address: half.into(),
    })
}

/// What `movt` makes of it.
pub(super) fn with_high(made: Option<Made>, half: u32) -> Option<Made> {
    made.map(|made| Made {
        address: made.address & 0xffff | u64::from(half) << 16,
        ..made
    })
}

/// Whether it is made in `register`.
pub(super) fn is_in(made: Option<Made>, register: u32) -> bool {
    made.is_some_and(|made| made.register == register)
}

/// Whether an address is still known behind an instruction that may write its register, or not: functions that are called may, too.
pub(super) fn keeps(decoded: &Decoded, may_write: bool) -> bool {
    !may_write && matches!(decoded.flow, Flow::Next | Flow::Branch(_))
}

/// Whether an instruction may write `target`: one of its fields is that number, whatever the field is.
fn may_write(word: u32, target: u32) -> bool {
    // ldrd and ldrexd load the register behind the one that they name.
    let is_double = word & 0x0e10_00f0 == 0x00d0 || word & 0x0ff0_00f0 == 0x01b0_0090;
    let is_listed = word & 0x0e10_0000 == 0x0810_0000 && word >> target & 1 == 1;
    is_listed || is_named(word, target) || is_double && register(word, 12) + 1 == target
}

/// Whether one of the places for registers in a word of A32 or T32 has that number.
pub(super) fn is_named(word: u32, target: u32) -> bool {
    [0, 8, 12, 16]
        .into_iter()
        .any(|low| register(word, low) == target)
}
