//! Whether an `Option` is `Some`, a `Result` is `Ok`, and so on.

use super::maker::{Made, Maker};
use super::{Node, Place};
use crate::eval::builtins::{self, Builtin};
use crate::eval::ir::Expression;
use crate::values::names;
use dapple_symbols::functions::Language;
use dapple_symbols::types::{Type, TypeKind, Variant};

/// The most ranges of discriminants of a variant.
const MOST_RANGES: usize = 8;

/// Whether an enum with two variants is in one of them.
#[derive(Debug, Clone)]
pub(super) struct IsVariant {
    /// Where the discriminant is.
    pub(super) discriminant: Place,
    /// The discriminant's size in bytes: 1, 2, 4 or 8.
    pub(super) size: u8,
    /// The discriminants of the variant, as inclusive ranges. Empty: all that the other variant doesn't have.
    pub(super) this: Vec<(u64, u64)>,
    /// Those of the other variant.
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
        let TypeKind::Aggregate(aggregate) = &type_.kind else {
            return None;
        };
        let path = names::path_name(&type_.name);
        let is_known = matches!(path, "core::option::Option" | "core::result::Result");
        let part = aggregate.variants.as_ref()?;
        if type_.language != Language::Rust || !is_known || part.variants.len() != 2 {
            return None;
        }
        let member = part.discriminant.as_ref().filter(|it| it.bits.is_none())?;
        let size = self.strip(member.type_id)?.size?;
        let find = |name: &str| {
            let mut variants = part.variants.iter();
            variants.find(|variant| *variant.name == *name)
        };
        let (this, other) = (ranges(find(this)?)?, ranges(find(other)?)?);
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
}

fn ranges(variant: &Variant) -> Option<Vec<(u64, u64)>> {
    let ranges = variant.discriminants.iter().take(MOST_RANGES + 1);
    let ranges: Option<Vec<_>> = ranges
        .map(|(low, high)| Some((u64::try_from(*low).ok()?, u64::try_from(*high).ok()?)))
        .collect();
    ranges.filter(|ranges| ranges.len() <= MOST_RANGES)
}
