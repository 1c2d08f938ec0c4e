//! `dapple in-terminal SOCKET`: the launcher that a client runs in a terminal for the adapter (`runInTerminal`). It becomes the debuggee,
//! or runs the program without debugging.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;

/// The options of `dapple in-terminal`.
#[derive(Args)]
pub struct Options {
    /// Where the adapter waits
    pub socket: PathBuf,
}

/// Becomes the program and never returns, or runs it as a child and returns its exit code.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    match dapple_adapter::launcher::run(&options.socket) {
        Ok(code) => Ok(ExitCode::from(code)),
        Err(reason) => bail!(reason),
    }
}

/// The command line that a client is asked to run, without the socket. `None` if this program's path is unknown or not UTF-8.
pub fn command() -> Option<Vec<String>> {
    let own = std::env::current_exe().ok()?;
    Some(vec![
        own.into_os_string().into_string().ok()?,
        "in-terminal".to_owned(),
    ])
}
