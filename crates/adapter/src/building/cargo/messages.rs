//! What cargo tells of a build: a JSON object a line (`--message-format=json`), and its progress among the lines for people.

use serde::Deserialize;
use std::path::PathBuf;

/// A message.
#[derive(Debug, Deserialize)]
#[serde(tag = "reason")]
pub enum Message {
    /// Something was made, or was there already.
    #[serde(rename = "compiler-artifact")]
    Artifact(Artifact),
    /// The compiler says something.
    #[serde(rename = "compiler-message")]
    Diagnostic {
        /// What it says.
        message: Diagnostic,
    },
    /// A package's build script has run, now or earlier.
    #[serde(rename = "build-script-executed")]
    Script(BuildScript),
    /// Something else.
    #[serde(other)]
    Other,
}

/// What was made of a target.
#[derive(Debug, Clone, Deserialize)]
pub struct Artifact {
    /// Its package, in cargo's own notation.
    pub package_id: String,
    /// The package's `Cargo.toml`.
    pub manifest_path: PathBuf,
    /// What it was made of.
    pub target: Target,
    /// How.
    pub profile: Profile,
    /// The program, if it is one.
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
    /// As `debug` in a profile: a number or a name; nothing for none.
    #[serde(default)]
    pub debuginfo: serde_json::Value,
    /// With the harness for tests or benchmarks.
    pub test: bool,
}

/// What the compiler says.
#[derive(Debug, Deserialize)]
pub struct Diagnostic {
    /// In few words.
    pub message: String,
    /// `error`, `warning`, `note`, …
    pub level: String,
    /// For people, in several lines.
    pub rendered: Option<String>,
    /// What it is about.
    #[serde(default)]
    pub spans: Vec<Span>,
}

/// A piece of source.
#[derive(Debug, Deserialize)]
pub struct Span {
    file_name: String,
    line_start: u64,
    column_start: u64,
    is_primary: bool,
}

impl Diagnostic {
    /// `FILE:LINE:COLUMN` of what it is about first.
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

/// What a build script has asked for.
#[derive(Debug, Clone, Deserialize)]
pub struct BuildScript {
    /// Its package.
    pub package_id: String,
    /// Where libraries are, as `KIND=PATH` or `PATH`.
    #[serde(default)]
    pub linked_paths: Vec<String>,
    /// Variables for compiling, and for running what was compiled.
    #[serde(default)]
    pub env: Vec<(String, String)>,
    /// Its folder.
    pub out_dir: Option<PathBuf>,
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
