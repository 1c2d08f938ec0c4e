//! Repeated instructions as bytes, and what they do to a few bytes of memory.

use super::*;

const AT: Address = Address(0x1000);
const MOVSB: &[u8] = &[0xf3, 0xa4];

/// With RCX, RSI and RDI.
fn state(left: u64, from: u64, to: u64) -> UserRegisters {
    let mut registers = UserRegisters::from_words([0; crate::registers::user::REGISTER_WORDS]);
    for (number, value) in [(RCX, left), (RSI, from), (RDI, to)] {
        registers.set(number, value);
    }
    registers.set_pc(AT);
    registers
}

fn going_down(mut registers: UserRegisters) -> UserRegisters {
    registers.set_flags(DOWN);
    registers
}

/// What becomes of memory.
fn done(memory: &mut [u8], code: &[u8], now: UserRegisters, later: UserRegisters) {
    let repeats = repeated(AT, code).expect("one").between(&now, &later);
    for part in repeats.expect("it comes to that").parts() {
        let mut bytes = part.bytes;
        if let Some(from) = part.from {
            let from = from.0 as usize..from.0 as usize + bytes.len();
            bytes.copy_from_slice(&memory[from]);
        }
        let to = part.to.0 as usize;
        memory[to..to + bytes.len()].copy_from_slice(&bytes);
    }
}

#[test]
fn a_repeated_instruction_is_one_with_usual_addresses() {
    assert!(repeated(AT, MOVSB).is_some());
    // repne scasb; rep stosq
    assert!(repeated(AT, &[0xf2, 0xae]).is_some());
    assert_eq!(repeated(AT, &[0xf3, 0x48, 0xab]).map(|it| it.size), Some(8));
    // movsb; rep movs with a segment; with addresses of 32 bits; pause; endbr64
    for other in [
        &[0xa4][..],
        &[0x64, 0xf3, 0xa4],
        &[0xf3, 0x67, 0xa4],
        &[0xf3, 0x90],
        &[0xf3, 0x0f, 0x1e, 0xfa],
    ] {
        assert_eq!(repeated(AT, other), None, "{other:x?}");
    }
}

#[test]
fn bytes_are_copied_one_by_one_as_the_processor_does() {
    let mut memory: Vec<u8> = (0..16).collect();
    done(&mut memory, MOVSB, state(6, 0, 8), state(2, 4, 12));
    assert_eq!(memory[6..14], [6, 7, 0, 1, 2, 3, 12, 13]);
    // What was written is read again.
    let mut memory: Vec<u8> = (0..16).collect();
    done(&mut memory, MOVSB, state(9, 0, 2), state(1, 8, 10));
    assert_eq!(memory[..12], [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 10, 11]);
    // Not if it lies the other way round.
    let mut memory: Vec<u8> = (0..16).collect();
    done(&mut memory, MOVSB, state(9, 2, 0), state(1, 10, 8));
    assert_eq!(memory[..10], [2, 3, 4, 5, 6, 7, 8, 9, 8, 9]);
    // Downwards, by words of 2 bytes.
    let mut memory: Vec<u8> = (0..16).collect();
    let (now, later) = (state(4, 8, 12), state(1, 2, 6));
    let movsw = &[0x66, 0xf3, 0xa5];
    done(&mut memory, movsw, going_down(now), going_down(later));
    assert_eq!(memory[6..16], [6, 7, 4, 5, 6, 7, 8, 9, 14, 15]);
}

#[test]
fn elements_are_filled_with_the_accumulator() {
    let mut memory = vec![0; 12];
    let (mut now, mut later) = (state(3, 7, 0), state(1, 7, 8));
    now.set(RAX, 0x0403_0201);
    later.set(RAX, 0x0403_0201);
    done(&mut memory, &[0xf3, 0xab], now, later);
    assert_eq!(memory, [1, 2, 3, 4, 1, 2, 3, 4, 0, 0, 0, 0]);
}

#[test]
fn what_is_not_between_two_states_of_the_instruction_is_told() {
    let movsb = repeated(AT, MOVSB).expect("one");
    let now = state(6, 0, 8);
    let mut other = state(2, 4, 12);
    assert!(movsb.between(&now, &other).is_some());
    other.set(3, 1);
    assert_eq!(movsb.between(&now, &other), None);
    for later in [
        state(6, 0, 8),
        state(7, 1, 9),
        state(2, 4, 11),
        state(2, 5, 12),
    ] {
        assert_eq!(movsb.between(&now, &later), None);
    }
    // A comparison changes flags, and memory doesn't change.
    let mut later = state(2, 4, 12);
    later.set_flags(0x44);
    assert_eq!(movsb.between(&now, &later), None);
    let cmpsb = repeated(AT, &[0xf3, 0xa6]).expect("one");
    let repeats = cmpsb.between(&now, &later).expect("it comes to that");
    assert_eq!(repeats.parts().count(), 0);
}

#[test]
fn what_is_watched_is_written_by_the_processor_itself() {
    let movsw = repeated(AT, &[0x66, 0xf3, 0xa5]).expect("one");
    let range = |start, end| Address(start)..Address(end);
    let (now, later) = (state(8, 0x100, 0x200), state(2, 0x10c, 0x20c));
    let repeats = movsw.between(&now, &later).expect("it comes to that");
    assert_eq!(repeats.written(), range(0x200, 0x20c));
    assert_eq!(repeats.after(now).to_words(), later.to_words());
    // Three elements come before the one that touches it.
    let part = repeats.before(&range(0x207, 0x208));
    assert_eq!(part.written(), range(0x200, 0x206));
    assert_eq!(
        part.after(now).to_words(),
        state(5, 0x106, 0x206).to_words()
    );
    assert_eq!(repeats.before(&range(0x1f8, 0x201)).parts().count(), 0);
    for elsewhere in [range(0x1f8, 0x200), range(0x20c, 0x210)] {
        assert_eq!(repeats.before(&elsewhere), repeats);
    }
    let (now, later) = (
        going_down(state(8, 0x110, 0x210)),
        going_down(state(2, 0x104, 0x204)),
    );
    let repeats = movsw.between(&now, &later).expect("it comes to that");
    assert_eq!(repeats.written(), range(0x206, 0x212));
    let part = repeats.before(&range(0x208, 0x20a));
    assert_eq!(part.written(), range(0x20a, 0x212));
}
