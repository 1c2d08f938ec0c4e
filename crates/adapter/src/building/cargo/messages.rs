//! Cargo's output during a build: what is used of its messages (`--message-format=json`, read by the crate `cargo_metadata`), and its
//! progress between lines of text.

use cargo_metadata::Artifact;
use cargo_metadata::diagnostic::{Diagnostic, DiagnosticLevel};
use std::path::Path;

/// The folder of an artifact's package.
pub fn folder(artifact: &Artifact) -> &Path {
    let manifest = artifact.manifest_path.as_std_path();
    manifest.parent().unwrap_or(manifest)
}

/// Whether a diagnostic is an error, which makes the build fail.
pub fn is_error(diagnostic: &Diagnostic) -> bool {
    use DiagnosticLevel::{Error, Ice};
    matches!(diagnostic.level, Error | Ice)
}

/// `FILE:LINE:COLUMN` of a diagnostic's primary span.
pub fn place(diagnostic: &Diagnostic) -> Option<String> {
    let span = diagnostic.spans.iter().find(|span| span.is_primary)?;
    Some(format!(
        "{}:{}:{}",
        span.file_name, span.line_start, span.column_start
    ))
}

/// The progress in a line of text: units done, all units, and what is being done.
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
