//! Strings: comparisons, and look-ups of map elements.

use super::arithmetic::ordered;
use super::builtins::behind_reference;
use super::{Fault, MAX_STEPS, Runner, seen_through};
use crate::eval::a_type;
use crate::eval::ir::{Binary, Expression, Kind};
use crate::eval::lex::unquoted;
use crate::values::view::{ALL, LONG, Limit, View};
use crate::values::{Number, Value};
use dapple_symbols::functions::Language;

/// The longest string that is compared or measured, in bytes.
const MAX_TEXT: usize = 1 << 16;

impl Runner<'_> {
    /// The string that a value is or points to. `None`: it is not a string, can't be read, or is too long.
    pub(super) fn text_in(&self, value: &Value) -> Option<Vec<u8>> {
        let limit = Limit {
            text: MAX_TEXT,
            ..LONG
        };
        let mut value = value.clone();
        for _ in 0..MAX_STEPS {
            let quoted = match self.reader.view(&value, limit) {
                View::Alias(target) => {
                    value = target;
                    continue;
                }
                View::Text { text, .. } => text,
                View::Pointer {
                    note: Some(note), ..
                } => note,
                View::Sequence(sequence) => sequence.text?,
                _ => return None,
            };
            return unquoted(&quoted);
        }
        None
    }

    pub(super) fn text_of(&self, expression: &Expression) -> Result<Option<Vec<u8>>, Fault> {
        match &expression.kind {
            Kind::Text(text) => Ok(Some(text.to_vec())),
            _ => Ok(self.text_in(&self.value(expression)?)),
        }
    }

    /// The result of comparing two strings. `None`: they aren't both strings, or the operator is not a comparison. Fails if one is a string
    /// literal and the other no string.
    pub(super) fn compare_texts(
        &self,
        operator: Binary,
        left: &Expression,
        right: &Expression,
    ) -> Result<Option<Number>, Fault> {
        let is_literal = |side: &Expression| matches!(side.kind, Kind::Text(_));
        if ordered(operator, None).is_none() {
            return Ok(None);
        }
        let one = self.text_of(left)?;
        let other = self.text_of(right)?;
        match (one, other) {
            (Some(one), Some(other)) => {
                let order = ordered(operator, Some(one.cmp(&other)));
                Ok(order.map(Number::Bool))
            }
            (None, Some(_)) if is_literal(right) => Err(self.no_text(left)?),
            (Some(_), None) if is_literal(left) => Err(self.no_text(right)?),
            _ => Ok(None),
        }
    }

    fn no_text(&self, expression: &Expression) -> Result<Fault, Fault> {
        let value = self.value(expression)?;
        self.check_available(&value, expression)?;
        let a_type = a_type(self.type_of(&value));
        Ok(self.fault(
            expression,
            &format!("is no text that can be compared, it is {a_type}"),
        ))
    }

    /// The element of a map by its key. `None`: the value is no container with keys. Fails if none of the keys, up to a limit, is equal.
    pub(super) fn keyed(
        &self,
        value: &Value,
        base: &Expression,
        index: &Expression,
    ) -> Result<Option<Value>, Fault> {
        let mut value = value.clone();
        let mut found = None;
        for _ in 0..MAX_STEPS {
            match self.reader.view(&value, ALL.page(0, 1)) {
                View::Entries(entries) if entries.has_keys => {
                    found = Some(self.reader.view(&value, ALL));
                    break;
                }
                view => match seen_through(view) {
                    Some(inside) => value = inside,
                    None => return Ok(None),
                },
            }
        }
        let Some(View::Entries(entries)) = found else {
            return Ok(None);
        };
        // In Rust, the key is written as a reference: `map[&key]`.
        let index = match self.frame.language {
            Language::Rust => behind_reference(index),
            _ => index,
        };
        let runner = Runner {
            wanted: entries
                .iter()
                .next()
                .and_then(|entry| self.reader.resolve(entry.key.as_ref()?))
                .map(|resolved| resolved.type_),
            module: self.module.clone(),
            ..*self
        };
        let is_built = matches!(index.kind, Kind::Built { .. });
        let text = match is_built {
            true => None,
            false => runner.text_of(index)?,
        };
        let whole = match text {
            None if !is_built && self.frame.language == Language::Rust => self.record_of(index),
            _ => None,
        };
        let number = match (&text, &whole) {
            (None, None) if !is_built => Some(runner.number(index)?),
            _ => None,
        };
        for entry in entries.iter() {
            let Some(key) = &entry.key else { continue };
            let is_it = match (&text, number) {
                (None, None) if is_built => self.is_built(key.clone(), index)?,
                (None, None) => match &whole {
                    Some(whole) => self.is_equal_part_by_part(key, whole, index),
                    None => false,
                },
                (Some(text), _) => self.text_in(key).as_ref() == Some(text),
                (None, Some(number)) => self
                    .number_of(key, base)
                    .is_ok_and(|key| super::arithmetic::is_equal(key, number)),
            };
            if is_it {
                return Ok(Some(entry.value.clone()));
            }
        }
        let (base, index_text) = (self.source(base), self.source(index));
        let why = match entries.end() < entries.length {
            true => format!(
                "none of the first {} keys of `{base}` is {index_text}",
                entries.end()
            ),
            false => format!("`{base}` has no key {index_text}"),
        };
        Err(Fault {
            is_absent: entries.end() >= entries.length,
            ..Fault::new(index.at, why)
        })
    }
}
