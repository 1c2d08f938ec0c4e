//! Members of objects in memory: also those of base classes and of anonymous members, and bit-fields.

use super::Shape;
use super::maker::Maker;
use crate::values::names;
use dapple_symbols::types::{Member, Type, TypeKind};
use std::sync::Arc;

/// The deepest base class or anonymous member searched, as in the evaluator.
const MOST_BASES: usize = 16;
/// The most base classes of a class that are looked at.
const MOST_WIDTH: usize = 4;
/// The most members looked at in one search.
const MOST_VISITS: usize = 1000;

/// A bit-field.
#[derive(Debug, Clone)]
pub(super) struct BitField {
    /// The declared type.
    pub(super) shape: Shape,
    /// The offset in the object of the integer that contains the field, in bytes.
    pub(super) offset: u64,
    /// The size of that integer in bytes.
    pub(super) size: u8,
    /// The number of bits below the field.
    pub(super) skip: u8,
    /// The number of the field's bits.
    pub(super) count: u8,
}

impl BitField {
    /// The bit-field at an offset in an object of `whole` bytes. `None`: no aligned integer inside of the object contains it.
    pub(super) fn of(
        offset: u64,
        (skip, count): (u64, u64),
        type_: Arc<Type>,
        whole: u64,
    ) -> Option<BitField> {
        let shape = Shape::of(type_).filter(|shape| shape.size <= 8)?;
        let count = u8::try_from(count).ok().filter(|count| *count > 0)?;
        [1_u8, 2, 4, 8].into_iter().find_map(|size| {
            let start = offset / u64::from(size) * u64::from(size);
            let skip = (offset - start) * 8 + skip;
            let fits = skip + u64::from(count) <= 8 * u64::from(size)
                && start.checked_add(size.into())? <= whole;
            fits.then_some(BitField {
                shape: shape.clone(),
                offset: start,
                size,
                skip: skip as u8,
                count,
            })
        })
    }
}

impl Maker<'_> {
    /// A member by its name, and its offset in an object. `None`: there is none, or its place depends on the object.
    pub(super) fn found_member(&self, type_: &Type, name: &str) -> Option<(u64, Member)> {
        // `object.Base::member`
        if name.contains("::") {
            return None;
        }
        self.member_in(type_, name, 0, &mut 0)?
    }

    /// Whether an object may have a member of a name, which may have the path of a class.
    pub(super) fn may_have_member(&self, type_: &Type, name: &str) -> bool {
        match name.split_once("::") {
            Some((class, _)) => self.may_be_of_class(type_, class, 0),
            None => !matches!(self.member_in(type_, name, 0, &mut 0), Some(None)),
        }
    }

    /// Whether a type is a class of that name, or has a base class of that name.
    fn may_be_of_class(&self, type_: &Type, class: &str, depth: usize) -> bool {
        let TypeKind::Aggregate(aggregate) = &type_.kind else {
            return false;
        };
        let bases = aggregate.members.iter().filter(|member| member.base);
        depth > MOST_BASES
            || names::base_name(&type_.name) == class
            || bases
                .take(MOST_WIDTH)
                .any(|base| match self.strip(base.type_id) {
                    Some(base) => self.may_be_of_class(&base, class, depth + 1),
                    None => true,
                })
    }

    /// As [`Maker::found_member`]; `Some(None)`: there is certainly none.
    fn member_in(
        &self,
        type_: &Type,
        name: &str,
        depth: usize,
        visits: &mut usize,
    ) -> Option<Option<(u64, Member)>> {
        let TypeKind::Aggregate(aggregate) = &type_.kind else {
            return Some(None);
        };
        if aggregate.variants.is_some() || depth > MOST_BASES {
            return None;
        }
        let is_index = name.bytes().all(|byte| byte.is_ascii_digit());
        let mut inner = Vec::new();
        for member in &aggregate.members {
            *visits += 1;
            if *visits > MOST_VISITS {
                return None;
            }
            let own = member.name.as_deref();
            let is_it = own.is_some_and(|own| {
                own == name || (is_index && own.strip_prefix("__") == Some(name))
            });
            if is_it {
                let is_plain = !member.virtual_base;
                return is_plain.then(|| Some((member.offset, member.clone())));
            }
            if own.is_none() || member.base {
                inner.push(member);
            }
        }
        if aggregate.statics.iter().any(|one| *one.name == *name) {
            return None;
        }
        for member in inner {
            if member.virtual_base {
                return None;
            }
            let part = self.strip(member.type_id)?;
            if let Some((offset, found)) = self.member_in(&part, name, depth + 1, visits)? {
                return Some(Some((member.offset.checked_add(offset)?, found)));
            }
        }
        Some(None)
    }
}
