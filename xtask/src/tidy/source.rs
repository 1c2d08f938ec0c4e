//! Splits a Rust file into code and comments, without parsing it.
//!
//! Rules search for words, and a word has different meanings in code and in comments and none in a string. Both views keep all lines in
//! place: text that does not belong to a view is blank in it.

/// A file with its views.
pub(crate) struct Source {
    /// The path from the workspace's root, with forward slashes.
    pub path: String,
    /// The whole text.
    pub text: String,
    /// Code without comments and without the contents of string and character literals. For files that are not Rust, the whole text.
    pub code: String,
    /// Comments only. Blank for files that are not Rust.
    pub comments: String,
    /// The line (from 0) at which test code starts; everything before it is shipped.
    pub tests_from: usize,
}

impl Source {
    pub(crate) fn new(path: &str, text: &str) -> Source {
        let (code, comments) = if path.ends_with(".rs") {
            split(text)
        } else {
            (text.to_owned(), String::new())
        };
        let is_test =
            path.contains("/tests/") || path.ends_with("/tests.rs") || path.ends_with("_tests.rs");
        let tests_from = if is_test {
            0
        } else {
            inline_tests(&code).unwrap_or(usize::MAX)
        };
        Source {
            path: path.to_owned(),
            text: text.to_owned(),
            code,
            comments,
            tests_from,
        }
    }

    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Whether the file is in the directory `folder`, which ends with a slash.
    pub(crate) fn is_in(&self, folder: &str) -> bool {
        self.path.starts_with(folder)
    }
}

/// The line of `#[cfg(test)]` or `#[cfg(all(test, …))]` before a module written in place.
fn inline_tests(code: &str) -> Option<usize> {
    let lines: Vec<&str> = code.lines().map(str::trim).collect();
    lines.iter().enumerate().position(|(i, line)| {
        (*line == "#[cfg(test)]" || line.starts_with("#[cfg(all(test, "))
            && lines[i + 1..]
                .iter()
                .find(|next| !next.is_empty() && !next.starts_with("#["))
                .is_some_and(|next| next.starts_with("mod ") && next.ends_with('{'))
    })
}

/// The lines (from 0) of `view` that contain `word` as a whole word.
pub(crate) fn lines_with<'v>(view: &'v str, word: &'v str) -> impl Iterator<Item = usize> + 'v {
    view.lines()
        .enumerate()
        .filter(move |(_, line)| has_word(line, word))
        .map(|(i, _)| i)
}

/// Whether `line` contains `word` as a whole word.
pub(crate) fn has_word(line: &str, word: &str) -> bool {
    let joins = |c: char| c.is_alphanumeric() || c == '_';
    let (starts, ends) = (word.starts_with(joins), word.ends_with(joins));
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back().is_some_and(joins);
        let after = line[at + word.len()..].chars().next().is_some_and(joins);
        !(starts && before || ends && after)
    })
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Code,
    Comment,
    Literal,
}

/// Splits a Rust text into its code view and its comment view.
fn split(text: &str) -> (String, String) {
    let bytes = text.as_bytes();
    let mut code = Vec::with_capacity(bytes.len());
    let mut comments = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let (part, end) = next_part(bytes, at);
        for &byte in &bytes[at..end] {
            let blank = if byte == b'\n' { b'\n' } else { b' ' };
            code.push(if part == Part::Code { byte } else { blank });
            comments.push(if part == Part::Comment { byte } else { blank });
        }
        at = end;
    }
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (text(code), text(comments))
}

/// The kind of the part that starts at `at`, and its end, which is always after `at`.
fn next_part(bytes: &[u8], at: usize) -> (Part, usize) {
    let rest = &bytes[at..];
    let in_word = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
    if rest.starts_with(b"//") {
        let length = rest
            .iter()
            .position(|&byte| byte == b'\n')
            .unwrap_or(rest.len());
        return (Part::Comment, at + length);
    }
    if rest.starts_with(b"/*") {
        return (Part::Comment, at + block_comment(rest));
    }
    let prefix = [&b"br"[..], b"cr", b"r"]
        .into_iter()
        .find(|prefix| rest.starts_with(prefix));
    if let Some(prefix) = prefix.filter(|_| !in_word) {
        let hashes = rest[prefix.len()..]
            .iter()
            .take_while(|&&byte| byte == b'#')
            .count();
        let quote = prefix.len() + hashes;
        if rest.get(quote) == Some(&b'"') {
            let close = [&b"\""[..], &b"#".repeat(hashes)].concat();
            let body = &rest[quote + 1..];
            let length = body
                .windows(close.len())
                .position(|window| window == close)
                .map_or(body.len(), |found| found + close.len());
            return (Part::Literal, at + quote + 1 + length);
        }
    }
    match rest[0] {
        b'"' => (Part::Literal, at + quoted(rest, b'"')),
        b'\'' => match character(rest) {
            Some(length) => (Part::Literal, at + length),
            None => (Part::Code, at + 1),
        },
        _ => (Part::Code, at + 1),
    }
}

fn block_comment(rest: &[u8]) -> usize {
    let mut depth = 0usize;
    let mut i = 0;
    while i < rest.len() {
        if rest[i..].starts_with(b"/*") {
            depth += 1;
            i += 2;
        } else if rest[i..].starts_with(b"*/") {
            depth -= 1;
            i += 2;
            if depth == 0 {
                return i;
            }
        } else {
            i += 1;
        }
    }
    rest.len()
}

/// The length of a literal with its quotes.
fn quoted(rest: &[u8], quote: u8) -> usize {
    let mut i = 1;
    while i < rest.len() {
        match rest[i] {
            b'\\' => i += 2,
            byte if byte == quote => return i + 1,
            _ => i += 1,
        }
    }
    rest.len()
}

/// The length of a character literal; `None` for a lifetime.
fn character(rest: &[u8]) -> Option<usize> {
    if rest.get(1) == Some(&b'\\') {
        return Some(quoted(rest, b'\''));
    }
    // One character, of up to four bytes, and the closing quote.
    let length = match rest.get(1)? {
        0..=0x7f => 1,
        0x80..=0xdf => 2,
        0xe0..=0xef => 3,
        _ => 4,
    };
    (rest.get(1 + length) == Some(&b'\'')).then_some(length + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn splits(text: &str, code: &str, comments: &str) {
        let (found_code, found_comments) = split(text);
        let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(squeezed(&found_code), code, "the code of {text}");
        assert_eq!(
            squeezed(&found_comments),
            comments,
            "the comments of {text}"
        );
        assert_eq!(
            found_code.lines().count(),
            text.lines().count(),
            "the lines of {text}"
        );
    }

    #[test]
    fn code_comments_and_literals_are_told_apart() {
        splits(
            "a // b\nc /* d /* e */ f */ g",
            "a c g",
            "// b /* d /* e */ f */",
        );
        splits(r#"a("b \" // c") d"#, "a( ) d", "");
        splits(r##"a(r#"b " // c"#) d r#type"##, "a( ) d r#type", "");
        splits(r"a('\'', '/', 'é', b'x') /*", "a( , , , b )", "/*");
        splits(
            "fn a<'b>(c: &'b str) {} // d",
            "fn a<'b>(c: &'b str) {}",
            "// d",
        );
        splits("for \"open", "for", "");
    }

    #[test]
    fn words_stand_alone() {
        assert!(has_word("a DAP b", "DAP"));
        assert!(has_word("(DAP)", "DAP"));
        assert!(!has_word("DAPPLE", "DAP"));
        assert!(!has_word("nanosleep(", "sleep("));
        assert!(has_word("thread::sleep(", "sleep("));
    }

    #[test]
    fn test_code_starts_at_the_module_in_place() {
        let text =
            "fn a() {}\n#[cfg(test)]\nmod tests;\n#[cfg(test)]\n#[rustfmt::skip]\nmod more {\n}\n";
        assert_eq!(Source::new("crates/a/src/lib.rs", text).tests_from, 3);
        assert_eq!(Source::new("crates/a/src/tests.rs", text).tests_from, 0);
        assert_eq!(Source::new("crates/a/tests/b.rs", text).tests_from, 0);
    }
}
