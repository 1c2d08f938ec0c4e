//! `dapple man`: the manual pages, generated from the same table as `--help`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, CommandFactory};

/// The options of `dapple man`.
#[derive(Args)]
pub struct Options {
    /// Write the pages of all commands into this folder, as dapple.1, dapple-debug.1 and so on; else the first one goes to standard output
    folder: Option<PathBuf>,
}

/// Writes the pages of all commands into the directory, or the first page to standard output.
///
/// # Errors
/// The directory can't be created or written to, or standard output can't be written to.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let command = crate::Arguments::command().disable_help_subcommand(true);
    match &options.folder {
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page)?;
            std::io::stdout().write_all(&page)?;
        }
        Some(folder) => {
            let refused = || format!("{} can't be written to", folder.display());
            std::fs::create_dir_all(folder).with_context(refused)?;
            clap_mangen::generate_to(command, folder).with_context(refused)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
