//! Finds copies of a source file: one file compiled under several paths, such as a header that packages bundle or that a
//! build installs.
//!
//! Copies have the same base name and the same content. Contents are compared by MD5: the one in the debug information,
//! or if there is none, that of the file at the path in the debug information.

use crate::dwarf::Dwarf;
use crate::sources::{Source, md5_of};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The MD5s of a source file's possible contents: of the file as it is now, and as it was compiled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contents(pub(crate) BTreeSet<[u8; 16]>);

/// The maximum of copies found in one module.
pub(crate) const MOST_COPIES: usize = 64;

/// In bytes; larger files aren't read.
const LONGEST_SOURCE: u64 = 64 << 20;

impl Contents {
    /// The content of a file as it is now; empty if it isn't on this machine or can't be read.
    pub fn of_file(file: &Path) -> Contents {
        Contents(content_of(file).into_iter().collect())
    }

    pub(crate) fn have(&self, source: &Source) -> bool {
        let content = source.checksum.or_else(|| content_of(&source.path));
        content.is_some_and(|content| self.0.contains(&content))
    }
}

fn content_of(file: &Path) -> Option<[u8; 16]> {
    // The folder that a relative path starts from is unknown.
    let metadata = file.is_absolute().then(|| file.metadata().ok())??;
    let is_read = metadata.is_file() && metadata.len() <= LONGEST_SOURCE;
    is_read.then(|| md5_of(file).ok()).flatten()
}

impl Dwarf<'_> {
    /// The sources with this base name, each once.
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
