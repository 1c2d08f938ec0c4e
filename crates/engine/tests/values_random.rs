//! Random nested Rust values: the debugger shows what the program prints of them with `{:?}`, both through their children and in one line.

use crate::support::{inline, listing};
use dapple_engine::Session;
use dapple_engine::values::{NamedValue, Rendered};
use std::fmt::Write;

/// The number of values in the program.
const VALUES: usize = 90;
/// The nesting depth of a value.
const DEPTH: usize = 3;

/// Pseudorandom numbers (xorshift64*).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 16) % end
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }
}

/// A Rust type, from which values are generated.
#[derive(Clone)]
enum Kind {
    Integer(&'static str),
    Float(&'static str),
    Bool,
    Char,
    Unit,
    String,
    Str,
    Duration,
    NonZero,
    Ordering,
    /// `Option<T>`, `Box<T>`, `Vec<T>` and the like.
    Of(&'static str, Box<Kind>),
    Array(Box<Kind>, usize),
    Result(Box<Kind>, Box<Kind>),
    Map(&'static str, Box<Kind>, Box<Kind>),
    Tuple(Vec<Kind>),
    /// A struct or enum of the program, by its name, with its variants.
    Own(String, Vec<Variant>),
}

/// A struct has a single variant without a name.
#[derive(Clone)]
struct Variant {
    name: Option<String>,
    named: bool,
    fields: Vec<Kind>,
}

struct Program {
    numbers: Numbers,
    /// The declarations of structures and enums.
    types: String,
    count: usize,
}

const INTEGERS: [&str; 12] = [
    "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "i128", "u128", "isize", "usize",
];
const CHARACTERS: [&str; 16] = [
    "a",
    "Z",
    "9",
    " ",
    "\\n",
    "\\t",
    "\\0",
    "\\\\",
    "\\'",
    "\\\"",
    "\\u{1b}",
    "\\u{7f}",
    "ß",
    "\\u{301}",
    "🦀",
    "\\u{200b}",
];

impl Program {
    fn scalar(&mut self) -> Kind {
        match self.numbers.below(12) {
            0..4 => Kind::Integer(self.numbers.of(&INTEGERS)),
            4 => Kind::Float(self.numbers.of(&["f32", "f64"])),
            5 => Kind::Bool,
            6 => Kind::Char,
            7 => Kind::Unit,
            8 => Kind::String,
            9 => Kind::Str,
            10 => Kind::Duration,
            _ if self.numbers.below(2) == 0 => Kind::NonZero,
            _ => Kind::Ordering,
        }
    }

    /// A type that implements `Ord` and `Hash`.
    fn key(&mut self) -> Kind {
        match self.numbers.below(6) {
            0..2 => Kind::Integer(self.numbers.of(&INTEGERS)),
            2 => Kind::Char,
            3 => Kind::String,
            4 => Kind::Bool,
            _ => Kind::Tuple(vec![Kind::Bool, Kind::Integer("i16")]),
        }
    }

    fn kind(&mut self, depth: usize) -> Kind {
        if depth == 0 {
            return self.scalar();
        }
        let inner = |program: &mut Program| Box::new(program.kind(depth - 1));
        match self.numbers.below(12) {
            0 => self.scalar(),
            1 | 2 => {
                let wrapper = self.numbers.of(&[
                    "Option", "Box", "Rc", "Arc", "Cell", "RefCell", "Wrapping", "Reverse", "Pin",
                ]);
                match wrapper {
                    // `Cell` needs a `Copy` type to be printed.
                    "Cell" => Kind::Of("Cell", Box::new(Kind::Integer("i32"))),
                    wrapper => Kind::Of(wrapper, inner(self)),
                }
            }
            3 | 4 => Kind::Of(
                self.numbers.of(&["Vec", "VecDeque", "LinkedList", "Slice"]),
                inner(self),
            ),
            5 => Kind::Of(
                self.numbers.of(&[
                    "HashSet",
                    "BTreeSet",
                    "BinaryHeap",
                    "Range",
                    "RangeInclusive",
                ]),
                Box::new(Kind::Integer(self.numbers.of(&INTEGERS))),
            ),
            6 => Kind::Map(
                self.numbers.of(&["HashMap", "BTreeMap"]),
                Box::new(self.key()),
                inner(self),
            ),
            7 => Kind::Result(inner(self), inner(self)),
            8 => Kind::Array(inner(self), self.numbers.below(4) as usize),
            9 => Kind::Tuple(
                (0..=self.numbers.below(3))
                    .map(|_| self.kind(depth - 1))
                    .collect(),
            ),
            _ => self.own(depth),
        }
    }

    fn own(&mut self, depth: usize) -> Kind {
        let is_enum = self.numbers.below(2) == 0;
        let count = if is_enum {
            1 + self.numbers.below(4)
        } else {
            1
        };
        let variants: Vec<Variant> = (0..count)
            .map(|number| Variant {
                name: is_enum.then(|| format!("V{number}")),
                named: self.numbers.below(2) == 0,
                fields: (0..self.numbers.below(3))
                    .map(|_| self.kind(depth - 1))
                    .collect(),
            })
            .collect();
        let name = format!(
            "{}{}",
            if is_enum { "Choice" } else { "Record" },
            self.count
        );
        self.count += 1;
        let body = |variant: &Variant| {
            let fields = variant.fields.iter();
            let fields: Vec<String> = match variant.named {
                true => fields
                    .enumerate()
                    .map(|(at, kind)| format!("f{at}: {}", kind.name()))
                    .collect(),
                false => fields.map(Kind::name).collect(),
            };
            match (fields.is_empty(), variant.named) {
                (true, _) => String::new(),
                (_, true) => format!(" {{ {} }}", fields.join(", ")),
                (_, false) => format!("({})", fields.join(", ")),
            }
        };
        let _ = match variants.as_slice() {
            [only] if !is_enum => {
                let end = if only.named && !only.fields.is_empty() {
                    ""
                } else {
                    ";"
                };
                writeln!(
                    self.types,
                    "#[derive(Debug)] struct {name}{}{end}",
                    body(only)
                )
            }
            all => {
                let all: Vec<String> = all
                    .iter()
                    .map(|variant| {
                        format!(
                            "{}{}",
                            variant.name.as_deref().unwrap_or_default(),
                            body(variant)
                        )
                    })
                    .collect();
                writeln!(
                    self.types,
                    "#[derive(Debug)] enum {name} {{ {} }}",
                    all.join(", ")
                )
            }
        };
        Kind::Own(name, variants)
    }

    fn text(&mut self) -> String {
        (0..self.numbers.below(9))
            .map(|_| self.numbers.of(&CHARACTERS))
            .collect()
    }

    /// An expression that makes a value of this type.
    fn value(&mut self, kind: &Kind) -> String {
        let many = |program: &mut Program, kind: &Kind| -> String {
            let values: Vec<String> = (0..program.numbers.below(5))
                .map(|_| program.value(kind))
                .collect();
            format!("vec![{}]", values.join(", "))
        };
        match kind {
            Kind::Integer(name) => match self.numbers.below(4) {
                0 => format!("{name}::MIN"),
                1 => format!("{name}::MAX"),
                2 => format!("{}_{name}", self.numbers.below(100)),
                _ => format!("{}_u64 as {name}", self.numbers.next()),
            },
            Kind::Float(name) => {
                let bits = self.numbers.next();
                match (*name, self.numbers.below(3)) {
                    (_, 0) => format!("{}.{}_{name}", bits % 1000, bits >> 32 & 0xff),
                    (_, 1) => format!(
                        "{name}::{}",
                        self.numbers.of(&[
                            "NAN",
                            "INFINITY",
                            "NEG_INFINITY",
                            "EPSILON",
                            "MAX",
                            "MIN_POSITIVE"
                        ])
                    ),
                    ("f32", _) => format!("f32::from_bits({})", bits as u32),
                    _ => format!("f64::from_bits({bits})"),
                }
            }
            Kind::Bool => (self.numbers.below(2) == 0).to_string(),
            Kind::Char => format!("'{}'", self.numbers.of(&CHARACTERS)),
            Kind::Unit => "()".to_owned(),
            Kind::String => format!("String::from(\"{}\")", self.text()),
            Kind::Str => format!("\"{}\"", self.text()),
            Kind::Duration => {
                let nanoseconds = self.numbers.next() >> self.numbers.below(60);
                format!("Duration::from_nanos({nanoseconds})")
            }
            Kind::NonZero => format!(
                "NonZero::new({}_i32).unwrap()",
                1 + self.numbers.below(1000)
            ),
            Kind::Ordering => format!(
                "Ordering::{}",
                self.numbers.of(&["Less", "Equal", "Greater"])
            ),
            Kind::Of(wrapper, inner) => match *wrapper {
                "Option" if self.numbers.below(3) == 0 => "None".to_owned(),
                "Option" => format!("Some({})", self.value(inner)),
                "Wrapping" => format!("Wrapping({})", self.value(inner)),
                "Reverse" => format!("Reverse({})", self.value(inner)),
                "Pin" => format!("Box::pin({})", self.value(inner)),
                "Box" | "Rc" | "Arc" | "Cell" | "RefCell" => {
                    format!("{wrapper}::new({})", self.value(inner))
                }
                "VecDeque" => format!("ring({})", many(self, inner)),
                "Slice" => format!("{}.into_boxed_slice()", many(self, inner)),
                "Range" => format!("{}..{}", self.value(inner), self.value(inner)),
                "RangeInclusive" => format!("{}..={}", self.value(inner), self.value(inner)),
                _ => format!("{}.into_iter().collect()", many(self, inner)),
            },
            Kind::Array(inner, length) => {
                let values: Vec<String> = (0..*length).map(|_| self.value(inner)).collect();
                format!("[{}]", values.join(", "))
            }
            Kind::Result(good, bad) => match self.numbers.below(2) {
                0 => format!("Ok({})", self.value(good)),
                _ => format!("Err({})", self.value(bad)),
            },
            Kind::Map(_, key, value) => {
                let pair = Kind::Tuple(vec![(**key).clone(), (**value).clone()]);
                format!("{}.into_iter().collect()", many(self, &pair))
            }
            Kind::Tuple(kinds) => {
                let values: String = kinds.iter().map(|kind| self.value(kind) + ", ").collect();
                format!("({values})")
            }
            Kind::Own(name, variants) => {
                let variant = variants[self.numbers.below(variants.len() as u64) as usize].clone();
                let path = match &variant.name {
                    Some(variant) => format!("{name}::{variant}"),
                    None => name.clone(),
                };
                let values =
                    variant
                        .fields
                        .iter()
                        .enumerate()
                        .map(|(at, kind)| match variant.named {
                            true => format!("f{at}: {}", self.value(kind)),
                            false => self.value(kind),
                        });
                let values: Vec<String> = values.collect();
                match (values.is_empty(), variant.named) {
                    (true, _) => path,
                    (_, true) => format!("{path} {{ {} }}", values.join(", ")),
                    (_, false) => format!("{path}({})", values.join(", ")),
                }
            }
        }
    }
}

impl Kind {
    fn name(&self) -> String {
        match self {
            Kind::Integer(name) | Kind::Float(name) => (*name).to_owned(),
            Kind::Bool => "bool".to_owned(),
            Kind::Char => "char".to_owned(),
            Kind::Unit => "()".to_owned(),
            Kind::String => "String".to_owned(),
            Kind::Str => "&'static str".to_owned(),
            Kind::Duration => "Duration".to_owned(),
            Kind::NonZero => "NonZero<i32>".to_owned(),
            Kind::Ordering => "Ordering".to_owned(),
            Kind::Of("Slice", inner) => format!("Box<[{}]>", inner.name()),
            Kind::Of("Pin", inner) => format!("Pin<Box<{}>>", inner.name()),
            Kind::Of(wrapper, inner) => format!("{wrapper}<{}>", inner.name()),
            Kind::Array(inner, length) => format!("[{}; {length}]", inner.name()),
            Kind::Result(good, bad) => format!("Result<{}, {}>", good.name(), bad.name()),
            Kind::Map(name, key, value) => format!("{name}<{}, {}>", key.name(), value.name()),
            Kind::Tuple(kinds) => {
                let names: String = kinds.iter().map(|kind| kind.name() + ", ").collect();
                format!("({names})")
            }
            Kind::Own(name, _) => name.clone(),
        }
    }
}

/// The source of a program with random values, and the types of the values.
fn program(seed: u64) -> (String, Vec<Kind>) {
    let mut program = Program {
        numbers: Numbers(seed),
        types: String::new(),
        count: 0,
    };
    let mut kinds = Vec::new();
    let (mut lets, mut prints, mut uses) = (String::new(), String::new(), String::new());
    for number in 0..VALUES {
        let kind = program.kind(DEPTH);
        let value = program.value(&kind);
        let _ = writeln!(lets, "    let v{number}: {} = {value};", kind.name());
        let _ = writeln!(prints, "    println!(\"{{:?}}\", v{number});");
        let _ = write!(uses, "&v{number} as &dyn Debug, ");
        kinds.push(kind);
    }
    let types = &program.types;
    let source = format!(
        "#![allow(warnings)]
use std::cell::*;
use std::cmp::{{Ordering, Reverse}};
use std::collections::*;
use std::fmt::Debug;
use std::num::{{NonZero, Wrapping}};
use std::ops::{{Range, RangeInclusive}};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
{types}
/// In a ring that begins anywhere.
fn ring<T>(items: Vec<T>) -> VecDeque<T> {{
    let mut ring = VecDeque::with_capacity(items.len());
    for (at, item) in items.into_iter().enumerate() {{
        if at % 2 == 0 {{ ring.push_back(item) }} else {{ ring.push_front(item) }}
    }}
    ring
}}
fn main() {{
{lets}
{prints}
    std::hint::black_box([{uses}]); // stop: main
}}
"
    );
    (source, kinds)
}

/// The text of a value without the counts of its shared owner.
fn without_counts(text: &str) -> &str {
    text.find(" (strong ").map_or(text, |at| &text[..at])
}

/// `Choice3::V1` → `V1`: `{:?}` leaves the enum's name out.
fn without_paths(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("Choice") {
        let name = &rest[at..];
        let end = 6 + name[6..]
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(name.len() - 6);
        out.push_str(&rest[..at]);
        rest = name[end..].strip_prefix("::").unwrap_or(&name[end..]);
    }
    out + rest
}

/// The text that `{:?}` would print, built from a value's children.
fn debug(session: &Session, named: &NamedValue, rendered: &Rendered, kind: &Kind) -> String {
    let count = rendered.named + rendered.indexed;
    let children = session
        .children(&named.value, None, 0..count)
        .expect("children");
    assert_eq!(children.len() as u64, count, "{}", rendered.text);
    let (fields, elements) = children.split_at(rendered.named as usize);
    let fields: Vec<_> = fields
        .iter()
        .filter(|(child, _)| !child.name.starts_with('['))
        .collect();
    let list = |(open, close): (&str, &str), inner: &Kind| {
        let all = elements
            .iter()
            .map(|(child, rendered)| debug(session, child, rendered, inner));
        format!("{open}{}{close}", all.collect::<Vec<_>>().join(", "))
    };
    let record = |name: &str, named: bool, kinds: &[&Kind]| {
        assert_eq!(fields.len(), kinds.len(), "{}", rendered.text);
        let all = fields.iter().zip(kinds).map(|((child, rendered), kind)| {
            let value = debug(session, child, rendered, kind);
            match named {
                true => format!("{}: {value}", child.name),
                false => value,
            }
        });
        let all = all.collect::<Vec<_>>().join(", ");
        match (kinds.is_empty(), named) {
            (true, _) => name.to_owned(),
            (_, true) => format!("{name} {{ {all} }}"),
            (_, false) if name.is_empty() && kinds.len() == 1 => format!("({all},)"),
            (_, false) => format!("{name}({all})"),
        }
    };
    let text = without_counts(&rendered.text);
    let name = without_paths(text);
    let name = name.split([' ', '(', '{']).next().unwrap_or_default();
    match kind {
        Kind::Of("Box" | "Rc" | "Arc" | "Pin" | "Wrapping", inner) => {
            debug(session, named, rendered, inner)
        }
        Kind::Of("Option", inner) if name == "Some" => record("Some", false, &[inner]),
        Kind::Of("Cell", inner) => record("Cell", true, &[inner]),
        Kind::Of("RefCell", inner) => record("RefCell", true, &[inner]),
        Kind::Of("Reverse", inner) => record("Reverse", false, &[inner]),
        Kind::Of("HashSet" | "BTreeSet", inner) => list(("{", "}"), inner),
        Kind::Of("Vec" | "VecDeque" | "LinkedList" | "Slice" | "BinaryHeap", inner) => {
            list(("[", "]"), inner)
        }
        Kind::Array(inner, _) => list(("[", "]"), inner),
        Kind::Map(_, _, inner) => {
            let all = elements.iter().map(|(child, rendered)| {
                let key = child
                    .name
                    .strip_prefix('[')
                    .and_then(|key| key.strip_suffix(']'));
                format!(
                    "{}: {}",
                    key.expect("a key"),
                    debug(session, child, rendered, inner)
                )
            });
            format!("{{{}}}", all.collect::<Vec<_>>().join(", "))
        }
        Kind::Result(good, _) if name == "Ok" => record("Ok", false, &[good]),
        Kind::Result(_, bad) => record("Err", false, &[bad]),
        Kind::Tuple(kinds) => record("", false, &kinds.iter().collect::<Vec<_>>()),
        Kind::Own(own, variants) => {
            let variant = variants
                .iter()
                .find(|variant| variant.name.as_deref().unwrap_or(own) == name);
            let variant = variant.unwrap_or_else(|| panic!("no variant {name}: {text}"));
            let kinds: Vec<&Kind> = variant.fields.iter().collect();
            record(name, variant.named, &kinds)
        }
        _ => text.to_owned(),
    }
}

/// The debugger shows combining marks on their characters. Rust escapes all of them.
fn with_marks(text: &str) -> String {
    text.replace("\\u{301}", "\u{301}")
}

fn check(seed: u64) {
    let (source, kinds) = program(seed);
    let fixture = inline(&format!("random{seed}.rs"), &source, &[]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["main"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let look = |session: &Session, frame| -> Vec<(String, String)> {
        let variables = session.variables(frame).expect("variables");
        assert_eq!(variables.len(), VALUES);
        let shown = variables
            .iter()
            .zip(&kinds)
            .map(|((named, rendered), kind)| {
                let text = rendered.text.clone();
                (debug(session, named, rendered, kind), text)
            });
        shown.collect()
    };
    let shown = listing::live_and_post_mortem(debuggee.session(), thread, look);
    debuggee.resume();
    debuggee.expect_exit();
    let printed: Vec<&str> = debuggee.stdout.lines().collect();
    assert_eq!(printed.len(), VALUES);
    let mut whole = 0;
    for ((number, printed), ((by_children, line), kind)) in
        (0..).zip(printed).zip(shown.iter().zip(&kinds))
    {
        let name = kind.name();
        assert_eq!(
            with_marks(by_children),
            with_marks(printed),
            "seed {seed}, v{number}: {name}, by its children"
        );
        // A single line may be cut, and then ends with the length.
        if line.contains('…') {
            continue;
        }
        let line = without_paths(without_counts(line));
        let line = match line.strip_prefix("len = ") {
            Some(rest) => rest.split_once(' ').map_or("", |(_, rest)| rest).to_owned(),
            None => line,
        };
        assert_eq!(
            with_marks(&line),
            with_marks(printed),
            "seed {seed}, v{number}: {name}, in one line"
        );
        whole += 1;
    }
    assert!(
        whole > VALUES / 2,
        "seed {seed}: only {whole} were shown whole"
    );
}

#[test]
fn random_values_are_shown_as_they_print_themselves() {
    check(1);
}

#[test]
fn and_others_too() {
    check(1_000_003);
}
