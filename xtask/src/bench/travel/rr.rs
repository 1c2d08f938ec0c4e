//! Recording by rr, where it starts. It needs a processor that it knows, and that counts branches.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use super::programs::Work;

/// rr, which can record here.
pub struct Rr {
    /// Where it leaves its recordings.
    recordings: PathBuf,
}

impl Rr {
    /// Records a program that does nothing.
    ///
    /// # Errors
    /// rr isn't installed or can't record here.
    pub fn find(folder: &Path) -> anyhow::Result<Self> {
        let found = Self {
            recordings: folder.join("rr"),
        };
        std::fs::create_dir_all(&found.recordings)?;
        let output = found.record().arg("true").output();
        let output = output.context("`rr` can't be run")?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let first = said.lines().find(|line| !line.trim().is_empty());
            bail!("it does not start: {}", first.unwrap_or("no reason given"));
        }
        Ok(found)
    }

    /// How long a recorded program runs, with the start of rr.
    pub fn time(&self, work: &Work) -> anyhow::Result<Duration> {
        let begin = Instant::now();
        let status = self
            .record()
            .arg(&work.debuggee.program)
            .arg(work.debuggee.argument.to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
        if !status.success() {
            bail!("rr: {status}");
        }
        Ok(begin.elapsed())
    }

    fn record(&self) -> Command {
        let mut rr = Command::new("rr");
        rr.arg("record").env("_RR_TRACE_DIR", &self.recordings);
        rr
    }
}
