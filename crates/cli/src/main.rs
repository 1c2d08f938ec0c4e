//! The `dapple` binary: parses the command line, calls the subcommand, and reports its error.
//!
//! The debugger itself is in other crates. `dapple dap` serves the adapter, `dapple debug` is a client of one, `dapple tui` shows that on the full
//! screen, `dapple record` records a program
//! and `dapple replay` debugs what was recorded or plays a side of a recorded session, `dapple session` keeps sessions between shell commands,
//! `dapple mcp` debugs for AI agents, `dapple on` runs dapple on another machine, `dapple report` writes what a crash has left as a page, `dapple trace` shows what an editor and an adapter say,
//! `dapple check` checks any adapter, `dapple schema` has tools for protocol definitions, `dapple symbols` shows debug information,
//! `dapple cache` manages its indexes, `dapple doctor` checks what a
//! session needs, `dapple completions` and `dapple man` serve the installation. Each subcommand is a module with its `Options` and a `run`.
//! An error that `run` returns ends up here, as one sentence on stderr and exit code 1.

mod cache;
mod check;
mod completions;
mod dap;
mod debug;
mod doctor;
mod folders;
mod in_terminal;
mod jsonc;
mod listening;
mod manual;
mod mcp;
mod on;
mod own_adapter;
mod processes;
mod programs;
mod record;
mod replay;
mod report;
mod schema;
mod session;
mod symbols;
mod trace;
mod tui;
mod wire_log;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// With musl's own allocator, reading debug information is a quarter slower.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A debugger for C, C++ and Rust that speaks the Debug Adapter Protocol.
#[derive(Parser)]
#[command(
    name = "dapple",
    version,
    propagate_version = true,
    max_term_width = 100
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve the debug adapter, on stdio or on a TCP port
    Dap(dap::Options),
    /// Debug a program in the terminal
    Debug(debug::Options),
    /// Debug a program on the full screen: source, stack, variables, threads, output and the prompt
    Tui(tui::Options),
    /// Record a program that runs to its end, to debug what it did later
    Record(record::Options),
    /// Debug a recording in the terminal: the same run again, forwards and backwards; or play a side of a recorded session
    Replay(replay::Options),
    /// Write what a crash has left, or what a process does now, as a page for a bug report
    Report(report::Options),
    /// Show what an editor and a debug adapter say to each other, live or from a recording
    Trace(trace::Options),
    /// Check whether a debug adapter, this one or any other, keeps to the protocol
    Check(check::Options),
    /// Generate from, compare and check against definitions of the protocol
    Schema(schema::Options),
    /// Show what a program's debug information says, and look up addresses, lines and names in it
    Symbols(symbols::Options),
    /// Debug in a session that outlives the shell command, for scripts and agents
    Session(session::Options),
    /// Debug for an AI agent: a server of the Model Context Protocol on stdio
    Mcp(mcp::Options),
    /// Run dapple on another machine or in a container, or remove what was sent there
    On(on::Options),
    /// Print your processes as JSON
    #[command(hide = true)]
    Processes(processes::Options),
    /// Become a program that a debug adapter has a client's terminal run
    #[command(hide = true)]
    InTerminal(in_terminal::Options),
    /// Manage the indexes of large programs that are kept between sessions
    Cache(cache::Options),
    /// Try what a session needs, and say what to do about what is missing
    Doctor(doctor::Options),
    /// Print a script that has a shell complete dapple's commands and options
    Completions(completions::Options),
    /// Print the manual page, or write those of all commands into a folder
    Man(manual::Options),
}

fn main() -> ExitCode {
    dapple_adapter::allocator::keep_freed_memory();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return report_usage(&error),
    };
    let outcome = match arguments.command {
        Command::Dap(options) => dap::run(options),
        Command::Debug(options) if options.tui => {
            tui::debug_on_screen(options, true).map(ExitCode::from)
        }
        Command::Debug(options) => debug::run(options).map(ExitCode::from),
        Command::Tui(options) => tui::run(options).map(ExitCode::from),
        Command::Record(options) => record::run(options),
        Command::Replay(options) => replay::run(options).map(ExitCode::from),
        Command::Report(options) => report::run(&options),
        Command::Trace(options) => trace::run(options),
        Command::Session(options) => session::run(options).map(ExitCode::from),
        Command::Mcp(options) => mcp::run(options).map(|()| ExitCode::SUCCESS),
        Command::InTerminal(options) => in_terminal::run(&options),
        Command::On(options) => on::run(options),
        Command::Processes(options) => processes::run(&options).map(|()| ExitCode::SUCCESS),
        Command::Check(options) => check::run(&options),
        Command::Schema(options) => schema::run(options),
        Command::Symbols(options) => symbols::run(options),
        Command::Cache(options) => cache::run(options),
        Command::Doctor(options) => doctor::run(&options),
        Command::Completions(options) => completions::run(&options),
        Command::Man(options) => manual::run(&options),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            eprintln!("dapple: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Prints clap's output. Help and version go to stdout, with success; a wrong usage is reported as any other error is.
fn report_usage(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        return match error.print() {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    let text = error.render().to_string();
    eprint!("dapple: {}", text.strip_prefix("error: ").unwrap_or(&text));
    ExitCode::FAILURE
}
