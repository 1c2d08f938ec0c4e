//! The debuggees: a long loop of short lines, in C and in Rust, as small as possible.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

/// A compiled program.
pub struct Program {
    /// The language, for output.
    pub language: &'static str,
    /// The executable.
    pub path: PathBuf,
    /// Its source.
    pub source: PathBuf,
    /// The line to stop at.
    pub line: i64,
}

/// The mark of the line to stop at.
const MARK: &str = "/* stop */";

const C: &str = "\
#include <stdio.h>

int main(void) {
    unsigned total = 0; /* stop */
    for (unsigned i = 0; i < 1000000; i++) {
        total += i;
        total ^= i << 1;
    }
    printf(\"%u\\n\", total);
    return 0;
}
";

const RUST: &str = "\
fn main() {
    let mut total = 0_u32; /* stop */
    let mut i = 0_u32;
    while i < 1_000_000 {
        total = total.wrapping_add(i);
        total ^= i << 1;
        i += 1;
    }
    println!(\"{total}\");
}
";

/// Writes and compiles them into `directory`.
pub fn build(directory: &Path) -> anyhow::Result<Vec<Program>> {
    std::fs::create_dir_all(directory)
        .with_context(|| format!("can't create {}", directory.display()))?;
    let c = compile(
        directory,
        "C",
        "loop.c",
        C,
        Command::new("cc").args(["-g", "-O0"]),
    )?;
    let rust = compile(
        directory,
        "Rust",
        "loop.rs",
        RUST,
        Command::new("rustc").args(["-g", "--edition=2024"]),
    )?;
    Ok(vec![c, rust])
}

fn compile(
    directory: &Path,
    language: &'static str,
    name: &str,
    text: &str,
    compiler: &mut Command,
) -> anyhow::Result<Program> {
    let source = directory.canonicalize()?.join(name);
    let path = source.with_file_name(name.replace('.', "_"));
    std::fs::write(&source, text).with_context(|| format!("can't write {}", source.display()))?;
    let status = compiler
        .arg(&source)
        .arg("-o")
        .arg(&path)
        .status()
        .with_context(|| format!("no {language} compiler"))?;
    if !status.success() {
        bail!("{name} did not compile");
    }
    let line = text
        .lines()
        .position(|line| line.contains(MARK))
        .context("the program has no line to stop at")?;
    Ok(Program {
        language,
        path,
        source,
        line: i64::try_from(line)? + 1,
    })
}
