//! Text that is safe to draw, and its width.
//!
//! What is shown comes from the debuggee, its debug information and its adapter. A screen stays whole if each character takes as many columns as the
//! terminal gives it. So characters are replaced that drive terminals, that have no width, or on whose width terminals don't agree.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What stands for a character that is not shown.
const HIDDEN: char = '·';
/// The most combining characters on another one.
const COMBINING: usize = 3;

/// The text without what could break a screen. Tabs become four spaces.
pub fn safe(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut combining = COMBINING;
    for c in text.chars() {
        match c {
            '\t' => out.push_str("    "),
            c if c.is_control() || is_invisible(c) => out.push(HIDDEN),
            c if c.width() == Some(0) => {
                if combining < COMBINING {
                    out.push(c);
                }
                combining += 1;
                continue;
            }
            c => out.push(c),
        }
        combining = 0;
    }
    Cow::Owned(out)
}

/// Whether a character changes how others are shown: the direction of writing, joined and varied characters, tags.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0000}'..='\u{e0fff}')
}

/// How many columns a safe text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// The text in at most `columns`, with `…` at its end if it is cut.
pub fn fitting(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    match columns {
        0 => Cow::Borrowed(""),
        _ => Cow::Owned(format!("{}…", first(text, columns - 1).0)),
    }
}

/// The end of the text in at most `columns`, with `…` at its beginning if it is cut.
pub fn fitting_end(text: &str, columns: usize) -> Cow<'_, str> {
    let whole = width(text);
    if whole <= columns {
        return Cow::Borrowed(text);
    }
    match columns {
        0 => Cow::Borrowed(""),
        _ => Cow::Owned(format!("…{}", without(text, whole - columns + 1))),
    }
}

/// The text split behind its first `columns`: never within a wide character, and always behind the combining characters.
pub fn first(text: &str, columns: usize) -> (&str, &str) {
    let mut taken = 0;
    for (at, c) in text.char_indices() {
        taken += c.width().unwrap_or(0);
        if taken > columns {
            return text.split_at(at);
        }
    }
    (text, "")
}

/// The text without its first `columns`.
pub fn without(text: &str, columns: usize) -> &str {
    let (head, tail) = first(text, columns);
    // A wide character that is cut in the middle goes as a whole.
    match width(head) < columns && !tail.is_empty() {
        true => tail.chars().next().map_or("", |c| &tail[c.len_utf8()..]),
        false => tail,
    }
}

/// The text in lines of at most `columns`. There is at least one.
pub fn wrapped(text: &str, columns: usize) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    loop {
        let (line, after) = first(rest, columns.max(2));
        lines.push(line);
        if after.is_empty() {
            return lines;
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_drives_terminals_is_shown_as_a_dot() {
        assert_eq!(safe("a\x1b[2J\tb"), "a·[2J    b");
        assert_eq!(safe("user\u{202e}txt.exe"), "user·txt.exe");
        assert_eq!(safe("👩\u{200d}🚀"), "👩·🚀");
        assert_eq!(safe("日本 Ä"), "日本 Ä");
        assert_eq!(
            safe("e\u{301}\u{301}\u{301}\u{301}\u{301}!"),
            "e\u{301}\u{301}\u{301}!"
        );
        // Nothing is there for it to combine with.
        assert_eq!(safe("\u{301}x"), "x");
    }

    #[test]
    fn text_is_cut_between_characters() {
        assert_eq!(fitting("日本語", 6), "日本語");
        assert_eq!(fitting("日本語", 5), "日本…");
        assert_eq!(fitting("日本語", 4), "日…");
        assert_eq!(fitting("abc", 0), "");
        assert_eq!(fitting_end("src/main.rs", 7), "…ain.rs");
        assert_eq!(without("日本", 1), "本");
        assert_eq!(wrapped("日本語", 4), ["日本", "語"]);
        assert_eq!(wrapped("", 4), [""]);
        assert_eq!(wrapped("日", 1), ["日"]);
    }
}
