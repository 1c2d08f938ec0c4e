//! lldb's `breakpoint set` with its usual options, as a `break` of ours.

use anyhow::{Context, bail};

use crate::debug::shell_words;

const NAMES: [&str; 4] = ["breakpoint set", "break set", "br set", "br s"];

/// What the options say.
#[derive(Debug, Default)]
struct Wanted {
    place: Option<String>,
    file: Option<String>,
    line: Option<String>,
    condition: Option<String>,
    thread: Option<String>,
    is_once: bool,
    exceptions: Option<String>,
}

/// The command of ours for a line with options; `None` if it isn't of that form.
///
/// # Errors
/// An option means nothing here, or they don't say where.
pub(super) fn translated(line: &str) -> anyhow::Result<Option<String>> {
    let rest = { NAMES.iter() }.find_map(|name| line.strip_prefix(name)?.strip_prefix(' '));
    let Some(rest) = rest.filter(|rest| rest.trim_start().starts_with('-')) else {
        return Ok(None);
    };
    Ok(Some(parse(&shell_words::split(rest)?.args)?.command()?))
}

fn parse(words: &[String]) -> anyhow::Result<Wanted> {
    let mut wanted = Wanted::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (option, value) = match word.split_once('=').filter(|_| word.starts_with("--")) {
            Some((option, value)) => (option, value.to_owned()),
            None => {
                let value = words.next();
                let value = value.with_context(|| format!("`{word}` lacks a value"))?;
                (word.as_str(), value.clone())
            }
        };
        match option {
            "-n" | "--name" | "-b" | "--basename" | "-F" | "--fullname" | "-M" | "--method" => {
                wanted.place = Some(value);
            }
            "-r" | "--func-regex" => wanted.place = Some(format!("/re {value}")),
            "-a" | "--address" => wanted.place = Some(format!("*{value}")),
            "-f" | "--file" => wanted.file = Some(value),
            "-l" | "--line" => wanted.line = Some(value),
            "-c" | "--condition" => wanted.condition = Some(value),
            "-t" | "--thread-id" => wanted.thread = Some(value),
            "-o" | "--one-shot" => wanted.is_once = matches!(&*value, "true" | "1" | "yes" | "on"),
            "-E" | "--language-exception" => wanted.exceptions = Some(value),
            _ => bail!(
                "`{option}` of `breakpoint set` means nothing here; `help break` says what there is"
            ),
        }
    }
    Ok(wanted)
}

impl Wanted {
    fn command(self) -> anyhow::Result<String> {
        match self.exceptions.as_deref() {
            Some("c++" | "cpp") => return Ok("catch cpp_throw".to_owned()),
            Some("rust") => return Ok("catch rust_panic".to_owned()),
            Some(_) => bail!("only exceptions of `c++` and `rust` are known; `catch` lists them"),
            None => {}
        }
        let place = match (self.place, self.file, self.line) {
            (Some(place), None, None) => place,
            (None, Some(file), Some(line)) => format!("{file}:{line}"),
            (None, None, Some(line)) => line,
            _ => bail!("break where? `breakpoint set -n NAME` or `breakpoint set -f FILE -l LINE`"),
        };
        let name = if self.is_once { "tbreak" } else { "break" };
        let thread = { self.thread }.map_or_else(String::new, |it| format!(" thread {it}"));
        let condition = { self.condition }.map_or_else(String::new, |it| format!(" if {it}"));
        Ok(format!("{name} {place}{thread}{condition}"))
    }
}
