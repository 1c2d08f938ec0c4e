//! Emulated instructions that load a register do what the processor does.

use crate::thread::{Registers, Room, STATUS_FLAGS};
use dapple_arch::emulate::emulate_load;
use dapple_arch::instructions::decode;
use dapple_arch::registers::user::UserRegisters;
use dapple_arch::{Address, Machine};

/// Where the data is: in this register, and at its middle.
const BASE: usize = 3;
const MIDDLE: u64 = 2048;

/// Registers with different contents. Two are addresses: of the data, and of the stack.
fn registers(room: &Room) -> Registers {
    let mut general = [0x0123_4567_89ab_cdef_u64; 16];
    for (number, value) in (1..).zip(&mut general) {
        *value = value.rotate_left(4 * number) ^ u64::from(number);
    }
    general[BASE] = room.data + MIDDLE;
    general[7] = room.stack;
    Registers {
        general,
        flags: 0x8d5,
        ..Registers::default()
    }
}

/// What is emulated of an instruction at the beginning of the room's code, as the processor's registers.
fn emulated(room: &Room, code: &[u8], before: &Registers) -> Option<(Registers, Address)> {
    let mut registers = UserRegisters::of(Machine::X86_64);
    for (number, value) in (0..).zip(before.general) {
        assert!(registers.set(number, value));
    }
    let at = Address(room.code);
    registers.set_pc(at);
    let after = emulate_load(&decode(at, code)?, &registers, room)?;
    let dwarf = after.to_dwarf();
    let mut result = *before;
    for (number, value) in (0..).zip(&mut result.general) {
        *value = dwarf.get(number)?;
    }
    Some((result, after.pc()))
}

/// Compares an instruction's effect. Returns whether it is emulated.
fn agrees(room: &Room, code: &[u8]) -> bool {
    let before = registers(room);
    let Some((found, pc)) = emulated(room, code, &before) else {
        return false;
    };
    let after = room.execute(code, &before);
    assert_eq!(found.general, after.general, "{code:x?}");
    assert_eq!(after.flags & STATUS_FLAGS, before.flags, "{code:x?}");
    assert_eq!(pc, Address(room.code + code.len() as u64), "{code:x?}");
    true
}

/// Opcodes whose second operand is in register or memory, without prefixes: moves of 1 and of more bytes, with zeros or signs above, addresses.
const OPCODES: [&[u8]; 8] = [
    &[0x8a],
    &[0x8b],
    &[0x0f, 0xb6],
    &[0x0f, 0xb7],
    &[0x0f, 0xbe],
    &[0x0f, 0xbf],
    &[0x63],
    &[0x8d],
];

#[test]
fn each_form_of_a_load_does_what_the_processor_does() {
    let room = Room::new();
    let data: Vec<u8> = (0..=255_u8).map(|byte| byte.wrapping_mul(167)).collect();
    for place in (0..4096).step_by(data.len()) {
        room.write(room.data + place, &data);
    }
    let mut emulated = 0;
    for opcode in OPCODES {
        // Its size, and the upper halves of the registers' numbers.
        for prefix in [None, Some(0x66)] {
            for rex in [
                None,
                Some(0x40),
                Some(0x44),
                Some(0x48),
                Some(0x4c),
                Some(0x4d),
            ] {
                for destination in [0_u8, 1, 2, 5, 6] {
                    let start: Vec<u8> = prefix
                        .into_iter()
                        .chain(rex)
                        .chain(opcode.iter().copied())
                        .collect();
                    let form = |modrm: u8, rest: &[u8]| {
                        let middle = [modrm | destination << 3];
                        [&start[..], &middle, rest].concat()
                    };
                    let is_rbx = rex.is_none_or(|rex| rex & 1 == 0);
                    for source in [0, 2, 5, 6] {
                        emulated += usize::from(agrees(&room, &form(0xc0 | source, &[])));
                    }
                    if is_rbx {
                        // [rbx], [rbx - 128], [rbx + 1000]
                        emulated += usize::from(agrees(&room, &form(0x03, &[])));
                        emulated += usize::from(agrees(&room, &form(0x43, &[0x80])));
                        emulated += usize::from(agrees(&room, &form(0x83, &[0xe8, 3, 0, 0])));
                    }
                    // [rip + 64], within the code
                    emulated += usize::from(agrees(&room, &form(0x05, &[64, 0, 0, 0])));
                }
            }
        }
    }
    // Of 3600: all but 240 with the address of a register, which doesn't exist, and 84 with `ch` or `dh`.
    assert_eq!(emulated, 3276);
}

#[test]
fn constants_extensions_and_scaled_indices() {
    let room = Room::new();
    let loads: [&[u8]; 8] = [
        // mov eax, -2; mov rax, -2; mov rcx, a constant of 8 bytes; mov al, 7; mov r9w, 7
        &[0xb8, 0xfe, 0xff, 0xff, 0xff],
        &[0x48, 0xc7, 0xc0, 0xfe, 0xff, 0xff, 0xff],
        &[0x48, 0xb9, 1, 2, 3, 4, 5, 6, 7, 0xf8],
        &[0xb0, 7],
        &[0x66, 0x41, 0xb9, 7, 0],
        // cdqe
        &[0x48, 0x98],
        // lea rax, [rbx + rcx * 8 - 5]; lea eax, [rcx * 4 + 1000]
        &[0x48, 0x8d, 0x44, 0xcb, 0xfb],
        &[0x8d, 0x04, 0x8d, 0xe8, 3, 0, 0],
    ];
    for code in loads {
        assert!(agrees(&room, code), "{code:x?}");
    }
}

#[test]
fn what_is_no_load_is_left_to_the_processor() {
    let room = Room::new();
    let others: [&[u8]; 9] = [
        // mov [rbx], eax; add eax, [rbx]; mov ax, ds; mov rax, cr0; mov rax, fs:[0]; mov ah, [rbx]; mov al, ah
        &[0x89, 0x03],
        &[0x03, 0x03],
        &[0x66, 0x8c, 0xd8],
        &[0x0f, 0x20, 0xc0],
        &[0x64, 0x48, 0x8b, 4, 0x25, 0, 0, 0, 0],
        &[0x8a, 0x23],
        &[0x88, 0xe0],
        // movss xmm0, [rbx]; mov rax, [0]
        &[0xf3, 0x0f, 0x10, 0x03],
        &[0x48, 0x8b, 4, 0x25, 0, 0, 0, 0],
    ];
    let before = registers(&room);
    for code in others {
        assert!(emulated(&room, code, &before).is_none(), "{code:x?}");
    }
}
