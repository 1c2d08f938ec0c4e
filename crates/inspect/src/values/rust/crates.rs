//! Types of widely used crates, shown as their users know them. Types are recognised by their paths, and members by their names, as
//! for the standard library. A type with an unknown layout is shown with its plain fields.

use super::tables::{EntryPart, Slots, collected, offset};
use super::{
    Flaw, OrUnknownLayout, argument, argument_of, broken, erased_errors, held, payload, persistent,
    sequences, tables, text, times,
};
use crate::Address;
use crate::values::entries::Page;
use crate::values::view::{Limit, View};
use crate::values::{Contents, Reader, Value, contents, names};
use dapple_symbols::types::{Aggregate, TypeId, TypeKind};

/// The supported crates.
const CRATES: [&str; 15] = [
    "anyhow",
    "dashmap",
    "eyre",
    "hashbrown",
    "im",
    "indexmap",
    "smallvec",
    "arrayvec",
    "heapless",
    "tinyvec",
    "bytes",
    "bstr",
    "serde_json",
    "chrono",
    "uuid",
];

/// Whether a path is in one of the supported crates.
pub(super) fn is_known(path: &str) -> bool {
    let first = path.split("::").next();
    first.is_some_and(|first| CRATES.contains(&first))
}

/// The view of a type of the supported crates.
pub(super) fn view(
    reader: &Reader<'_>,
    value: &Value,
    aggregate: &Aggregate,
    path: &str,
    limit: Limit,
) -> Result<View, Flaw> {
    let field = |name: &str| reader.field(value, name).known();
    match path {
        "hashbrown::map::HashMap" => tables::hash(reader, value, false, limit),
        "hashbrown::set::HashSet" => tables::hash(reader, value, true, limit),
        "dashmap::DashMap" => tables::sharded(reader, value, limit),
        "im::hash::map::HashMap" => {
            persistent::view(reader, value, false, EntryPart::Entries, limit)
        }
        "im::hash::set::HashSet" => persistent::view(reader, value, false, EntryPart::Keys, limit),
        "im::ord::map::OrdMap" => persistent::view(reader, value, true, EntryPart::Entries, limit),
        "im::ord::set::OrdSet" => persistent::view(reader, value, true, EntryPart::Keys, limit),
        "anyhow::Error" | "eyre::Report" => erased_errors::view(reader, value, path),
        "indexmap::map::IndexMap" => indexed(reader, value, EntryPart::Entries, limit),
        "indexmap::set::IndexSet" => indexed(reader, value, EntryPart::Keys, limit),
        "smallvec::SmallVec" => small_vec(reader, value, aggregate),
        "arrayvec::arrayvec::ArrayVec" => array_vec(reader, value, &field("xs")?),
        "arrayvec::array_string::ArrayString" => {
            let (address, length, _) = array(reader, value, &field("xs")?)?;
            text::utf8(reader, address, length, limit)
        }
        "heapless::vec::Vec" | "heapless::vec::VecInner" => {
            array_vec(reader, value, &field("buffer")?)
        }
        "heapless::string::String" | "heapless::string::StringInner" => {
            let vec = field("vec")?;
            let buffer = reader.find(&vec, "buffer").known()?;
            let (address, length, _) = array(reader, &vec, &buffer)?;
            text::utf8(reader, address, length, limit)
        }
        "tinyvec::arrayvec::ArrayVec" => array_vec(reader, value, &field("data")?),
        "bytes::bytes::Bytes" | "bytes::bytes_mut::BytesMut" => bytes(reader, value),
        "bstr::bstring::BString" => text::string(reader, &field("bytes")?, limit),
        "serde_json::map::Map" => field("map").map(View::Alias),
        "serde_json::number::Number" => {
            let number = field("n")?;
            payload(reader, &number).map(View::Alias).known()
        }
        "uuid::Uuid" => uuid(reader, value),
        _ if path.starts_with("hashbrown::map::") || path.starts_with("hashbrown::set::") => {
            let (module, name) = path.rsplit_once("::").known()?;
            let given = EntryPart::by(name, module.ends_with("set")).known()?;
            tables::rest_of_hash(reader, value, given, limit)
        }
        _ if path.starts_with("chrono::") => times::chrono(reader, value, path),
        _ => Err(Flaw::Layout),
    }
}

/// A type of `bitflags!`: a struct of the user's crate with an `InternalBitFlags` in it. The names of the flags are constants, which the debug
/// information doesn't have.
pub(super) fn flags(
    reader: &Reader<'_>,
    value: &Value,
    aggregate: &Aggregate,
    path: &str,
) -> Result<View, Flaw> {
    let [only] = &aggregate.members[..] else {
        return Err(Flaw::Layout);
    };
    let inner = reader.member(value, only);
    let resolved = reader.resolve(&inner).known()?;
    let is_inner = |name: &str| names::base_name(name) == "InternalBitFlags";
    if !is_inner(&resolved.type_.name) {
        return Err(Flaw::Layout);
    }
    let bits = number(reader, &inner)?;
    Ok(View::Text {
        text: format!("{}({bits:#x})", names::base_name(path)),
        address: None,
    })
}

/// The first integer in a value, zero-extended.
fn number(reader: &Reader<'_>, value: &Value) -> Result<u64, Flaw> {
    let integer = reader.find_integer(value).known()?;
    let size = reader.size_of(&integer).known()?.min(8);
    let bytes = reader.bytes(&integer.contents, size)?;
    Ok(contents::extract_bits(&bytes, 0, 64) as u64)
}

/// The element type of an array, the size of an element, and the number of elements (0 if the size is 0).
fn elements(reader: &Reader<'_>, array: &Value) -> Result<(TypeId, u64, u64), Flaw> {
    let resolved = reader.resolve(array).known()?;
    let TypeKind::Array { element, .. } = &resolved.type_.kind else {
        return Err(Flaw::Layout);
    };
    let element = *element;
    let one = array.sibling(Some(element), Contents::Memory(Address(0)));
    let size = reader.size_of(&one).known()?;
    let whole = resolved.type_.size.known()?;
    Ok((element, size, whole.checked_div(size).unwrap_or(0)))
}

/// The address of `array`, how many of its elements are in use (the field `len` of `value`), and the element type.
fn array(reader: &Reader<'_>, value: &Value, array: &Value) -> Result<(u64, u64, TypeId), Flaw> {
    let array = held(reader, array.clone());
    let (element, size, capacity) = elements(reader, &array)?;
    let length = number(reader, &reader.field(value, "len").known()?)?;
    if size > 0 && length > capacity {
        return broken(format!("length {length} beyond capacity {capacity}"));
    }
    Ok((offset(&array)?, length, element))
}

/// The view of an array of which the first elements are in use.
fn array_vec(reader: &Reader<'_>, value: &Value, buffer: &Value) -> Result<View, Flaw> {
    let (address, length, element) = array(reader, value, buffer)?;
    sequences::at(reader, value, Some(element), address, length)
}

/// A `SmallVec<[T; N]>`: the elements are in an array inside it as long as `N` elements suffice, else on the heap.
fn small_vec(reader: &Reader<'_>, value: &Value, aggregate: &Aggregate) -> Result<View, Flaw> {
    let data = reader.field(value, "data").known()?;
    let array = value.sibling(argument(aggregate), Contents::Memory(Address(0)));
    let (element, size, inline) = elements(reader, &array)?;
    let capacity = number(reader, &reader.field(value, "capacity").known()?)?;
    let is_inline = size == 0 || capacity <= inline;
    let part = |name: &str| reader.field(&data, name);
    // `data` is an enum, or a union if the crate's feature `union` is on.
    let is_union = part("inline").is_some();
    let (address, length) = match (is_inline, is_union) {
        (true, true) => (offset(&held(reader, part("inline").known()?))?, capacity),
        (true, false) => (offset(&payload(reader, &data).known()?)?, capacity),
        (false, true) => {
            let heap = part("heap").known()?;
            (pointer(reader, &heap)?, number(reader, &heap)?)
        }
        (false, false) => heap(reader, &data)?,
    };
    if !is_inline && length > capacity {
        return broken(format!("length {length} beyond capacity {capacity}"));
    }
    sequences::at(reader, value, Some(element), address, length)
}

fn pointer(reader: &Reader<'_>, value: &Value) -> Result<u64, Flaw> {
    let pointer = reader.find_pointer(value).known()?;
    Ok(reader.word(&pointer.contents)?)
}

/// The pointer and the length in the variant `Heap { ptr, len }`.
fn heap(reader: &Reader<'_>, data: &Value) -> Result<(u64, u64), Flaw> {
    let resolved = reader.resolve(data).known()?;
    let TypeKind::Aggregate(aggregate) = &resolved.type_.kind else {
        return Err(Flaw::Layout);
    };
    let Ok(View::Record(record)) = super::enum_view(reader, data, &resolved.type_, aggregate)
    else {
        return Err(Flaw::Layout);
    };
    let field = |name: &str| {
        let mut fields = record.fields.iter();
        fields.find(|field| field.name == name).known()
    };
    Ok((
        pointer(reader, &field("ptr")?.value)?,
        number(reader, &field("len")?.value)?,
    ))
}

/// `IndexMap` and `IndexSet`: entries are contiguous, in insertion order.
fn indexed(
    reader: &Reader<'_>,
    value: &Value,
    given: EntryPart,
    limit: Limit,
) -> Result<View, Flaw> {
    let entries = reader.find(value, "entries").known()?;
    let bucket = entries.sibling(argument_of(reader, &entries), Contents::Memory(Address(0)));
    let size = reader.size_of(&bucket).known()?;
    let (address, length) = sequences::vec_parts(reader, &entries, size)?;
    let slots = Slots {
        given,
        key: reader.field(&bucket, "key").known()?,
        value: reader.field(&bucket, "value"),
    };
    let key = offset(&slots.key)?;
    let content = slots.value.as_ref().map_or(Ok(0), offset)?;
    let mut page = Page::new(limit, given == EntryPart::Entries);
    page.skip(page.before().min(length));
    while !page.is_full(length) {
        let start = address.wrapping_add(size.wrapping_mul(page.position()));
        let entry = slots.entry(start.wrapping_add(key), start.wrapping_add(content));
        page.next(|| Some(entry)).known()?;
    }
    collected(page, length, None).map(View::Entries)
}

fn bytes(reader: &Reader<'_>, value: &Value) -> Result<View, Flaw> {
    let start = reader.field(value, "ptr").known()?;
    let start = reader.find_pointer(&start).known()?;
    let TypeKind::Pointer(_, target) = reader.resolve(&start).known()?.type_.kind else {
        return Err(Flaw::Layout);
    };
    let address = reader.word(&start.contents)?;
    let length = number(reader, &reader.field(value, "len").known()?)?;
    sequences::at(reader, value, target, address, length)
}

fn uuid(reader: &Reader<'_>, value: &Value) -> Result<View, Flaw> {
    if reader.size_of(value) != Some(16) {
        return Err(Flaw::Layout);
    }
    let bytes = reader.bytes(&value.contents, 16)?;
    let mut text = String::new();
    for (index, byte) in bytes.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    Ok(View::Text {
        text,
        address: None,
    })
}
