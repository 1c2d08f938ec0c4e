//! The error type of this crate: why a module, or a part of it, could not be read.

use std::path::PathBuf;

/// The message about a file that was written to in place.
pub(crate) const CHANGED: &str = "changed on disk since it was loaded";

/// Why a module, or a part of it, can't be used. Names the file, and the section and offset where known.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file can't be opened or mapped.
    #[error("{}: {reason}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        reason: String,
    },
    /// The file is of an unsupported kind: not ELF, 32-bit, for another machine, a script, a directory.
    #[error("{}: {reason}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// A sentence a user can act on.
        reason: String,
    },
    /// The file's contents contradict themselves or end too early.
    #[error("{}: {section} at offset {offset:#x}: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The section, such as `.debug_info`.
        section: &'static str,
        /// The offset in the section, in bytes.
        offset: u64,
        /// What is wrong.
        reason: String,
    },
    /// The file was truncated or written to while it was mapped, so nothing is read from it any more.
    #[error("{}: {CHANGED}, so it is no longer read; a restart reads the new one", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// An existing index file can't be used, or a new one can't be stored. Queries are answered without it.
    #[error("the index {}: {reason}", path.display())]
    Index {
        /// The index file, or the folder where it would be.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}
