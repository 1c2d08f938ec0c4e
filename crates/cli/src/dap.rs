//! `dapple dap`: serves the debug adapter to a client, on stdio or, with `--listen`, to many clients at once on TCP.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

/// What `dapple dap` can be told.
#[derive(Args)]
pub struct Options {
    /// Serve each connection on this address its own session, instead of one session on stdio
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<SocketAddr>,

    /// Accept a --listen address that other machines can reach: anyone who connects can run programs as you
    #[arg(long, requires = "listen")]
    pub allow_remote: bool,

    /// Append what happens in the adapter to this file
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
}

/// Serves until the client is gone; with `--listen`, until the process is ended.
pub fn run(_options: Options) -> anyhow::Result<()> {
    anyhow::bail!("the adapter is not connected yet")
}
