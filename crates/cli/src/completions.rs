//! `dapple completions SHELL`: a script that has a shell complete dapple's own commands and options.

use std::io::Write;
use std::process::ExitCode;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

/// What `dapple completions` can be told.
#[derive(Args)]
pub struct Options {
    /// The shell; the script goes to standard output
    #[arg(value_enum)]
    shell: Shell,
}

/// Writes the script.
///
/// # Errors
/// Nobody takes it.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    let mut command = crate::Arguments::command();
    clap_complete::generate(options.shell, &mut command, "dapple", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
