//! C++'s standard library as its users think of it: libstdc++'s and libc++'s strings, vectors and owners.
//!
//! As in Rust's room, fields are found by role and what makes no sense falls back to the plain fields.

use super::rust::is_readable;
use super::scalars::quote;
use super::view::{Field, Limit, Record, Sequence, Style, View};
use super::{Contents, Reader, Value, names};
use crate::Address;
use crate::exceptions::cpp::Space;
use dapple_symbols::types::{Aggregate, Type, TypeKind};

mod nodes;
mod walks;

/// The longest text or sequence taken for real, in bytes.
const MAX_OBJECT: u64 = i64::MAX as u64;

/// The view of a standard library's type; `None`: none of those, or its contents make no sense.
pub(crate) fn view(
    reader: &Reader<'_>,
    value: &Value,
    type_: &Type,
    aggregate: &Aggregate,
    limit: Limit,
) -> Option<View> {
    let path = names::path_name(&type_.name).strip_prefix("std::")?;
    let path = path
        .strip_prefix("__cxx11::")
        .or(path.strip_prefix("__1::"))
        .unwrap_or(path);
    match path {
        "basic_string" => string(reader, value, limit),
        "basic_string_view" => {
            let length = word(reader, value, &["_M_len", "__size_"])?;
            let data = find(reader, value, &["_M_str", "__data_"])?;
            text(reader, &data, length, limit)
        }
        "vector" if reader.find(value, "_M_offset").is_some() => nodes::bits(reader, value, limit),
        "vector" => vector(reader, value),
        "map" | "multimap" | "set" | "multiset" => {
            nodes::tree(reader, value, aggregate, path, limit)
        }
        "list" | "forward_list" | "unordered_map" | "unordered_multimap" | "unordered_set"
        | "unordered_multiset" => nodes::chain(reader, value, aggregate, path, limit),
        "deque" => nodes::deque(reader, value, aggregate, limit),
        "variant" => nodes::variant(reader, value),
        "array" => {
            let elements = find(reader, value, &["_M_elems", "__elems_"])?;
            let type_ = reader.resolve(&elements)?.type_;
            if !matches!(type_.kind, TypeKind::Array { .. }) {
                return None;
            }
            match reader.view(&elements, limit) {
                View::Sequence(sequence) => Some(View::Sequence(Sequence {
                    container: false,
                    ..sequence
                })),
                _ => None,
            }
        }
        "unique_ptr" | "shared_ptr" | "weak_ptr" | "__shared_ptr" => {
            let pointer = match path {
                "unique_ptr" => reader.find_pointer(value)?,
                _ => find(reader, value, &["_M_ptr", "__ptr_"])?,
            };
            let mut pointer = pointer;
            pointer.raw = true;
            Some(reader.view(&pointer, limit))
        }
        "optional" => optional(reader, value),
        "atomic" | "__atomic_base" => Some(View::Alias(find(reader, value, &["_M_i", "_M_base"])?)),
        "tuple" => tuple(reader, value, aggregate),
        _ => None,
    }
}

/// What is shown of an object whose contents a library never makes.
fn nonsense(why: &str) -> View {
    View::Broken(format!("<not initialised or corrupt: {why}>"))
}

fn find(reader: &Reader<'_>, value: &Value, names: &[&str]) -> Option<Value> {
    names.iter().find_map(|name| reader.find(value, name))
}

fn word(reader: &Reader<'_>, value: &Value, names: &[&str]) -> Option<u64> {
    reader.word(&find(reader, value, names)?.contents).ok()
}

fn string(reader: &Reader<'_>, value: &Value, limit: Limit) -> Option<View> {
    let data = reader.find(value, "_M_p")?;
    let length = word(reader, value, &["_M_string_length"])?;
    let address = reader.word(&data.contents).ok()?;
    // A short text lies in the object itself, a long one has its capacity there.
    let local = reader.find(value, "_M_local_buf")?;
    let unit = unit_size(reader, &data)?;
    let capacity = if local.contents.address() == Some(Address(address)) {
        16 / unit - 1
    } else {
        word(reader, value, &["_M_allocated_capacity"])?
    };
    if length > capacity {
        return None;
    }
    text(reader, &data, length, limit)
}

/// The size of what a pointer points to, when it can be a code unit's.
fn unit_size(reader: &Reader<'_>, pointer: &Value) -> Option<u64> {
    let TypeKind::Pointer(_, target) = reader.resolve(pointer)?.type_.kind else {
        return None;
    };
    let unit = pointer.sibling(target, Contents::Memory(Address(0)));
    reader
        .size_of(&unit)
        .filter(|size| matches!(size, 1 | 2 | 4))
}

/// `length` code units behind a pointer, quoted.
fn text(reader: &Reader<'_>, data: &Value, length: u64, limit: Limit) -> Option<View> {
    let address = reader.word(&data.contents).ok()?;
    let unit = unit_size(reader, data)?;
    if length.checked_mul(unit)? > MAX_OBJECT || !is_readable(reader, address, length * unit) {
        return None;
    }
    if unit == 1 {
        return super::rust::text(reader, address, length, limit);
    }
    let shown = length.min(limit.text as u64);
    let contents = Contents::Memory(Address(address));
    let bytes = reader.bytes(&contents, shown * unit).ok()?;
    let decoded = super::c::decode(&bytes, unit);
    let mark = if shown < length { "…" } else { "" };
    Some(View::Text {
        text: format!("{}{mark}", quote(decoded.as_bytes())),
        address: Some(address),
    })
}

fn vector(reader: &Reader<'_>, value: &Value) -> Option<View> {
    let first = find(reader, value, &["_M_start", "__begin_"])?;
    // `vector<bool>` keeps bits behind an iterator.
    let TypeKind::Pointer(_, element) = reader.resolve(&first)?.type_.kind else {
        return None;
    };
    let start = reader.word(&first.contents).ok()?;
    let end = word(reader, value, &["_M_finish", "__end_"])?;
    let limit = word(
        reader,
        value,
        &["_M_end_of_storage", "__cap_", "__end_cap_"],
    )?;
    let element = value.sibling(element, Contents::Memory(Address(start)));
    let size = reader.size_of(&element).filter(|size| *size > 0)?;
    let bytes = end.checked_sub(start)?;
    let plausible = end <= limit && limit - start <= MAX_OBJECT && bytes.is_multiple_of(size);
    if !plausible || !is_readable(reader, start, bytes) {
        return None;
    }
    Some(View::Sequence(Sequence {
        element,
        stride: size,
        size,
        length: bytes / size,
        ring: None,
        text: None,
        container: true,
    }))
}

fn optional(reader: &Reader<'_>, value: &Value) -> Option<View> {
    let engaged = find(reader, value, &["_M_engaged", "__engaged_"])?;
    match reader.bytes(&engaged.contents, 1).ok()?[0] {
        0 => Some(View::Leaf("nullopt".to_owned())),
        1 => Some(View::Alias(find(reader, value, &["_M_value", "__val_"])?)),
        _ => None,
    }
}

/// libstdc++'s tuple: each element in a base of its own, the last one deepest.
fn tuple(reader: &Reader<'_>, value: &Value, aggregate: &Aggregate) -> Option<View> {
    let mut fields = Vec::new();
    let mut at = base(reader, value, aggregate, "_Tuple_impl")?;
    loop {
        let type_ = reader.resolve(&at)?.type_;
        let TypeKind::Aggregate(inner) = &type_.kind else {
            return None;
        };
        let head = base(reader, &at, inner, "_Head_base")?;
        let element = reader
            .field(&head, "_M_head_impl")
            .or_else(|| reader.resolve(&head).is_some().then(|| head.clone()))?;
        fields.push(Field {
            name: fields.len().to_string(),
            value: element,
            base: false,
            artificial: false,
        });
        match base(reader, &at, inner, "_Tuple_impl") {
            Some(next) if fields.len() < 64 => at = next,
            _ => break,
        }
    }
    Some(View::Record(Record {
        name: None,
        style: Style::Tuple,
        fields,
        raw: true,
        reachable: false,
    }))
}

/// The base class of that name, whatever its arguments.
fn base(reader: &Reader<'_>, value: &Value, aggregate: &Aggregate, name: &str) -> Option<Value> {
    aggregate
        .members
        .iter()
        .filter(|member| member.base)
        .find_map(|member| {
            let base = reader.member(value, member);
            let type_ = reader.resolve(&base)?.type_;
            (names::base_name(&type_.name) == name).then_some(base)
        })
}

/// The class an object really is, when it has virtual functions and is of another class than `value`'s.
pub(crate) fn dynamic_type(
    reader: &Reader<'_>,
    value: &Value,
    aggregate: &Aggregate,
) -> Option<String> {
    let is_polymorphic = |aggregate: &Aggregate| {
        let first = aggregate.members.first()?;
        Some(first.artificial && first.offset == 0)
    };
    let mut at = reader.resolve(value)?.type_;
    let own = names::shorten(&at.name, at.language);
    let mut found = is_polymorphic(aggregate)?;
    // The table may be the first base's.
    for _ in 0..16 {
        let TypeKind::Aggregate(inner) = &at.kind else {
            return None;
        };
        found = found || is_polymorphic(inner)?;
        let base = inner.members.first().filter(|member| member.base && !found);
        let Some(base) = base else {
            break;
        };
        at = reader
            .resolve(&value.sibling(Some(base.type_id), value.contents.clone()))?
            .type_;
    }
    let table = if found {
        reader.word(&value.contents).ok()?
    } else {
        return None;
    };
    let name = reader.symbol_name(table)?;
    let class = name
        .strip_prefix("vtable for ")
        .or_else(|| name.strip_prefix("{vtable(")?.strip_suffix(")}"))?;
    let class = names::shorten(class, dapple_symbols::functions::Language::Cpp);
    (class != own).then_some(class)
}

/// An exception whose class is only declared, as the standard library's are: what it says.
pub(crate) fn says(reader: &Reader<'_>, value: &Value, limit: Limit) -> Option<View> {
    /// Above all of a program's stacks. What a function that is followed puts there is kept aside.
    const STACK: u64 = 0x7fff_ffff_e000;
    let at = value.contents.address()?;
    let space = Space {
        memory: reader.memory,
        modules: reader.modules,
    };
    let text = space.what(space.dynamic(at)?, STACK)?;
    let mut ends = (0..=limit.text.min(text.len())).rev();
    let shown = ends.find(|end| text.is_char_boundary(*end))?;
    let mark = if shown < text.len() { "…" } else { "" };
    Some(View::Text {
        text: format!("{}{mark}", quote(&text.as_bytes()[..shown])),
        address: Some(at.0),
    })
}

/// A pointer to a member: where it is in the class, or the function (Itanium C++ ABI §2.3).
pub(crate) fn member_pointer(bytes: &[u8], function: impl Fn(u64) -> Option<String>) -> String {
    let word = |at: usize| {
        let bytes = bytes.get(at..at + 8)?;
        Some(i64::from_le_bytes(bytes.try_into().ok()?))
    };
    match (word(0), bytes.len()) {
        (Some(-1), 8) | (Some(0), 16) => "nullptr".to_owned(),
        (Some(offset), 8) => format!("offset {offset}"),
        (Some(entry), 16) if entry & 1 == 1 => format!("virtual function {}", (entry - 1) / 8),
        (Some(address), _) => match function(address as u64) {
            Some(name) => format!("{address:#x} <{name}>"),
            None => format!("{address:#x}"),
        },
        (None, _) => super::scalars::hex(bytes),
    }
}
