//! `dapple doctor`: checks what a session needs, and says how to fix what is missing.
//!
//! Each module is one group of checks, which report [`Finding`]s as they go. Checks try the real thing where possible (`system` traces,
//! `compilers` compile, `session` debugs) instead of inspecting settings. Only a `problem` prevents sessions from working.

mod compilers;
mod editors;
mod files;
mod launch_json;
mod session;
mod system;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

/// The options of `dapple doctor`.
#[derive(Args)]
pub struct Options {
    /// Print JSON, for programs
    #[arg(long)]
    json: bool,
}

/// How serious a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    /// All is well.
    Ok,
    /// One feature won't work, but sessions will.
    Warning,
    /// No session works.
    Problem,
}

impl Level {
    fn word(self) -> &'static str {
        match self {
            Level::Ok => "ok",
            Level::Warning => "warning",
            Level::Problem => "problem",
        }
    }
}

/// The result of a check.
#[derive(Debug, Serialize)]
struct Finding {
    check: &'static str,
    level: Level,
    says: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

impl Finding {
    fn ok(check: &'static str, says: impl Into<String>) -> Self {
        Finding {
            check,
            level: Level::Ok,
            says: says.into(),
            remedy: None,
        }
    }

    fn warning(check: &'static str, says: impl Into<String>) -> Self {
        Finding {
            level: Level::Warning,
            ..Finding::ok(check, says)
        }
    }

    fn problem(check: &'static str, says: impl Into<String>) -> Self {
        Finding {
            level: Level::Problem,
            ..Finding::ok(check, says)
        }
    }

    fn with_remedy(self, remedy: impl Into<String>) -> Self {
        Finding {
            remedy: Some(remedy.into()),
            ..self
        }
    }
}

/// All findings, as printed by `--json`. Fields may be added, but none is renamed or removed.
#[derive(Serialize)]
struct Report {
    /// Whether a session can work.
    works: bool,
    findings: Vec<Finding>,
}

/// Runs all checks. The exit code is 0 if a session can work.
///
/// # Errors
/// Standard output can't be written to.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let mut summary = Report {
        works: true,
        findings: Vec::new(),
    };
    let mut printed = Ok(());
    let mut report = |finding: Finding| {
        if !options.json && printed.is_ok() {
            printed = write(&finding);
        }
        summary.works &= finding.level != Level::Problem;
        summary.findings.push(finding);
    };
    system::check(&mut report);
    let compiled = compilers::check(&mut report);
    files::check(&mut report);
    editors::check(&mut report);
    launch_json::check(&mut report);
    session::check(compiled.as_ref(), &mut report);
    printed?;
    if options.json {
        println!("{}", serde_json::to_string_pretty(&summary)?);
    }
    Ok(match summary.works {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn write(finding: &Finding) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let (level, check) = (finding.level.word(), finding.check);
    writeln!(out, "{level:<8} {check:<16} {}", finding.says)?;
    if let Some(remedy) = &finding.remedy {
        writeln!(out, "{:25} → {remedy}", "")?;
    }
    out.flush()
}

/// The user's home directory.
fn home() -> Option<PathBuf> {
    let home = PathBuf::from(std::env::var_os("HOME")?);
    home.is_absolute().then_some(home)
}
