//! Compiled decisions do what `evaluate` says, and leave the thread as it was.

use crate::expressions::{POINTERS, constant, decision, pair};
use crate::thread::{Registers, Room, STACK, STATUS_FLAGS, comparable, go_on, thread_pointer};
use dapple_arch::Address;
use dapple_arch::decision::{
    Comparison, Counter, ExactOperation, Operation, RECORDS, RING_IS_FULL, Real, RealOperation,
    Record, Recorded, Refused, Request, Ring, SWITCH, SWITCHED, Saved, Sign, State, Then, Truth,
    Word, compile, evaluate, evaluate_recorded,
};
use proptest::prelude::*;

const FRAME_POINTER: u16 = 6;

/// What a random test begins with.
#[derive(Debug, Clone)]
struct Beginning {
    registers: Registers,
    data: Vec<u8>,
    keeps_flags: bool,
    then: Next,
    steps: bool,
}

/// What a thread does for which the condition holds.
#[derive(Debug, Clone)]
enum Next {
    Asks,
    /// How many passes each word has.
    Counts([i64; 8]),
    /// Used and limit.
    Records(u64, u64),
}

fn beginning() -> impl Strategy<Value = Beginning> {
    let word = prop_oneof![
        3 => constant(),
        2 => (-3_i32..4).prop_map(|it| (f64::from(it) / 2.0).to_bits()),
        1 => (-3_i32..4).prop_map(|it| u64::from((it as f32 / 2.0).to_bits())),
    ];
    let registers = (
        prop::array::uniform16(word.clone()),
        any::<u64>(),
        prop::array::uniform16((word.clone(), any::<u64>())),
        prop::sample::select(vec![0x1f80_u32, 0x9fc0, 0x0000, 0x7fbf, 0x3f80]),
        0_u64..16,
    );
    let registers = registers.prop_map(|(general, flags, sse, mxcsr, shift)| Registers {
        general: std::array::from_fn(|number| if number == 7 { shift } else { general[number] }),
        flags: flags & STATUS_FLAGS,
        sse: sse.map(|(low, high)| u128::from(low) | u128::from(high) << 64),
        mxcsr,
    });
    let data = prop::collection::vec(word, 512);
    let data = data.prop_map(|words| words.into_iter().flat_map(u64::to_le_bytes).collect());
    let passes = prop_oneof![3 => Just(0_i64), 1 => 1_i64..3, 1 => Just(i64::MAX)];
    let counts = prop::array::uniform8(passes);
    let far = 5 * RECORDS + 4;
    let records = (
        0_u64..3,
        0_u64..3,
        prop::sample::select(vec![0, RECORDS - 1, far]),
    );
    let then = prop_oneof![
        1 => Just(Next::Asks),
        2 => counts.prop_map(Next::Counts),
        1 => records.prop_map(|(used, limit, from)| Next::Records(from + used, from + limit)),
    ];
    (registers, data, any::<bool>(), then, any::<bool>()).prop_map(
        |(registers, data, keeps_flags, then, steps)| Beginning {
            registers,
            data,
            keeps_flags,
            then,
            steps,
        },
    )
}

/// How far the counter is from the code.
const COUNTER: u64 = 0x8_0000;

/// How far the ring is from the code.
const RING: u64 = 0x4_0000;
/// Who writes records.
const ID: u64 = 77;

fn words(counter: Counter) -> impl Iterator<Item = Address> {
    Counter::words().map(move |offset| Address(counter.at.0 + offset))
}

fn place<'a>(room: &Room, next: &Next, values: &'a [Recorded]) -> Then<'a> {
    let write = |at: Address, word: u64| room.write(at.0, &word.to_le_bytes());
    match next {
        Next::Asks => Then::Ask,
        Next::Counts(passes) => {
            let counter = Counter {
                at: Address(room.code + COUNTER),
            };
            for (word, passes) in words(counter).zip(passes) {
                write(word, passes.cast_unsigned());
            }
            Then::Count(counter)
        }
        Next::Records(used, limit) => {
            let ring = Ring {
                at: Address(room.code + RING),
            };
            write(ring.used(), *used);
            write(ring.limit(), *limit);
            room.write(ring.record(*used).0, &[0; Ring::RECORD as usize]);
            Then::Record(Record {
                ring,
                id: ID,
                values,
            })
        }
    }
}

/// Checks that a record has what was to be recorded.
fn check_record(room: &Room, ring: Ring, used: u64, values: &[u64]) -> Result<(), TestCaseError> {
    let bytes = room.bytes(ring.record(used).0, Ring::RECORD as usize);
    let mut words = bytes
        .chunks(8)
        .map(|it| u64::from_le_bytes(it.try_into().unwrap()));
    prop_assert_eq!(words.next(), Some(used + 1));
    prop_assert_eq!(words.next(), Some(ID));
    for value in values {
        let found = words.next().unwrap();
        let both = [found, *value].map(|it| f64::from_bits(it).is_nan());
        prop_assert!(found == *value || both == [true, true]);
    }
    prop_assert!(words.all(|word| word == 0));
    Ok(())
}

/// Runs a decision that records nothing.
fn check(room: &Room, truth: &Truth, beginning: &Beginning) -> Result<bool, TestCaseError> {
    check_recording(room, truth, &[], beginning)
}

/// Runs a decision once, and compares all that is seen with what `evaluate` says. Gives whether it asked.
fn check_recording(
    room: &Room,
    truth: &Truth,
    values: &[Recorded],
    beginning: &Beginning,
) -> Result<bool, TestCaseError> {
    let mut registers = beginning.registers;
    registers.general[7] += room.stack;
    for number in POINTERS {
        registers.general[usize::from(number)] = room.data + 1024;
    }
    room.write(room.data, &beginning.data);
    let stack: Vec<u8> = (0..2 * STACK).map(|it| (it % 3) as u8).collect();
    let stack_from = room.stack - STACK as u64;
    room.write(stack_from, &stack);
    let then = place(room, &beginning.then, values);
    let request = Request {
        truth,
        at: Address(room.code),
        keeps_flags: beginning.keeps_flags,
        then,
        go_on: &go_on,
    };
    let trampoline = match compile(&request) {
        Ok(trampoline) => trampoline,
        Err(Refused::TooLarge) => return Err(TestCaseError::reject("too large")),
        Err(error) => return Err(TestCaseError::fail(format!("{error:?}"))),
    };
    room.write(room.code, &trampoline.bytes);
    let sse = |number: u8| registers.sse[usize::from(number)] as u64;
    let general = |number: u16| registers.general[usize::from(number)];
    let expected = evaluate(truth, &general, &sse, thread_pointer(), room);
    let value = |it| evaluate_recorded(it, &general, &sse, thread_pointer(), room);
    let recorded: Option<Vec<u64>> = values.iter().map(value).collect();

    let (keeps_flags, steps) = (beginning.keeps_flags, beginning.steps);
    let (after, seen) = room.run(&trampoline, room.code, &registers, keeps_flags, steps);

    prop_assert!(seen.wrong.is_empty(), "{:#?}", seen.wrong);
    let (after, before) = (
        comparable(after, keeps_flags),
        comparable(registers, keeps_flags),
    );
    prop_assert_eq!(after, before);
    let kept = room.stack + beginning.registers.general[7] - 128 - stack_from;
    let stack_now = room.bytes(stack_from, stack.len());
    prop_assert_eq!(&stack_now[kept as usize..], &stack[kept as usize..]);
    let lowest = kept as usize - 512;
    prop_assert_eq!(&stack_now[..lowest], &stack[..lowest]);
    let mut counted = 0;
    match (expected, &beginning.then) {
        (None, next) => {
            prop_assert!(seen.asked || seen.faulted);
            if seen.asked {
                let why = matches!(next, Next::Records(..)).then_some(0);
                prop_assert_eq!(seen.why, why);
            }
        }
        (Some(false), _) => prop_assert!(!seen.asked && !seen.faulted),
        (Some(true), Next::Asks) => prop_assert!(seen.asked && !seen.faulted),
        (Some(true), Next::Counts(passes)) => {
            let none = passes.iter().all(|it| *it <= 0);
            counted = u64::from(!none);
            prop_assert_eq!((seen.asked, seen.faulted), (none, false));
        }
        (Some(true), Next::Records(..)) if recorded.is_none() => {
            prop_assert!(seen.asked || seen.faulted);
            if seen.asked {
                prop_assert_eq!(seen.why, Some(0));
            }
        }
        (Some(true), Next::Records(used, limit)) => {
            prop_assert_eq!((seen.asked, seen.faulted), (used >= limit, false));
            match seen.asked {
                true => prop_assert_eq!(seen.why, Some(RING_IS_FULL)),
                false => counted = 1,
            }
        }
    }
    let word = |at: Address| u64::from_le_bytes(room.bytes(at.0, 8).try_into().unwrap());
    match (then, &beginning.then) {
        (Then::Count(counter), Next::Counts(passes)) => {
            let before: i128 = passes.iter().map(|it| i128::from(*it)).sum();
            let after = words(counter).map(|it| i128::from(word(it).cast_signed()));
            prop_assert_eq!(after.sum::<i128>(), before - i128::from(counted));
            prop_assert!(words(counter).all(|it| word(it).cast_signed() >= 0));
        }
        (Then::Record(record), Next::Records(used, _)) => {
            prop_assert_eq!(word(record.ring.used()), used + counted);
            match counted {
                0 => prop_assert_eq!(word(record.ring.record(*used)), 0),
                _ => check_record(room, record.ring, *used, &recorded.unwrap_or_default())?,
            }
        }
        _ => {}
    }
    Ok(seen.asked)
}

#[test]
fn compiled_decisions_are_what_evaluate_says_and_leave_all_as_it_was() {
    // Strategies of expressions are deep.
    let builder = std::thread::Builder::new().stack_size(256 << 20);
    let thread = builder.spawn(random_decisions).expect("a thread");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

fn random_decisions() {
    let room = Room::new();
    let cases = std::env::var("PROPTEST_CASES").ok();
    let cases = cases.and_then(|it| it.parse().ok()).unwrap_or(1000);
    let mut config = ProptestConfig::with_cases(cases);
    config.failure_persistence = None;
    let mut runner = prop::test_runner::TestRunner::new(config);
    let outcome = runner.run(
        &(decision(), beginning()),
        |((truth, values), beginning)| {
            check_recording(&room, &truth, &values, &beginning).map(|_| ())
        },
    );
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

/// A variable of an integer type, relative to the frame pointer.
fn variable(offset: i64, size: u8, sign: Sign) -> Word {
    let by = Word::Constant(offset.cast_unsigned());
    let address = pair(Word::Register(FRAME_POINTER), by, |it| {
        Word::Operation(Operation::Add, it)
    });
    Word::Load {
        address: Box::new(address),
        size,
        sign,
    }
}

fn compared(comparison: Comparison, first: Word, second: Word) -> Truth {
    Truth::Words(comparison, Box::new((first, second)))
}

/// `x == 41`, of an `int` at `rbp - 0x14`.
fn plain() -> Truth {
    let x = variable(-0x14, 4, Sign::Signed);
    compared(Comparison::Equal, x, Word::Constant(41))
}

fn request(truth: &Truth) -> Request<'_> {
    Request {
        truth,
        at: Address(0x1000),
        keeps_flags: false,
        then: Then::Ask,
        go_on: &|_| Some(vec![0x90]),
    }
}

fn zeros() -> Beginning {
    Beginning {
        registers: Registers {
            mxcsr: 0x1f80,
            ..Registers::default()
        },
        data: vec![0; 4096],
        keeps_flags: false,
        then: Next::Asks,
        steps: true,
    }
}

#[test]
fn a_variable_compared_with_a_constant_is_two_instructions() {
    let trampoline = compile(&request(&plain())).expect("code");
    let code = [
        0x83, 0x7d, 0xec, 41, // cmp dword ptr [rbp - 0x14], 41
        0x75, 3,    // jne to the nop
        0xcc, // int3
        0xeb, 0,    // jmp to the nop
        0x90, // nop
    ];
    assert_eq!(trampoline.bytes, code);
    assert_eq!((trampoline.ask, trampoline.go_on), (6, 9));
    assert_eq!(trampoline.state_at(4), State::Deciding(Saved::default()));
    assert_eq!(trampoline.state_at(6), State::Asking);
    assert_eq!(trampoline.state_at(7), State::Asking);
    assert_eq!(trampoline.state_at(9), State::GoingOn(0));
}

#[test]
fn a_counter_needs_a_frame_only_where_the_condition_holds() {
    let truth = plain();
    let request = Request {
        then: Then::Count(Counter {
            at: Address(0x5000),
        }),
        ..request(&truth)
    };
    let trampoline = compile(&request).expect("code");
    // `cmp`, and a jump with 32 bits for the distance.
    assert_eq!(trampoline.bytes[..6], [0x83, 0x7d, 0xec, 41, 0x0f, 0x85]);
    assert_eq!(trampoline.why_slot, None);
    let states = (0..trampoline.go_on).map(|offset| trampoline.state_at(offset));
    let counted = states.filter(|it| *it == State::Counted).count();
    assert!(counted > 0);
}

#[test]
fn narrow_integers_are_compared_as_their_words_would_be() {
    let room = Room::new();
    let edges = |bits: u32| {
        let high = 1_u64.checked_shl(bits - 1).unwrap_or_default();
        [
            0,
            1,
            5,
            high - 1,
            high,
            high.wrapping_mul(2).wrapping_sub(1),
        ]
    };
    let comparisons = [
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::Less(Sign::Signed),
        Comparison::Less(Sign::Unsigned),
        Comparison::LessOrEqual(Sign::Signed),
        Comparison::LessOrEqual(Sign::Unsigned),
    ];
    for (size, sign) in [1_u8, 2, 4, 8]
        .into_iter()
        .flat_map(|size| [(size, Sign::Signed), (size, Sign::Unsigned)])
    {
        let bits = 8 * u32::from(size);
        for value in edges(bits) {
            let mut beginning = Beginning {
                steps: false,
                ..zeros()
            };
            beginning.data[1024..1032].copy_from_slice(&value.to_le_bytes());
            let others = edges(bits).map(|it| (it << (64 - bits)).cast_signed() >> (64 - bits));
            let constants = edges(bits)
                .into_iter()
                .chain(others.map(i64::cast_unsigned));
            for constant in constants {
                for comparison in comparisons {
                    let (x, constant) = (variable(0, size, sign), Word::Constant(constant));
                    let truth = compared(comparison, x.clone(), constant.clone());
                    check(&room, &truth, &beginning).expect("as evaluated");
                    let truth = compared(comparison, constant, x);
                    check(&room, &truth, &beginning).expect("as evaluated");
                }
            }
        }
    }
}

/// A sum of products of … with all registers in it, as a full binary tree.
fn full_tree(height: u32, next: &mut u16) -> Word {
    if height == 0 {
        *next += 1;
        let address = pair(
            Word::Register(POINTERS[usize::from(*next) % POINTERS.len()]),
            pair(Word::Register(*next % 16), Word::Constant(8), |it| {
                Word::Operation(Operation::And, it)
            }),
            |it| Word::Operation(Operation::Add, it),
        );
        return Word::Load {
            address: Box::new(address),
            size: 4,
            sign: Sign::Signed,
        };
    }
    let (first, second) = (full_tree(height - 1, next), full_tree(height - 1, next));
    let operation = match height % 3 {
        0 => Operation::Add,
        1 => Operation::Multiply,
        _ => Operation::Subtract,
    };
    pair(first, second, |it| Word::Operation(operation, it))
}

/// The same of numbers.
fn full_tree_of_numbers(height: u32, next: &mut u8) -> Real {
    if height == 0 {
        *next += 1;
        let register = *next % 16;
        return Real::Register { register, size: 4 };
    }
    let first = full_tree_of_numbers(height - 1, next);
    let second = full_tree_of_numbers(height - 1, next);
    Real::Operation(RealOperation::Add, Box::new((first, second)))
}

#[test]
fn values_for_which_no_register_is_left_are_in_the_frame() {
    let room = Room::new();
    for height in [5, 6, 7] {
        let mut beginning = zeros();
        beginning.keeps_flags = true;
        for (number, register) in beginning.registers.general.iter_mut().enumerate() {
            *register = number as u64;
        }
        for (number, register) in beginning.registers.sse.iter_mut().enumerate() {
            *register = u128::from((number as f32).to_bits());
        }
        beginning.data[1024..1032].copy_from_slice(&7_u64.to_le_bytes());
        let tree = full_tree(height, &mut 0);
        let truth = compared(
            Comparison::Less(Sign::Signed),
            tree,
            Word::Constant(1 << 40),
        );
        check(&room, &truth, &beginning).expect("as evaluated");
        let tree = full_tree_of_numbers(height, &mut 0);
        let sum = (0..1 << height).map(|it| f64::from((it + 1) % 16)).sum();
        let pair = Box::new((tree, Real::Constant(sum)));
        let truth = Truth::Numbers(Comparison::Equal, pair);
        assert!(check(&room, &truth, &beginning).expect("as evaluated"));
    }
}

#[test]
fn nested_expressions_need_little_of_the_compilers_stack() {
    let room = Room::new();
    let mut sum = variable(0, 4, Sign::Signed);
    for number in 0..96 {
        let other = variable(8 * (number % 4), 4, Sign::Signed);
        sum = pair(other, sum, |it| {
            Word::Exact(ExactOperation::Add, Sign::Signed, it)
        });
    }
    let mut beginning = zeros();
    beginning.data[1024] = 1;
    let truth = compared(Comparison::Equal, sum, Word::Constant(25));
    assert!(check(&room, &truth, &beginning).expect("as evaluated"));
}

#[test]
fn what_is_not_a_number_is_only_unequal() {
    let room = Room::new();
    let comparisons = [
        (Comparison::Equal, false),
        (Comparison::NotEqual, true),
        (Comparison::Less(Sign::Signed), false),
        (Comparison::LessOrEqual(Sign::Signed), false),
    ];
    let nan = || Real::Register {
        register: 3,
        size: 8,
    };
    let one = || Real::Constant(1.0);
    let mut beginning = zeros();
    beginning.registers.sse[3] = u128::from(f64::NAN.to_bits());
    // No exception is masked.
    beginning.registers.mxcsr = 0;
    for (comparison, holds) in comparisons {
        for pair in [(nan(), one()), (one(), nan()), (nan(), nan())] {
            let truth = Truth::Numbers(comparison, Box::new(pair));
            let asked = check(&room, &truth, &beginning).expect("as evaluated");
            assert_eq!(asked, holds);
            let not = Truth::Not(Box::new(truth));
            let asked = check(&room, &not, &beginning).expect("as evaluated");
            assert_eq!(asked, !holds);
        }
    }
}

#[test]
fn a_nop_in_place_of_the_trap_makes_threads_go_on_as_they_came() {
    let room = Room::new();
    let truth = Truth::Not(Box::new(plain()));
    let trampoline = compile(&Request {
        at: Address(room.code),
        keeps_flags: true,
        go_on: &go_on,
        ..request(&truth)
    });
    let trampoline = trampoline.expect("code");
    room.write(room.code, &trampoline.bytes);
    room.write(room.code + trampoline.ask, &[0x90]);
    let mut registers = zeros().registers;
    registers.general = std::array::from_fn(|number| number as u64);
    registers.general[6] = room.data + 1024;
    registers.general[7] = room.stack;
    registers.flags = STATUS_FLAGS;
    let (after, seen) = room.run(&trampoline, room.code, &registers, true, false);
    assert!(!seen.asked);
    assert_eq!(comparable(after, true), comparable(registers, true));
}

#[test]
fn with_the_switch_off_threads_go_on_without_a_decision() {
    let room = Room::new();
    let truth = Truth::Not(Box::new(plain()));
    let trampoline = compile(&Request {
        at: Address(room.code + SWITCHED),
        keeps_flags: true,
        go_on: &go_on,
        ..request(&truth)
    });
    let trampoline = trampoline.expect("code").switched();
    assert_eq!(trampoline.state_at(0), State::Deciding(Saved::default()));
    assert_eq!(trampoline.state_at(2), State::Deciding(Saved::default()));
    assert_eq!(trampoline.state_at(trampoline.ask), State::Asking);
    room.write(room.code, &trampoline.bytes);
    let mut registers = zeros().registers;
    registers.general = std::array::from_fn(|number| number as u64);
    registers.general[6] = room.data + 1024;
    registers.general[7] = room.stack;
    registers.flags = STATUS_FLAGS;
    let (_, seen) = room.run(&trampoline, room.code, &registers, true, false);
    assert!(seen.asked);
    room.write(room.code + SWITCH, &[0]);
    // What the condition reads doesn't exist.
    registers.general[6] = 8;
    let (after, seen) = room.run(&trampoline, room.code, &registers, true, true);
    assert!(!seen.asked && !seen.faulted && seen.wrong.is_empty());
    assert_eq!(comparable(after, true), comparable(registers, true));
}

#[test]
fn what_cannot_be_compiled_is_refused() {
    let refused = |truth: Truth| compile(&request(&truth)).expect_err("refused");
    let mut deep = plain();
    for _ in 0..100 {
        deep = Truth::Not(Box::new(deep));
    }
    assert_eq!(refused(deep), Refused::TooDeep);
    let mut large = plain();
    for _ in 0..10 {
        large = Truth::Or(Box::new((large.clone(), large)));
    }
    assert_eq!(refused(large), Refused::TooLarge);
    let bytes = vec![0; 257].into_boxed_slice();
    let long = Truth::Bytes(Box::new(Word::Register(0)), bytes);
    assert_eq!(refused(long), Refused::TooLarge);
    let zero = || Word::Constant(0);
    for word in [Word::Register(16), variable(0, 3, Sign::Signed)] {
        let truth = compared(Comparison::Equal, word, zero());
        assert_eq!(refused(truth), Refused::Malformed);
    }
    let truth = plain();
    let out_of_reach = Request {
        go_on: &|_| None,
        ..request(&truth)
    };
    assert_eq!(compile(&out_of_reach), Err(Refused::OutOfReach));
}
