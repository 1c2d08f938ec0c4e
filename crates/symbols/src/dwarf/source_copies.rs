//! Copies of a source: one file that was compiled under several paths, as a header is that packages bring along or a
//! build installs.
//!
//! Copies have the same base name and the same content. The content is known by its MD5: the debug information's where
//! the compiler has noted one, else that of the file under the compiler's path, as far as there is one.

use crate::dwarf::Dwarf;
use crate::sources::{Source, md5_of};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What the content of a source may be: the MD5 of what is there now, and of what was compiled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contents(pub(crate) BTreeSet<[u8; 16]>);

/// More copies of a file are not looked for in a module.
pub(crate) const MOST_COPIES: usize = 64;

/// No source is longer; longer files aren't read, in bytes.
const LONGEST_SOURCE: u64 = 64 << 20;

impl Contents {
    /// Of a file as it is now, if it is on this machine.
    pub fn of_file(file: &Path) -> Contents {
        Contents(content_of(file).into_iter().collect())
    }

    pub(crate) fn have(&self, source: &Source) -> bool {
        let content = source.checksum.or_else(|| content_of(&source.path));
        content.is_some_and(|content| self.0.contains(&content))
    }
}

fn content_of(file: &Path) -> Option<[u8; 16]> {
    // A relative path is from a folder that isn't known.
    let metadata = file.is_absolute().then(|| file.metadata().ok())??;
    let is_read = metadata.is_file() && metadata.len() <= LONGEST_SOURCE;
    is_read.then(|| md5_of(file).ok()).flatten()
}

impl Dwarf<'_> {
    /// The sources of that base name, each once.
    pub(crate) fn sources_called(&self, base: &[u8]) -> Vec<Source> {
        let mut sources: BTreeMap<PathBuf, Option<[u8; 16]>> = BTreeMap::new();
        for (unit, file) in self.files_called(base).iter() {
            let known = sources.entry(file.path.clone()).or_default();
            *known = known.or_else(|| self.root(*unit)?.checksum(file.number));
        }
        let source = |(path, checksum): (PathBuf, _)| Source {
            path: path.into(),
            checksum,
        };
        sources.into_iter().map(source).collect()
    }
}
