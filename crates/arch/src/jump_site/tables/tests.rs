//! Tests on literal code at [`START`], with a table of two entries at [`TABLE`].

use super::*;

const START: Address = Address(0x1000);
const TABLE: Address = Address(0x2000);
/// `cmp edi, 1; ja 0x1019`
const COMPARES: [u8; 5] = [0x83, 0xff, 0x01, 0x77, 0x14];
/// `lea rcx, [rip + TABLE]`
const LOADS: [u8; 7] = [0x48, 0x8d, 0x0d, 0xf4, 0x0f, 0, 0];
/// `mov edi, edi`
const EXTENDS: [u8; 2] = [0x89, 0xff];
/// `movsxd rax, dword ptr [rcx + rdi*4]; add rax, rcx; jmp rax`
const JUMPS: [u8; 9] = [0x48, 0x63, 0x04, 0xb9, 0x48, 0x01, 0xc8, 0xff, 0xe0];
/// `nop; nop; ret`, at 0x1017.
const BEHIND: [u8; 3] = [0x90, 0x90, 0xc3];

fn targets_in(code: &[&[u8]], entries: &[u64]) -> Option<Vec<u64>> {
    let bytes = code.concat();
    let function = [Code {
        start: START,
        bytes: &bytes,
    }];
    let table: Vec<u8> = { entries.iter() }
        .flat_map(|target| (target.wrapping_sub(TABLE.0) as u32).to_le_bytes())
        .collect();
    let read = |address: Address, buffer: &mut [u8]| {
        let offset = address.0.wrapping_sub(TABLE.0) as usize;
        let found = table
            .get(offset..)
            .and_then(|rest| rest.get(..buffer.len()));
        found
            .inspect(|bytes| buffer.copy_from_slice(bytes))
            .is_some()
    };
    let targets = jump_tables(&function, &read, &|_| false)?;
    Some(targets.into_iter().map(|target| target.0).collect())
}

const TARGETS: [u64; 2] = [0x1017, 0x1018];

fn whole() -> [&'static [u8]; 5] {
    [&COMPARES, &LOADS, &EXTENDS, &JUMPS, &BEHIND]
}

#[test]
fn a_compared_index_gives_all_targets() {
    assert_eq!(targets_in(&whole(), &TARGETS), Some(TARGETS.to_vec()));
    // A function without indirect jumps leads nowhere by them.
    assert_eq!(targets_in(&[&BEHIND], &[]), Some(vec![]));
}

#[test]
fn an_index_that_was_not_compared_gives_nothing() {
    let nops: &[u8] = &[0x90; 5];
    let not_compared = [nops, &LOADS, &EXTENDS, &JUMPS, &BEHIND];
    assert_eq!(targets_in(&not_compared, &TARGETS), None);
    // cmp esi, 1
    let of_another = [
        &[0x83, 0xfe, 0x01, 0x77, 0x14][..],
        &LOADS,
        &EXTENDS,
        &JUMPS,
    ];
    assert_eq!(targets_in(&of_another, &TARGETS), None);
    // jg: with a sign
    let signed = [
        &[0x83, 0xff, 0x01, 0x7f, 0x14][..],
        &LOADS,
        &EXTENDS,
        &JUMPS,
    ];
    assert_eq!(targets_in(&signed, &TARGETS), None);
    // The upper half of rdi: nop; nop
    let not_extended = [&COMPARES[..], &LOADS, &[0x90, 0x90], &JUMPS, &BEHIND];
    assert_eq!(targets_in(&not_extended, &TARGETS), None);
    // mov edi, edx
    let changed = [&COMPARES[..], &LOADS, &[0x89, 0xd7], &JUMPS, &BEHIND];
    assert_eq!(targets_in(&changed, &TARGETS), None);
    // inc edi, behind the comparison
    let counted = [&COMPARES[..], &LOADS, &[0xff, 0xc7], &JUMPS, &BEHIND];
    assert_eq!(targets_in(&counted, &TARGETS), None);
}

#[test]
fn a_comparison_of_the_lower_half_says_nothing_of_the_whole() {
    // mov eax, edi; cmp rax, 1; ja 0x101c; lea rcx, [rip+TABLE]
    let start: &[u8] = &[0x89, 0xf8, 0x48, 0x83, 0xf8, 0x01, 0x77, 0x14];
    let loads: &[u8] = &[0x48, 0x8d, 0x0d, 0xf1, 0x0f, 0, 0];
    let targets = [0x101a, 0x101b];
    // mov edi, eax
    let same = [start, loads, &[0x89, 0xc7], &JUMPS, &BEHIND];
    assert_eq!(targets_in(&same, &targets), Some(targets.to_vec()));
    // nop; nop
    let whole = [start, loads, &[0x90, 0x90], &JUMPS, &BEHIND];
    assert_eq!(targets_in(&whole, &targets), None);
}

#[test]
fn code_that_is_entered_in_its_middle_gives_nothing() {
    // At 0x101a: jmp 0x1005
    let into = [
        &COMPARES[..],
        &LOADS,
        &EXTENDS,
        &JUMPS,
        &BEHIND,
        &[0xeb, 0xe9],
    ];
    assert_eq!(targets_in(&into, &TARGETS), None);
    // By the table itself.
    assert_eq!(targets_in(&whole(), &[0x1017, 0x1005]), None);
    // To the comparison.
    assert_eq!(
        targets_in(&whole(), &[0x1000, 0x1018]),
        Some(vec![0x1000, 0x1018])
    );
    // A landing pad.
    let bytes = whole().concat();
    let function = [Code {
        start: START,
        bytes: &bytes,
    }];
    let read = |_: Address, buffer: &mut [u8]| {
        let entries = TARGETS.map(|target| (target.wrapping_sub(TABLE.0) as u32).to_le_bytes());
        buffer.copy_from_slice(&entries.concat());
        true
    };
    assert!(jump_tables(&function, &read, &|at| at == START).is_some());
    assert_eq!(jump_tables(&function, &read, &|at| at.0 == 0x100c), None);
    assert_eq!(jump_tables(&function, &|_, _| false, &|_| false), None);
}

#[test]
fn targets_outside_of_the_function_and_short_tables_give_nothing() {
    assert_eq!(targets_in(&whole(), &[0x1017, 0x101a]), None);
    assert_eq!(targets_in(&whole(), &[0x1017, 0xfff]), None);
    assert_eq!(targets_in(&whole(), &TARGETS[..1]), None);
}

#[test]
fn one_jump_that_is_not_understood_hides_all() {
    // jmp rdx
    let with_another = [&whole()[..], &[&[0xff, 0xe2]]].concat();
    assert_eq!(targets_in(&with_another, &TARGETS), None);
    // call rdx comes back, and what a call may change is not known.
    let with_call = [&COMPARES[..], &LOADS, &[0xff, 0xd2], &JUMPS, &BEHIND];
    assert_eq!(targets_in(&with_call, &TARGETS), None);
}

#[test]
fn an_index_in_the_stack_frame_is_read_again() {
    // cmp dword ptr [rbp-4], 1; ja; mov eax, [rbp-4]; lea rdx, [rax*4]; lea rax, [rip+TABLE]; mov eax, [rdx+rax]; cdqe;
    // lea rdx, [rip+TABLE]; add rax, rdx; notrack jmp rax; nop; nop
    let code = |between: &[u8]| {
        let table = |at: u64| ((TABLE.0 - at) as u32).to_le_bytes();
        let start = START.0 + 9 + between.len() as u64;
        [
            &[0x83, 0x7d, 0xfc, 0x01, 0x77, 0x28][..],
            between,
            &[0x8b, 0x45, 0xfc, 0x48, 0x8d, 0x14, 0x85, 0, 0, 0, 0],
            &[0x48, 0x8d, 0x05],
            &table(start + 8 + 7),
            &[0x8b, 0x04, 0x02, 0x48, 0x98, 0x48, 0x8d, 0x15],
            &table(start + 8 + 7 + 5 + 7),
            &[0x48, 0x01, 0xd0, 0x3e, 0xff, 0xe0, 0x90, 0x90],
        ]
        .concat()
    };
    let plain = code(&[]);
    let behind = START.0 + plain.len() as u64 - 2;
    let targets = [behind, behind + 1];
    assert_eq!(targets_in(&[&plain], &targets), Some(targets.to_vec()));
    // mov dword ptr [rbp-8], edx: another slot
    let other = code(&[0x89, 0x55, 0xf8]);
    let targets = targets.map(|target| target + 3);
    assert_eq!(targets_in(&[&other], &targets), Some(targets.to_vec()));
    // mov dword ptr [rbp-4], edx; mov [rbp-6], edx; mov [rcx], edx and nop
    for store in [[0x89, 0x55, 0xfc], [0x89, 0x55, 0xfa], [0x89, 0x11, 0x90]] {
        assert_eq!(targets_in(&[&code(&store)], &targets), None, "{store:x?}");
    }
}
