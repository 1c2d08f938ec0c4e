//! Elements by their index: of containers, arrays, pointers and strings.

use super::{Fault, MAX_STEPS, Runner, seen_through};
use crate::Address;
use crate::eval::a_type;
use crate::eval::ir::Expression;
use crate::natvis;
use crate::values::entries::Entries;
use crate::values::view::{ALL, LONG, View};
use crate::values::{Contents, Number, Value};
use dapple_symbols::functions::Language;
use dapple_symbols::types::TypeKind;

/// `base[index]`; `position` is the value of `index`.
struct Subscript<'e> {
    base: &'e Expression,
    index: &'e Expression,
    position: i128,
}

impl Runner<'_> {
    pub(super) fn element(
        &self,
        value: Value,
        base: &Expression,
        index: &Expression,
    ) -> Result<Value, Fault> {
        if let Some(found) = self.keyed(&value, base, index)? {
            return Ok(found);
        }
        let position = self.index_position(index)?;
        let subscript = Subscript {
            base,
            index,
            position,
        };
        let (whole, mut value) = (value.clone(), value);
        let wanted = u64::try_from(position).unwrap_or(u64::MAX);
        let limit = ALL.page(wanted, wanted.saturating_add(1));
        for _ in 0..MAX_STEPS {
            match self.reader.view(&value, limit) {
                View::Sequence(sequence) => {
                    let has_bounds = sequence.container || self.has_bounds(&value);
                    return match u64::try_from(position) {
                        Ok(at) if at < sequence.length || !has_bounds => Ok(sequence.at(at)),
                        _ => Err(self.outside_sequence(&subscript, sequence.length)),
                    };
                }
                View::Entries(entries) if !entries.has_keys => {
                    let found = entries.at(wanted).map(|entry| entry.value.clone());
                    return found.ok_or_else(|| self.no_entry(&subscript, &entries, wanted));
                }
                View::Pointer {
                    address,
                    target: Some(target),
                    ..
                } => return self.behind_pointer(address, target, position, base),
                View::Presented(presented) => {
                    if let Some(found) = self.reader.element_of(&presented, wanted) {
                        return Ok(found);
                    }
                    match natvis::pointer_in(self.reader, &value) {
                        Some(pointer) => value = pointer,
                        None => break,
                    }
                }
                view => match seen_through(view) {
                    Some(inside) => value = inside,
                    None => break,
                },
            }
        }
        if let Some(unit) = self.string_unit(&value, &subscript)? {
            return Ok(unit);
        }
        self.check_available(&value, base)?;
        Err(self.fault(
            base,
            &format!("has no elements, it is {}", a_type(self.type_of(&whole))),
        ))
    }

    fn index_position(&self, index: &Expression) -> Result<i128, Fault> {
        match self.number(index)? {
            Number::Integer { value, .. } => Ok(value),
            Number::Bool(value) => Ok(i128::from(value)),
            Number::Char(value) if self.frame.language != Language::Rust => Ok(i128::from(value)),
            _ => Err(self.fault(index, "is no index: it is not an integer")),
        }
    }

    fn outside_sequence(&self, subscript: &Subscript<'_>, length: u64) -> Fault {
        let (position, source) = (subscript.position, self.source(subscript.base));
        let why = match length {
            0 => format!("index {position} is out of bounds: `{source}` is empty"),
            length => format!(
                "index {position} is out of bounds: `{source}` has elements 0 to {}",
                length - 1
            ),
        };
        Fault::absent(subscript.index.at, why)
    }

    /// Why a container that is read entry by entry doesn't have the element `wanted`: reading failed before that entry, or the container
    /// has fewer.
    fn no_entry(&self, subscript: &Subscript<'_>, entries: &Entries, wanted: u64) -> Fault {
        let (position, source) = (subscript.position, self.source(subscript.base));
        let broken = entries.broken.as_ref();
        let why = match broken.filter(|_| wanted < entries.length) {
            Some(reason) => format!(
                "element {position} of `{source}` can't be had: {}",
                self.reader.reason(reason)
            ),
            None => format!(
                "index {position} is out of bounds: `{source}` has {} elements",
                entries.length
            ),
        };
        Fault {
            is_absent: wanted >= entries.length,
            ..Fault::new(subscript.index.at, why)
        }
    }

    /// A character of a `std::string`. `None`: the value is no `std::string` of libstdc++.
    fn string_unit(
        &self,
        value: &Value,
        subscript: &Subscript<'_>,
    ) -> Result<Option<Value>, Fault> {
        let Some(units) = self.reader.find(value, "_M_p") else {
            return Ok(None);
        };
        let View::Pointer {
            address,
            target: Some(target),
            ..
        } = self.reader.view(&units, LONG)
        else {
            return Ok(None);
        };
        let position = subscript.position;
        // A string is followed by a zero, which may be indexed as well.
        let length = self.text_in(value).map(|text| text.len() as i128);
        let is_narrow = self.reader.size_of(&target) == Some(1);
        if let Some(length) = length.filter(|_| is_narrow)
            && !(0..=length).contains(&position)
        {
            let why = format!(
                "index {position} is out of bounds: `{}` has {length} bytes",
                self.source(subscript.base)
            );
            return Err(Fault::new(subscript.index.at, why));
        }
        self.behind_pointer(address, target, position, subscript.base)
            .map(Some)
    }

    fn behind_pointer(
        &self,
        address: u64,
        target: Value,
        position: i128,
        base: &Expression,
    ) -> Result<Value, Fault> {
        let size = self
            .reader
            .size_of(&target)
            .ok_or_else(|| self.fault(base, "points to something of unknown size"))?;
        let offset = position.wrapping_mul(size.into()) as u64;
        let mut element = target;
        element.contents = Contents::Memory(Address(address.wrapping_add(offset)));
        Ok(element)
    }

    fn has_bounds(&self, value: &Value) -> bool {
        match self.reader.resolve(value).map(|resolved| resolved.type_) {
            Some(type_) => match &type_.kind {
                TypeKind::Array { dimensions, .. } => value
                    .lengths
                    .as_deref()
                    .unwrap_or(dimensions)
                    .get(usize::from(value.dimension))
                    .is_some_and(Option::is_some),
                _ => true,
            },
            None => true,
        }
    }
}
