//! Instructions of 32-bit Arm. Words of A32 are as they are in memory; those of T32 are as the manual shows them, with the first half in front.

use super::*;

const ARM: InstructionSet = InstructionSet::Arm;
const THUMB: InstructionSet = InstructionSet::Thumb;

fn bytes(set: InstructionSet, words: &[u32]) -> Vec<u8> {
    let mut code = Vec::new();
    for &word in words {
        match set {
            THUMB if word >> 16 == 0 => code.extend(&word.to_le_bytes()[..2]),
            THUMB => code.extend(word.rotate_left(16).to_le_bytes()),
            _ => code.extend(word.to_le_bytes()),
        }
    }
    code
}

/// The instructions, the first of which is at 0x1000.
fn decoded(set: InstructionSet, words: &[u32]) -> Vec<Decoded> {
    Instructions::of(set, &bytes(set, words), Address(0x1000)).collect()
}

fn one(set: InstructionSet, text: &str, word: u32) -> Decoded {
    let code = bytes(set, &[word]);
    let decoded = decode(set, &code, Address(0x1000)).expect(text);
    assert_eq!(decoded.length, code.len() as u64, "{text}");
    assert!(!decoded.is_conditional, "{text}");
    decoded
}

/// The flow of each from 0x1000.
fn check_flows(set: InstructionSet, cases: &[(&str, u32, Flow)]) {
    for &(text, word, flow) in cases {
        assert_eq!(one(set, text, word).flow, flow, "{text}");
    }
}

/// The change of the stack pointer by each, which goes on to the next.
fn check_stack(set: InstructionSet, cases: &[(&str, u32, Option<i64>)]) {
    for &(text, word, stack) in cases {
        let decoded = one(set, text, word);
        assert_eq!((decoded.flow, decoded.stack), (Flow::Next, stack), "{text}");
    }
}

#[test]
fn a32_flow() {
    let cases = [
        ("b .+16", 0xea00_0002, Flow::Jump(at(0x1010))),
        ("b .-8", 0xeaff_fffc, Flow::Jump(at(0xff8))),
        ("bne .+16", 0x1a00_0002, Flow::Branch(Address(0x1010))),
        ("bl .+0x1000", 0xeb00_03fe, Flow::Call(at(0x2000))),
        ("bl .-4", 0xebff_fffd, Flow::Call(at(0xffc))),
        ("blx .+10", 0xfb00_0000, Flow::Call(at(0x100a))),
        ("blx .-4", 0xfaff_fffd, Flow::Call(at(0xffc))),
        ("blx r3", 0xe12f_ff33, Flow::Call(None)),
        ("bx lr", 0xe12f_ff1e, Flow::Return),
        ("bx r3", 0xe12f_ff13, Flow::Jump(None)),
        ("bxj lr", 0xe12f_ff2e, Flow::Return),
        ("bxj r3", 0xe12f_ff23, Flow::Jump(None)),
        ("mov pc, lr", 0xe1a0_f00e, Flow::Return),
        ("mov pc, r3", 0xe1a0_f003, Flow::Jump(None)),
        ("movs pc, lr", 0xe1b0_f00e, Flow::Return),
        ("subs pc, lr, #4", 0xe25e_f004, Flow::Return),
        ("eret", 0xe160_006e, Flow::Return),
        ("rfeia sp!", 0xf8bd_0a00, Flow::Return),
        ("pop {r4, pc}", 0xe8bd_8010, Flow::Return),
        ("pop {pc}", 0xe49d_f004, Flow::Return),
        ("ldmdb sp, {r4, pc}", 0xe91d_8010, Flow::Return),
        ("ldr pc, [sp], #8", 0xe49d_f008, Flow::Return),
        ("ldm r0, {r4, pc}^", 0xe8d0_8010, Flow::Return),
        ("ldm r0, {r4, pc}", 0xe890_8010, Flow::Jump(None)),
        ("ldr pc, [r3]", 0xe593_f000, Flow::Jump(None)),
        ("ldr pc, [pc, #-4]", 0xe51f_f004, Flow::Jump(None)),
        ("ldr pc, [sp, #4]!", 0xe5bd_f004, Flow::Jump(None)),
        ("ldr pc, [pc, r3, lsl #2]", 0xe79f_f103, Flow::Jump(None)),
        ("add pc, pc, r3, lsl #2", 0xe08f_f103, Flow::Jump(None)),
        ("sub pc, r3, #4", 0xe243_f004, Flow::Jump(None)),
        ("mvn pc, #0", 0xe3e0_f000, Flow::Jump(None)),
        ("svc #0", 0xef00_0000, Flow::Kernel),
        ("hvc #1", 0xe140_0071, Flow::Kernel),
        ("smc #1", 0xe160_0071, Flow::Kernel),
        ("bkpt #1", 0xe120_0071, Flow::Other),
        ("hlt #1", 0xe100_0071, Flow::Other),
        ("udf #16", 0xe7f0_01f0, Flow::Other),
        ("cmp r3, #0", 0xe353_0000, Flow::Next),
        ("ldr lr, [pc, #4]", 0xe59f_e004, Flow::Next),
        ("ldm r0, {r4, lr}", 0xe890_4010, Flow::Next),
        ("mrs r3, CPSR", 0xe10f_3000, Flow::Next),
        ("clz r3, r4", 0xe16f_3f14, Flow::Next),
        ("mul r3, r4, r5", 0xe003_0594, Flow::Next),
        ("cps #19", 0xf102_0013, Flow::Next),
        ("movw r12, #0xf000", 0xe30f_c000, Flow::Next),
        ("tst lr, r15", 0xe11e_000f, Flow::Next),
    ];
    check_flows(ARM, &cases);
}

#[test]
fn a32_stack() {
    let cases = [
        ("push {r4, lr}", 0xe92d_4010, Some(-8)),
        ("push {lr}", 0xe52d_e004, Some(-4)),
        ("pop {r4-r7}", 0xe8bd_00f0, Some(16)),
        ("stmib sp!, {r0, r1, r2}", 0xe9ad_0007, Some(12)),
        ("ldmda sp!, {r4}", 0xe83d_0010, Some(-4)),
        ("stm sp, {r4}", 0xe88d_0010, Some(0)),
        ("stmdb r3!, {r4, sp}", 0xe923_2010, Some(0)),
        ("ldm r3, {r4, sp}", 0xe893_2010, None),
        ("str r0, [sp, #-16]!", 0xe52d_0010, Some(-16)),
        ("ldr r0, [sp], #16", 0xe49d_0010, Some(16)),
        ("ldrb r0, [sp], -r3", 0xe65d_0003, None),
        ("str r0, [sp, #16]", 0xe58d_0010, Some(0)),
        ("str sp, [r3], #4", 0xe483_d004, Some(0)),
        ("ldr sp, [r3]", 0xe593_d000, None),
        ("ldrt r0, [sp], #4", 0xe4bd_0004, Some(4)),
        ("strd r4, r5, [sp, #-16]!", 0xe16d_41f0, Some(-16)),
        ("ldrd r4, r5, [sp], #200", 0xe0cd_4cd8, Some(200)),
        ("ldrd r4, r5, [sp, r3]!", 0xe1ad_40d3, None),
        ("strh r0, [sp, #-2]!", 0xe16d_00b2, Some(-2)),
        ("ldrsb r0, [sp, #1]", 0xe1dd_00d1, Some(0)),
        ("vpush {d8-d15}", 0xed2d_8b10, Some(-64)),
        ("vpush {s16}", 0xed2d_8a01, Some(-4)),
        ("vpop {d8, d9}", 0xecbd_8b04, Some(16)),
        ("vldmia sp!, {s0-s2}", 0xecbd_0a03, Some(12)),
        ("vstmia sp, {d8}", 0xec8d_8b02, Some(0)),
        ("vldr d8, [sp, #16]", 0xed9d_8b04, Some(0)),
        ("vld1.8 {d0}, [sp]!", 0xf42d_070d, None),
        ("vst1.8 {d0}, [sp]", 0xf40d_070f, Some(0)),
        ("vst1.8 {d0}, [r3]!", 0xf403_070d, Some(0)),
        ("vmov r3, r4, d0", 0xec54_3b10, Some(0)),
        ("add sp, sp, #16", 0xe28d_d010, Some(16)),
        ("sub sp, sp, #0x3fc", 0xe24d_dfff, Some(-0x3fc)),
        ("sub sp, sp, #0x10000", 0xe24d_d801, Some(-0x1_0000)),
        ("add sp, sp, #0xf000000f", 0xe28d_d2ff, Some(-0xfff_fff1)),
        ("adds sp, sp, #8", 0xe29d_d008, Some(8)),
        ("add sp, r11, #8", 0xe28b_d008, None),
        ("sub sp, sp, r3", 0xe04d_d003, None),
        ("mov sp, r11", 0xe1a0_d00b, None),
        ("bic sp, sp, #7", 0xe3cd_d007, None),
        ("movw sp, #1", 0xe300_d001, None),
        ("mov r11, sp", 0xe1a0_b00d, Some(0)),
        ("add r11, sp, #4", 0xe28d_b004, Some(0)),
        ("cmp sp, #0", 0xe35d_0000, Some(0)),
        ("cmp r3, sp", 0xe153_000d, Some(0)),
        ("srsdb sp!, #19", 0xf96d_0513, None),
        ("stl r0, [sp]", 0xe18d_fc90, Some(0)),
        ("ldrex r0, [sp]", 0xe19d_0f9f, Some(0)),
        ("ubfx r0, r1, #0, #14", 0xe7ed_0051, Some(0)),
        ("nop", 0xe320_f000, Some(0)),
    ];
    check_stack(ARM, &cases);
}

#[test]
fn t32_flow() {
    let cases = [
        ("b.n .+16", 0xe006, Flow::Jump(at(0x1010))),
        ("b.n .-8", 0xe7fa, Flow::Jump(at(0xff8))),
        ("b.w .+0x100000", 0xf0ff_bffe, Flow::Jump(at(0x10_1000))),
        ("b.w .-8", 0xf7ff_bffa, Flow::Jump(at(0xff8))),
        ("beq.n .-4", 0xd0fc, Flow::Branch(Address(0xffc))),
        (
            "bne.w .+0x10000",
            0xf04f_87fe,
            Flow::Branch(Address(0x1_1000)),
        ),
        ("bgt.w .-8", 0xf73f_affa, Flow::Branch(Address(0xff8))),
        ("bl .+0x400000", 0xf3ff_fffe, Flow::Call(at(0x40_1000))),
        ("bl .-4", 0xf7ff_fffc, Flow::Call(at(0xffc))),
        ("blx .+8", 0xf000_e802, Flow::Call(at(0x1008))),
        ("blx .-8", 0xf7ff_effa, Flow::Call(at(0xff8))),
        ("blx r3", 0x4798, Flow::Call(None)),
        ("bx lr", 0x4770, Flow::Return),
        ("bx r3", 0x4718, Flow::Jump(None)),
        ("bxj r3", 0xf3c3_8f00, Flow::Jump(None)),
        ("mov pc, lr", 0x46f7, Flow::Return),
        ("mov pc, r3", 0x469f, Flow::Jump(None)),
        ("add pc, r3", 0x449f, Flow::Jump(None)),
        ("subs pc, lr, #4", 0xf3de_8f04, Flow::Return),
        ("eret", 0xf3de_8f00, Flow::Return),
        ("rfedb sp!", 0xe83d_c000, Flow::Return),
        ("rfeia r3", 0xe993_c000, Flow::Return),
        ("pop {r4, pc}", 0xbd10, Flow::Return),
        ("pop.w {r4, r8, pc}", 0xe8bd_8110, Flow::Return),
        ("ldmdb sp!, {r4, pc}", 0xe93d_8010, Flow::Return),
        ("ldm.w r3, {r4, pc}", 0xe893_8010, Flow::Jump(None)),
        ("ldr.w pc, [sp], #4", 0xf85d_fb04, Flow::Return),
        ("ldr.w pc, [sp, #4]!", 0xf85d_ff04, Flow::Jump(None)),
        ("ldr.w pc, [r3, #4]", 0xf8d3_f004, Flow::Jump(None)),
        ("ldr.w pc, [pc, #8]", 0xf8df_f008, Flow::Jump(None)),
        ("ldr.w pc, [pc, #-8]", 0xf85f_f008, Flow::Jump(None)),
        ("ldr.w pc, [r3, r4, lsl #2]", 0xf853_f024, Flow::Jump(None)),
        ("tbb [pc, r3]", 0xe8df_f003, Flow::Jump(None)),
        ("tbh [pc, r3, lsl #1]", 0xe8df_f013, Flow::Jump(None)),
        ("cbz r3, .+4", 0xb103, Flow::Branch(Address(0x1004))),
        ("cbnz r7, .+130", 0xbbff, Flow::Branch(Address(0x1082))),
        ("svc #0", 0xdf00, Flow::Kernel),
        ("hvc #1", 0xf7e0_8001, Flow::Kernel),
        ("smc #1", 0xf7f1_8000, Flow::Kernel),
        ("bkpt #1", 0xbe01, Flow::Other),
        ("hlt #1", 0xba81, Flow::Other),
        ("udf #1", 0xde01, Flow::Other),
        ("udf.w #1", 0xf7f0_a001, Flow::Other),
        ("dcps1", 0xf78f_8001, Flow::Other),
        ("cmp lr, r8", 0x45c6, Flow::Next),
        ("mov r8, pc", 0x46f8, Flow::Next),
        ("pld [r3]", 0xf893_f000, Flow::Next),
        ("pld [pc, #8]", 0xf89f_f008, Flow::Next),
        ("mrs r3, CPSR", 0xf3ef_8300, Flow::Next),
        ("dsb", 0xf3bf_8f4f, Flow::Next),
        ("cmp.w r3, #0", 0xf1b3_0f00, Flow::Next),
        ("ldrexd r4, r5, [r3]", 0xe8d3_457f, Flow::Next),
        ("nop.w", 0xf3af_8000, Flow::Next),
        // ARMv8-M.
        ("bxns lr", 0x4774, Flow::Return),
        ("blxns r3", 0x479c, Flow::Call(None)),
        (
            "wls lr, r0, .+16",
            0xf040_c007,
            Flow::Branch(Address(0x1010)),
        ),
        ("le lr, .-8", 0xf00f_c007, Flow::Branch(Address(0xff8))),
        ("le .-8", 0xf02f_c007, Flow::Jump(at(0xff8))),
        ("dls lr, r0", 0xf040_e001, Flow::Next),
        ("bxaut r12, lr, sp", 0xfb5e_cf1d, Flow::Return),
        ("clrm {r0, apsr}", 0xe89f_8001, Flow::Next),
        ("sg", 0xe97f_e97f, Flow::Next),
    ];
    check_flows(THUMB, &cases);
}

#[test]
fn t32_stack() {
    let cases = [
        ("push {r4, lr}", 0xb510, Some(-8)),
        ("push {r0-r7}", 0xb4ff, Some(-32)),
        ("pop {r4-r7}", 0xbcf0, Some(16)),
        ("push.w {r4, r8, lr}", 0xe92d_4110, Some(-12)),
        ("pop.w {r4-r8}", 0xe8bd_01f0, Some(20)),
        ("ldmdb sp!, {r4, r5}", 0xe93d_0030, Some(-8)),
        ("stmia.w sp!, {r4, r5}", 0xe8ad_0030, Some(8)),
        ("stmdb sp, {r4, r5}", 0xe90d_0030, Some(0)),
        ("stm r0!, {r1}", 0xc002, Some(0)),
        ("str.w r8, [sp, #-4]!", 0xf84d_8d04, Some(-4)),
        ("ldr.w r8, [sp], #4", 0xf85d_8b04, Some(4)),
        ("ldrh.w r0, [sp, #-2]", 0xf83d_0c02, Some(0)),
        ("ldrsb.w r0, [sp, #-1]!", 0xf91d_0d01, Some(-1)),
        ("str.w r8, [sp, #0x900]", 0xf8cd_8900, Some(0)),
        ("str.w r0, [sp, r3, lsl #2]", 0xf84d_0023, Some(0)),
        ("ldr r0, [sp, #4]", 0x9801, Some(0)),
        ("ldr.w sp, [r3]", 0xf8d3_d000, None),
        ("ldrt r0, [sp, #4]", 0xf85d_0e04, Some(0)),
        ("strd r4, r5, [sp, #-16]!", 0xe96d_4504, Some(-16)),
        ("ldrd r4, r5, [sp], #1020", 0xe8fd_45ff, Some(1020)),
        ("strd r4, r5, [sp, #8]", 0xe9cd_4502, Some(0)),
        ("ldrex r0, [sp, #4]", 0xe85d_0f01, Some(0)),
        ("vpush {d8-d15}", 0xed2d_8b10, Some(-64)),
        ("vpop {s16-s18}", 0xecbd_8a03, Some(12)),
        ("vstmdb sp!, {s0}", 0xed2d_0a01, Some(-4)),
        ("vldr d8, [sp, #16]", 0xed9d_8b04, Some(0)),
        ("vst1.8 {d0}, [sp]!", 0xf90d_070d, None),
        ("vst1.8 {d0}, [sp]", 0xf90d_070f, Some(0)),
        ("vmov r3, r4, d0", 0xec54_3b10, Some(0)),
        ("add sp, #508", 0xb07f, Some(508)),
        ("sub sp, #508", 0xb0ff, Some(-508)),
        ("add.w sp, sp, #0x1000", 0xf50d_5d80, Some(0x1000)),
        ("sub.w sp, sp, #0x1fe0", 0xf5ad_5dff, Some(-0x1fe0)),
        ("add.w sp, sp, #0x00100010", 0xf10d_1d10, Some(0x10_0010)),
        ("sub.w sp, sp, #0x10001000", 0xf1ad_2d10, Some(-0x1000_1000)),
        ("add.w sp, sp, #0x01010101", 0xf10d_3d01, Some(0x101_0101)),
        ("addw sp, sp, #0x7fd", 0xf20d_7dfd, Some(0x7fd)),
        ("subw sp, sp, #0xffd", 0xf6ad_7dfd, Some(-0xffd)),
        ("subs.w sp, sp, #8", 0xf1bd_0d08, Some(-8)),
        ("add.w sp, r7, #8", 0xf107_0d08, None),
        ("add sp, r3", 0x449d, None),
        ("sub.w sp, sp, r3", 0xebad_0d03, None),
        ("mov sp, r7", 0x46bd, None),
        ("mov.w sp, r7", 0xea4f_0d07, None),
        ("mov r7, sp", 0x466f, Some(0)),
        ("add r7, sp, #8", 0xaf02, Some(0)),
        ("add.w r7, sp, #0x108", 0xf50d_7784, Some(0)),
        ("cmp.w sp, #0", 0xf1bd_0f00, Some(0)),
        ("cmp sp, r3", 0x459d, Some(0)),
        ("tst.w r3, #1", 0xf013_0f01, Some(0)),
        ("srsdb sp!, #19", 0xe82d_c013, None),
        ("nop", 0xbf00, Some(0)),
        // ARMv8.1-M.
        ("vstr FPCXTNS, [sp, #-4]!", 0xed6d_cf81, Some(-4)),
        ("vldr FPCXTNS, [sp], #4", 0xecfd_cf81, Some(4)),
    ];
    check_stack(THUMB, &cases);
}

#[test]
fn returns_take_from_the_stack_what_they_load() {
    let pop = |set, word| one(set, "pop", word).stack;
    assert_eq!(pop(ARM, 0xe8bd_8010), Some(8));
    assert_eq!(pop(ARM, 0xe49d_f008), Some(8));
    assert_eq!(pop(THUMB, 0xbd10), Some(8));
    assert_eq!(pop(THUMB, 0xe8bd_8110), Some(12));
    assert_eq!(pop(THUMB, 0xf85d_fb04), Some(4));
}

#[test]
fn a32_conditions() {
    // bleq .+16; bxne lr; popeq {r4, pc}; movne r0, #1; subeq sp, sp, #8; svcne #0.
    let words = [
        0x0b00_0002,
        0x112f_ff1e,
        0x08bd_8010,
        0x13a0_0001,
        0x024d_d008,
        0x1f00_0000,
    ];
    let conditional = decoded(ARM, &words);
    assert!(conditional.iter().all(|it| it.is_conditional));
    let found: Vec<_> = conditional.iter().map(|it| (it.flow, it.stack)).collect();
    assert_eq!(
        found,
        [
            (Flow::Call(at(0x1010)), Some(0)),
            (Flow::Return, Some(0)),
            (Flow::Return, None),
            (Flow::Next, Some(0)),
            (Flow::Next, None),
            (Flow::Kernel, Some(0)),
        ]
    );
}

/// What is conditional, of the instructions `words`.
fn conditional(words: &[u32]) -> Vec<bool> {
    let decoded = decoded(THUMB, words);
    decoded.iter().map(|it| it.is_conditional).collect()
}

#[test]
fn it_blocks_end_after_up_to_four_instructions() {
    const NOP: u32 = 0xbf00;
    // it eq; ite ne; ittet ge, with instructions of both sizes.
    assert_eq!(conditional(&[0xbf08, NOP, NOP]), [false, true, false]);
    assert_eq!(
        conditional(&[0xbf14, NOP, 0xf3af_8000, NOP]),
        [false, true, true, false]
    );
    assert_eq!(
        conditional(&[0xbfa5, NOP, NOP, NOP, NOP, NOP]),
        [false, true, true, true, true, false]
    );
    // it al; bkpt is executed in any case.
    assert_eq!(conditional(&[0xbfe8, NOP]), [false, false]);
    assert_eq!(conditional(&[0xbf04, 0xbe00, NOP]), [false, false, true]);
}

#[test]
fn it_blocks_make_jumps_and_changes_of_the_stack_conditional() {
    // itte eq; sub sp, #8; add r0, r1; pop {r4, pc}. it ne; b .+8. beq .+8.
    let words = [0xbf06, 0xb082, 0x1840, 0xbd10, 0xbf18, 0xe002, 0xd002];
    let found: Vec<_> = decoded(THUMB, &words)
        .iter()
        .map(|it| (it.flow, it.stack, it.is_conditional))
        .collect();
    assert_eq!(
        found,
        [
            (Flow::Next, Some(0), false),
            (Flow::Next, None, true),
            (Flow::Next, Some(0), true),
            (Flow::Return, None, true),
            (Flow::Next, Some(0), false),
            (Flow::Branch(Address(0x1012)), Some(0), false),
            (Flow::Branch(Address(0x1014)), Some(0), false),
        ]
    );
}

fn last_flow(set: InstructionSet, words: &[u32]) -> Flow {
    decoded(set, words).last().expect("an instruction").flow
}

#[test]
fn a32_goes_to_addresses_made_by_movw_and_movt() {
    // movw r3, #0x75; mov r0, r4; movt r3, #1; blx r3.
    let words = [0xe300_3075, 0xe1a0_0004, 0xe340_3001, 0xe12f_ff33];
    assert_eq!(last_flow(ARM, &words), Flow::Call(at(0x1_0074)));
    // bx r3.
    let words = [0xe300_3075, 0xe340_3001, 0xe12f_ff13];
    assert_eq!(last_flow(ARM, &words), Flow::Jump(at(0x1_0074)));
    // ldr r3, [r3] and ldm r0, {r3} change the register, movtne may, and so may a function that is called.
    for between in [0xe593_3000, 0xe890_0008, 0x1340_3002, 0xe12f_ff33] {
        let words = [0xe300_3075, 0xe340_3001, between, 0xe12f_ff33];
        assert_eq!(last_flow(ARM, &words), Flow::Call(None), "{between:x}");
    }
    // ldrd r2, r3, [r0]; blx of another register.
    let words = [0xe300_3075, 0xe1c0_20d0, 0xe12f_ff33];
    assert_eq!(last_flow(ARM, &words), Flow::Call(None));
    let words = [0xe300_3075, 0xe340_3001, 0xe12f_ff32];
    assert_eq!(last_flow(ARM, &words), Flow::Call(None));
}

#[test]
fn t32_goes_to_addresses_made_by_movw_and_movt() {
    // movw r3, #0x75; mov r0, r4; movs r1, #2; movt r3, #1; blx r3.
    let words = [0xf240_0375, 0x4620, 0x2102, 0xf2c0_0301, 0x4798];
    assert_eq!(last_flow(THUMB, &words), Flow::Call(at(0x1_0074)));
    // movw r12, #0xf89d; movt r12, #0x8765; bx r12.
    let words = [0xf64f_0c9d, 0xf2c8_7c65, 0x4760];
    assert_eq!(last_flow(THUMB, &words), Flow::Jump(at(0x8765_f89c)));
    // ldr r3, [r3]; mov r3, r8; pop {r3}; ldr.w r3, [r0]; ldmia.w r0, {r3, r8}.
    for between in [0x681b, 0x4643, 0xbc08, 0xf8d0_3000, 0xe890_0108] {
        let words = [0xf240_0375, 0xf2c0_0301, between, 0x4798];
        assert_eq!(last_flow(THUMB, &words), Flow::Call(None), "{between:x}");
    }
    // it eq before movt.
    let words = [0xf240_0375, 0xbf08, 0xf2c0_0301, 0x4798];
    assert_eq!(last_flow(THUMB, &words), Flow::Call(None));
}

#[test]
fn targets_are_within_32_bits() {
    // b .-8; beq .-8.
    let decoded = decode(ARM, &0xeaff_fffc_u32.to_le_bytes(), Address(0));
    assert_eq!(decoded.and_then(|it| it.target()), at(0xffff_fff8));
    let decoded = decode(THUMB, &0xd0fa_u16.to_le_bytes(), Address(0));
    assert_eq!(decoded.and_then(|it| it.target()), at(0xffff_fff8));
    // blx .+8 at an address that is no multiple of 4.
    let code = bytes(THUMB, &[0xf000_e802]);
    let decoded = decode(THUMB, &code, Address(0x1002));
    assert_eq!(decoded.and_then(|it| it.target()), at(0x1008));
}

#[test]
fn too_few_bytes_are_no_instruction() {
    assert_eq!(decode(ARM, &[0, 0, 0], Address(0)), None);
    assert_eq!(decode(THUMB, &[0], Address(0)), None);
    assert_eq!(decode(THUMB, &[0x00, 0xf0, 0x00], Address(0)), None);
}

/// Each run of bytes decodes to its end, one instruction behind the other, at any address.
fn check_advances(set: InstructionSet, code: &[u8], start: u64) {
    let mut at = start;
    for decoded in Instructions::of(set, code, Address(at)) {
        assert_eq!(decoded.address, Address(at));
        assert!(matches!(decoded.length, 2 | 4));
        at = decoded.next().0;
    }
    let rest = code.len() as u64 - at.wrapping_sub(start);
    assert!(rest < 4, "{rest}");
}

#[test]
fn all_halves_are_instructions_or_begin_one() {
    for half in 0..=u16::MAX {
        for second in [0_u32, 0x8000, 0xf7ff, 0xffff] {
            let code = second << 16 | u32::from(half);
            check_advances(THUMB, &code.to_le_bytes(), u64::MAX - 3);
        }
    }
}

#[test]
fn random_words_are_instructions() {
    // A linear congruential generator (Knuth, The Art of Computer Programming, volume 2, 3.3.4).
    let mut state = 1_u64;
    let mut code = Vec::with_capacity(4_000_000);
    for _ in 0..1_000_000 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        code.extend(&state.to_le_bytes()[4..]);
    }
    for start in [0, 0xffff_f000, u64::MAX - 4095] {
        check_advances(ARM, &code, start);
        check_advances(THUMB, &code, start);
    }
}

#[test]
fn instructions_are_aligned() {
    let sets = [Machine::X86_64, Machine::Aarch64, Machine::Riscv64];
    let alignments = sets.map(|machine| InstructionSet::from(machine).alignment());
    assert_eq!(alignments, [1, 4, 2]);
    assert_eq!((ARM.alignment(), THUMB.alignment()), (4, 2));
}
