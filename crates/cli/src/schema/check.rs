//! `dapple schema check`: where Dapple's definition came from, and how a file compares with that.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use dapple_schema::upstream::{Age, Upstream, Verdict, sha256};
use dapple_schema::{Model, PROTOCOL};

use super::{counted, name_of, text_of, warn};

/// Runs `dapple schema check`.
pub(super) fn run(file: Option<&Path>) -> Result<ExitCode> {
    match file {
        Some(path) => compare(path),
        None => show(),
    }
}

fn show() -> Result<ExitCode> {
    let recorded = Upstream::recorded();
    let own = sha256(PROTOCOL.as_bytes());
    let intact = own == recorded.own_sha256;
    let definitions = Model::protocol()?.definitions().len();
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "The Debug Adapter Protocol, version {}",
        recorded.version
    )?;
    writeln!(out, "source:     {}", recorded.source)?;
    writeln!(out, "published:  {}", recorded.published)?;
    writeln!(out, "taken:      {}", recorded.taken)?;
    writeln!(out, "sha256:     {}", recorded.sha256)?;
    writeln!(out, "Dapple's definition, {definitions} definitions")?;
    writeln!(out, "difference: {}", recorded.differs)?;
    let state = if intact {
        "as recorded"
    } else {
        "not as recorded"
    };
    writeln!(out, "sha256:     {own} ({state})")?;
    writeln!(
        out,
        "To compare with the newest version, download {} and run `dapple schema check FILE`.",
        recorded.download
    )?;
    Ok(if intact {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn compare(path: &Path) -> Result<ExitCode> {
    let recorded = Upstream::recorded();
    let name = name_of(path);
    let text = text_of(path)?;
    let verdict = recorded
        .compare(&text)
        .map_err(|error| anyhow!("{name} can't be used: {error}"))?;
    let version = recorded.version;
    let mut out = io::stdout().lock();
    let (age, differences) = match verdict {
        Verdict::Same => {
            writeln!(out, "{name}: the official definition of version {version}")?;
            return Ok(ExitCode::SUCCESS);
        }
        Verdict::Own => {
            writeln!(out, "{name}: Dapple's own definition of version {version}")?;
            return Ok(ExitCode::SUCCESS);
        }
        Verdict::Other { age, differences } => (age, differences),
    };
    Model::parse(&text).map(|model| warn(&model, &[], path))?;
    for difference in &differences {
        writeln!(out, "{difference}")?;
    }
    let counted = counted(differences.len() as u64, "difference");
    let what = match age {
        Age::Equal => {
            format!("the structure is that of version {version}, the text or layout is not")
        }
        Age::Newer => format!(
            "probably newer than version {version}: it only has more ({counted} in structure)"
        ),
        Age::Older => format!(
            "probably older than version {version}: it only has less ({counted} in structure)"
        ),
        Age::Unclear => format!("not the definition of version {version}: {counted} in structure"),
    };
    eprintln!("{name}: {what}");
    eprintln!("the newest official definition: {}", recorded.download);
    Ok(ExitCode::FAILURE)
}
