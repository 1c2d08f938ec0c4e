//! Methods of Rust's numbers, characters, strings, options and results, computed from memory without running the program. So they also
//! work in release builds, core files and conditions. [`crate::eval::rust_library`] lists them.

use super::arithmetic::{is_untyped, typed_literal};
use super::builtins::behind_reference;
use super::rust_numbers::{self, Answer, Takes};
use super::{Fault, Runner};
use crate::Address;
use crate::eval::a_type;
use crate::eval::ir::{Expression, Kind, Scalar};
use crate::values::view::{LONG, View};
use crate::values::{Contents, Format, Made, Number, Value, number_of};
use dapple_symbols::functions::Language;
use dapple_symbols::types::TypeKind;
use std::sync::Arc;

/// Prefixes of the names of types that contain a `str`.
const TEXTS: [&str; 6] = [
    "alloc::string::String",
    "&str",
    "&mut str",
    "alloc::boxed::Box<str",
    "alloc::rc::Rc<str",
    "alloc::sync::Arc<str",
];

/// A string. `address` is the address of its bytes, if they are in memory and it is known where.
struct Text {
    text: String,
    address: Option<u64>,
}

impl Text {
    /// The value for `part`, which has to be a slice of `self.text`: its address in memory follows from its place in there.
    fn part(&self, part: &str) -> Made {
        let begin = part.as_ptr().addr().wrapping_sub(self.text.as_ptr().addr());
        Made::Text {
            text: part.as_bytes().into(),
            address: self
                .address
                .map(|address| address.wrapping_add(begin as u64)),
            is_owned: false,
        }
    }
}

/// The pattern of a search in a string.
enum Pattern {
    Text(String),
    Char(char),
}

impl Runner<'_> {
    /// The result of a library method, for one value in a chain of references. `None`: this value doesn't have the method, but the value
    /// that it refers to may have it.
    pub(super) fn rust_library(
        &self,
        value: &Value,
        view: &View,
        name: &str,
        arguments: &[Expression],
    ) -> Result<Option<Value>, Fault> {
        if let Some(text) = self.rust_text(value, view) {
            return self.of_text(&text, name, arguments);
        }
        if let View::Record(record) = view
            && let Some(variant @ ("Some" | "None" | "Ok" | "Err")) = record.name.as_deref()
            && self.is_choice(value)
        {
            let held = record.fields.first().map(|field| &field.value);
            return self.of_choice(value, (variant, held), name, arguments);
        }
        match self.scalar_in(value) {
            Some(number) => self.of_scalar(value, number, name, arguments),
            None if arguments.is_empty() => Ok(self.of_duration(value, name)),
            None => Ok(self.of_atomic(value, name, arguments)),
        }
    }

    /// The result of `s.chars().count()` and the like: `base` is `s.chars()`, and `name` is `count`. `None`: it is another expression, or `s`
    /// is no string.
    pub(super) fn of_iterated(
        &self,
        base: &Expression,
        name: &str,
        arguments: &[Expression],
    ) -> Result<Option<Value>, Fault> {
        let Kind::Method {
            base: whole,
            name: iterator,
            arguments: none,
            ..
        } = &base.kind
        else {
            return Ok(None);
        };
        let is_one = matches!(
            iterator.as_str(),
            "chars" | "bytes" | "lines" | "split_whitespace"
        );
        let is_asked = matches!(
            (name, arguments.len()),
            ("count" | "next" | "last", 0) | ("nth", 1) | ("len", 0)
        );
        let is_rust = self.frame.language == Language::Rust;
        if !is_one || !is_asked || !none.is_empty() || !is_rust {
            return Ok(None);
        }
        let Some(text) = self.text_behind(self.value_or_text(whole)?) else {
            return Ok(None);
        };
        let size = |size: usize| Ok(Some(self.length(size as u64)));
        match name {
            "len" => match iterator.as_str() {
                "bytes" => size(text.text.len()),
                _ => Ok(None),
            },
            "count" => size(match iterator.as_str() {
                "chars" => text.text.chars().count(),
                "bytes" => text.text.len(),
                "lines" => text.text.lines().count(),
                _ => text.text.split_whitespace().count(),
            }),
            _ => {
                let (items, of) = self.items_of(&text, iterator);
                let found = match (name, arguments) {
                    ("next", _) => items.into_iter().next(),
                    ("last", _) => items.into_iter().next_back(),
                    (_, [index]) => items.into_iter().nth(self.small(index)?),
                    _ => None,
                };
                Ok(Some(self.choice_of(found, of.to_owned())))
            }
        }
    }

    /// The items of an iterator over a text, and their type.
    fn items_of(&self, text: &Text, iterator: &str) -> (Vec<Value>, &'static str) {
        let number = |number| self.computed(number);
        let made = |made| self.made_value(made);
        match iterator {
            "chars" => {
                let chars = text.text.chars();
                let items = chars.map(|c| number(Number::Char(c.into())));
                (items.collect(), "char")
            }
            "bytes" => {
                let bytes = text.text.bytes();
                let byte = |byte: u8| number(Number::integer(byte.into(), 1, false));
                (bytes.map(byte).collect(), "u8")
            }
            "lines" => {
                let lines = text.text.lines();
                (lines.map(|line| made(text.part(line))).collect(), "&str")
            }
            _ => {
                let words = text.text.split_whitespace();
                (words.map(|word| made(text.part(word))).collect(), "&str")
            }
        }
    }

    /// An expression's value. In Rust, the expression may also be a string literal.
    pub(super) fn value_or_text(&self, expression: &Expression) -> Result<Value, Fault> {
        match &expression.kind {
            Kind::Text(text) if self.frame.language == Language::Rust => {
                Ok(self.made_value(Made::Text {
                    text: text[..].into(),
                    address: None,
                    is_owned: false,
                }))
            }
            _ => self.value(expression),
        }
    }

    fn made_value(&self, made: Made) -> Value {
        let module = Arc::clone(&self.module);
        Value::new(module, None, Language::Rust, Contents::Made(Arc::new(made)))
    }

    pub(super) fn choice_of(&self, held: Option<Value>, of: String) -> Value {
        let held = held.map(Box::new);
        self.made_value(Made::Option { held, of })
    }

    // Numbers and characters

    /// The number, character or `bool` in a value whose type is one of those. `None` for constants of enumerations and for addresses.
    fn scalar_in(&self, value: &Value) -> Option<Number> {
        let number = match &value.contents {
            _ if value.repeated.is_some() => return None,
            Contents::Number(number) => *number,
            contents => {
                let type_ = self.reader.resolve(value)?.type_;
                let TypeKind::Base(_) = type_.kind else {
                    return None;
                };
                let size = type_.size.filter(|size| (1..=16).contains(size))?;
                number_of(&type_, &self.reader.bytes(contents, size).ok()?)?
            }
        };
        (!matches!(number, Number::Pointer { .. })).then_some(number)
    }

    fn of_scalar(
        &self,
        value: &Value,
        number: Number,
        name: &str,
        arguments: &[Expression],
    ) -> Result<Option<Value>, Fault> {
        let mut given = Vec::new();
        for argument in arguments {
            // This method takes its argument by reference.
            let argument = match name {
                "eq_ignore_ascii_case" => behind_reference(argument),
                _ => argument,
            };
            given.push(match rust_numbers::takes(name) {
                Takes::Own => self.of_type(argument, number)?,
                Takes::Count => self.of_type(argument, Number::integer(0, 4, false))?,
            });
        }
        let answer = rust_numbers::of_character(name, number, &given)
            .or_else(|| rust_numbers::of_number(name, number, &given));
        let own = |number| self.like(value, number);
        Ok(Some(match answer {
            None => return Ok(None),
            Some(Answer::Own(number)) => own(number),
            Some(Answer::Maybe(number)) => self.choice_of(number.map(own), self.type_of(value)),
            Some(Answer::Unsigned(number)) => match (number, self.type_of(value).as_str()) {
                (Number::Integer { value, .. }, "isize" | "usize") => self.length(value as u64),
                _ => self.computed(number),
            },
            Some(Answer::Other(number)) => self.computed(number),
            Some(Answer::Size(size)) => self.length(size),
            Some(Answer::Panics(why)) => {
                let at = arguments.first().map_or(0, |argument| argument.at);
                return Err(Fault::new(at, why));
            }
        }))
    }

    /// `number` as a value of the same type as `value`.
    fn like(&self, value: &Value, number: Number) -> Value {
        match value.type_id {
            Some(id) => value.sibling(Some(id), Contents::Bytes(number.to_bytes().into())),
            None => self.computed(number),
        }
    }

    /// An argument's number. It has to have the type of `wanted`; the value of `wanted` doesn't matter.
    fn of_type(&self, argument: &Expression, wanted: Number) -> Result<Number, Fault> {
        let taken = |number: Number| {
            let taken = a_type(wanted.type_name(Language::Rust));
            let given = a_type(number.type_name(Language::Rust));
            self.fault(argument, &format!("is {given}, and {taken} is taken"))
        };
        match wanted {
            Number::Integer { size, signed, .. } => {
                let is_literal = is_untyped(argument);
                let runner = Runner {
                    literals: is_literal.then_some((size, signed)),
                    module: Arc::clone(&self.module),
                    wanted: None,
                    ..*self
                };
                match runner.number(argument)? {
                    number @ Number::Integer { .. } if is_literal => {
                        typed_literal(number, (size, signed)).ok_or_else(|| {
                            let taken = a_type(wanted.type_name(Language::Rust));
                            self.fault(argument, &format!("does not fit {taken}"))
                        })
                    }
                    number @ Number::Integer {
                        size: own,
                        signed: is_signed,
                        ..
                    } if (own, is_signed) == (size, signed) => Ok(number),
                    number => Err(taken(number)),
                }
            }
            Number::Float { size, .. } => match self.number(argument)? {
                Number::Float { value, size: own } if own == size || is_untyped(argument) => {
                    Ok(Number::Float { value, size })
                }
                number => Err(taken(number)),
            },
            _ => match self.number(argument)? {
                number @ Number::Char(_) => Ok(number),
                number => Err(taken(number)),
            },
        }
    }

    fn small(&self, argument: &Expression) -> Result<usize, Fault> {
        match self.of_type(argument, Number::integer(0, 8, false))? {
            Number::Integer { value, .. } => Ok(usize::try_from(value).unwrap_or(usize::MAX)),
            _ => Err(self.fault(argument, "is no whole number")),
        }
    }

    // Strings

    /// The string in a value whose type contains a `str`. `None`: it has another type, or the string can't be read, isn't UTF-8, or is too
    /// long.
    fn rust_text(&self, value: &Value, view: &View) -> Option<Text> {
        let address = match view {
            View::Text { address, .. } => *address,
            View::Sequence(sequence) if value.format == Format::Text => {
                sequence.element.contents.address().map(|address| address.0)
            }
            View::Pointer { address, .. } => Some(*address),
            _ => return None,
        };
        let is_text = match &value.contents {
            Contents::Made(made) => matches!(**made, Made::Text { .. }),
            _ if value.repeated.is_some() => value.format == Format::Text,
            _ => {
                let type_ = self.reader.resolve(value)?.type_;
                let is_rust = type_.language == Language::Rust;
                let is_text = |name: &&str| {
                    let rest = type_.name.strip_prefix(*name);
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([',', '>']))
                };
                is_rust && TEXTS.iter().any(is_text)
            }
        };
        if !is_text {
            return None;
        }
        // The view of an `Rc` or `Arc` is a pointer to its counts, so its address isn't that of the text.
        let is_at = !matches!(view, View::Pointer { .. });
        Some(Text {
            text: String::from_utf8(self.text_in(value)?).ok()?,
            address: address.filter(|_| is_at),
        })
    }

    /// The string that a value is, refers to or, for a `Cow`, contains.
    fn text_behind(&self, value: Value) -> Option<Text> {
        let mut value = value;
        for _ in 0..super::MAX_STEPS {
            let view = self.reader.view(&value, LONG);
            if let Some(text) = self.rust_text(&value, &view) {
                return Some(text);
            }
            match view {
                View::Alias(target) => value = target,
                view => value = self.behind_cow(&value, &view)?,
            }
        }
        None
    }

    /// What a `Cow` contains, borrowed or owned. `None`: the value is no `Cow`.
    pub(super) fn behind_cow(&self, value: &Value, view: &View) -> Option<Value> {
        let View::Record(record) = view else {
            return None;
        };
        let type_ = self.reader.resolve(value)?.type_;
        let is_cow = type_.name.starts_with("alloc::borrow::Cow<");
        let held = record.fields.first().filter(|_| is_cow)?;
        Some(held.value.clone())
    }

    fn of_text(
        &self,
        whole: &Text,
        name: &str,
        arguments: &[Expression],
    ) -> Result<Option<Value>, Fault> {
        let text = whole.text.as_str();
        let flag = |is: bool| self.computed(Number::Bool(is));
        let part = |part: &str| self.made_value(whole.part(part));
        let owned = |text: String| {
            self.made_value(Made::Text {
                text: text.into_bytes().into(),
                address: None,
                is_owned: true,
            })
        };
        let place = |at: Option<usize>| {
            let at = at.map(|at| self.length(at as u64));
            self.choice_of(at, "usize".to_owned())
        };
        let maybe = |found: Option<&str>| self.choice_of(found.map(part), "&str".to_owned());
        let answer = match (name, arguments) {
            ("trim", []) => part(text.trim()),
            ("trim_start", []) => part(text.trim_start()),
            ("trim_end", []) => part(text.trim_end()),
            ("as_str", []) => part(text),
            ("to_lowercase", []) => owned(text.to_lowercase()),
            ("to_uppercase", []) => owned(text.to_uppercase()),
            ("to_ascii_lowercase", []) => owned(text.to_ascii_lowercase()),
            ("to_ascii_uppercase", []) => owned(text.to_ascii_uppercase()),
            ("is_ascii", []) => flag(text.is_ascii()),
            ("as_bytes", []) => return self.bytes_of(whole).map(Some),
            ("is_char_boundary", [at]) => flag(text.is_char_boundary(self.small(at)?)),
            ("eq_ignore_ascii_case", [other]) => match self.text_given(other)? {
                Some(other) => flag(text.eq_ignore_ascii_case(&other)),
                None => return Err(self.fault(other, "is no text")),
            },
            (_, [wanted]) if PATTERNS.contains(&name) => match (name, self.pattern(wanted)?) {
                ("contains", Pattern::Text(it)) => flag(text.contains(&it)),
                ("contains", Pattern::Char(it)) => flag(text.contains(it)),
                ("starts_with", Pattern::Text(it)) => flag(text.starts_with(&it)),
                ("starts_with", Pattern::Char(it)) => flag(text.starts_with(it)),
                ("ends_with", Pattern::Text(it)) => flag(text.ends_with(&it)),
                ("ends_with", Pattern::Char(it)) => flag(text.ends_with(it)),
                ("find", Pattern::Text(it)) => place(text.find(&it)),
                ("find", Pattern::Char(it)) => place(text.find(it)),
                ("rfind", Pattern::Text(it)) => place(text.rfind(&it)),
                ("rfind", Pattern::Char(it)) => place(text.rfind(it)),
                ("strip_prefix", Pattern::Text(it)) => maybe(text.strip_prefix(&*it)),
                ("strip_prefix", Pattern::Char(it)) => maybe(text.strip_prefix(it)),
                (_, Pattern::Text(it)) => maybe(text.strip_suffix(&*it)),
                (_, Pattern::Char(it)) => maybe(text.strip_suffix(it)),
            },
            _ => return Ok(None),
        };
        Ok(Some(answer))
    }

    fn text_given(&self, argument: &Expression) -> Result<Option<String>, Fault> {
        let value = self.value_or_text(behind_reference(argument))?;
        Ok(self.text_behind(value).map(|text| text.text))
    }

    fn pattern(&self, argument: &Expression) -> Result<Pattern, Fault> {
        if let Some(text) = self.text_given(argument)? {
            return Ok(Pattern::Text(text));
        }
        match self.number(argument) {
            Ok(Number::Char(code)) if let Some(c) = char::from_u32(code) => Ok(Pattern::Char(c)),
            _ => Err(self.fault(argument, "is neither a text nor a character")),
        }
    }

    /// A string's bytes, as numbers.
    fn bytes_of(&self, text: &Text) -> Result<Value, Fault> {
        let byte = Scalar::Integer {
            size: 1,
            signed: false,
        };
        let (module, id) = self.scalar_type(byte).ok_or_else(|| {
            Fault::new(
                0,
                "its bytes can't be shown: the program has no type for them",
            )
        })?;
        let contents = match text.address {
            Some(address) => Contents::Memory(Address(address)),
            None => Contents::Bytes(text.text.as_bytes().into()),
        };
        let mut bytes = Value::new(module, Some(id), Language::Rust, contents);
        bytes.repeated = Some(text.text.len() as u64);
        Ok(bytes)
    }

    // Options and results

    /// Whether the value is the library's `Option` or `Result`.
    fn is_choice(&self, value: &Value) -> bool {
        if let Contents::Made(made) = &value.contents {
            return matches!(**made, Made::Option { .. });
        }
        let type_ = self.reader.resolve(value).map(|resolved| resolved.type_);
        type_.is_some_and(|type_| {
            let name = &type_.name;
            name.starts_with("core::option::Option<") || name.starts_with("core::result::Result<")
        })
    }

    fn of_choice(
        &self,
        value: &Value,
        (variant, held): (&str, Option<&Value>),
        name: &str,
        arguments: &[Expression],
    ) -> Result<Option<Value>, Fault> {
        let is_good = matches!(variant, "Some" | "Ok");
        Ok(match (name, arguments, held) {
            ("copied" | "cloned", [], Some(held)) if variant == "Some" => {
                let held = match self.reader.view(held, LONG) {
                    View::Alias(target) => target,
                    _ => held.clone(),
                };
                let of = self.type_of(&held);
                Some(self.choice_of(Some(held), of))
            }
            ("copied" | "cloned", [], _) if variant == "None" => {
                let of = self.type_argument(value, 0);
                let of = of.trim_start_matches(['&', ' ']).to_owned();
                Some(self.choice_of(None, of))
            }
            ("ok" | "err", [], held) if matches!(variant, "Ok" | "Err") => {
                let is_wanted = is_good == (name == "ok");
                let of = self.type_argument(value, usize::from(name == "err"));
                Some(self.choice_of(held.filter(|_| is_wanted).cloned(), of))
            }
            ("unwrap_or", [_], Some(held)) if is_good => Some(held.clone()),
            ("unwrap_or", [otherwise], _) => {
                let of = self.type_argument(value, 0);
                self.otherwise(otherwise, &of).map(Some)?
            }
            ("expect_err", [_], Some(held)) if variant == "Err" => Some(held.clone()),
            _ => None,
        })
    }

    /// The value of the argument of `unwrap_or`. A literal gets the type `of`.
    pub(super) fn otherwise(&self, argument: &Expression, of: &str) -> Result<Value, Fault> {
        // `&x` counts as `x`: a value of reference type is represented by its target.
        let argument = behind_reference(argument);
        let typed = is_untyped(argument).then(|| self.type_named(of)).flatten();
        if let Some((module, id)) = typed {
            let value = Value::new(
                module,
                Some(id),
                Language::Rust,
                Contents::Bytes([0; 16].into()),
            );
            if let Some(number) = self.scalar_in(&value) {
                return Ok(self.like(&value, self.of_type(argument, number)?));
            }
        }
        self.value_or_text(argument)
    }

    /// The name of a type argument of an `Option` or a `Result`, in its short form; `?` if it has none at that position.
    fn type_argument(&self, value: &Value, position: usize) -> String {
        let name = self.type_of(value);
        let inner = name
            .split_once('<')
            .and_then(|(_, rest)| rest.strip_suffix('>'));
        let inner = inner.unwrap_or_default();
        let mut depth = 0usize;
        let mut parts = inner.split(|c| {
            match c {
                '<' | '(' | '[' => depth += 1,
                '>' | ')' | ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            c == ',' && depth == 0
        });
        parts.nth(position).unwrap_or("?").trim().to_owned()
    }
}

/// The supported string methods that take a pattern.
const PATTERNS: [&str; 7] = [
    "contains",
    "starts_with",
    "ends_with",
    "find",
    "rfind",
    "strip_prefix",
    "strip_suffix",
];
