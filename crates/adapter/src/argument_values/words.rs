//! Values in the syntax of a shell: a line of words, and a file of environment variables.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

/// The largest file that is read, in bytes. With the usual stack limit, the kernel accepts fewer bytes of variables (execve(2)).
const MOST_BYTES: u64 = 4 << 20;

/// Splits a line into words as a POSIX shell does, with quotes and backslashes, but without expansions, operators and comments.
///
/// The crates `shlex` and `shell-words` take a word that begins with `#`, and all words after it, as a comment: `--colour #f00` would
/// silently lose its argument. Nor do they say which quote is open, and where.
///
/// # Errors
/// A quote is not closed, or a backslash is at the end.
pub fn split_words(line: &str) -> Result<Vec<OsString>, String> {
    let mut words = Vec::new();
    let mut at = next_shell_word(line, 0);
    while at < line.len() {
        let (word, end) = shell_word_at(line, at, |_| false)?;
        words.push(word.into());
        at = next_shell_word(line, end);
    }
    Ok(words)
}

/// Where the next word begins from here on: behind blanks, and line breaks with a backslash. The line's end if there is none.
pub fn next_shell_word(line: &str, from: usize) -> usize {
    let mut rest = line[from..].trim_start();
    while let Some(after) = rest.strip_prefix("\\\n") {
        rest = after.trim_start();
    }
    line.len() - rest.len()
}

/// The word that begins at a position of a line, without its quotes and backslashes, and where it ends: at a blank, at a character that `ends` it
/// outside of quotes, or with the line.
///
/// # Errors
/// A quote is not closed, or a backslash is at the end.
pub fn shell_word_at(
    line: &str,
    start: usize,
    ends: impl Fn(char) -> bool,
) -> Result<(String, usize), String> {
    let mut word = String::new();
    let mut characters = line[start..].char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\'' | '"' => {
                let open = || {
                    let before = line[..start + at].chars().count();
                    format!(
                        "the quotation mark {character} at position {} has no second one",
                        before + 1
                    )
                };
                loop {
                    match characters.next().ok_or_else(open)?.1 {
                        end if end == character => break,
                        '\\' if character == '"' => match characters.next().ok_or_else(open)?.1 {
                            special @ ('"' | '\\' | '$' | '`') => word.push(special),
                            '\n' => {}
                            other => word.extend(['\\', other]),
                        },
                        other => word.push(other),
                    }
                }
            }
            '\\' => match characters.next() {
                Some((_, '\n')) => {}
                Some((_, next)) => word.push(next),
                None => return Err("it ends in a backslash".into()),
            },
            other if other.is_whitespace() || ends(other) => return Ok((word, start + at)),
            other => word.push(other),
        }
    }
    Ok((word, line.len()))
}

/// The variables of a file: a `NAME=value` on each line, with or without `export` before it, the value with or without quotation
/// marks. `#` begins a comment at the start of a line, and after a space behind a value without quotation marks.
///
/// # Errors
/// The file can't be read, or a line has another form.
pub fn variables_of(path: &Path) -> Result<Vec<(OsString, Option<OsString>)>, String> {
    let label = format!("`envFile` {}", path.display());
    let text = text_of(path).map_err(|error| format!("{label}: {error}"))?;
    let mut variables = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, value) = variable(line)
            .ok_or_else(|| format!("{label}: line {} must have the form NAME=value", index + 1))?;
        variables.push((name.into(), Some(value.into())));
    }
    Ok(variables)
}

/// The content of a regular file.
///
/// # Errors
/// The file can't be read, is too large, or is no regular file.
pub fn text_of(path: &Path) -> Result<String, String> {
    let metadata = fs::metadata(path).map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is no regular file".into());
    }
    if metadata.len() > MOST_BYTES {
        return Err(format!("it has more than {MOST_BYTES} bytes"));
    }
    fs::read_to_string(path).map_err(|error| error.to_string())
}

fn variable(line: &str) -> Option<(&str, String)> {
    let (name, value) = line.split_once('=')?;
    let name = name.strip_prefix("export ").unwrap_or(name).trim();
    let good = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    if name.is_empty() || !name.chars().all(good) || value.contains('\0') {
        return None;
    }
    let value = value.trim();
    let quoted = value
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    let plain = value
        .strip_prefix('\'')
        .and_then(|rest| rest.strip_suffix('\''));
    Some(match (quoted, plain) {
        (Some(text), _) => (name, unescaped(text)),
        (_, Some(text)) => (name, text.to_owned()),
        _ => {
            let end = value.find(" #").unwrap_or(value.len());
            (name, value[..end].trim_end().to_owned())
        }
    })
}

fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('n') => plain.push('\n'),
                Some('t') => plain.push('\t'),
                Some(other) => plain.push(other),
                None => plain.push('\\'),
            },
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_as_a_shell_does() {
        for (line, words) in [
            ("", &[][..]),
            ("  a  b ", &["a", "b"]),
            ("'a b' \"c d\"e", &["a b", "c de"]),
            (r#"a\ b "\"x\" \n" '\'"#, &["a b", r#""x" \n"#, r"\"]),
            ("''", &[""]),
            ("--x=$HOME *", &["--x=$HOME", "*"]),
            ("--colour #f00 x", &["--colour", "#f00", "x"]),
            ("a \\\n b\\\nc \\\n", &["a", "bc"]),
        ] {
            assert_eq!(split_words(line).expect("valid"), words, "{line}");
        }
        assert!(split_words("a \"b").is_err());
        assert!(split_words("a\\").is_err());
    }

    #[test]
    fn a_line_of_variables_is_read_in_all_its_forms() {
        for (line, expected) in [
            ("A=1", Some(("A", "1"))),
            ("export A = b c # comment", Some(("A", "b c"))),
            ("A='#x $y'", Some(("A", "#x $y"))),
            (r#"A="x\ny \"z\"""#, Some(("A", "x\ny \"z\""))),
            ("A=", Some(("A", ""))),
            ("=x", None),
            ("A B=x", None),
            ("nothing", None),
        ] {
            let read = variable(line);
            let read = read.as_ref().map(|(name, value)| (*name, value.as_str()));
            assert_eq!(read, expected, "{line}");
        }
    }
}
