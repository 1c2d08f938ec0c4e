//! Walks through the parts of Rust values: fields, the active variant of an enum, and the targets of pointers.

use crate::Address;
use crate::values::rust::{active_variant, concrete_object};
use crate::values::view::View;
use crate::values::{Contents, Reader, Value, names};
use dapple_symbols::types::{Type, TypeId, TypeKind};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;
use std::sync::Arc;

/// The most values that one search visits.
const MOST_VISITS: usize = 4000;
/// How deep a pointer may be nested in a value.
const MOST_NESTING: usize = 12;
/// The most elements of a slice.
const MOST_ELEMENTS: u64 = 4096;

/// A value's type without typedefs.
pub(crate) fn type_of(reader: &Reader<'_>, value: &Value) -> Option<Arc<Type>> {
    reader.resolve(value).map(|resolved| resolved.type_)
}

/// The fields of a struct, or the active variant of an enum.
pub(crate) fn fields(reader: &Reader<'_>, value: &Value, type_: &Type) -> Vec<Value> {
    let TypeKind::Aggregate(aggregate) = &type_.kind else {
        return Vec::new();
    };
    if aggregate.variants.is_some() {
        let active = active_variant(reader, value, aggregate);
        let payload = active.map(|variant| reader.member(value, &variant.member));
        return payload.into_iter().collect();
    }
    let members = aggregate.members.iter();
    members.map(|member| reader.member(value, member)).collect()
}

/// The name of an enum's active variant.
pub(crate) fn variant<'a>(reader: &Reader<'_>, value: &Value, type_: &'a Type) -> Option<&'a str> {
    let TypeKind::Aggregate(aggregate) = &type_.kind else {
        return None;
    };
    let active = active_variant(reader, value, aggregate).ok()?;
    Some(&active.name)
}

/// The target of a pointer to a sized type.
pub(crate) fn target(reader: &Reader<'_>, pointer: &Value, type_: &Type) -> Option<Value> {
    let TypeKind::Pointer(_, Some(target)) = type_.kind else {
        return None;
    };
    let address = reader.word(&pointer.contents).ok().filter(|a| *a != 0)?;
    Some(pointer.sibling(Some(target), Contents::Memory(Address(address))))
}

/// The object behind a fat pointer to a trait object.
pub(crate) fn object(reader: &Reader<'_>, pointer: &Value) -> Option<Value> {
    reader.field(pointer, "vtable")?;
    concrete_object(reader, pointer)
}

/// The object behind a boxed and pinned future whose type its own type doesn't tell.
pub(crate) fn boxed_object(reader: &Reader<'_>, boxed: &Value) -> Option<Value> {
    let mut value = boxed.clone();
    for _ in 0..MOST_NESTING {
        if reader.field(&value, "vtable").is_some() {
            return object(reader, &value);
        }
        let type_ = type_of(reader, &value)?;
        value = fields(reader, &value, &type_).into_iter().next()?;
    }
    None
}

/// The elements of a slice behind a fat pointer.
pub(crate) fn elements(reader: &Reader<'_>, pointer: &Value) -> Vec<Value> {
    let elements = || {
        let data = reader.field(pointer, "data_ptr")?;
        let length = reader
            .word(&reader.field(pointer, "length")?.contents)
            .ok()?;
        let first = target(reader, &data, &*type_of(reader, &data)?)?;
        let size = reader.size_of(&first).filter(|size| *size > 0)?;
        let start = first.contents.address()?.0;
        let element = move |index: u64| {
            let address = Address(start.wrapping_add(index.wrapping_mul(size)));
            first.sibling(first.type_id, Contents::Memory(address))
        };
        Some((0..length.min(MOST_ELEMENTS)).map(element).collect())
    };
    elements().unwrap_or_default()
}

/// The first pointer in a value, its fields and active variants.
pub(crate) fn pointer(reader: &Reader<'_>, value: &Value) -> Option<Value> {
    pointer_within(reader, value, MOST_NESTING)
}

fn pointer_within(reader: &Reader<'_>, value: &Value, nesting: usize) -> Option<Value> {
    let type_ = type_of(reader, value)?;
    if let TypeKind::Pointer(..) = type_.kind {
        return Some(value.clone());
    }
    let nesting = nesting.checked_sub(1)?;
    let mut fields = fields(reader, value, &type_).into_iter();
    fields.find_map(|field| pointer_within(reader, &field, nesting))
}

/// The address in the first pointer in a value. `None`: there is none, or it can't be read.
pub(crate) fn pointer_in(reader: &Reader<'_>, value: &Value) -> Option<u64> {
    reader.word(&pointer(reader, value)?.contents).ok()
}

/// The target of the first pointer in a value.
pub(crate) fn pointee(reader: &Reader<'_>, value: &Value) -> Option<Value> {
    let pointer = pointer(reader, value)?;
    let type_ = type_of(reader, &pointer)?;
    target(reader, &pointer, &type_)
}

/// All values whose type has a path that is `wanted`, in `root` and what it owns or points to. Pointers are followed where `follows` says so of
/// the target's type.
pub(crate) fn all(
    reader: &Reader<'_>,
    root: &Value,
    wanted: &dyn Fn(&str) -> bool,
    follows: &dyn Fn(&str) -> bool,
) -> Vec<Value> {
    all_beyond(reader, root, wanted, follows, &mut Followed::default())
}

/// The targets of pointers that were followed: where they are, and their types.
pub(crate) type Followed = FxHashSet<(Option<Address>, Option<TypeId>)>;

/// Like [`all`], but no pointer is followed that was `followed` before.
pub(crate) fn all_beyond(
    reader: &Reader<'_>,
    root: &Value,
    wanted: &dyn Fn(&str) -> bool,
    follows: &dyn Fn(&str) -> bool,
    followed: &mut Followed,
) -> Vec<Value> {
    let mut found = Vec::new();
    let mut queue = VecDeque::from([root.clone()]);
    let mut visits = 0;
    while let Some(value) = queue.pop_front() {
        visits += 1;
        let Some(type_) = type_of(reader, &value) else {
            continue;
        };
        if visits > MOST_VISITS {
            break;
        }
        if wanted(names::path_name(&type_.name)) {
            found.push(value);
            continue;
        }
        if let TypeKind::Pointer(..) = type_.kind {
            let pointee = target(reader, &value, &type_);
            let pointee = pointee.filter(|it| {
                type_of(reader, it).is_some_and(|type_| follows(&type_.name))
                    && followed.insert((it.contents.address(), it.type_id))
            });
            queue.extend(pointee);
            continue;
        }
        if reader.field(&value, "data_ptr").is_some() {
            queue.extend(elements(reader, &value));
            continue;
        }
        queue.extend(fields(reader, &value, &type_));
    }
    found
}

/// The elements of a `Vec` or `VecDeque`.
pub(crate) fn sequence(reader: &Reader<'_>, value: &Value) -> Vec<Value> {
    match reader.view(value, crate::values::view::SHORT) {
        View::Sequence(sequence) => {
            let count = sequence.length.min(MOST_ELEMENTS);
            (0..count).map(|index| sequence.at(index)).collect()
        }
        _ => Vec::new(),
    }
}
