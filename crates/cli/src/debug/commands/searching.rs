//! `find`: searches memory for values and texts.

use anyhow::{Context, bail};

use super::Flow;
use super::data::evaluate;
use super::expression_text::unquoted;
use super::machine::{address, code_symbol, number};
use super::memory::read;
use super::memory_format::Unit;
use crate::debug::session::Session;

/// How many bytes are read at once.
const PART: usize = 1 << 16;
/// How many places are shown without a number.
const PLACES: usize = 100;
/// The longest values, in bytes.
const LONGEST: usize = 4096;
const USAGE: &str = "find what? `find START, +LENGTH, VALUE`";

pub(super) fn find(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let (unit, most, rest) = options(argument)?;
    let parts = parts(rest);
    let [start, end, values @ ..] = &parts[..] else {
        bail!(USAGE);
    };
    if values.is_empty() || parts.iter().any(|part| part.is_empty()) {
        bail!(USAGE);
    }
    let reference = address(session, start)?;
    let start = number(&reference);
    let start = start.with_context(|| format!("`{reference}` is no address to search from"))?;
    let length = match end.strip_prefix('+') {
        Some(length) => value(session, length.trim())?,
        // gdb's end is the last byte of the range.
        None => {
            let end = address(session, end)?;
            let end = number(&end).filter(|end| *end >= start);
            let end = end.context("the end of the range is before its start")?;
            (end - start).saturating_add(1)
        }
    };
    let mut wanted = Vec::new();
    for part in values {
        wanted.extend(bytes_of(session, part, unit)?);
    }
    if wanted.is_empty() || wanted.len() > LONGEST {
        bail!("1 to {LONGEST} bytes can be searched for");
    }
    search(session, start, length, &wanted, most)?;
    Ok(Flow::Go)
}

/// Splits `/w3 rest` into the unit, the number of places and the rest.
fn options(argument: &str) -> anyhow::Result<(Option<Unit>, usize, &str)> {
    let Some(rest) = argument.strip_prefix('/') else {
        return Ok((None, PLACES, argument));
    };
    let (word, rest) = rest.split_once(char::is_whitespace).context(USAGE)?;
    let (mut unit, mut digits) = (None, String::new());
    for letter in word.chars() {
        match Unit::of(letter) {
            Some(known) => unit = Some(known),
            None if letter.is_ascii_digit() => digits.push(letter),
            None => bail!("`find` has no unit `{letter}`: b, h, w, g"),
        }
    }
    let most = match &*digits {
        "" => PLACES,
        digits => super::number(digits, "a number of places")?,
    };
    Ok((unit, most, rest.trim()))
}

/// Splits at the commas that are in no brackets and no quotes.
fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut begin) = (Vec::new(), 0);
    for (at, c, depth) in unquoted(text) {
        if (c, depth) == (',', 0) {
            parts.push(text[begin..at].trim());
            begin = at + 1;
        }
    }
    parts.push(text[begin..].trim());
    parts
}

/// The number that an expression has.
fn value(session: &mut Session, expression: &str) -> anyhow::Result<u64> {
    if let Some(number) = integer(expression) {
        return Ok(number);
    }
    let result = evaluate(session, expression)?.result;
    let word = result.split_whitespace().next().unwrap_or_default();
    let number = integer(word).or_else(|| character(word));
    number.with_context(|| format!("`{expression}` is {result}, and no number"))
}

/// The size of an expression's type, which the program's language may tell. `None` for numbers.
fn size_of(session: &mut Session, expression: &str) -> Option<usize> {
    if integer(expression).is_some() {
        return None;
    }
    let forms = [
        format!("sizeof({expression})"),
        format!("size_of_val(&{expression})"),
    ];
    forms.iter().find_map(|form| {
        let answer = evaluate(session, form).ok()?;
        let size = answer.result.parse().ok()?;
        matches!(size, 1 | 2 | 4 | 8).then_some(size)
    })
}

/// An integer in a language's notation; negative ones in two's complement.
fn integer(text: &str) -> Option<u64> {
    match text.strip_prefix('-') {
        Some(text) => number(text).map(u64::wrapping_neg),
        None => number(text),
    }
}

/// The character in quotes.
fn character(text: &str) -> Option<u64> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let bytes = unescaped(inner);
    match bytes[..] {
        [byte] => Some(u64::from(byte)),
        _ => None,
    }
}

/// The bytes that a value is searched as.
fn bytes_of(session: &mut Session, part: &str, unit: Option<Unit>) -> anyhow::Result<Vec<u8>> {
    let text = part.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    if let Some(text) = text {
        return Ok(unescaped(text));
    }
    let (number, size) = match (character(part), unit) {
        (Some(number), None) => (number, Some(1)),
        (Some(number), Some(unit)) => (number, Some(unit.bytes())),
        (None, Some(unit)) => (value(session, part)?, Some(unit.bytes())),
        (None, None) => (value(session, part)?, size_of(session, part)),
    };
    // As in C, a number without a type is an `int` if that can hold it.
    let fits = i32::try_from(number.cast_signed()).is_ok() || u32::try_from(number).is_ok();
    let size = size.unwrap_or(if fits { 4 } else { 8 });
    let bytes = bytes_in(number, size);
    bytes.with_context(|| format!("{part} does not fit in {size} bytes"))
}

/// The least significant bytes of a number, if the others say no more than its sign.
fn bytes_in(number: u64, size: usize) -> Option<Vec<u8>> {
    let unused = 64 - 8 * size as u32;
    let is_unsigned = number << unused >> unused == number;
    let is_signed = number.cast_signed() << unused >> unused == number.cast_signed();
    (is_unsigned || is_signed).then(|| number.to_le_bytes()[..size].to_vec())
}

/// The bytes of a text whose backslashes stand for other characters, as in C.
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            bytes.extend(c.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        match chars.next() {
            Some('n') => bytes.push(b'\n'),
            Some('t') => bytes.push(b'\t'),
            Some('r') => bytes.push(b'\r'),
            Some('0') => bytes.push(0),
            Some('x') => {
                let mut byte = 0_u32;
                for _ in 0..2 {
                    let Some(digit) = chars.peek().and_then(|c| c.to_digit(16)) else {
                        break;
                    };
                    byte = byte * 16 + digit;
                    chars.next();
                }
                bytes.push(byte as u8);
            }
            Some(other) => bytes.extend(other.encode_utf8(&mut [0; 4]).as_bytes()),
            None => bytes.push(b'\\'),
        }
    }
    bytes
}

/// Searches a range part by part, and prints the places. Parts overlap, so that what begins in one part and ends in the next is found.
fn search(
    session: &mut Session,
    start: u64,
    length: u64,
    wanted: &[u8],
    most: usize,
) -> anyhow::Result<()> {
    let end = start.saturating_add(length);
    let (mut at, mut count) = (start, 0);
    while count < most && end - at >= wanted.len() as u64 {
        let size = (end - at).min(PART as u64);
        let part = read(session, &format!("{at:#x}"), 0, i64::try_from(size)?)?.bytes;
        let places = part.windows(wanted.len()).enumerate();
        for (offset, _) in places.filter(|(_, window)| *window == wanted) {
            if count == most {
                break;
            }
            let place = at + offset as u64;
            let symbol = code_symbol(session, place).map(|name| format!(" <{name}>"));
            let line = format!("{place:#x}{}", symbol.unwrap_or_default());
            session.screen.print(&line);
            count += 1;
        }
        if (part.len() as u64) < size {
            report(session, count, most);
            bail!(
                "there is no memory at {:#x}; it was searched up to there",
                at + part.len() as u64
            );
        }
        if session.was_interrupted() {
            report(session, count, most);
            bail!("interrupted; it was searched up to {:#x}", at + size);
        }
        if at + size >= end {
            break;
        }
        at += size - (wanted.len() as u64 - 1);
    }
    report(session, count, most);
    Ok(())
}

fn report(session: &mut Session, count: usize, most: usize) {
    let text = match count {
        0 => "not found".to_owned(),
        count if count == most => format!("{count} found; there may be more: `find/{}`", most * 10),
        count => format!("{count} found"),
    };
    session.screen.print(&text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_separated_by_commas_outside_of_brackets_and_texts() {
        assert_eq!(
            parts("f(1, 2), +10, \"a, b\", 'c'"),
            ["f(1, 2)", "+10", "\"a, b\"", "'c'"]
        );
        assert_eq!(parts(""), [""]);
    }

    #[test]
    fn texts_and_characters_are_written_as_in_c() {
        assert_eq!(unescaped(r"a\n\x7f\0\\"), b"a\n\x7f\0\\");
        assert_eq!(character("'\\n'"), Some(10));
        assert_eq!(character("'ab'"), None);
        assert_eq!(integer("-1"), Some(u64::MAX));
        assert_eq!(integer("0x10"), Some(16));
    }

    #[test]
    fn numbers_have_to_fit() {
        let minus = |number: i64| number.cast_unsigned();
        assert_eq!(bytes_in(255, 1), Some(vec![255]));
        assert_eq!(bytes_in(minus(-128), 1), Some(vec![128]));
        assert_eq!(bytes_in(minus(-129), 1), None);
        assert_eq!(bytes_in(256, 1), None);
        assert_eq!(bytes_in(0xff00_0000_0000_0001, 1), None);
        assert_eq!(
            bytes_in(minus(-2), 8),
            Some(minus(-2).to_le_bytes().to_vec())
        );
    }
}
