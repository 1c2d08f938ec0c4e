//! `dapple debug`: a debug-adapter client for the terminal.
//!
//! It drives any adapter through the protocol, ours by default; it knows no engine.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

/// What `dapple debug` can be told.
#[derive(Args)]
pub struct Options {
    /// The program to debug, or a .rs, .c or .cpp file to compile and debug
    pub program: PathBuf,

    /// Arguments of the program, passed on as they are
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub args: Vec<OsString>,
}

/// Runs the session until the user leaves it.
pub fn run(_options: Options) -> anyhow::Result<()> {
    anyhow::bail!("the adapter is not connected yet")
}
