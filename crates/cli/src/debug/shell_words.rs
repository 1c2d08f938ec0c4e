//! Words of a line as a shell takes them: quoted, with redirections. Nothing is expanded, and there is no shell that could run anything else.

use std::path::PathBuf;

use anyhow::bail;
use dapple_adapter::{next_shell_word, shell_word_at};

use super::adapters::arguments::{OutputFile, Streams};

/// A program's arguments, and the files that its streams are redirected to.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// The arguments.
    pub args: Vec<String>,
    /// The redirections.
    pub streams: Streams,
}

/// One part of a line.
#[derive(Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    /// `<`, `>`, `>>`, `2>`, `2>>`, `2>&1` or `&>`.
    Redirection(&'static str),
}

/// The redirections, of which the longest that fits counts.
const REDIRECTIONS: [&str; 10] = [
    "2>&1", "2>>", "&>>", "1>>", "2>", "&>", ">>", "1>", ">", "<",
];

/// Splits a line.
///
/// # Errors
/// A quote has no end, a redirection has no file, or a character means something that only a shell can do.
pub fn split(line: &str) -> anyhow::Result<Words> {
    let mut words = Words::default();
    let mut tokens = tokens(line)?.into_iter();
    while let Some(token) = tokens.next() {
        let redirection = match token {
            Token::Word(word) => {
                words.args.push(word);
                continue;
            }
            Token::Redirection(redirection) => redirection,
        };
        let streams = &mut words.streams;
        if redirection == "2>&1" {
            streams.stderr.clone_from(&streams.stdout);
            continue;
        }
        let Some(Token::Word(file)) = tokens.next() else {
            bail!("`{redirection}` is followed by a file");
        };
        let output = OutputFile {
            file: PathBuf::from(&file),
            append: redirection.ends_with(">>"),
        };
        match redirection.as_bytes()[0] {
            b'<' => streams.stdin = Some(PathBuf::from(file)),
            b'2' => streams.stderr = Some(output),
            b'&' => {
                streams.stdout = Some(output.clone());
                streams.stderr = Some(output);
            }
            _ => streams.stdout = Some(output),
        }
    }
    Ok(words)
}

fn tokens(line: &str) -> anyhow::Result<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut at = next_shell_word(line, 0);
    while let Some(first) = line[at..].chars().next() {
        let known = REDIRECTIONS.iter().find(|it| line[at..].starts_with(**it));
        match (known, first) {
            (Some(known), _) => {
                tokens.push(Token::Redirection(known));
                at += known.len();
            }
            (None, '|' | ';' | '&' | '(' | ')' | '`') => {
                bail!("`{first}` needs a shell, and there is none here; quote it if it is meant")
            }
            (None, _) => {
                let ends = |c| matches!(c, '<' | '>' | '|' | ';' | '&');
                let (word, end) = shell_word_at(line, at, ends).map_err(anyhow::Error::msg)?;
                tokens.push(Token::Word(word));
                at = end;
            }
        }
        at = next_shell_word(line, at);
    }
    Ok(tokens)
}

/// A word as it can be given to [`split`].
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Vec<String> {
        split(line).expect("words").args
    }

    fn refused(line: &str) -> String {
        split(line).expect_err("no words").to_string()
    }

    #[test]
    fn quotes_keep_words_together() {
        let line = r#"--port 80 'a b' "say \"hi\" \n" c\ d e'f'"g" '' ü"#;
        let expected = [
            "--port",
            "80",
            "a b",
            r#"say "hi" \n"#,
            "c d",
            "efg",
            "",
            "ü",
        ];
        assert_eq!(args(line), expected);
        let open = "the quotation mark ' at position 4 has no second one";
        assert_eq!(refused("ü  'b"), open);
        assert!(refused("a \"b\\\"").contains("mark \""));
        assert_eq!(refused("a\\"), "it ends in a backslash");
        for word in ["a b", "", "it's", "$x", "x=1"] {
            assert_eq!(args(&quoted(word)), [word]);
        }
    }

    #[test]
    fn redirections_name_files() {
        let words = split("a <in >> out 2>'an error' b2>c").expect("words");
        assert_eq!(words.args, ["a", "b2"]);
        assert_eq!(words.streams.stdin, Some("in".into()));
        let output = |file: &str, append| {
            let file = file.into();
            Some(OutputFile { file, append })
        };
        assert_eq!(words.streams.stdout, output("c", false));
        assert_eq!(words.streams.stderr, output("an error", false));
        let both = split("> log 2>&1").expect("words").streams;
        assert_eq!(both.stderr, both.stdout);
        assert_eq!(
            split("&>>x").expect("words").streams.stderr,
            output("x", true)
        );
        assert_eq!(refused("a >"), "`>` is followed by a file");
        assert!(refused("a | b").starts_with("`|` needs a shell"));
        assert!(refused("a; b").starts_with("`;` needs a shell"));
        assert_eq!(args("'a|b' 12 \\;"), ["a|b", "12", ";"]);
    }
}
