//! Methods answered without calling the program, from the same views that values are displayed from.

use super::arithmetic::{binary_on_numbers, is_equal};
use super::{Fault, MAX_STEPS, Runner, seen_through};
use crate::eval::a_type;
use crate::eval::builtins::{self, Builtin};
use crate::eval::ir::{Binary, Expression, Kind, Unary};
use crate::values::entries::Entry;
use crate::values::view::{ALL, LONG, Record, Style, View};
use crate::values::{Contents, Number, Value, names, rust};
use dapple_symbols::functions::Language;
use dapple_symbols::types::TypeKind;

/// The most elements searched.
const MAX_SEARCHED: u64 = 10_000;

impl Runner<'_> {
    /// The result of a method on a value, without calling it.
    pub(super) fn builtin(
        &self,
        value: Value,
        base: &Expression,
        (name, at): (&str, usize),
        arguments: &[Expression],
    ) -> Result<Value, Fault> {
        let builtin = builtins::named(name, arguments.len());
        let is_rust = self.frame.language == Language::Rust;
        let whole = value;
        let mut value = whole.clone();
        for _ in 0..MAX_STEPS {
            let view = self.reader.contents_view(&value, LONG);
            let known = match (builtin, arguments) {
                (None, _) => None,
                (Some(Builtin::IsNamedVariant), [wanted]) => self.is_in_variant(&value, wanted),
                (Some(Builtin::MostDerived), []) if self.scope.is_some() => {
                    self.most_derived(&value)
                }
                (Some(Builtin::Element), [index]) if has_elements(&view) => {
                    Some(self.element(value.clone(), base, index)?)
                }
                (Some(Builtin::Contains | Builtin::Count), [wanted]) if has_elements(&view) => {
                    let number = match (builtin, self.occurrences(&value, wanted)?) {
                        (Some(Builtin::Count), count) => {
                            Number::integer(count.into(), self.word_size(), false)
                        }
                        (_, count) => Number::Bool(count > 0),
                    };
                    Some(self.computed(number))
                }
                (Some(Builtin::Contains), [wanted]) => match &view {
                    View::Record(record) => self.is_in_range(record, wanted)?,
                    _ => None,
                },
                (Some(builtin), _) => self.answer_for_view(builtin, &value, &view, base)?,
            };
            let answer = match known {
                None if is_rust => self.rust_library(&value, &view, name, arguments)?,
                known => known,
            };
            if let Some(answer) = answer {
                return Ok(answer);
            }
            let inside = match view {
                _ if let Some(held) = self.behind_cow(&value, &view) => Some(held),
                View::Pointer { target, .. } => target,
                view => seen_through(view),
            };
            match inside {
                Some(inside) => value = inside,
                None => return Err(self.unanswered(&whole, base, name, at)?),
            }
        }
        Err(self.fault(base, "leads round in a circle"))
    }

    /// The result, for one view, of a method whose arguments don't matter. `None`: this view has no answer, but the value behind it may.
    fn answer_for_view(
        &self,
        builtin: Builtin,
        value: &Value,
        view: &View,
        base: &Expression,
    ) -> Result<Option<Value>, Fault> {
        let number = |number| Ok(Some(self.computed(number)));
        match builtin {
            Builtin::Length => {
                let length = self.length_in(value, view, base)?;
                Ok(length.map(|length| self.length(length)))
            }
            Builtin::IsEmpty => {
                let length = self.length_in(value, view, base)?;
                Ok(length.map(|length| self.computed(Number::Bool(length == 0))))
            }
            Builtin::IsVariant(this, that) => match variant_in(view) {
                Some(is) if is == this || is == that => number(Number::Bool(is == this)),
                _ => Ok(None),
            },
            Builtin::HasValue if self.is_optional(value) => {
                number(Number::Bool(matches!(view, View::Alias(_))))
            }
            Builtin::Inner if self.is_optional(value) => match view {
                View::Alias(held) => Ok(Some(held.clone())),
                _ => Err(self.fault(base, "has no value")),
            },
            Builtin::Inner => self.held_in_variant(&["Some", "Ok"], view, base),
            Builtin::InnerError => self.held_in_variant(&["Err"], view, base),
            Builtin::First => self.element_at_end(value, view, base, |_| 0),
            Builtin::Last => self.element_at_end(value, view, base, |length| length - 1),
            Builtin::Get => Ok(self.got_from(value, view)),
            Builtin::Address => self.address_of_contents(value, view, base),
            Builtin::Contents => match view {
                View::Text { .. } | View::Sequence(_) => Ok(Some(value.clone())),
                _ => Ok(None),
            },
            Builtin::Same => {
                let type_ = self.reader.resolve(value).map(|resolved| resolved.type_);
                let is_library = type_.is_some_and(|type_| {
                    type_.language == Language::Rust
                        && names::is_rust_std(names::path_name(&type_.name))
                });
                Ok(is_library.then(|| value.clone()))
            }
            Builtin::HasValue
            | Builtin::IsNamedVariant
            | Builtin::MostDerived
            | Builtin::Element
            | Builtin::Contains
            | Builtin::Count => Ok(None),
        }
    }

    /// Whether a Rust enum is in the variant that `wanted` names. `None`: the value is no such enum, or `wanted` no name.
    fn is_in_variant(&self, value: &Value, wanted: &Expression) -> Option<Value> {
        let Kind::Name(wanted) = &wanted.kind else {
            return None;
        };
        let name = rust::active_variant_name(self.reader, value)?;
        Some(self.computed(Number::Bool(name == *wanted)))
    }

    /// The whole object that a value is a base of. `None`: its class has no virtual table.
    fn most_derived(&self, value: &Value) -> Option<Value> {
        let type_ = self.reader.resolve(value)?.type_;
        let TypeKind::Aggregate(aggregate) = &type_.kind else {
            return None;
        };
        self.reader.whole_object(value, aggregate)
    }

    /// The length of a text or container. `None`: the view has none.
    fn length_in(
        &self,
        value: &Value,
        view: &View,
        base: &Expression,
    ) -> Result<Option<u64>, Fault> {
        match view {
            View::Sequence(sequence) => Ok(Some(sequence.length)),
            View::Entries(entries) if !entries.is_longer => Ok(Some(entries.length)),
            View::Text { .. } => match self.text_in(value) {
                Some(text) => Ok(Some(text.len() as u64)),
                None => Err(self.fault(base, "is too long a text to be measured")),
            },
            _ => Ok(None),
        }
    }

    /// What an `Option` or `Result` contains if it is in one of the `wanted` variants; fails if it is in another. `None`: it is neither.
    fn held_in_variant(
        &self,
        wanted: &[&str],
        view: &View,
        base: &Expression,
    ) -> Result<Option<Value>, Fault> {
        match (view, variant_in(view)) {
            (View::Record(record), Some(variant)) if wanted.contains(&variant) => {
                Ok(record.fields.first().map(|field| field.value.clone()))
            }
            (_, Some(variant @ ("None" | "Ok" | "Err"))) => {
                Err(self.fault(base, &format!("is `{variant}`")))
            }
            _ => Ok(None),
        }
    }

    /// The first or last element: `position` computes it from the length, which is not zero.
    fn element_at_end(
        &self,
        value: &Value,
        view: &View,
        base: &Expression,
        position: impl FnOnce(u64) -> u64,
    ) -> Result<Option<Value>, Fault> {
        let found = match view {
            View::Sequence(sequence) if sequence.length > 0 => {
                Some(sequence.at(position(sequence.length)))
            }
            View::Entries(entries) if entries.length > 0 => {
                let at = position(entries.length);
                match self.reader.contents_view(value, ALL.page(at, at + 1)) {
                    View::Entries(entries) => entries.at(at).map(|it| it.value.clone()),
                    _ => None,
                }
            }
            View::Sequence(_) | View::Entries(_) => {
                let fault = self.fault(base, "is empty");
                return Err(Fault::absent(fault.at, fault.message));
            }
            _ => return Ok(None),
        };
        match found {
            Some(found) => Ok(Some(found)),
            None => Err(self.fault(base, "has an element there that can't be had")),
        }
    }

    /// The result of `get`: the address in a smart pointer, or the contents of a cell.
    fn got_from(&self, value: &Value, view: &View) -> Option<Value> {
        match view {
            // Only smart pointers: the target of a plain pointer may have a `get` of its own.
            View::Pointer {
                address, target, ..
            } if !self.is_pointer(value) => {
                let type_id = target.as_ref().and_then(|target| target.type_id);
                let pointer = Number::Pointer {
                    address: *address,
                    target: type_id,
                };
                let module = target.as_ref().map_or(&value.module, |it| &it.module);
                let mut pointer = value.sibling(None, Contents::Number(pointer));
                pointer.module = std::sync::Arc::clone(module);
                Some(pointer)
            }
            View::Record(record) if record.raw => {
                record.fields.first().map(|field| field.value.clone())
            }
            _ => None,
        }
    }

    /// A pointer to the first byte of a text, or to the first element of a sequence.
    fn address_of_contents(
        &self,
        value: &Value,
        view: &View,
        base: &Expression,
    ) -> Result<Option<Value>, Fault> {
        match view {
            View::Text { .. } if let Some(units) = self.reader.find(value, "_M_p") => {
                Ok(Some(units))
            }
            View::Text {
                address: Some(address),
                ..
            } => Ok(Some(self.computed(Number::Pointer {
                address: *address,
                target: None,
            }))),
            View::Sequence(sequence) => {
                let first = sequence.at(0);
                let Some(address) = first.contents.address() else {
                    return Err(self.fault(base, "is not in memory"));
                };
                let pointer = Number::Pointer {
                    address: address.0,
                    target: first.type_id,
                };
                Ok(Some(first.sibling(None, Contents::Number(pointer))))
            }
            _ => Ok(None),
        }
    }

    /// Whether a number is in a Rust range. `None`: the record is not a range.
    fn is_in_range(&self, record: &Record, wanted: &Expression) -> Result<Option<Value>, Fault> {
        let last = match record.style {
            Style::Range => Binary::Less,
            Style::RangeInclusive => Binary::LessEqual,
            _ => return Ok(None),
        };
        let number = self.number(behind_reference(wanted))?;
        let holds = |name: &str, operator| {
            let field = record.fields.iter().find(|field| field.name == name);
            let Some(field) = field else { return Ok(true) };
            let edge = self.number_of(&field.value, wanted)?;
            let language = self.frame.language;
            let result = binary_on_numbers(language, operator, number, edge, wanted.at)?;
            Ok::<bool, Fault>(result.is_true())
        };
        let is_in = holds("start", Binary::GreaterEqual)? && holds("end", last)?;
        Ok(Some(self.computed(Number::Bool(is_in))))
    }

    /// The number of occurrences of an element or key among those that are searched. Fails if none was found and not all elements were
    /// searched.
    fn occurrences(&self, value: &Value, wanted: &Expression) -> Result<u64, Fault> {
        let view = self.reader.contents_view(value, ALL);
        let (elements, length): (Vec<Value>, u64) = match &view {
            View::Sequence(sequence) => {
                let length = sequence.length.min(MAX_SEARCHED);
                let elements = (0..length).map(|index| sequence.at(index));
                (elements.collect(), sequence.length)
            }
            View::Entries(entries) => {
                let key = |entry: &Entry| match &entry.key {
                    Some(key) => key.clone(),
                    None => entry.value.clone(),
                };
                (entries.iter().map(key).collect(), entries.length)
            }
            _ => return Err(Fault::new(wanted.at, "there are no elements to look among")),
        };
        let runner = Runner {
            wanted: elements
                .first()
                .and_then(|element| self.reader.resolve(element))
                .map(|resolved| resolved.type_),
            module: self.module.clone(),
            ..*self
        };
        // In Rust, the argument is a reference.
        let wanted = match &wanted.kind {
            Kind::Unary { .. } if self.frame.language == Language::Rust => behind_reference(wanted),
            _ => wanted,
        };
        let text = runner.text_of(wanted)?;
        let number = match text {
            Some(_) => None,
            None => Some(runner.number(wanted)?),
        };
        let is_it = |element: &&Value| match (&text, number) {
            (Some(text), _) => self.text_in(element).as_ref() == Some(text),
            (None, Some(number)) => self
                .number_of(element, wanted)
                .is_ok_and(|own| is_equal(own, number)),
            (None, None) => false,
        };
        let count = elements.iter().filter(is_it).count() as u64;
        if count == 0 && (elements.len() as u64) < length {
            let why = format!(
                "only the first {} of {length} elements were looked at",
                elements.len()
            );
            return Err(Fault::new(wanted.at, why));
        }
        Ok(count)
    }

    /// Whether the value is a C++ `std::optional`.
    pub(super) fn is_optional(&self, value: &Value) -> bool {
        let type_ = self.reader.resolve(value).map(|resolved| resolved.type_);
        type_.is_some_and(|type_| {
            type_.language == Language::Cpp
                && type_.name.starts_with("std::")
                && names::base_name(&type_.name) == "optional"
        })
    }

    /// Why a method has no answer. `Err`: the value itself is not available.
    pub(super) fn unanswered(
        &self,
        value: &Value,
        base: &Expression,
        name: &str,
        at: usize,
    ) -> Result<Fault, Fault> {
        self.check_available(value, base)?;
        let (a_type, source) = (a_type(self.type_of(value)), self.source(base));
        let why = match self.calls {
            Some(_) => {
                format!("`{source}` has no function `{name}` that is known, it is {a_type}")
            }
            None => format!(
                "functions can't be called here, and what `{name}()` would say of `{source}`, {a_type}, is not known"
            ),
        };
        Ok(Fault::new(at, why))
    }
}

/// The operand, if the expression is `&operand`; otherwise the expression itself.
pub(super) fn behind_reference(expression: &Expression) -> &Expression {
    match &expression.kind {
        Kind::Unary {
            operator: Unary::AddressOf,
            operand,
        } => operand,
        _ => expression,
    }
}

/// The name of a Rust enum's variant.
fn variant_in(view: &View) -> Option<&str> {
    match view {
        View::Record(record) => record.name.as_deref(),
        _ => None,
    }
}

fn has_elements(view: &View) -> bool {
    matches!(view, View::Sequence(_) | View::Entries(_))
}
