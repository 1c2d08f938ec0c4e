//! Applies the format after an expression's comma to the value as a whole.
//!
//! If the value has parts, those that the format doesn't apply to are displayed as usual: in a structure shown in hexadecimal, strings are
//! shown as texts. A value that is itself a string becomes its bytes. For a value that is itself a number or a pointer, a format that can't
//! display it is refused.

use super::super::Fault;
use super::super::ir::{Expression, Scalar};
use super::{MAX_STEPS, Runner, a_type, runner};
use crate::Address;
use crate::frame::Frame;
use crate::values::view::{LONG, View};
use crate::values::{Contents, Format, Number, Reader, Value, number_of};
use dapple_symbols::types::TypeKind;

/// The value in the format after an expression's comma. `tree` is the expression, and `text` its source.
///
/// # Errors
/// Fails if the format can't display such a value.
pub(in super::super) fn formatted(
    value: Value,
    format: Format,
    tree: &Expression,
    text: &str,
    frame: &Frame,
    reader: &Reader<'_>,
) -> Result<Value, Fault> {
    if format == Format::Natural {
        return Ok(value);
    }
    let runner = runner(text, frame, reader, None)?;
    match runner.in_format(&value, format) {
        Some(value) => Ok(value),
        None => {
            let (type_, format) = (a_type(runner.type_of(&value)), format.described());
            let what = format!("is {type_}: {format} does not apply to it");
            Err(runner.fault(tree, &what))
        }
    }
}

impl Runner<'_> {
    /// The value in the format. `None`: the format doesn't apply.
    fn in_format(&self, value: &Value, format: Format) -> Option<Value> {
        let with = |value: &Value| Value {
            format,
            ..value.clone()
        };
        let mut seen = value.clone();
        for _ in 0..MAX_STEPS {
            if let Contents::Unavailable(_) = seen.contents {
                break;
            }
            match self.reader.view(&seen, LONG) {
                View::Alias(target) => seen = target,
                View::Leaf(_) => return self.scalar_in_format(&seen, with(value), format),
                View::Pointer { address, .. } => {
                    return match format {
                        Format::Hexadecimal | Format::Address => Some(with(value)),
                        Format::Bytes | Format::BytesAndText => Some(with(value)),
                        Format::Fixed | Format::Scientific => None,
                        Format::Text => self.is_shown_as_text(&with(&seen)).then(|| with(value)),
                        format => {
                            let number = Number::integer(address.into(), self.word_size(), false);
                            self.number_in_format(value, number, format)
                        }
                    };
                }
                View::Sequence(sequence) => {
                    let is_text = sequence.text.is_some() && format != Format::Text;
                    if is_text && sequence.ring.is_none() && sequence.stride == sequence.size {
                        let mut first = with(&sequence.at(0));
                        first.repeated = Some(sequence.length);
                        return Some(first);
                    }
                    let applies = self.is_shown_as_text(&with(&seen))
                        || sequence.length == 0
                        || !self.is_plain_number(&sequence.at(0))
                        || self.in_format(&sequence.at(0), format).is_some();
                    return applies.then(|| with(value));
                }
                View::Text { address, .. } => {
                    return match format {
                        Format::Text => Some(with(value)),
                        format => self.text_in_format(&seen, address?, format),
                    };
                }
                _ => break,
            }
        }
        Some(with(value))
    }

    /// A value without parts in the format. `None`: the format doesn't apply. `seen` is the value behind references; `shown` is the
    /// original value with the format set.
    fn scalar_in_format(&self, seen: &Value, shown: Value, format: Format) -> Option<Value> {
        let is_number = matches!(seen.contents, Contents::Number(_)) || self.is_plain_number(seen);
        let formatted = Value {
            format,
            ..seen.clone()
        };
        if !is_number || self.reader.is_formatted(&formatted) {
            return Some(shown);
        }
        let number = match seen.contents {
            Contents::Number(number) => Some(number),
            _ => self.number_of_scalar(seen),
        };
        match number? {
            // In C and C++ a `bool` converts to a number, so formats of numbers apply to it.
            Number::Bool(is_true) => {
                let number = Number::integer(is_true.into(), 1, false);
                self.number_in_format(seen, number, format)
            }
            _ => None,
        }
    }

    fn number_of_scalar(&self, value: &Value) -> Option<Number> {
        let type_ = self.reader.resolve(value)?.type_;
        if !matches!(type_.kind, TypeKind::Base(_)) {
            return None;
        }
        let size = type_.size.filter(|size| (1..=16).contains(size))?;
        number_of(&type_, &self.reader.bytes(&value.contents, size).ok()?)
    }

    fn number_in_format(&self, value: &Value, number: Number, format: Format) -> Option<Value> {
        let mut shown = value.clone();
        shown.contents = Contents::Number(number);
        shown.format = format;
        self.reader.is_formatted(&shown).then_some(shown)
    }

    /// The bytes of a library's string, in the format. `address` is where they begin.
    fn text_in_format(&self, text: &Value, address: u64, format: Format) -> Option<Value> {
        let length = self.text_in(text)?.len() as u64;
        let byte = Scalar::Integer {
            size: 1,
            signed: false,
        };
        let (module, id) = self.scalar_type(byte)?;
        let contents = Contents::Memory(Address(address));
        let mut bytes = Value::new(module, Some(id), text.language, contents);
        bytes.repeated = Some(length);
        bytes.format = format;
        Some(bytes)
    }

    fn is_shown_as_text(&self, value: &Value) -> bool {
        value.format == Format::Text && matches!(self.reader.view(value, LONG), View::Text { .. })
    }
}
