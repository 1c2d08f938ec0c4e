//! Instructions as assemblers encode them. Words of T32 are as the manual shows them, with the first half in front.

use super::*;

const HERE: u64 = 0x1000;
const STACK: u64 = 0x8000;
/// How much memory from there on is code, in bytes.
const CODE: u64 = 128;
/// Among arm's flags: T32; the carry.
const T32: u64 = 1 << 5;
const CARRY: u64 = 1 << 29;

/// Memory: `code` where the thread is, and elsewhere words of 4 bytes that are their own address and 1 more.
fn read(code: &[u8]) -> impl FnMut(Address, &mut [u8]) -> usize + '_ {
    move |at, buffer| {
        let places = (at.0..).zip(buffer).map_while(|(place, byte)| {
            *byte = match place.checked_sub(HERE) {
                Some(from) if from < CODE => *code.get(from as usize)?,
                _ => ((place & !3) as u32 + 1).to_le_bytes()[(place & 3) as usize],
            };
            Some(())
        });
        places.count()
    }
}

/// Registers: each has its DWARF number, times 16.
fn registers(machine: Machine, flags: u64) -> UserRegisters {
    let mut registers = UserRegisters::of(machine);
    for number in 0..=31 {
        registers.set(number, u64::from(number) * 16);
    }
    registers.set_flags(flags);
    registers.set_sp(STACK);
    registers.set_pc(Address(HERE));
    registers
}

fn found(registers: &UserRegisters, code: &[u8]) -> Option<Vec<(u64, InstructionSet)>> {
    let all = successors(registers, &mut read(code))?;
    Some(all.iter().map(|it| (it.address.0, it.set)).collect())
}

fn addresses(machine: Machine, code: &[u8]) -> Option<Vec<u64>> {
    let found = found(&registers(machine, 0), code)?;
    Some(found.into_iter().map(|(address, _)| address).collect())
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn halves(words: &[u32]) -> Vec<u8> {
    let bytes = words.iter().flat_map(|word| match word >> 16 {
        0 => word.to_le_bytes()[..2].to_vec(),
        _ => word.rotate_left(16).to_le_bytes().to_vec(),
    });
    bytes.collect()
}

#[test]
fn x86_64() {
    let check = |text: &str, code: &[u8], expected: &[u64]| {
        let found = addresses(Machine::X86_64, code);
        assert_eq!(found.as_deref(), Some(expected), "{text}");
    };
    check("nop", &[0x90], &[0x1001]);
    check("jne .+4", &[0x75, 2], &[0x1004, 0x1002]);
    check("call .+5", &[0xe8, 0, 0, 0, 0], &[0x1005]);
    // rdx has number 1.
    check("jmp rdx", &[0xff, 0xe2], &[16]);
    check("ret", &[0xc3], &[0x8005_0000_8001]);
    // Its signal tells of it.
    check("int3", &[0xcc], &[0x1001]);
}

#[test]
fn aarch64() {
    let check = |text: &str, code: &[u32], expected: &[u64]| {
        let found = addresses(Machine::Aarch64, &words(code));
        assert_eq!(found.as_deref(), Some(expected), "{text}");
    };
    check("add x0, x0, x1", &[0x8b01_0000], &[0x1004]);
    check("cbnz w2, .-12", &[0x35ff_ffa2], &[0xff4, 0x1004]);
    check("bl .-4", &[0x97ff_ffff], &[0xffc]);
    check("blr x3", &[0xd63f_0060], &[3 * 16]);
    check("ret", &[0xd65f_03c0], &[30 * 16]);
    check("braa x3, x4", &[0xd71f_0864], &[3 * 16]);
    check("retaa", &[0xd65f_0bff], &[30 * 16]);
    check("svc #0", &[0xd400_0001], &[0x1004]);
    // ldxr x0, [x1]; add x0, x0, x1; stxr w2, x0, [x1]; cbnz w2, .-12.
    let counts = [0xc85f_7c20, 0x8b01_0000, 0xc802_7c20, 0x35ff_ffa2];
    check("ldxr", &counts, &[0x100c]);
    // ldaxr w0, [x1]; cmp w0, w3; b.ne .+12; stxr w2, w4, [x1]; cbnz w2, .-16; nop.
    let compares = [
        0x885f_fc20,
        0x6b03_001f,
        0x5400_0061,
        0x8802_7c24,
        0x35ff_ff82,
        0xd503_201f,
    ];
    check("ldaxr", &compares, &[0x1010, 0x1014]);
    // No store follows.
    check("ldxr alone", &[0xc85f_7c20, 0xd65f_03c0], &[0x1004]);
    check("casp", &[0x4820_7c82, 0xc802_7c20], &[0x1004]);
    check("ldar", &[0xc8df_fc20, 0xc802_7c20], &[0x1004]);
}

#[test]
fn riscv64() {
    let check = |text: &str, code: &[u8], expected: &[u64]| {
        let found = addresses(Machine::Riscv64, code);
        assert_eq!(found.as_deref(), Some(expected), "{text}");
    };
    check("jalr a0, -8(a1)", &words(&[0xff85_8567]), &[11 * 16 - 8]);
    check("ret", &words(&[0x0000_8067]), &[16]);
    check("c.jr a5", &[0x82, 0x87], &[15 * 16]);
    check("c.jalr a5", &[0x82, 0x97], &[15 * 16]);
    check("ecall", &words(&[0x0000_0073]), &[0x1004]);
    // lr.d a0, (a1); addi a0, a0, 1; sc.d a2, a0, (a1); bnez a2, .-12.
    let counts = words(&[0x1005_b52f, 0x0015_0513, 0x18a5_b62f, 0xfe06_1ae3]);
    check("lr.d", &counts, &[0x100c]);
}

#[test]
fn a32() {
    use InstructionSet::{Arm, Thumb};
    let check = |text: &str, word: u32, expected: &[(u64, InstructionSet)]| {
        let found = found(&registers(Machine::Arm, CARRY), &words(&[word]));
        assert_eq!(found.as_deref(), Some(expected), "{text}");
    };
    check("bx r3", 0xe12f_ff13, &[(48, Arm)]);
    check("blx r3", 0xe12f_ff33, &[(48, Arm)]);
    check("blx .+8", 0xfa00_0000, &[(0x1008, Thumb)]);
    check("mov pc, r3", 0xe1a0_f003, &[(48, Arm)]);
    let table = [(0x1008 + 48 * 4, Arm)];
    check("add pc, pc, r3, lsl #2", 0xe08f_f103, &table);
    // With the carry and without the zero flag it is higher.
    check("addls pc, pc, r2, lsl #2", 0x908f_f102, &[(0x1004, Arm)]);
    let table = [(0x1008 + 32 * 4, Arm)];
    check("addhi pc, pc, r2, lsl #2", 0x808f_f102, &table);
    check("subne pc, lr, #4", 0x124e_f004, &[(14 * 16 - 4, Arm)]);
    // What is in memory is the address of T32 there.
    check("pop {pc}", 0xe49d_f004, &[(0x8000, Thumb)]);
    check("pop {r4, pc}", 0xe8bd_8010, &[(0x8004, Thumb)]);
    check("ldmdb r1, {r2, pc}", 0xe911_8004, &[(12, Thumb)]);
    check("ldmib r1, {r2, pc}", 0xe991_8004, &[(24, Thumb)]);
    let indexed = [(16 + 32 * 4, Thumb)];
    check("ldr pc, [r1, r2, lsl #2]", 0xe791_f102, &indexed);
    check("svc 0", 0xef00_0000, &[(0x1004, Arm)]);
    let returns = found(&registers(Machine::Arm, 0), &words(&[0xe25e_f004]));
    assert_eq!(returns, None, "subs pc, lr, #4");
    // ldrls pc, [pc, r3, lsl #2], where the carry says that it isn't lower or the same.
    check("ldrls", 0x979f_f103, &[(0x1004, Arm)]);
    // ldrex r0, [r1]; add r0, r0, #1; strex r2, r0, [r1]; cmp r2, #0; bne .-16.
    let counts = [
        0xe191_0f9f,
        0xe280_0001,
        0xe181_2f90,
        0xe352_0000,
        0x1aff_fffa,
    ];
    let behind = found(&registers(Machine::Arm, 0), &words(&counts));
    assert_eq!(behind, Some(vec![(0x100c, Arm)]));
}

#[test]
fn memory_may_begin_at_a_load() {
    let code = words(&[0xc85f_7c20, 0x8b01_0000, 0xc802_7c20, 0x35ff_ffa2]);
    let mut all = read(&code);
    let mut from_here = |at: Address, buffer: &mut [u8]| match at.0 {
        ..HERE => 0,
        _ => all(at, buffer),
    };
    let found = behind_exclusive(&registers(Machine::Aarch64, 0), &mut from_here);
    let found = found
        .expect("a load")
        .iter()
        .map(|it| it.address.0)
        .collect::<Vec<_>>();
    assert_eq!(found, [0x100c]);
}

#[test]
fn a_store_may_be_before_its_load() {
    // As clang compares and exchanges: nop; b .+20; 1: strex r3, r2, [r0]; cmp r3, #0; beq .+24; nop; ldrex r1, [r0]; cmp r1, r4; beq 1b; clrex; bx lr.
    let code = words(&[
        0xe320_f000,
        0xea00_0003,
        0xe180_3f92,
        0xe353_0000,
        0x0a00_0004,
        0xe320_f000,
        0xe190_1f9f,
        0xe151_0004,
        0x0aff_fff8,
        0xf57f_f01f,
        0xe12f_ff1e,
    ]);
    let mut registers = registers(Machine::Arm, 0);
    registers.set_pc(Address(HERE + 24));
    let found = behind_exclusive(&registers, &mut read(&code)).expect("a load");
    let found: Vec<u64> = found.iter().map(|it| it.address.0).collect();
    // Behind the store, and where no way leads to it.
    assert_eq!(found, [HERE + 12, HERE + 36]);
}

#[test]
fn t32() {
    use InstructionSet::{Arm, Thumb};
    let check = |text: &str, word: u32, expected: &[(u64, InstructionSet)]| {
        let found = found(&registers(Machine::Arm, T32), &halves(&[word]));
        assert_eq!(found.as_deref(), Some(expected), "{text}");
    };
    check("bx lr", 0x4770, &[(14 * 16, Arm)]);
    check("blx r3", 0x4798, &[(48, Arm)]);
    check("blx .-26", 0xf7ff_eff4, &[(0x1004 - 24, Arm)]);
    check("pop {r4, pc}", 0xbd10, &[(0x8004, Thumb)]);
    check("mov pc, r2", 0x4697, &[(32, Thumb)]);
    check("add pc, r2", 0x4497, &[(0x1004 + 32, Thumb)]);
    check("ldr.w pc, [sp], #4", 0xf85d_fb04, &[(0x8000, Thumb)]);
    let indexed = [(16 + 32 * 4, Thumb)];
    check("ldr.w pc, [r1, r2, lsl #2]", 0xf851_f022, &indexed);
    check("ldr.w pc, [r1, #8]", 0xf8d1_f008, &[(24, Thumb)]);
    let popped = [(0x8008, Thumb)];
    check("ldmia.w sp!, {r4, r5, pc}", 0xe8bd_8030, &popped);
    check("ldmdb r1, {r4, pc}", 0xe911_8010, &[(12, Thumb)]);
    // The table's byte at 16 is 17, and its half at 32 is 33.
    check("tbb [r0, r1]", 0xe8d0_f001, &[(0x1004 + 2 * 17, Thumb)]);
    check(
        "tbh [r0, r1, lsl #1]",
        0xe8d0_f011,
        &[(0x1004 + 2 * 33, Thumb)],
    );
    // ldrex r0, [r1, #4]; adds r0, #1; strex r2, r0, [r1, #4].
    let counts = halves(&[0xe851_0f01, 0x3001, 0xe841_0201]);
    let behind = found(&registers(Machine::Arm, T32), &counts);
    assert_eq!(behind, Some(vec![(0x100a, Thumb)]));
    // ite eq; moveq r0, #1; movne r0, #2; bx lr: a breakpoint may not stop where the condition doesn't hold.
    let block = halves(&[0xbf0c, 0x2001, 0x2002, 0x4770]);
    let all = [0x1002, 0x1004, 0x1006].map(|it| (it, Thumb));
    assert_eq!(
        found(&registers(Machine::Arm, T32), &block),
        Some(all.into())
    );
    // Within it, at the first of two and at the last, whose condition (eq) doesn't hold.
    let within = |state: u64, code: &[u32]| {
        let flags = T32 | (state & 3) << 25 | (state >> 2) << 10;
        found(&registers(Machine::Arm, flags), &halves(code))
    };
    let two = [0x1002, 0x1004].map(|it| (it, Thumb));
    assert_eq!(within(0x0c, &[0x2001, 0x2002, 0x4770]), Some(two.into()));
    assert_eq!(within(0x08, &[0x4770]), Some(vec![(0x1002, Thumb)]));
    // bxne lr.
    assert_eq!(within(0x18, &[0x4770]), Some(vec![(14 * 16, Arm)]));
}

#[test]
fn a_signals_handler_returns_where_the_signal_has_come() {
    let at = |place: u64| place & !3;
    let wide = |place: u64| (at(place) + 1) | (at(place + 4) + 1) << 32;
    let cases: [(Machine, u16, u64, Vec<u8>, u64); 5] = [
        (Machine::X86_64, 0, 15, vec![0x0f, 0x05], wide(STACK + 168)),
        (
            Machine::Aarch64,
            8,
            139,
            words(&[0xd400_0001]),
            wide(STACK + 568),
        ),
        (
            Machine::Riscv64,
            17,
            139,
            words(&[0x0000_0073]),
            wide(STACK + 304),
        ),
        // The flags behind it are 0x80e1, with the bit for T32.
        (Machine::Arm, 7, 173, words(&[0xef00_0000]), STACK + 220 + 1),
        (Machine::Arm, 7, 119, words(&[0xef00_0000]), STACK + 92 + 1),
    ];
    for (machine, register, number, code, expected) in cases {
        let mut registers = registers(machine, 0);
        registers.set(register, number);
        let all = found(&registers, &code).expect("known");
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].0, expected, "{machine:?}");
    }
}

#[test]
fn code_that_cannot_be_read_leads_nowhere() {
    assert_eq!(addresses(Machine::Aarch64, &[]), Some(Vec::new()));
    assert_eq!(
        addresses(Machine::Riscv64, &[0x01, 0x00]),
        Some(vec![0x1002])
    );
}
