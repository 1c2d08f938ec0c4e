//! Excerpts of received text for error messages. The input may be megabytes long: short text is shown whole, long text cut
//! to enough to recognize it.

use std::borrow::Cow;

/// How many bytes of a quoted value are shown.
const VALUE: usize = 60;

/// How many bytes of a message are shown: its start, and its end.
const MESSAGE: (usize, usize) = (220, 100);

/// How many bytes of a path are shown: its start, and its end.
const PATH: (usize, usize) = (100, 60);

/// A decoder's message, its quoted values shortened.
pub(super) fn of_message(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(open) = rest.find(['"', '`']) {
        let (before, quoted) = rest.split_at(open + 1);
        let Some(close) = closing(quoted, rest.as_bytes()[open]) else {
            break;
        };
        shown.push_str(before);
        shown.push_str(&of_name(&quoted[..close]));
        shown.push_str(&quoted[close..=close]);
        rest = &quoted[close + 1..];
    }
    shown.push_str(rest);
    ends(&shown, MESSAGE)
}

/// A path; a long one lacks its middle.
pub(super) fn of_path(text: &str) -> String {
    ends(text, PATH)
}

/// A command's or event's name, or a value; a long one is cut after its start.
pub(crate) fn of_name(text: &str) -> Cow<'_, str> {
    if text.len() <= VALUE {
        return text.into();
    }
    format!("{}…", start(text, VALUE)).into()
}

/// The index of the closing quote. Text in double quotes has escapes, text in backticks has none.
fn closing(quoted: &str, quote: u8) -> Option<usize> {
    let mut escaped = false;
    quoted.bytes().position(|byte| {
        let ends = byte == quote && !escaped;
        escaped = byte == b'\\' && quote == b'"' && !escaped;
        ends
    })
}

/// The whole characters among the first `bytes` bytes.
fn start(text: &str, bytes: usize) -> &str {
    let mut ends = (0..=bytes.min(text.len())).rev();
    let end = ends.find(|&at| text.is_char_boundary(at));
    &text[..end.unwrap_or(0)]
}

fn ends(text: &str, (head, tail): (usize, usize)) -> String {
    if text.len() <= head + tail {
        return text.to_owned();
    }
    let from = (text.len() - tail..=text.len()).find(|&at| text.is_char_boundary(at));
    let end = from.map_or("", |at| &text[at..]);
    format!("{}…{end}", start(text, head))
}
