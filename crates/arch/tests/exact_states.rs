//! The code that finds one state of a thread, run in this process.

use crate::thread::{Registers, Room, STACK, STATUS_FLAGS, comparable, go_on};
use dapple_arch::Address;
use dapple_arch::decision::{Exact, MOST_PIECES, PASSES, Refused, compile_exact};
use proptest::prelude::*;

/// How far what the code keeps is from it.
const KEPT: u64 = 0x8_0000;

/// What is different of a thread.
#[derive(Debug, Clone, Copy)]
enum Difference {
    None,
    Register(u16, u64),
    Memory(usize, u8),
    /// It can't be read.
    NoMemory,
}

fn difference() -> impl Strategy<Value = Difference> {
    prop_oneof![
        2 => Just(Difference::None),
        3 => (0_u16..16, 0_u32..64).prop_map(|(register, bit)| Difference::Register(register, 1 << bit)),
        2 => (0_usize..64, 1_u8..).prop_map(|(byte, change)| Difference::Memory(byte, change)),
        1 => Just(Difference::NoMemory),
    ]
}

/// Has code look for a state, and a thread come that is in it, but for a difference.
fn check(
    room: &Room,
    registers: [u64; 16],
    flags: u64,
    difference: Difference,
    steps: bool,
) -> Result<(), TestCaseError> {
    let mut wanted = registers;
    wanted[7] = room.stack - 8 * (wanted[7] % 32);
    let data: Vec<u8> = (0..64).collect();
    room.write(room.data, &data);
    let mut memory: Vec<(Address, u32)> = { data.chunks(4).zip(0..) }
        .map(|(piece, index)| {
            let piece = u32::from_le_bytes(piece.try_into().unwrap());
            (Address(room.data + 4 * index), piece)
        })
        .collect();
    let mut now = wanted;
    match difference {
        Difference::None => {}
        // Its stack has to be one.
        Difference::Register(7, _) => now[7] -= 8,
        Difference::Register(number, bits) => now[usize::from(number)] ^= bits,
        Difference::Memory(byte, change) => {
            room.write(room.data + byte as u64, &[data[byte] ^ change]);
        }
        Difference::NoMemory => memory.push((Address(room.data + 4096), 0)),
    }
    let trampoline = compile_exact(&Exact {
        counts: false,
        registers: Some(wanted),
        memory: &memory,
        at: Address(room.code),
        kept: Address(room.code + KEPT),
        go_on: &go_on,
    });
    let trampoline = trampoline.expect("code");
    room.write(room.code, &trampoline.bytes);
    let stack: Vec<u8> = (0..2 * STACK).map(|it| (it % 3) as u8).collect();
    let stack_from = room.stack - STACK as u64;
    room.write(stack_from, &stack);
    let before = Registers {
        general: now,
        flags,
        mxcsr: 0x1f80,
        ..Registers::default()
    };

    let (after, seen) = room.run(&trampoline, room.code, &before, true, steps);

    prop_assert!(seen.wrong.is_empty(), "{:#?}", seen.wrong);
    prop_assert_eq!(comparable(after, true), comparable(before, true));
    prop_assert_eq!(seen.asked, matches!(difference, Difference::None));
    prop_assert_eq!(seen.faulted, matches!(difference, Difference::NoMemory));
    if !steps && !seen.faulted {
        // Stepping and faulting have a signal's frame written there.
        prop_assert_eq!(room.bytes(stack_from, stack.len()), stack);
    }
    Ok(())
}

#[test]
fn only_a_thread_in_the_wanted_state_asks_and_all_stays_as_it_was() {
    let room = Room::new();
    let inputs = (
        prop::array::uniform16(any::<u64>()),
        any::<u64>(),
        difference(),
        any::<bool>(),
    );
    let mut runner = proptest::test_runner::TestRunner::default();
    let done = runner.run(&inputs, |(registers, flags, difference, steps)| {
        check(&room, registers, flags & STATUS_FLAGS, difference, steps)
    });
    if let Err(error) = done {
        panic!("{error}");
    }
}

#[test]
fn too_much_memory_is_refused() {
    let memory = vec![(Address(0x1000), 0); MOST_PIECES + 1];
    let refused = compile_exact(&Exact {
        counts: false,
        registers: Some([0; 16]),
        memory: &memory,
        at: Address(0x10_0000),
        kept: Address(0x10_8000),
        go_on: &go_on,
    });
    assert_eq!(refused, Err(Refused::TooLarge));
}

#[test]
fn the_pass_with_the_wanted_number_asks() {
    let room = Room::new();
    let kept = Address(room.code + KEPT);
    let registers = Registers {
        general: std::array::from_fn(|number| {
            if number == 7 {
                room.stack
            } else {
                number as u64
            }
        }),
        flags: STATUS_FLAGS,
        mxcsr: 0x1f80,
        ..Registers::default()
    };
    let mut other = registers.general;
    other[3] += 1;
    // Another state, or none, is looked for meanwhile.
    for wanted in [Some(other), None] {
        let trampoline = compile_exact(&Exact {
            counts: true,
            registers: wanted,
            memory: &[],
            at: Address(room.code),
            kept,
            go_on: &go_on,
        });
        let trampoline = trampoline.expect("code");
        room.write(room.code, &trampoline.bytes);
        room.write(kept.0 + PASSES, &3_u64.to_le_bytes());
        for pass in 1..5 {
            let (after, seen) = room.run(&trampoline, room.code, &registers, true, pass % 2 == 0);
            assert!(seen.wrong.is_empty(), "{:#?}", seen.wrong);
            assert_eq!(comparable(after, true), comparable(registers, true));
            assert_eq!(seen.asked, pass == 3);
        }
    }
}
