//! Problems in the user's Natvis files.

use super::builtin::Package;
use std::fmt;
use std::path::PathBuf;

/// A problem in a Natvis file. Displayed as a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PresentationProblem {
    /// The whole file is unusable.
    Unreadable {
        /// Its path, as given.
        file: PathBuf,
        /// Why it can't be read.
        reason: String,
    },
    /// The types of a package don't have the members that Dapple's own description names.
    UnknownVersion {
        /// The package.
        package: Package,
        /// The first such member: a sentence with the file and the line.
        what: String,
    },
    /// A problem in a file: a sentence with the file and the line.
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
            PresentationProblem::UnknownVersion { package, what } => write!(
                f,
                "this version of {package} is not known; values of its types are shown as they are laid out ({what})"
            ),
            PresentationProblem::Inside(sentence) => f.write_str(sentence),
        }
    }
}
