//! The files besides the loaded one that belong to a module: which were searched for, where, and with what result.

use std::path::{Path, PathBuf};

/// The kind of file that was searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Companion {
    /// The separate debug information of a stripped file, found by build id or `.gnu_debuglink`.
    DebugFile,
    /// One split unit (`.dwo`), under the name that its skeleton unit gives (DWARF 5 §7.3.5).
    SplitUnit(PathBuf),
    /// All split units of a program in one file (`.dwp`).
    Package,
    /// The compressed symbols inside the loaded file (`.gnu_debugdata`).
    MiniDebugInfo,
    /// The supplementary file, in which `dwz` put what several files have in common (DWARF 5 §7.3.6).
    Supplementary,
}

/// The result of trying one path.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The file exists and is in use.
    Found,
    /// The file does not exist.
    Missing,
    /// The file belongs to another build; the text says how that was detected.
    Mismatched(String),
    /// The file can't be used; the text says why.
    Unusable(String),
}

/// One path that was tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    /// The kind of file that was searched for.
    pub what: Companion,
    /// The path that was tried.
    pub path: PathBuf,
    /// The result.
    pub outcome: Outcome,
}

impl Outcome {
    /// The path and the outcome, for a message: `/tmp/a.dwo (no such file)`.
    pub(crate) fn at(&self, path: &Path) -> String {
        let reason = match self {
            Outcome::Found => "found",
            Outcome::Missing => "no such file",
            Outcome::Mismatched(reason) | Outcome::Unusable(reason) => reason,
        };
        format!("{} ({reason})", path.display())
    }
}
