//! Sources for a client on another machine, which can't open the files that are on this one.
//!
//! A file that exists here, and that the user hasn't mapped to a folder of the client's machine (`sourceMap`), gets a `sourceReference`: the
//! client asks for its text by the `source` request. A file that the client has set breakpoints in by its path is one that the client has itself.

use dapple_dap::server::References;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The first `sourceReference` of such files. Those of disassemblies and of fetched sources are below.
pub const FIRST: i64 = 3 << 29;
/// The most files that get a reference in a session.
const MOST: usize = 100_000;

/// The files that were given a reference.
#[derive(Debug)]
pub struct FarSources(Mutex<Given>);

#[derive(Debug)]
struct Given {
    files: References<PathBuf>,
    numbers: HashMap<PathBuf, i64>,
}

impl Default for FarSources {
    fn default() -> Self {
        FarSources(Mutex::new(Given {
            files: References::within(FIRST..=i64::MAX),
            numbers: HashMap::new(),
        }))
    }
}

impl FarSources {
    /// The reference of a file on this machine; the same one for the whole session. `None`: too many have one.
    pub fn reference(&self, file: &Path) -> Option<i64> {
        let mut given = self.given();
        if let Some(known) = given.numbers.get(file) {
            return Some(*known);
        }
        if given.numbers.len() >= MOST {
            return None;
        }
        let number = given.files.insert_lasting(file.to_owned()).ok()?;
        given.numbers.insert(file.to_owned(), number);
        Some(number)
    }

    /// The file on this machine that a reference stands for.
    pub fn file(&self, reference: i64) -> Option<PathBuf> {
        self.given().files.get(reference).ok().cloned()
    }

    fn given(&self) -> MutexGuard<'_, Given> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_keeps_its_reference() {
        let sources = FarSources::default();
        let (a, b) = (Path::new("/a.c"), Path::new("/b.c"));
        let first = sources.reference(a).expect("a reference");
        assert!(first >= FIRST && sources.reference(b) != Some(first));
        assert_eq!(sources.reference(a), Some(first));
        assert_eq!(sources.file(first).as_deref(), Some(a));
        assert_eq!(sources.file(1), None);
    }
}
