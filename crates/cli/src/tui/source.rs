//! The source text that is shown, and its colours.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::debug::source_colours::{self, BEFORE, Pieces};
use crate::debug::source_view::Sources;

/// So many lines get their colours at once.
const CHUNK: usize = 200;

/// The source text.
#[derive(Default)]
pub struct Source {
    files: Sources,
    /// The file.
    pub path: Option<PathBuf>,
    /// Its lines.
    pub lines: Rc<Vec<String>>,
    /// Why it can't be shown.
    pub problem: Option<String>,
    /// The pieces of its lines, by chunks.
    chunks: HashMap<usize, Vec<Pieces>>,
}

impl Source {
    /// Shows a file.
    pub fn open(&mut self, path: &Path) {
        if self.path.as_deref() == Some(path) && self.problem.is_none() {
            return;
        }
        self.chunks.clear();
        self.path = Some(path.to_owned());
        let read = self.files.lines(path);
        self.problem = read.as_ref().err().map(|error| format!("{error:#}"));
        self.lines = read.unwrap_or_default();
    }

    /// Reads files anew from now on: they may have been edited.
    pub fn reload(&mut self) {
        self.files.clear();
        if let Some(path) = self.path.take() {
            self.open(&path);
        }
    }

    /// Finds the colours of some lines, from 0.
    pub fn colour(&mut self, first: usize, count: usize) {
        let Some(path) = &self.path else { return };
        let end = first.saturating_add(count).min(self.lines.len());
        for chunk in first / CHUNK..=end / CHUNK {
            let (start, end) = (chunk * CHUNK, ((chunk + 1) * CHUNK).min(self.lines.len()));
            if start >= end || self.chunks.contains_key(&chunk) {
                continue;
            }
            let read = &self.lines[start.saturating_sub(BEFORE)..end];
            let pieces = source_colours::pieces(path, read, end - start);
            self.chunks.insert(chunk, pieces.unwrap_or_default());
        }
    }

    /// The pieces of a line, from 0, if its colours are known.
    pub fn pieces(&self, line: usize) -> Option<&Pieces> {
        self.chunks.get(&(line / CHUNK))?.get(line % CHUNK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_shown_with_colours_and_a_missing_one_says_why() {
        let folder = std::env::temp_dir().join(format!("dapple-tui-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("long.rs");
        let text = format!("/*\n{}*/ let x = 1;\n", "text\n".repeat(250));
        std::fs::write(&path, text).expect("a file");
        let mut source = Source::default();
        source.open(&path);
        source.colour(240, 60);
        let comment = &source.pieces(240).expect("a line's pieces")[0];
        assert_eq!(comment.1, "text");
        assert!(comment.0.is_some(), "a comment that began in another chunk");
        assert!(source.pieces(300).is_none());
        source.open(&folder.join("none.rs"));
        assert!(
            source
                .problem
                .as_ref()
                .is_some_and(|it| it.contains("none.rs"))
        );
        std::fs::remove_dir_all(&folder).expect("the folder");
    }
}
