//! `tidy`: checks those invariants of ARCHITECTURE.md that a program can check.
//!
//! It checks the files that git tracks or would add. Each finding names the place, the rule and the remedy. Rules about single files are in
//! `rules`, those about manifests in `manifest`; rules about the project as a whole are here and in the other submodules.

mod capabilities;
mod import_cycles;
mod listed_tests;
mod long_functions;
mod manifest;
mod owner_fields;
mod requests;
mod rules;
mod source;

use crate::codegen;
use anyhow::{Context, Result, bail};
use dapple_schema::Model;
use source::Source;
use std::fmt;
use std::path::Path;
use std::process::{Command, ExitCode};

/// Files that a reader looks for first.
const DOCUMENTS: [&str; 5] = [
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
];

/// The largest file that is not text.
const MAX_BINARY: usize = 100 * 1024;

/// A rule's name and what to do about a finding.
#[derive(Clone, Copy)]
struct Rule {
    name: &'static str,
    remedy: &'static str,
}

/// A violation of a rule.
struct Finding {
    path: String,
    /// Counted from 1; 0 for the file as a whole.
    line: usize,
    rule: Rule,
    what: String,
}

impl Finding {
    /// `line` counts from 0.
    fn new(path: &str, line: usize, rule: Rule, what: impl Into<String>) -> Finding {
        Finding {
            path: path.to_owned(),
            line: line + 1,
            rule,
            what: what.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}: {}: {}\n    {}",
            self.path, self.line, self.rule.name, self.what, self.rule.remedy
        )
    }
}

/// Checks the project; fails if anything was found.
pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    let mut findings = Vec::new();
    let paths = files(root)?;
    missing_documents(&paths, &mut findings);
    let mut sources = Vec::new();
    for path in &paths {
        // A deleted file that git still lists.
        let Ok(bytes) = std::fs::read(root.join(path)) else {
            continue;
        };
        match String::from_utf8(bytes) {
            Ok(text) if text.contains('\0') => binary(path, text.as_bytes(), &mut findings),
            Ok(text) => sources.push(Source::new(path, &text)),
            Err(error) => binary(path, error.as_bytes(), &mut findings),
        }
    }
    for source in &sources {
        rules::check(source, &mut findings);
        manifest::check(&source.path, &source.text, &mut findings);
    }
    rules::one_waiting_place(&sources, &mut findings);
    listed_tests::check(&sources, &mut findings);
    import_cycles::check(&sources, &mut findings);
    long_functions::check(&sources, &mut findings);
    owner_fields::check(&sources, &mut findings);
    let model = Model::protocol()?;
    capabilities::check(&sources, &model, &mut findings);
    requests::check(&sources, &model, &mut findings);
    for finding in &findings {
        println!("{finding}");
    }
    let stale = codegen::difference(root)?;
    if let Some(difference) = &stale {
        println!("{difference}");
    }
    let count = findings.len() + usize::from(stale.is_some());
    if count > 0 {
        eprintln!("{count} findings in {} files", sources.len());
        return Ok(ExitCode::FAILURE);
    }
    println!("tidy: {} files", sources.len());
    Ok(ExitCode::SUCCESS)
}

/// The files that git tracks or would add.
fn files(root: &Path) -> Result<Vec<String>> {
    let output = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(root)
        .output()
        .context("cannot run git to list the files")?;
    if !output.status.success() {
        bail!(
            "git cannot list the files: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    let list = String::from_utf8(output.stdout).context("a file's name is not UTF-8")?;
    Ok(list
        .split('\0')
        .filter(|path| !path.is_empty())
        .map(str::to_owned)
        .collect())
}

fn missing_documents(paths: &[String], findings: &mut Vec<Finding>) {
    let rule = Rule {
        name: "documents",
        remedy: "write it: people look for it first",
    };
    for document in DOCUMENTS {
        if !paths.iter().any(|path| path == document) {
            findings.push(Finding::new(document, 0, rule, "is not there"));
        }
    }
}

fn binary(path: &str, bytes: &[u8], findings: &mut Vec<Finding>) {
    let rule = Rule {
        name: "large file",
        remedy: "generate it in the tests or when building, or keep it out of the repository",
    };
    if bytes.len() > MAX_BINARY {
        findings.push(Finding::new(
            path,
            0,
            rule,
            format!("{} KiB that are not text", bytes.len() / 1024),
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_documents_are_found() {
        let mut findings = Vec::new();
        missing_documents(
            &[
                "README.md".into(),
                "CHANGELOG.md".into(),
                "LICENSE-MIT".into(),
            ],
            &mut findings,
        );
        let paths: Vec<_> = findings
            .iter()
            .map(|finding| finding.path.as_str())
            .collect();
        assert_eq!(paths, ["ARCHITECTURE.md", "LICENSE-APACHE"]);
    }

    #[test]
    fn large_binary_files_are_found() {
        let mut findings = Vec::new();
        binary("small.bin", &[0xff; 100], &mut findings);
        binary("large.bin", &vec![0xff; MAX_BINARY + 1], &mut findings);
        assert_eq!(
            findings
                .iter()
                .map(|finding| finding.path.as_str())
                .collect::<Vec<_>>(),
            ["large.bin"]
        );
    }

    #[test]
    fn a_finding_shows_place_rule_and_remedy() {
        let rule = Rule {
            name: "name",
            remedy: "do this",
        };
        assert_eq!(
            Finding::new("a.rs", 4, rule, "what").to_string(),
            "a.rs:5: name: what\n    do this"
        );
    }
}
