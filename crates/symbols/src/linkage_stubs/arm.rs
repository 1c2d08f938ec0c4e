//! The stubs of Arm. They are A32 code, also for callers in Thumb code, which may come by a stub's first instructions, `bx pc` and a filler.

use super::{LinkageStub, Slots};
use crate::files::ElfFile;

/// `bx pc; nop` and `bx pc; b .-2`, as older and newer versions of GNU's linker write them.
const TO_A32: [u32; 2] = [0x46c0_4778, 0xe7fd_4778];

/// All stubs whose targets are known.
pub(super) fn read<'a>(file: &'a ElfFile, slots: &Slots<'a>) -> Vec<LinkageStub<'a>> {
    let mut stubs = Vec::new();
    let sections = file.elf.sections.iter();
    for section in sections.filter(|it| it.name.starts_with(".plt") && it.loaded()) {
        let data = file.bytes.get(section.file.clone()).unwrap_or(&[]);
        let (words, _) = data.as_chunks::<4>();
        let words: Vec<u32> = words.iter().copied().map(u32::from_le_bytes).collect();
        for index in 0..words.len() {
            let mut address = section.address.wrapping_add(4 * index as u64);
            let code = &words[index..];
            let Some((slot, mut size)) =
                slot_by_sum(code, address as u32).or_else(|| slot_by_word(code, address as u32))
            else {
                continue;
            };
            if index > 0 && TO_A32.contains(&words[index - 1]) {
                address = address.wrapping_sub(4);
                size += 4;
            }
            if let Some(target) = slots.names.get(&u64::from(slot)) {
                stubs.push(LinkageStub {
                    address,
                    size,
                    target,
                });
            }
        }
    }
    stubs
}

/// The slot that `add ip, pc, #n; add ip, ip, #n; …; ldr pc, [ip, #n]!` at an address loads, and the size of the code.
fn slot_by_sum(code: &[u32], address: u32) -> Option<(u32, u64)> {
    const ADD_IP_PC: u32 = 0xe28f_c000;
    const ADD_IP_IP: u32 = 0xe28c_c000;
    const LDR_PC_IP: u32 = 0xe5bc_f000;
    let (first, rest) = code.split_first()?;
    if first & 0xffff_f000 != ADD_IP_PC {
        return None;
    }
    // The program counter is two instructions ahead.
    let mut sum = address.wrapping_add(8).wrapping_add(immediate(*first));
    for (index, word) in rest.iter().enumerate().take(3) {
        match word & 0xffff_f000 {
            ADD_IP_IP => sum = sum.wrapping_add(immediate(*word)),
            LDR_PC_IP => {
                return Some((sum.wrapping_add(word & 0xfff), 4 * (index as u64 + 2)));
            }
            _ => return None,
        }
    }
    None
}

/// The slot that lld's `ldr ip, [pc, #4]; add ip, ip, pc; ldr pc, [ip]` loads by the distance in the word behind it.
fn slot_by_word(code: &[u32], address: u32) -> Option<(u32, u64)> {
    let &[0xe59f_c004, 0xe08c_c00f, 0xe59c_f000, distance, ..] = code else {
        return None;
    };
    Some((address.wrapping_add(12).wrapping_add(distance), 16))
}

/// The number in a data-processing instruction: 8 bits, rotated (Arm Architecture Reference Manual, "Modified immediate constants in A32
/// instructions").
fn immediate(word: u32) -> u32 {
    (word & 0xff).rotate_right((word >> 8 & 0xf) * 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stubs_of_both_linkers_lead_to_their_slots() {
        // Of GNU's linker, with and without `--long-plt`.
        let short = [0xe28f_c600, 0xe28c_ca10, 0xe5bc_fc0c];
        assert_eq!(slot_by_sum(&short, 0x4d8), Some((0x110ec, 12)));
        let long = [0xe28f_c201, 0xe28c_c600, 0xe28c_ca10, 0xe5bc_fc0c];
        assert_eq!(slot_by_sum(&long, 0x4d8), Some((0x1001_10ec, 16)));
        let lld = [0xe59f_c004, 0xe08c_c00f, 0xe59c_f000, 0x2000];
        assert_eq!(slot_by_word(&lld, 0x1000), Some((0x300c, 16)));
        assert_eq!(slot_by_sum(&short[..2], 0x4d8), None);
        assert_eq!(slot_by_sum(&[], 0), None);
        assert_eq!(slot_by_word(&lld[..3], 0), None);
    }
}
