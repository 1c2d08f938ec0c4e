//! Streams: their text and their state.
//!
//! Their classes are templates that the library instantiates, so programs often only declare them. Their layout is part of each library's
//! ABI, and equal in both except for the buffer's own members. An output stream begins with a vtable's address; an input stream, with a
//! vtable's address and a count; a stream for both, like an input stream and then an output stream. The buffer follows.

use super::texts::{self, Text};
use super::{library_path, nonsense};
use crate::Address;
use crate::exceptions::cpp::Space;
use crate::values::view::{Limit, View};
use crate::values::{Contents, Reader, Value, names};
use dapple_symbols::functions::Language;
use dapple_symbols::location::Unavailable;
use dapple_symbols::types::Type;

/// The size of a string buffer, in bytes.
const BUFFER: u64 = 104;

/// What the objects of a class of streams contain.
struct Kind {
    /// The offset of its string buffer in words, if it has one.
    buffer: Option<u64>,
    /// Whether it is a string buffer itself.
    is_buffer: bool,
    /// Whether its objects usually belong to derived classes.
    is_base: bool,
}

fn kind(path: &str) -> Option<Kind> {
    let (buffer, is_buffer, is_base) = match path {
        "basic_ostringstream" => (Some(1), false, false),
        "basic_istringstream" => (Some(2), false, false),
        "basic_stringstream" => (Some(3), false, false),
        "basic_stringbuf" => (Some(0), true, false),
        "basic_ostream" | "basic_istream" | "basic_iostream" => (None, false, true),
        "basic_ofstream" | "basic_ifstream" | "basic_fstream" => (None, false, false),
        _ => return None,
    };
    Some(Kind {
        buffer,
        is_buffer,
        is_base,
    })
}

/// The view of a stream or a string buffer; `None`: it is another class.
pub(super) fn view(reader: &Reader<'_>, value: &Value, type_: &Type, limit: Limit) -> Option<View> {
    let kind = kind(library_path(&type_.name)?)?;
    if !kind.is_base {
        return shown(reader, &value.contents, &type_.name, &kind, limit);
    }
    let at = value.contents.address()?;
    let space = Space {
        memory: reader.memory,
        modules: reader.modules,
    };
    let whole = space.dynamic(at);
    let named = whole.and_then(|whole| Some((whole, space.type_name(whole.type_info)?)));
    let Some((whole, name)) = named else {
        return state(reader, &value.contents).map(View::Leaf);
    };
    let short = names::shorten(&name, Language::Cpp);
    if short == names::shorten(&type_.name, Language::Cpp) {
        return state(reader, &value.contents).map(View::Leaf);
    }
    let full = format!("std::{}", name.strip_prefix("std::")?);
    let inner = library_path(&full).and_then(self::kind);
    let inner =
        inner.and_then(|kind| shown(reader, &Contents::Memory(whole.at), &full, &kind, limit));
    let text = match inner {
        Some(
            View::Leaf(text) | View::Missing(text) | View::Text { text, .. } | View::Broken(text),
        ) => text,
        _ => state(reader, &value.contents)?,
    };
    Some(View::Leaf(format!("<{short}> {text}")))
}

fn shown(
    reader: &Reader<'_>,
    stream: &Contents,
    name: &str,
    kind: &Kind,
    limit: Limit,
) -> Option<View> {
    let state = match kind.is_buffer {
        true => String::new(),
        false => state(reader, stream)?,
    };
    let Some(buffer) = kind.buffer else {
        return Some(View::Leaf(state));
    };
    let view = match text(
        reader,
        &stream.part(buffer * reader.address_size(), BUFFER),
        name,
        limit,
    ) {
        Ok(view) => view?,
        // The buffer can't be read, or is optimized out.
        Err(reason) => View::Missing(reader.reason(&reason)),
    };
    Some(match view {
        View::Text { text, address } if !state.is_empty() && state != "good" => View::Text {
            text: format!("{text} ({state})"),
            address,
        },
        other => other,
    })
}

/// The state flags of a stream. They are in the base that all streams share, at the same offset in both libraries. The vtable has the
/// offset of that base.
fn state(reader: &Reader<'_>, stream: &Contents) -> Option<String> {
    const BITS: [(u32, &str); 3] = [(1, "bad"), (2, "eof"), (4, "fail")];
    let at = stream.address()?;
    let [table] = reader.words(at.0).ok()?;
    let [offset] = reader
        .words(table.checked_sub(3 * reader.address_size())?)
        .ok()?;
    let base = at.offset(offset as i64);
    let [state] = reader.words(base.0.checked_add(32)?).ok()?;
    let state = state as u32;
    if state > 7 {
        return None;
    }
    let set = BITS.iter().filter(|(bit, _)| state & bit != 0);
    let set: Vec<&str> = set.map(|(_, name)| *name).collect();
    Some(match set.is_empty() {
        true => "good".to_owned(),
        false => set.join(", "),
    })
}

/// The text that the buffer's `str()` would return. `None`: its character type is unknown.
fn text(
    reader: &Reader<'_>,
    buffer: &Contents,
    name: &str,
    limit: Limit,
) -> Result<Option<View>, Unavailable> {
    let arguments = names::arguments(name);
    let unit = match arguments.first().map(String::as_str) {
        Some("char" | "char8_t") => 1,
        Some("char16_t") => 2,
        Some("wchar_t" | "char32_t") => 4,
        _ => return Ok(None),
    };
    let is_libcxx = name.contains("std::__1::");
    let size = reader.address_size();
    let word = |index: u64| reader.word(&buffer.part(size * index, size));
    // The beginning and end of the get area, the beginning and position of the put area.
    let areas = if is_libcxx { 2 } else { 1 };
    let (get, get_end) = (word(areas)?, word(areas + 2)?);
    let (put, put_at) = (word(areas + 3)?, word(areas + 4)?);
    let (start, end) = if is_libcxx {
        const IN: u64 = 8;
        const OUT: u64 = 16;
        let mode = reader.bytes(&buffer.part(12 * size, 4), 4)?;
        match mode.first().map_or(0, |mode| u64::from(*mode)) {
            mode if mode & OUT != 0 => (put, word(11)?.max(put_at)),
            mode if mode & IN != 0 => (get, get_end),
            _ => (0, 0),
        }
    } else if put_at != 0 {
        (put, put_at.max(get_end))
    } else {
        let (data, length) = (word(9)?, word(10)?);
        (data, data.saturating_add(length.saturating_mul(unit)))
    };
    let Some(bytes) = end.checked_sub(start) else {
        return Ok(Some(nonsense("its end is before its beginning")));
    };
    let text = Text {
        data: Contents::Memory(Address(start)),
        length: bytes / unit,
        capacity: bytes / unit,
        unit,
    };
    Ok(Some(texts::shown(reader, &text, limit)))
}
