//! Texts of C and C++: what a `char` pointer or array contains.

use super::Reader;
use super::quoting::quote;
use super::scalars::is_wide_character;
use super::view::{LONG, Limit, Resolved, Sequence};
use crate::Address;
use dapple_symbols::functions::Language;
use dapple_symbols::types::{Encoding, TypeKind};

/// Whether a type is a character type of C or C++ that texts are made of.
fn is_char(target: &Resolved) -> bool {
    target.type_.language != Language::Rust
        && target.type_.size == Some(1)
        && match target.type_.kind {
            TypeKind::Base(Encoding::SignedChar | Encoding::UnsignedChar) => {
                // Of the one-byte types, only plain `char` is shown as text: `signed char` and `unsigned char` are more often numbers.
                &*target.type_.name == "char"
            }
            TypeKind::Base(Encoding::Utf) => true,
            _ => false,
        }
}

/// The text at `address`, quoted, up to the limit or the end of readable memory. If nothing is readable, a text in angle brackets says so.
/// `None`: `target` is no character type, or the address is null.
pub(crate) fn text_at(
    reader: &Reader<'_>,
    target: &Resolved,
    address: u64,
    limit: Limit,
) -> Option<String> {
    if address == 0 {
        return None;
    }
    if let Some(unit) = wide_unit(target) {
        return wide_text_at(reader, unit, address, limit);
    }
    if !is_char(target) {
        return None;
    }
    let bytes = read_text(reader, address, limit.text + 1, 1);
    if bytes.is_empty() {
        return Some(format!("<cannot read memory at {address:#x}>"));
    }
    let end = bytes.iter().position(|byte| *byte == 0);
    let shown = &bytes[..end.unwrap_or(bytes.len()).min(limit.text)];
    let length = || {
        // Only if the text is cut, more of it is read, to tell its length.
        let all = read_text(reader, address, COUNTED, 1);
        Some(all.iter().position(|byte| *byte == 0)? as u64)
    };
    let mark = match end {
        None if limit.text == LONG.text => limit.mark(true, length()),
        end => limit.mark(end.is_none(), None),
    };
    Some(format!("{}{mark}", quote(shown)))
}

/// How far a text's final zero is searched to tell the text's length, in bytes.
const COUNTED: usize = 1 << 16;
/// How much of a text is read at first, in bytes; most are short.
const FIRST: usize = 1 << 10;

/// Up to `most` bytes at `address`, as much as is readable. Reads growing pieces, and stops after a piece with a zero of `unit` bytes.
fn read_text(reader: &Reader<'_>, address: u64, most: usize, unit: usize) -> Vec<u8> {
    let mut length = FIRST.min(most);
    loop {
        let bytes = read_available(reader, address, length);
        let ends = |bytes: &[u8]| {
            bytes
                .chunks_exact(unit)
                .any(|unit| unit.iter().all(|b| *b == 0))
        };
        if length >= most || bytes.len() < length || ends(&bytes) {
            return bytes;
        }
        length = length.saturating_mul(4).min(most);
    }
}

/// The text that `bytes` begin with, quoted. `None`: `target` is no one-byte character type, or the text has no final zero.
pub(crate) fn text_of(target: &Resolved, bytes: &[u8], limit: Limit) -> Option<String> {
    if !is_char(target) {
        return None;
    }
    let end = bytes.iter().position(|byte| *byte == 0)?;
    let mark = if end > limit.text { "…" } else { "" };
    Some(format!("{}{mark}", quote(&bytes[..end.min(limit.text)])))
}

/// The size of a wide character in bytes; `None`: the type isn't one.
fn wide_unit(target: &Resolved) -> Option<u64> {
    let is_wide = target.type_.language != Language::Rust
        && (matches!(target.type_.kind, TypeKind::Base(Encoding::Utf))
            || is_wide_character(&target.type_.name)
            || is_wide_character(&target.alias));
    target
        .type_
        .size
        .filter(|size| is_wide && matches!(size, 2 | 4))
}

fn wide_text_at(reader: &Reader<'_>, unit: u64, address: u64, limit: Limit) -> Option<String> {
    let most = limit.text.saturating_mul(unit as usize);
    let bytes = read_text(reader, address, most, unit as usize);
    let units = bytes.chunks_exact(unit as usize);
    let end = units
        .clone()
        .position(|unit| unit.iter().all(|byte| *byte == 0));
    let shown = end.unwrap_or(units.len());
    if shown == 0 && end.is_none() {
        return Some(format!("<cannot read memory at {address:#x}>"));
    }
    let mark = if end.is_some() { "" } else { "…" };
    let text = decode(&bytes[..shown * unit as usize], unit);
    Some(format!("{}{mark}", quote(text.as_bytes())))
}

/// Decodes UTF-16 (`unit` 2) or UTF-32, little-endian.
pub(crate) fn decode(bytes: &[u8], unit: u64) -> String {
    if unit == 2 {
        let units = bytes
            .chunks_exact(2)
            .map(|b| u16::from_le_bytes([b[0], b[1]]));
        return char::decode_utf16(units)
            .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect();
    }
    let units = bytes
        .chunks_exact(4)
        .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    units
        .map(|c| char::from_u32(c).unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}

/// The text of a character array up to its first zero, quoted. `None`: the elements aren't characters, or they can't be read.
pub(crate) fn array_text(reader: &Reader<'_>, sequence: &Sequence, limit: Limit) -> Option<String> {
    let element = reader.resolve(&sequence.element)?;
    let unit = match wide_unit(&element) {
        Some(unit) => unit,
        None if is_char(&element) && !super::names::is_small_integer(&element.alias) => 1,
        None => return None,
    };
    let length = usize::try_from(sequence.length).unwrap_or(usize::MAX);
    let read = length.min(limit.text + 1) as u64 * unit;
    let bytes = reader.bytes(&sequence.element.contents, read).ok()?;
    let mut units = bytes.chunks_exact(unit as usize);
    let end = units.position(|unit| unit.iter().all(|byte| *byte == 0));
    let count = end.unwrap_or(bytes.len() / unit as usize).min(limit.text);
    let shown = &bytes[..count * unit as usize];
    let mark = if end.is_some() || length <= limit.text {
        ""
    } else {
        "…"
    };
    let text = match unit {
        1 => quote(shown),
        unit => quote(decode(shown, unit).as_bytes()),
    };
    Some(format!("{text}{mark}"))
}

/// Up to `length` bytes at `address`, as much as is readable.
pub(crate) fn read_available(reader: &Reader<'_>, address: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    let Err(at) = reader.memory.read(Address(address), &mut bytes) else {
        return bytes;
    };
    // Try as much as the failed read says is readable, or else the rest of the page.
    const PAGE: u64 = 4096;
    for readable in [at.0.wrapping_sub(address), PAGE - address % PAGE] {
        if readable == 0 || readable >= length as u64 {
            continue;
        }
        bytes.truncate(readable as usize);
        if reader.memory.read(Address(address), &mut bytes).is_ok() {
            return bytes;
        }
        bytes.resize(length, 0);
    }
    Vec::new()
}
