//! Rust's enums, and its standard library's types as their users think of them.
//!
//! The library's layout is its own affair and changes, so fields are searched by role (the first pointer inside `buf`,
//! the integer called `len`), what they hold is checked for sense, and where it makes none the plain fields are shown.

use super::view::{Limit, Reason, Record, Sequence, Style, View};
use super::{Contents, Reader, Value, contents, names, scalars};
use crate::Address;
use dapple_symbols::location::Unavailable;
use dapple_symbols::types::{Aggregate, Type, TypeId, TypeKind, Variant};

mod tables;

/// The largest object Rust allows, in bytes.
const MAX_OBJECT: u64 = i64::MAX as u64;

/// Whether a pointer is one that its users see through: a reference, a `Box`.
pub(crate) fn is_transparent_pointer(name: &str) -> bool {
    name.starts_with('&') || name.starts_with("alloc::boxed::Box<")
}

/// The position of a tuple's field: `__0` → `0`.
pub(crate) fn tuple_index(name: &str) -> Option<&str> {
    let index = name.strip_prefix("__")?;
    let is_number = !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(index)
}

/// Whether a field holds nothing and is there for the compiler only.
pub(crate) fn is_phantom(reader: &Reader<'_>, field: &Value) -> bool {
    reader.resolve(field).is_some_and(|resolved| {
        resolved.type_.size == Some(0)
            && names::path_name(&resolved.type_.name) == "core::marker::PhantomData"
    })
}

/// What is written before a struct's fields; tuples have nothing there.
pub(crate) fn record_name(name: &str) -> &str {
    if name.starts_with('(') {
        ""
    } else {
        names::base_name(name)
    }
}

/// An enum: its active variant.
pub(crate) fn enum_view(
    reader: &Reader<'_>,
    value: &Value,
    type_: &Type,
    aggregate: &Aggregate,
) -> Result<View, Reason> {
    let variant = active_variant(reader, value, aggregate)?;
    let payload = reader.member(value, &variant.member);
    let mut record = match reader.resolve(&payload).map(|resolved| resolved.type_) {
        Some(inner) => match &inner.kind {
            TypeKind::Aggregate(fields) => reader.record(&payload, &inner, fields),
            _ => empty(),
        },
        None => empty(),
    };
    record.name = Some(if names::is_rust_std(&type_.name) {
        variant.name.to_string()
    } else {
        format!("{}::{}", names::base_name(&type_.name), variant.name)
    });
    record.reachable = false;
    Ok(View::Record(record))
}

fn empty() -> Record {
    Record {
        name: None,
        style: Style::Named,
        fields: Vec::new(),
        raw: false,
        reachable: false,
    }
}

fn active_variant<'a>(
    reader: &Reader<'_>,
    value: &Value,
    aggregate: &'a Aggregate,
) -> Result<&'a Variant, Reason> {
    let unsupported = |what: &str| Unavailable::Unsupported(what.to_owned());
    let part = aggregate
        .variants
        .as_ref()
        .ok_or_else(|| unsupported("no variants"))?;
    let Some(member) = &part.discriminant else {
        return part
            .variants
            .first()
            .ok_or_else(|| unsupported("an enum without variants"));
    };
    let discriminant = reader.member(value, member);
    let size = reader.size_of(&discriminant).unwrap_or(0).clamp(1, 16);
    let bytes = reader.bytes(&discriminant.contents, size)?;
    let number = contents::extract_bits(&bytes, 0, 128);
    let covers = |variant: &&Variant| {
        variant
            .discriminants
            .iter()
            .any(|(low, high)| (*low..=*high).contains(&number))
    };
    part.variants
        .iter()
        .find(covers)
        .or_else(|| part.variants.iter().find(|v| v.discriminants.is_empty()))
        .ok_or_else(|| unsupported(&format!("no variant has the discriminant {number}")))
}

/// The view of a standard library's type; `None`: none of those, or its contents make no sense.
pub(crate) fn view(
    reader: &Reader<'_>,
    value: &Value,
    type_: &Type,
    aggregate: &Aggregate,
    limit: Limit,
) -> Option<View> {
    let path = names::path_name(&type_.name);
    match path {
        "alloc::string::String" => {
            let vec = reader.field(value, "vec")?;
            let (address, length) = vec_parts(reader, &vec, 1)?;
            return text(reader, address, length, limit);
        }
        "std::path::PathBuf" | "std::ffi::os_str::OsString" => {
            let vec = reader.search(value, 8, &|_, type_| {
                names::path_name(&type_.name) == "alloc::vec::Vec"
            })?;
            let (address, length) = vec_parts(reader, &vec, 1)?;
            return text(reader, address, length, limit);
        }
        "alloc::ffi::c_str::CString" => {
            let (data, length) = fat_parts(reader, value)?;
            let address = reader.word(&data.contents).ok()?;
            return text(reader, address, length.saturating_sub(1), limit);
        }
        "alloc::vec::Vec" => {
            let element = value.sibling(argument(aggregate), Contents::Memory(Address(0)));
            let size = reader.size_of(&element)?;
            let (address, length) = vec_parts(reader, value, size)?;
            return Some(sequence(
                value,
                element.type_id,
                address,
                size,
                length,
                None,
            ));
        }
        "core::slice::iter::Iter" | "core::slice::iter::IterMut" => {
            return remaining(reader, value, aggregate, "end_or_len");
        }
        "alloc::vec::into_iter::IntoIter" => return remaining(reader, value, aggregate, "end"),
        "alloc::collections::vec_deque::VecDeque" => return deque(reader, value, aggregate),
        "std::collections::hash::map::HashMap" => return tables::hash(reader, value, false, limit),
        "std::collections::hash::set::HashSet" => return tables::hash(reader, value, true, limit),
        "alloc::collections::btree::map::BTreeMap" => {
            return tables::tree(reader, value, false, limit);
        }
        "alloc::collections::btree::set::BTreeSet" => {
            return tables::tree(reader, value, true, limit);
        }
        "alloc::rc::Rc" | "alloc::sync::Arc" => return counted(reader, value, limit),
        "core::cell::UnsafeCell"
        | "core::mem::manually_drop::ManuallyDrop"
        | "core::mem::maybe_uninit::MaybeUninit" => {
            return Some(View::Alias(reader.field(value, "value")?));
        }
        "core::mem::maybe_dangling::MaybeDangling" => {
            return Some(View::Alias(reader.field(value, "__0")?));
        }
        "core::ptr::non_null::NonNull" | "core::ptr::unique::Unique" => {
            let mut pointer = reader.find_pointer(value)?;
            pointer.raw = true;
            return Some(reader.view(&pointer, limit));
        }
        "core::num::nonzero::NonZero" => {
            return Some(View::Alias(reader.find_integer(value)?));
        }
        _ if path.starts_with("core::sync::atomic::Atomic") => {
            return Some(View::Alias(reader.field(value, "v")?));
        }
        _ => {}
    }
    if aggregate.members.len() == 2 {
        if reader.field(value, "vtable").is_some() {
            return object(reader, value);
        }
        if reader.field(value, "length").is_some() && reader.field(value, "data_ptr").is_some() {
            return slice(reader, value, type_, limit);
        }
    }
    None
}

/// The first generic argument.
fn argument(aggregate: &Aggregate) -> Option<TypeId> {
    aggregate.type_arguments.first()?.1
}

/// A `Vec`'s address and length, if they can be.
fn vec_parts(reader: &Reader<'_>, vec: &Value, size: u64) -> Option<(u64, u64)> {
    let buffer = reader.field(vec, "buf")?;
    let (address, capacity) = raw_vec_parts(reader, &buffer)?;
    let length = reader.word(&reader.field(vec, "len")?.contents).ok()?;
    plausible(reader, address, length, capacity, size)?;
    Some((address, length))
}

/// A `RawVec`'s address and capacity.
pub(super) fn raw_vec_parts(reader: &Reader<'_>, buffer: &Value) -> Option<(u64, u64)> {
    let address = reader.word(&reader.find_pointer(buffer)?.contents).ok()?;
    let capacity = reader.find_integer(&reader.find(buffer, "cap")?)?;
    Some((address, reader.word(&capacity.contents).ok()?))
}

/// Whether memory can hold `length` of `capacity` elements at `address`.
fn plausible(
    reader: &Reader<'_>,
    address: u64,
    length: u64,
    capacity: u64,
    size: u64,
) -> Option<()> {
    if size == 0 {
        return (length <= MAX_OBJECT).then_some(());
    }
    if address == 0 || length > capacity || capacity.checked_mul(size)? > MAX_OBJECT {
        return None;
    }
    is_readable(reader, address, length.checked_mul(size)?).then_some(())
}

/// Whether the first and last byte can be read.
pub(crate) fn is_readable(reader: &Reader<'_>, address: u64, length: u64) -> bool {
    let Some(last) = length.checked_sub(1).map(|last| address.checked_add(last)) else {
        return true;
    };
    let Some(last) = last else {
        return false;
    };
    let readable = |at| reader.memory.read(Address(at), &mut [0]).is_ok();
    readable(address) && readable(last)
}

fn sequence(
    value: &Value,
    element: Option<TypeId>,
    address: u64,
    size: u64,
    length: u64,
    ring: Option<(u64, u64)>,
) -> View {
    View::Sequence(Sequence {
        element: value.sibling(element, Contents::Memory(Address(address))),
        stride: size,
        size,
        length,
        ring,
        text: None,
        container: true,
    })
}

/// UTF-8 of a known length, cut at the limit and not inside a character.
pub(crate) fn text(reader: &Reader<'_>, address: u64, length: u64, limit: Limit) -> Option<View> {
    if length > MAX_OBJECT {
        return None;
    }
    let shown = length.min(limit.text as u64);
    let mut bytes = vec![0; usize::try_from(shown).ok()?];
    if let Err(at) = reader.memory.read(Address(address), &mut bytes)
        && shown > 0
    {
        return Some(View::Leaf(reader.reason(&Unavailable::Unreadable(at.0))));
    }
    let is_cut = shown < length;
    if is_cut
        && let Err(error) = std::str::from_utf8(&bytes)
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
    let mark = if is_cut { "…" } else { "" };
    Some(View::Text {
        text: format!("{}{mark}", scalars::quote(&bytes)),
        address: Some(address),
    })
}

/// A fat pointer's data pointer and length.
fn fat_parts(reader: &Reader<'_>, value: &Value) -> Option<(Value, u64)> {
    let data = reader.find(value, "data_ptr")?;
    let length = reader.word(&reader.find(value, "length")?.contents).ok()?;
    Some((data, length))
}

/// `&str`, `&[T]`, `Box<str>`, `Box<[T]>`.
fn slice(reader: &Reader<'_>, value: &Value, type_: &Type, limit: Limit) -> Option<View> {
    let (data, length) = fat_parts(reader, value)?;
    let address = reader.word(&data.contents).ok()?;
    let pointee = reader.resolve(&data)?.type_;
    let TypeKind::Pointer(_, element) = pointee.kind else {
        return None;
    };
    let name = type_
        .name
        .trim_start_matches("&mut ")
        .trim_start_matches('&');
    let is_text = ["str", "*const str", "*mut str"].contains(&name)
        || name.starts_with("alloc::boxed::Box<str")
        || ["std::path::Path", "std::ffi::os_str::OsStr"].contains(&name);
    if is_text {
        return text(reader, address, length, limit);
    }
    let element_value = value.sibling(element, Contents::Memory(Address(address)));
    let size = reader.size_of(&element_value)?;
    plausible(reader, address, length, length, size)?;
    Some(sequence(value, element, address, size, length, None))
}

/// What an iterator over elements in memory has yet to give.
fn remaining(reader: &Reader<'_>, value: &Value, aggregate: &Aggregate, end: &str) -> Option<View> {
    let element = aggregate
        .type_arguments
        .iter()
        .find_map(|(_, type_)| *type_);
    let size = reader.size_of(&value.sibling(element, Contents::Memory(Address(0))))?;
    let start = reader.find_pointer(&reader.field(value, "ptr")?)?;
    let start = reader.word(&start.contents).ok()?;
    let end = reader.find_pointer(&reader.field(value, end)?)?;
    let end = reader.word(&end.contents).ok()?;
    // Elements without a size are counted otherwise.
    let length = end.checked_sub(start)?.checked_div(size)?;
    plausible(reader, start, length, length, size)?;
    Some(sequence(value, element, start, size, length, None))
}

fn deque(reader: &Reader<'_>, value: &Value, aggregate: &Aggregate) -> Option<View> {
    let element = argument(aggregate);
    let size = reader.size_of(&value.sibling(element, Contents::Memory(Address(0))))?;
    let (address, capacity) = raw_vec_parts(reader, &reader.field(value, "buf")?)?;
    let head = reader.word(&reader.field(value, "head")?.contents).ok()?;
    let length = reader.word(&reader.field(value, "len")?.contents).ok()?;
    plausible(reader, address, length, capacity, size)?;
    if size > 0 && head >= capacity && length > 0 {
        return None;
    }
    let ring = Some((head, capacity));
    Some(sequence(value, element, address, size, length, ring))
}

/// `Rc` and `Arc`: what they share.
fn counted(reader: &Reader<'_>, value: &Value, limit: Limit) -> Option<View> {
    let pointer = reader.find_pointer(value)?;
    let address = reader.word(&pointer.contents).ok()?;
    let TypeKind::Pointer(_, target) = reader.resolve(&pointer)?.type_.kind else {
        return None;
    };
    let inner = value.sibling(target, Contents::Memory(Address(address)));
    if let Some((_, length)) = fat_parts(reader, value) {
        // The counts, two words, come before what is shared.
        let type_ = reader.resolve(value)?.type_;
        let is_text = type_.name.contains("<str");
        return is_text
            .then(|| text(reader, address.checked_add(16)?, length, limit))
            .flatten();
    }
    let shared = reader.field(&inner, "value");
    Some(View::Alias(
        shared.or_else(|| reader.field(&inner, "data"))?,
    ))
}

/// A trait object: its address, and the concrete type where a function of its table tells.
fn object(reader: &Reader<'_>, value: &Value) -> Option<View> {
    let address = reader.word(&reader.find_pointer(value)?.contents).ok()?;
    let table = reader.word(&reader.field(value, "vtable")?.contents).ok()?;
    let note = concrete_type(reader, table).map(|name| {
        let short = names::shorten(&name, dapple_symbols::functions::Language::Rust);
        format!("<{short}>")
    });
    Some(View::Pointer {
        address,
        target: None,
        note,
    })
}

/// The type a trait object's table was made for, from the names of its functions: `drop_in_place::<T>` comes first where
/// there's anything to drop, then size and alignment, then the trait's methods, `<T as Trait>::method`.
pub(crate) fn concrete_type(reader: &Reader<'_>, table: u64) -> Option<String> {
    const METHODS: u64 = 4;
    let dropping = reader.memory.read_u64(Address(table)).ok()?;
    let name = reader.symbol_name(dropping).unwrap_or_default();
    if let Some((_, type_)) = name.split_once("drop_in_place") {
        let type_ = type_.trim_start_matches("::");
        return Some(type_.strip_prefix('<')?.strip_suffix('>')?.to_owned());
    }
    (0..METHODS).find_map(|method| {
        let slot = table.checked_add(24 + 8 * method)?;
        let function = reader.memory.read_u64(Address(slot)).ok()?;
        implementing_type(&reader.symbol_name(function)?)
    })
}

/// `<T as Trait>::method` or `<impl Trait for T>::method` → `T`.
fn implementing_type(name: &str) -> Option<String> {
    if let Some((_, rest)) = name.split_once("<impl ") {
        let (_, rest) = rest.split_once(" for ")?;
        return Some(rest.rsplit_once(">::")?.0.to_owned());
    }
    let (type_, _) = name.strip_prefix('<')?.split_once(" as ")?;
    Some(type_.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_tell_who_implements_them() {
        let of = |name| implementing_type(name);
        assert_eq!(
            of("<tour::Circle as tour::Shape>::area").as_deref(),
            Some("tour::Circle")
        );
        let number = "core::fmt::num::imp::<impl core::fmt::Display for i32>::fmt";
        assert_eq!(of(number).as_deref(), Some("i32"));
        assert_eq!(of("main"), None);
    }

    #[test]
    fn fields_of_tuples_are_numbered() {
        assert_eq!(tuple_index("__0"), Some("0"));
        assert_eq!(tuple_index("__name"), None);
        assert_eq!(tuple_index("__"), None);
    }
}
