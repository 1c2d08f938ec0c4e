//! Expressions have the values that the compiler computes: a program computes hundreds of random expressions and prints the results, and
//! the debugger evaluates the same expressions in it.

use crate::support::{Fixture, inline, listing};
use std::fmt::Write;
use std::process::Command;

/// Reproducible random numbers (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// The number of expressions in a program.
const COUNT: usize = 400;
/// The nesting depth of an expression.
const DEPTH: usize = 4;

/// Has the program print its results, evaluates each expression at the stop, and compares.
fn compare(fixture: &Fixture, expressions: &[String]) {
    let run = Command::new(&fixture.binary).output().expect("it runs");
    let written = String::from_utf8(run.stdout).expect("text");
    let written: Vec<&str> = written.lines().collect();
    assert_eq!(written.len(), expressions.len(), "a line for each");
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["here"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let session = debuggee.session();
    let frame = listing::innermost(session, thread);
    let mut wrong = Vec::new();
    let mut refused = 0;
    for (text, written) in expressions.iter().zip(&written) {
        let asked = match session.evaluate(text, Some(frame)) {
            Ok((_, rendered)) => rendered.text,
            Err(error) => format!("error: {error}"),
        };
        refused += usize::from(asked.starts_with("error"));
        if !same(&asked, written) {
            wrong.push(format!("{text}\n  is       {asked}\n  compiled {written}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(refused < expressions.len() / 2, "{refused} are panics");
}

/// Whether a shown value equals the printed one. A printed `float` has the prefix `f`, and is compared with 32-bit precision.
fn same(shown: &str, written: &str) -> bool {
    // A character is shown after its number.
    let shown = shown.split_once(" '").map_or(shown, |(number, _)| number);
    let floats = |one: &str, other: &str| match (one.parse::<f64>(), other.parse::<f64>()) {
        (Ok(one), Ok(other)) => Some((one, other)),
        _ => None,
    };
    let equal = |one: f64, other: f64| one == other || (one.is_nan() && other.is_nan());
    if written == "panic" {
        let reasons = ["an overflow", "division by zero", "a shift by"];
        return shown.starts_with("error") && reasons.iter().any(|why| shown.contains(why));
    }
    if let Some(float) = written.strip_prefix('f')
        && let Some((one, other)) = floats(shown, float)
    {
        return equal(f64::from(one as f32), f64::from(other as f32));
    }
    if let Some(double) = written.strip_prefix('d')
        && let Some((one, other)) = floats(shown, double)
    {
        return equal(one, other);
    }
    match shown {
        "true" => written == "1" || written == "true",
        "false" => written == "0" || written == "false",
        shown => shown == written,
    }
}

const C_VARIABLES: &str = "    signed char tiny = -5; unsigned char byte = 200; char letter = 'q';
    short little = -30000; unsigned short word = 65000;
    int plain = -2147483000; unsigned whole = 4294967000u;
    long large = -9000000000000000000; unsigned long huge = 18000000000000000000ul;
    float real = 1.1f; double twice = -2.7e3; _Bool truth = 1, lie = 0;
    int items[4] = {7, -8, 900000, -2147483647};
    struct { unsigned low : 3; int high : 5; unsigned wide : 32; int member; } record = {5, -9, 4000000000u, 42};
    int *pointer = &items[1];
    struct point points[3] = {{1, -2}, {-30000, 200}, {77, 78}}; struct point *to_point = &points[1];
    short grid[2][3] = {{1, -2, 3}, {-4, 5, -6}}; short (*to_row)[3] = grid;
    char text[] = \"te\\xffxt\"; enum colour colour = BLUE; enum sign sign = MINUS; void *anything = &items[3];
    union { int whole; unsigned char bytes[4]; } either = {-2}; long long wider = -1; const unsigned char fixed = 129;
";
const C_TYPES_OF_ITS_OWN: &str = "struct point { short x; unsigned char y; };
enum colour { RED, GREEN = 5, BLUE = 9 }; enum sign { MINUS = -1, PLUS = 1 };
";
const C_INTEGERS: [&str; 59] = [
    "tiny",
    "byte",
    "letter",
    "little",
    "word",
    "plain",
    "whole",
    "large",
    "huge",
    "truth",
    "lie",
    "items[0]",
    "items[3]",
    "record.low",
    "record.high",
    "record.wide",
    "record.member",
    "*pointer",
    "pointer[1]",
    "sizeof(long)",
    "sizeof record",
    "(pointer - items)",
    "points[1].x",
    "points[2].y",
    "to_point->x",
    "(*to_point).y",
    "(to_point - points)",
    "to_point[-1].x",
    "(&points[2])->x",
    "grid[1][2]",
    "(*to_row)[1]",
    "to_row[1][0]",
    "**grid",
    "*(*(grid + 1) + 1)",
    "text[0]",
    "text[2]",
    "*(text + 3)",
    "sizeof text",
    "(GREEN + 0)",
    "(colour + 0)",
    "(BLUE - 1)",
    "(sign + 0)",
    "(MINUS * 2)",
    "(GREEN - 6)",
    "(colour - 10)",
    "sizeof(struct point)",
    "(sizeof points / sizeof points[0])",
    "*(int *)anything",
    "(*(unsigned char *)&plain + 0)",
    "((struct point *)points)[2].x",
    "*(short *)&word",
    "either.bytes[3]",
    "either.whole",
    "wider",
    "fixed",
    "(truth ? pointer : items)[1]",
    "(char)0x141",
    "010",
    "('q' + 0)",
];
const C_TYPES: [&str; 17] = [
    "signed char",
    "unsigned char",
    "char",
    "short",
    "unsigned short",
    "int",
    "unsigned int",
    "long",
    "unsigned long",
    "_Bool",
    "uint16_t",
    "long long",
    "unsigned long long",
    "int8_t",
    "uint8_t",
    "int32_t",
    "uint64_t",
];

/// A C expression of integer type without undefined behaviour (with `-fwrapv`, where overflow wraps).
fn c_integer(random: &mut Random, depth: usize) -> String {
    if depth == 0 || random.below(8) == 0 {
        return match random.below(4) {
            0 => {
                let number = random.next() >> (random.below(40) + 24);
                let suffix = *random.of(&["", "u", "l", "ul", "ll"]);
                match random.below(3) {
                    0 => format!("{number:#x}{suffix}"),
                    _ => format!("{number}{suffix}"),
                }
            }
            _ => (*random.of(&C_INTEGERS)).to_owned(),
        };
    }
    let deeper = depth - 1;
    let one = c_integer(random, deeper);
    match random.below(14) {
        0 => format!("{}({one})", random.of(&["-", "~", "!", "+"])),
        1 => format!("({})({one})", random.of(&C_TYPES)),
        2 => {
            let operator = *random.of(&["<<", ">>"]);
            format!("({one} {operator} ({} & 7))", c_integer(random, deeper))
        }
        3 => {
            let operator = *random.of(&["/", "%"]);
            format!(
                "({one} {operator} (({} & 7) + 1))",
                c_integer(random, deeper)
            )
        }
        4 => {
            let (yes, no) = (c_integer(random, deeper), c_integer(random, deeper));
            format!("({one} ? {yes} : {no})")
        }
        5 => match random.below(4) {
            0 => format!("grid[({one}) & 1][1]"),
            1 => format!(
                "(pointer {} &items[({one}) & 3])",
                random.of(&["<", "==", "!=", ">="])
            ),
            2 => format!("(&items[({one}) & 3] - pointer)"),
            _ => format!("items[({one}) & 3]"),
        },
        6 => {
            let operator = *random.of(&["<", "<=", ">", ">=", "==", "!="]);
            let (one, other) = (c_float(random, deeper), c_float(random, deeper));
            format!("({one} {operator} {other})")
        }
        7 => {
            // The right operand may be one that must not be evaluated.
            let operator = *random.of(&["&&", "||"]);
            let guarded = match operator {
                "&&" => "(lie && 1 / (truth - 1))",
                _ => "(truth || 1 / (truth - 1))",
            };
            format!(
                "({one} {operator} ({} + {guarded}))",
                c_integer(random, deeper)
            )
        }
        _ => {
            let operators = [
                "+", "-", "*", "&", "|", "^", "<", ">=", "==", "!=", "&&", "||",
            ];
            let operator = *random.of(&operators);
            format!("({one} {operator} {})", c_integer(random, deeper))
        }
    }
}

fn c_float(random: &mut Random, depth: usize) -> String {
    if depth == 0 || random.below(6) == 0 {
        let all = [
            "real",
            "twice",
            "0.1",
            "0.1f",
            "3e10",
            "1e-7f",
            "2.5",
            "(float)plain",
            "(double)huge",
        ];
        return (*random.of(&all)).to_owned();
    }
    let one = c_float(random, depth - 1);
    let other = match random.below(3) {
        0 => c_integer(random, depth - 1),
        _ => c_float(random, depth - 1),
    };
    match random.below(6) {
        0 => format!("-({one})"),
        1 => format!("({})({one})", random.of(&["float", "double"])),
        2 => format!("({other} ? {one} : {})", c_float(random, depth - 1)),
        _ => format!("({one} {} {other})", random.of(&["+", "-", "*", "/"])),
    }
}

#[test]
fn c_expressions_have_the_compilers_values() {
    for seed in [1, 2, 0x5eed] {
        let mut random = Random(seed);
        let expressions: Vec<String> = (0..COUNT)
            .map(|index| match index % 4 {
                0 => c_float(&mut random, DEPTH),
                _ => c_integer(&mut random, DEPTH),
            })
            .collect();
        let mut source = String::from(C_TYPES_OF_ITS_OWN);
        source.push_str(
            "#include <stdint.h>
#include <stdio.h>
#define SHOW(e) _Generic((e), float: printf(\"f%.9g\\n\", (double)(e)), double: printf(\"d%.17g\\n\", (double)(e)), \\
    unsigned long: printf(\"%lu\\n\", (unsigned long)(e)), unsigned long long: printf(\"%lu\\n\", (unsigned long)(e)), default: printf(\"%ld\\n\", (long)(e)))
int main(void) {
",
        );
        source.push_str(C_VARIABLES);
        source.push_str("    printf(\"\"); // stop: here\n");
        for expression in &expressions {
            let _ = writeln!(source, "    SHOW({expression});");
        }
        source.push_str("    return 0;\n}\n");
        let flags = ["-fwrapv", "-w", "-O0"];
        let fixture = inline(&format!("random{seed}.c"), &source, &flags);
        compare(&fixture, &expressions);
    }
}

#[test]
fn cpp_expressions_have_the_compilers_values() {
    // In `?:`, g++ takes an unsigned bit-field for an `unsigned`, though it promotes to `int` (C++20 §7.3.7).
    let cpp = |text: &str| {
        let text = text.replace("_Bool", "bool");
        text.replace("record.low", "(record.low + 0)")
    };
    for seed in [11, 12] {
        let mut random = Random(seed);
        let expressions: Vec<String> = (0..COUNT)
            .map(|index| match index % 4 {
                0 => cpp(&c_float(&mut random, DEPTH)),
                _ => cpp(&c_integer(&mut random, DEPTH)),
            })
            .collect();
        let mut source = String::from(C_TYPES_OF_ITS_OWN);
        source.push_str(
            "#include <cstdint>
#include <cstdio>
static void show(float e) { std::printf(\"f%.9g\\n\", e); }
static void show(double e) { std::printf(\"d%.17g\\n\", e); }
static void show(unsigned long e) { std::printf(\"%lu\\n\", e); }
static void show(unsigned long long e) { std::printf(\"%llu\\n\", e); }
template <typename T> static void show(T e) { std::printf(\"%ld\\n\", static_cast<long>(e)); }
int main() {
",
        );
        source.push_str(&cpp(C_VARIABLES));
        source.push_str("    std::printf(\"\"); // stop: here\n");
        for expression in &expressions {
            let _ = writeln!(source, "    show({expression});");
        }
        source.push_str("    return 0;\n}\n");
        let flags = ["-fwrapv", "-w", "-O0", "-std=c++17"];
        let fixture = inline(&format!("random{seed}.cpp"), &source, &flags);
        compare(&fixture, &expressions);
    }
}

const RUST_TYPES: [&str; 10] = [
    "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "i128", "usize",
];

/// A Rust expression of an integer type. It may panic.
fn rust_integer(random: &mut Random, type_: &str, depth: usize) -> String {
    if depth == 0 || random.below(8) == 0 {
        return match random.below(5) {
            0 => random.below(100).to_string() + *random.of(&["", type_]),
            1 => rust_place(random, type_),
            _ => format!("{}_{type_}", random.of(&["some", "least", "most"])),
        };
    }
    let deeper = depth - 1;
    match random.below(12) {
        0 => format!("!({})", rust_integer(random, type_, deeper)),
        1 | 2 => {
            let from = *random.of(&RUST_TYPES);
            format!("(({}) as {type_})", rust_typed(random, from, deeper))
        }
        3 => {
            let from = *random.of(&["f32", "f64"]);
            format!("(({}) as {type_})", rust_float(random, from, deeper))
        }
        4 => format!("(({}) as {type_})", rust_truth(random, deeper)),
        5 => {
            let count = *random.of(&["u8", "i32", "u64"]);
            let operator = *random.of(&["<<", ">>"]);
            let (one, count) = (
                rust_typed(random, type_, deeper),
                rust_integer(random, count, 1),
            );
            format!("(({one}) {operator} (({count}) & 7))")
        }
        6 if type_.starts_with('i') => format!("-({})", rust_typed(random, type_, deeper)),
        _ => {
            let operator = *random.of(&["+", "-", "*", "/", "%", "&", "|", "^", "&", "|", "^"]);
            let one = rust_typed(random, type_, deeper);
            format!("({one} {operator} {})", rust_integer(random, type_, deeper))
        }
    }
}

/// An integer that isn't a local variable: a field, an element, a referenced value, a length.
fn rust_place(random: &mut Random, type_: &str) -> String {
    let places = [
        "fields.f_T",
        "array_T[1]",
        "array_T[2]",
        "(*to_T)",
        "pair_T.1",
        "slice_T[0]",
        "boxed_T[1]",
        "T::MAX",
        "T::MIN",
    ];
    let casts = [
        "b'x'",
        "'ß'",
        "Colour::Green",
        "colour",
        "name.len()",
        "slice_T.len()",
        "size_of::<Fields>()",
        "small as char",
        "yes",
    ];
    let place = match random.below(3) {
        0 => {
            let cast = *random.of(&casts);
            let is_char = cast == "'ß'" || cast.ends_with("char");
            format!("({cast}{} as T)", if is_char { " as u32" } else { "" })
        }
        _ => (*random.of(&places)).to_owned(),
    };
    place.replace('T', type_)
}

/// Like [`rust_integer`], with an operand that fixes the type.
fn rust_typed(random: &mut Random, type_: &str, depth: usize) -> String {
    format!("({} | some_{type_})", rust_integer(random, type_, depth))
}

fn rust_float(random: &mut Random, type_: &str, depth: usize) -> String {
    if depth == 0 || random.below(6) == 0 {
        return match random.below(3) {
            0 => format!("{}{type_}", random.of(&["0.1", "3e10", "1e-7", "2.5"])),
            _ => format!("{}_{type_}", random.of(&["some", "other"])),
        };
    }
    match random.below(6) {
        0 => format!("-({})", rust_float(random, type_, depth - 1)),
        1 => {
            let from = *random.of(&RUST_TYPES);
            format!("(({}) as {type_})", rust_typed(random, from, depth - 1))
        }
        2 => {
            let from = *random.of(&["f32", "f64"]);
            format!("(({}) as {type_})", rust_float(random, from, depth - 1))
        }
        _ => {
            let operator = *random.of(&["+", "-", "*", "/", "%"]);
            let one = rust_float(random, type_, depth - 1);
            format!(
                "({one} {operator} {})",
                rust_float(random, type_, depth - 1)
            )
        }
    }
}

fn rust_truth(random: &mut Random, depth: usize) -> String {
    if depth == 0 {
        let all = [
            "yes",
            "no",
            "true",
            "false",
            "(name == \"ada\")",
            "(name.as_str() < other)",
            "(\"b\" > other)",
            "(1..3).contains(&some_i32)",
            "(..=most_u8).contains(&some_u8)",
            "(letter == 'ß')",
            "(letter < 'z')",
            "maybe.is_some()",
            "(maybe == Some(4))",
            "(colour == Colour::Blue)",
            "(point == Point { x: 1, y: -2 })",
            "(array_u16 == [1, 2, 3])",
            "slice_i64.is_empty()",
        ];
        return (*random.of(&all)).to_owned();
    }
    let deeper = depth - 1;
    match random.below(5) {
        0 => format!("!({})", rust_truth(random, deeper)),
        1 => {
            let operator = *random.of(&["&&", "||", "&", "|", "^", "==", "!="]);
            let one = rust_truth(random, deeper);
            format!("({one} {operator} {})", rust_truth(random, deeper))
        }
        2 => {
            let operator = *random.of(&["<", "<=", ">", ">=", "==", "!="]);
            let one = rust_float(random, "f32", deeper);
            format!(
                "(({one}) {operator} ({}))",
                rust_float(random, "f32", deeper)
            )
        }
        _ => {
            let type_ = *random.of(&RUST_TYPES);
            let operator = *random.of(&["<", "<=", ">", ">=", "==", "!="]);
            let one = rust_typed(random, type_, deeper);
            format!("({one} {operator} {})", rust_typed(random, type_, deeper))
        }
    }
}

#[test]
fn rust_expressions_have_the_compilers_values_and_panic_where_it_does() {
    let mut random = Random(7);
    let expressions: Vec<String> = (0..COUNT)
        .map(|index| match index % 8 {
            0 => rust_truth(&mut random, DEPTH),
            1 => rust_float(&mut random, "f32", DEPTH),
            2 => rust_float(&mut random, "f64", DEPTH),
            _ => {
                let type_ = *random.of(&RUST_TYPES);
                rust_typed(&mut random, type_, DEPTH)
            }
        })
        .collect();
    let mut source = String::from(
        "#![allow(warnings, arithmetic_overflow, unconditional_panic, overflowing_literals)]
trait Show { fn show(self); }
macro_rules! plain { ($($t:ty)*) => { $(impl Show for $t { fn show(self) { println!(\"{self:?}\"); } })* } }
plain!(i8 u8 i16 u16 i32 u32 i64 u64 i128 usize bool);
impl Show for f32 { fn show(self) { println!(\"f{self:?}\"); } }
impl Show for f64 { fn show(self) { println!(\"d{self:?}\"); } }
fn show<T: Show>(value: impl FnOnce() -> T) {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(value)) {
        Ok(value) => value.show(),
        Err(_) => println!(\"panic\"),
    }
}
use std::mem::size_of;

#[derive(Clone, Copy, PartialEq)] enum Colour { Red, Green = 5, Blue }
#[derive(Clone, Copy, PartialEq)] struct Point { x: i32, y: i64 }
struct Fields { f_i8: i8, f_u8: u8, f_i16: i16, f_u16: u16, f_i32: i32, f_u32: u32, f_i64: i64, f_u64: u64, f_i128: i128, f_usize: usize }
fn main() {
    let fields = std::hint::black_box(Fields { f_i8: -1, f_u8: 2, f_i16: -3, f_u16: 4, f_i32: -5, f_u32: 6, f_i64: -7, f_u64: 8, f_i128: -9, f_usize: 10 });
    let (name, other) = std::hint::black_box((String::from(\"ada\"), \"bob\"));
    let (letter, maybe, colour, point, small) = std::hint::black_box(('ß', Some(4), Colour::Blue, Point { x: 1, y: -2 }, 200u8));
    std::panic::set_hook(Box::new(|_| {}));
    let (yes, no) = (std::hint::black_box(true), std::hint::black_box(false));
    let (some_f32, other_f32, some_f64, other_f64) = std::hint::black_box((1.1f32, -3e9f32, -2.7e3f64, 1e300f64));
",
    );
    for (type_, some) in RUST_TYPES.iter().zip([
        "-7",
        "200",
        "-300",
        "65000",
        "-70000",
        "4000000000",
        "-9000000000",
        "18000000000000000000",
        "-170000000000000000000000000000000000000",
        "12345",
    ]) {
        let _ = writeln!(
            source,
            "    let (some_{type_}, least_{type_}, most_{type_}): ({type_}, {type_}, {type_}) = std::hint::black_box(({some}, {type_}::MIN, {type_}::MAX));
    let array_{type_}: [{type_}; 3] = std::hint::black_box([1, 2, 3]); let slice_{type_} = &array_{type_}[1..]; let boxed_{type_}: Vec<{type_}> = vec![4, 5];
    let to_{type_} = &some_{type_}; let pair_{type_} = ('p', array_{type_}[2]);"
        );
    }
    source.push_str("    std::hint::black_box(0); // stop: here\n");
    for expression in &expressions {
        let _ = writeln!(source, "    show(|| {expression});");
    }
    source.push_str("}\n");
    let fixture = inline("random.rs", &source, &["-Coverflow-checks=on"]);
    compare(&fixture, &expressions);
}
