//! Random expressions, as text.

use crate::support::Numbers;
use dapple_symbols::functions::Language;

/// What a variable holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Integer(&'static str),
    Float(u8),
    Bool,
    Char,
    Pointer,
}

/// Makes expressions over variables.
pub struct Expressions<'a> {
    pub numbers: Numbers,
    pub language: Language,
    pub variables: &'a [(&'static str, Kind)],
    /// Arrays and pointers whose elements are integers: name, the elements' type.
    pub indexed: &'a [(&'static str, &'static str)],
}

const C_TYPES: [&str; 9] = [
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "unsigned",
    "long",
    "unsigned long",
    "_Bool",
];
const RUST_TYPES: [&str; 9] = [
    "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "usize",
];
const COMPARISONS: [&str; 6] = ["==", "!=", "<", "<=", ">", ">="];

impl Expressions<'_> {
    fn is_rust(&self) -> bool {
        self.language == Language::Rust
    }

    /// An expression, mostly a condition.
    pub fn any(&mut self) -> String {
        let depth = 1 + self.numbers.below(4);
        match self.numbers.below(8) {
            0 => self.integer(depth, None),
            1 => self.float(depth),
            _ => self.truth(depth),
        }
    }

    fn variable(&mut self, wanted: impl Fn(Kind) -> bool) -> Option<String> {
        let all: Vec<_> = self.variables.iter().filter(|(_, k)| wanted(*k)).collect();
        (!all.is_empty()).then(|| all[self.numbers.below(all.len())].0.to_owned())
    }

    fn type_(&mut self) -> &'static str {
        match self.is_rust() {
            true => self.numbers.pick(&RUST_TYPES),
            false => self.numbers.pick(&C_TYPES),
        }
    }

    fn literal(&mut self, type_: Option<&str>) -> String {
        const LITERALS: [&str; 16] = [
            "0",
            "1",
            "-1",
            "2",
            "3",
            "7",
            "8",
            "31",
            "100",
            "127",
            "-128",
            "255",
            "32767",
            "65535",
            "2147483647",
            "4294967295",
        ];
        const WIDE: [&str; 5] = [
            "-2147483648",
            "9223372036854775807",
            "18446744073709551615",
            "0x8000000000000000",
            "-9223372036854775808",
        ];
        let literal = match self.numbers.one_in(6) {
            true => self.numbers.pick(&WIDE),
            false => self.numbers.pick(&LITERALS),
        };
        let suffixes: &[&str] = match (self.is_rust(), type_) {
            (true, Some(type_)) if self.numbers.one_in(4) && !literal.starts_with('-') => {
                // Only literals that fit each type.
                return format!("{}{type_}", self.numbers.below(128));
            }
            (true, _) => &[""],
            (false, _) => &["", "", "u", "l", "ul"],
        };
        let suffix = self.numbers.pick(suffixes);
        format!("{literal}{suffix}")
    }

    /// An integer; in Rust of the given type, mostly.
    fn integer(&mut self, depth: usize, type_: Option<&'static str>) -> String {
        let type_ = match type_ {
            Some(type_) if !self.numbers.one_in(40) => type_,
            _ => self.type_(),
        };
        let is_rust = self.is_rust();
        if depth == 0 || self.numbers.one_in(5) {
            let kind = |kind| match kind {
                Kind::Integer(own) => !is_rust || own == type_,
                Kind::Char | Kind::Bool => !is_rust,
                _ => false,
            };
            let found = match self.numbers.one_in(4) {
                true => None,
                false => self.variable(kind),
            };
            return found.unwrap_or_else(|| self.literal(Some(type_)));
        }
        let depth = depth - 1;
        match self.numbers.below(14) {
            0..=5 => {
                let operator = self.numbers.pick(&["+", "-", "*", "/", "%", "&", "|", "^"]);
                let (a, b) = (
                    self.integer(depth, Some(type_)),
                    self.integer(depth, Some(type_)),
                );
                format!("({a} {operator} {b})")
            }
            6 => {
                let operator = self.numbers.pick(&["<<", ">>"]);
                let a = self.integer(depth, Some(type_));
                let b = match self.numbers.one_in(3) {
                    true => self.integer(depth, None),
                    false => self.numbers.below(70).to_string(),
                };
                format!("({a} {operator} {b})")
            }
            7 | 8 => {
                let operators: &[&str] = match is_rust {
                    true => &["-", "!"],
                    false => &["-", "~", "+", "!"],
                };
                let operator = self.numbers.pick(operators);
                let operand = self.integer(depth, Some(type_));
                format!("({operator}({operand}))")
            }
            9 | 10 => {
                let operand = match self.numbers.below(8) {
                    0 => self.truth(depth),
                    1 => self
                        .variable(|kind| kind == Kind::Char)
                        .unwrap_or_else(|| "7".to_owned()),
                    2 => self
                        .variable(|kind| kind == Kind::Pointer)
                        .unwrap_or_else(|| "7".to_owned()),
                    _ => self.integer(depth, None),
                };
                match is_rust {
                    true => format!("({operand} as {type_})"),
                    false if self.numbers.one_in(8) => format!("(char)({operand})"),
                    false => format!("({type_})({operand})"),
                }
            }
            11 => {
                let fitting: Vec<_> = (self.indexed.iter())
                    .filter(|(_, own)| !is_rust || *own == type_)
                    .collect();
                if fitting.is_empty() {
                    return self.integer(depth, Some(type_));
                }
                let name = fitting[self.numbers.below(fitting.len())].0;
                let index = match self.numbers.one_in(2) {
                    true => self.numbers.below(18).to_string(),
                    false => self.integer(depth, is_rust.then_some("usize")),
                };
                format!("{name}[{index}]")
            }
            12 if !is_rust => {
                let condition = self.truth(depth);
                let (yes, no) = (self.integer(depth, None), self.integer(depth, None));
                format!("({condition} ? {yes} : {no})")
            }
            13 if !is_rust && self.numbers.one_in(3) => match self.variable(|_| true) {
                Some(name) => format!("sizeof({name})"),
                None => "sizeof(long)".to_owned(),
            },
            _ => self.integer(depth, Some(type_)),
        }
    }

    fn float(&mut self, depth: usize) -> String {
        let is_rust = self.is_rust();
        if depth == 0 || self.numbers.one_in(4) {
            const LITERALS: [&str; 9] = [
                "0.0",
                "-0.0",
                "1.0",
                "-1.5",
                "0.1",
                "1e300",
                "16777217.0",
                "1e-320",
                "3.5",
            ];
            return match self.numbers.one_in(4) {
                true => {
                    let suffixes: &[&str] = if is_rust { &["", "f32"] } else { &["", "f"] };
                    let suffix = self.numbers.pick(suffixes);
                    format!("{}{suffix}", self.numbers.pick(&LITERALS))
                }
                false => {
                    let size = if self.numbers.one_in(2) { 4 } else { 8 };
                    let kind = move |kind| kind == Kind::Float(size);
                    self.variable(kind).unwrap_or_else(|| "1.0".to_owned())
                }
            };
        }
        let depth = depth - 1;
        match self.numbers.below(8) {
            0..=4 => {
                let operator = match self.numbers.one_in(30) {
                    true => "%",
                    false => self.numbers.pick(&["+", "-", "*", "/"]),
                };
                let a = self.float(depth);
                let b = match self.numbers.one_in(4) {
                    true => self.integer(depth, None),
                    false => self.float(depth),
                };
                format!("({a} {operator} {b})")
            }
            5 if !is_rust && self.numbers.one_in(2) => {
                let condition = self.truth(depth);
                let yes = self.float(depth);
                let no = match self.numbers.one_in(3) {
                    true => self.integer(depth, None),
                    false => self.float(depth),
                };
                format!("({condition} ? {yes} : {no})")
            }
            5 => format!("(-({}))", self.float(depth)),
            _ => {
                let operand = match self.numbers.one_in(3) {
                    true => self.float(depth),
                    false => self.integer(depth, None),
                };
                let type_ = match self.numbers.one_in(2) {
                    true if is_rust => "f32",
                    false if is_rust => "f64",
                    true => "float",
                    false => "double",
                };
                match is_rust {
                    true => format!("({operand} as {type_})"),
                    false => format!("({type_})({operand})"),
                }
            }
        }
    }

    fn compared(&mut self, depth: usize) -> String {
        let operator = self.numbers.pick(&COMPARISONS);
        let (a, b) = match self.numbers.below(10) {
            0..=4 => {
                let type_ = self.type_();
                let wanted = Some(type_).filter(|_| !self.numbers.one_in(10));
                (
                    self.integer(depth, Some(type_)),
                    self.integer(depth, wanted),
                )
            }
            5 => (self.float(depth), self.integer(depth, None)),
            6 | 7 => (self.float(depth), self.float(depth)),
            8 => {
                let named = |this: &mut Self| {
                    let found = this.variable(|kind| kind == Kind::Pointer);
                    found.unwrap_or_else(|| "0".to_owned())
                };
                let is_rust = self.is_rust();
                let pointer = |this: &mut Self| match !is_rust && this.numbers.one_in(4) {
                    true => {
                        let condition = this.truth(depth.min(1));
                        format!("({condition} ? {} : {})", named(this), named(this))
                    }
                    false => named(this),
                };
                let other = match self.numbers.below(3) {
                    0 => pointer(self),
                    1 => self
                        .numbers
                        .pick(&["0", "-1", "1", "0x10000000"])
                        .to_owned(),
                    _ => self.integer(depth, None),
                };
                (pointer(self), other)
            }
            _ => {
                let letter = self.variable(|kind| kind == Kind::Char);
                let other = match self.numbers.one_in(2) {
                    true => "'a'".to_owned(),
                    false => self.integer(depth, None),
                };
                (letter.unwrap_or_else(|| "'b'".to_owned()), other)
            }
        };
        match self.numbers.one_in(2) {
            true => format!("({a} {operator} {b})"),
            false => format!("({b} {operator} {a})"),
        }
    }

    fn truth(&mut self, depth: usize) -> String {
        if depth == 0 {
            return match self.numbers.below(8) {
                0 => self.numbers.pick(&["true", "false"]).to_owned(),
                _ => {
                    let found = self.variable(|kind| kind == Kind::Bool);
                    found.unwrap_or_else(|| "true".to_owned())
                }
            };
        }
        let depth = depth - 1;
        match self.numbers.below(10) {
            0..=4 => self.compared(depth),
            5 | 6 => {
                let operator = self.numbers.pick(&["&&", "||"]);
                let (a, b) = (self.truth(depth), self.truth(depth));
                format!("({a} {operator} {b})")
            }
            7 if !self.is_rust() && self.numbers.one_in(2) => {
                let (condition, yes) = (self.truth(depth), self.truth(depth));
                format!("({condition} ? {yes} : {})", self.truth(depth))
            }
            7 => format!("!({})", self.truth(depth)),
            8 => {
                let operators = ["&", "|", "^", "==", "!=", "<", "+"];
                let operator = self.numbers.pick(&operators);
                let (a, b) = (self.truth(depth), self.truth(depth));
                format!("({a} {operator} {b})")
            }
            _ => match self.is_rust() {
                true => self.truth(depth),
                false => self.integer(depth, None),
            },
        }
    }
}
