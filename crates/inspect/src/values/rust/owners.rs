//! `Rc`, `Arc` and `Weak`: their shared value, and their counts.

use super::objects::{self, Fat};
use super::{Flaw, OrUnknownLayout, argument, broken, sequences, tails};
use crate::Address;
use crate::values::view::{Limit, View};
use crate::values::{Contents, NamedValue, Reader, Value, names};
use dapple_symbols::functions::Language;
use dapple_symbols::types::{Type, TypeKind};

/// The largest plausible count: more owners wouldn't fit into memory.
const MOST: u64 = 1 << 40;

/// The allocation that all owners of a value share.
struct Shared {
    /// The allocation: the counts and the value.
    inner: Value,
    strong: Value,
    strong_count: u64,
    /// The stored count. While there are strong owners, it is one more than the number of `Weak`s.
    weak_count: u64,
    weak: Value,
}

/// Reads the allocation. `None`: a `Weak` that was made by `Weak::new`.
fn shared(reader: &Reader<'_>, value: &Value) -> Result<Option<Shared>, Flaw> {
    let pointer = reader.find_pointer(value).known()?;
    let address = reader.word(&pointer.contents)?;
    let TypeKind::Pointer(_, target) = reader.resolve(&pointer).known()?.type_.kind else {
        return Err(Flaw::Layout);
    };
    if reader.signed(address) == -1 {
        return Ok(None);
    }
    if address == 0 || !address.is_multiple_of(reader.address_size()) {
        return broken(format!("its counts are at {address:#x}"));
    }
    let inner = value.sibling(target, Contents::Memory(Address(address)));
    let count = |name: &str| -> Result<(Value, u64), Flaw> {
        let count = reader.field(&inner, name).known()?;
        let count = reader.find_integer(&count).known()?;
        let number = reader.word(&count.contents)?;
        Ok((count, number))
    };
    let ((strong, strong_count), (weak, weak_count)) = (count("strong")?, count("weak")?);
    // `Arc::get_mut` locks the weak count by setting it to the maximum.
    if strong_count > MOST || (weak_count > MOST && weak_count != u64::MAX) {
        return broken(format!("its counts are {strong_count} and {weak_count}"));
    }
    Ok(Some(Shared {
        inner,
        strong,
        strong_count,
        weak_count,
        weak,
    }))
}

impl Shared {
    /// The number of `Weak`s.
    fn weaks(&self) -> u64 {
        match (self.strong_count, self.weak_count) {
            (_, u64::MAX) => 0,
            (0, count) => count,
            (_, count) => count.saturating_sub(1),
        }
    }
}

/// `Rc` and `Arc`.
pub(super) fn counted(
    reader: &Reader<'_>,
    value: &Value,
    type_: &Type,
    limit: Limit,
) -> Result<View, Flaw> {
    match shared(reader, value)? {
        Some(shared) if shared.strong_count > 0 => held(reader, value, type_, &shared, limit),
        Some(_) => broken("nobody owns it"),
        None => broken("its counts are at 0xffffffffffffffff"),
    }
}

/// `Weak`: the value that it could be upgraded to.
pub(super) fn weak(
    reader: &Reader<'_>,
    value: &Value,
    type_: &Type,
    limit: Limit,
) -> Result<View, Flaw> {
    let none = |text: &str| {
        Ok(View::Text {
            text: text.to_owned(),
            address: None,
        })
    };
    match shared(reader, value)? {
        Some(shared) if shared.strong_count > 0 => held(reader, value, type_, &shared, limit),
        Some(_) => none("<dropped>"),
        None => none("<dangling>"),
    }
}

fn held(
    reader: &Reader<'_>,
    value: &Value,
    type_: &Type,
    shared: &Shared,
    limit: Limit,
) -> Result<View, Flaw> {
    let inside = reader.field(&shared.inner, "value");
    let inside = inside.or_else(|| reader.field(&shared.inner, "data"));
    let inside = inside.known()?;
    let address = inside.contents.address().known()?.0;
    match Fat::of(reader, value) {
        None => Ok(View::Alias(inside)),
        Some(Fat::Length(length)) => {
            let TypeKind::Aggregate(aggregate) = &type_.kind else {
                return Err(Flaw::Layout);
            };
            let pointee = names::first_argument(&type_.name).known()?;
            if !sequences::is_slice(pointee) {
                return tails::behind(reader, inside, &type_.name, length);
            }
            let element = argument(aggregate);
            sequences::slice(reader, value, pointee, element, (address, length), limit)
        }
        Some(Fat::Table(table)) => {
            // The shared value is behind the counts, at an offset that its alignment requires.
            let align = objects::alignment(reader, table).known()?;
            let start = shared.inner.contents.address().known()?.0;
            let address = start.saturating_add(align.max(address.wrapping_sub(start)));
            let pointee = inside.sibling(inside.type_id, Contents::Memory(Address(address)));
            objects::behind_table(reader, value, &pointee, table)
        }
    }
}

/// The numbers of strong and weak references.
pub(super) fn note(reader: &Reader<'_>, value: &Value) -> Option<String> {
    let shared = shared(reader, value).ok()??;
    Some(format!(
        "strong {}, weak {}",
        shared.strong_count,
        shared.weaks()
    ))
}

/// The numbers of owners and of weak references.
pub(crate) fn counts(reader: &Reader<'_>, value: &Value) -> Option<(u64, u64)> {
    let shared = shared(reader, value).ok()??;
    Some((shared.strong_count, shared.weaks()))
}

/// Additional children of a pointer: an owner's counts, and the raw form of an owner, a guard or a pointer to a trait object.
pub(crate) fn extras(reader: &Reader<'_>, value: &Value) -> Vec<NamedValue> {
    let mut extras = Vec::new();
    let Some(kind) = super::kind(reader, value) else {
        return extras;
    };
    let mut add = |name: &str, value: Value| {
        extras.push(NamedValue {
            name: name.to_owned(),
            value,
            expression: None,
            kind: None,
        });
    };
    match kind {
        super::Kind::Owner => {
            if let Ok(Some(shared)) = shared(reader, value) {
                let mut weak = shared.weak.clone();
                weak.contents = Contents::Bytes(shared.weaks().to_le_bytes().into());
                add("[strong]", shared.strong);
                add("[weak]", weak);
            }
        }
        super::Kind::Guard | super::Kind::Object => {}
        _ => return extras,
    }
    let mut raw = value.clone();
    raw.raw = true;
    add(crate::values::children::RAW, raw);
    extras
}

/// Whether a value has a type of Rust's standard library with fields of its own. If it is shown as its contents, only its raw form
/// shows these fields.
pub(crate) fn is_seen_through(reader: &Reader<'_>, value: &Value) -> bool {
    let is_there = !value.raw && !matches!(value.contents, Contents::Unavailable(_));
    is_there
        && reader.resolve(value).is_some_and(|resolved| {
            let TypeKind::Aggregate(aggregate) = &resolved.type_.kind else {
                return false;
            };
            resolved.type_.language == Language::Rust
                && names::is_rust_std(&resolved.type_.name)
                && (!aggregate.members.is_empty() || aggregate.variants.is_some())
        })
}

/// Whether only `(Weak)` stands for a value inside another value's summary: a `Weak`'s target is shown where its owner is, and often
/// contains the `Weak`.
pub(crate) fn is_hidden_in_summaries(reader: &Reader<'_>, value: &Value) -> bool {
    let type_ = reader.resolve(value).map(|resolved| resolved.type_);
    type_.is_some_and(|type_| {
        let path = names::path_name(&type_.name);
        path == "alloc::rc::Weak" || path == "alloc::sync::Weak"
    })
}
