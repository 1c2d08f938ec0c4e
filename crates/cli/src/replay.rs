//! `dapple replay`: debugs a recording in the terminal, as `dapple debug` does a program.

use crate::debug::{self, SourceFolders, style::Color};
use clap::Args;
use std::path::PathBuf;

/// The options of `dapple replay`.
#[derive(Args)]
pub struct Options {
    /// Run this command at the start; may be given again, in order
    #[arg(long = "ex", value_name = "COMMAND")]
    commands: Vec<String>,

    /// Leave after the last --ex command, with 1 at the first command that fails
    #[arg(long)]
    batch: bool,

    /// Use colours
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    color: Color,

    /// Append every message between us and the adapter to this file, which only you can read
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,

    /// Ask debuginfod servers (DEBUGINFOD_URLS) for the debug information of modules that have none
    #[arg(long)]
    debuginfod: bool,

    /// Sources that were in folder FROM when the program was compiled are in folder TO here; may be given again
    #[arg(long, value_name = "FROM=TO", value_parser = debug::source_folders)]
    source_map: Vec<SourceFolders>,

    /// Show values of your types as this Natvis file says; may be given again
    #[arg(long, value_name = "FILE")]
    natvis: Vec<PathBuf>,

    /// The recording, which `dapple record` has made
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Runs the session until the user leaves it, and returns the exit code.
///
/// # Errors
/// As those of [`debug::run`].
pub fn run(options: Options) -> anyhow::Result<u8> {
    debug::run(debug::Options {
        commands: options.commands,
        batch: options.batch,
        color: options.color,
        log: options.log,
        debuginfod: options.debuginfod,
        source_map: options.source_map,
        natvis: options.natvis,
        replay: Some(options.file),
        ..debug::Options::default()
    })
}
