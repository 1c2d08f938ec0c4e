//! Structs with an unsized tail (`struct Packet { id: u16, body: [u8] }`): a pointer to one stores the tail's length.
//!
//! rustc describes the tail by the type of one element: `u8` for both `[u8]` and `str`. So the value behind the pointer carries the
//! length (`Value::tail`) down to the last member, and the names and sizes of the types tell what that member is.

use super::{Flaw, MAX_OBJECT, OrUnknownLayout, broken, sequences};
use crate::values::formats::Format;
use crate::values::view::{Shows, View};
use crate::values::{Reader, Value, names};
use dapple_symbols::location::Unavailable;
use dapple_symbols::types::{Member, TypeKind};

/// How many nested structs are searched for the tail.
const NESTING: usize = 8;

/// What a struct's last member is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Elements,
    Text,
    /// A struct that has an unsized tail itself.
    Struct,
}

/// The view of a pointer to a struct with an unsized tail. `pointee` is the struct, without the tail's `length`; `pointer` is the name
/// of the pointer's type.
pub(super) fn behind(
    reader: &Reader<'_>,
    mut pointee: Value,
    pointer: &str,
    length: u64,
) -> Result<View, Flaw> {
    pointee.tail = Some(length);
    let address = pointee.contents.address().known()?.0;
    let last = innermost(reader, &pointee).known()?;
    let start = last.contents.address().known()?.0;
    let size = reader.size_of(&last).known()?;
    let bytes = length
        .checked_mul(size)
        .filter(|bytes| *bytes <= MAX_OBJECT);
    let Some(bytes) = bytes else {
        return broken(format!("its length is {length}"));
    };
    let whole = start.saturating_sub(address).saturating_add(bytes);
    if !sequences::is_readable(reader, address, whole) {
        return Err(Flaw::Unreadable(Unavailable::Unreadable(address)));
    }
    Ok(match pointer.starts_with('*') {
        true => View::Pointer {
            address,
            note: None,
            target: Some(pointee),
            shows: Shows::Address,
        },
        false => View::Alias(pointee),
    })
}

/// The first element of a struct's tail.
fn innermost(reader: &Reader<'_>, pointee: &Value) -> Option<Value> {
    let mut value = pointee.clone();
    for _ in 0..NESTING {
        let type_ = reader.resolve(&value)?.type_;
        let TypeKind::Aggregate(aggregate) = &type_.kind else {
            return None;
        };
        value = reader.member(&value, aggregate.members.last()?);
        if value.repeated.take().is_some() {
            return Some(value);
        }
        value.tail?;
    }
    None
}

/// Passes the length of a struct's tail on to `field`, if `member` is the last one.
pub(crate) fn hand_on(reader: &Reader<'_>, value: &Value, member: &Member, field: &mut Value) {
    let Some((end, _)) = end_of(reader, value, NESTING) else {
        return;
    };
    let is_last = reader.resolve(value).is_some_and(|resolved| {
        matches!(&resolved.type_.kind, TypeKind::Aggregate(aggregate)
        if aggregate.members.last().is_some_and(|last| {
            (last.offset, &last.name) == (member.offset, &member.name)
        }))
    });
    match end {
        _ if !is_last => {}
        End::Struct => field.tail = value.tail,
        End::Elements => field.repeated = value.tail,
        End::Text => {
            field.repeated = value.tail;
            field.format = Format::Text;
        }
    }
}

/// What the struct ends in, and whether that is certain; `None`: unknown.
fn end_of(reader: &Reader<'_>, value: &Value, nesting: usize) -> Option<(End, bool)> {
    let type_ = reader.resolve(value)?.type_;
    let TypeKind::Aggregate(aggregate) = &type_.kind else {
        return None;
    };
    let last = aggregate.members.last()?;
    if aggregate.variants.is_some() || aggregate.members.iter().any(|m| m.offset > last.offset) {
        return None;
    }
    let member = value.sibling(Some(last.type_id), value.contents.clone());
    let inner = reader.resolve(&member)?.type_;
    let arguments = names::arguments(&type_.name);
    if arguments.iter().any(|argument| {
        let element = argument
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        element == Some(&*inner.name)
    }) {
        return Some((End::Elements, true));
    }
    if &*inner.name == "u8" && arguments.iter().any(|argument| argument == "str") {
        return Some((End::Text, true));
    }
    // The size of a struct with an unsized tail doesn't include the tail.
    if last.offset.saturating_add(inner.size?) > type_.size? {
        return Some((End::Elements, true));
    }
    if !matches!(inner.kind, TypeKind::Aggregate(_)) {
        return Some((End::Elements, false));
    }
    let below = end_of(reader, &member, nesting.checked_sub(1)?)?;
    below.1.then_some((End::Struct, true))
}
