//! The files that belong to a module beside the one that is loaded: which were looked for, where, and with what result.

use std::path::{Path, PathBuf};

/// What was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Companion {
    /// The file that has the debug information of a stripped one, by build id or `.gnu_debuglink`.
    DebugFile,
    /// The entries of one unit (`.dwo`), under the name its skeleton gives (DWARF 5 §7.3.5).
    SplitUnit(PathBuf),
    /// All split units of a program in one file (`.dwp`).
    Package,
    /// The compressed symbols inside the loaded file (`.gnu_debugdata`).
    MiniDebugInfo,
    /// What `dwz` moved out of several files into one (DWARF 5 §7.3.6).
    Supplementary,
}

/// What came of looking at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It is there and in use.
    Found,
    /// There is no such file.
    Missing,
    /// There is a file, which belongs to another build; the text says how that was seen.
    Mismatched(String),
    /// There is a file that can't be used; the text says why.
    Unusable(String),
}

/// One place that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    /// What was looked for.
    pub what: Companion,
    /// The path that was tried.
    pub path: PathBuf,
    /// What came of it.
    pub outcome: Outcome,
}

impl Outcome {
    /// For a sentence: `/tmp/a.dwo (no such file)`.
    pub(crate) fn at(&self, path: &Path) -> String {
        let reason = match self {
            Outcome::Found => "found",
            Outcome::Missing => "no such file",
            Outcome::Mismatched(reason) | Outcome::Unusable(reason) => reason,
        };
        format!("{} ({reason})", path.display())
    }
}
