//! Texts and characters in quotes: readable characters are shown, invisible ones are escaped.
//!
//! Escaped are control characters, bidirectional controls (they reorder the text around them), unassigned and private characters, spaces
//! that look like another one, and joiners and marks that have no character before them. Combining marks, joiners and variation selectors
//! after their character are shown: Hindi, Thai, vocalised Arabic, decomposed Latin and emoji need them.

/// How control characters are escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Controls {
    /// `\x1b`, as C and C++ do.
    Bytes,
    /// `\u{1b}`, as Rust does.
    Scalars,
}

/// What precedes a character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Nothing that a mark can belong to: the beginning, or something escaped.
    Nothing,
    /// A character that marks can follow.
    Character(char),
}

/// Quotes a text of C or C++: valid UTF-8 is shown, other bytes are escaped.
pub(crate) fn quote(bytes: &[u8]) -> String {
    quote_with(bytes, Controls::Bytes)
}

/// As [`quote`], with control characters escaped as `controls` says.
pub(crate) fn quote_with(bytes: &[u8], controls: Controls) -> String {
    let mut text = String::with_capacity(bytes.len() + 2);
    text.push('"');
    let mut before = Before::Nothing;
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            before = match c {
                '\'' => {
                    text.push('\'');
                    Before::Character(c)
                }
                c => push(&mut text, c, before, controls),
            };
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
            before = Before::Nothing;
        }
    }
    text.push('"');
    text
}

/// A character in single quotes; if the code is no character, the escaped code.
pub(crate) fn quote_char(code: u32) -> String {
    let mut text = String::from('\'');
    match char::from_u32(code) {
        Some('"') => text.push('"'),
        Some(c) => {
            push(&mut text, c, Before::Nothing, Controls::Bytes);
        }
        None => text.push_str(&format!("\\u{{{code:x}}}")),
    }
    text.push('\'');
    text
}

/// Writes a character, escaped if necessary. Returns it as what precedes the next character.
fn push(text: &mut String, c: char, before: Before, controls: Controls) -> Before {
    match c {
        '\0' => text.push_str("\\0"),
        c if c.is_ascii_control()
            && !matches!(c, '\n' | '\t' | '\r')
            && controls == Controls::Bytes =>
        {
            text.push_str(&format!("\\x{:02x}", u32::from(c)));
        }
        ' '..='~' if !matches!(c, '"' | '\'' | '\\') => {
            text.push(c);
            return Before::Character(c);
        }
        c if c.is_ascii() => {
            text.extend(c.escape_debug());
            if matches!(c, '"' | '\'' | '\\') {
                return Before::Character(c);
            }
        }
        c if is_shown(c, before) => {
            text.push(c);
            return Before::Character(c);
        }
        c => text.extend(c.escape_unicode()),
    }
    Before::Nothing
}

/// Whether a character is readable after `before`.
fn is_shown(c: char, before: Before) -> bool {
    let Before::Character(base) = before else {
        return is_shown_alone(c);
    };
    match c {
        // Joiners are invisible between ASCII characters; scripts and emoji need them.
        '\u{200c}' | '\u{200d}' => !base.is_ascii(),
        // The tag characters of a flag, such as England's.
        '\u{e0020}'..='\u{e007f}' => matches!(base, '\u{1f3f4}' | '\u{e0020}'..='\u{e007e}'),
        c => is_shown_alone(c) || is_printable(c),
    }
}

/// Whether a character is readable on its own.
fn is_shown_alone(c: char) -> bool {
    match c {
        // The ideographic space is visibly different from other spaces.
        '\u{3000}' => true,
        // Signs before or around numbers. They are visible in spite of their category, format.
        '\u{600}'..='\u{605}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}' => true,
        '\u{8e2}' | '\u{110bd}' | '\u{110cd}' => true,
        c => c.escape_debug().next() == Some(c),
    }
}

/// Whether a character is assigned and visible, combining marks included.
fn is_printable(c: char) -> bool {
    // `escape_debug` escapes combining marks only at the beginning of a string.
    let mut buffer = [b'a'; 5];
    let length = c.encode_utf8(&mut buffer[1..]).len();
    let text = std::str::from_utf8(&buffer[..=length]).unwrap_or_default();
    text.escape_debug().nth(1) == Some(c)
}

#[cfg(test)]
mod tests {
    use super::{Controls, quote, quote_char, quote_with};

    #[test]
    fn what_can_be_read_is_shown_as_it_is() {
        let texts = [
            "नमस्ते दुनिया",
            "สวัสดีชาวโลก ที่นี่",
            "السَّلَامُ عَلَيْكُمْ",
            "می\u{200c}خواهم",
            "בְּרֵאשִׁית בָּרָא",
            "e\u{301}te\u{301} A\u{30a}ngstro\u{308}m",
            "👩\u{200d}👩\u{200d}👧 ❤\u{fe0f} 1\u{fe0f}\u{20e3} 👍🏽 🇩🇪",
            "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
            "葛\u{e0100}城 東京\u{3000}タワー 한국어",
            "Việt Nam, grüß, 'x', \u{6dd}",
        ];
        for text in texts {
            assert_eq!(quote(text.as_bytes()), format!("\"{text}\""));
            let rust = quote_with(text.as_bytes(), Controls::Scalars);
            assert_eq!(rust, format!("\"{text}\""));
        }
    }

    #[test]
    fn what_can_not_be_seen_is_escaped() {
        let texts = [
            ("\u{301}e", r#""\u{301}e""#),
            ("a\n\u{301}", r#""a\n\u{301}""#),
            ("\u{200d}a\u{200c}b", r#""\u{200d}a\u{200c}b""#),
            ("user\u{202e}txt.exe", r#""user\u{202e}txt.exe""#),
            (
                "a\u{200f}b\u{2066}c\u{61c}",
                r#""a\u{200f}b\u{2066}c\u{61c}""#,
            ),
            (
                "a\u{a0}b\u{ad}c\u{feff}\u{2028}",
                r#""a\u{a0}b\u{ad}c\u{feff}\u{2028}""#,
            ),
            (
                "\u{e000}\u{10ffff}\u{378}\u{85}",
                r#""\u{e000}\u{10ffff}\u{378}\u{85}""#,
            ),
            ("a\u{e0061}", r#""a\u{e0061}""#),
            ("\u{e000}\u{301}", r#""\u{e000}\u{301}""#),
        ];
        for (text, expected) in texts {
            assert_eq!(quote(text.as_bytes()), expected);
        }
        assert_eq!(quote(b"e\xff\xcc\x81"), r#""e\xff\u{301}""#);
        assert_eq!(quote(b"\"\\\t\0\x1b\x7f"), r#""\"\\\t\0\x1b\x7f""#);
        assert_eq!(quote_char(0x301), r"'\u{301}'");
        assert_eq!(quote_char(0x915), "'क'");
        assert_eq!(quote_char(0xd800), r"'\u{d800}'");
        assert_eq!([quote_char(0x22), quote_char(0x27)], ["'\"'", r"'\''"]);
    }

    /// All characters except those that this module shows and Rust escapes.
    #[test]
    fn other_characters_are_escaped_as_rust_does() {
        for c in (0..0x11_0000).filter_map(char::from_u32) {
            let text = quote_with(c.encode_utf8(&mut [0; 4]).as_bytes(), Controls::Scalars);
            if text != format!("\"{c}\"") || c.is_ascii() {
                let mut alone = [0; 4];
                assert_eq!(text, format!("{:?}", &*c.encode_utf8(&mut alone)));
            }
        }
    }
}
