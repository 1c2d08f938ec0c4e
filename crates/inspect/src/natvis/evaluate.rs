//! Evaluates a file's expressions inside a value.

use super::Presentation;
use super::code::{Code, NumberForm, Quoting, What};
use super::model::{Choice, Guard, Part, Synthetic};
use super::numbers;
use crate::Address;
use crate::eval::a_type;
use crate::eval::scope::{Argument, Failure, Scope, nowhere};
use crate::frame::Frame;
use crate::values::view::{Limit, SHORT, Sequence, View};
use crate::values::{Contents, Controls, Number, Reader, Value, decode, quote, quote_with, rust};
use dapple_arch::Memory;
use dapple_symbols::functions::Language;
use dapple_symbols::location::Unavailable;
use dapple_symbols::types::TypeKind;
use std::cell::RefCell;
use std::sync::Arc;

/// How deep the texts of values may contain those of other values.
pub(super) const MAX_NESTING: u8 = 5;
/// The most references followed to a pointer.
const MAX_STEPS: usize = 16;
/// The longest text composed, in bytes.
const MAX_TEXT: usize = 1000;

/// How a value is to be shown.
#[derive(Debug)]
pub(crate) enum Wanted {
    /// As a string: the value, or what it points to.
    Text(Quoting),
    /// A pointer as its target.
    Pointee,
    /// By the entries for a view.
    View(Arc<str>),
    /// As a synthetic child, which the file defines.
    Synthetic(Arc<Synthetic>, Arc<[Argument]>),
    /// As this text.
    Literal(String),
    /// As elements with a distance of so many elements.
    Step(u64),
    /// As usual; where another value is shown as this one, the type's name is in front.
    Held,
}

/// Evaluates expressions inside a value.
pub(super) struct Evaluator<'a> {
    /// Reads values without Natvis, because expressions refer to the real members.
    pub reader: Reader<'a>,
    /// Reads values with Natvis, for values shown inside another's text.
    pub shown: Reader<'a>,
    pub presentation: &'a Presentation,
    pub arguments: &'a [Argument],
    pub frame: Frame,
    pub variables: RefCell<Vec<(Arc<str>, Value)>>,
    /// The view that the value is shown in.
    pub view: Option<Arc<str>>,
    /// The first condition that couldn't be evaluated.
    pub unanswered: RefCell<Option<Failure>>,
}

/// An unavailable value, with the reason.
pub(super) fn reason(like: &Value, why: &str) -> Value {
    let why = Unavailable::Unsupported(why.to_owned());
    Value::new(
        Arc::clone(&like.module),
        None,
        like.language,
        Contents::Unavailable(why),
    )
}

/// A failure that depends on the program's data, unlike an unknown name.
pub(super) fn failure(why: impl Into<String>) -> Failure {
    Failure {
        message: why.into(),
        is_unknown: false,
    }
}

impl<'a> Evaluator<'a> {
    pub(super) fn new(
        reader: &Reader<'a>,
        object: &Value,
        arguments: &'a [Argument],
        view: Option<Arc<str>>,
    ) -> Evaluator<'a> {
        Evaluator {
            reader: reader.plain(),
            shown: reader.deeper(),
            presentation: reader.known.presentation(),
            arguments,
            frame: nowhere(&object.module),
            variables: RefCell::default(),
            view,
            unanswered: RefCell::default(),
        }
    }

    /// A copy of this evaluator that reads from other memory.
    pub(super) fn over<'b>(&'b self, memory: &'b dyn Memory) -> Evaluator<'b> {
        Evaluator {
            reader: self.reader.over(memory),
            shown: self.shown.over(memory),
            presentation: self.presentation,
            arguments: self.arguments,
            frame: self.frame.clone(),
            variables: RefCell::new(self.variables.borrow().clone()),
            view: self.view.clone(),
            unanswered: RefCell::default(),
        }
    }

    fn within<R>(
        &self,
        object: &Value,
        code: &Code,
        evaluate: impl FnOnce(&What, &Scope<'_>) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        if !self.presentation.may_work() {
            return Err(failure("there is too much to work out at once"));
        }
        let what = code.what.as_ref().map_err(|why| failure(&**why))?;
        let scope = Scope {
            object,
            variables: &self.variables,
            arguments: self.arguments,
            frame: &self.frame,
            outside: &self.presentation.outside,
            // The descriptions that Dapple brings along name members only, and a type often lacks some: there are several for one type.
            has_members_only: code.place.is_built_in(),
        };
        evaluate(what, &scope).map_err(|failure| match code.place.is_built_in() {
            true => failure.without_column(),
            false => failure,
        })
    }

    /// The value of an expression, or the value that an assignment gives its variable. Format specifiers are not applied.
    pub(super) fn plain(&self, object: &Value, code: &Code) -> Result<Value, Failure> {
        self.within(object, code, |what, scope| match what {
            What::Value(parsed) => parsed.value_within(scope, &self.reader),
            What::Change(change) => change.value_within(scope, &self.reader),
        })
    }

    /// The value of an expression, as a number.
    pub(super) fn number(&self, object: &Value, code: &Code) -> Result<Number, Failure> {
        self.within(object, code, |what, scope| match what {
            What::Value(parsed) => parsed.number_within(scope, &self.reader),
            What::Change(_) => Err(failure("an assignment is no number")),
        })
    }

    /// The value of an expression, with its format specifiers applied.
    pub(super) fn value(&self, object: &Value, code: &Code) -> Result<Value, Failure> {
        let mut value = self.plain(object, code)?;
        let shown = &code.shown;
        if let Some(form) = &shown.number {
            return self.formed(object, code, form, value);
        }
        if let Some(count) = &shown.count {
            let count = self.count(object, count)?;
            value = self.first(value)?;
            value.repeated = Some(count);
        }
        if let Some(format) = shown.format {
            value.format = format;
        }
        value.raw |= shown.raw;
        let step = match &shown.step {
            Some(step) => Some(self.count(object, step)?),
            None => None,
        };
        let wanted = match (shown.text, &shown.view) {
            (None, None) if let Some(step) = step => Some(Wanted::Step(step)),
            (Some(quoting), _) => Some(Wanted::Text(quoting)),
            (None, Some(view)) => Some(Wanted::View(Arc::clone(view))),
            (None, None) if shown.held => Some(Wanted::Held),
            (None, None) => shown.without_address.then_some(Wanted::Pointee),
        };
        value.natvis_format = wanted.map(Arc::new);
        Ok(value)
    }

    /// A number in a form that only Natvis files have.
    fn formed(
        &self,
        object: &Value,
        code: &Code,
        form: &NumberForm,
        value: Value,
    ) -> Result<Value, Failure> {
        let integer = || match self.number(object, code)? {
            Number::Integer { value, .. } => Ok(value),
            Number::Bool(value) => Ok(value.into()),
            _ => Err(failure("an integer was expected")),
        };
        let text = match form {
            NumberForm::Padded(width) => numbers::padded(integer()?, *width),
            NumberForm::Utc => {
                let seconds = i64::try_from(integer()?);
                rust::date_and_time(seconds.map_err(|_| failure("a time was expected"))?)
            }
            NumberForm::Date => {
                let days = i64::try_from(integer()?).ok();
                let seconds = days.and_then(|days| days.checked_mul(86_400));
                let seconds = seconds.ok_or_else(|| failure("a date was expected"))?;
                let text = rust::date_and_time(seconds);
                text.split('T').next().unwrap_or_default().to_owned()
            }
            NumberForm::Hex => {
                let bytes = self.digits(object, code, value.clone())?;
                bytes.iter().map(|byte| format!("{byte:02x}")).collect()
            }
            NumberForm::Fraction => numbers::fraction(integer()?),
            NumberForm::Half => numbers::half(integer()? as u16),
            NumberForm::Brain => numbers::brain(integer()? as u16),
            NumberForm::Scaled(scale) => numbers::scaled(integer()?, self.count(object, scale)?)
                .ok_or_else(|| failure("not initialised or corrupt: its scale"))?,
            NumberForm::Big => {
                let bytes = self.digits(object, code, value.clone())?;
                numbers::big(&bytes).ok_or_else(|| failure("too large a number"))?
            }
        };
        Ok(Value {
            natvis_format: Some(Arc::new(Wanted::Literal(text))),
            ..value
        })
    }

    /// The bytes of the number of elements that an expression's format specifier says, at most [`numbers::MAX_DIGITS`] and one.
    fn digits(&self, object: &Value, code: &Code, value: Value) -> Result<Vec<u8>, Failure> {
        let count = match &code.shown.count {
            Some(count) => self.count(object, count)?,
            None => 1,
        };
        let first = self.first(value)?;
        let size = self.reader.size_of(&first).unwrap_or(0).clamp(1, 16);
        let size = count.saturating_mul(size).min(numbers::MAX_DIGITS + 1);
        let bytes = self.reader.bytes(&first.contents, size);
        let bytes = bytes.map_err(|why| failure(self.reader.reason(&why)))?;
        Ok(bytes.to_vec())
    }

    /// A pointer's target, or an array's first element.
    fn first(&self, value: Value) -> Result<Value, Failure> {
        let mut value = value;
        for _ in 0..MAX_STEPS {
            match self.reader.view(&value, SHORT) {
                View::Alias(target) => value = target,
                View::Pointer {
                    target: Some(target),
                    ..
                } => return Ok(target),
                View::Sequence(sequence) => return Ok(sequence.at(0)),
                _ => break,
            }
        }
        Err(failure("what has elements is a pointer or an array"))
    }

    /// A pointer's target. `None` for a null pointer.
    pub(super) fn target(&self, value: Value) -> Result<Option<Value>, Failure> {
        let mut value = value;
        for _ in 0..MAX_STEPS {
            match self.reader.view(&value, SHORT) {
                View::Pointer { address: 0, .. } => return Ok(None),
                View::Alias(target) => value = target,
                View::Pointer {
                    target: Some(target),
                    ..
                } => return Ok(Some(target)),
                _ => break,
            }
        }
        let size = self.reader.size_of(&value).unwrap_or(0).min(16);
        if let Err(why) = self.reader.bytes(&value.contents, size) {
            let why = self.reader.reason(&why);
            return Err(failure(why.trim_matches(['<', '>'])));
        }
        Err(failure(format!(
            "a pointer was expected, not {}",
            a_type(self.reader.type_name(&value))
        )))
    }

    /// The value of an expression, as a number of elements.
    pub(super) fn count(&self, object: &Value, code: &Code) -> Result<u64, Failure> {
        let number = match self.number(object, code)? {
            Number::Integer { value, .. } => value,
            Number::Bool(value) => value.into(),
            Number::Char(value) => value.into(),
            Number::Pointer { address, .. } => address.into(),
            Number::Float { .. } => return Err(failure("a count was expected, not a fraction")),
        };
        match u64::try_from(number) {
            Ok(count) if count <= MAX_LENGTH => Ok(count),
            _ => Err(failure(format!(
                "not initialised or corrupt: its length would be {number}"
            ))),
        }
    }

    /// Whether a guard applies: it is for this view, and its condition holds. A condition that can't be evaluated doesn't hold.
    pub(super) fn applies(&self, object: &Value, guard: &Guard) -> bool {
        let named =
            |names: &[Arc<str>]| self.view.as_ref().is_some_and(|view| names.contains(view));
        if !(guard.include.is_empty() || named(&guard.include)) || named(&guard.exclude) {
            return false;
        }
        let holds = self.holds(object, guard.condition.as_ref());
        holds.unwrap_or_else(|failure| {
            self.unanswered.borrow_mut().get_or_insert(failure);
            false
        })
    }

    /// Whether a condition holds. No condition always holds.
    pub(super) fn holds(&self, object: &Value, condition: Option<&Code>) -> Result<bool, Failure> {
        match condition {
            None => Ok(true),
            Some(code) => Ok(self.number(object, code)?.is_true()),
        }
    }

    /// The first choice that applies. One that is marked optional applies only if it can be evaluated. `None`: none applies.
    pub(super) fn chosen<'c>(
        &self,
        object: &Value,
        choices: &'c [Choice],
    ) -> Result<Option<&'c Code>, Failure> {
        for choice in choices {
            if !self.applies(object, &choice.guard) {
                continue;
            }
            if choice.guard.optional && self.plain(object, &choice.code).is_err() {
                continue;
            }
            return Ok(Some(&choice.code));
        }
        Ok(None)
    }

    /// The number of elements, if the file specifies it.
    pub(super) fn size(&self, object: &Value, choices: &[Choice]) -> Result<Option<u64>, Failure> {
        match self.chosen(object, choices)? {
            Some(code) => self.count(object, code).map(Some),
            None => Ok(None),
        }
    }

    /// A text with the values of its expressions. In place of an expression that can't be evaluated, the text has the reason, except that
    /// this function fails if `must_work`, or if the expression has an unknown name.
    pub(super) fn text(
        &self,
        object: &Value,
        parts: &[Part],
        limit: Limit,
        must_work: bool,
    ) -> Result<String, Failure> {
        let mut text = String::new();
        let most = limit.text.saturating_mul(2).min(MAX_TEXT);
        // What is only another value's text, such as a string's, is as long as that may be.
        let is_only = matches!(parts, [Part::Value(_)]);
        let (most, inner) = match is_only {
            true => (most.max(limit.text.saturating_add(MAX_TEXT)), limit),
            false => (most, SHORT),
        };
        for part in parts {
            if text.len() > most {
                break;
            }
            match part {
                Part::Literal(literal) => text.push_str(literal),
                Part::Value(code) => match self.value(object, code) {
                    Ok(value) => text.push_str(&self.shown.label_within(&value, inner)),
                    Err(failure) if failure.is_unknown || must_work => return Err(failure),
                    Err(failure) => text.push_str(&format!("<{}>", failure.message)),
                },
            }
        }
        if text.len() > most {
            let end = (0..=most).rev().find(|end| text.is_char_boundary(*end));
            text.truncate(end.unwrap_or(0));
            text.push('…');
        }
        // The text has to be a single line.
        Ok(text.replace(['\n', '\r'], " "))
    }
}

/// The largest number of elements considered plausible.
pub(super) const MAX_LENGTH: u64 = 1 << 40;

/// The view of a value that is to be shown in a certain way. `None` for [`Wanted::View`] and [`Wanted::Held`]: the usual way chooses the
/// entries.
pub(crate) fn wanted_view(
    reader: &Reader<'_>,
    value: &Value,
    wanted: &Wanted,
    limit: Limit,
) -> Option<View> {
    let mut plain = value.clone();
    plain.natvis_format = None;
    match wanted {
        Wanted::Literal(text) => Some(View::Leaf(text.clone())),
        Wanted::View(_) | Wanted::Held => None,
        Wanted::Step(step) => {
            plain.repeated = None;
            let size = reader.size_of(&plain)?;
            Some(View::Sequence(Sequence {
                stride: size.checked_mul(*step)?,
                container: false,
                ..sequence(plain, size, value.repeated?)
            }))
        }
        Wanted::Synthetic(synthetic, arguments) => {
            super::present::synthetic(reader, &plain, synthetic, arguments, limit)
        }
        Wanted::Pointee => match reader.view(&plain, limit) {
            View::Pointer {
                note: Some(note), ..
            } if !note.starts_with('<') => Some(View::Leaf(note)),
            View::Pointer {
                address: 1..,
                target: Some(target),
                ..
            } => Some(View::Alias(target)),
            view => Some(view),
        },
        Wanted::Text(quoting) => Some(text_view(reader, &plain, *quoting, limit)),
    }
}

/// A value as a string: up to a zero or the end of its array, or with the number of code units that was requested.
fn text_view(reader: &Reader<'_>, value: &Value, quoting: Quoting, limit: Limit) -> View {
    let (start, count) = match (value.repeated, reader.view(value, limit)) {
        (Some(count), _) => (value.contents.clone(), Some(count)),
        (None, View::Pointer { address: 0, .. }) => return View::Leaf("0x0".to_owned()),
        (None, View::Pointer { address, .. }) => (Contents::Memory(Address(address)), None),
        (None, View::Sequence(sequence)) => (sequence.element.contents, Some(sequence.length)),
        // Already a string, or neither a string nor a pointer.
        (None, View::Text { text, address }) => {
            let text = match quoting.bare {
                true => text.trim_matches('"').to_owned(),
                false => text,
            };
            return View::Text { text, address };
        }
        (None, other) => return other,
    };
    let room = count.unwrap_or(u64::MAX).min(limit.text as u64);
    let mut bytes = vec![0; (room.saturating_add(1) * quoting.unit) as usize];
    let length = match start.address() {
        Some(address) => reader.memory.read_some(address, &mut bytes),
        None => {
            let known = reader
                .bytes(&start, room * quoting.unit)
                .unwrap_or_default();
            bytes.truncate(known.len());
            bytes.copy_from_slice(&known);
            known.len()
        }
    };
    if length == 0 && room > 0 {
        let why = match start.address() {
            Some(address) => Unavailable::Unreadable(address.0),
            None => Unavailable::OptimizedOut,
        };
        return View::Missing(reader.reason(&why));
    }
    bytes.truncate(length);
    let units: Vec<&[u8]> = bytes.chunks_exact(quoting.unit as usize).collect();
    let is_counted = value.repeated.is_some();
    let end = units
        .iter()
        .position(|unit| !is_counted && unit.iter().all(|byte| *byte == 0));
    let shown = end.unwrap_or(units.len()).min(room as usize);
    let is_cut = end.is_none() && count.is_none_or(|count| count > shown as u64);
    let bytes = bytes
        .get(..shown * quoting.unit as usize)
        .unwrap_or_default();
    let text = match quoting.unit {
        1 => bytes.to_vec(),
        unit => decode(bytes, unit).into_bytes(),
    };
    let mut text = match (quoting.bare, quoting.bytes) {
        (true, _) => String::from_utf8_lossy(&text).into_owned(),
        (_, true) => format!("b\"{}\"", text.escape_ascii()),
        // As Rust's own texts.
        _ if value.language == Language::Rust => quote_with(&text, Controls::Scalars),
        _ => quote(&text),
    };
    text.push_str(&limit.mark(is_cut, count));
    View::Leaf(text)
}

/// A value with its current contents, so that it doesn't change with its storage. Only scalars are copied; others are returned unchanged.
pub(super) fn loaded(reader: &Reader<'_>, value: Value) -> Value {
    let Some(resolved) = reader.resolve(&value) else {
        return value;
    };
    // Of elements that are shown together, this is only the first.
    if value.repeated.is_some() {
        return value;
    }
    let is_scalar = matches!(
        resolved.type_.kind,
        TypeKind::Base(_) | TypeKind::Enumeration { .. } | TypeKind::Pointer(..)
    );
    let size = resolved.type_.size.filter(|size| is_scalar && *size <= 16);
    let bytes = size.and_then(|size| reader.bytes(&value.contents, size).ok());
    match (bytes, &value.contents) {
        (Some(bytes), Contents::Memory(_) | Contents::Pieces(..)) => Value {
            contents: Contents::Bytes(bytes.into()),
            ..value
        },
        _ => value,
    }
}

/// A sequence of `length` elements that begins with `element`.
pub(super) fn sequence(element: Value, size: u64, length: u64) -> Sequence {
    Sequence {
        element,
        stride: size,
        size,
        length,
        ring: None,
        text: None,
        container: true,
    }
}
