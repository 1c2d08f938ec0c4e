//! The source text around a line.
//!
//! Files are read once and cached; the error says why a file can't be shown. The text is untrusted: control characters are shown as `·`, so
//! that a source file can't drive the terminal, and tabs become spaces.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{anyhow, bail};

use super::SourceFolders;

/// Source files larger than this, in bytes, are not read, because no human wrote them.
const MAX_SIZE: u64 = 32 << 20;

/// A cache of source texts by path.
#[derive(Default)]
pub struct Sources {
    files: HashMap<PathBuf, Rc<Vec<String>>>,
    far: Option<Box<Far>>,
}

/// Gets the text of a file on another machine, if there is such a file.
type Far = dyn Fn(&Path) -> Option<String>;

impl Sources {
    /// Takes texts from another machine, but for folders that the user has mapped to this one. What isn't there may be here: the program may have been
    /// compiled here.
    pub fn take_from(
        &mut self,
        far: impl Fn(&Path) -> Option<String> + 'static,
        maps: &[SourceFolders],
    ) {
        self.files.clear();
        let folders: Vec<PathBuf> = maps.iter().map(|map| PathBuf::from(&map.to)).collect();
        self.far = Some(Box::new(move |path| {
            let is_here = folders.iter().any(|folder| path.starts_with(folder));
            (!is_here).then(|| far(path)).flatten()
        }));
    }

    /// A file's lines.
    pub fn lines(&mut self, path: &Path) -> anyhow::Result<Rc<Vec<String>>> {
        if let Some(lines) = self.files.get(path) {
            return Ok(Rc::clone(lines));
        }
        if let Some(text) = self.far.as_ref().and_then(|far| far(path)) {
            return Ok(self.insert(path.to_owned(), &text));
        }
        let shown = super::render::path(path);
        let unreadable =
            |error: std::io::Error| anyhow!("no text for {shown}: {}", super::plain(&error));
        let size = std::fs::metadata(path).map_err(unreadable)?.len();
        if size > MAX_SIZE {
            bail!("{shown} is too large to show ({} MiB)", size >> 20);
        }
        let bytes = std::fs::read(path).map_err(unreadable)?;
        Ok(self.insert(path.to_owned(), &String::from_utf8_lossy(&bytes)))
    }

    /// Caches a text under `path`, and returns its lines.
    pub fn insert(&mut self, path: PathBuf, text: &str) -> Rc<Vec<String>> {
        let lines = Rc::new(text.lines().map(printable).collect::<Vec<_>>());
        self.files.insert(path, Rc::clone(&lines));
        lines
    }

    /// Clears the cache, so that edited files are read again.
    pub fn clear(&mut self) {
        self.files.clear();
    }
}

/// The line, from 1, at which a function's body appears to begin; `None` if no line appears to define the function.
///
/// For adapters without function breakpoints. It parses no grammar: it looks for `fn NAME` as in Rust, or for an unindented line as in C and
/// C++, with something before `NAME(` and no `;` at the end. The body begins at the first `{` on that line or the 19 after it. If there is
/// none, the result is the line itself.
pub fn find_definition(lines: &[String], name: &str) -> Option<usize> {
    if name.is_empty() {
        return None;
    }
    let found = lines.iter().position(|line| {
        let code = line.split("//").next().unwrap_or(line);
        word_positions(code, name).any(|at| {
            let (before, after) = (code[..at].trim_end(), code[at + name.len()..].trim_start());
            let rust = before.ends_with("fn") && (after.starts_with('(') || after.starts_with('<'));
            let c = after.starts_with('(')
                && !code.trim_end().ends_with(';')
                && !code.starts_with([' ', '\t', '#'])
                && before.ends_with(|c: char| c.is_alphanumeric() || "_*&>:".contains(c))
                && !before.ends_with("return");
            rust || c
        })
    });
    let found = found?;
    let brace = lines[found..]
        .iter()
        .take(20)
        .position(|line| line.contains('{'));
    Some(found + brace.unwrap_or(0) + 1)
}

/// The positions of `word` in `text` as a whole word.
fn word_positions<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .map(|(at, _)| at)
        .filter(move |&at| {
            !text[..at].ends_with(part_of_word)
                && !text[at + word.len()..].starts_with(part_of_word)
        })
}

fn printable(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        match c {
            '\t' => out.push_str("    "),
            c if c.is_control() => out.push('·'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(printable).collect()
    }

    #[test]
    fn definitions_are_told_from_calls_and_declarations() {
        let rust = lines("// fn main\nfn domain() {}\nasync fn main<T>() {\n    main();\n}");
        assert_eq!(find_definition(&rust, "main"), Some(3));
        let c = lines(
            "int area(int w);\n  x = area(1);\nstatic int *area(int w)\n{\n    return area(2)",
        );
        assert_eq!(find_definition(&c, "area"), Some(4));
        assert_eq!(find_definition(&c, "are"), None);
        assert_eq!(find_definition(&c, ""), None);
    }
}
