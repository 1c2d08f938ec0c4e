//! Quick ways to read and to write JSON, for what has nothing unusual in it.
//!
//! [`read`] and [`write`] do what serde_json does, about twice as fast, or give up without a reason: serde_json then either knows
//! better or says what is wrong and where. So nothing here has to explain an error, and whatever is rare may be left to the
//! slow way. What is accepted here is accepted there, with the same value, and written to the same bytes; the tests hold the
//! two against each other.
//!
//! What makes both quick is that strings are looked at many bytes at a time, and copied or borrowed whole where they have no
//! escapes.

mod read;
mod write;

use serde::{de, ser};
use std::fmt;
use wide::u8x16;

pub(crate) use read::{Reader, read, read_object};
pub(crate) use write::{raw, write, write_integer, write_string};

/// Under this name serde_json's `RawValue` asks a deserializer for a value's text, and gives it to a serializer. Should a version
/// of it take another name, such a value is left to the slow way, and with it goes the speed, but nothing else.
const RAW: &str = "$serde_json::private::RawValue";

/// The slow way has to decide.
#[derive(Debug)]
pub(crate) struct GiveUp;

impl fmt::Display for GiveUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("left to the slow way")
    }
}

impl std::error::Error for GiveUp {}

impl de::Error for GiveUp {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }

    // The defaults would write a sentence first.
    fn invalid_type(_: de::Unexpected<'_>, _: &dyn de::Expected) -> Self {
        Self
    }

    fn invalid_value(_: de::Unexpected<'_>, _: &dyn de::Expected) -> Self {
        Self
    }

    fn missing_field(_: &'static str) -> Self {
        Self
    }
}

pub(crate) type Result<T> = std::result::Result<T, GiveUp>;

impl ser::Error for GiveUp {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

/// Where the first quote, backslash or byte below 0x20 is.
#[inline(always)]
fn first_special(block: &[u8; 16]) -> Option<usize> {
    let block = u8x16::new(*block);
    let quotes = block.simd_eq(u8x16::splat(b'"'));
    let backslashes = block.simd_eq(u8x16::splat(b'\\'));
    let controls = block.simd_eq(block.min(u8x16::splat(0x1f)));
    let found = (quotes | backslashes | controls).to_bitmask();
    (found != 0).then(|| found.trailing_zeros() as usize)
}

/// The bytes that are a quote, a backslash or below 0x20: their highest bits. Those above the first found may be wrong.
#[inline(always)]
fn special(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    let zeroes = |word: u64| word.wrapping_sub(ONES) & !word;
    let quotes = zeroes(word ^ (ONES * u64::from(b'"')));
    let backslashes = zeroes(word ^ (ONES * u64::from(b'\\')));
    let controls = word.wrapping_sub(ONES * 0x20) & !word;
    (quotes | backslashes | controls) & (ONES << 7)
}

#[cfg(test)]
mod tests;
