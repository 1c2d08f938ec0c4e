//! Several elements: ranges of indexed values, and a given number of elements behind a pointer.

use super::{Fault, MAX_STEPS, Runner};
use crate::Address;
use crate::eval::a_type;
use crate::eval::ir::{Binary, Expression, Kind, Scalar};
use crate::values::view::{ALL, LONG, View};
use crate::values::{Contents, Format, Number, Value};
use dapple_symbols::functions::Language;
use dapple_symbols::types::TypeKind;

impl Runner<'_> {
    /// The row `*(grid + 1)`, which is `grid[1]` (C 2011 §6.5.2.1); `operand` is `grid + 1`. `None`: it is another expression. Rows are handled
    /// apart because the pointers that are computed here have no type that says how long a row is.
    pub(super) fn row(&self, operand: &Expression) -> Result<Option<Value>, Fault> {
        let Some((array, base, index)) = self.of_rows(operand)? else {
            return Ok(None);
        };
        self.element(array, base, index).map(Some)
    }

    /// The address `grid + 1`. `None`: `sum` is another expression.
    pub(super) fn row_address(&self, sum: &Expression) -> Result<Option<Value>, Fault> {
        let Some((array, base, index)) = self.of_rows(sum)? else {
            return Ok(None);
        };
        let Number::Integer { value, .. } = self.number(index)? else {
            return Ok(None);
        };
        let View::Sequence(rows) = self.reader.view(&array, LONG) else {
            return Ok(None);
        };
        let size = self.reader.size_of(&rows.at(0)).map(i128::from);
        let (Some(size), Some(begin)) = (size, array.contents.address()) else {
            return Err(self.fault(base, "has rows of unknown size"));
        };
        let address = begin.0.wrapping_add(value.wrapping_mul(size) as u64);
        let target = None;
        Ok(Some(self.computed(Number::Pointer { address, target })))
    }

    /// Splits the sum of an array of arrays and an index into the array, its expression and the index. `None`: `sum` is another expression.
    fn of_rows<'e>(
        &self,
        sum: &'e Expression,
    ) -> Result<Option<(Value, &'e Expression, &'e Expression)>, Fault> {
        let Kind::Binary {
            operator: Binary::Add,
            left,
            right,
        } = &sum.kind
        else {
            return Ok(None);
        };
        if self.frame.language == Language::Rust || left.calls() {
            return Ok(None);
        }
        let array = self.value(left)?;
        let type_ = self.reader.resolve(&array).map(|resolved| resolved.type_);
        let is_of_rows = type_.is_some_and(|type_| match &type_.kind {
            TypeKind::Array { dimensions, .. } => {
                usize::from(array.dimension) + 1 < dimensions.len()
            }
            _ => false,
        });
        Ok(is_of_rows.then_some((array, left.as_ref(), right.as_ref())))
    }

    fn position(&self, expression: Option<&Expression>, otherwise: u64) -> Result<u64, Fault> {
        let Some(expression) = expression else {
            return Ok(otherwise);
        };
        match self.number(expression)? {
            Number::Integer { value, .. } => u64::try_from(value)
                .map_err(|_| Fault::new(expression.at, format!("index {value} is out of bounds"))),
            _ => Err(self.fault(expression, "is no index: it is not an integer")),
        }
    }

    /// The elements of a range, as one value. Fails if they aren't adjacent in memory, as may happen in a ring buffer.
    pub(super) fn slice(
        &self,
        value: Value,
        base: &Expression,
        (from, to): (Option<&Expression>, Option<&Expression>),
        inclusive: bool,
    ) -> Result<Value, Fault> {
        let mut value = value;
        for _ in 0..MAX_STEPS {
            match self.reader.view(&value, ALL.page(0, 1)) {
                View::Alias(target) => value = target,
                View::Sequence(sequence) => {
                    let at = to.or(from).map_or(base.at, |end| end.at);
                    let begin = self.position(from, 0)?;
                    let end = match (self.position(to, sequence.length)?, to) {
                        (end, Some(_)) => end.saturating_add(u64::from(inclusive)),
                        (end, None) => end,
                    };
                    if begin > end || end > sequence.length {
                        let (name, length) = (self.source(base), sequence.length);
                        return Err(Fault::new(
                            at,
                            format!(
                                "{begin}..{end} is out of bounds: `{name}` has {length} elements"
                            ),
                        ));
                    }
                    let mut first = sequence.at(begin);
                    let count = end - begin;
                    let place = |at| sequence.at(at).contents.address().map(|at| at.0);
                    let last = count.checked_sub(1).filter(|_| sequence.ring.is_some());
                    let is_cut = last.is_some_and(|last| {
                        let distance = last.wrapping_mul(sequence.stride);
                        place(end - 1) != place(begin).map(|at| at.wrapping_add(distance))
                    });
                    if is_cut {
                        let why = "can't be shown in this range, which goes round the end of its memory; ask for parts of it";
                        return Err(self.fault(base, why));
                    }
                    first.repeated = Some(count);
                    return Ok(first);
                }
                View::Text {
                    address: Some(address),
                    ..
                } => return self.part_of_text(&value, address, base, (from, to), inclusive),
                _ => break,
            }
        }
        self.check_available(&value, base)?;
        let a_type = a_type(self.type_of(&value));
        Err(self.fault(
            base,
            &format!("has no elements to take a range of, it is {a_type}"),
        ))
    }

    /// The bytes of a range of a string. As in Rust, the range has to begin and end between characters.
    fn part_of_text(
        &self,
        value: &Value,
        address: u64,
        base: &Expression,
        (from, to): (Option<&Expression>, Option<&Expression>),
        inclusive: bool,
    ) -> Result<Value, Fault> {
        let text = self.text_in(value);
        let text = text.ok_or_else(|| self.fault(base, "is too long a text to be cut"))?;
        let begin = self.position(from, 0)?;
        let end = match (self.position(to, text.len() as u64)?, to) {
            (end, Some(_)) => end.saturating_add(u64::from(inclusive)),
            (end, None) => end,
        };
        let at = to.or(from).map_or(base.at, |end| end.at);
        let (name, length) = (self.source(base), text.len());
        if begin > end || end > length as u64 {
            let why = format!("{begin}..{end} is out of bounds: `{name}` has {length} bytes");
            return Err(Fault::new(at, why));
        }
        for place in [begin, end] {
            let is_inside = text
                .get(place as usize)
                .is_some_and(|byte| byte & 0xc0 == 0x80);
            if is_inside {
                let why = format!("byte {place} of `{name}` is inside of a character");
                return Err(Fault::new(at, why));
            }
        }
        let byte = Scalar::Integer {
            size: 1,
            signed: false,
        };
        let (module, id) = self
            .scalar_type(byte)
            .ok_or_else(|| self.fault(base, "can't be cut: the program has no type for bytes"))?;
        let contents = Contents::Memory(Address(address.wrapping_add(begin)));
        let mut part = Value::new(module, Some(id), value.language, contents);
        part.repeated = Some(end - begin);
        part.format = Format::Text;
        Ok(part)
    }

    /// The first of several elements: a pointer's target, or an array's first element.
    pub(super) fn first(&self, value: Value, base: &Expression) -> Result<Value, Fault> {
        let mut value = value;
        for _ in 0..MAX_STEPS {
            match self.reader.view(&value, LONG) {
                View::Alias(target) => value = target,
                View::Sequence(sequence) if sequence.ring.is_none() => return Ok(sequence.at(0)),
                View::Pointer {
                    target: Some(target),
                    ..
                } => {
                    let size = self.reader.size_of(&target).filter(|size| *size > 0);
                    return match size {
                        Some(_) => Ok(target),
                        None => Err(self.fault(base, "points to something of unknown size")),
                    };
                }
                _ => break,
            }
        }
        self.check_available(&value, base)?;
        let a_type = a_type(self.type_of(&value));
        Err(self.fault(base, &format!("has no elements, it is {a_type}")))
    }
}
