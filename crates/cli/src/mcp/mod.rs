//! `dapple mcp`: the debugger for AI agents, as a server of the Model Context Protocol on stdio.
//!
//! A tool's arguments ([`arguments`]) become commands of the terminal ([`commands`]), within what the user has allowed ([`permissions`]); a session's host
//! ([`sessions`]) carries them out; its records are told as text ([`shown`]) of a bounded length ([`answers`]). [`server`] says which tools there
//! are, [`hunts`] how they are used. The protocol itself is rmcp's.

mod answers;
mod arguments;
mod beginning;
mod commands;
mod hunts;
mod permissions;
mod places;
mod server;
mod sessions;
mod shown;
mod tools;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use rmcp::ServiceExt;
use rmcp::transport::io::stdio_pipes;

use answers::Answers;
use permissions::Permissions;
use server::Server;
use sessions::Sessions;
use tools::Tools;

/// How long a command may take that doesn't let the program run.
const ANSWER: Duration = Duration::from_secs(60);

/// The options of `dapple mcp`.
#[derive(Args)]
pub struct Options {
    /// A folder whose programs, core files and sources may be used; may be given again. Without, the current one
    #[arg(long = "folder", value_name = "DIR")]
    folders: Vec<PathBuf>,

    /// Also use programs, processes, core files and sources that are elsewhere
    #[arg(long)]
    allow_outside: bool,

    /// Let expressions call functions of the program; for other adapters, let them be more than names, members and elements
    #[arg(long)]
    allow_calls: bool,

    /// The adapter that sessions use which don't choose one: lldb, gdb, codelldb, debugpy, delve or js, or a shell command
    #[arg(long, value_name = "NAME|COMMAND")]
    adapter: Option<String>,

    /// The most bytes of an answer; the rest is told where it is asked for
    #[arg(long, value_name = "BYTES", default_value_t = 8000)]
    longest_answer: usize,
}

/// Serves a client until it leaves.
///
/// # Errors
/// A folder isn't there, or the client doesn't speak the protocol.
pub fn run(options: Options) -> anyhow::Result<()> {
    let folders = match options.folders.is_empty() {
        true => vec![std::env::current_dir().context("the current folder isn't known")?],
        false => options.folders,
    };
    let permissions = Permissions::new(&folders, options.allow_outside, options.allow_calls)?;
    let tools = Arc::new(Tools {
        permissions,
        adapter: options.adapter,
        answers: Answers::new(options.longest_answer),
        sessions: Sessions::default(),
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the server can't be started")?;
    let server = Server::new(Arc::clone(&tools));
    let served = runtime.block_on(async {
        let service = server.serve(stdio_pipes()).await?;
        service.waiting().await.map_err(anyhow::Error::from)
    });
    // What was started ends with the client, also while calls wait for it.
    tools.sessions.end_all();
    served.context("the client doesn't speak the Model Context Protocol")?;
    Ok(())
}
