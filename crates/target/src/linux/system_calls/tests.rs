//! Calls whose outputs are hard to say, in a made-up memory. The calls of real programs are compared with the kernel in
//! `tests/system_calls.rs`.

use super::*;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The highest number that is known (listns).
const NEWEST: u64 = 470;

/// A memory of 8-byte words; the others can't be read.
#[derive(Default)]
struct Words(RefCell<BTreeMap<u64, u64>>);

impl Words {
    fn of(words: &[(u64, u64)]) -> Words {
        Words(RefCell::new(words.iter().copied().collect()))
    }

    fn set(&self, at: u64, word: u64) {
        self.0.borrow_mut().insert(at, word);
    }

    fn read(&self, at: Address, buffer: &mut [u8]) -> bool {
        let words = self.0.borrow();
        let word = words.get(&(at.0 & !7)).map(|word| word.to_le_bytes());
        let start = (at.0 & 7) as usize;
        let bytes = word
            .as_ref()
            .and_then(|word| word.get(start..start + buffer.len()));
        bytes.map(|bytes| buffer.copy_from_slice(bytes)).is_some()
    }
}

fn arguments(given: &[u64]) -> [u64; 6] {
    let mut arguments = [0; 6];
    arguments[..given.len()].copy_from_slice(given);
    arguments
}

fn call(number: i64, given: &[u64], memory: &Words) -> Call {
    let read = |at: Address, buffer: &mut [u8]| memory.read(at, buffer);
    Call::entered(number.cast_unsigned(), arguments(given), &read)
}

fn written(call: &Call, result: i64, memory: &Words) -> Vec<(u64, u64)> {
    let read = |at: Address, buffer: &mut [u8]| memory.read(at, buffer);
    let effects = call.effects(result, &read).expect("known");
    let pairs = effects
        .written
        .iter()
        .map(|range| (range.start.0, range.end.0 - range.start.0));
    pairs.collect()
}

fn what(number: i64, given: &[u64], result: i64) -> Result<Kind, Unknown> {
    let call = call(number, given, &Words::default());
    call.effects(result, &|_, _| false)
        .map(|effects| effects.what)
}

#[test]
fn buffers_are_filled_one_after_the_other_up_to_the_result() {
    let memory = Words::of(&[
        (64, 1000),
        (72, 10),
        (80, 0),
        (88, 0),
        (96, 2000),
        (104, 100),
    ]);
    let readv = call(libc::SYS_readv, &[3, 64, 3], &memory);
    assert_eq!(written(&readv, 4, &memory), [(1000, 4)]);
    assert_eq!(written(&readv, 30, &memory), [(1000, 10), (2000, 20)]);
    assert_eq!(written(&readv, 5000, &memory), [(1000, 10), (2000, 100)]);
    assert_eq!(written(&readv, 0, &memory), []);
    assert_eq!(written(&readv, -4, &memory), []);
}

#[test]
fn what_the_program_changes_during_the_call_does_not_move_its_buffers() {
    let memory = Words::of(&[(64, 1000), (72, 10)]);
    let readv = call(libc::SYS_readv, &[3, 64, 1], &memory);
    memory.set(64, 5000);
    assert_eq!(written(&readv, 10, &memory), [(1000, 10)]);
}

#[test]
fn arrays_that_the_kernel_refuses_or_that_cannot_be_read_are_bounded() {
    let memory = Words::default();
    let many = call(libc::SYS_readv, &[3, 64, u64::MAX], &memory);
    assert_eq!(written(&many, -22, &memory), []);
    let unreadable = call(libc::SYS_readv, &[3, 64, 2], &memory);
    assert_eq!(written(&unreadable, -14, &memory), []);
    let effects = unreadable.effects(5, &|_, _| false);
    assert_eq!(effects, Err(Unknown::Unreadable("readv")));
    // 1024 messages of 1024 buffers each.
    let endless = |_: Address, buffer: &mut [u8]| {
        let word = 1024_u64.to_le_bytes();
        buffer.copy_from_slice(&word[..buffer.len()]);
        true
    };
    let messages = Call::entered(
        libc::SYS_recvmmsg as u64,
        arguments(&[3, 64, u64::MAX]),
        &endless,
    );
    let effects = messages.effects(5, &endless);
    assert_eq!(effects, Err(Unknown::TooMany("recvmmsg")));
}

#[test]
fn an_address_has_what_the_room_and_the_kernel_say() {
    let memory = Words::of(&[(64, 128)]);
    let accept = call(libc::SYS_accept, &[3, 1000, 64], &memory);
    memory.set(64, 16);
    assert_eq!(written(&accept, 4, &memory), [(1000, 16), (64, 4)]);
    // The kernel says how long it would have been.
    memory.set(64, 500);
    assert_eq!(written(&accept, 4, &memory), [(1000, 128), (64, 4)]);
    assert_eq!(written(&accept, -11, &memory), []);
    let unwanted = call(libc::SYS_accept, &[3, 0, 0], &memory);
    assert_eq!(written(&unwanted, 4, &memory), []);
}

#[test]
fn errors_write_where_the_kernel_does() {
    let memory = Words::default();
    const INTERRUPTED: i64 = -4;
    const RESTARTED: i64 = -516;
    let sleep = call(libc::SYS_nanosleep, &[64, 1000], &memory);
    assert_eq!(written(&sleep, INTERRUPTED, &memory), [(1000, 16)]);
    assert_eq!(written(&sleep, RESTARTED, &memory), [(1000, 16)]);
    assert_eq!(written(&sleep, -14, &memory), []);
    let wait = call(libc::SYS_waitid, &[0, 0, 1000, 4, 2000], &memory);
    assert_eq!(written(&wait, -10, &memory), [(1000, 28)]);
    assert_eq!(written(&wait, 0, &memory), [(1000, 28), (2000, 144)]);
    let select = call(libc::SYS_select, &[65, 1000, 0, 2000, 3000], &memory);
    assert_eq!(
        written(&select, 0, &memory),
        [(1000, 16), (2000, 16), (3000, 16)]
    );
    assert_eq!(written(&select, INTERRUPTED, &memory), [(3000, 16)]);
}

#[test]
fn results_are_bounded_by_the_room() {
    let memory = Words::default();
    let read = call(libc::SYS_read, &[0, 1000, 10], &memory);
    assert_eq!(written(&read, 1 << 40, &memory), [(1000, 10)]);
    // recv(2) with MSG_TRUNC.
    let received = call(libc::SYS_recvfrom, &[0, 1000, 10, 0x20], &memory);
    assert_eq!(written(&received, 100, &memory), [(1000, 10)]);
    // The end of the address space.
    let far = call(libc::SYS_read, &[0, u64::MAX - 4, u64::MAX], &memory);
    assert_eq!(written(&far, 100, &memory), [(u64::MAX - 4, 4)]);
    let poll = call(libc::SYS_poll, &[1000, 3 | 7 << 32, 0], &memory);
    assert_eq!(written(&poll, 0, &memory), [(1000, 24)]);
}

#[test]
fn commands_are_known_by_their_numbers() {
    let memory = Words::default();
    let size = call(libc::SYS_ioctl, &[1, libc::TIOCGWINSZ, 1000], &memory);
    assert_eq!(size.name(), Some("TIOCGWINSZ"));
    assert_eq!(written(&size, 0, &memory), [(1000, 8)]);
    let unknown = call(libc::SYS_ioctl, &[1, 0x1234_5678, 1000], &memory);
    assert_eq!((unknown.name(), unknown.may_block()), (Some("ioctl"), true));
    assert_eq!(written(&unknown, -i64::from(libc::ENOTTY), &memory), []);
    let error = unknown.effects(0, &|_, _| false).expect_err("unknown");
    assert_eq!(error.to_string(), "ioctl 0x12345678");
    let none = call(100_000, &[], &memory);
    assert_eq!(written(&none, -i64::from(libc::ENOSYS), &memory), []);
    let error = none.effects(0, &|_, _| false).expect_err("unknown");
    assert_eq!(error.to_string(), "system call 100000");
    // FUTEX_WAIT with FUTEX_PRIVATE_FLAG.
    let futex = call(libc::SYS_futex, &[64, 128, 1], &memory);
    assert_eq!(
        (futex.name(), futex.may_block()),
        (Some("FUTEX_WAIT"), true)
    );
    assert!(!call(libc::SYS_futex, &[64, 129, 1], &memory).may_block());
}

#[test]
fn whether_a_call_may_wait_depends_on_its_arguments() {
    let memory = Words::of(&[(64, libc::CLONE_VFORK as u64), (72, 0), (80, 0), (88, 0)]);
    let may_block = |number, given: &[u64]| call(number, given, &memory).may_block();
    assert!(!may_block(libc::SYS_getpid, &[]));
    assert!(may_block(libc::SYS_poll, &[1000, 1, u64::MAX]));
    assert!(!may_block(libc::SYS_poll, &[1000, 1, 0]));
    assert!(may_block(libc::SYS_wait4, &[u64::MAX, 0, 0]));
    assert!(!may_block(libc::SYS_wait4, &[u64::MAX, 0, 1]));
    assert!(may_block(libc::SYS_recvfrom, &[3, 1000, 10, 0]));
    assert!(!may_block(libc::SYS_recvfrom, &[3, 1000, 10, 0x40]));
    assert!(!may_block(libc::SYS_clone, &[libc::CLONE_THREAD as u64]));
    assert!(may_block(libc::SYS_clone3, &[64, 88]));
}

#[test]
fn the_ranges_of_an_error_are_bounded() {
    // `struct fiemap` with room for 4,294,967,295 extents.
    let memory = Words::of(&[(1016, u64::MAX), (1024, u64::MAX)]);
    let extents = call(libc::SYS_ioctl, &[3, 0xc020_660b, 1000], &memory);
    assert_eq!(written(&extents, -25, &memory), [(1000, 1 << 20)]);
    // Two were written.
    memory.set(1016, 2 << 32);
    assert_eq!(written(&extents, 0, &memory), [(1000, 32 + 2 * 56)]);
}

#[test]
fn what_a_call_does_beside_writing_is_said() {
    let flags = (libc::MAP_SHARED | libc::MAP_FIXED) as u64;
    let mapped = what(libc::SYS_mmap, &[0, 5000, 3, flags, 7, 4096], 0x7000_0000);
    let Ok(Kind::Maps(mapped)) = mapped else {
        panic!("{mapped:?}");
    };
    assert_eq!(mapped.range, Address(0x7000_0000)..Address(0x7000_2000));
    assert_eq!((mapped.file, mapped.offset), (Some(7), 4096));
    assert!(mapped.is_shared_with_others());
    let anonymous = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS) as u64;
    let mapped = what(
        libc::SYS_mmap,
        &[0, 4096, 3, anonymous, u64::MAX, 0],
        0x1000,
    );
    assert!(matches!(mapped, Ok(Kind::Maps(Mapped { file: None, .. }))));
    assert_eq!(
        what(libc::SYS_mmap, &[0, 4096, 3, anonymous], -12),
        Ok(Kind::Plain)
    );
    let heap = what(libc::SYS_brk, &[0], 0x1234);
    assert_eq!(heap, Ok(Kind::Breaks(Address(0x1234))));
    let thread = what(libc::SYS_clone, &[libc::CLONE_THREAD as u64, 0, 0, 64], 5);
    assert!(matches!(
        thread,
        Ok(Kind::MakesThread(Created {
            id: 5,
            child_id: Address(64),
            ..
        }))
    ));
    let process = what(libc::SYS_fork, &[], 5);
    assert!(matches!(
        process,
        Ok(Kind::MakesProcess(Created {
            id: 5,
            flags: 0,
            ..
        }))
    ));
    // The result is the interrupted code's.
    assert_eq!(
        what(libc::SYS_rt_sigreturn, &[], -4),
        Ok(Kind::ReturnsFromHandler)
    );
    let area = what(libc::SYS_rseq, &[4096, 32, 0, 7], 0);
    assert_eq!(area, Ok(Kind::Rseq(Address(4096)..Address(4128))));
    let ring = what(libc::SYS_io_uring_setup, &[8, 64], 3);
    assert_eq!(ring, Ok(Kind::NotRecordable("io_uring_setup")));
}

#[test]
fn a_thread_that_clone3_makes_is_known_by_its_structure() {
    let thread = libc::CLONE_THREAD as u64;
    let memory = Words::of(&[(64, thread), (72, 0), (80, 1000), (88, 2000)]);
    let clone = call(libc::SYS_clone3, &[64, 88], &memory);
    assert_eq!(written(&clone, 5, &memory), [(1000, 4), (2000, 4)]);
    let effects = clone.effects(5, &|_, _| false).expect("known");
    let Kind::MakesThread(created) = effects.what else {
        panic!("{:?}", effects.what);
    };
    assert_eq!((created.id, created.child_id), (5, Address(1000)));
}

#[test]
fn no_arguments_and_no_memory_make_it_panic() {
    const VALUES: [u64; 9] = [0, 1, 3, 64, 1024, 0x5401, 0xffff_ffff, 1 << 63, u64::MAX];
    const RESULTS: [i64; 8] = [0, 1, 1000, i64::MAX, i64::MIN, -4, -14, -516];
    let calls = table::LISTS.iter().flat_map(|list| list.iter());
    let mut state = 1_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        state >> 33
    };
    for described in calls {
        let commands = described.commands.as_ref();
        let commands = commands.map_or(&[][..], |commands| commands.known);
        for round in 0..60 {
            let mut arguments = [0; 6].map(|_: u64| VALUES[next() as usize % VALUES.len()]);
            if let (Some(of), Some(known)) = (&described.commands, commands.get(round)) {
                arguments[of.argument] = known.number.into();
            }
            let word = VALUES[next() as usize % VALUES.len()].to_le_bytes();
            let memory = |_: Address, buffer: &mut [u8]| {
                buffer.copy_from_slice(&word[..buffer.len()]);
                round % 5 != 0
            };
            let call = Call::entered(described.number.into(), arguments, &memory);
            for result in RESULTS {
                let Ok(effects) = call.effects(result, &memory) else {
                    continue;
                };
                assert!(effects.written.iter().all(|range| range.start < range.end));
            }
        }
    }
}

/// The numbers of `asm/unistd_64.h`, where it is installed; newer calls than those that are known here aside.
#[test]
fn names_are_those_of_the_system_headers() {
    let places = [
        "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
        "/usr/include/asm/unistd_64.h",
    ];
    let header = places
        .iter()
        .find_map(|place| std::fs::read_to_string(place).ok());
    let header = header.unwrap_or_else(|| {
        println!("asm/unistd_64.h is not installed: nothing to compare with");
        String::new()
    });
    for line in header.lines() {
        let Some(definition) = line.strip_prefix("#define __NR_") else {
            continue;
        };
        let (wanted, number) = definition.split_once(' ').expect("a number");
        let number = number.trim().parse().expect("a number");
        if number <= NEWEST {
            assert_eq!(name(number), Some(wanted), "{number}");
        }
    }
}

#[test]
fn every_call_of_today_is_in_one_list_in_order() {
    for list in table::LISTS {
        let numbers: Vec<u32> = list.iter().map(|call| call.number).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    }
    let mut all: Vec<u32> = table::LISTS
        .iter()
        .flat_map(|list| list.iter())
        .map(|call| call.number)
        .collect();
    all.sort_unstable();
    let expected: Vec<u32> = (0..=336).chain(424..=NEWEST as u32).collect();
    assert_eq!(all, expected);
}
