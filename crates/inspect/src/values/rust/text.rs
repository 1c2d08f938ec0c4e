//! Strings: owned, borrowed and shared. Valid UTF-8 is shown as `quoting` does, other bytes as escapes.

use super::{Flaw, MAX_OBJECT, OrUnknownLayout, broken, sequences};
use crate::Address;
use crate::values::quoting::{Controls, quote_with};
use crate::values::view::{Limit, View};
use crate::values::{Reader, Value, contents};

/// The kind of string that a pointer points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `str`, `Path`, `OsStr`, `BStr`: the pointer's length is the text's.
    Plain,
    /// `CStr`: the pointer's length includes the zero at the end.
    ZeroEnded,
}

/// The kind of string that the unsized type `pointee` is; `None`: another type.
pub(super) fn kind(pointee: &str) -> Option<Kind> {
    match pointee {
        "str" | "std::path::Path" | "std::ffi::os_str::OsStr" | "bstr::bstr::BStr" => {
            Some(Kind::Plain)
        }
        "core::ffi::c_str::CStr" => Some(Kind::ZeroEnded),
        _ => None,
    }
}

/// A `Vec<u8>` that contains a text.
pub(super) fn string(reader: &Reader<'_>, vec: &Value, limit: Limit) -> Result<View, Flaw> {
    let (address, length) = sequences::vec_parts(reader, vec, 1)?;
    utf8(reader, address, length, limit)
}

/// A `CString`.
pub(super) fn c_string(reader: &Reader<'_>, value: &Value, limit: Limit) -> Result<View, Flaw> {
    let data = reader.find(value, "data_ptr").known()?;
    let length = reader.find(value, "length").known()?;
    let (address, length) = (reader.word(&data.contents)?, reader.word(&length.contents)?);
    of_kind(reader, Kind::ZeroEnded, address, length, limit)
}

/// The remaining text of `Chars` and similar iterators.
pub(super) fn remaining(reader: &Reader<'_>, value: &Value, limit: Limit) -> Result<View, Flaw> {
    let start = reader.find(value, "ptr").known()?;
    let end = reader.find(value, "end_or_len").known()?;
    let word = |part: &Value| -> Result<u64, Flaw> {
        Ok(reader.word(&reader.find_pointer(part).known()?.contents)?)
    };
    let (start, end) = (word(&start)?, word(&end)?);
    match end.checked_sub(start) {
        Some(length) => utf8(reader, start, length, limit),
        None => broken("its end is before its start"),
    }
}

/// The remaining text of an iterator that splits a text.
pub(super) fn uncut(reader: &Reader<'_>, value: &Value, limit: Limit) -> Result<View, Flaw> {
    let number = |part: &Value| -> Result<u64, Flaw> {
        let part = reader.find_integer(part).known()?;
        let size = reader.size_of(&part).known()?.min(8);
        let bytes = reader.bytes(&part.contents, size)?;
        Ok(contents::extract_bits(&bytes, 0, 64) as u64)
    };
    let of = |name: &str| number(&reader.find(value, name).known()?);
    let is_over = of("finished")? != 0 || matches!(of("count"), Ok(0));
    let whole = reader.find(value, "haystack");
    let whole = whole.or_else(|| reader.find(value, "v")).known()?;
    let address = reader.find(&whole, "data_ptr").known()?;
    let length = reader.find(&whole, "length").known()?;
    let (address, length) = (
        reader.word(&address.contents)?,
        reader.word(&length.contents)?,
    );
    let (start, end) = match reader.find(value, "end") {
        Some(_) => (of("start")?, of("end")?),
        None => (0, length),
    };
    match end.checked_sub(start) {
        _ if is_over => utf8(reader, address, 0, limit),
        Some(rest) if end <= length => utf8(reader, address.wrapping_add(start), rest, limit),
        _ => broken(format!("bytes {start} to {end} of {length}")),
    }
}

/// The view of a string of this kind. `length` is the pointer's length.
pub(super) fn of_kind(
    reader: &Reader<'_>,
    kind: Kind,
    address: u64,
    length: u64,
    limit: Limit,
) -> Result<View, Flaw> {
    let length = match kind {
        Kind::Plain => length,
        Kind::ZeroEnded => length.saturating_sub(1),
    };
    utf8(reader, address, length, limit)
}

/// The view of `length` bytes of UTF-8 at `address`.
pub(super) fn utf8(
    reader: &Reader<'_>,
    address: u64,
    length: u64,
    limit: Limit,
) -> Result<View, Flaw> {
    quoted(reader, address, length, limit, quote)
}

/// As [`utf8`], but written by `quote`. The text is cut at the limit, but not inside a character.
pub(super) fn quoted(
    reader: &Reader<'_>,
    address: u64,
    length: u64,
    limit: Limit,
    quote: fn(&[u8]) -> String,
) -> Result<View, Flaw> {
    if length > MAX_OBJECT {
        return broken(format!("its length is {length}"));
    }
    let shown = length.min(limit.text as u64);
    let mut bytes = vec![0; usize::try_from(shown).unwrap_or(0)];
    if shown > 0 {
        let read = reader.memory.read(Address(address), &mut bytes);
        read.map_err(|at| dapple_symbols::location::Unavailable::Unreadable(at.0))?;
    }
    let is_cut = shown < length;
    if is_cut
        && let Err(error) = std::str::from_utf8(&bytes)
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
    let mark = limit.mark(is_cut, Some(length));
    Ok(View::Text {
        text: format!("{}{mark}", quote(&bytes)),
        address: Some(address),
    })
}

/// Text as Rust's `{:?}` writes it, except that combining marks are shown; invalid UTF-8 as escaped bytes.
fn quote(bytes: &[u8]) -> String {
    quote_with(bytes, Controls::Scalars)
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn text_is_quoted_as_rust_does() {
        for text in ["grüß \"q\" \\ 'x'\n\0", "\u{1b}[0m\u{7f}", "\u{301}", ""] {
            assert_eq!(quote(text.as_bytes()), format!("{text:?}"));
        }
        assert_eq!(quote(b"\x01\xffend"), r#""\u{1}\xffend""#);
    }
}
