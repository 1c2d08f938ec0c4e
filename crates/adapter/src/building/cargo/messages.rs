//! Cargo's messages about a build: a JSON object on each line (`--message-format=json`), and progress between lines of text.

use serde::Deserialize;
use std::path::PathBuf;

/// A message.
#[derive(Debug, Deserialize)]
#[serde(tag = "reason")]
pub enum Message {
    /// A target was compiled, or was up to date.
    #[serde(rename = "compiler-artifact")]
    Artifact(Artifact),
    /// A message of the compiler.
    #[serde(rename = "compiler-message")]
    Diagnostic {
        /// The message.
        message: Diagnostic,
    },
    /// A build script has run, now or in an earlier build.
    #[serde(rename = "build-script-executed")]
    Script(BuildScript),
    /// Any other message.
    #[serde(other)]
    Other,
}

/// The output of a target.
#[derive(Debug, Clone, Deserialize)]
pub struct Artifact {
    /// The package, in cargo's notation.
    pub package_id: String,
    /// The package's `Cargo.toml`.
    pub manifest_path: PathBuf,
    /// The target.
    pub target: Target,
    /// How it was compiled.
    pub profile: Profile,
    /// The path of the program, if it is one.
    pub executable: Option<PathBuf>,
}

/// A target of a package.
#[derive(Debug, Clone, Deserialize)]
pub struct Target {
    /// `bin`, `test`, `example`, `bench`, `custom-build`; a library's crate types.
    pub kind: Vec<String>,
    /// Its name.
    pub name: String,
}

/// How something was compiled.
#[derive(Debug, Clone, Deserialize)]
pub struct Profile {
    /// `debug` of the profile: a number or a name.
    #[serde(default)]
    pub debuginfo: serde_json::Value,
    /// Whether it has the harness for tests or benchmarks.
    pub test: bool,
}

/// A message of the compiler.
#[derive(Debug, Deserialize)]
pub struct Diagnostic {
    /// The message in short.
    pub message: String,
    /// `error`, `warning`, `note`, …
    pub level: String,
    /// The rendered text, in several lines.
    pub rendered: Option<String>,
    /// The places that it is about.
    #[serde(default)]
    pub spans: Vec<Span>,
}

/// A span of source.
#[derive(Debug, Deserialize)]
pub struct Span {
    file_name: String,
    line_start: u64,
    column_start: u64,
    is_primary: bool,
}

impl Diagnostic {
    /// `FILE:LINE:COLUMN` of its primary span.
    pub fn place(&self) -> Option<String> {
        let span = self.spans.iter().find(|span| span.is_primary)?;
        let Span {
            file_name,
            line_start,
            column_start,
            ..
        } = span;
        Some(format!("{file_name}:{line_start}:{column_start}"))
    }
}

/// The output of a build script.
#[derive(Debug, Clone, Deserialize)]
pub struct BuildScript {
    /// The package.
    pub package_id: String,
    /// Library paths, as `KIND=PATH` or `PATH`.
    #[serde(default)]
    pub linked_paths: Vec<String>,
    /// Variables for compiling and running the package.
    #[serde(default)]
    pub env: Vec<(String, String)>,
    /// Its output folder (`OUT_DIR`).
    pub out_dir: Option<PathBuf>,
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

    #[test]
    fn messages_that_are_not_known_are_no_errors() {
        let known = r#"{"reason":"build-finished","success":true}"#;
        assert!(matches!(serde_json::from_str(known), Ok(Message::Other)));
        let artifact = r#"{"reason":"compiler-artifact","package_id":"p","manifest_path":"/m","target":{"kind":["bin"],"name":"a"},
            "profile":{"opt_level":"0","debuginfo":"line-tables-only","test":false},"executable":"/x","new":[]}"#;
        let Ok(Message::Artifact(artifact)) = serde_json::from_str(artifact) else {
            panic!("an artifact");
        };
        assert_eq!(artifact.profile.debuginfo, "line-tables-only");
    }
}
