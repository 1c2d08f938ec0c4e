//! The limits that no debugger can exceed.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use object::{Object, ObjectSection};

use super::programs::Program;

/// A program's sizes in bytes, and the limits.
pub struct Limits {
    pub file: u64,
    /// The size of all `.debug_*` sections.
    pub debug: u64,
    /// The time for reading all `.debug_*` sections from the page cache once.
    pub reading: Duration,
    /// The time from the program's start to its end without a debugger, when it only prints its version.
    pub start: Duration,
}

/// Measures a program. Its file is in the page cache afterwards.
pub fn measure(program: &Program) -> anyhow::Result<Limits> {
    let data = std::fs::read(&program.path)
        .with_context(|| format!("can't read {}", program.path.display()))?;
    let file = object::File::parse(&*data)?;
    let ranges: Vec<(u64, u64)> = file
        .sections()
        .filter(|section| section.name().is_ok_and(|name| name.starts_with(".debug_")))
        .filter_map(|section| section.file_range())
        .collect();
    let debug = ranges.iter().map(|(_, size)| size).sum();
    let size = data.len() as u64;
    drop(data);

    let open = File::open(&program.path)?;
    let mut buffer = vec![0; 1 << 20];
    let begin = Instant::now();
    for &(offset, size) in &ranges {
        let mut at = offset;
        while at < offset + size {
            let wanted = usize::try_from(offset + size - at)?.min(buffer.len());
            open.read_exact_at(&mut buffer[..wanted], at)?;
            at += wanted as u64;
        }
    }
    let reading = begin.elapsed();

    let begin = Instant::now();
    let status = Command::new(&program.path)
        .arg("--version")
        .stdout(Stdio::null())
        .status()?;
    let start = begin.elapsed();
    if !status.success() {
        bail!("{} --version: {status}", program.path.display());
    }
    Ok(Limits {
        file: size,
        debug,
        reading,
        start,
    })
}

/// The size of all files in a directory, in bytes.
pub fn size_of(folder: &Path) -> anyhow::Result<u64> {
    let mut size = 0;
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("can't read {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let metadata = entry.metadata()?;
        size += if metadata.is_dir() {
            size_of(&entry.path())?
        } else {
            metadata.len()
        };
    }
    Ok(size)
}
