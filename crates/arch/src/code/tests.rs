//! Instructions as assemblers encode them.

mod arm;

use super::*;
use crate::Machine;

/// Each instruction as an assembler writes it, the flow from 0x1000, and the change of the stack pointer.
fn check(machine: Machine, cases: &[(&str, &[u8], Flow, Option<i64>)]) {
    for (text, code, flow, stack) in cases {
        let decoded = decode(machine, code, Address(0x1000)).expect(text);
        assert_eq!(decoded.flow, *flow, "{text}");
        assert_eq!(decoded.stack, *stack, "{text}");
        assert_eq!(decoded.length, code.len() as u64, "{text}");
    }
}

const fn at(address: u64) -> Option<Address> {
    Some(Address(address))
}

#[test]
fn aarch64() {
    let cases: &[(&str, u32, Flow, Option<i64>)] = &[
        ("b .+8", 0x1400_0002, Flow::Jump(at(0x1008)), Some(0)),
        ("bl .-4", 0x97ff_ffff, Flow::Call(at(0xffc)), Some(0)),
        (
            "b.ne .+16",
            0x5400_0081,
            Flow::Branch(Address(0x1010)),
            Some(0),
        ),
        (
            "cbz x0, .-8",
            0xb4ff_ffc0,
            Flow::Branch(Address(0xff8)),
            Some(0),
        ),
        (
            "tbnz w1, #3, .+12",
            0x3718_0061,
            Flow::Branch(Address(0x100c)),
            Some(0),
        ),
        ("br x17", 0xd61f_0220, Flow::Jump(None), Some(0)),
        ("blr x8", 0xd63f_0100, Flow::Call(None), Some(0)),
        ("ret", 0xd65f_03c0, Flow::Return, Some(0)),
        ("retaa", 0xd65f_0bff, Flow::Return, Some(0)),
        ("blraa x0, x1", 0xd73f_0801, Flow::Call(None), Some(0)),
        ("svc #0", 0xd400_0001, Flow::Kernel, Some(0)),
        ("brk #0", 0xd420_0000, Flow::Other, Some(0)),
        ("udf #0", 0x0000_0000, Flow::Other, Some(0)),
        ("nop", 0xd503_201f, Flow::Next, Some(0)),
        (
            "stp x29, x30, [sp, #-32]!",
            0xa9be_7bfd,
            Flow::Next,
            Some(-32),
        ),
        ("ldp x29, x30, [sp], #32", 0xa8c2_7bfd, Flow::Next, Some(32)),
        ("stp x19, x20, [sp, #16]", 0xa901_53f3, Flow::Next, Some(0)),
        (
            "stp d8, d9, [sp, #-16]!",
            0x6dbf_27e8,
            Flow::Next,
            Some(-16),
        ),
        ("str x0, [sp, #-16]!", 0xf81f_0fe0, Flow::Next, Some(-16)),
        ("ldr x0, [sp], #16", 0xf841_07e0, Flow::Next, Some(16)),
        ("ldr x0, [sp, #8]", 0xf940_07e0, Flow::Next, Some(0)),
        ("sub sp, sp, #0x40", 0xd101_03ff, Flow::Next, Some(-0x40)),
        (
            "add sp, sp, #0x1, lsl #12",
            0x9140_07ff,
            Flow::Next,
            Some(0x1000),
        ),
        ("mov sp, x29", 0x9100_03bf, Flow::Next, None),
        ("mov x29, sp", 0x9100_03fd, Flow::Next, Some(0)),
        ("cmp x0, #5", 0xf100_141f, Flow::Next, Some(0)),
        ("and sp, x9, #-16", 0x927c_ed3f, Flow::Next, None),
        ("sub sp, sp, x1", 0xcb21_63ff, Flow::Next, None),
    ];
    for (text, word, flow, stack) in cases {
        check(
            Machine::Aarch64,
            &[(text, &word.to_le_bytes(), *flow, *stack)],
        );
    }
    assert_eq!(decode(Machine::Aarch64, &[0, 0, 0], Address(0)), None);
}

#[test]
fn riscv64() {
    let cases: &[(&str, &[u8], Flow, Option<i64>)] = &[
        (
            "jal ra, .+8",
            &[0xef, 0x00, 0x80, 0x00],
            Flow::Call(at(0x1008)),
            Some(0),
        ),
        (
            "j .-4 (4 bytes)",
            &[0x6f, 0xf0, 0xdf, 0xff],
            Flow::Jump(at(0xffc)),
            Some(0),
        ),
        (
            "jalr ra, 0(a5)",
            &[0xe7, 0x80, 0x07, 0x00],
            Flow::Call(None),
            Some(0),
        ),
        (
            "jr a5 (4 bytes)",
            &[0x67, 0x80, 0x07, 0x00],
            Flow::Jump(None),
            Some(0),
        ),
        (
            "ret (4 bytes)",
            &[0x67, 0x80, 0x00, 0x00],
            Flow::Return,
            Some(0),
        ),
        (
            "beq a0, a1, .+16",
            &[0x63, 0x08, 0xb5, 0x00],
            Flow::Branch(Address(0x1010)),
            Some(0),
        ),
        (
            "bne a0, zero, .-8",
            &[0xe3, 0x1c, 0x05, 0xfe],
            Flow::Branch(Address(0xff8)),
            Some(0),
        ),
        ("ecall", &[0x73, 0, 0, 0], Flow::Kernel, Some(0)),
        ("ebreak", &[0x73, 0, 0x10, 0], Flow::Other, Some(0)),
        (
            "csrr a0, cycle",
            &[0x73, 0x25, 0x00, 0xc0],
            Flow::Next,
            Some(0),
        ),
        ("c.j .+4", &[0x11, 0xa0], Flow::Jump(at(0x1004)), Some(0)),
        (
            "c.beqz a0, .+6",
            &[0x19, 0xc1],
            Flow::Branch(Address(0x1006)),
            Some(0),
        ),
        (
            "c.bnez a0, .-4",
            &[0x75, 0xfd],
            Flow::Branch(Address(0xffc)),
            Some(0),
        ),
        ("c.jr ra", &[0x82, 0x80], Flow::Return, Some(0)),
        ("c.jr a5", &[0x82, 0x87], Flow::Jump(None), Some(0)),
        ("c.jalr a5", &[0x82, 0x97], Flow::Call(None), Some(0)),
        ("c.ebreak", &[0x02, 0x90], Flow::Other, Some(0)),
        (
            "addi sp, sp, -32",
            &[0x13, 0x01, 0x01, 0xfe],
            Flow::Next,
            Some(-32),
        ),
        (
            "addi sp, s0, -32",
            &[0x13, 0x01, 0x04, 0xfe],
            Flow::Next,
            None,
        ),
        ("c.addi sp, -32", &[0x01, 0x11], Flow::Next, Some(-32)),
        ("c.addi16sp 64", &[0x21, 0x61], Flow::Next, Some(64)),
        ("c.sdsp ra, 24(sp)", &[0x06, 0xec], Flow::Next, Some(0)),
        ("c.ldsp ra, 24(sp)", &[0xe2, 0x60], Flow::Next, Some(0)),
        ("c.mv sp, a0", &[0x2a, 0x81], Flow::Next, None),
        ("c.nop", &[0x01, 0x00], Flow::Next, Some(0)),
        ("c.unimp", &[0, 0], Flow::Other, Some(0)),
        (
            "sd ra, 8(sp)",
            &[0x23, 0x34, 0x11, 0x00],
            Flow::Next,
            Some(0),
        ),
    ];
    check(Machine::Riscv64, cases);
    assert_eq!(decode(Machine::Riscv64, &[0x13, 0], Address(0)), None);
}

#[test]
fn riscv64_goes_far_by_two_instructions() {
    // auipc ra, 0x1; jalr ra, -8(ra). Then one with another register: auipc t1, 0; jalr ra, 0(a5).
    let code = [
        0x97, 0x10, 0, 0, 0xe7, 0x80, 0x80, 0xff, 0x17, 0x03, 0, 0, 0xe7, 0x80, 0x07, 0,
    ];
    let flows = Instructions::flows(Machine::Riscv64, &code, Address(0x1000));
    let flows: Vec<Flow> = flows.map(|it| it.flow).collect();
    assert_eq!(
        flows,
        [
            Flow::Next,
            Flow::Call(at(0x1ff8)),
            Flow::Next,
            Flow::Call(None)
        ]
    );
}

#[test]
fn x86_64() {
    check(
        Machine::X86_64,
        &[
            (
                "call .+5",
                &[0xe8, 0, 0, 0, 0],
                Flow::Call(at(0x1005)),
                Some(0),
            ),
            ("call rax", &[0xff, 0xd0], Flow::Call(None), Some(0)),
            ("syscall", &[0x0f, 0x05], Flow::Kernel, Some(0)),
            ("ret", &[0xc3], Flow::Return, Some(0)),
            ("je .+2", &[0x74, 0], Flow::Branch(Address(0x1002)), Some(0)),
            ("jmp rax", &[0xff, 0xe0], Flow::Jump(None), Some(0)),
            ("push rbp", &[0x55], Flow::Next, Some(-8)),
            ("leave", &[0xc9], Flow::Next, None),
            ("int3", &[0xcc], Flow::Other, Some(0)),
        ],
    );
    let two = Instructions::of(Machine::X86_64, &[0x90, 0x90, 0x06], Address(0x1000));
    assert_eq!(
        two.map(|it| it.address.0).collect::<Vec<_>>(),
        [0x1000, 0x1001]
    );
}
