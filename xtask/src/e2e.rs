//! Debugs in real editors: the script `editors/e2e/NAME` installs an editor and drives it as a user would. This module builds the debugger
//! first.

use anyhow::{Context, bail};

use crate::terminals;

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The run whose script only installs what [`terminals`] drives.
const TERMINALS: &str = "terminals";

/// Each run's name, which is its script's, and its description.
const EDITORS: &[(&str, &str)] = &[
    (
        "vscode",
        "VS Code in headless Chromium: from a click in the margin to the end of the session; pictures in target/e2e/screenshots",
    ),
    (
        "emacs",
        "Emacs with dap-mode, set up as docs/editors/emacs.md says",
    ),
    (
        "neovim",
        "Neovim, with the text that docs/editors/neovim.md has for nvim-dap",
    ),
    (
        "testsupport",
        "@vscode/debugadapter-testsupport, the client that authors of adapters test with",
    ),
    (
        "recordings",
        "VS Code as above, recorded by `dapple trace` with three adapters, and what its recordings are good for; all in target/e2e/recordings",
    ),
    (
        "trace",
        "no editor: the page of `dapple trace --html` in headless Chromium; a picture in target/e2e/trace.png",
    ),
    (
        TERMINALS,
        "no editor: the same script typed at `dapple debug` with lldb-dap, gdb, CodeLLDB, debugpy, delve and js-debug; a word behind: only those whose names begin so",
    ),
];

/// Prints the runs.
pub fn list() -> anyhow::Result<ExitCode> {
    for (name, what) in EDITORS {
        println!("{name:10} {what}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Does one run, with the adapter that `DAPPLE` names or one built from this tree.
pub fn run(root: &Path, editor: &str, words: &[&str]) -> anyhow::Result<ExitCode> {
    let Some((name, _)) = EDITORS.iter().find(|(name, _)| *name == editor) else {
        let known: Vec<&str> = EDITORS.iter().map(|(name, _)| *name).collect();
        bail!(
            "there is no run in `{editor}`; there are: {}",
            known.join(", ")
        );
    };
    let adapter = match env::var_os("DAPPLE") {
        Some(path) => PathBuf::from(path)
            .canonicalize()
            .context("the adapter that DAPPLE names")?,
        None => build(root)?,
    };
    let script = root.join("editors/e2e").join(name);
    let status = Command::new(&script)
        .env("DAPPLE", &adapter)
        .status()
        .with_context(|| format!("cannot run {}", script.display()))?;
    Ok(match status.success() {
        true if *name == TERMINALS => {
            return terminals::run(root, &adapter, words.first().unwrap_or(&""));
        }
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Builds the debugger, unless DAPPLE_BUILT says that this was done, and returns its path.
fn build(root: &Path) -> anyhow::Result<PathBuf> {
    let target = env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    let adapter = root.join(target).join("debug/dapple");
    if env::var_os("DAPPLE_BUILT").is_some() {
        return Ok(adapter);
    }
    let status = Command::new(env!("CARGO"))
        .args(["build", "--package", "dapple-cli", "--bin", "dapple"])
        .current_dir(root)
        .status()
        .context("cannot run cargo")?;
    if !status.success() {
        bail!("the debugger does not build");
    }
    Ok(adapter)
}
