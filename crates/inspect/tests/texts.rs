//! Comparisons of texts with literals: prepared, decided and fully evaluated, each with the same result.

use crate::decisions::{Tally, check};
use crate::support::{HEAP, Numbers, Program};
use dapple_inspect::values::Number;
use dapple_symbols::functions::Language;

const TEXTS: [&str; 9] = [
    "",
    "a",
    "abc",
    "abd",
    "abcd",
    "ab",
    "abcdefgh",
    "käse",
    "0123456789abcdef0123",
];
/// How many contents of memory each comparison is made for.
const ROUNDS: usize = 20;

/// The number that an expression has.
fn word(program: &Program, text: &str) -> u64 {
    match program.number(&program.parsed(text)) {
        Ok(Number::Pointer { address, .. }) => address,
        Ok(Number::Integer { value, .. }) => value as u64,
        other => panic!("`{text}` is {other:?}"),
    }
}

/// Compares each subject with each literal. `fill` puts a random text into all subjects.
fn compare(program: &Program, subjects: &[&str], mut fill: impl FnMut(&mut Numbers, &str)) {
    let mut numbers = Numbers(7);
    let mut tally = Tally::default();
    let mut lengths = Tally::default();
    let methods: &[&str] = match program.frame.language {
        Language::C => &[],
        Language::Rust => &[".len()", ".is_empty()"],
        _ => &[".size()", ".empty()"],
    };
    for _ in 0..ROUNDS {
        let text = numbers.pick(&TEXTS);
        fill(&mut numbers, text);
        for subject in subjects {
            for literal in TEXTS {
                let texts = [
                    format!("{subject} == \"{literal}\""),
                    format!("\"{literal}\" != {subject}"),
                ];
                for text in texts {
                    check(program, &text, true, &mut tally, || {});
                }
                for method in methods {
                    let text = format!("{subject}{method} == {}", literal.len());
                    check(program, &text, true, &mut lengths, || {});
                }
            }
        }
    }
    println!("{tally:#?}");
    assert_eq!(lengths.unprepared, 0);
    assert_eq!(lengths.asked, 0);
    assert_eq!(tally.unprepared, 0);
    assert_eq!(tally.decided, ROUNDS * subjects.len() * TEXTS.len() * 2);
    assert!(
        tally.no > 100 && tally.yes > 100 && tally.asked == 0,
        "{tally:#?}"
    );
}

#[test]
fn texts_of_c() {
    let program = Program::new("texts.c", &[], "check");
    let pointers = ["pointer", "argument", "named.name"].map(|name| program.address_of(name));
    let arrays = [("buffer", 4), ("named.short_name", 8)];
    let arrays = arrays.map(|(name, size)| (program.address_of(&format!("{name}[0]")), size));
    let subjects = [
        "pointer",
        "argument",
        "named.name",
        "buffer",
        "named.short_name",
    ];
    compare(&program, &subjects, |numbers, text| {
        for (place, address) in (0..).zip(pointers) {
            let target = match numbers.one_in(6) {
                true => numbers.below(2) as u64 * 8,
                false => HEAP + 0x100 * place,
            };
            program.memory.write(address, &target.to_le_bytes());
            program
                .memory
                .write(HEAP + 0x100 * place, &[text.as_bytes(), &[0]].concat());
        }
        for (address, size) in arrays {
            let bytes = [text.as_bytes(), &[0; 8]].concat();
            program.memory.write(address, &bytes[..size]);
        }
    });
    let mut tally = Tally::default();
    for text in [
        "named.raw == \"a\"",
        "small == \"a\"",
        "pointer < \"a\"",
        "\"a\" == \"a\"",
    ] {
        check(&program, text, true, &mut tally, || {});
    }
    assert_eq!(tally.unprepared, 4, "{tally:#?}");
}

#[test]
fn strings_of_cpp() {
    let program = Program::new("texts.cpp", &[], "check");
    // Pointers first, so that what they lead to has an address.
    for (place, name) in (1..).zip(["p", "&given"]) {
        let address = match name {
            "p" => program.address_of("p"),
            _ => continue,
        };
        program
            .memory
            .write(address, &(HEAP + 0x1000 * place).to_le_bytes());
    }
    let given = program.slot_of("given");
    program.memory.write(given, &(HEAP + 0x2000).to_le_bytes());
    let strings = [
        program.address_of("text"),
        program.address_of("named.name"),
        HEAP + 0x1000,
        HEAP + 0x2000,
    ];
    let subjects = ["text", "named.name", "p->name", "given"];
    compare(&program, &subjects, |numbers, text| {
        for (place, address) in (0..).zip(strings) {
            let length = text.len() as u64;
            let is_local = length < 16 && !numbers.one_in(3);
            let data = match is_local {
                true => address + 16,
                false => HEAP + 0x100 * place,
            };
            let (data, length, capacity) = match numbers.below(12) {
                0 => (0, length, 30),
                1 => (data, 1 << 40, 30),
                _ => (data, length, 30_u64),
            };
            for (word, value) in (0..).zip([data, length, capacity]) {
                program
                    .memory
                    .write(address + 8 * word, &value.to_le_bytes());
            }
            if data != 0 {
                program
                    .memory
                    .write(data, &[text.as_bytes(), &[0]].concat());
            }
        }
    });
}

#[test]
fn strings_of_rust() {
    let program = Program::new("texts.rs", &[], "check");
    let pointers = ["named", "owned", "boxed"];
    for (place, name) in (1..).zip(pointers) {
        let address = program.slot_of(name);
        program
            .memory
            .write(address, &(HEAP + 0x1000 * place).to_le_bytes());
    }
    let vec = |path: &str| {
        ["buf.inner.ptr.pointer.pointer", "len", "buf.inner.cap.__0"]
            .map(|part| program.address_of(&format!("{path}.vec.{part}")))
    };
    let slice = |path: &str| {
        let address = word(&program, &format!("&{path}"));
        [address, address + 8, HEAP + 0x3f00]
    };
    let texts = [
        vec("named.name"),
        vec("boxed.name"),
        vec("owned"),
        slice("named.borrowed"),
        slice("text"),
    ];
    let subjects = [
        "named.name",
        "boxed.name",
        "owned",
        "named.borrowed",
        "text",
    ];
    compare(&program, &subjects, |numbers, text| {
        for (place, [data, length, capacity]) in (0..).zip(texts) {
            let length_now = match numbers.one_in(12) {
                true => 1 << 40,
                false => text.len() as u64,
            };
            let values = [HEAP + 0x100 * place, length_now, 30];
            for (address, value) in [data, length, capacity].into_iter().zip(values) {
                program.memory.write(address, &u64::to_le_bytes(value));
            }
            program.memory.write(HEAP + 0x100 * place, text.as_bytes());
        }
    });
}

/// Words that are the parts of containers: valid ones, and ones in states that no container has.
fn measure(program: &Program, texts: &[&str], parts: &[[u64; 3]], states: &[[u64; 3]]) {
    let mut tally = Tally::default();
    for state in states {
        for part in parts {
            for (address, value) in part.iter().zip(state) {
                program.memory.write(*address, &value.to_le_bytes());
            }
        }
        for text in texts {
            check(program, text, true, &mut tally, || {});
        }
    }
    println!("{tally:#?}");
    assert_eq!(tally.decided, texts.len() * states.len(), "{tally:#?}");
    assert!(tally.no > 0 && tally.yes > 0 && tally.no_value > 0 && tally.asked == 0);
}

#[test]
fn lengths_of_cpp() {
    let program = Program::new("texts.cpp", &[], "check");
    let three = |name: &str| {
        let address = program.address_of(name);
        [address, address + 8, address + 16]
    };
    let parts = [three("ints"), three("triples")];
    let states = [
        [0, 0, 0],
        [HEAP, HEAP, HEAP + 48],
        [HEAP, HEAP + 12, HEAP + 48],
        [HEAP, HEAP + 24, HEAP + 24],
        [HEAP, HEAP + 96, HEAP + 48],
        [HEAP + 24, HEAP, HEAP + 48],
    ];
    let texts = [
        "ints.size() == 3",
        "ints.size() > 4",
        "ints.empty()",
        "!triples.empty()",
        "triples.size() == 4u",
    ];
    measure(&program, &texts, &parts, &states);
    let mut tally = Tally::default();
    for text in ["bits.size() == 3", "wide.size() == 2", "ints.front() == 3"] {
        check(&program, text, false, &mut tally, || {});
    }
    assert_eq!(tally.unprepared, 3, "{tally:#?}");
}

#[test]
fn lengths_of_rust() {
    let program = Program::new("texts.rs", &[], "check");
    let slot = program.slot_of("named");
    program.memory.write(slot, &(HEAP + 0x1000).to_le_bytes());
    let vec = |path: &str| {
        ["buf.inner.ptr.pointer.pointer", "len", "buf.inner.cap.__0"]
            .map(|part| program.address_of(&format!("{path}.{part}")))
    };
    let slice = word(&program, "&named.slice");
    let parts = [
        vec("named.list"),
        vec("named.units"),
        [slice, slice + 8, HEAP + 0x3f00],
    ];
    let states = [
        [2, 0, 0],
        [HEAP, 3, 3],
        [HEAP, 3, 8],
        [HEAP, 0, 8],
        [HEAP, 9, 8],
        [0, 0, 0],
    ];
    let texts = [
        "named.list.len() == 3",
        "named.list.is_empty()",
        "named.list.len() > 2",
        "named.units.len() == 3",
    ];
    measure(&program, &texts, &parts, &states);
    let states = [[HEAP, 3, 0], [HEAP, 0, 0]];
    let mut tally = Tally::default();
    for [data, length, _] in states {
        program.memory.write(slice, &u64::to_le_bytes(data));
        program.memory.write(slice + 8, &u64::to_le_bytes(length));
        check(&program, "named.slice.len() == 3", true, &mut tally, || {});
    }
    // The location of an object in an object is repeated for each.
    let mut index = "named.slice.len()".to_owned();
    for _ in 0..12 {
        index = format!("named.texts[{index}].len()");
    }
    let mut deep = Tally::default();
    check(&program, &index, false, &mut deep, || {});
    assert_eq!(deep.refused.len(), 1, "{deep:#?}");
    assert!(tally.no > 0 && tally.no == tally.yes, "{tally:#?}");
}

/// Compares fields of variants and whole enums.
fn parts_of_variants(program: &Program, places: &[u64]) {
    let mut tally = Tally::default();
    for bytes in [
        [0; 8],
        [1; 8],
        [2; 8],
        [1, 0, 0, 0, 7, 0, 0, 0],
        [1, 1, 0, 0, 0x98, 0x98, 0, 0],
        [0x61, 0, 0, 0, 0, 0, 0, 0],
    ] {
        for place in places {
            program.memory.write(*place, &bytes);
        }
        for text in [
            "named.number == Some(7)",
            "named.number != Some(-1)",
            "named.number == None",
            "named.number.0 > 3",
            "named.number.is_some() && named.number.0 == 7",
            "None != named.pointer",
            "named.flag == Some(Some(true))",
            "named.nested == Some('a')",
            "named.nested.0 == 'a'",
        ] {
            check(program, text, true, &mut tally, || {});
        }
    }
    println!("{tally:#?}");
    assert_eq!(tally.unprepared, 0, "{tally:#?}");
    // A `bool` that is neither 0 nor 1.
    assert!(tally.asked <= 8, "{tally:#?}");
    assert!(tally.no > 0 && tally.yes > 0 && tally.no_value > 0);
}

#[test]
fn variants_of_rust() {
    let program = Program::new("texts.rs", &[], "check");
    let slot = program.slot_of("named");
    program.memory.write(slot, &(HEAP + 0x1000).to_le_bytes());
    let fields = ["number", "pointer", "flag", "done", "nested"];
    let places = fields.map(|name| program.address_of(&format!("named.{name}")));
    let mut tally = Tally::default();
    for bytes in [
        [0; 8],
        [1; 8],
        [2; 8],
        [3; 8],
        [1, 0, 0, 0, 0, 0, 0, 0],
        [2, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0x11, 0, 0, 0, 0, 0],
    ] {
        for place in places {
            program.memory.write(place, &bytes);
        }
        for field in &fields {
            let methods = match *field {
                "done" => ["is_ok()", "is_err()"],
                _ => ["is_some()", "is_none()"],
            };
            for method in methods {
                for text in [
                    format!("named.{field}.{method}"),
                    format!("!named.{field}.{method}"),
                ] {
                    check(&program, &text, true, &mut tally, || {});
                }
            }
        }
    }
    println!("{tally:#?}");
    assert_eq!((tally.unprepared, tally.asked), (0, 0), "{tally:#?}");
    assert!(tally.no > 0 && tally.yes > 0 && tally.no_value > 0);
    parts_of_variants(&program, &places);
    for text in ["named.list.is_some()", "named.number.unwrap() == 3"] {
        check(&program, text, false, &mut tally, || {});
    }
    assert_eq!(tally.unprepared, 2, "{tally:#?}");
}
