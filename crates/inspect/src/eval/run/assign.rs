//! Assignments: the changes that give a place the value of an expression.

use super::convert::{Conversion, some_of};
use super::{Fault, MAX_STEPS, Runner, arithmetic, runner};
use crate::eval::a_type;
use crate::eval::calls::Calls;
use crate::eval::ir::{Binary, Expression, Kind};
use crate::frame::Frame;
use crate::values::storing::Change;
use crate::values::view::{LONG, View};
use crate::values::{Contents, Number, Reader, Value, names};
use dapple_arch::registers::named::Named;
use dapple_symbols::functions::Language;
use dapple_symbols::types::{Aggregate, PointerKind, Type, TypeKind, Variant};
use dapple_target::suggest::nearest;
use std::sync::Arc;

/// The target of an assignment.
pub(in crate::eval) enum Place {
    Value(Value),
    Register(Named),
}

/// The changes for `target = source` or, with an operator, `target += source`. Both sides are parsed from `text`.
pub(in crate::eval) fn changes(
    (target, operator, source): (&Expression, Option<Binary>, &Expression),
    text: &str,
    frame: &Frame,
    reader: &Reader<'_>,
    calls: Option<&Calls>,
) -> Result<Vec<Change>, Fault> {
    let runner = runner(text, frame, reader, calls)?;
    let operator = operator.map(|operator| (operator, target));
    let place = runner.place(target)?;
    runner.put(&place, runner.source(target), operator, source)
}

/// The place that an expression denotes as the target of an assignment.
pub(in crate::eval) fn place(
    target: &Expression,
    text: &str,
    frame: &Frame,
    reader: &Reader<'_>,
) -> Result<Place, Fault> {
    runner(text, frame, reader, None)?.place(target)
}

/// The changes that give `place` the value of the expression `source`. `name` is the name of `place` in messages.
pub(in crate::eval) fn changes_of(
    place: &Place,
    name: &str,
    (source, text): (&Expression, &str),
    frame: &Frame,
    reader: &Reader<'_>,
    calls: Option<&Calls>,
) -> Result<Vec<Change>, Fault> {
    runner(text, frame, reader, calls)?.put(place, name, None, source)
}

impl Runner<'_> {
    fn place(&self, target: &Expression) -> Result<Place, Fault> {
        match self.register_meant(target)? {
            Some(register) => {
                self.check_settable(register, target.at)?;
                Ok(Place::Register(register))
            }
            None => self.value(target).map(Place::Value),
        }
    }

    fn put(
        &self,
        place: &Place,
        name: &str,
        operator: Option<(Binary, &Expression)>,
        source: &Expression,
    ) -> Result<Vec<Change>, Fault> {
        let register = match place {
            Place::Value(value) => return self.store(value.clone(), name, operator, source),
            Place::Register(register) => *register,
        };
        let given = match operator {
            Some((operator, target)) => self.binary(operator, target, source)?,
            None => self.number(source)?,
        };
        Ok(vec![Change::Register {
            number: register.number,
            level: self.frame.physical.level,
            skip: register.skip,
            count: register.bits,
            value: self.bits_for(register, given, (name, source), operator.is_some())?,
        }])
    }

    pub(super) fn store(
        &self,
        target: Value,
        name: &str,
        operator: Option<(Binary, &Expression)>,
        source: &Expression,
    ) -> Result<Vec<Change>, Fault> {
        if let (Kind::Built { .. }, None) = (&source.kind, operator) {
            return self.store_built(target, name, source);
        }
        if let (Kind::Text(text), None) = (&source.kind, operator) {
            return self.store_text(target, name, text, source);
        }
        let mut target = target;
        for _ in 0..MAX_STEPS {
            let refuse = |why: &str| Fault::new(source.at, format!("`{name}` {why}"));
            if let Contents::Number(_) = target.contents {
                // A bit of a container, such as an element of `vector<bool>`.
                if target.bits.is_some() {
                    return self.store_truth(&target, name, operator, source);
                }
                return Err(refuse("is computed, it has no place in the program"));
            }
            let Some(resolved) = self.reader.resolve(&target) else {
                return Err(refuse("can't be set: its type is not known"));
            };
            let type_ = resolved.type_;
            if is_atomic_bool(&type_) {
                return self.store_truth(&target, name, operator, source);
            }
            let inner = match self.reader.view(&target, LONG) {
                View::Alias(inner) => Some(inner),
                _ => None,
            };
            let runner = Runner {
                wanted: Some(Arc::clone(&type_)),
                literals: arithmetic::literals_for(&type_, source)
                    .filter(|_| self.frame.language == Language::Rust && operator.is_none()),
                module: Arc::clone(&self.module),
                ..*self
            };
            if let (TypeKind::Aggregate(aggregate), None) = (&type_.kind, operator)
                && aggregate.variants.is_some()
                && let Some(changes) = self.to_variant(&target, aggregate, name, source)?
            {
                return Ok(changes);
            }
            let bytes = runner.own_bytes(&target, (&type_, inner.is_some()), operator, source)?;
            if let Some(bytes) = bytes {
                let changes = self.reader.changes(&target, &bytes);
                return changes.map_err(|why| refuse(&why));
            }
            let Some(inner) = inner else {
                let a_type = a_type(self.type_of(&target));
                return Err(refuse(&format!("can't be set, it is {a_type}")));
            };
            if is_nonzero(&type_) && runner.number(source).is_ok_and(|n| !n.is_true()) {
                return Err(refuse("can't be zero"));
            }
            target = inner;
        }
        Err(Fault::new(source.at, format!("`{name}` can't be set")))
    }

    /// The bytes to store in the target itself. `None`: the assignment means the value that the target refers to.
    fn own_bytes(
        &self,
        target: &Value,
        (type_, stands_for_another): (&Type, bool),
        operator: Option<(Binary, &Expression)>,
        source: &Expression,
    ) -> Result<Option<Vec<u8>>, Fault> {
        match &type_.kind {
            TypeKind::Pointer(PointerKind::Reference | PointerKind::RvalueReference, _) => Ok(None),
            TypeKind::Aggregate(_) | TypeKind::Array { .. } => {
                match self.whole(target, operator, source) {
                    Ok(bytes) => Ok(Some(bytes)),
                    Err(_) if stands_for_another => Ok(None),
                    Err(fault) => Err(fault),
                }
            }
            _ => {
                let number = match operator {
                    Some((operator, left)) => self.binary(operator, left, source)?,
                    None => self.number(source)?,
                };
                // The value of a Rust reference or box is that of its target.
                if stands_for_another && !matches!(number, Number::Pointer { .. }) {
                    return Ok(None);
                }
                let bytes = self.number_bytes(target, type_, number, operator, source)?;
                Ok(Some(bytes))
            }
        }
    }

    /// The change of a truth value that the debug information doesn't describe as a `bool`.
    fn store_truth(
        &self,
        target: &Value,
        name: &str,
        operator: Option<(Binary, &Expression)>,
        source: &Expression,
    ) -> Result<Vec<Change>, Fault> {
        let number = match operator {
            Some((operator, left)) => self.binary(operator, left, source)?,
            None => self.number(source)?,
        };
        let is_rust = self.frame.language == Language::Rust;
        let truth = match number {
            Number::Bool(truth) => truth,
            number if is_rust => {
                let given = a_type(number.type_name(Language::Rust));
                let why = format!("`{name}` is `true` or `false`, not {given}");
                return Err(Fault::new(source.at, why));
            }
            number => number.is_true(),
        };
        let changes = self.reader.changes(target, &[truth.into()]);
        changes.map_err(|why| Fault::new(source.at, format!("`{name}` {why}")))
    }

    pub(super) fn number_bytes(
        &self,
        target: &Value,
        type_: &Type,
        number: Number,
        operator: Option<(Binary, &Expression)>,
        source: &Expression,
    ) -> Result<Vec<u8>, Fault> {
        let type_name = self.type_of(target);
        if let (
            TypeKind::Pointer(_, wanted),
            Number::Pointer {
                address,
                target: given,
            },
        ) = (&type_.kind, number)
        {
            let is_reference = type_.name.starts_with('&') && type_.language == Language::Rust;
            if is_reference && address == 0 {
                return Err(Fault::new(source.at, "a reference can't be null"));
            }
            let type_of = |id| {
                let target = target.module.module.strip_aliases(id);
                target.ok().flatten()
            };
            if let (Some(wanted), Some(given)) = (wanted.and_then(type_of), given.and_then(type_of))
                && (wanted.id != given.id && wanted.name != given.name)
            {
                let (wanted, given) = (
                    a_type(type_name),
                    a_type(self.type_of(&self.computed(number))),
                );
                let why = format!("it is {wanted}, the value {given}; cast it");
                return Err(Fault::new(source.at, why));
            }
        }
        let conversion = Conversion {
            word: self.word_size(),
            number,
            untyped: arithmetic::is_untyped(source),
            type_,
            type_name: &type_name,
            bits: target.bits.as_ref().map(|bits| bits.count),
            wraps: operator.is_some(),
        };
        conversion.bytes().map_err(|why| Fault::new(source.at, why))
    }

    /// The bytes of the value of `source`, which must be of the target's type: the assignment copies them.
    pub(super) fn whole(
        &self,
        target: &Value,
        operator: Option<(Binary, &Expression)>,
        source: &Expression,
    ) -> Result<Vec<u8>, Fault> {
        let wanted = a_type(self.type_of(target));
        if operator.is_some() {
            let why = format!("{wanted} can't be computed with");
            return Err(Fault::new(source.at, why));
        }
        let mut value = self.value(source)?;
        for _ in 0..MAX_STEPS {
            let one = self.reader.resolve(target).map(|resolved| resolved.type_);
            let other = self.reader.resolve(&value).map(|resolved| resolved.type_);
            if let (Some(one), Some(other)) = (one, other)
                && one.name == other.name
                && target.dimension == value.dimension
                && let Some(size) = self.reader.size_of(target)
                && self.reader.size_of(&value) == Some(size)
            {
                let bytes = self.reader.bytes(&value.contents, size);
                return bytes.map_err(|reason| {
                    let reason = self.reader.reason(&reason);
                    self.fault(
                        source,
                        &format!("is not available: {}", reason.trim_matches(['<', '>'])),
                    )
                });
            }
            match self.reader.view(&value, LONG) {
                View::Alias(inner) => value = inner,
                _ => break,
            }
        }
        let given = a_type(self.type_of(&value));
        let why = format!("it takes {wanted}, and this is {given}");
        Err(Fault::new(source.at, why))
    }

    /// The changes that assign a Rust enum's variant by name. `None`: `source` is not a variant's name, or is a variable, too.
    fn to_variant(
        &self,
        target: &Value,
        aggregate: &Aggregate,
        name: &str,
        source: &Expression,
    ) -> Result<Option<Vec<Change>>, Fault> {
        let (Kind::Name(path), Some(part)) = (&source.kind, &aggregate.variants) else {
            return Ok(None);
        };
        let last = path.rsplit("::").next().unwrap_or(path);
        let Some(variant) = part.variants.iter().find(|variant| *variant.name == *last) else {
            if self.value(source).is_ok() {
                return Ok(None);
            }
            let known = part.variants.iter().map(|variant| &*variant.name);
            let hint = match nearest(last, known.clone()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("it has {}", some_of(known)),
            };
            let type_name = self.type_of(target);
            let message = format!("`{type_name}` has no variant `{last}`; {hint}");
            return Err(Fault::new(source.at, message));
        };
        if self.locals().iter().any(|local| local.name == *path) {
            return Ok(None);
        }
        let payload = self.reader.member(target, &variant.member);
        if self.has_fields(&payload) {
            return Err(Fault::new(
                source.at,
                format!(
                    "`{last}` has fields, which have to be written, too: `{last}(…)`, `{last} {{ … }}`"
                ),
            ));
        }
        self.variant_changes(target, aggregate, last, name, source)
            .map(|(_, changes)| Some(changes))
    }

    /// The variant called `last`, and the changes that select it. They don't include its payload.
    pub(super) fn variant_changes<'t>(
        &self,
        target: &Value,
        aggregate: &'t Aggregate,
        last: &str,
        name: &str,
        source: &Expression,
    ) -> Result<(&'t Variant, Vec<Change>), Fault> {
        let refuse = |why: String| Fault::new(source.at, why);
        let none = || {
            refuse(format!(
                "`{}` has no variant `{last}`",
                self.type_of(target)
            ))
        };
        let part = aggregate.variants.as_ref().ok_or_else(none)?;
        let mut variants = part.variants.iter();
        let variant = variants
            .find(|variant| *variant.name == *last)
            .ok_or_else(none)?;
        let Some(place) = &part.discriminant else {
            return Ok((variant, Vec::new()));
        };
        let payload = self.reader.member(target, &variant.member);
        // This variant has no discriminant. The others are encoded as values that its payload can't have, so writing the payload selects
        // it.
        if variant.discriminants.is_empty() && self.has_fields(&payload) {
            return Ok((variant, Vec::new()));
        }
        let Some((discriminant, _)) = variant.discriminants.first() else {
            return Err(refuse(format!(
                "nothing says how `{last}` is told from the other variants"
            )));
        };
        let place = self.reader.member(target, place);
        let size = self.reader.size_of(&place).unwrap_or(0);
        let bytes = discriminant.to_le_bytes();
        let bytes = bytes.get(..size as usize).unwrap_or_default();
        let changes = self.reader.changes(&place, bytes);
        changes
            .map(|changes| (variant, changes))
            .map_err(|why| refuse(format!("`{name}` {why}")))
    }

    fn has_fields(&self, payload: &Value) -> bool {
        let type_ = self.reader.resolve(payload).map(|resolved| resolved.type_);
        type_.is_none_or(|type_| match &type_.kind {
            TypeKind::Aggregate(aggregate) => !aggregate.members.is_empty(),
            _ => true,
        })
    }

    fn store_text(
        &self,
        target: Value,
        name: &str,
        text: &[u8],
        source: &Expression,
    ) -> Result<Vec<Change>, Fault> {
        let refuse = |why: String| Fault::new(source.at, format!("`{name}` {why}"));
        let mut target = target;
        for _ in 0..MAX_STEPS {
            if let Some(storage) = self.reader.text_storage(&target) {
                let (bytes, length) = storage.encode(text).ok_or_else(|| {
                    refuse("holds valid Unicode, and this text is not".to_owned())
                })?;
                if length > storage.capacity {
                    return Err(refuse(format!(
                        "has room for {} {}, and this text has {length}",
                        storage.capacity,
                        match storage.unit {
                            1 => "bytes",
                            _ => "characters",
                        }
                    )));
                }
                let place = target.sibling(None, storage.units);
                let mut changes = self.reader.changes(&place, &bytes).map_err(refuse)?;
                if let Some(kept) = storage.length {
                    let size = match (kept.type_id, &kept.bits) {
                        (Some(_), None) => self.reader.size_of(&kept).unwrap_or(8).min(8),
                        _ => 8,
                    };
                    let bytes = length.to_le_bytes();
                    let more = self.reader.changes(&kept, &bytes[..size as usize]);
                    changes.extend(more.map_err(refuse)?);
                }
                return Ok(changes);
            }
            match self.reader.view(&target, LONG) {
                View::Alias(inner) => target = inner,
                _ => break,
            }
        }
        let a_type = a_type(self.type_of(&target));
        let is_borrowed = matches!(
            self.reader.resolve(&target).map(|resolved| resolved.type_),
            Some(type_) if matches!(type_.kind, TypeKind::Pointer(..)) || names::base_name(&type_.name).starts_with('&')
        );
        Err(refuse(if is_borrowed {
            format!("is {a_type}, which has no text of its own to be changed")
        } else {
            format!("is {a_type}, which is no text")
        }))
    }
}

fn is_atomic_bool(type_: &Type) -> bool {
    type_.language == Language::Rust
        && names::path_name(&type_.name) == "core::sync::atomic::AtomicBool"
}

fn is_nonzero(type_: &Type) -> bool {
    type_.language == Language::Rust
        && names::path_name(&type_.name) == "core::num::nonzero::NonZero"
}
