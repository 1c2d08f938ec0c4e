//! `dapple trace`: shows what an editor and an adapter say to each other, live between the two or from a recording.
//!
//! This module has the options and chooses what to do. [`between`] stands between the two, [`show`] reads recordings; what a message means
//! is known to `dapple-trace`.

pub mod adapter;
mod between;
pub mod ends;
pub mod live;
pub mod show;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use dapple_dap::lifecycle::Side;
use dapple_trace::filter::Filter;

use crate::debug::style::Color;
use crate::listening::Address;

/// The options of `dapple trace`.
#[derive(Args)]
#[command(
    override_usage = "dapple trace [OPTIONS] -- COMMAND…        stand between an editor and the adapter COMMAND\n       \
                      dapple trace [OPTIONS] --connect ADDRESS  stand between an editor and an adapter that listens\n       \
                      dapple trace [OPTIONS] FILE               show a recording\n       \
                      dapple trace --diff A B                   compare two recordings\n       \
                      dapple trace --html -o PAGE FILE          write a recording as a page"
)]
pub struct Options {
    /// The recording to show: of `dapple trace -o`, of --log, or a plain log with a message on each line; `-` for standard input
    #[arg(value_name = "FILE", conflicts_with_all = ["command", "diff"])]
    file: Option<PathBuf>,

    /// The adapter's command: the editor starts `dapple trace -- COMMAND` in its place
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "diff")]
    command: Vec<OsString>,

    /// Append the recording to this file, which only you can read; with --html, the page to write
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Let the editor connect here, instead of stdio: PORT, ADDRESS:PORT or unix:PATH; each connection gets an adapter of its own
    #[arg(long, value_name = "ADDRESS", help_heading = BETWEEN, value_parser = OsStringValueParser::new().try_map(ends::address))]
    listen: Option<Address>,

    /// End after the first connection to --listen
    #[arg(long, requires = "listen", help_heading = BETWEEN)]
    once: bool,

    /// Accept a --listen address that other machines can reach: anyone who connects can run programs as you
    #[arg(long, requires = "listen", help_heading = BETWEEN)]
    allow_remote: bool,

    /// Connect to an adapter that listens here: PORT, HOST:PORT or unix:PATH; a COMMAND is started before
    #[arg(long, value_name = "ADDRESS", help_heading = BETWEEN, conflicts_with = "file")]
    connect: Option<OsString>,

    /// Show the lines in this file or terminal, instead of standard error
    #[arg(long, value_name = "FILE", help_heading = BETWEEN)]
    live: Option<PathBuf>,

    /// Show no lines, only record
    #[arg(short, long, help_heading = BETWEEN, requires = "output", conflicts_with = "live")]
    quiet: bool,

    /// Only messages of these names (setBreakpoints,stopped), or requests, responses, events, violations
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = LINES)]
    only: Vec<String>,

    /// No messages of these names; as --only
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = LINES)]
    not: Vec<String>,

    /// Only what this side sends
    #[arg(long, value_enum, value_name = "SIDE", help_heading = LINES)]
    from: Option<From>,

    /// Show each message's JSON under its line
    #[arg(long, help_heading = LINES)]
    bodies: bool,

    /// Use colours
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto", help_heading = LINES)]
    color: Color,

    /// Compare two recordings by meaning; exit code 1 if they differ
    #[arg(long, num_args = 2, value_names = ["A", "B"], help_heading = RECORDINGS)]
    diff: Vec<PathBuf>,

    /// Fields that --diff doesn't compare, at any depth; may be given again
    #[arg(long, value_name = "FIELD", requires = "diff", help_heading = RECORDINGS)]
    ignore: Vec<String>,

    /// Count for --diff also questions that only one of the clients asked, such as one `threads` more
    #[arg(long, requires = "diff", help_heading = RECORDINGS)]
    questions: bool,

    /// Write the recording as a page for browsers: a sequence diagram with all messages
    #[arg(long, requires_all = ["file", "output"], help_heading = RECORDINGS)]
    html: bool,
}

const BETWEEN: &str = "Between an editor and an adapter";
const LINES: &str = "Which lines, and how";
const RECORDINGS: &str = "With recordings";

/// A side, as the user names it.
#[derive(Clone, Copy, ValueEnum)]
enum From {
    /// The editor
    Client,
    /// The debug adapter
    Adapter,
}

impl Options {
    fn filter(&self) -> Filter {
        let mut filter = Filter::default();
        filter.only.clone_from(&self.only);
        filter.not.clone_from(&self.not);
        filter.from = self.from.map(|from| match from {
            From::Client => Side::Client,
            From::Adapter => Side::Adapter,
        });
        filter
    }
}

/// Runs `dapple trace`.
///
/// # Errors
/// A file can't be read or written, an adapter can't be started or reached, an address can't be listened on.
pub fn run(options: Options) -> Result<ExitCode> {
    if let [first, second] = options.diff.as_slice() {
        let (ignored, color) = (&options.ignore, options.color);
        return show::diff([first, second], ignored, options.questions, color);
    }
    if let (Some(file), Some(page), true) = (&options.file, &options.output, options.html) {
        return show::html(file, page);
    }
    if let Some(file) = &options.file {
        if options.output.is_some() {
            bail!(
                "--output belongs to `-- COMMAND`, --connect and --html: a recording is shown on standard output"
            );
        }
        return show::lines(file, options.filter(), options.bodies, options.color);
    }
    if options.command.is_empty() && options.connect.is_none() {
        bail!(
            "nothing to trace: give the adapter's command (`dapple trace -- lldb-dap`), the address where one listens (--connect) or a recording"
        );
    }
    between::run(&options)
}
