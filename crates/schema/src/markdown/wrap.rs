//! Lines of a limited width: comments at spaces, types at their alternatives.

/// No line of a comment is longer, with its indent and its star.
const WIDTH: usize = 80;

/// A block comment, each line of `said` wrapped by itself.
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

/// `line` in parts of at most `room` characters, as far as its words allow.
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

/// A statement whose alternatives come after `|` in parts, broken before a `|` where it would get too long; the lines
/// after the first start with `indent`. As in the published page neither `indent` nor the `;` at the end counts.
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
