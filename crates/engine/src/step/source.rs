//! Reads from source text what the line table doesn't say: how a call through a pointer is written, where a call ends, and whether two
//! columns belong to one statement (compilers give columns to parts of expressions, too).

use dapple_symbols::functions::SourcePosition;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

/// The largest part of a source that is read, in bytes.
const MOST: u64 = 1 << 24;
/// How many lines a call may be written on.
const CALL_LINES: usize = 32;
/// The longest line that is looked at, in bytes.
const LONGEST: usize = 1 << 12;

/// Line `number` (1-based) of a source file, if it can be read and isn't too long.
pub(super) fn line(file: &Path, number: u32) -> Option<String> {
    let wanted = usize::try_from(number).ok()?.checked_sub(1)?;
    let reader = BufReader::new(std::fs::File::open(file).ok()?.take(MOST));
    let line = reader.split(b'\n').nth(wanted)?.ok()?;
    (line.len() <= LONGEST).then(|| String::from_utf8_lossy(&line).into_owned())
}

/// Whether two columns of a line, both 1-based, belong to different statements; `true` if the source can't be read.
pub(super) fn separates(file: &Path, number: u32, a: u32, b: u32) -> bool {
    let Some(line) = line(file, number) else {
        return true;
    };
    let index = |column: u32| (column.max(1) as usize - 1).min(line.len());
    between(&line, index(a.min(b)), index(a.max(b)))
}

/// The first column of the statement that a column of a line belongs to, both 1-based; the column itself if the source can't be read.
pub(crate) fn begin_of_statement(file: &Path, number: u32, column: u32) -> u32 {
    let Some(line) = line(file, number) else {
        return column;
    };
    let end = (column.max(1) as usize - 1).min(line.len());
    let same = (0..=end).find(|from| !between(&line, *from, end));
    same.map_or(column, |from| from as u32 + 1)
}

fn between(line: &str, from: usize, to: usize) -> bool {
    let bytes = line.as_bytes();
    let mut quoted = None;
    let mut at = 0;
    while at < to {
        match (bytes[at], quoted) {
            (b'\\', Some(_)) => at += 1,
            (byte, Some(quote)) if byte == quote => quoted = None,
            (_, Some(_)) => {}
            (b'"', None) => quoted = Some(b'"'),
            // A character, not a lifetime.
            (b'\'', None) if is_character(&bytes[at..]) => quoted = Some(b'\''),
            (b';' | b'{' | b'}', None) if at >= from => return true,
            _ => {}
        }
        at += 1;
    }
    let before = bytes[..to].trim_ascii_end();
    ends_in_word(before, &["else", "do"])
        || head(before).is_some_and(|head| {
            ends_in_word(
                head.trim_ascii_end(),
                &["if", "for", "while", "switch", "catch"],
            )
        })
}

fn is_character(bytes: &[u8]) -> bool {
    matches!(bytes, [_, b'\\', ..] | [_, _, b'\'', ..])
}

/// The text before the parentheses in which `text` ends.
fn head(text: &[u8]) -> Option<&[u8]> {
    let mut depth = 0_u32;
    if text.last() != Some(&b')') {
        return None;
    }
    for (at, byte) in text.iter().enumerate().rev() {
        match byte {
            b')' => depth += 1,
            b'(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&text[..at]);
        }
    }
    None
}

fn ends_in_word(text: &[u8], words: &[&str]) -> bool {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let start = text
        .iter()
        .rposition(|byte| !is_name(byte))
        .map_or(0, |at| at + 1);
    words.iter().any(|word| &text[start..] == word.as_bytes())
}

/// The callee of the call at a place, as the source has it: `(*pointer)()`, `shape->area()`.
pub(super) fn called_at(position: &SourcePosition) -> Option<String> {
    let line = line(&position.file, position.line)?;
    let column = usize::try_from(position.column).ok()?.checked_sub(1)?;
    as_written(&line, column)
}

/// The position after the closing parenthesis of a call of `name` that is written at `position`. `None` if the text there isn't plainly
/// that call: an operator, a macro, a constructor without its name.
pub(super) fn call_end(position: &SourcePosition, name: &str) -> Option<SourcePosition> {
    let first = usize::try_from(position.line).ok()?.checked_sub(1)?;
    let column = usize::try_from(position.column).ok()?.checked_sub(1)?;
    let reader = BufReader::new(std::fs::File::open(&position.file).ok()?.take(MOST));
    let lines = reader.split(b'\n').skip(first).take(CALL_LINES);
    let lines: Vec<Vec<u8>> = lines.map_while(Result::ok).collect();
    let text = lines.join(&b'\n');
    let end = end_of_call(&text, column, name)?;
    let before = &text[..end];
    let start = before.iter().rposition(|byte| *byte == b'\n');
    let start = start.map_or(0, |at| at + 1);
    let passed = before.iter().filter(|byte| **byte == b'\n').count();
    Some(SourcePosition {
        file: Arc::clone(&position.file),
        line: position.line + u32::try_from(passed).ok()?,
        column: u32::try_from(end - start).ok()? + 1,
    })
}

fn end_of_call(text: &[u8], column: usize, name: &str) -> Option<usize> {
    let open = opening(text, column)?;
    let written = text[..open].trim_ascii_end();
    let start = written.iter().rposition(|byte| !is_name(*byte));
    let written = std::str::from_utf8(&written[start.map_or(0, |at| at + 1)..]).ok()?;
    // The name of a call through a pointer is its source text.
    let through_pointer = name.ends_with("()");
    let is_it = name.match_indices(written).any(|(at, _)| {
        let (before, after) = (&name[..at], &name[at + written.len()..]);
        (before.is_empty() || before.ends_with("::"))
            && (after.is_empty() || after.starts_with('<'))
    });
    if written.is_empty() || !(is_it || through_pointer) {
        return None;
    }
    closing(text, open).map(|at| at + 1)
}

/// The parenthesis that closes the one at `open`.
fn closing(text: &[u8], open: usize) -> Option<usize> {
    let end_of = |from: usize, end: &[u8]| {
        let found = text
            .get(from..)?
            .windows(end.len())
            .position(|part| part == end);
        Some(from + found? + end.len() - 1)
    };
    let mut depth = 0_u32;
    let mut at = open;
    loop {
        match text.get(at)? {
            b'(' => depth += 1,
            b')' if depth == 1 => return Some(at),
            b')' => depth -= 1,
            b'"' => {
                at += 1;
                while *text.get(at)? != b'"' {
                    at += if text[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'\'' if is_character(&text[at..]) => at = end_of(at + 2, b"'")?,
            b'/' if text[at..].starts_with(b"//") => at = end_of(at, b"\n")?,
            b'/' if text[at..].starts_with(b"/*") => at = end_of(at + 2, b"*/")?,
            _ => {}
        }
        at += 1;
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The opening parenthesis at or after a column, past the callee: names and the operators that join them.
fn opening(bytes: &[u8], column: usize) -> Option<usize> {
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
    (open < bytes.len()).then_some(open)
}

/// The callee of the call at `column` (0-based) of `line`, as written: `shape->area()`. A mere name is that of a pointer:
/// `(*pointer)()`. Compilers mark a call at its beginning, at its last name (clang), or at its parenthesis (gcc).
fn as_written(line: &str, column: usize) -> Option<String> {
    let bytes = line.as_bytes();
    let open = opening(bytes, column)?;
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
    use super::{as_written, between};

    fn separate(line: &str, a: &str, b: &str) -> bool {
        let place = |mark| line.find(mark).expect("the mark is in the line");
        between(line, place(a).min(place(b)), place(a).max(place(b)))
    }

    #[test]
    fn statements_are_told_from_parts_of_one() {
        let line = "one(1); two(2); const char *t = \"a; b\"; x = t[0] + ';' + y;";
        assert!(separate(line, "one", "two"));
        assert!(separate(line, "two", "\"a"));
        assert!(!separate(line, "t[", "y;"));
        let line = "for (i = 0; i < n; i++) f(i, g(i));";
        assert!(separate(line, "= 0", "< n"));
        assert!(separate(line, "++", "f("));
        assert!(!separate(line, "f(", "g("));
        let line = "int a = (long) two(one(1)) + one(2);";
        assert!(!separate(line, "=", "two"));
        assert!(!separate(line, "two", "one"));
        let line = "if (a > 2) one(a); else two(b);";
        assert!(separate(line, "> 2", "one"));
        assert!(separate(line, "if", "one"));
        assert!(separate(line, "one", "two"));
        let line = "fn f<'a>(x: &'a str) -> &'a str { g(x); h(x) }";
        assert!(separate(line, "g(", "h("));
    }

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
    fn a_call_ends_behind_its_parenthesis_and_what_is_no_such_call_has_no_end() {
        let end = |text: &str, mark: &str, name: &str| {
            let column = text.find(mark).expect("the mark is in the text");
            let end = super::end_of_call(text.as_bytes(), column, name)?;
            Some(text[column..end].to_owned())
        };
        let nested = "a = sum(one(1), two(')', \")\\\"\") /* ) */ ) + 3;";
        let whole = "sum(one(1), two(')', \")\\\"\") /* ) */ )";
        assert_eq!(
            end(nested, "sum", "numbers::sum<int>").as_deref(),
            Some(whole)
        );
        assert_eq!(end(nested, "one", "one").as_deref(), Some("one(1)"));
        assert_eq!(
            end("f(1, // )\n  2);", "f", "f").as_deref(),
            Some("f(1, // )\n  2)")
        );
        assert_eq!(end("p->g(1)", "(1)", "(*g)()").as_deref(), Some("(1)"));
        // Text without the function's name, or without an end.
        assert_eq!(end("MACRO(1);", "MACRO", "one"), None);
        assert_eq!(end("someone(1);", "someone", "one"), None);
        assert_eq!(end("a + b;", "a", "operator+"), None);
        assert_eq!(end("one(1;", "one", "one"), None);
        assert_eq!(end("one(\"1", "one", "one"), None);
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
