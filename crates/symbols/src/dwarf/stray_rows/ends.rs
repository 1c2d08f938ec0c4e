//! How code ends that belongs to a run of rows: what unoptimised code of gcc looks like at its end.
//!
//! On x86-64, where the beginning of the last instruction isn't known, the last bytes are judged.

use dapple_arch::code::{Decoded, Flow, Instructions};
use dapple_arch::{Address, InstructionSet};

/// The last instruction of code of a machine other than x86-64, and the one before it.
fn last_two(set: InstructionSet, code: &[u8]) -> (Option<Decoded>, Option<Decoded>) {
    let all = Instructions::flows(set, code, Address(0));
    let (mut before, mut last) = (None, None);
    for instruction in all {
        before = last.replace(instruction);
    }
    let is_whole = |it: &Decoded| it.next().0 == code.len() as u64;
    (before, last.filter(is_whole))
}

fn last_flow(set: InstructionSet, code: &[u8]) -> Option<Flow> {
    let last = last_two(set, code).1?;
    Some(match last.is_conditional {
        true => Flow::Next,
        false => last.flow,
    })
}

/// Whether code ends in the return of a function, without optimisation its only one: on x86-64 `pop rbp; ret` or `leave; ret`.
pub(super) fn returns(set: InstructionSet, code: &[u8]) -> bool {
    match set {
        InstructionSet::X86_64 => code.ends_with(&[0x5d, 0xc3]) || code.ends_with(&[0xc9, 0xc3]),
        _ => last_flow(set, code) == Some(Flow::Return),
    }
}

/// Whether control may continue behind the code. On x86-64, bytes that look like a jump count as one.
pub(super) fn goes_on(set: InstructionSet, code: &[u8]) -> bool {
    if set != InstructionSet::X86_64 {
        let flow = last_flow(set, code);
        return !matches!(flow, Some(Flow::Jump(_) | Flow::Return | Flow::Other));
    }
    let from_end = |back: usize| code.len().checked_sub(back).map(|at| code[at]);
    let jumps = jump(set, code).is_some()
        || (from_end(2) == Some(0xff) && from_end(1).is_some_and(|to| to & 0xf8 == 0xe0));
    !jumps && !code.ends_with(&[0xc3]) && !code.ends_with(&[0x0f, 0x0b])
}

/// Whether code ends in a direct call.
pub(super) fn ends_in_call(set: InstructionSet, code: &[u8]) -> bool {
    match set {
        InstructionSet::X86_64 => matches!(code, [.., 0xe8, _, _, _, _]),
        _ => matches!(last_flow(set, code), Some(Flow::Call(Some(_)))),
    }
}

/// The distance of a jump from its end to where it leads.
fn distance(from: Decoded, to: Address) -> i64 {
    to.0.wrapping_sub(from.next().0).cast_signed()
}

/// The distance of the jump at the end of the code, from there.
pub(crate) fn jump(set: InstructionSet, code: &[u8]) -> Option<i64> {
    if set != InstructionSet::X86_64 {
        let last = last_two(set, code).1?;
        return match last.flow {
            Flow::Jump(Some(to)) => Some(distance(last, to)),
            _ => None,
        };
    }
    match *code {
        [.., 0xeb, distance] => Some(i64::from(distance as i8)),
        [.., 0xe9, a, b, c, d] => Some(i64::from(i32::from_le_bytes([a, b, c, d]))),
        _ => None,
    }
}

/// The conditional jump directly before the jump that ends the code: the offset behind the conditional jump, and its
/// distance, in bytes.
pub(crate) fn jump_before_last(set: InstructionSet, code: &[u8]) -> Option<(usize, i64)> {
    if set != InstructionSet::X86_64 {
        let (before, last) = last_two(set, code);
        let (before, last) = (before?, last?);
        return match (before.flow, last.flow) {
            (Flow::Branch(to), Flow::Jump(Some(_))) => {
                Some((before.next().0 as usize, distance(before, to)))
            }
            _ => None,
        };
    }
    let last = match *code {
        [.., 0xeb, _] => 2,
        [.., 0xe9, _, _, _, _] => 5,
        _ => return None,
    };
    let before = code.get(..code.len() - last)?;
    let distance = match *before {
        [.., 0x0f, 0x80..=0x8f, a, b, c, d] => i64::from(i32::from_le_bytes([a, b, c, d])),
        [.., 0x70..=0x7f, distance] => i64::from(distance as i8),
        _ => return None,
    };
    Some((before.len(), distance))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jumps_and_returns_end_what_goes_on() {
        let x86 = InstructionSet::X86_64;
        assert!(returns(x86, &[0x90, 0xc9, 0xc3]));
        assert!(!returns(x86, &[0xb8, 0xc3]));
        assert!(!goes_on(x86, &[0xc9, 0xc3]));
        assert!(!goes_on(x86, &[0xe9, 1, 0, 0, 0]));
        assert!(!goes_on(x86, &[0xeb, 0x10]));
        assert!(!goes_on(x86, &[0xff, 0xe0]));
        assert!(!goes_on(x86, &[0x0f, 0x0b]));
        assert!(goes_on(x86, &[0xe8, 1, 0, 0, 0]));
        assert!(goes_on(x86, &[]));
        assert_eq!(jump(x86, &[0x89, 0xd8, 0xeb, 0xfe]), Some(-2));
        assert_eq!(jump(x86, &[0xe9, 0, 1, 0, 0]), Some(256));
        assert_eq!(jump(x86, &[0x89, 0xd8]), None);
        let two = jump_before_last(x86, &[0x39, 0xc8, 0x72, 0x31, 0xeb, 0x14]);
        assert_eq!(two, Some((4, 0x31)));
        let two = jump_before_last(x86, &[0x0f, 0x82, 0, 1, 0, 0, 0xe9, 1, 0, 0, 0]);
        assert_eq!(two, Some((6, 256)));
        assert_eq!(jump_before_last(x86, &[0x72, 0x31]), None);
        assert_eq!(jump_before_last(x86, &[0x89, 0xd8, 0xeb, 0x14]), None);
    }

    #[test]
    fn the_same_on_aarch64() {
        let code = |words: &[u32]| {
            words
                .iter()
                .flat_map(|it| it.to_le_bytes())
                .collect::<Vec<_>>()
        };
        let arm = InstructionSet::Aarch64;
        let (nop, ret, call) = (0xd503_201f, 0xd65f_03c0, 0x9400_0002);
        // b .+8; b.ne .+16.
        let (far, branch) = (0x1400_0002, 0x5400_0081);
        assert!(returns(arm, &code(&[nop, ret])) && !returns(arm, &code(&[ret, nop])));
        assert!(!goes_on(arm, &code(&[nop, ret])) && !goes_on(arm, &code(&[far])));
        assert!(goes_on(arm, &code(&[call])) && goes_on(arm, &[]));
        assert!(ends_in_call(arm, &code(&[nop, call])) && !ends_in_call(arm, &code(&[nop])));
        assert_eq!(jump(arm, &code(&[nop, far])), Some(4));
        assert_eq!(jump(arm, &code(&[branch])), None);
        let two = jump_before_last(arm, &code(&[nop, branch, far]));
        assert_eq!(two, Some((8, 12)));
        // Cut in the middle of an instruction.
        assert_eq!(jump(arm, &code(&[nop, far])[..6]), None);
    }
}
