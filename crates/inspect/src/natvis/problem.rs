//! What can't be used of what the user has said on how types are shown.

use std::fmt;
use std::path::PathBuf;

/// What is wrong with the user's own presentation of types. It is shown as a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PresentationProblem {
    /// A whole file.
    Unreadable {
        /// As it was given.
        file: PathBuf,
        /// Why it can't be read.
        reason: String,
    },
    /// Something in a file: a sentence that names it and the line.
    Inside(String),
}

impl fmt::Display for PresentationProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PresentationProblem::Unreadable { file, reason } => {
                write!(
                    f,
                    "cannot read the Natvis file {}: {reason}",
                    file.display()
                )
            }
            PresentationProblem::Inside(sentence) => f.write_str(sentence),
        }
    }
}
