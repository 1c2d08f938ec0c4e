//! Text that is safe to write anywhere: bounded, and without characters that drive a terminal or turn the reading direction.
//!
//! Names, paths and values come from the program, its files and its debug information, and may be hostile. Whatever enters a report passes through
//! here, so that the ways to write one need not think of it. HTML has its own escapes on top.

use std::borrow::Cow;
use std::fmt::{self, Write};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

/// The longest name, path or type, in characters.
const NAME: usize = 400;

/// A bounded text of printable characters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Plain(String);

impl Plain {
    /// A name, path or type.
    pub fn name(text: &str) -> Plain {
        Plain::line(text, NAME)
    }

    /// One line of at most `most` characters. Line ends are escaped, too.
    pub fn line(text: &str, most: usize) -> Plain {
        Plain(clean(text, most, false))
    }

    /// Lines of together at most `most` characters.
    pub fn lines(text: &str, most: usize) -> Plain {
        Plain(clean(text.trim_end(), most, true))
    }

    /// An address, as `0x1f`.
    pub fn address(address: u64) -> Plain {
        Plain(format!("{address:#x}"))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl JsonSchema for Plain {
    fn schema_name() -> Cow<'static, str> {
        String::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }

    fn inline_schema() -> bool {
        true
    }
}

fn clean(text: &str, most: usize, keeps_lines: bool) -> String {
    let mut out = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == most {
            out.push('…');
            break;
        }
        match is_harmless(c) || (keeps_lines && c == '\n') {
            true => out.push(c),
            // Writing to a `String` can't fail.
            false => _ = write!(out, "{}", c.escape_default()),
        }
    }
    out
}

/// Whether a character only shows itself. Others drive a terminal, have no width, or turn the direction of what follows (Unicode's `Cc` and the
/// common characters of `Cf`, `Zl` and `Zp`).
fn is_harmless(c: char) -> bool {
    !(c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}')
        || ('\u{200b}'..='\u{200f}').contains(&c)
        || ('\u{2028}'..='\u{202e}').contains(&c)
        || ('\u{2060}'..='\u{206f}').contains(&c)
        || ('\u{fff9}'..='\u{fffb}').contains(&c)
        || ('\u{e0000}'..='\u{e007f}').contains(&c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_drives_the_terminal_or_turns_the_direction() {
        let hostile = "a\u{1b}]0;x\u{7}\u{9b}2J\u{202e}b\r\n";
        assert_eq!(
            Plain::name(hostile).as_str(),
            "a\\u{1b}]0;x\\u{7}\\u{9b}2J\\u{202e}b\\r\\n"
        );
        assert_eq!(Plain::lines("one\ntwo\n", 100).as_str(), "one\ntwo");
        assert_eq!(Plain::name("Grüße, 世界").as_str(), "Grüße, 世界");
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(Plain::line("äöü", 3).as_str(), "äöü");
        assert_eq!(Plain::line("äöüß", 3).as_str(), "äöü…");
        let most = Plain::name(&"\u{1b}".repeat(100_000));
        assert!(most.as_str().len() <= 8 * NAME);
    }
}
