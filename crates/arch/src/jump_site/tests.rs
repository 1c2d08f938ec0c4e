//! Tests on literal code. Functions are at [`START`] unless a test says otherwise.

use super::*;

const START: Address = Address(0x1000);
/// Near enough for all distances.
const NEAR: Address = Address(0x10_0000);

fn code(bytes: &[u8]) -> [Code<'_>; 1] {
    [Code {
        start: START,
        bytes,
    }]
}

fn nothing_enters(_: Address) -> bool {
    false
}

fn plan_at(offset: i64, bytes: &[u8]) -> Result<JumpSite, Unfit> {
    let site = START.offset(offset);
    plan(site, &code(bytes), Indirect::Unknown, &nothing_enters)
}

fn unfit(offset: i64, bytes: &[u8]) -> Unfit {
    plan_at(offset, bytes).expect_err("a reason")
}

fn planned(bytes: &[u8]) -> JumpSite {
    plan_at(0, bytes).expect("a place")
}

/// The positions in moved code: offset, original relative to [`START`], pushed.
fn positions(relocated: &Relocated) -> Vec<(u64, i64, u64)> {
    let of = |one: &Position| (one.original.0.wrapping_sub(START.0)).cast_signed();
    let all = relocated.positions.iter();
    all.map(|one| (one.offset, of(one), one.pushed)).collect()
}

/// Where the branch at `offset` of moved code leads.
fn target(relocated: &Relocated, to: Address, offset: usize) -> u64 {
    let here = Address(to.0 + offset as u64);
    let branch = crate::instructions::decode(here, &relocated.bytes[offset..]).expect("a branch");
    if branch.is_ip_rel_memory_operand() {
        let constant = (branch.ip_rel_memory_address() - to.0) as usize;
        assert_eq!(branch.ip_rel_memory_address() % 8, 0);
        let bytes = relocated.bytes[constant..constant + 8].try_into();
        u64::from_le_bytes(bytes.expect("8 bytes"))
    } else {
        branch.near_branch_target()
    }
}

#[test]
fn whole_instructions_are_taken_until_a_jump_fits() {
    // push rbp; mov rbp, rsp; sub rsp, 16; ret
    let bytes = [0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0xc3];
    let site = planned(&bytes);
    assert_eq!((site.site, site.length), (START, 8));
    assert_eq!(site.end(), Address(0x1008));
    let moved = site.relocated(NEAR).expect("code");
    assert_eq!(moved.bytes[..8], bytes[..8]);
    assert_eq!(
        positions(&moved),
        [(0, 0, 0), (1, 1, 0), (4, 4, 0), (8, 8, 0)]
    );
    assert_eq!(target(&moved, NEAR, 8), 0x1008);
    assert_eq!(moved.bytes.len(), 13);
    assert_eq!(moved.original(4), Some(moved.positions[2]));
    assert_eq!(moved.original(5), None);
    assert_eq!(site.entry_of(&moved, Address(0x1004)), Some(4));
    assert_eq!(site.entry_of(&moved, Address(0x1005)), None);
    assert_eq!(site.entry_of(&moved, site.end()), None);
    assert!(!site.ends_in_call());
}

#[test]
fn the_jump_reaches_two_gibibytes() {
    assert_eq!(jump(START, Address(0x1005)), Some([0xe9, 0, 0, 0, 0]));
    assert_eq!(jump(START, START), Some([0xe9, 0xfb, 0xff, 0xff, 0xff]));
    let last = Address(0x1005 + 0x7fff_ffff);
    assert_eq!(jump(START, last), Some([0xe9, 0xff, 0xff, 0xff, 0x7f]));
    assert_eq!(jump(START, last.offset(1)), None);
    let high = Address(0x7fff_0000_0000);
    assert_eq!(
        jump(high, high.offset(5 - 0x8000_0000)),
        Some([0xe9, 0, 0, 0, 0x80])
    );
    assert_eq!(jump(high, high.offset(4 - 0x8000_0000)), None);
}

#[test]
fn a_place_must_be_an_instruction_of_the_function_with_room_for_a_jump() {
    // mov eax, 1; ret
    let bytes = [0xb8, 1, 0, 0, 0, 0xc3];
    assert_eq!(planned(&bytes).length, 5);
    assert_eq!(unfit(6, &bytes), Unfit::Outside);
    assert_eq!(unfit(-1, &bytes), Unfit::Outside);
    assert_eq!(unfit(1, &bytes), Unfit::NotAnInstruction);
    // nop; nop: the next range isn't where execution goes on.
    let ranges = [
        Code {
            start: START,
            bytes: &[0x90; 4],
        },
        Code {
            start: Address(0x1004),
            bytes: &[0x90; 4],
        },
    ];
    let reason = plan(START, &ranges, Indirect::Unknown, &nothing_enters);
    assert_eq!(reason, Err(Unfit::TooShort));
    // `06` is no instruction of 64-bit code: before the place, in it, and behind it.
    let invalid = |offset| Unfit::InvalidCode(START.offset(offset));
    assert_eq!(unfit(1, &[0x06, 0xb8, 1, 0, 0, 0]), invalid(0));
    assert_eq!(unfit(0, &[0x90, 0x06, 0x90, 0x90, 0x90]), invalid(1));
    assert_eq!(unfit(0, &[0xb8, 1, 0, 0, 0, 0x06]), invalid(5));
    // An instruction that isn't all there.
    assert_eq!(unfit(0, &[0xb8, 1, 0]), invalid(0));
    assert_eq!(unfit(0, &[]), Unfit::Outside);
}

#[test]
fn no_jump_of_any_range_may_lead_behind_the_first_instruction() {
    // 0: inc ecx; 2: dec ecx; 4: nop; 5: jne; 7: ret
    let function = |distance: u8| [0xff, 0xc1, 0xff, 0xc9, 0x90, 0x75, distance, 0xc3];
    assert_eq!(unfit(0, &function(0xfb)), Unfit::JumpedTo(2));
    assert_eq!(unfit(0, &function(0xfd)), Unfit::JumpedTo(3));
    // Into the second instruction.
    assert_eq!(unfit(0, &function(0xfc)), Unfit::JumpedTo(2));
    // To the place itself, and behind the replaced instructions.
    assert_eq!(planned(&function(0xf9)).length, 5);
    assert_eq!(planned(&function(0xfe)).length, 5);
    // A call, `loop`, `jrcxz` and `xbegin` from a cold part at 0x2000 to 0x1002.
    for cold in [
        &[0xe8, 0xfd, 0xef, 0xff, 0xff][..],
        &[0xe9, 0xfd, 0xef, 0xff, 0xff],
        &[0x0f, 0x84, 0xfc, 0xef, 0xff, 0xff],
        &[0xc7, 0xf8, 0xfc, 0xef, 0xff, 0xff],
    ] {
        let hot = function(0xf9);
        let mut ranges = code(&hot).to_vec();
        ranges.push(Code {
            start: Address(0x2000),
            bytes: cold,
        });
        let reason = plan(START, &ranges, Indirect::Unknown, &nothing_enters);
        assert_eq!(reason, Err(Unfit::JumpedTo(2)), "{cold:x?}");
    }
    for counted in [0xe0, 0xe1, 0xe2, 0xe3] {
        let mut bytes = function(0xfb);
        bytes[5] = counted;
        assert_eq!(unfit(0, &bytes), Unfit::JumpedTo(2), "{counted:#x}");
    }
}

#[test]
fn a_jump_behind_a_prefix_is_a_jump_into_the_instruction() {
    // 0: je 3; 2: lock cmpxchg dword ptr [rdi], esi; 6: ret
    let bytes = [0x74, 0x01, 0xf0, 0x0f, 0xb1, 0x37, 0xc3];
    assert_eq!(unfit(0, &bytes), Unfit::JumpedTo(2));
    // The same before the place: both ways come to it.
    let before = [0x74, 0x01, 0xf0, 0x0f, 0xb1, 0x37, 0xb8, 1, 0, 0, 0];
    assert!(plan_at(6, &before).is_ok());
    // 0: jmp 3; 2: mov eax, 0x909005b8; 7: mov eax, 1. From 3: mov eax, 0xb8909005 …, which goes over 7.
    let over = [
        0xeb, 0x01, 0xb8, 0xb8, 0x05, 0x90, 0x90, 0xb8, 1, 0, 0, 0, 0xc3,
    ];
    assert_eq!(unfit(7, &over), Unfit::JumpedTo(1));
}

#[test]
fn code_must_not_refer_to_what_is_behind_the_first_instruction() {
    // 0: nop (5 times); 5: lea rax, [rip + distance]; 12: ret
    let lea = |distance: u8| {
        let mut bytes = [0x90; 13];
        bytes[5..].copy_from_slice(&[0x48, 0x8d, 0x05, distance, 0xff, 0xff, 0xff, 0xc3]);
        bytes
    };
    assert_eq!(unfit(0, &lea(0xf7)), Unfit::Addressed(4));
    assert!(plan_at(0, &lea(0xf4)).is_ok());
}

#[test]
fn the_caller_knows_of_more_entries() {
    // push rbp; mov rbp, rsp; nop; nop
    let bytes = [0x55, 0x48, 0x89, 0xe5, 0x90, 0x90];
    let with = |entry: u64| {
        let enters = move |address| address == Address(entry);
        plan(START, &code(&bytes), Indirect::Unknown, &enters)
    };
    assert_eq!(with(0x1001), Err(Unfit::Entered(2)));
    assert_eq!(with(0x1004), Err(Unfit::Entered(3)));
    assert!(with(0x1000).is_ok());
    assert!(with(0x1005).is_ok());
}

#[test]
fn targets_of_indirect_jumps_must_be_known_unless_one_instruction_is_enough() {
    // push rbp; mov rbp, rsp; nop; then an indirect jump
    for jump in [
        &[0xff, 0xe0][..],
        &[0x3e, 0xff, 0xe0],
        &[0xff, 0x25, 0, 0, 0, 0],
        &[0xff, 0x24, 0xc7],
    ] {
        let bytes = [&[0x55, 0x48, 0x89, 0xe5, 0x90], jump].concat();
        assert_eq!(unfit(0, &bytes), Unfit::IndirectJump, "{jump:x?}");
        let ranges = code(&bytes);
        assert!(plan(START, &ranges, Indirect::Known, &nothing_enters).is_ok());
        let one = [&[0xb8, 1, 0, 0, 0], jump].concat();
        assert_eq!(planned(&one).length, 5);
    }
}

#[test]
fn some_instructions_stay() {
    for (bytes, reason) in [
        (&[0x0f, 0x05][..], Unfit::SystemCall),
        (&[0x0f, 0x34], Unfit::SystemCall),
        (&[0xcd, 0x80], Unfit::SystemCall),
        (&[0x0f, 0x01, 0xc1], Unfit::SystemCall),
        (&[0xcc], Unfit::Trap),
        (&[0xf1], Unfit::Trap),
        (&[0xf4], Unfit::Trap),
        (&[0x0f, 0x0b], Unfit::Trap),
        (&[0x0f, 0xb9, 0xc0], Unfit::Trap),
        (&[0x0f, 0xff, 0xc0], Unfit::Trap),
        (&[0xc3], Unfit::Return),
        (&[0xc2, 8, 0], Unfit::Return),
        (&[0xf3, 0xc3], Unfit::Return),
        (&[0x48, 0xcf], Unfit::Return),
        (&[0x0f, 0x07], Unfit::Return),
        (&[0xcb], Unfit::FarTransfer),
        (&[0xff, 0x2f], Unfit::FarTransfer),
        (&[0xff, 0x1f], Unfit::FarTransfer),
        (&[0xc7, 0xf8, 0, 0, 0, 0], Unfit::Transaction),
        (&[0xc6, 0xf8, 0], Unfit::Transaction),
        (&[0x0f, 0x01, 0xd5], Unfit::Transaction),
        (&[0xf3, 0x0f, 0x1e, 0xfa], Unfit::EndBranch),
        (&[0x0f, 0x01, 0xd7], Unfit::Unmovable),
        // call rsp; call [rsp - 8]; call [esp]
        (&[0xff, 0xd4], Unfit::Unmovable),
        (&[0xff, 0x54, 0x24, 0xf8], Unfit::Unmovable),
        (&[0x67, 0xff, 0x14, 0x24], Unfit::Unmovable),
    ] {
        let code = [bytes, &[0x90; 8]].concat();
        assert_eq!(unfit(0, &code), reason, "{bytes:x?}");
        // As the second instruction, too.
        let second = [&[0x50], bytes, &[0x90; 8]].concat();
        let reason = match reason {
            Unfit::EndBranch => Unfit::Entered(2),
            other => other,
        };
        assert_eq!(unfit(0, &second), reason, "{bytes:x?}");
    }
    // `rdpid rax` isn't among them.
    assert!(plan_at(0, &[0xf3, 0x0f, 0xc7, 0xf8, 0x90]).is_ok());
    // The place behind `endbr64` isn't hurt by it.
    assert!(plan_at(4, &[0xf3, 0x0f, 0x1e, 0xfa, 0xb8, 1, 0, 0, 0]).is_ok());
}

#[test]
fn nothing_is_replaced_behind_a_jump_or_a_call() {
    assert_eq!(unfit(0, &[0xeb, 0x10, 0x90, 0x90, 0x90]), Unfit::ShortJump);
    assert_eq!(unfit(0, &[0x90, 0xff, 0xe0, 0x90, 0x90]), Unfit::ShortJump);
    assert_eq!(unfit(0, &[0x90, 0xff, 0xd0, 0x90, 0x90]), Unfit::ShortCall);
    // As the last.
    assert_eq!(planned(&[0x90, 0x90, 0x90, 0xeb, 0x10]).length, 5);
    assert_eq!(planned(&[0x90, 0x90, 0x90, 0xff, 0xd0]).length, 5);
    assert_eq!(planned(&[0xff, 0x25, 0, 0, 0, 0]).length, 6);
}

#[test]
fn reasons_are_clauses_for_users() {
    let text = |reason: Unfit| reason.to_string();
    assert_eq!(
        text(Unfit::JumpedTo(2)),
        "a jump leads to the second of the instructions that would be replaced"
    );
    assert_eq!(
        text(Unfit::Entered(5)),
        "something else begins at the fifth of the instructions that would be replaced"
    );
    assert_eq!(
        text(Unfit::InvalidCode(START)),
        "the function has bytes at 0x1000 that are not an instruction"
    );
}

#[test]
fn relative_operands_mean_the_same_address() {
    // 0: cmp dword ptr [rip + 0x10], 7; 7: nop. The displacement isn't the last of the instruction.
    let bytes = [0x83, 0x3d, 0x10, 0, 0, 0, 7, 0x90];
    let site = planned(&bytes);
    let moved = site.relocated(NEAR).expect("code");
    let again = crate::instructions::decode(NEAR, &moved.bytes).expect("an instruction");
    assert_eq!(again.ip_rel_memory_address(), 0x1017);
    assert_eq!(again.immediate8(), 7);
    assert_eq!(site.relocated(Address(0x1_0000_0000)), None);
    // lea eax, [eip + 0x10]: 32 bits wrap around.
    let short = planned(&[0x67, 0x8d, 0x05, 0x10, 0, 0, 0]);
    let far = Address(0xf_0000_0000);
    let moved = short.relocated(far).expect("code");
    let again = crate::instructions::decode(far, &moved.bytes).expect("an instruction");
    assert_eq!(again.ip_rel_memory_address(), 0x1017);
}

#[test]
fn a_branch_back_to_the_place_leads_to_the_jump_there() {
    // 0: dec rdi; 3: jne 0; 5: ret
    let site = planned(&[0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3]);
    let moved = site.relocated(NEAR).expect("code");
    assert_eq!(positions(&moved), [(0, 0, 0), (3, 3, 0), (9, 5, 0)]);
    assert_eq!(target(&moved, NEAR, 3), 0x1000);
    assert_eq!(target(&moved, NEAR, 9), 0x1005);
    // Far from there, the jump is taken by a constant: jne taken; jmp skip; taken: jmp [place]; skip: jmp [behind]
    let far = Address(0x10_0000_0000);
    let moved = site.relocated(far).expect("code");
    assert_eq!(moved.bytes[3..9], [0x75, 0x02, 0xeb, 0x06, 0xff, 0x25]);
    assert_eq!(
        positions(&moved),
        [(0, 0, 0), (3, 3, 0), (5, 5, 0), (7, 0, 0), (13, 5, 0)]
    );
    assert_eq!(target(&moved, far, 7), 0x1000);
    assert_eq!(target(&moved, far, 13), 0x1005);
    assert_eq!(site.entry_of(&moved, START), Some(0));
}

#[test]
fn branches_with_short_distances_only_are_expanded() {
    // 0: dec rax; 3: loop 0x20; with a prefix: loop by ecx
    for branch in [
        &[0xe2, 0x1b][..],
        &[0xe1, 0x1b],
        &[0xe0, 0x1b],
        &[0xe3, 0x1b],
        &[0x67, 0xe3, 0x1a],
    ] {
        let bytes = [&[0x48, 0xff, 0xc8], branch].concat();
        let site = planned(&bytes);
        let moved = site.relocated(NEAR).expect("code");
        let size = branch.len();
        assert_eq!(moved.bytes[3..2 + size], branch[..size - 1]);
        assert_eq!(moved.bytes[2 + size..5 + size], [2, 0xeb, 5]);
        let end = 3 + size as u64;
        let signed = end.cast_signed();
        assert_eq!(
            positions(&moved),
            [
                (0, 0, 0),
                (3, 3, 0),
                (end, signed, 0),
                (end + 2, 0x20, 0),
                (end + 7, signed, 0)
            ]
        );
        assert_eq!(target(&moved, NEAR, 5 + size), 0x1020);
        assert_eq!(target(&moved, NEAR, 10 + size), 0x1000 + end);
    }
}

#[test]
fn a_call_leaves_the_return_address_of_its_place() {
    // 0: nop; 1: call 0x1106
    let site = planned(&[0x90, 0xe8, 0, 1, 0, 0]);
    assert!(site.ends_in_call());
    let moved = site.relocated(NEAR).expect("code");
    assert_eq!(positions(&moved), [(0, 0, 0), (1, 1, 0), (7, 1, 8)]);
    assert_eq!(moved.bytes[1..3], [0xff, 0x35]);
    assert_eq!(target(&moved, NEAR, 1), 0x1006);
    assert_eq!(target(&moved, NEAR, 7), 0x1106);
    // The jump is the last instruction; the constant is behind it.
    assert_eq!(moved.bytes.len(), 16 + 8);
    let far = Address(0x10_0000_0003);
    let moved = site.relocated(far).expect("code");
    assert_eq!(target(&moved, far, 1), 0x1006);
    assert_eq!(target(&moved, far, 7), 0x1106);
}

#[test]
fn an_indirect_call_leads_where_it_led() {
    // What comes behind `push [rip + return address]`.
    for (call, jump) in [
        // call rax → jmp rax, with `notrack`
        (&[0xff, 0xd0][..], &[0xff, 0xe0][..]),
        (&[0x3e, 0xff, 0xd0], &[0x3e, 0xff, 0xe0]),
        (&[0x41, 0xff, 0xd3], &[0x41, 0xff, 0xe3]),
        // call [rax + 8*rcx + 16] → jmp
        (&[0xff, 0x54, 0xc8, 0x10], &[0xff, 0x64, 0xc8, 0x10]),
        // call fs:[0x10] → jmp
        (
            &[0x64, 0xff, 0x14, 0x25, 0x10, 0, 0, 0],
            &[0x64, 0xff, 0x24, 0x25, 0x10, 0, 0, 0],
        ),
        // call [rsp] → jmp [rsp + 8]
        (&[0xff, 0x14, 0x24], &[0xff, 0xa4, 0x24, 8, 0, 0, 0]),
        // call [rsp + 127] → jmp [rsp + 135]
        (&[0xff, 0x54, 0x24, 0x7f], &[0xff, 0xa4, 0x24, 135, 0, 0, 0]),
        // call [rsp + 8*rax + 16] → jmp [rsp + 8*rax + 24]
        (
            &[0xff, 0x54, 0xc4, 0x10],
            &[0xff, 0xa4, 0xc4, 0x18, 0, 0, 0],
        ),
    ] {
        let bytes = [&[0x90, 0x90, 0x90], call].concat();
        let moved = planned(&bytes).relocated(NEAR).expect("code");
        assert_eq!(moved.bytes[9..9 + jump.len()], *jump, "{call:x?}");
        let end = START.0 + bytes.len() as u64;
        assert_eq!(target(&moved, NEAR, 3), end, "{call:x?}");
        assert_eq!(positions(&moved)[3..], [(3, 3, 0), (9, 3, 8)]);
    }
    // call [rip + 0x10]
    let site = planned(&[0xff, 0x15, 0x10, 0, 0, 0]);
    let moved = site.relocated(NEAR).expect("code");
    assert_eq!(moved.bytes[6..8], [0xff, 0x25]);
    let here = NEAR.offset(6);
    let jump = crate::instructions::decode(here, &moved.bytes[6..]).expect("a jump");
    assert_eq!(jump.ip_rel_memory_address(), 0x1016);
    assert_eq!(site.relocated(Address(0x1_0000_0000)), None);
}

fn dead(bytes: &[u8]) -> bool {
    flags_are_dead(START, &code(bytes))
}

#[test]
fn flags_are_dead_where_all_paths_overwrite_them() {
    // mov eax, 1; add eax, ecx
    assert!(dead(&[0xb8, 1, 0, 0, 0, 0x01, 0xc8]));
    // ret; call; call rax; a jump to another function
    assert!(dead(&[0xc3]));
    assert!(dead(&[0xe8, 0, 1, 0, 0]));
    assert!(dead(&[0xff, 0xd0]));
    assert!(dead(&[0xe9, 0, 1, 0, 0]));
    // 0: jrcxz 4; 2: xor eax, eax; 4: ret
    assert!(dead(&[0xe3, 0x02, 0x31, 0xc0, 0xc3]));
    // 0: jrcxz 4; 2: xor eax, eax; 4: setc al
    assert!(!dead(&[0xe3, 0x02, 0x31, 0xc0, 0x0f, 0x92, 0xc0]));
    // 0: mov eax, ecx; 2: jmp 0
    assert!(dead(&[0x89, 0xc8, 0xeb, 0xfc]));
    // cmp eax, ecx; jb …: it reads what was just written.
    assert!(dead(&[0x39, 0xc8, 0x72, 0x10]));
    // 0: jmp to a cold part, which reads.
    let hot = [0xe9, 0xfb, 0x0f, 0, 0];
    let ranges = |cold: &'static [u8]| {
        [
            code(&hot)[0],
            Code {
                start: Address(0x2000),
                bytes: cold,
            },
        ]
    };
    assert!(!flags_are_dead(START, &ranges(&[0x74, 0x10])));
    assert!(flags_are_dead(START, &ranges(&[0x31, 0xc0])));
}

#[test]
fn flags_are_live_where_they_may_be_read() {
    for bytes in [
        // je; jb; setl; cmovo; adc; sbb; rcl by 1; loope; pushf; lahf
        &[0x74, 0x10][..],
        &[0x72, 0x10],
        &[0x0f, 0x9c, 0xc0],
        &[0x0f, 0x40, 0xc1],
        &[0x11, 0xc8],
        &[0x19, 0xc8],
        &[0xd1, 0xd0],
        &[0xe1, 0x10],
        &[0x9c],
        &[0x9f],
        // Not all are overwritten: inc keeps the carry; stc only sets it; rol writes two.
        &[0xff, 0xc0, 0x72, 0x10],
        &[0xf9, 0x74, 0x10],
        &[0xc1, 0xc0, 3, 0x74, 0x10],
        // None may be: shl eax, cl; shl eax, 32; shld eax, ecx, cl; repe cmpsb
        &[0xd3, 0xe0, 0x74, 0x10],
        &[0xc1, 0xe0, 0x20, 0x74, 0x10],
        &[0x0f, 0xa5, 0xc8, 0x74, 0x10],
        &[0xf3, 0xa6, 0x74, 0x10],
        // Nothing is known: jmp rax; syscall; int3; ud2; hlt; the end; what isn't an instruction
        &[0xff, 0xe0],
        &[0x0f, 0x05, 0x31, 0xc0],
        &[0xcc, 0x31, 0xc0],
        &[0x0f, 0x0b],
        &[0xf4, 0x31, 0xc0],
        &[0x90],
        &[0x06],
        // A call within the function.
        &[0xe8, 0, 0, 0, 0, 0x58, 0xc3],
    ] {
        let mut code = bytes.to_vec();
        if bytes.len() > 1 {
            // What comes behind overwrites all.
            code.extend([0x31, 0xc0, 0xc3]);
        }
        assert!(!dead(&code), "{bytes:x?}");
    }
    // inc eax; stc: together all.
    assert!(dead(&[0xff, 0xc0, 0xf9, 0x72, 0x10]));
    // shl eax, 3
    assert!(dead(&[0xc1, 0xe0, 3, 0x74, 0x10]));
    // cmpsb without a prefix
    assert!(dead(&[0xa6, 0x74, 0x10]));
    // More than the limit.
    let long = |nops| [vec![0x90; nops], vec![0x31, 0xc0]].concat();
    assert!(dead(&long(63)));
    assert!(!dead(&long(64)));
    assert!(!flags_are_dead(Address(0x500), &code(&[0xc3])));
}

#[test]
fn a_short_instruction_is_replaced_by_a_jump_that_ends_in_the_next_one() {
    // addl $1, -16(%rbp); mov eax, [rip + 0x2cba]
    let code = [0x83, 0x45, 0xf0, 0x01, 0x8b, 0x05, 0xba, 0x2c, 0, 0];
    let site = plan_short(START, &code).expect("it fits");
    assert_eq!(
        (site.length, site.covered(), site.end()),
        (4, 5, START.offset(4))
    );
    let targets = site.targets().expect("some");
    assert_eq!(targets.end.0 - targets.start.0, 1 << 24);
    for to in [targets.start, targets.end.offset(-1)] {
        assert_eq!(jump(START, to).map(|jump| jump[4]), Some(0x8b), "{to}");
    }
    assert_ne!(jump(START, targets.end).map(|jump| jump[4]), Some(0x8b));
    let moved = site.relocated(targets.start).expect("code");
    assert_eq!(moved.bytes[..4], code[..4]);
    assert_eq!(target(&moved, targets.start, 4), START.0 + 4);
    // Of three bytes, with 0x10 and 0x24 behind them; of two; a call of three bytes; and one at the end of the code.
    let three = plan_short(START, &[0x48, 0x89, 0xc8, 0x10, 0x24]).expect("it fits");
    let targets = three.targets().expect("some");
    assert_eq!(
        targets,
        Address(START.0 + 5 + 0x2410_0000)..Address(START.0 + 5 + 0x2411_0000)
    );
    for unfit in [
        &[0x89, 0xc8, 0x10, 0x24, 0x90][..],
        &[0xff, 0x50, 0x10, 0x90, 0x90],
        &code[..4],
    ] {
        assert!(plan_short(START, unfit).is_err(), "{unfit:x?}");
    }
}
