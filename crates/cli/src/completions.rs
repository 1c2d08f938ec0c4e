//! `dapple completions SHELL`: prints a script with which a shell completes dapple's commands and options.

use std::io::Write;
use std::process::ExitCode;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

/// The options of `dapple completions`.
#[derive(Args)]
pub struct Options {
    /// The shell; the script goes to standard output
    #[arg(value_enum)]
    shell: Shell,
}

/// Writes the script.
///
/// # Errors
/// Standard output can't be written to.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    let mut command = crate::Arguments::command();
    clap_complete::generate(options.shell, &mut command, "dapple", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
