//! Rust's rules for method calls, comparisons and references that are evaluated without running the program: which type in the chain of
//! dereferences has the method, the `Option` that a look-up returns, equality part by part, and coercions to slices.

use super::arithmetic::is_equal;
use super::builtins::behind_reference;
use super::called::Candidate;
use super::{Fault, MAX_STEPS, Runner, seen_through};
use crate::calls::Image;
use crate::eval::ir::{Binary, Expression, Kind};
use crate::values::view::{LONG, View};
use crate::values::{Contents, Number, Value, names};
use dapple_symbols::functions::Language;
use dapple_symbols::types::{Type, TypeKind};

/// The container that an expression looks an element up in: `v` for `v.get(1)` or `v.first().copied()`. `None`: it looks nothing up.
pub(super) fn looked_up_in(expression: &Expression) -> Option<&Expression> {
    let (base, name, arguments) = expression.as_method()?;
    match (name, arguments.len()) {
        ("get", 1) | ("first" | "last" | "front" | "back", 0) => Some(base),
        ("copied" | "cloned", 0) => looked_up_in(base),
        _ => None,
    }
}

/// The deepest nesting that is compared.
const DEEPEST: usize = 16;
/// The most parts that are compared.
const MOST_COMPARED: usize = 10_000;

impl Runner<'_> {
    /// A user's methods called `name`, for a call on `value`. The first type behind references and smart pointers decides: `rc.as_str()` of
    /// an `Rc<W>` is `W`'s. Empty: that is a type of the standard library, or it has no such method.
    pub(super) fn users_methods(&self, value: &Value, name: &str) -> Vec<Candidate> {
        if self.frame.language != Language::Rust {
            return Vec::new();
        }
        let mut value = value.clone();
        for _ in 0..MAX_STEPS {
            let view = self.reader.view(&value, LONG);
            let type_ = self.reader.resolve(&value).map(|resolved| resolved.type_);
            let is_users = type_.is_some_and(|type_| {
                type_.language == Language::Rust
                    && matches!(type_.kind, TypeKind::Aggregate(_))
                    && matches!(view, View::Record(_))
                    && !type_.name.starts_with(['&', '*', '('])
                    && !names::is_rust_std(names::path_name(&type_.name))
            });
            if is_users {
                return self.rust_methods(&value, name);
            }
            value = match view {
                View::Alias(target) => target,
                // The value of `&x`, which was computed here.
                View::Pointer {
                    target: Some(target),
                    ..
                } if matches!(value.contents, Contents::Number(_)) => target,
                _ => break,
            };
        }
        Vec::new()
    }

    /// The result of `is_some()`, `unwrap()` or the like, called on the `Option` that a look-up returns. `base` is the look-up, such as
    /// `v.get(1)` or `v.first()`. `None`: `base` is no look-up in a container, or `method` is another method.
    pub(super) fn of_looked_up(
        &self,
        base: &Expression,
        method: &str,
        arguments: &[Expression],
    ) -> Option<Result<Value, Fault>> {
        if self.frame.language != Language::Rust {
            return None;
        }
        let asks = matches!(
            method,
            "is_some" | "is_none" | "unwrap" | "expect" | "unwrap_or" | "copied" | "cloned"
        );
        let Kind::Method { .. } = base.kind else {
            return None;
        };
        let container = looked_up_in(base).filter(|_| asks)?;
        let element = self.element_type(container)?;
        let found = self.method(base);
        let flag = |is: bool| Ok(self.computed(Number::Bool(is)));
        Some(match (method, arguments, found) {
            ("is_some" | "is_none", _, Ok(_)) => flag(method == "is_some"),
            ("is_some" | "is_none", _, Err(fault)) if fault.is_absent => flag(method == "is_none"),
            ("unwrap_or", [otherwise], Err(fault)) if fault.is_absent => {
                self.otherwise(otherwise, &element)
            }
            (_, _, found) => found,
        })
    }

    /// If `expression` is a look-up in a container, wraps its result `found` in an `Option`, as the look-up returns in Rust: an absent
    /// element becomes `None`. Else returns `found` unchanged.
    pub(super) fn as_option(
        &self,
        expression: &Expression,
        found: Result<Value, Fault>,
    ) -> Result<Value, Fault> {
        let is_absent = found.as_ref().is_err_and(|fault| fault.is_absent);
        let is_rust = self.frame.language == Language::Rust;
        let container = match (&found, looked_up_in(expression)) {
            (Ok(_), Some(container)) if is_rust => container,
            (Err(_), Some(container)) if is_rust && is_absent => container,
            _ => return found,
        };
        let Some(element) = self.element_type(container) else {
            return found;
        };
        let is_copied = matches!(&expression.kind, Kind::Method { name, .. } if matches!(name.as_str(), "copied" | "cloned"));
        let of = match is_copied {
            true => element,
            false => format!("&{element}"),
        };
        Ok(self.choice_of(found.ok(), of))
    }

    /// The name of the type of a container's elements, or of a map's values; empty if unknown. `None`: it is not a container.
    pub(super) fn element_type(&self, container: &Expression) -> Option<String> {
        let mut value = self.value(container).ok()?;
        for _ in 0..MAX_STEPS {
            match self.reader.view(&value, LONG) {
                View::Sequence(sequence) => return Some(self.type_of(&sequence.element)),
                View::Entries(entries) => {
                    let first = entries.iter().next();
                    return Some(first.map_or_else(String::new, |it| self.type_of(&it.value)));
                }
                view => value = seen_through(view)?,
            }
        }
        None
    }

    /// The result of `==` or `!=` for two values of the same type, part by part as a derived `PartialEq` does. `None`: it is another operator
    /// or language, or some parts can't be compared.
    pub(super) fn compare_parts(
        &self,
        operator: Binary,
        left: &Expression,
        right: &Expression,
    ) -> Option<Number> {
        let is_wanted = matches!(operator, Binary::Equal | Binary::NotEqual);
        if !is_wanted || self.frame.language != Language::Rust {
            return None;
        }
        let (one, other) = (self.value(left).ok()?, self.value(right).ok()?);
        let mut visits = 0;
        let is_same = self.same_parts((&one, &other), left, DEEPEST, &mut visits)?;
        Some(Number::Bool(is_same == (operator == Binary::Equal)))
    }

    /// The struct, tuple or enum with data that an expression is or refers to.
    pub(super) fn record_of(&self, expression: &Expression) -> Option<Value> {
        let mut value = self.value(expression).ok()?;
        for _ in 0..MAX_STEPS {
            match self.reader.view(&value, LONG) {
                View::Record(_) if self.number_of(&value, expression).is_err() => {
                    return Some(value);
                }
                View::Alias(target) => value = target,
                _ => return None,
            }
        }
        None
    }

    /// Whether two values of the same type are equal according to a derived `PartialEq`. `false` also if some parts can't be compared.
    pub(super) fn is_equal_part_by_part(
        &self,
        one: &Value,
        other: &Value,
        source: &Expression,
    ) -> bool {
        let mut visits = 0;
        self.same_parts((one, other), source, DEEPEST, &mut visits) == Some(true)
    }

    fn same_parts(
        &self,
        (one, other): (&Value, &Value),
        source: &Expression,
        depth: usize,
        visits: &mut usize,
    ) -> Option<bool> {
        *visits += 1;
        if depth == 0 || *visits > MOST_COMPARED {
            return None;
        }
        let same = |one: &Value, other: &Value, visits: &mut usize| {
            self.same_parts((one, other), source, depth - 1, visits)
        };
        if let (Some(one), Some(other)) = (self.text_in(one), self.text_in(other)) {
            return Some(one == other);
        }
        let views = (self.reader.view(one, LONG), self.reader.view(other, LONG));
        match views {
            (View::Alias(one), View::Alias(other)) => same(&one, &other, visits),
            (View::Alias(one), _) => same(&one, other, visits),
            (_, View::Alias(other)) => same(one, &other, visits),
            (View::Record(first), View::Record(second)) => {
                if self.type_of(one) != self.type_of(other) {
                    return None;
                }
                if first.name != second.name || first.fields.len() != second.fields.len() {
                    return Some(false);
                }
                for (first, second) in first.fields.iter().zip(&second.fields) {
                    if first.name != second.name || !same(&first.value, &second.value, visits)? {
                        return Some(false);
                    }
                }
                Some(true)
            }
            (View::Sequence(first), View::Sequence(second)) => {
                if first.length != second.length {
                    return Some(false);
                }
                for index in 0..first.length {
                    if !same(&first.at(index), &second.at(index), visits)? {
                        return Some(false);
                    }
                }
                Some(true)
            }
            (View::Leaf(_), View::Leaf(_)) => {
                match (self.number_of(one, source), self.number_of(other, source)) {
                    (Ok(one), Ok(other)) => Some(is_equal(one, other)),
                    // Values without data, such as `()` and markers, are equal if they have the same type.
                    _ => (self.reader.size_of(one) == Some(0)
                        && self.type_of(one) == self.type_of(other))
                    .then_some(true),
                }
            }
            _ => None,
        }
    }

    /// The slice, an address and a length, that a reference to a container is coerced to for a parameter of type `type_`: `&Vec<T>` to `&[T]`,
    /// `&String` to `&str`. `None`: there is no such coercion.
    pub(super) fn as_slice(&self, type_: &Type, argument: &Expression) -> Option<Image> {
        if type_.language != Language::Rust || type_.size != Some(2 * self.reader.address_size()) {
            return None;
        }
        let element = type_
            .name
            .strip_prefix("&mut ")
            .or(type_.name.strip_prefix('&'))?;
        let is_reference = |value: &Value| {
            let type_ = self.reader.resolve(value).map(|resolved| resolved.type_);
            type_.is_some_and(|type_| type_.name.starts_with('&'))
        };
        let mut value = self.value(behind_reference(argument)).ok()?;
        let is_referred = !std::ptr::eq(behind_reference(argument), argument);
        if !is_referred && !is_reference(&value) {
            return None;
        }
        for _ in 0..MAX_STEPS {
            let (address, length) = match self.reader.view(&value, LONG) {
                View::Alias(target) => {
                    value = target;
                    continue;
                }
                View::Text {
                    address: Some(address),
                    ..
                } if element == "str" => (address, self.text_in(&value)?.len() as u64),
                View::Sequence(sequence) if sequence.ring.is_none() => {
                    let first = sequence.at(0);
                    let inner = element.strip_prefix('[')?.strip_suffix(']')?;
                    let own = self.reader.resolve(&first)?.type_;
                    if &*own.name != inner {
                        return None;
                    }
                    (first.contents.address()?.0, sequence.length)
                }
                _ => return None,
            };
            let size = usize::from(self.word_size()).min(8);
            let words = [address, length].map(u64::to_le_bytes);
            let bytes = words.iter().flat_map(|word| &word[..size]);
            return Some(Image::of(bytes.copied().collect()));
        }
        None
    }

    /// A length, which in Rust has the type `usize` if the program has that type.
    pub(super) fn length(&self, length: u64) -> Value {
        let number = Number::integer(length.into(), self.word_size(), false);
        let usize_type = match self.frame.language {
            Language::Rust => self.type_named("usize"),
            _ => None,
        };
        match usize_type {
            Some((module, id)) => {
                let bytes = Contents::Bytes(length.to_le_bytes().as_slice().into());
                Value::new(module, Some(id), Language::Rust, bytes)
            }
            None => self.computed(number),
        }
    }
}
