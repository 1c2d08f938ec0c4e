//! Natvis files that a Rust crate names: `#![debugger_visualizer(natvis_file = "…")]` in its root.
//!
//! rustc 1.95 embeds such a file in the program only on Windows; an ELF program contains nothing of it (seen with `readelf`, in programs
//! and in libraries linked into them). So this module reads the crate's root source file, which the debug information names, and then the
//! file itself. A GDB script (`gdb_script_file`) is embedded in the program for gdb; it is not run here.

use super::model::Version;
use crate::modules::LoadedModule;
use dapple_symbols::functions::Language;
use std::path::{Path, PathBuf};

/// The largest source file read, in bytes.
const MAX_SOURCE: u64 = 4 << 20;
/// The most crates of a module looked at.
const MAX_CRATES: usize = 4096;
/// The most files that one crate may name.
const MAX_FILES: usize = 64;

/// The files that a crate's root names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    pub natvis: Vec<PathBuf>,
    /// Scripts for gdb.
    pub scripts: Vec<PathBuf>,
}

/// The root source files of the Rust crates in a module, and the names of the crates.
pub(super) fn roots(module: &LoadedModule) -> Vec<(PathBuf, String)> {
    if module.is_distributions() || module.is_vdso() {
        return Vec::new();
    }
    let units = module.module.unit_names(Language::Rust).into_iter();
    let mut roots: Vec<(PathBuf, String)> = units
        .filter_map(|unit| {
            // `src/main.rs/@/app.7b0c1e74198190c6-cgu.0`
            let (root, unit) = unit.to_str()?.split_once("/@/")?;
            let (name, _) = unit.split_once('.')?;
            Some((PathBuf::from(root), name.to_owned()))
        })
        .collect();
    roots.sort_unstable();
    roots.dedup();
    roots.truncate(MAX_CRATES);
    roots
}

/// The version of a crate, if its sources are in a folder that is called by it, as those of a registry are: `time-0.3.55/src/lib.rs`.
pub(super) fn version_in(root: &Path) -> Option<Version> {
    let folders = root.ancestors().skip(1).take(3);
    let mut names = folders.filter_map(|folder| folder.file_name()?.to_str());
    names.find_map(|name| {
        let at = name
            .match_indices('-')
            .find(|(at, _)| name[at + 1..].starts_with(|c: char| c.is_ascii_digit()))?;
        super::parse::version(&name[at.0 + 1..])
    })
}

/// The files that a crate's root names. Empty if the source file is not available.
pub(super) fn named_in(root: &Path) -> Named {
    let mut named = Named::default();
    let is_source =
        std::fs::metadata(root).is_ok_and(|source| source.is_file() && source.len() <= MAX_SOURCE);
    let Some(text) = is_source
        .then(|| std::fs::read_to_string(root).ok())
        .flatten()
    else {
        return named;
    };
    let folder = root.parent().unwrap_or(root);
    for (kind, file) in attributes(&text) {
        let file = folder.join(file);
        match kind {
            Kind::Natvis => named.natvis.push(file),
            Kind::Script => named.scripts.push(file),
        }
    }
    named
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Natvis,
    Script,
}

/// The files named in a source file's attributes.
fn attributes(source: &str) -> Vec<(Kind, String)> {
    let mut found = Vec::new();
    let tokens = tokens(source);
    for (at, token) in tokens.iter().enumerate() {
        let Token::Word("debugger_visualizer") = token else {
            continue;
        };
        let [
            Token::Sign('('),
            Token::Word(kind),
            Token::Sign('='),
            Token::Text(file),
            ..,
        ] = &tokens[at + 1..]
        else {
            continue;
        };
        let kind = match *kind {
            "natvis_file" => Kind::Natvis,
            "gdb_script_file" => Kind::Script,
            _ => continue,
        };
        if found.len() < MAX_FILES && !file.is_empty() {
            found.push((kind, file.clone()));
        }
    }
    found
}

#[derive(Debug, PartialEq)]
enum Token<'s> {
    Word(&'s str),
    Text(String),
    Sign(char),
}

/// A minimal tokenizer for Rust, which tells attributes from comments and strings.
fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let after = if rest.starts_with("//") {
            rest.find('\n').map_or("", |end| &rest[end..])
        } else if rest.starts_with("/*") {
            behind_comment(rest)
        } else if let Some((text, after)) = text_at(rest) {
            tokens.push(Token::Text(text));
            after
        } else if is_word(first) {
            let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            tokens.push(Token::Word(&rest[..end]));
            &rest[end..]
        } else {
            if !first.is_whitespace() {
                tokens.push(Token::Sign(first));
            }
            // A quotation mark in a character literal doesn't begin a string.
            match rest.strip_prefix("'\"'").or(rest.strip_prefix("'\\\"'")) {
                Some(after) => after,
                None => &rest[first.len_utf8()..],
            }
        };
        rest = after;
    }
    tokens
}

/// The text after a block comment, which may contain nested ones.
fn behind_comment(source: &str) -> &str {
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(rest) = source.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    source.get(at..).unwrap_or_default()
}

/// The contents of the string literal that a source text begins with, and the text after it.
fn text_at(source: &str) -> Option<(String, &str)> {
    if let Some(raw) = source.strip_prefix('r') {
        let marks = raw.bytes().take_while(|byte| *byte == b'#').count();
        let text = raw[marks..].strip_prefix('"')?;
        let end = format!("\"{}", "#".repeat(marks));
        let at = text.find(&end)?;
        return Some((text[..at].to_owned(), &text[at + end.len()..]));
    }
    let inner = source.strip_prefix('"')?;
    let mut text = String::new();
    let mut chars = inner.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((text, &inner[at + 1..])),
            '\\' => text.extend(chars.next().map(|(_, escaped)| escaped)),
            c => text.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn attributes_are_told_from_comments_and_texts() {
        let source = r##"//! #![debugger_visualizer(natvis_file = "doc.natvis")]
/* /* nested */ #![debugger_visualizer(natvis_file = "comment.natvis")] */
#![debugger_visualizer(natvis_file = "../own.natvis")]
#![cfg_attr(debug_assertions, debugger_visualizer( natvis_file
    = r#"raw "one".natvis"#))]
#[debugger_visualizer(gdb_script_file = "own.py")]
mod inner {}
const TEXT: &str = "#![debugger_visualizer(natvis_file = \"text.natvis\")]";
const QUOTE: char = '"';
fn debugger_visualizer(natvis_file: &str) {}
#[debugger_visualizer(other = "x")]
"##;
        assert_eq!(
            attributes(source),
            [
                (Kind::Natvis, "../own.natvis".to_owned()),
                (Kind::Natvis, "raw \"one\".natvis".to_owned()),
                (Kind::Script, "own.py".to_owned()),
            ]
        );
    }

    proptest! {
        #[test]
        fn no_source_is_too_odd(source in "[ra#\"'/*\\\\é\n(=]{0,60}") {
            let _ = tokens(&source);
        }
    }
}
