//! Where sessions are found: each has a socket in a folder of the user's own.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use dapple_adapter::building::source::create_private;

use crate::folders;

/// The longest name of a session.
const LONGEST_NAME: usize = 40;
const SUFFIX: &str = ".sock";

/// The folder: `$XDG_RUNTIME_DIR/dapple/sessions`, or `~/.local/state/dapple/sessions`. Makes it.
///
/// # Errors
/// It can't be made, or others may write there.
pub fn folder() -> anyhow::Result<PathBuf> {
    let folder = folders::user_directory("XDG_RUNTIME_DIR", ".local/state");
    let folder = folder
        .context("neither XDG_RUNTIME_DIR nor HOME is set, so that sessions have no place")?;
    let folder = folder.join("sessions");
    create_private(&folder).with_context(|| format!("{} can't be made", folder.display()))?;
    let found = std::fs::metadata(&folder).with_context(|| folder.display().to_string())?;
    let is_own = found.uid() == rustix::process::geteuid().as_raw();
    if !is_own || found.mode() & 0o022 != 0 {
        bail!("{} is not for you alone", folder.display());
    }
    Ok(folder)
}

/// The socket of a session.
///
/// # Errors
/// The name can't be one.
pub fn socket(folder: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let is_good = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty()
        || name.len() > LONGEST_NAME
        || name.starts_with('.')
        || !name.chars().all(is_good)
    {
        bail!(
            "`{name}` can't be a session's name: up to {LONGEST_NAME} letters, digits, `-`, `_` and `.`"
        );
    }
    Ok(folder.join(format!("{name}{SUFFIX}")))
}

/// The names of the sessions that have a socket, in order. Their hosts may be gone.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        Some(name.strip_suffix(SUFFIX)?.to_owned())
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// A name for a session with a program that no other has: `tour`, `tour-2`.
pub fn name_for(folder: &Path, program: &str) -> String {
    let base = Path::new(program)
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy();
    let good = base
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c));
    let base: String = good.take(LONGEST_NAME - 6).collect();
    let base = if base.is_empty() { "session" } else { &base };
    let taken = names(folder);
    let numbered = (2..).map(|number| format!("{base}-{number}"));
    let mut all = std::iter::once(base.to_owned()).chain(numbered);
    all.find(|name| !taken.contains(name))
        .unwrap_or_else(|| base.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_nowhere_else() {
        let folder = Path::new("/f");
        assert_eq!(
            socket(folder, "tour-2").expect("a name"),
            Path::new("/f/tour-2.sock")
        );
        for wrong in [
            "",
            "..",
            "../x",
            "a/b",
            ".hidden",
            "ü",
            "a b",
            &"x".repeat(41),
        ] {
            socket(folder, wrong).expect_err(wrong);
        }
        assert_eq!(name_for(folder, "/usr/bin/jq"), "jq");
        assert_eq!(name_for(folder, "läufer.py"), "lufer");
        assert_eq!(name_for(folder, "…"), "session");
    }
}
