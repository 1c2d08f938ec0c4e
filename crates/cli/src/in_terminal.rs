//! `dapple in-terminal SOCKET`: what the adapter has a client run in a terminal (`runInTerminal`). It becomes the debuggee, or runs it without debugging.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;

/// What the adapter tells it.
#[derive(Args)]
pub struct Options {
    /// Where the adapter waits
    pub socket: PathBuf,
}

/// Becomes the program, and then never returns, or runs it and ends as it does.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    match dapple_adapter::launcher::run(&options.socket) {
        Ok(code) => Ok(ExitCode::from(code)),
        Err(reason) => bail!(reason),
    }
}

/// The command line that a client is asked to run, but for the socket.
pub fn command() -> Option<Vec<String>> {
    let own = std::env::current_exe().ok()?;
    Some(vec![
        own.into_os_string().into_string().ok()?,
        "in-terminal".to_owned(),
    ])
}
