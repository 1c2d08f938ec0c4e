//! Copies of a source: one file that was compiled under several paths, as a header is that packages bring along or a
//! build installs.
//!
//! Copies have the same base name and the same content. The content is known by its MD5: the debug information's where
//! the compiler has noted one, else that of the file under the compiler's path, as far as there is one.

use crate::Module;
use crate::dwarf::Dwarf;
use crate::sources::{Source, md5_of};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What the content of a source may be: the MD5 of what is there now, and of what was compiled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contents(BTreeSet<[u8; 16]>);

/// More copies of a file are not looked for in a module.
const MOST_COPIES: usize = 64;

/// No source is longer; longer files aren't read, in bytes.
const LONGEST_SOURCE: u64 = 64 << 20;

impl Contents {
    /// Of a file as it is now, if it is on this machine.
    pub fn of_file(file: &Path) -> Contents {
        Contents(content_of(file).into_iter().collect())
    }

    /// Adds what a module says was compiled as `file`.
    pub fn add_compiled(&mut self, module: &Module, file: &Path) {
        self.0.extend(module.compiled_as(file));
    }

    fn have(&self, source: &Source) -> bool {
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
    fn sources_called(&self, base: &[u8]) -> Vec<Source> {
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

impl Module {
    /// The MD5s of what was compiled as `file`, which is found as [`Module::lookup_line`] finds it.
    fn compiled_as(&self, file: &Path) -> Vec<[u8; 16]> {
        self.dwarf(|dwarf| {
            let named = dwarf.units_with_file(file);
            let sum = |unit: u32, numbers: &[u32]| {
                let root = dwarf.root(unit)?;
                numbers.iter().find_map(|number| root.checksum(*number))
            };
            let sums = named
                .iter()
                .filter_map(|named| sum(named.unit.index, &named.numbers));
            sums.collect()
        })
    }

    /// The paths of other sources that are called as `file` is and have such contents, at most a few dozens.
    pub fn copies(&self, file: &Path, contents: &Contents) -> Vec<PathBuf> {
        let Some(base) = file.file_name().map(OsStrExt::as_bytes) else {
            return Vec::new();
        };
        let called = self.dwarf(|dwarf| match dwarf.may_name(file) {
            true => dwarf.sources_called(base),
            false => Vec::new(),
        });
        let others = called.iter().filter(|source| *source.path != *file);
        let copies = others.filter(|source| contents.have(source));
        let paths = copies.map(|source| source.path.to_path_buf());
        paths.take(MOST_COPIES).collect()
    }
}
