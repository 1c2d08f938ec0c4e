//! C's texts: what a `char` pointer or array holds.

use super::Reader;
use super::scalars::quote;
use super::view::{Limit, Resolved, Sequence};
use crate::Address;
use dapple_symbols::functions::Language;
use dapple_symbols::types::{Encoding, TypeKind};

/// Whether a type is one of C's and C++'s characters, for text.
fn is_char(target: &Resolved) -> bool {
    target.type_.language != Language::Rust
        && target.type_.size == Some(1)
        && match target.type_.kind {
            TypeKind::Base(Encoding::SignedChar | Encoding::UnsignedChar) => {
                // Plain `char`: the others are numbers more often than text.
                &*target.type_.name == "char"
            }
            TypeKind::Base(Encoding::Utf) => true,
            _ => false,
        }
}

/// The text at `address`, quoted, when `target` is a character. Reads up to the limit or the end of memory.
pub(crate) fn text_at(
    reader: &Reader<'_>,
    target: &Resolved,
    address: u64,
    limit: Limit,
) -> Option<String> {
    if address == 0 || !is_char(target) {
        return None;
    }
    let bytes = read_available(reader, address, limit.text + 1);
    if bytes.is_empty() {
        return Some(format!("<cannot read memory at {address:#x}>"));
    }
    let end = bytes.iter().position(|byte| *byte == 0);
    let shown = &bytes[..end.unwrap_or(bytes.len()).min(limit.text)];
    let mark = if end.is_some() { "" } else { "…" };
    Some(format!("{}{mark}", quote(shown)))
}

/// The text of a character array up to its first zero, quoted; `None` when it isn't one.
pub(crate) fn array_text(reader: &Reader<'_>, sequence: &Sequence, limit: Limit) -> Option<String> {
    let element = reader.resolve(&sequence.element)?;
    if !is_char(&element) || super::names::is_small_integer(&element.alias) {
        return None;
    }
    let length = usize::try_from(sequence.length).unwrap_or(usize::MAX);
    let read = length.min(limit.text + 1);
    let bytes = reader.bytes(&sequence.element.contents, read as u64).ok()?;
    let end = bytes.iter().position(|byte| *byte == 0);
    let shown = &bytes[..end.unwrap_or(bytes.len()).min(limit.text)];
    let mark = if end.is_some() || length <= limit.text {
        ""
    } else {
        "…"
    };
    Some(format!("{}{mark}", quote(shown)))
}

/// As many of `length` bytes as memory has at `address`.
pub(crate) fn read_available(reader: &Reader<'_>, address: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    let Err(at) = reader.memory.read(Address(address), &mut bytes) else {
        return bytes;
    };
    // What the failed read says, or else the rest of the page.
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
