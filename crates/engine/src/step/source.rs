//! What the source itself says where the line table is silent: what a call through a pointer is written as.

use dapple_symbols::functions::SourcePosition;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// The largest part of a source that is read, in bytes.
const MOST: u64 = 1 << 24;
/// The longest line that is looked at, in bytes.
const LONGEST: usize = 1 << 12;

/// A line of a source, if it can be read; 1-based.
pub(super) fn line(file: &Path, number: u32) -> Option<String> {
    let wanted = usize::try_from(number).ok()?.checked_sub(1)?;
    let reader = BufReader::new(std::fs::File::open(file).ok()?.take(MOST));
    let line = reader.split(b'\n').nth(wanted)?.ok()?;
    (line.len() <= LONGEST).then(|| String::from_utf8_lossy(&line).into_owned())
}

/// What is called at a place, as it is written there: `(*pointer)()`, `shape->area()`.
pub(super) fn called_at(position: &SourcePosition) -> Option<String> {
    let line = line(&position.file, position.line)?;
    let column = usize::try_from(position.column).ok()?.checked_sub(1)?;
    as_written(&line, column)
}

/// Compilers mark a call at its beginning, at its last name (clang), or at its parenthesis (gcc).
fn as_written(line: &str, column: usize) -> Option<String> {
    let bytes = line.as_bytes();
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    // The end of what is called: the parenthesis at or behind the column, past names and what joins them.
    let mut open = column;
    let mut indexed = 0_u32;
    while open < bytes.len() && (bytes[open] != b'(' || indexed > 0) {
        match bytes[open] {
            b'[' => indexed += 1,
            b']' => indexed = indexed.saturating_sub(1),
            byte if indexed > 0 || is_name(byte) || b".->:*) ".contains(&byte) => {}
            _ => return None,
        }
        open += 1;
    }
    if open >= bytes.len() {
        return None;
    }
    let mut start = open;
    let mut depth = 0;
    while start > 0 {
        let byte = bytes[start - 1];
        let arrow = byte == b'>' && start > 1 && bytes[start - 2] == b'-';
        match byte {
            b']' | b')' => depth += 1,
            b'[' | b'(' if depth == 0 => break,
            b'[' | b'(' => depth -= 1,
            _ if depth > 0 => {}
            _ if is_name(byte) || byte == b'.' || byte == b':' || arrow => {}
            b'-' if bytes.get(start) == Some(&b'>') => {}
            _ => break,
        }
        start -= 1;
    }
    let written = line.get(start..open)?.trim();
    if written.is_empty() {
        return None;
    }
    Some(match written.bytes().all(is_name) {
        true => format!("(*{written})()"),
        false => format!("{written}()"),
    })
}

#[cfg(test)]
mod tests {
    use super::as_written;

    fn at(line: &str, mark: &str) -> Option<String> {
        as_written(line, line.find(mark).expect("the mark is in the line"))
    }

    #[test]
    fn a_call_is_named_as_it_is_written_wherever_in_it_the_compiler_points() {
        let line = "    int b = one(a) + pointer(a);";
        assert_eq!(at(line, "pointer").as_deref(), Some("(*pointer)()"));
        assert_eq!(at(line, "(a);").as_deref(), Some("(*pointer)()"));
        let line = "c = one(b) + shape->area(b);";
        for mark in ["shape", "area", "(b);"] {
            assert_eq!(at(line, mark).as_deref(), Some("shape->area()"), "{mark}");
        }
        let line = "table[i + 1].handler(x);";
        assert_eq!(at(line, "table").as_deref(), Some("table[i + 1].handler()"));
        let line = "(*pointer)(2);";
        assert_eq!(at(line, "(2)").as_deref(), Some("(*pointer)()"));
    }

    #[test]
    fn what_is_no_call_has_no_name() {
        assert_eq!(as_written("a + b;", 0), None);
        assert_eq!(as_written("", 0), None);
        assert_eq!(as_written("f", 12), None);
        assert_eq!(as_written("(a)", 0), None);
        assert_eq!(as_written("größe(1)", 2).as_deref(), Some("(*größe)()"));
    }
}
