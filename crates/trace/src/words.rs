//! Text of others made fit for one line: escaped, cut, and taken from JSON fields.

use serde_json::Value;

/// The longest text of a field that is shown in a line, in characters.
const LONGEST: usize = 60;

/// `text` with control characters escaped, so that it can neither begin a new line nor command a terminal, and cut after `limit`
/// characters.
pub(crate) fn plain(text: &str, limit: usize) -> String {
    let mut out = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == limit {
            out.push('…');
            break;
        }
        if c.is_control() || is_direction(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// True for characters that change the direction of the text after them.
pub(crate) fn is_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text in quotes.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", plain(text, LONGEST))
}

/// A field as text without quotes: strings, numbers, booleans. `None` if it is absent or something else.
pub(crate) fn text(value: &Value, field: &str) -> Option<String> {
    scalar(value.get(field)?)
}

/// A scalar as text without quotes.
pub(crate) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(plain(text, LONGEST)),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// The elements of an array field; none if it is absent.
pub(crate) fn items<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value
        .get(field)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// `1 frame`, `2 frames`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// At most `limit` texts, with commas between them.
pub(crate) fn listed(texts: impl IntoIterator<Item = String>, limit: usize) -> String {
    let mut texts = texts.into_iter();
    let mut shown: Vec<String> = texts.by_ref().take(limit).collect();
    if texts.next().is_some() {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}

/// The name of a source: the last part of its path, its name or its reference.
pub(crate) fn source(value: &Value) -> Option<String> {
    let path = value.get("path").and_then(Value::as_str);
    let file = path.map(|path| path.rsplit(['/', '\\']).next().unwrap_or(path));
    let name = file.or_else(|| value.get("name").and_then(Value::as_str));
    let reference = value.get("sourceReference").and_then(Value::as_i64);
    match name {
        Some(name) => Some(plain(name, LONGEST)),
        None => reference.map(|reference| format!("source {reference}")),
    }
}

/// A duration with three digits and its unit.
pub(crate) fn duration(duration: std::time::Duration) -> String {
    let seconds = duration.as_secs_f64();
    let (value, unit) = match seconds {
        ..0.001 => (seconds * 1e6, "µs"),
        ..1.0 => (seconds * 1e3, "ms"),
        _ => (seconds, "s"),
    };
    match value {
        ..9.95 => format!("{value:.1} {unit}"),
        _ => format!("{value:.0} {unit}"),
    }
}
