//! Strings, string views and paths.

use super::{MAX_OBJECT, find, integer, nonsense, word};
use crate::Address;
use crate::values::quoting::quote;
use crate::values::view::{Limit, View};
use crate::values::{Contents, Reader, Value, c};
use dapple_symbols::location::Unavailable;
use dapple_symbols::types::TypeKind;

/// The parts of a string.
pub(super) struct Text {
    pub data: Contents,
    /// In code units, as all lengths here.
    pub length: u64,
    pub capacity: u64,
    /// The size of a code unit in bytes.
    pub unit: u64,
}

/// `basic_string`. A short text is in the object itself.
pub(super) fn string(reader: &Reader<'_>, value: &Value, limit: Limit) -> Option<View> {
    let text = match find(reader, value, &["__rep_"]) {
        Some(representation) => of_libcxx(reader, &representation)?,
        None => of_libstdcxx(reader, value)?,
    };
    Some(checked(reader, &text, limit))
}

fn of_libstdcxx(reader: &Reader<'_>, value: &Value) -> Option<Text> {
    let data = reader.find(value, "_M_p")?;
    let local = reader.find(value, "_M_local_buf")?;
    let unit = unit_size(reader, &data)?;
    let address = reader.word(&data.contents).ok()?;
    Some(Text {
        data: at(address),
        length: word(reader, value, &["_M_string_length"])?,
        capacity: if local.contents.address() == Some(Address(address)) {
            16 / unit - 1
        } else {
            word(reader, value, &["_M_allocated_capacity"])?
        },
        unit,
    })
}

/// libc++'s string: a bit tells which form of a union it has. The order of members depends on the ABI version.
fn of_libcxx(reader: &Reader<'_>, representation: &Value) -> Option<Text> {
    let short = reader.field(representation, "__s")?;
    let long = reader.field(representation, "__l")?;
    let data = reader.field(&long, "__data_")?;
    let unit = unit_size(reader, &data)?;
    if integer(reader, &reader.find(&short, "__is_long_")?)? == 0 {
        let buffer = reader.field(&short, "__data_")?;
        return Some(Text {
            length: integer(reader, &reader.find(&short, "__size_")?)?,
            capacity: reader.size_of(&buffer)? / unit - 1,
            data: buffer.contents,
            unit,
        });
    }
    Some(Text {
        data: at(reader.word(&data.contents).ok()?),
        length: integer(reader, &reader.find(&long, "__size_")?)?,
        // libc++ stores half the capacity.
        capacity: integer(reader, &reader.find(&long, "__cap_")?)?.checked_mul(2)?,
        unit,
    })
}

/// A string whose type is only declared, because clang leaves the type's description to the library. Its members are where the library's
/// ABI has them. `None`: it is another type, or in a state that no string has.
pub(super) fn declared(
    reader: &Reader<'_>,
    value: &Value,
    name: &str,
    limit: Limit,
) -> Option<View> {
    let (is_libcxx, unit) = declared_string(name)?;
    let own = value.contents.address()?.0;
    let text = if is_libcxx {
        let [first, length, data] = reader.words(own).ok()?;
        if first & 1 == 0 {
            Text {
                data: at(own.checked_add(unit)?),
                length: (first & 0xff) >> 1,
                capacity: 3 * reader.address_size() / unit - 2,
                unit,
            }
        } else {
            Text {
                data: at(data),
                length,
                capacity: first - 1,
                unit,
            }
        }
    } else {
        let [data, length, capacity] = reader.words(own).ok()?;
        let is_local = Some(data) == own.checked_add(2 * reader.address_size());
        Text {
            data: at(data),
            length,
            capacity: if is_local { 16 / unit - 1 } else { capacity },
            unit,
        }
    };
    Some(checked(reader, &text, limit))
}

/// The size of a string whose type is only declared, where an address has `word` bytes.
pub(super) fn declared_size(name: &str, word: u64) -> Option<u64> {
    declared_string(name).map(|(is_libcxx, _)| if is_libcxx { 3 * word } else { 2 * word + 16 })
}

/// Whether a string's type is libc++'s, and its code unit in bytes.
pub(crate) fn declared_string(name: &str) -> Option<(bool, u64)> {
    let (is_libcxx, rest) = match name.strip_prefix("std::__1::basic_string<") {
        Some(rest) => (true, rest),
        None => (false, name.strip_prefix("std::__cxx11::basic_string<")?),
    };
    let unit = match rest.split([',', '>']).next()?.trim() {
        "char" | "char8_t" => 1,
        "char16_t" => 2,
        "wchar_t" | "char32_t" => 4,
        _ => return None,
    };
    Some((is_libcxx, unit))
}

/// `basic_string_view`.
pub(super) fn string_view(reader: &Reader<'_>, value: &Value, limit: Limit) -> Option<View> {
    let data = find(reader, value, &["_M_str", "__data_"])?;
    let text = Text {
        length: word(reader, value, &["_M_len", "__size_"])?,
        data: at(reader.word(&data.contents).ok()?),
        capacity: MAX_OBJECT,
        unit: unit_size(reader, &data)?,
    };
    let bytes = text.length.checked_mul(text.unit);
    if bytes.is_none_or(|bytes| bytes > MAX_OBJECT) {
        return Some(nonsense(&format!("its length would be {}", text.length)));
    }
    Some(shown(reader, &text, limit))
}

/// The size of a pointer's target, if it can be a code unit.
fn unit_size(reader: &Reader<'_>, pointer: &Value) -> Option<u64> {
    let TypeKind::Pointer(_, target) = reader.resolve(pointer)?.type_.kind else {
        return None;
    };
    let unit = pointer.sibling(target, Contents::Memory(Address(0)));
    reader
        .size_of(&unit)
        .filter(|size| matches!(size, 1 | 2 | 4))
}

/// A string's text, if its state is plausible: not longer than its capacity, and terminated by a zero.
fn checked(reader: &Reader<'_>, text: &Text, limit: Limit) -> View {
    let Text {
        length,
        capacity,
        unit,
        ..
    } = *text;
    if length > capacity {
        return nonsense(&format!(
            "its length {length} is above its capacity {capacity}"
        ));
    }
    let end = length
        .checked_mul(unit)
        .filter(|bytes| *bytes <= MAX_OBJECT)
        .filter(|bytes| match text.data.address() {
            Some(data) => data.0.checked_add(*bytes).is_some(),
            None => true,
        });
    let Some(end) = end else {
        return nonsense(&format!("its length would be {length}"));
    };
    match reader.bytes(&text.data.part(end, unit), unit) {
        Ok(zero) if zero.iter().any(|byte| *byte != 0) => nonsense("it has no terminating zero"),
        Err(Unavailable::Unreadable(at)) => nonsense(&format!("its end at {at:#x} cannot be read")),
        // The final zero may be optimized out.
        Ok(_) | Err(_) => shown(reader, text, limit),
    }
}

/// The text in quotes, cut at the limit, but not inside a character.
pub(super) fn shown(reader: &Reader<'_>, text: &Text, limit: Limit) -> View {
    let count = text.length.min(limit.text as u64);
    let mut bytes = match reader.bytes(&text.data, count * text.unit) {
        Ok(bytes) => bytes,
        Err(reason) if count > 0 => return View::Broken(reader.reason(&reason)),
        Err(_) => Vec::new(),
    };
    let is_cut = count < text.length;
    if is_cut
        && text.unit == 1
        && let Err(error) = std::str::from_utf8(&bytes)
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
    let mut line = match text.unit {
        1 => quote(&bytes),
        unit => quote(c::decode(&bytes, unit).as_bytes()),
    };
    line.push_str(&limit.mark(is_cut, Some(text.length)));
    View::Text {
        text: line,
        address: text.data.address().map(|data| data.0),
    }
}

fn at(address: u64) -> Contents {
    Contents::Memory(Address(address))
}
