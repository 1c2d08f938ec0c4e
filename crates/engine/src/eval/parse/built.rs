//! Values that are written part by part: `Point { x: 1, y: 2 }`, `Some(5)`, `(1, 2)`, `[1, 2]`, and C's `{1, 2}`.

use super::{Parser, TokenKind};
use crate::eval::Fault;
use crate::eval::ir::{Expression, Kind, Part};
use dapple_symbols::functions::Language;

/// The most parts of one value.
const MAX_PARTS: usize = 1024;

impl Parser {
    fn is_next(&self, operator: &str) -> bool {
        matches!(self.peek(), TokenKind::Operator(next) if *next == operator)
    }

    /// What is written behind the name of a type or variant; `None`: it's another's name.
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

    /// What begins with a bracket: a list, and in Rust an array.
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

    /// The rest of a tuple behind its first part; `None`: it is none, only an expression in brackets.
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
            if parts.len() >= MAX_PARTS {
                return Err(self.fault("these are too many parts"));
            }
            let part = self.nested(Self::part)?;
            parts.push(part);
            if !self.accept(",") && !self.is_next(close) {
                return Err(self.fault(&format!("`,` or `{close}` was expected here")));
            }
        }
        Ok(parts)
    }

    /// `1`, `x: 1`, `.x = 1`, and `x = 1`, as values are shown.
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
        let value = self.expression()?;
        Ok(Part { name, value })
    }
}
