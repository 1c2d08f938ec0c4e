//! Breaks lines at a maximal width: comments at spaces, types at their alternatives.

/// The maximal length of a line; a comment's includes its indent and star.
const WIDTH: usize = 80;

/// A block comment. Each line of `said` is wrapped by itself.
pub(super) fn comment(indent: &str, said: &str) -> String {
    let mut text = format!("{indent}/**\n");
    let room = WIDTH.saturating_sub(width(indent) + " * ".len());
    for line in said.split('\n') {
        for part in wrapped(line.trim(), room) {
            text.push_str(&format!("{indent} * {part}\n"));
        }
    }
    text.push_str(&format!("{indent} */\n"));
    text
}

/// Breaks `line` at spaces into parts of at most `room` characters. A longer word stays whole.
fn wrapped(line: &str, room: usize) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut part = String::new();
    for (i, word) in line.split(' ').enumerate() {
        if i > 0 && width(&part) + 1 + width(word) > room {
            parts.push(part.trim_end().to_owned());
            part = word.to_owned();
        } else {
            if i > 0 {
                part.push(' ');
            }
            part.push_str(word);
        }
    }
    parts.push(part.trim_end().to_owned());
    parts
}

/// Breaks a statement, given in parts between its `|`, before a `|` where it would get too long. Continuation lines begin with `indent`.
/// As on the published page, neither `indent` nor the `;` at the end counts towards the width.
pub(super) fn alternatives(parts: &[&str], indent: &str) -> String {
    let mut text = String::new();
    let mut line = String::new();
    for (i, part) in parts.iter().enumerate() {
        if i == 0 {
            line.push_str(part);
            continue;
        }
        let written = part.strip_suffix(';').unwrap_or(part);
        if width(&line) + " | ".len() + width(written) > WIDTH {
            text.push_str(&line);
            text.push_str(&format!("\n{indent}"));
            line = format!("    | {part}");
        } else {
            line.push_str(&format!(" | {part}"));
        }
    }
    text + &line
}

fn width(text: &str) -> usize {
    text.chars().count()
}
