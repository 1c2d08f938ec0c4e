//! Values that are written part by part: `Point { x: 1, y: 2 }`, `Some(5)`, `(1, 2)`, `[1, 2]`, and C's `{1, 2}`.

use super::{Parser, TokenKind};
use crate::eval::Fault;
use crate::eval::ir::{Expression, Kind, Part};
use crate::values::Number;
use dapple_symbols::functions::Language;

/// The most parts of one value.
const MAX_PARTS: usize = 1024;

/// A Rust range as the structure of the standard library that it stands for: `0..3` is a `Range`.
pub(super) fn range(from: Option<Expression>, to: Option<Expression>, inclusive: bool) -> Kind {
    let name = match (&from, &to) {
        (Some(_), Some(_)) if inclusive => "RangeInclusive",
        (None, Some(_)) if inclusive => "RangeToInclusive",
        (Some(_), Some(_)) => "Range",
        (Some(_), None) => "RangeFrom",
        (None, Some(_)) => "RangeTo",
        (None, None) => "RangeFull",
    };
    let part = |name: &str, value: Option<Expression>| {
        let name = Some(name.to_owned());
        value.map(|value| Part { name, value })
    };
    Kind::Built {
        path: Some(name.to_owned()),
        parts: part("start", from)
            .into_iter()
            .chain(part("end", to))
            .collect(),
    }
}

impl Parser {
    fn is_next(&self, operator: &str) -> bool {
        matches!(self.peek(), TokenKind::Operator(next) if *next == operator)
    }

    /// Parses what follows the name of a type or variant. `None`: the name is not followed by a written value.
    pub(super) fn built_of(&mut self, name: &str) -> Result<Option<Kind>, Fault> {
        let last = name.rsplit("::").next().unwrap_or(name);
        let is_rust = self.language == Language::Rust;
        let is_constructor = is_rust && last.starts_with(char::is_uppercase);
        let parts = if is_constructor && self.accept("(") {
            self.parts(")")?
        } else if (is_constructor || self.language == Language::Cpp) && self.accept("{") {
            self.parts("}")?
        } else {
            return Ok(None);
        };
        let path = Some(name.to_owned());
        Ok(Some(Kind::Built { path, parts }))
    }

    /// Parses an array in Rust, `[1, 2]`, and a list in other languages, `{1, 2}`. `None`: no such value begins here.
    pub(super) fn built(&mut self) -> Result<Option<Kind>, Fault> {
        let is_rust = self.language == Language::Rust;
        let parts = if is_rust && self.accept("[") {
            self.parts("]")?
        } else if !is_rust && self.accept("{") {
            self.parts("}")?
        } else {
            return Ok(None);
        };
        Ok(Some(Kind::Built { path: None, parts }))
    }

    /// The rest of a tuple after its first part. `None`: it is only an expression in brackets.
    pub(super) fn tuple(&mut self, first: &Expression) -> Result<Option<Kind>, Fault> {
        if self.language != Language::Rust || !self.accept(",") {
            return Ok(None);
        }
        let mut parts = vec![Part {
            name: None,
            value: first.clone(),
        }];
        parts.extend(self.parts(")")?);
        Ok(Some(Kind::Built { path: None, parts }))
    }

    fn parts(&mut self, close: &str) -> Result<Vec<Part>, Fault> {
        let mut parts = Vec::new();
        while !self.accept(close) {
            if let [part] = parts.as_slice()
                && close == "]"
                && self.accept(";")
            {
                return self.repeated(part);
            }
            if parts.len() >= MAX_PARTS {
                return Err(self.fault("these are too many parts"));
            }
            let part = self.nested(Self::part)?;
            parts.push(part);
            let is_repeated = parts.len() == 1 && close == "]" && self.is_next(";");
            if !self.accept(",") && !self.is_next(close) && !is_repeated {
                return Err(self.fault(&format!("`,` or `{close}` was expected here")));
            }
        }
        Ok(parts)
    }

    /// Parses the count after the `;` in `[0; 3]`, and returns that many copies of the part.
    fn repeated(&mut self, part: &Part) -> Result<Vec<Part>, Fault> {
        let count = match *self.peek() {
            TokenKind::Number {
                number: Number::Integer { value, .. },
                ..
            } => usize::try_from(value).ok(),
            _ => None,
        };
        let Some(count) = count.filter(|count| *count <= MAX_PARTS) else {
            let why = format!("a number of elements was expected here, {MAX_PARTS} at most");
            return Err(self.fault(&why));
        };
        self.next += 1;
        self.expect("]")?;
        Ok(vec![part.clone(); count])
    }

    /// `1`, `x: 1`, `.x = 1`, and `x = 1`, which is how values are displayed.
    fn part(&mut self) -> Result<Part, Fault> {
        let sign = match self.language {
            Language::Rust => ":",
            _ => "=",
        };
        let dot = usize::from(sign == "=" && self.is_next("."));
        let name = match (
            self.kind_at(self.next + dot),
            self.kind_at(self.next + dot + 1),
        ) {
            (TokenKind::Name(name), TokenKind::Operator(next)) if *next == sign => {
                Some(name.clone())
            }
            _ => None,
        };
        if name.is_some() {
            self.next += dot + 2;
        }
        let value = self.ranged()?;
        Ok(Part { name, value })
    }
}
