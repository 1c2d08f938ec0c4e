//! Types in expressions: the targets of casts, and the operands of `sizeof` and the like.

use super::{Parser, TokenKind};
use crate::eval::Fault;
use crate::eval::ir::{Form, Kind, Scalar, TypeName};
use crate::values::Number;
use dapple_symbols::functions::Language;

/// Words before or after a type's name that don't matter for finding it.
const QUALIFIERS: [&str; 8] = [
    "const", "volatile", "struct", "class", "union", "enum", "typename", "mut",
];

impl Parser {
    /// Parses an expression that begins with `name`, which was read already, if that is a keyword: `sizeof`, `static_cast`, `size_of`, or
    /// a numeric type in front of a bracket. `None`: it is another name.
    pub(super) fn keyword(&mut self, name: &str) -> Result<Option<Kind>, Fault> {
        let is_rust = self.language == Language::Rust;
        match name {
            "sizeof" | "alignof" | "_Alignof" if !is_rust => {
                let is_size = name == "sizeof";
                if matches!(self.peek(), TokenKind::Operator("(")) && self.is_type_at(self.next + 1)
                {
                    self.next += 1;
                    let target = self.type_name()?;
                    self.expect(")")?;
                    return Ok(Some(match is_size {
                        true => Kind::SizeOfType(target),
                        false => Kind::AlignOfType(target),
                    }));
                }
                let operand = Box::new(self.nested(Self::unary)?);
                Ok(Some(match is_size {
                    true => Kind::SizeOf(operand),
                    false => Kind::AlignOf(operand),
                }))
            }
            "static_cast" | "reinterpret_cast" | "const_cast" | "dynamic_cast" if !is_rust => {
                self.expect("<")?;
                let mut target = self.type_name()?;
                if name == "dynamic_cast" && target.form == Form::Plain {
                    target.form = Form::Checked;
                }
                self.expect(">")?;
                self.expect("(")?;
                let operand = Box::new(self.nested(Self::expression)?);
                self.expect(")")?;
                Ok(Some(Kind::Cast { operand, target }))
            }
            // `int(x)`.
            _ if !is_rust
                && matches!(self.peek(), TokenKind::Operator("("))
                && scalar(&[name.to_owned()]).is_some() =>
            {
                let target = TypeName {
                    at: self.tokens[self.next - 1].at,
                    name: name.to_owned(),
                    scalar: scalar(&[name.to_owned()]),
                    pointers: 0,
                    form: Form::Plain,
                };
                self.next += 1;
                let operand = Box::new(self.nested(Self::expression)?);
                self.expect(")")?;
                Ok(Some(Kind::Cast { operand, target }))
            }
            _ if is_rust => self.measured(name),
            _ => Ok(None),
        }
    }

    /// Rust's `size_of::<T>()`, `align_of_val(&x)` and the like.
    fn measured(&mut self, name: &str) -> Result<Option<Kind>, Fault> {
        let last = name.rsplit("::").next().unwrap_or(name);
        match last {
            "size_of" | "align_of" if self.accept("<") => {
                let target = self.type_name()?;
                self.expect(">")?;
                self.expect("(")?;
                self.expect(")")?;
                Ok(Some(match last {
                    "size_of" => Kind::SizeOfType(target),
                    _ => Kind::AlignOfType(target),
                }))
            }
            "size_of_val" | "align_of_val" if self.accept("(") => {
                self.accept("&");
                let operand = Box::new(self.nested(Self::expression)?);
                self.expect(")")?;
                Ok(Some(match last {
                    "size_of_val" => Kind::SizeOf(operand),
                    _ => Kind::AlignOf(operand),
                }))
            }
            "sizeof" | "alignof" if matches!(self.peek(), TokenKind::Operator("(")) => {
                let why = format!(
                    "this is C's; in Rust it is `{0}::<T>()` or `{0}_val(&x)`",
                    last.replace("of", "_of")
                );
                Err(Fault::new(self.tokens[self.next - 1].at, why))
            }
            _ => Ok(None),
        }
    }

    /// A path that continues after template arguments, such as `Box<int>::shared`. `name` is its first part, and is returned unchanged
    /// where `<` is a comparison.
    pub(super) fn path_through_arguments(&mut self, name: String) -> String {
        let mut path = name;
        while self.language != Language::Rust && matches!(self.peek(), TokenKind::Operator("<")) {
            let begin = self.next;
            let arguments = self.type_arguments();
            match (arguments, self.peek()) {
                (Ok(arguments), TokenKind::Name(rest)) if rest.starts_with("::") => {
                    path = format!("{path}{arguments}{rest}");
                    self.next += 1;
                }
                _ => {
                    self.next = begin;
                    break;
                }
            }
        }
        path
    }

    pub(super) fn kind_at(&self, index: usize) -> &TokenKind {
        let token = self.tokens.get(index);
        token.map_or(&TokenKind::End, |token| &token.kind)
    }

    /// Whether the tokens from `index` can only be a type: they begin with a type keyword, or have the form of a pointer type.
    fn is_type_at(&self, index: usize) -> bool {
        let known = |name: &str| is_type_word(name) || QUALIFIERS.contains(&name);
        matches!(self.kind_at(index), TokenKind::Name(name) if known(name))
            || matches!(self.kind_at(index), TokenKind::Register(name) if is_argument(name))
            || self.is_pointer_at(index)
            || (matches!(self.kind_at(index), TokenKind::Name(_))
                && ["[", "("]
                    .iter()
                    .any(|open| self.are_operators_at(index + 1, &["(", "*", ")", open])))
    }

    fn are_operators_at(&self, index: usize, wanted: &[&str]) -> bool {
        (index..).zip(wanted).all(|(at, wanted)| {
            matches!(self.kind_at(at), TokenKind::Operator(operator) if operator == wanted)
        })
    }

    /// Whether a pointer or reference type is at `index`, followed by a closing bracket.
    fn is_pointer_at(&self, index: usize) -> bool {
        let TokenKind::Name(_) = self.kind_at(index) else {
            return false;
        };
        let close = (index..self.tokens.len())
            .find(|at| matches!(self.kind_at(*at), TokenKind::Operator(")")));
        let Some(close) = close else {
            return false;
        };
        let is_of_type = |at: usize| match self.kind_at(at) {
            TokenKind::Name(_) | TokenKind::Number { .. } | TokenKind::Register(_) => true,
            TokenKind::Operator(text) => ["*", "&", "<", ">", ">>", ","].contains(text),
            _ => false,
        };
        let is_end = matches!(
            self.kind_at(close - 1),
            TokenKind::Operator("*" | "&" | ">" | ">>")
        ) || matches!(self.kind_at(close - 1), TokenKind::Name(name) if name == "const");
        is_end && (index..close).all(is_of_type)
    }

    /// Whether a C cast is next: a type in brackets. A bare name counts as a type where the token after the bracket can't be a binary
    /// operator.
    pub(super) fn is_cast_next(&self) -> bool {
        if self.language == Language::Rust || !matches!(self.peek(), TokenKind::Operator("(")) {
            return false;
        }
        let first = self.next + 1;
        // An argument may be a number: `($T2 >= capacity)`.
        let is_argument = matches!(self.kind_at(first), TokenKind::Register(_));
        let is_operand = match self.kind_at(first + 1) {
            TokenKind::Operator(text) => ![")", "*", "&", "&&", "(", "["].contains(text),
            _ => false,
        };
        if self.is_type_at(first) {
            return !(is_argument && is_operand);
        }
        let TokenKind::Name(name) = self.kind_at(first) else {
            return false;
        };
        let is_alone = matches!(self.kind_at(first + 1), TokenKind::Operator(")"));
        let begins_operand = match self.kind_at(first + 2) {
            TokenKind::Operator(text) => ["(", "~", "!"].contains(text),
            TokenKind::End => false,
            _ => true,
        };
        is_alone && begins_operand && super::literal(name).is_none()
    }

    /// Parses a type.
    pub(super) fn type_name(&mut self) -> Result<TypeName, Fault> {
        let mut target = self.nested(Self::type_inside)?;
        if self.language == Language::Rust {
            return Ok(target);
        }
        if self.accept("&") || self.accept("&&") {
            target.form = Form::Reference;
        } else if target.pointers == 0 && self.are_operators_at(self.next, &["(", "*"]) {
            self.next += 1;
            while self.accept("*") {
                target.pointers += 1;
            }
            self.expect(")")?;
            if self.accept("(") {
                self.parameters()?;
                target.form = Form::Function;
                return Ok(target);
            }
            self.expect("[")?;
            let TokenKind::Number {
                number: Number::Integer { value, .. },
                ..
            } = *self.peek()
            else {
                return Err(self.fault("a number of elements was expected here"));
            };
            self.next += 1;
            self.expect("]")?;
            target.form = Form::Array(u64::try_from(value).unwrap_or(u64::MAX));
        }
        Ok(target)
    }

    /// Passes over the types of a function's parameters, after the opening bracket.
    fn parameters(&mut self) -> Result<(), Fault> {
        while !self.accept(")") {
            if !self.accept("...") {
                self.type_name()?;
            }
            if !self.accept(",") && !matches!(self.peek(), TokenKind::Operator(")")) {
                return Err(self.fault("`,` or `)` was expected here"));
            }
        }
        Ok(())
    }

    fn type_inside(&mut self) -> Result<TypeName, Fault> {
        let mut at = self.at();
        let is_rust = self.language == Language::Rust;
        if is_rust && self.accept_name("fn") {
            self.expect("(")?;
            self.parameters()?;
            if self.accept("->") {
                self.type_name()?;
            }
            return Ok(TypeName {
                at,
                name: "fn".to_owned(),
                scalar: None,
                pointers: 1,
                form: Form::Function,
            });
        }
        if is_rust && (self.accept("*") || self.accept("&")) {
            while self.accept_name("const") || self.accept_name("mut") {}
            let target = self.type_name()?;
            let pointers = target.pointers + 1;
            return Ok(TypeName { pointers, ..target });
        }
        if let TokenKind::Register(name) = self.peek()
            && is_argument(name)
        {
            let mut name = format!("${name}");
            self.next += 1;
            // A type inside the argument's type: `$T1::node`.
            if let TokenKind::Name(inner) = self.peek().clone()
                && self.token().at == self.end()
            {
                name = format!("{name}::{}", inner.trim_start_matches("::"));
                self.next += 1;
            }
            return Ok(self.pointed(at, name, None));
        }
        let mut words: Vec<String> = Vec::new();
        let mut scalar_words = true;
        while let TokenKind::Name(name) = self.peek() {
            let name = name.clone();
            if QUALIFIERS.contains(&name.as_str()) {
                self.next += 1;
                continue;
            }
            let is_word = is_type_word(&name);
            let goes_on = words.is_empty() || (is_word && scalar_words);
            if !goes_on {
                break;
            }
            scalar_words &= is_word;
            if words.is_empty() {
                at = self.at();
            }
            words.push(name);
            self.next += 1;
        }
        if words.is_empty() {
            return Err(self.fault("a type was expected here"));
        }
        let scalar = scalar(&words);
        let mut name = words.join(" ");
        while matches!(self.peek(), TokenKind::Operator("<")) && scalar.is_none() {
            name.push_str(&self.type_arguments()?);
            if let TokenKind::Name(rest) = self.peek()
                && rest.starts_with("::")
            {
                name.push_str(rest);
                self.next += 1;
            }
        }
        Ok(self.pointed(at, name, scalar))
    }

    /// A type with the `*`s that follow its name.
    fn pointed(&mut self, at: usize, name: String, scalar: Option<Scalar>) -> TypeName {
        let is_rust = self.language == Language::Rust;
        let mut pointers = 0;
        while !is_rust && (self.accept("*") || self.accept_name("const")) {
            let is_star = matches!(self.kind_at(self.next - 1), TokenKind::Operator("*"));
            pointers += usize::from(is_star);
        }
        TypeName {
            at,
            name,
            scalar,
            pointers,
            form: Form::Plain,
        }
    }

    /// The template arguments of a call, as in `largest<int>(1, 2)`. Empty where no call follows.
    pub(super) fn called_with_types(&mut self) -> String {
        let before = self.next;
        if matches!(self.peek(), TokenKind::Operator("<"))
            && let Ok(types) = self.type_arguments()
            && matches!(self.peek(), TokenKind::Operator("("))
        {
            return types;
        }
        self.next = before;
        String::new()
    }

    /// The arguments of a generic type, as written.
    fn type_arguments(&mut self) -> Result<String, Fault> {
        let mut text = String::new();
        let mut depth = 0usize;
        let mut after_name = false;
        loop {
            let (part, is_name) = match self.peek() {
                TokenKind::Operator("<") => ("<".to_owned(), false),
                TokenKind::Operator(">") => (">".to_owned(), false),
                TokenKind::Operator(">>") => (">>".to_owned(), false),
                TokenKind::Operator(",") => (", ".to_owned(), false),
                TokenKind::Operator(other @ ("*" | "&")) => (format!(" {other}"), false),
                TokenKind::Name(name) => (name.clone(), true),
                TokenKind::Number { number, .. } => (number.text(), true),
                TokenKind::Register(name) if is_argument(name) => (format!("${name}"), true),
                _ => return Err(self.fault("`>` was expected here")),
            };
            let closed = part.matches('>').count();
            depth = (depth + part.matches('<').count()).saturating_sub(closed);
            if is_name && after_name {
                text.push(' ');
            }
            text.push_str(&part);
            after_name = is_name;
            self.next += 1;
            if depth == 0 {
                return Ok(text);
            }
        }
    }
}

/// Whether the name after a `$` is an argument of a Natvis type pattern: `T1`.
fn is_argument(name: &str) -> bool {
    let number = name.strip_prefix('T').unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_type_word(name: &str) -> bool {
    matches!(
        name,
        "unsigned" | "signed" | "const" | "long" | "short" | "int"
    ) || scalar(&[name.to_owned()]).is_some()
}

fn scalar(words: &[String]) -> Option<Scalar> {
    let integer = |size, signed| Some(Scalar::Integer { size, signed });
    let words: Vec<&str> = words
        .iter()
        .map(|word| word.strip_prefix("std::").unwrap_or(word))
        .filter(|word| *word != "const")
        .collect();
    match words.as_slice() {
        ["bool" | "_Bool"] => Some(Scalar::Bool),
        ["char"] => Some(Scalar::Char),
        ["float" | "f32"] => Some(Scalar::Float { size: 4 }),
        ["double" | "f64"] => Some(Scalar::Float { size: 8 }),
        ["long", "double"] | ["double", "long"] => Some(Scalar::Float { size: 16 }),
        ["size_t" | "usize" | "uintptr_t"] => integer(8, false),
        ["ssize_t" | "isize" | "intptr_t" | "ptrdiff_t"] => integer(8, true),
        ["__int128"] => integer(16, true),
        [only]
            if only
                .strip_suffix("_t")
                .unwrap_or(only)
                .starts_with(['i', 'u'])
                && only.ends_with(|c: char| c.is_ascii_digit() || c == 't')
                && *only != "int" =>
        {
            let name = only.strip_suffix("_t").unwrap_or(only);
            let signed = name.starts_with('i');
            let width = name.trim_start_matches("uint").trim_start_matches("int");
            let width = width.trim_start_matches(['i', 'u']).parse::<u8>().ok()?;
            matches!(width, 8 | 16 | 32 | 64 | 128).then_some(Scalar::Integer {
                size: width / 8,
                signed,
            })
        }
        [] => None,
        words => {
            let known = [
                "unsigned", "signed", "long", "short", "int", "char", "__int128",
            ];
            if !words.iter().all(|word| known.contains(word)) {
                return None;
            }
            let has = |word| words.contains(&word);
            let size = match () {
                () if has("__int128") => 16,
                () if has("char") => 1,
                () if has("short") => 2,
                () if has("long") => 8,
                () => 4,
            };
            integer(size, !has("unsigned"))
        }
    }
}
