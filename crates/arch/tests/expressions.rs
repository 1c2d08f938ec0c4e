//! Random decisions.

use dapple_arch::decision::{
    Comparison, ExactOperation, Operation, Real, RealOperation, Recorded, Sign, Truth, Word,
};
use proptest::prelude::*;

/// DWARF numbers of registers that point into the data.
pub(crate) const POINTERS: [u16; 4] = [0, 3, 6, 9];

fn sign() -> impl Strategy<Value = Sign> {
    prop_oneof![Just(Sign::Signed), Just(Sign::Unsigned)]
}

fn comparison() -> impl Strategy<Value = Comparison> {
    prop_oneof![
        Just(Comparison::Equal),
        Just(Comparison::NotEqual),
        sign().prop_map(Comparison::Less),
        sign().prop_map(Comparison::LessOrEqual),
    ]
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        Just(Operation::Add),
        Just(Operation::Subtract),
        Just(Operation::Multiply),
        Just(Operation::And),
        Just(Operation::Or),
        Just(Operation::Xor),
        Just(Operation::ShiftLeft),
        sign().prop_map(Operation::ShiftRight),
    ]
}

fn exact() -> impl Strategy<Value = ExactOperation> {
    prop_oneof![
        Just(ExactOperation::Add),
        Just(ExactOperation::Subtract),
        Just(ExactOperation::Multiply),
    ]
}

/// Constants, mostly those where something changes.
pub(crate) fn constant() -> impl Strategy<Value = u64> {
    let edge = (
        prop::sample::select(vec![0_u32, 7, 8, 15, 16, 31, 32, 63]),
        -2_i64..3,
        any::<bool>(),
    );
    prop_oneof![
        4 => (-4_i64..5).prop_map(i64::cast_unsigned),
        2 => edge.prop_map(|(bit, by, negative)| {
            let value = (1_u64 << bit).wrapping_add_signed(by);
            if negative { value.wrapping_neg() } else { value }
        }),
        1 => any::<u64>(),
    ]
}

/// Makes an expression of two words.
pub(crate) fn pair<T>(first: Word, second: Word, of: impl Fn(Box<(Word, Word)>) -> T) -> T {
    of(Box::new((first, second)))
}

/// An address, mostly in the data or the stack.
fn address(word: BoxedStrategy<Word>) -> BoxedStrategy<Word> {
    let near = |register: u16, by: i64| {
        pair(
            Word::Register(register),
            Word::Constant(by.cast_unsigned()),
            |it| Word::Operation(Operation::Add, it),
        )
    };
    prop_oneof![
        8 => (prop::sample::select(POINTERS.to_vec()), -40_i64..40)
            .prop_map(move |(register, by)| near(register, 8 * by)),
        2 => (-16_i64..16).prop_map(move |by| near(7, 8 * by)),
        2 => (prop::sample::select(POINTERS.to_vec()), word.clone()).prop_map(|(register, word)| {
            let small = pair(word, Word::Constant(0x38), |it| Word::Operation(Operation::And, it));
            pair(small, Word::Register(register), |it| Word::Operation(Operation::Add, it))
        }),
        1 => Just(Word::ThreadPointer),
        1 => word,
    ]
    .boxed()
}

fn first_words() -> BoxedStrategy<Word> {
    prop_oneof![
        3 => constant().prop_map(Word::Constant),
        3 => (0_u16..16).prop_map(Word::Register),
        1 => Just(Word::ThreadPointer),
    ]
    .boxed()
}

fn first_reals() -> BoxedStrategy<Real> {
    prop_oneof![
        (-2_i32..3).prop_map(|it| Real::Constant(f64::from(it) / 2.0)),
        any::<f64>().prop_map(Real::Constant),
        Just(Real::Constant(f64::NAN)),
        (0_u8..16, prop::sample::select(vec![4_u8, 8]))
            .prop_map(|(register, size)| Real::Register { register, size }),
    ]
    .boxed()
}

fn words(word: &BoxedStrategy<Word>, truth: &BoxedStrategy<Truth>) -> BoxedStrategy<Word> {
    let two = || (word.clone(), word.clone());
    let small = || prop::sample::select(vec![1_u8, 2, 4]);
    let size = prop::sample::select(vec![1_u8, 2, 4, 8]);
    prop_oneof![
        2 => first_words(),
        6 => (address(word.clone()), size, sign()).prop_map(|(address, size, sign)| Word::Load {
            address: Box::new(address),
            size,
            sign,
        }),
        2 => (word.clone(), small(), sign()).prop_map(|(word, size, sign)| Word::Extended {
            word: Box::new(word),
            size,
            sign,
        }),
        4 => (operation(), two()).prop_map(|(it, two)| Word::Operation(it, Box::new(two))),
        2 => (exact(), sign(), two()).prop_map(|(it, sign, two)| Word::Exact(it, sign, Box::new(two))),
        1 => (sign(), two()).prop_map(|(sign, two)| Word::Quotient(sign, Box::new(two))),
        1 => (sign(), two()).prop_map(|(sign, two)| Word::Remainder(sign, Box::new(two))),
        1 => truth.clone().prop_map(|truth| Word::Truth(Box::new(truth))),
        1 => (truth.clone(), word.clone()).prop_map(|it| Word::If(Box::new(it))),
        1 => (truth.clone(), word.clone(), word.clone()).prop_map(|it| Word::Choice(Box::new(it))),
        1 => (word.clone(), small(), sign()).prop_map(|(word, size, sign)| Word::Fitting {
            word: Box::new(word),
            size,
            sign,
        }),
    ]
    .boxed()
}

fn reals(
    real: &BoxedStrategy<Real>,
    word: &BoxedStrategy<Word>,
    truth: &BoxedStrategy<Truth>,
) -> BoxedStrategy<Real> {
    let operation = prop_oneof![
        Just(RealOperation::Add),
        Just(RealOperation::Subtract),
        Just(RealOperation::Multiply),
        Just(RealOperation::Divide),
    ];
    let size = prop::sample::select(vec![4_u8, 8]);
    prop_oneof![
        2 => first_reals(),
        3 => (address(word.clone()), size).prop_map(|(address, size)| Real::Load {
            address: Box::new(address),
            size,
        }),
        2 => (word.clone(), sign()).prop_map(|(word, sign)| Real::Integer(Box::new(word), sign)),
        3 => (operation, real.clone(), real.clone())
            .prop_map(|(it, first, second)| Real::Operation(it, Box::new((first, second)))),
        1 => real.clone().prop_map(|real| Real::Rounded(Box::new(real))),
        1 => (truth.clone(), real.clone(), real.clone())
            .prop_map(|it| Real::Choice(Box::new(it))),
    ]
    .boxed()
}

fn truths(
    truth: &BoxedStrategy<Truth>,
    word: &BoxedStrategy<Word>,
    real: &BoxedStrategy<Real>,
) -> BoxedStrategy<Truth> {
    let bytes = prop::collection::vec(0_u8..2, 0..20);
    prop_oneof![
        1 => any::<bool>().prop_map(Truth::Constant),
        8 => (comparison(), word.clone(), word.clone())
            .prop_map(|(it, first, second)| Truth::Words(it, Box::new((first, second)))),
        4 => (comparison(), real.clone(), real.clone())
            .prop_map(|(it, first, second)| Truth::Numbers(it, Box::new((first, second)))),
        2 => truth.clone().prop_map(|truth| Truth::Not(Box::new(truth))),
        2 => (truth.clone(), truth.clone()).prop_map(|it| Truth::And(Box::new(it))),
        2 => (truth.clone(), truth.clone()).prop_map(|it| Truth::Or(Box::new(it))),
        1 => (address(word.clone()), bytes)
            .prop_map(|(address, bytes)| Truth::Bytes(Box::new(address), bytes.into())),
    ]
    .boxed()
}

/// A decision, and values to record.
pub(crate) fn decision() -> BoxedStrategy<(Truth, Vec<Recorded>)> {
    let mut word = first_words();
    let mut real = first_reals();
    let mut truth = any::<bool>().prop_map(Truth::Constant).boxed();
    let mut all = Vec::new();
    for _ in 0..6 {
        let next = (
            words(&word, &truth),
            reals(&real, &word, &truth),
            truths(&truth, &word, &real),
        );
        (word, real, truth) = next;
        all.push(truth.clone());
    }
    let value = prop_oneof![
        2 => word.prop_map(Recorded::Word),
        1 => real.prop_map(Recorded::Real),
    ];
    let values = prop::collection::vec(value, 0..4);
    (prop::strategy::Union::new(all), values).boxed()
}
