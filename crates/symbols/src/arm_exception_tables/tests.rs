//! Tests with literal tables, whole and damaged.

use super::*;
use CfaRule::RegisterOffset;
use RegisterRule::{Offset, SameValue, Undefined};

const TABLE: u64 = 0x2000;
const INDEX: u64 = 0x3000;
const CODE: u64 = 0x8000;
const END: u64 = 0x9000;

/// A word that refers to `target` and lies at `place`.
fn reference(place: u64, target: u64) -> u32 {
    target.wrapping_sub(place) as u32 & 0x7fff_ffff
}

/// An index of functions, each with the second word of its pair.
fn index(functions: &[(u64, u32)]) -> Vec<u8> {
    let pairs = functions.iter().zip((INDEX..).step_by(8));
    let words = pairs.flat_map(|((function, word), place)| [reference(place, *function), *word]);
    words.flat_map(u32::to_le_bytes).collect()
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().copied().flat_map(u32::to_le_bytes).collect()
}

fn tables<'a>(index: &'a [u8], table: &'a [u8]) -> ExceptionTables<'a> {
    let section = |address, bytes| Section { address, bytes };
    ExceptionTables::new(section(INDEX, index), section(TABLE, table), END)
}

/// The rules of a function whose entry is at the start of the table.
fn rules_of_entry(entry: &[u32]) -> Option<UnwindRules> {
    let index = index(&[(CODE, reference(INDEX + 4, TABLE))]);
    tables(&index, &bytes(entry)).rules_at(CODE)
}

fn decode(instructions: &[u8]) -> Option<Rules> {
    instructions::rules(instructions.iter().copied())
}

/// Checks the canonical frame address and where registers are saved, as distances from it.
#[track_caller]
fn assert_frame(instructions: &[u8], cfa: (u16, i64), saved: &[(u16, i64)]) {
    let mut registers: Vec<_> = saved.iter().map(|(r, at)| (*r, Offset(*at))).collect();
    registers.sort_by_key(|(register, _)| *register);
    if !saved.iter().any(|(register, _)| *register == 14) {
        registers.push((14, SameValue));
    }
    let rules = Rules {
        cfa: RegisterOffset(cfa.0, cfa.1),
        registers,
        return_address: 14,
        signal_frame: false,
    };
    assert_eq!(decode(instructions), Some(rules), "{instructions:x?}");
}

#[track_caller]
fn assert_refused(instructions: &[u8]) {
    assert_eq!(decode(instructions), None, "{instructions:x?}");
}

#[test]
fn the_stack_pointer_moves() {
    assert_frame(&[], (13, 0), &[]);
    assert_frame(&[0x00], (13, 4), &[]);
    assert_frame(&[0x3f, 0x01], (13, 0x100 + 8), &[]);
    assert_frame(&[0x97, 0x40], (7, -4), &[]);
    assert_frame(&[0x97, 0x7f], (7, -0x100), &[]);
    assert_frame(&[0xb2, 0x00], (13, 0x204), &[]);
    assert_frame(&[0xb2, 0x81, 0x02], (13, 0x204 + 0x101 * 4), &[]);
    let most = 0x204 + i64::from(u32::MAX) * 4;
    assert_frame(&[0xb2, 0xff, 0xff, 0xff, 0xff, 0x0f], (13, most), &[]);
}

#[test]
fn core_registers_are_restored() {
    assert_frame(&[0x80, 0x01], (13, 4), &[(4, -4)]);
    assert_frame(&[0x80, 0x81], (13, 8), &[(4, -8), (11, -4)]);
    assert_frame(&[0x84, 0x00], (13, 4), &[(14, -4)]);
    assert_frame(&[0x85, 0x00], (13, 8), &[(12, -8), (14, -4)]);
    assert_frame(&[0xa0], (13, 4), &[(4, -4)]);
    assert_frame(&[0xa2], (13, 12), &[(4, -12), (5, -8), (6, -4)]);
    assert_frame(&[0xa8], (13, 8), &[(4, -8), (14, -4)]);
    let all = [4, 5, 6, 7, 8, 9, 10, 11, 14].map(|r| {
        if r == 14 {
            (r, -4)
        } else {
            (r, -40 + 4 * i64::from(r - 3))
        }
    });
    assert_frame(&[0xaf], (13, 36), &all);
    assert_frame(&[0xb1, 0x08], (13, 4), &[(3, -4)]);
    assert_frame(
        &[0xb1, 0x0f],
        (13, 16),
        &[(0, -16), (1, -12), (2, -8), (3, -4)],
    );
}

#[test]
fn a_restored_program_counter_is_the_return_address() {
    assert_frame(&[0x88, 0x00], (13, 4), &[(14, -4)]);
    assert_frame(&[0x8c, 0x00], (13, 8), &[(14, -4)]);
    assert_frame(&[0x88, 0x00, 0x84, 0x00], (13, 8), &[(14, -8)]);
}

#[test]
fn double_registers_are_restored() {
    assert_frame(&[0xb3, 0x81], (13, 20), &[(264, -20), (265, -12)]);
    assert_frame(&[0xb8], (13, 12), &[(264, -12)]);
    assert_frame(&[0xb9], (13, 20), &[(264, -20), (265, -12)]);
    assert_frame(&[0xc8, 0x01], (13, 16), &[(272, -16), (273, -8)]);
    assert_frame(&[0xc8, 0xf0], (13, 8), &[(287, -8)]);
    assert_frame(
        &[0xc9, 0x83],
        (13, 32),
        &[(264, -32), (265, -24), (266, -16), (267, -8)],
    );
    assert_frame(&[0xd0], (13, 8), &[(264, -8)]);
    assert_frame(
        &[0xd1, 0xa8],
        (13, 24),
        &[(14, -4), (4, -8), (264, -24), (265, -16)],
    );
}

#[test]
fn other_saved_state_is_skipped() {
    assert_frame(&[0xb4, 0xa8], (13, 12), &[(4, -8), (14, -4)]);
    assert_frame(&[0xb5, 0xa8], (13, 8), &[(4, -8), (14, -4)]);
    assert_frame(&[0xc0], (13, 8), &[]);
    assert_frame(&[0xc5], (13, 48), &[]);
    assert_frame(&[0xc6, 0xa1], (13, 16), &[]);
    assert_frame(&[0xc7, 0x0b], (13, 12), &[]);
}

#[test]
fn frames_can_have_a_frame_pointer() {
    assert_frame(&[0x9b, 0x41, 0x84, 0x80], (11, 0), &[(11, -8), (14, -4)]);
    // The frame pointer is also what the rest restores.
    assert_frame(
        &[0x01, 0x97, 0x00, 0xab],
        (7, 24),
        &[(4, -20), (5, -16), (6, -12), (7, -8), (14, -4)],
    );
    assert_frame(&[0x9e], (14, 0), &[]);
}

#[test]
fn a_restored_stack_pointer_has_its_own_rule() {
    // GCC with `-mapcs-frame`: `push {r11, r12, lr, pc}` with the caller's stack pointer in r12.
    let instructions = [0x9b, 0x42, 0x86, 0x80, 0xb0];
    assert_frame(&instructions, (11, 0), &[(11, -12), (13, -8), (14, -4)]);
}

#[test]
fn code_that_a_signal_interrupted_gets_all_registers_back() {
    // `__default_sa_restorer` of glibc 2.36.
    let rules = decode(&[0x07, 0xb1, 0x0f, 0x8f, 0xff, 0xb0]).unwrap();
    assert!(rules.signal_frame);
    assert_eq!(rules.cfa, RegisterOffset(13, 32 + 64));
    let slots = (0..16).map(|register| (register, Offset(i64::from(register) * 4 - 64)));
    assert_eq!(rules.registers, slots.collect::<Vec<_>>());
    assert_eq!(rules.return_address, 15);
}

#[test]
fn nothing_counts_after_the_end() {
    assert_frame(&[0xa8, 0xb0, 0x00, 0xff], (13, 8), &[(4, -8), (14, -4)]);
}

#[test]
fn what_rules_cant_express_is_refused() {
    // An instruction to refuse to unwind.
    assert_refused(&[0x80, 0x00]);
    // Registers relative to two others.
    assert_refused(&[0xa0, 0x97, 0xa8]);
    // Registers relative to a restored stack pointer.
    assert_refused(&[0x82, 0x00, 0xa0]);
}

#[test]
fn reserved_instructions_are_refused() {
    let spare = [0x9d, 0x9f, 0xb6, 0xb7]
        .into_iter()
        .chain(0xca..=0xcf)
        .chain(0xd8..=0xff);
    for first in spare {
        assert_refused(&[first, 0x01]);
    }
    for operand in [0x00].into_iter().chain(0x10..=0xff) {
        assert_refused(&[0xb1, operand]);
        assert_refused(&[0xc7, operand]);
    }
    // Registers that don't exist.
    assert_refused(&[0xb3, 0x88]);
    assert_refused(&[0xc8, 0x88]);
    // Numbers of more than 32 bits.
    assert_refused(&[0xb2, 0xff, 0xff, 0xff, 0xff, 0x10]);
    assert_refused(&[0xb2, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00]);
}

#[test]
fn instructions_without_their_operand_are_refused() {
    for first in [0x80, 0x8f, 0xb1, 0xb2, 0xb3, 0xc6, 0xc7, 0xc8, 0xc9] {
        assert_refused(&[first]);
    }
    assert_refused(&[0xb2, 0x80]);
}

#[test]
fn functions_are_found_by_address() {
    let index = index(&[
        (CODE, 0x80b0b0b0),
        (CODE + 0x10, 1),
        (CODE + 0x41, 0x80a8b0b0),
    ]);
    let tables = tables(&index, &[]);
    assert_eq!(tables.function_at(CODE - 1), None);
    assert_eq!(tables.function_at(CODE), Some(CODE..CODE + 0x10));
    assert_eq!(tables.function_at(CODE + 0xf), Some(CODE..CODE + 0x10));
    assert_eq!(
        tables.function_at(CODE + 0x10),
        Some(CODE + 0x10..CODE + 0x40)
    );
    assert_eq!(tables.function_at(CODE + 0x40), Some(CODE + 0x40..END));
    assert_eq!(tables.function_at(END - 1), Some(CODE + 0x40..END));
    assert_eq!(tables.function_at(END), None);
    assert_eq!(tables.function_at(u64::MAX), None);
}

#[test]
fn entries_in_the_index_have_rules() {
    let index = index(&[(CODE, 0x8001a8b0), (CODE + 0x10, 0x80b0b0b0)]);
    let tables = tables(&index, &[]);
    let rules = tables.rules_at(CODE + 6).unwrap();
    assert_eq!(rules.range, FileAddress(CODE)..FileAddress(CODE + 0x10));
    assert_eq!(rules.cfa, RegisterOffset(13, 16));
    assert_eq!(rules.registers, [(4, Offset(-8)), (14, Offset(-4))]);
    assert_eq!((rules.return_address, rules.signal_frame), (14, false));
    assert!(!rules.is_outermost());
    let rules = tables.rules_at(CODE + 0x10).unwrap();
    assert_eq!(rules.registers, [(14, SameValue)]);
    assert_eq!(tables.language_data_at(CODE), None);
}

#[test]
fn a_function_that_cant_be_unwound_is_outermost() {
    let index = index(&[(CODE, 1)]);
    let rules = tables(&index, &[]).rules_at(CODE).unwrap();
    assert_eq!(rules.registers, [(14, Undefined)]);
    assert!(rules.is_outermost());
    assert_eq!(tables(&index, &[]).language_data_at(CODE), None);
}

#[test]
fn compact_entries_of_the_table_have_rules() {
    let cfa = |entry: &[u32]| Some(rules_of_entry(entry)?.cfa);
    assert_eq!(cfa(&[0x8001a8b0, 0]), Some(RegisterOffset(13, 16)));
    assert_eq!(cfa(&[0x8100_00a8]), Some(RegisterOffset(13, 12)));
    let long = [0x8101_b29f, 0x01a8_b0b0];
    assert_eq!(cfa(&long), Some(RegisterOffset(13, 0x204 + 0x9f * 4 + 8)));
    assert_eq!(
        cfa(&[0x8202_0001, 0x0203_0405, 0xa8b0_b0b0]),
        Some(RegisterOffset(13, 92))
    );
    // Fewer words than announced; personality routines that the ABI doesn't have.
    assert_eq!(cfa(&[0x8102_0001, 0x0203_0405]), None);
    assert_eq!(cfa(&[0x8300_0001]), None);
    assert_eq!(cfa(&[0x9000_0001]), None);
}

#[test]
fn entries_of_a_language_have_rules_and_data() {
    let personality = reference(TABLE, 0x1000);
    let entry = [personality, 0x0101_0203, 0xa8b0_b0b0, 0xff];
    assert_eq!(
        rules_of_entry(&entry).unwrap().cfa,
        RegisterOffset(13, 8 + 12 + 16 + 8)
    );
    let index = index(&[(CODE, reference(INDEX + 4, TABLE))]);
    let bytes = bytes(&entry);
    assert_eq!(
        tables(&index, &bytes).language_data_at(CODE),
        Some((CODE..END, TABLE + 12))
    );
    assert_eq!(
        rules_of_entry(&[personality, 0x0201_0203, 0xa8b0_b0b0]),
        None
    );
    assert_eq!(rules_of_entry(&[personality]), None);
    assert_eq!(rules_of_entry(&[]), None);
}

#[test]
fn an_index_out_of_order_is_searched_without_harm() {
    let index = index(&[
        (CODE + 0x20, 0x80b0b0b0),
        (CODE, 0x80b0b0b0),
        (CODE + 0x20, 1),
        (CODE + 0x10, 1),
    ]);
    for address in CODE - 4..CODE + 0x30 {
        check_consistency(&tables(&index, &[]), address);
    }
}

#[test]
fn truncated_tables_are_read_without_harm() {
    let index = index(&[
        (CODE, reference(INDEX + 4, TABLE)),
        (CODE + 8, reference(INDEX + 12, TABLE + 4)),
        (CODE + 16, 0x8001a8b0),
    ]);
    let table = bytes(&[
        reference(TABLE, 0x1000),
        0x0201_0203,
        0x8101_b29f,
        0xa8b0_b0b0,
        0xff,
    ]);
    for kept in 0..=index.len() {
        for table_kept in 0..=table.len() {
            let tables = tables(&index[..kept], &table[..table_kept]);
            for address in (CODE..CODE + 24).step_by(4) {
                check_consistency(&tables, address);
            }
        }
    }
}

#[test]
fn random_tables_are_read_without_harm() {
    let mut random = Random(1);
    for _ in 0..2000 {
        let size = random.next() as usize % 100;
        let mut index = random.bytes(size);
        let size = random.next() as usize % 2000;
        let table = random.bytes(size);
        // Half of the indexes refer to nearby code and the table, as real ones do.
        if random.next().is_multiple_of(2) {
            for (position, pair) in index.chunks_exact_mut(8).enumerate() {
                let place = INDEX + position as u64 * 8;
                let code = reference(place, CODE + random.next() % 64);
                let entry = reference(place + 4, TABLE + random.next() % 512);
                pair.copy_from_slice(&bytes(&[code, entry]));
            }
        }
        for address in [
            0,
            INDEX,
            CODE,
            CODE + random.next() % 64,
            random.next(),
            u64::MAX,
        ] {
            check_consistency(&tables(&index, &table), address);
        }
        let extremes = ExceptionTables::new(
            Section {
                address: u64::MAX - 3,
                bytes: &index,
            },
            Section {
                address: random.next(),
                bytes: &table,
            },
            random.next(),
        );
        check_consistency(&extremes, random.next() & 0xffff_ffff);
    }
}

#[test]
fn random_instructions_are_decoded_without_harm() {
    let mut random = Random(2);
    for _ in 0..100_000 {
        let size = random.next() as usize % 12;
        let instructions = random.bytes(size);
        if let Some(rules) = decode(&instructions) {
            let mut numbers = rules.registers.iter().map(|(register, _)| register);
            let found = numbers.any(|number| *number == rules.return_address);
            assert!(found, "{instructions:x?}");
        }
    }
    let longest: Vec<u8> = [0xb2, 0xff, 0xff, 0xff, 0xff, 0x0f].repeat(171);
    assert!(decode(&longest).is_some());
}

/// All questions about an address have to agree on the range around it.
#[track_caller]
fn check_consistency(tables: &ExceptionTables<'_>, address: u64) {
    let function = tables.function_at(address);
    assert!(
        function
            .as_ref()
            .is_none_or(|range| range.contains(&address))
    );
    if let Some(UnwindRules { range, .. }) = tables.rules_at(address) {
        assert_eq!(Some(range.start.0..range.end.0), function);
    }
    if let Some((range, _)) = tables.language_data_at(address) {
        assert_eq!(Some(range), function);
    }
}

/// Repeatable random numbers (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn bytes(&mut self, size: usize) -> Vec<u8> {
        (0..size).map(|_| self.next() as u8).collect()
    }
}
