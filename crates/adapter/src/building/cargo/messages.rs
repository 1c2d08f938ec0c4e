//! What is read in what cargo tells of a build: its messages (`--message-format=json`, of the crate `cargo_metadata`), and its progress among the lines
//! for people.

use cargo_metadata::Artifact;
use cargo_metadata::diagnostic::{Diagnostic, DiagnosticLevel};
use std::path::Path;

/// The folder of an artifact's package.
pub fn folder(artifact: &Artifact) -> &Path {
    let manifest = artifact.manifest_path.as_std_path();
    manifest.parent().unwrap_or(manifest)
}

/// Whether something can't be compiled.
pub fn is_error(diagnostic: &Diagnostic) -> bool {
    use DiagnosticLevel::{Error, Ice};
    matches!(diagnostic.level, Error | Ice)
}

/// `FILE:LINE:COLUMN` of what a diagnostic is about first.
pub fn place(diagnostic: &Diagnostic) -> Option<String> {
    let span = diagnostic.spans.iter().find(|span| span.is_primary)?;
    Some(format!(
        "{}:{}:{}",
        span.file_name, span.line_start, span.column_start
    ))
}

/// The progress that a line for people is: how much is done of what, and what is being done.
pub fn progress(line: &str) -> Option<(u32, u32, &str)> {
    let rest = line.trim_start().strip_prefix("Building [")?;
    let (_, rest) = rest.split_once("] ")?;
    let (count, doing) = rest.split_once(':').unwrap_or((rest, ""));
    let (done, total) = count.trim().split_once('/')?;
    Some((done.parse().ok()?, total.parse().ok()?, doing.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_told_from_other_lines() {
        let line = "    Building [=======>                    ] 3/10: one(test), it(test)         ";
        assert_eq!(progress(line), Some((3, 10, "one(test), it(test)")));
        assert_eq!(progress("    Building [=>   ] 4/5"), Some((4, 5, "")));
        for other in [
            "   Compiling one v0.1.0",
            "Building [x",
            "Building [] a/b: c",
        ] {
            assert_eq!(progress(other), None);
        }
    }
}
