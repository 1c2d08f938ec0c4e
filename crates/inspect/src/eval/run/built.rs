//! Values written part by part, such as `Point { x: 1, y: 2 }`: compared with values of the program, and assigned to them.

use super::arithmetic::is_equal;
use super::builtins::behind_reference;
use super::convert::some_of;
use super::{Fault, MAX_STEPS, Runner};
use crate::eval::a_type;
use crate::eval::ir::{Binary, Expression, Kind, Part};
use crate::values::storing::Change;
use crate::values::view::{Field, LONG, Record, Sequence, View};
use crate::values::{Bits, Contents, Number, Value, names};
use dapple_symbols::functions::Language;
use dapple_symbols::types::{Aggregate, AggregateKind, Type, TypeKind};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The direct parts of a value.
enum Parts {
    Record(Record),
    Sequence(Sequence),
}

impl Runner<'_> {
    /// The result of `==` or `!=` where one side is written part by part, or is a variant's name. `None`: neither side is such an
    /// expression, or the operator is another.
    pub(super) fn compare_built(
        &self,
        operator: Binary,
        left: &Expression,
        right: &Expression,
    ) -> Result<Option<Number>, Fault> {
        let is_built = |side: &Expression| matches!(side.kind, Kind::Built { .. });
        if !matches!(operator, Binary::Equal | Binary::NotEqual) {
            return Ok(None);
        }
        let (value, built) = match (is_built(left), is_built(right)) {
            (_, true) => (self.value(left)?, right),
            (true, false) => (self.value(right)?, left),
            (false, false) => match self.variant_compared(left, right) {
                Some(is_it) => return Ok(Some(Number::Bool(is_it == (operator == Binary::Equal)))),
                None => return Ok(None),
            },
        };
        let is_it = self.is_built(value, built)?;
        Ok(Some(Number::Bool(is_it == (operator == Binary::Equal))))
    }

    /// Whether the enum on one side is in the variant named on the other: `shape == Shape::Empty`, `opt == None`.
    fn variant_compared(&self, left: &Expression, right: &Expression) -> Option<bool> {
        if self.frame.language != Language::Rust {
            return None;
        }
        let of = |value: &Expression, name: &Expression| {
            let Kind::Name(path) = &name.kind else {
                return None;
            };
            let last = path.rsplit("::").next()?;
            if !last.starts_with(char::is_uppercase) || self.value(name).is_ok() {
                return None;
            }
            let mut value = self.value(value).ok()?;
            for _ in 0..MAX_STEPS {
                if matches!(value.contents, Contents::Made(_))
                    && let View::Record(record) = self.reader.view(&value, LONG)
                {
                    let is_one = matches!(last, "Some" | "None");
                    return is_one.then(|| variant_of(&record) == Some(last));
                }
                if let Some(type_) = self.reader.resolve(&value).map(|resolved| resolved.type_)
                    && let TypeKind::Aggregate(aggregate) = &type_.kind
                    && let Some(part) = &aggregate.variants
                    && part.variants.iter().any(|known| *known.name == *last)
                {
                    let View::Record(record) = self.reader.view(&value, LONG) else {
                        return None;
                    };
                    return Some(variant_of(&record) == Some(last));
                }
                value = match self.reader.view(&value, LONG) {
                    View::Alias(target) => target,
                    _ => return None,
                };
            }
            None
        };
        of(left, right).or_else(|| of(right, left))
    }

    /// The result of `(0..3).contains(&x)` or `(0..3).is_empty()`. `None`: the method or its object is another.
    pub(super) fn in_range(
        &self,
        base: &Expression,
        method: &str,
        arguments: &[Expression],
    ) -> Result<Option<Number>, Fault> {
        let Kind::Built {
            path: Some(path),
            parts,
        } = &base.kind
        else {
            return Ok(None);
        };
        if !path.starts_with("Range") {
            return Ok(None);
        }
        let part = |name: &str| {
            let mut parts = parts.iter();
            parts.find(|part| part.name.as_deref() == Some(name))
        };
        let (start, end) = (part("start"), part("end"));
        let last = match path.ends_with("Inclusive") {
            true => Binary::LessEqual,
            false => Binary::Less,
        };
        let holds = |operator, one: &Expression, other: &Expression| {
            Ok::<bool, Fault>(self.binary(operator, one, other)?.is_true())
        };
        match (method, arguments) {
            ("contains", [wanted]) => {
                let wanted = behind_reference(wanted);
                let behind = match start {
                    Some(start) => holds(Binary::LessEqual, &start.value, wanted)?,
                    None => true,
                };
                let before = match end {
                    Some(end) => holds(last, wanted, &end.value)?,
                    None => true,
                };
                Ok(Some(Number::Bool(behind && before)))
            }
            ("is_empty", []) => match (start, end) {
                (Some(start), Some(end)) => {
                    holds(last, &start.value, &end.value).map(|some| Some(Number::Bool(!some)))
                }
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    pub(super) fn is_built(&self, value: Value, expected: &Expression) -> Result<bool, Fault> {
        let Kind::Built { path, parts } = &expected.kind else {
            return self.is_same(value, expected);
        };
        let (_, own) = self.parts_of(value, expected)?;
        let record = match own {
            Parts::Sequence(sequence) => {
                if sequence.length != parts.len() as u64 {
                    return Ok(false);
                }
                for (index, part) in (0..).zip(parts) {
                    if !self.is_built(sequence.at(index), &part.value)? {
                        return Ok(false);
                    }
                }
                return Ok(true);
            }
            Parts::Record(record) => record,
        };
        if let (Some(path), Some(is)) = (path, variant_of(&record))
            && path.rsplit("::").next() != Some(is)
        {
            return Ok(false);
        }
        let pairs = self.paired(&record.fields, parts, expected)?;
        for (field, part) in pairs {
            match part {
                Some(part) if self.is_built(field.value.clone(), &part.value)? => {}
                Some(_) => return Ok(false),
                None => return Err(lacking(expected, &field.name)),
            }
        }
        Ok(true)
    }

    /// Whether a value equals the value of the expression `expected`.
    fn is_same(&self, value: Value, expected: &Expression) -> Result<bool, Fault> {
        if let Some(text) = self.text_of(expected)? {
            return match self.text_in(&value) {
                Some(own) => Ok(own == text),
                None => Err(Fault::new(
                    expected.at,
                    format!("{} is no text to compare", a_type(self.type_of(&value))),
                )),
            };
        }
        let wanted = self.reader.resolve(&value).map(|resolved| resolved.type_);
        let runner = Runner {
            wanted,
            module: self.module.clone(),
            ..*self
        };
        let number = runner.number(expected)?;
        Ok(is_equal(self.number_of(&value, expected)?, number))
    }

    /// A value's parts, and the value itself with references removed.
    fn parts_of(&self, value: Value, expected: &Expression) -> Result<(Value, Parts), Fault> {
        let mut value = value;
        for _ in 0..MAX_STEPS {
            match self.reader.view(&value, LONG) {
                View::Alias(target) => value = target,
                View::Record(record) => return Ok((value, Parts::Record(record))),
                View::Sequence(sequence) => return Ok((value, Parts::Sequence(sequence))),
                _ => break,
            }
        }
        let why = format!("{} is not made of parts", a_type(self.type_of(&value)));
        Err(Fault::new(expected.at, why))
    }

    /// A record's fields, each with the part that is written for it, matched by name or in order.
    fn paired<'f, 'p>(
        &self,
        fields: &'f [Field],
        parts: &'p [Part],
        expected: &Expression,
    ) -> Result<Vec<(&'f Field, Option<&'p Part>)>, Fault> {
        let fields: Vec<&Field> = fields.iter().filter(|field| !field.artificial).collect();
        let is_named = parts.iter().any(|part| part.name.is_some());
        if !is_named && parts.len() > fields.len() {
            let why = format!(
                "it has {} parts, and these are {}",
                fields.len(),
                parts.len()
            );
            return Err(Fault::new(expected.at, why));
        }
        for part in parts {
            let Some(name) = part.name.as_deref().filter(|_| is_named) else {
                if is_named {
                    return Err(Fault::new(part.value.at, "all parts are named, or none"));
                }
                continue;
            };
            if !fields.iter().any(|field| field.name == name) {
                let known = fields.iter().map(|field| field.name.as_str());
                let why = format!("there is no part `{name}`; it has {}", some_of(known));
                return Err(Fault::new(part.value.at, why));
            }
        }
        let pairs = fields.into_iter().enumerate().map(|(position, field)| {
            let part = match is_named {
                true => parts
                    .iter()
                    .find(|p| p.name.as_deref() == Some(&field.name)),
                false => parts.get(position),
            };
            (field, part)
        });
        Ok(pairs.collect())
    }

    /// The changes that assign a value written part by part. In C and C++, parts that aren't written become zero.
    pub(super) fn store_built(
        &self,
        target: Value,
        name: &str,
        source: &Expression,
    ) -> Result<Vec<Change>, Fault> {
        let Kind::Built { path, parts } = &source.kind else {
            return self.store(target, name, None, source);
        };
        let type_ = self.behind_references(&target);
        if let Some((value, type_)) = type_
            && let TypeKind::Aggregate(aggregate) = &type_.kind
            && aggregate.variants.is_some()
        {
            return self.store_variant(value, aggregate, name, source);
        }
        let (value, own) = self.parts_of(target, source)?;
        let is_library = match &own {
            Parts::Record(record) => record.raw,
            Parts::Sequence(sequence) => sequence.container && self.has_own_memory(&value),
        };
        if is_library {
            let a_type = a_type(self.type_of(&value));
            let why = format!("{a_type} is its library's to make; set its elements");
            return Err(Fault::new(source.at, why));
        }
        if let Some(path) = path {
            self.check_type(&value, path, source)?;
        }
        match own {
            Parts::Record(record) => {
                let is_union = self.is_union(&value);
                if is_union && parts.len() != 1 {
                    return Err(Fault::new(source.at, "one part of a union is set"));
                }
                self.store_fields(&record.fields, parts, is_union, source)
            }
            Parts::Sequence(sequence) => {
                let (has, given) = (sequence.length, parts.len() as u64);
                let is_rust = self.frame.language == Language::Rust;
                if given > has || (is_rust && given != has) {
                    let why = format!("it has {has} elements, and these are {given}");
                    return Err(Fault::new(source.at, why));
                }
                let mut changes = Vec::new();
                for index in 0..has {
                    let element = sequence.at(index);
                    let part = usize::try_from(index).ok().and_then(|at| parts.get(at));
                    changes.extend(match part {
                        Some(part) => {
                            self.store_built(element, &format!("[{index}]"), &part.value)?
                        }
                        None => self.zeroed(&element, source)?,
                    });
                }
                Ok(changes)
            }
        }
    }

    fn store_fields(
        &self,
        fields: &[Field],
        parts: &[Part],
        is_union: bool,
        source: &Expression,
    ) -> Result<Vec<Change>, Fault> {
        let mut changes = Vec::new();
        // Bit-fields share bytes, so their changes are merged.
        let mut shared = FxHashMap::default();
        for (field, part) in self.paired(fields, parts, source)? {
            let own = match part {
                // In a union, one part is enough.
                None if is_union => continue,
                Some(part) => self.store_built(field.value.clone(), &field.name, &part.value)?,
                None if self.frame.language == Language::Rust => {
                    return Err(lacking(source, &field.name));
                }
                None => self.zeroed(&field.value, source)?,
            };
            match &field.value.bits {
                Some(bits) => changes.extend(with_shared(own, bits, &mut shared)),
                None => changes.extend(own),
            }
        }
        Ok(changes)
    }

    fn zeroed(&self, value: &Value, source: &Expression) -> Result<Vec<Change>, Fault> {
        let size = self.reader.size_of(value).unwrap_or(0);
        let size = usize::try_from(size).ok().filter(|size| *size <= 1 << 20);
        let size = size.ok_or_else(|| Fault::new(source.at, "its parts are too large"))?;
        let changes = self.reader.changes(value, &vec![0; size]);
        changes.map_err(|why| Fault::new(source.at, format!("a part of it {why}")))
    }

    /// The changes that assign a variant with its payload.
    fn store_variant(
        &self,
        target: Value,
        aggregate: &Aggregate,
        name: &str,
        source: &Expression,
    ) -> Result<Vec<Change>, Fault> {
        let Kind::Built {
            path: Some(path),
            parts,
        } = &source.kind
        else {
            let type_name = self.type_of(&target);
            let why = format!("it takes a variant of `{type_name}` with its name");
            return Err(Fault::new(source.at, why));
        };
        let last = path.rsplit("::").next().unwrap_or(path);
        let (variant, mut changes) =
            self.variant_changes(&target, aggregate, last, name, source)?;
        let payload = self.reader.member(&target, &variant.member);
        let is_active = match self.reader.view(&target, LONG) {
            View::Record(record) => variant_of(&record) == Some(last),
            _ => false,
        };
        let (_, own) = self.parts_of(payload, source)?;
        if let Parts::Record(record) = own {
            let more = self.store_fields(&record.fields, parts, false, source)?;
            // If the variant isn't active, a pointer in its payload is invalid, so nothing may be written behind it.
            if !is_active && !more.iter().all(|change| self.is_inside(&target, change)) {
                let why = format!(
                    "`{name}` holds no `{last}`, so there is no memory for what that points to"
                );
                return Err(Fault::new(source.at, why));
            }
            changes.extend(more);
        }
        Ok(changes)
    }

    /// Whether a change lies within a value's own bytes.
    fn is_inside(&self, value: &Value, change: &Change) -> bool {
        let size = self.reader.size_of(value).unwrap_or(0);
        match (change, value.contents.address()) {
            (Change::Register { .. }, _) => true,
            (Change::Memory { address, .. }, Some(own)) => {
                address.0.wrapping_sub(own.0) < size.max(1)
            }
            (Change::Memory { .. }, None) => false,
        }
    }

    fn behind_references(&self, value: &Value) -> Option<(Value, Arc<Type>)> {
        let mut value = value.clone();
        for _ in 0..MAX_STEPS {
            let type_ = self.reader.resolve(&value)?.type_;
            if matches!(&type_.kind, TypeKind::Aggregate(aggregate) if aggregate.variants.is_some())
            {
                return Some((value, type_));
            }
            match self.reader.view(&value, LONG) {
                View::Alias(target) => value = target,
                _ => return Some((value, type_)),
            }
        }
        None
    }

    /// Whether a container's elements lie outside its own bytes, as those of `Vec` do, unlike those of `std::array`.
    fn has_own_memory(&self, value: &Value) -> bool {
        let type_ = self.reader.resolve(value).map(|resolved| resolved.type_);
        type_.is_some_and(|type_| !matches!(names::base_name(&type_.name), "array"))
    }

    fn is_union(&self, value: &Value) -> bool {
        let type_ = self.reader.resolve(value).map(|resolved| resolved.type_);
        type_.is_some_and(|type_| {
            matches!(&type_.kind, TypeKind::Aggregate(it) if it.kind == AggregateKind::Union)
        })
    }

    fn check_type(&self, value: &Value, path: &str, source: &Expression) -> Result<(), Fault> {
        let type_name = self.type_of(value);
        let last = names::base_name(path);
        let own = names::base_name(&type_name);
        let own = own.rsplit(' ').next().unwrap_or(own);
        if own == last || path == "Self" {
            return Ok(());
        }
        let why = format!(
            "it takes {}, and this is {}",
            a_type(type_name),
            a_type(path)
        );
        Err(Fault::new(source.at, why))
    }
}

fn lacking(source: &Expression, field: &str) -> Fault {
    Fault::new(source.at, format!("its part `{field}` is missing"))
}

/// The name of an enum's active variant: `Some` for `Some`, `Circle` for `Shape::Circle`.
fn variant_of(record: &Record) -> Option<&str> {
    record.name.as_deref()?.rsplit("::").next()
}

/// Merges the changes of a bit-field with earlier changes to the same bytes, which `shared` holds by address.
fn with_shared(changes: Vec<Change>, bits: &Bits, shared: &mut FxHashMap<u64, u8>) -> Vec<Change> {
    let (first, last) = (bits.skip % 8, bits.skip % 8 + bits.count);
    let mut merged = changes;
    for change in &mut merged {
        let Change::Memory { address, bytes } = change else {
            continue;
        };
        for (place, byte) in (0u64..).zip(bytes.iter_mut()) {
            let is_own = |bit: &u32| (first..last).contains(&(8 * place + u64::from(*bit)));
            let mask = (0..8).filter(is_own).fold(0u8, |mask, bit| mask | 1 << bit);
            let at = address.0.wrapping_add(place);
            let before = shared.get(&at).copied().unwrap_or(*byte);
            *byte = before & !mask | *byte & mask;
            shared.insert(at, *byte);
        }
    }
    merged
}
