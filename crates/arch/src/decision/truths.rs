//! Code that jumps on conditions.

use super::compile::Walk;
use super::emit::{Label, Operand};
use super::registers::{Free, general};
use super::{Comparison, Sign, Truth, Word, extend, pieces};
use crate::registers::SP;
use iced_x86::{Code, MemoryOperand};

/// What is compared with a constant of its own size, where it is.
struct Narrow {
    place: Operand,
    size: u8,
    sign: Sign,
}

impl Walk<'_> {
    /// Goes to `label` if the condition is `when`, else goes on behind.
    pub(super) fn branch(&mut self, truth: &Truth, when: bool, label: Label, free: Free) {
        match truth {
            Truth::Constant(value) => {
                if *value == when {
                    self.code.jump(Code::Jmp_rel32_64, label);
                }
            }
            Truth::Words(comparison, pair) => {
                let jump = self.compare_words(*comparison, pair, free);
                self.code.jump(
                    if when {
                        jump
                    } else {
                        jump.negate_condition_code()
                    },
                    label,
                );
            }
            Truth::Numbers(comparison, pair) => {
                self.branch_on_numbers(*comparison, pair, when, label, free);
            }
            Truth::Not(truth) => self.branch(truth, !when, label, free),
            Truth::And(pair) => self.branch_on_two(pair, false, when, label, free),
            Truth::Or(pair) => self.branch_on_two(pair, true, when, label, free),
            Truth::Bytes(address, bytes) => {
                let memory = self.address(address, free);
                if when {
                    let differ = self.code.label();
                    self.compare_bytes(memory, bytes, differ);
                    self.code.jump(Code::Jmp_rel32_64, label);
                    self.code.place(differ);
                } else {
                    self.compare_bytes(memory, bytes, label);
                }
            }
        }
    }

    /// `decides`: the value of one of the two that is the value of both together.
    fn branch_on_two(
        &mut self,
        pair: &(Truth, Truth),
        decides: bool,
        when: bool,
        label: Label,
        free: Free,
    ) {
        if when == decides {
            self.branch(&pair.0, when, label, free);
            self.branch(&pair.1, when, label, free);
        } else {
            let end = self.code.label();
            self.branch(&pair.0, decides, end, free);
            self.branch(&pair.1, when, label, free);
            self.code.place(end);
        }
    }

    /// Compares two words, and gives the jump that is taken if the comparison holds.
    fn compare_words(&mut self, comparison: Comparison, pair: &(Word, Word), free: Free) -> Code {
        let (first, second) = (&pair.0, &pair.1);
        let mirrored = match (self.direct(first), self.direct(second)) {
            (Some(Operand::Constant(_)), second) => !matches!(second, Some(Operand::Constant(_))),
            (Some(_), None) => true,
            _ => {
                matches!((first, second), (Word::Constant(_), word) if !matches!(word, Word::Constant(_)))
            }
        };
        let (first, second) = if mirrored {
            (second, first)
        } else {
            (first, second)
        };
        if let Word::Constant(value) = second
            && let Some(narrow) = self.narrow(first, *value, free)
        {
            let bits = extend(*value, narrow.size, Sign::Signed) as i32;
            self.code.compare_constant(narrow.place, narrow.size, bits);
            return jump(with_sign(comparison, narrow.sign), mirrored);
        }
        self.compare(first, second, free);
        jump(comparison, mirrored)
    }

    /// A word where it is, if it is of a size in which a constant has the same meaning.
    fn narrow(&mut self, word: &Word, value: u64, free: Free) -> Option<Narrow> {
        let fits = |size: u8, sign: Sign| match size {
            8 => i32::try_from(value.cast_signed()).is_ok(),
            _ => extend(value, size, sign) == value,
        };
        let (place, size, sign) = match word {
            Word::Load {
                address,
                size,
                sign,
            } if fits(*size, *sign) => {
                let memory = self.address(address, free);
                (Operand::Memory(memory), *size, *sign)
            }
            Word::Extended { word, size, sign } if fits(*size, *sign) => match **word {
                Word::Register(number) if number != SP => {
                    let register = general(number);
                    let saved = self.saved_general(register);
                    let place = saved.map_or(Operand::Register(register), Operand::Memory);
                    (place, *size, *sign)
                }
                _ => return None,
            },
            Word::Register(_) | Word::ThreadPointer if fits(8, Sign::Signed) => {
                (self.direct(word)?, 8, Sign::Signed)
            }
            _ => return None,
        };
        // Of 8 bytes, none is added by extension.
        let sign = if size == 8 { Sign::Signed } else { sign };
        Some(Narrow { place, size, sign })
    }

    /// Goes to `differ` unless the bytes in memory are these.
    fn compare_bytes(&mut self, memory: MemoryOperand, bytes: &[u8], differ: Label) {
        for (offset, piece) in pieces(bytes) {
            let mut place = memory;
            place.displacement = memory.displacement.saturating_add(offset as i64);
            place.displ_size = memory.displ_size.max(u32::from(offset != 0));
            let bytes = piece.iter().rev();
            let word = bytes.fold(0, |word, byte| word << 8 | u64::from(*byte));
            let size = piece.len() as u8;
            let value = extend(word, size, Sign::Signed) as i32;
            let place = Operand::Memory(place);
            self.code.compare_constant(place, size, value);
            self.code.jump(Code::Jne_rel32_64, differ);
        }
    }
}

/// The comparison of the narrower integers: signed only if that means the same, which it does if they have a sign themselves. Otherwise
/// both words are not negative, or the comparison has no sign; an extension by copies of the sign keeps the order of those, too.
fn with_sign(comparison: Comparison, narrow: Sign) -> Comparison {
    let both = |sign: Sign| match (sign, narrow) {
        (Sign::Signed, Sign::Signed) => Sign::Signed,
        _ => Sign::Unsigned,
    };
    match comparison {
        Comparison::Less(sign) => Comparison::Less(both(sign)),
        Comparison::LessOrEqual(sign) => Comparison::LessOrEqual(both(sign)),
        other => other,
    }
}

/// The jump behind `cmp first, second`, or if `mirrored` behind `cmp second, first`.
fn jump(comparison: Comparison, mirrored: bool) -> Code {
    match (comparison, mirrored) {
        (Comparison::Equal, _) => Code::Je_rel32_64,
        (Comparison::NotEqual, _) => Code::Jne_rel32_64,
        (Comparison::Less(Sign::Signed), false) => Code::Jl_rel32_64,
        (Comparison::Less(Sign::Signed), true) => Code::Jg_rel32_64,
        (Comparison::Less(Sign::Unsigned), false) => Code::Jb_rel32_64,
        (Comparison::Less(Sign::Unsigned), true) => Code::Ja_rel32_64,
        (Comparison::LessOrEqual(Sign::Signed), false) => Code::Jle_rel32_64,
        (Comparison::LessOrEqual(Sign::Signed), true) => Code::Jge_rel32_64,
        (Comparison::LessOrEqual(Sign::Unsigned), false) => Code::Jbe_rel32_64,
        (Comparison::LessOrEqual(Sign::Unsigned), true) => Code::Jae_rel32_64,
    }
}
