//! ANSI colours in values of variables and messages of the debugger, for clients that support them (`supportsANSIStyling`). The protocol allows
//! them in no other fields.
//!
//! The rendered value is split again into its parts: strings, numbers, names of types and variants, reasons in angle brackets. The program can't
//! inject colours, because control characters in its strings are escaped. A value that is split wrongly, such as one of a Natvis file, only gets
//! other colours.

use crate::clients;
use dapple_dap::types::InitializeRequestArguments;

/// A kind of part of a rendered value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Text,
    Number,
    /// A type, a variant or a named constant.
    Name,
    /// A reason in place of a value, or an ellipsis.
    Aside,
}

impl Part {
    /// The parameter of the SGR sequence (ECMA-48).
    fn code(self) -> &'static str {
        match self {
            Part::Text => "32",
            Part::Number => "36",
            Part::Name => "35",
            Part::Aside => "2",
        }
    }
}

const WARNING: &str = "33";

/// Whether a client supports colours.
pub fn is_wanted(client: &InitializeRequestArguments) -> bool {
    client.supports_ansi_styling == Some(true)
}

/// Whether variables get colours. Not in VS Code: it shows the escapes as letters in inline values, in copied text and to screen readers, and
/// has its own colours for numbers and strings.
pub fn is_wanted_in_values(client: &InitializeRequestArguments) -> bool {
    is_wanted(client) && !clients::is_vscode(client)
}

/// A rendered value with colours.
pub fn value(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 32);
    let mut before = None;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (length, part) = match part_at(rest, before) {
            Some((length, part)) => (length, Some(part)),
            None if is_of_word(first) => (word_end(rest), None),
            None => (first.len_utf8(), None),
        };
        let (this, behind) = rest.split_at(length);
        match part {
            Some(part) => paint(&mut out, part.code(), this),
            None => push_plain(&mut out, this),
        }
        before = this.chars().next_back();
        rest = behind;
    }
    out
}

/// A message of the debugger with its `warning:` coloured. Control characters, which names and values in it may have, become escapes such as
/// `\x1b`.
pub fn sentence(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    match text.strip_prefix("warning:") {
        Some(rest) => {
            paint(&mut out, WARNING, "warning:");
            push_plain(&mut out, rest);
        }
        None => push_plain(&mut out, text),
    }
    out
}

/// Removes colours from a text, such as a value that a client sends back, or a compiler's output.
pub fn without(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\x1b[") {
        out.push_str(&rest[..at]);
        let inside = &rest[at + 2..];
        let end = inside.find(|c: char| !c.is_ascii_digit() && c != ';');
        match end.filter(|end| inside[*end..].starts_with('m')) {
            Some(end) => rest = &inside[end + 1..],
            None => {
                out.push_str("\x1b[");
                rest = inside;
            }
        }
    }
    out + rest
}

fn paint(out: &mut String, code: &str, text: &str) {
    out.push_str("\x1b[");
    out.push_str(code);
    out.push('m');
    push_plain(out, text);
    out.push_str("\x1b[0m");
}

/// Appends text. Control characters other than line feeds and tabs become escapes such as `\x1b`.
fn push_plain(out: &mut String, text: &str) {
    if !text.contains(char::is_control) {
        return out.push_str(text);
    }
    for c in text.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            c if c.is_control() => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => out.push(c),
        }
    }
}

/// The length in bytes and the kind of the part at the beginning of a text; `None` if it gets no colour. `before` is the preceding character.
fn part_at(text: &str, before: Option<char>) -> Option<(usize, Part)> {
    let begins = !before.is_some_and(is_of_word);
    let first = text.chars().next()?;
    match first {
        '"' => Some((quoted(text, '"').unwrap_or(text.len()), Part::Text)),
        '\'' if begins => Some((character(text)?, Part::Text)),
        '<' if !before.is_some_and(|c| is_of_word(c) || matches!(c, ':' | '<' | '>')) => {
            Some((reason(text)?, Part::Aside))
        }
        '…' => Some(('…'.len_utf8(), Part::Aside)),
        '-' | '0'..='9' if begins => Some((number(text)?, Part::Number)),
        c if begins && is_of_word(c) => word(text),
        _ => None,
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn word_end(text: &str) -> usize {
    text.find(|c| !is_of_word(c)).unwrap_or(text.len())
}

/// The end of a quoted string.
fn quoted(text: &str, quote: char) -> Option<usize> {
    let mut inside = text.char_indices().skip(1);
    while let Some((at, c)) = inside.next() {
        match c {
            '\\' => drop(inside.next()),
            c if c == quote => return Some(at + c.len_utf8()),
            _ => {}
        }
    }
    None
}

/// The end of a character literal; `None` for a lifetime.
fn character(text: &str) -> Option<usize> {
    let end = quoted(text, '\'')?;
    let inside = &text[1..end - 1];
    (inside.starts_with('\\') || inside.chars().count() == 1).then_some(end)
}

/// The end of a reason in angle brackets; `None` for the arguments of a type.
fn reason(text: &str) -> Option<usize> {
    if !text[1..].starts_with(|c: char| c.is_lowercase() || c == '`') {
        return None;
    }
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if !text[..at].ends_with('-') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// The end of a number with sign, decimals and exponent. The dots of a range are not part of it.
fn number(text: &str) -> Option<usize> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let start = text.len() - digits.len();
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        let is_infinite = digits.starts_with("inf");
        return is_infinite.then(|| start + word_end(digits));
    }
    let bytes = text.as_bytes();
    let is_hex = digits.starts_with("0x");
    let goes_on = |at: usize| {
        let next = || bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
        match bytes.get(at) {
            Some(b'.') => next(),
            Some(b'+' | b'-') => !is_hex && matches!(bytes[at - 1], b'e' | b'E') && next(),
            Some(c) => c.is_ascii_alphanumeric() || *c == b'_',
            None => false,
        }
    };
    (start + 1..).find(|at| !goes_on(*at))
}

/// A word that gets a colour: a constant, or a path that ends in the name of a type, variant or enumerator, but not of a field.
fn word(text: &str) -> Option<(usize, Part)> {
    let mut end = word_end(text);
    let mut last = 0;
    while let Some(behind) = text[end..].strip_prefix("::")
        && behind.starts_with(is_of_word)
    {
        last = end + 2;
        end = last + word_end(behind);
    }
    let (path, behind) = text.split_at(end);
    let is_field = behind.starts_with(": ") || behind.starts_with(" = ");
    match path {
        "true" | "false" | "null" | "nullptr" | "inf" | "nan" | "NaN" if !is_field => {
            Some((end, Part::Number))
        }
        _ if !is_field && path[last..].starts_with(char::is_uppercase) => Some((end, Part::Name)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value with its colours as marks: `T(…)` for text, `#(…)` for numbers, `@(…)` for names, `~(…)` for asides.
    fn marked(text: &str) -> String {
        let mut out = value(text);
        for (code, sign) in [("32", "T"), ("36", "#"), ("35", "@"), ("2", "~")] {
            out = out.replace(&format!("\x1b[{code}m"), &format!("{sign}("));
        }
        out.replace("\x1b[0m", ")")
    }

    #[test]
    fn the_parts_of_a_line_are_told_apart() {
        for (text, expected) in [
            ("-42", "#(-42)"),
            (
                "0x7ffe12ab \"say \\\"x\\\"\"",
                "#(0x7ffe12ab) T(\"say \\\"x\\\"\")",
            ),
            ("len = 2 [1, 2.5e-7]", "len = #(2) [#(1), #(2.5e-7)]"),
            ("1..=5", "#(1)..=#(5)"),
            ("97 'a'", "#(97) T('a')"),
            (
                "Some(Point { x: 1, Y: None })",
                "@(Some)(@(Point) { x: #(1), Y: @(None) })",
            ),
            ("{x = 3, next = 0x0}", "{x = #(3), next = #(0x0)}"),
            ("Color::Red", "@(Color::Red)"),
            ("READ | 0x8", "@(READ) | #(0x8)"),
            ("<optimized out>", "~(<optimized out>)"),
            (
                "[1, <cannot read memory at 0x0>, …]",
                "[#(1), ~(<cannot read memory at 0x0>), ~(…)]",
            ),
            ("0x401136 f<int>(char)", "#(0x401136) f<int>(char)"),
            ("x10 = true", "x10 = #(true)"),
            ("\"cut", "T(\"cut)"),
            ("'static", "'static"),
            ("<`p->x` is not known>", "~(<`p->x` is not known>)"),
            ("-inf", "#(-inf)"),
            ("", ""),
        ] {
            assert_eq!(marked(text), expected, "{text}");
        }
    }

    #[test]
    fn what_the_program_holds_drives_no_terminal() {
        let shown = value("\x1b[31mred\x1b[0m\u{9b}1m");
        assert!(
            !shown
                .replace("\x1b[36m", "")
                .replace("\x1b[0m", "")
                .contains('\x1b')
        );
        assert_eq!(without(&shown), "\\x1b[31mred\\x1b[0m\\x9b1m");
        assert_eq!(
            sentence("warning: \x1b]0;x\x07"),
            "\x1b[33mwarning:\x1b[0m \\x1b]0;x\\x07"
        );
    }

    #[test]
    fn what_was_coloured_can_be_read_again() {
        for text in [
            "Some(\"ä\")",
            "{1, <optimized out>}",
            "\u{1f600} -1.5",
            "…",
            "12ab::C::9",
        ] {
            assert_eq!(without(&value(text)), text);
        }
        assert_eq!(without("\x1b[2J1\x1b["), "\x1b[2J1\x1b[");
    }
}
