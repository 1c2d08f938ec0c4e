//! A fast path for reading and writing common JSON; serde_json is the slow path.
//!
//! [`read`] and [`write`] do what serde_json does, about twice as fast, or give up without a reason. serde_json then either accepts
//! the value or says what is wrong and where. So nothing here has to explain an error, and rare input may be left to serde_json.
//! The fast path accepts only what serde_json accepts, with the same value, and writes the same bytes; the tests compare the two.
//!
//! Both are fast because they scan strings up to 16 bytes at a time, and copy or borrow whole strings that have no escapes.

mod read;
mod write;

use serde::{de, ser};
use std::fmt;
use wide::u8x16;

pub(crate) use read::{Reader, read, read_object};
pub(crate) use write::{raw, write, write_integer, write_string};

/// The struct name by which serde_json's `RawValue` asks a deserializer for a value's text, and passes that text to a serializer.
/// Should a version of serde_json use another name, raw values are left to serde_json: slower, but still correct.
const RAW: &str = "$serde_json::private::RawValue";

/// The fast path does not handle this value; serde_json has to.
#[derive(Debug)]
pub(crate) struct Unsupported;

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the fast path does not handle this value")
    }
}

impl std::error::Error for Unsupported {}

impl de::Error for Unsupported {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }

    // The default implementations would format a message first.
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

pub(crate) type Result<T> = std::result::Result<T, Unsupported>;

impl ser::Error for Unsupported {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

/// The index of the first quote, backslash or byte below 0x20, if there is one.
#[inline(always)]
fn first_special(block: &[u8; 16]) -> Option<usize> {
    let block = u8x16::new(*block);
    let quotes = block.simd_eq(u8x16::splat(b'"'));
    let backslashes = block.simd_eq(u8x16::splat(b'\\'));
    let controls = block.simd_eq(block.min(u8x16::splat(0x1f)));
    let found = (quotes | backslashes | controls).to_bitmask();
    (found != 0).then(|| found.trailing_zeros() as usize)
}

/// Marks the bytes that are a quote, a backslash or below 0x20 by their highest bits. Only a result of 0 and the lowest mark are
/// exact: the borrow of a subtraction may mark higher bytes wrongly.
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
