//! Whether an enum of Rust is in a variant: an `Option` is `Some`, a `Result` is `Ok`, and so on.

use super::maker::{Made, Maker};
use super::{Node, Place};
use crate::eval::builtins::{self, Builtin};
use crate::eval::ir::Expression;
use crate::values::names;
use dapple_symbols::functions::Language;
use dapple_symbols::types::{Member, Type, TypeKind, Variant, VariantPart};

/// The most ranges of discriminants of some variants.
const MOST_RANGES: usize = 8;

/// Whether an enum is in one of its variants.
#[derive(Debug, Clone)]
pub(super) struct IsVariant {
    /// Where the discriminant is.
    pub(super) discriminant: Place,
    /// The discriminant's size in bytes: 1, 2, 4 or 8.
    pub(super) size: u8,
    /// The discriminants of the variant, as inclusive ranges. Empty: all that the other variants don't have.
    pub(super) this: Vec<(u64, u64)>,
    /// Those of the other variants. Empty: all that this one doesn't have.
    pub(super) other: Vec<(u64, u64)>,
}

impl Maker<'_> {
    /// A test of the variant. `None`: another method, or not such an enum.
    pub(super) fn variant_test(
        &self,
        base: &Expression,
        name: &str,
        arguments: &[Expression],
    ) -> Option<Made> {
        let Some(Builtin::IsVariant(this, other)) = builtins::named(name, arguments.len()) else {
            return None;
        };
        let made = self.make(base)?;
        let (Made::Memory(_, type_) | Made::Value(_, type_)) = &made else {
            return None;
        };
        // A plain pointer isn't followed in Rust.
        if matches!(type_.kind, TypeKind::Pointer(..)) && !self.is_seen_through(type_) {
            return None;
        }
        let (object, type_, _) = self.follow(made)?;
        let test = self.is_variant(object, &type_, this, other)?;
        Some(Made::Number(Node::Variant(Box::new(test))))
    }

    fn is_variant(
        &self,
        object: Place,
        type_: &Type,
        this: &str,
        other: &str,
    ) -> Option<IsVariant> {
        let path = names::path_name(&type_.name);
        let is_known = matches!(path, "core::option::Option" | "core::result::Result");
        let part = parts(type_)?;
        let has = |name: &str| part.variants.iter().any(|it| *it.name == *name);
        (is_known && part.variants.len() == 2 && has(other)).then_some(())?;
        self.is_in(object, type_, this)
    }

    /// A test whether an enum is in a variant. `None`: it isn't an enum with fields, or there is no such variant.
    pub(super) fn is_in(&self, object: Place, type_: &Type, name: &str) -> Option<IsVariant> {
        let part = parts(type_)?;
        let member = part.discriminant.as_ref().filter(|it| it.bits.is_none())?;
        let size = self.strip(member.type_id)?.size?;
        let (these, others): (Vec<&Variant>, Vec<&Variant>) =
            part.variants.iter().partition(|it| *it.name == *name);
        let [this] = these[..] else {
            return None;
        };
        let this = ranges(&[this])?;
        // One of them may have all discriminants that are left.
        let has_default = others.iter().any(|it| it.discriminants.is_empty());
        let other = match has_default {
            true => Vec::new(),
            false => ranges(&others)?,
        };
        if this.is_empty() && other.is_empty() {
            return None;
        }
        Some(IsVariant {
            discriminant: Place::Part(Box::new(object), member.offset),
            size: u8::try_from(size)
                .ok()
                .filter(|size| matches!(size, 1 | 2 | 4 | 8))?,
            this,
            other,
        })
    }

    /// A field of the only variant that has one of that name. It has a value only while the enum is in that variant.
    pub(super) fn variant_member(&self, object: Place, type_: &Type, name: &str) -> Option<Made> {
        let part = parts(type_).filter(|_| is_plain(type_))?;
        let mut found = part.variants.iter().filter_map(|variant| {
            let (offset, field) = self.variant_field(variant, name)?;
            Some((variant, offset, field))
        });
        let (variant, offset, field) = found.next()?;
        if found.next().is_some() || field.bits.is_some() {
            return None;
        }
        let test = self.is_in(object.clone(), type_, &variant.name)?;
        let place = Place::Part(Box::new(object), offset);
        let type_ = self.strip(field.type_id)?;
        Some(Made::Memory(
            Place::Guarded(Box::new(test), Box::new(place)),
            type_,
        ))
    }

    /// The offset in an enum of a variant's field.
    pub(super) fn variant_field(&self, variant: &Variant, name: &str) -> Option<(u64, Member)> {
        let fields = self.strip(variant.member.type_id)?;
        let (offset, field) = self.found_member(&fields, name)?;
        Some((variant.member.offset.checked_add(offset)?, field))
    }
}

/// The variants of an enum of Rust that has variants with fields.
pub(super) fn parts(type_: &Type) -> Option<&VariantPart> {
    match &type_.kind {
        TypeKind::Aggregate(aggregate) if type_.language == Language::Rust => {
            aggregate.variants.as_ref()
        }
        _ => None,
    }
}

/// Whether values of a type are shown as its variants and fields.
pub(super) fn is_plain(type_: &Type) -> bool {
    let path = names::path_name(&type_.name);
    let is_library = ["core::", "alloc::", "std::"];
    matches!(path, "core::option::Option" | "core::result::Result")
        || !is_library.iter().any(|library| path.starts_with(library))
}

/// The discriminants of some variants, in as few ranges as possible.
fn ranges(variants: &[&Variant]) -> Option<Vec<(u64, u64)>> {
    let all = variants.iter().flat_map(|variant| &variant.discriminants);
    let all: Option<Vec<_>> = all
        .map(|(low, high)| Some((u64::try_from(*low).ok()?, u64::try_from(*high).ok()?)))
        .collect();
    let mut all = all?;
    all.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (low, high) in all {
        match merged.last_mut() {
            Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
            _ => merged.push((low, high)),
        }
    }
    (merged.len() <= MOST_RANGES).then_some(merged)
}
