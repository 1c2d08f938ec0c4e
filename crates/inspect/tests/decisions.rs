//! Conditions as decisions that run inside of a program: a decision is false only where the condition is.

use crate::expressions::{Expressions, Kind};
use crate::support::{HEAP, Numbers, Program};
use crate::truth::Thread;
use Kind::{Bool, Char, Float, Integer, Pointer};
use dapple_inspect::eval::prepared::{self, Prepared};
use dapple_inspect::values::Number;
use dapple_symbols::functions::Language;
use std::collections::BTreeMap;

/// The default number of expressions for each program (`DAPPLE_EXPRESSIONS`).
const EXPRESSIONS: usize = 24_000;
/// The number of expressions that are evaluated for the same contents of memory.
const SAME_STATE: usize = 40;
/// How many states of memory an expression is evaluated in.
const STATES: usize = 4;

/// Numbers of what was seen.
#[derive(Debug, Default)]
pub struct Tally {
    /// Expressions with a decision.
    pub decided: usize,
    /// Decisions that are false.
    pub no: usize,
    pub yes: usize,
    /// Decisions that ask, where the condition has no value.
    pub no_value: usize,
    /// Decisions that ask, where the condition is false: the debugger has to find that out.
    pub asked: usize,
    /// Prepared expressions without a decision, by reason.
    pub refused: BTreeMap<String, usize>,
    /// Expressions that aren't prepared.
    pub unprepared: usize,
}

fn size_of(type_: &str) -> usize {
    match type_ {
        "i8" | "u8" => 1,
        "i16" | "u16" => 2,
        "i32" | "u32" => 4,
        _ => 8,
    }
}

/// The bytes of a typical or extreme value.
fn contents(kind: Kind, numbers: &mut Numbers) -> Vec<u8> {
    let word = numbers.next();
    match kind {
        Integer(type_) => {
            let size = size_of(type_);
            let top = 1_u64 << (8 * size - 1);
            let values = [
                0,
                0,
                1,
                u64::MAX,
                top,
                top - 1,
                2,
                word >> 60,
                word >> 58,
                word,
            ];
            values[numbers.below(values.len())].to_le_bytes()[..size].to_vec()
        }
        Float(4) => {
            let values = [
                0.0,
                -0.0,
                1.0,
                -1.5,
                f32::NAN,
                f32::INFINITY,
                f32::NEG_INFINITY,
                f32::MAX,
                f32::MIN_POSITIVE,
                0.1,
                16777216.0,
                f32::from_bits(word as u32),
            ];
            values[numbers.below(values.len())].to_le_bytes().to_vec()
        }
        Float(_) => {
            let values = [
                0.0,
                -0.0,
                1.0,
                -1.5,
                f64::NAN,
                f64::INFINITY,
                f64::NEG_INFINITY,
                f64::MAX,
                f64::MIN_POSITIVE,
                0.1,
                9007199254740993.0,
                f64::from_bits(word),
            ];
            values[numbers.below(values.len())].to_le_bytes().to_vec()
        }
        Bool if numbers.one_in(50) => vec![2],
        Bool => vec![(word & 1) as u8],
        Char => {
            let codes = [
                0,
                'a' as u32,
                'b' as u32,
                0x7f,
                0x80,
                0xff,
                0x1f600,
                (word >> 44) as u32,
            ];
            codes[numbers.below(codes.len())].to_le_bytes().to_vec()
        }
        Pointer => {
            let addresses = [
                0,
                0x10,
                u64::MAX - 7,
                HEAP,
                HEAP,
                HEAP + 0x100,
                HEAP + 0x200,
            ];
            addresses[numbers.below(addresses.len())]
                .to_le_bytes()
                .to_vec()
        }
    }
}

/// Bit-fields, and members of anonymous members. Their objects are filled with random bytes.
const FIELDS: [(&str, Kind); 16] = [
    ("packed.first", Integer("u32")),
    ("packed.second", Integer("i32")),
    ("packed.third", Integer("u32")),
    ("packed.on", Bool),
    ("packed.wide", Integer("i64")),
    ("packed.most", Integer("u64")),
    ("packed.tiny", Integer("u8")),
    ("packed.small", Integer("i8")),
    ("packed.colour", Integer("u32")),
    ("packed.whole", Integer("u32")),
    ("holder->packed.second", Integer("i32")),
    ("holder->packed.third", Integer("u32")),
    ("holder->packed.wide", Integer("i64")),
    ("holder->low", Integer("u8")),
    ("holder->high", Integer("u8")),
    ("holder->number", Integer("i32")),
];

/// The places in memory of a program's variables.
struct Places {
    scalars: Vec<(u64, Kind)>,
    /// Addresses and sizes of objects that are filled with random bytes.
    objects: Vec<(u64, usize)>,
}

impl Places {
    /// Finds each variable with all pointers valid.
    fn of(
        program: &Program,
        variables: &[(&'static str, Kind)],
        objects: &[(&str, usize)],
    ) -> Places {
        let mut all = Vec::new();
        let mut target = HEAP;
        for (variable, kind) in variables {
            let address = program.address_of(variable);
            if *kind == Pointer {
                program.memory.write(address, &target.to_le_bytes());
                target += 0x100;
            }
            all.push((address, *kind));
        }
        let object = |(variable, size): &(&str, usize)| (program.address_of(variable), *size);
        Places {
            scalars: all,
            objects: objects.iter().map(object).collect(),
        }
    }

    fn fill(&self, program: &Program, numbers: &mut Numbers) {
        let is_c = program.frame.language == Language::C;
        for (address, size) in &self.objects {
            for offset in (0..*size).step_by(8) {
                let bytes = contents(Integer("u64"), numbers);
                let end = bytes.len().min(size - offset);
                program.memory.write(address + offset as u64, &bytes[..end]);
            }
        }
        for (address, kind) in &self.scalars {
            let mut bytes = contents(*kind, numbers);
            if is_c && *kind == Char {
                bytes.truncate(1);
            }
            program.memory.write(*address, &bytes);
        }
    }
}

/// Compares a decision with the prepared expression, and that with the full evaluator.
pub fn check(program: &Program, text: &str, full: bool, tally: &mut Tally, mut next: impl FnMut()) {
    let parsed = program.parsed(text);
    let physical = &program.frame.physical;
    let Some(quick) = Prepared::new(&parsed, &program.modules, physical.pc, 0) else {
        tally.unprepared += 1;
        return;
    };
    let truth = match quick.decision(None) {
        Ok(truth) => truth,
        Err(why) => {
            *tally.refused.entry(why).or_default() += 1;
            return;
        }
    };
    tally.decided += 1;
    let thread = Thread {
        registers: &physical.registers,
        memory: &program.memory,
    };
    let here = prepared::Thread {
        id: program.frame.id.thread,
        registers: &physical.registers,
        vectors: &|| None,
        memory: &program.memory,
    };
    for _ in 0..STATES {
        let number = quick.number(here);
        match (thread.truth(&truth), number.map(Number::is_true)) {
            (Some(false), Some(false)) => tally.no += 1,
            (Some(true), Some(true)) => tally.yes += 1,
            (None, None) => tally.no_value += 1,
            (None, Some(_)) => tally.asked += 1,
            (decided, wanted) => {
                panic!(
                    "`{text}`: decided {decided:?}, but it is {wanted:?} ({number:?}): {truth:?}"
                )
            }
        }
        if let (true, Some(number)) = (full, number) {
            let wanted = program.number(&parsed);
            let wanted = wanted.unwrap_or_else(|why| panic!("`{text}` is {number:?}, but: {why}"));
            match (number, wanted) {
                (Number::Pointer { address: a, .. }, Number::Pointer { address: b, .. }) => {
                    assert_eq!(a, b, "`{text}`");
                }
                _ => assert_eq!(format!("{number:?}"), format!("{wanted:?}"), "`{text}`"),
            }
        }
        if let (true, Some(shown)) = (full, quick.text(here)) {
            assert_eq!(shown, program.shown(&parsed), "`{text}`");
        }
        next();
    }
}

fn run(
    program: &Program,
    variables: &[(&'static str, Kind)],
    fields: &[(&'static str, Kind)],
    objects: &[(&str, usize)],
    indexed: &[(&'static str, &'static str)],
) {
    let count = std::env::var("DAPPLE_EXPRESSIONS").ok();
    let count = count
        .and_then(|count| count.parse().ok())
        .unwrap_or(EXPRESSIONS);
    let seed = std::env::var("DAPPLE_SEED").ok();
    let seed = seed.and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let places = Places::of(program, variables, objects);
    let variables = &[variables, fields].concat()[..];
    let mut expressions = Expressions {
        numbers: Numbers(seed),
        language: program.frame.language,
        variables,
        indexed,
    };
    let mut values = Numbers(seed ^ 0xabcd);
    let mut tally = Tally::default();
    for number in 0..count {
        let text = expressions.any();
        if number % SAME_STATE == 0 {
            places.fill(program, &mut values);
        }
        let next = || places.fill(program, &mut values);
        check(program, &text, number % 32 == 0, &mut tally, next);
    }
    println!("{tally:#?}");
    assert!(tally.decided * 10 > count * 7, "{tally:#?}");
    // Few questions are in vain.
    assert!(tally.asked * 20 < tally.no + tally.yes, "{tally:#?}");
    assert!(tally.no * 4 > tally.decided && tally.yes * 4 > tally.decided);
}

#[test]
fn conditions_of_c_decide_as_the_evaluator_does() {
    let program = Program::new("scalars.c", &[], "check");
    let variables = [
        ("p", Pointer),
        ("q", Pointer),
        ("p->next", Pointer),
        ("longs", Pointer),
        ("halves", Pointer),
        ("ints", Pointer),
        ("holder", Pointer),
        ("si8", Integer("i8")),
        ("un8", Integer("u8")),
        ("si16", Integer("i16")),
        ("un16", Integer("u16")),
        ("si32", Integer("i32")),
        ("un32", Integer("u32")),
        ("si64", Integer("i64")),
        ("un64", Integer("u64")),
        ("a", Integer("i32")),
        ("b", Integer("u8")),
        ("e", Integer("u64")),
        ("local", Integer("i16")),
        ("colour", Integer("u32")),
        ("below", Integer("i32")),
        ("node.tiny", Integer("i8")),
        ("node.half", Integer("u16")),
        ("p->whole", Integer("i32")),
        ("p->wide", Integer("i64")),
        ("q->inner.narrow", Integer("i16")),
        ("p->next->inner.wide", Integer("u64")),
        ("p->next->many[2]", Integer("i32")),
        ("single", Float(4)),
        ("other_single", Float(4)),
        ("d", Float(4)),
        ("p->inner.ratio", Float(4)),
        ("twice", Float(8)),
        ("other_twice", Float(8)),
        ("c", Float(8)),
        ("q->twice", Float(8)),
        ("yes", Bool),
        ("no", Bool),
        ("node.flag", Bool),
        ("p->flag", Bool),
        ("letter", Char),
    ];
    let indexed = [
        ("bytes", "u8"),
        ("longs", "i64"),
        ("halves", "u16"),
        ("ints", "i32"),
        ("node.many", "i32"),
        ("p->many", "i32"),
    ];
    let objects = [("packed", 32), ("holder->before", 40)];
    run(&program, &variables, &FIELDS, &objects, &indexed);
    let prepared = [
        "packed.colour == GREEN",
        "holder->packed.colour != RED",
        "GREEN == 5",
        "colour - RED > GREEN",
        "sizeof(node) > 8",
        "sizeof node.many == 16",
        "sizeof(struct node) == sizeof *p",
        "sizeof(p->next->inner)",
        "sizeof \"abc\" == 4",
        "_Alignof(struct node) == 8",
        "(colour == GREEN ? p->whole : 3) > 0",
        "p == &node",
        "&p->next->inner != 0",
        "((struct node *)longs)->half == 3",
        "((struct inner *)(void *)p)->narrow > 1",
        "*(unsigned char *)p == 3",
        "((int *)p)[1] == 3",
        "(enum colour)si32 == GREEN",
        "*&si32 == si32",
    ];
    compare(&program, &prepared, &["extended > 1.0", "giant == 3"]);
}

#[test]
fn conditions_of_rust_decide_as_the_evaluator_does() {
    let program = Program::new("scalars.rs", &[], "check");
    let variables = [
        ("P", Pointer),
        ("(*P).next", Pointer),
        ("I8", Integer("i8")),
        ("U8", Integer("u8")),
        ("I16", Integer("i16")),
        ("U16", Integer("u16")),
        ("I32", Integer("i32")),
        ("U32", Integer("u32")),
        ("I64", Integer("i64")),
        ("U64", Integer("u64")),
        ("SIZE", Integer("usize")),
        ("a", Integer("i32")),
        ("b", Integer("u8")),
        ("e", Integer("u64")),
        ("local", Integer("i16")),
        ("NODE.tiny", Integer("i8")),
        ("NODE.half", Integer("u16")),
        ("(*P).whole", Integer("i32")),
        ("(*P).wide", Integer("i64")),
        ("(*(*P).next).inner.wide", Integer("u64")),
        ("NODE.inner.narrow", Integer("i16")),
        ("F32", Float(4)),
        ("G32", Float(4)),
        ("d", Float(4)),
        ("F64", Float(8)),
        ("G64", Float(8)),
        ("c", Float(8)),
        ("NODE.inner.ratio", Float(4)),
        ("YES", Bool),
        ("NO", Bool),
        ("NODE.flag", Bool),
        ("LETTER", Char),
        ("NODE.letter", Char),
    ];
    let indexed = [("BYTES", "u8"), ("NODE.many", "i32"), ("(*P).many", "i32")];
    run(&program, &variables, &[], &[], &indexed);
}

#[test]
fn conditions_in_a_method_of_cpp_decide_as_the_evaluator_does() {
    let program = Program::new("members.cpp", &[], "_ZN6Widget5checkEiRKS_m");
    let variables = [
        ("this", Pointer),
        ("next", Pointer),
        ("a", Integer("i32")),
        ("e", Integer("u64")),
        ("local", Integer("i32")),
        ("inherited", Integer("i16")),
        ("tag", Integer("u32")),
        ("width", Integer("i32")),
        ("this->width", Integer("i32")),
        ("next->width", Integer("i32")),
        ("next->inherited", Integer("i16")),
        ("ratio", Float(8)),
        ("mode", Integer("u8")),
        ("own", Integer("u32")),
        ("wide", Char),
        ("shown", Bool),
        ("next->shown", Bool),
        ("odd.near", Integer("i32")),
    ];
    let fields = [
        ("marks", Integer("u32")),
        ("level", Integer("u32")),
        ("part", Integer("i8")),
        ("next->marks", Integer("u32")),
        ("next->part", Integer("i8")),
    ];
    run(&program, &variables, &fields, &[], &[]);
    let prepared = [
        "mode == Mode::Slow",
        "level == High",
        "own == High",
        "next->mode == Mode::Fast && shown",
        "this->next == next",
        "!shown",
        "width == (shown ? 1 : 2)",
        "sizeof(*this) > 8",
        "sizeof(width) == 4",
        "this == &*next",
        "Mode::Slow == mode",
    ];
    let others = [
        "odd.far == 4",
        "count == 3",
        "only == 8",
        "next->Base::inherited",
    ];
    compare(&program, &prepared, &others);
}

/// Compares expressions of which the first are prepared and have decisions, and the others aren't.
fn compare(program: &Program, prepared: &[&str], others: &[&str]) {
    for (count, texts) in [(1, prepared), (0, others)] {
        for text in texts {
            let mut tally = Tally::default();
            check(program, text, true, &mut tally, || {});
            assert_eq!(tally.decided, count, "`{text}`: {tally:?}");
        }
    }
}
