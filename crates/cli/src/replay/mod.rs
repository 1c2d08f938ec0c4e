//! `dapple replay`: debugs the recording of a program in the terminal, as `dapple debug` does a program; or plays a side of a recorded
//! session of the protocol ([`session`]). The file says which of the two it is.

mod session;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::bail;
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueEnum};

use crate::debug::{self, SourceFolders, style::Color};
use crate::listening::Address;
use crate::trace::ends;

const PROGRAM: &str = "With the recording of a program, by `dapple record`";
const SESSION: &str = "With a recorded session of the protocol, by `dapple trace -o` or --log";

/// The options of `dapple replay`.
#[derive(Args)]
#[command(
    override_usage = "dapple replay [OPTIONS] RECORDING                   debug the recorded program\n       \
                      dapple replay [--listen ADDRESS] SESSION            play the adapter of a session to an editor\n       \
                      dapple replay --as client SESSION -- COMMAND…       drive an adapter, and compare what it says\n       \
                      dapple replay --minimize SESSION [-- COMMAND…]      cut a session down to what shows a violation"
)]
pub struct Options {
    /// Run this command at the start; may be given again, in order
    #[arg(long = "ex", value_name = "COMMAND", help_heading = PROGRAM)]
    commands: Vec<String>,

    /// Leave after the last --ex command, with 1 at the first command that fails
    #[arg(long, help_heading = PROGRAM)]
    batch: bool,

    /// Use colours
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    color: Color,

    /// Append every message between us and the adapter to this file, which only you can read
    #[arg(long, value_name = "FILE", help_heading = PROGRAM)]
    log: Option<PathBuf>,

    /// Ask debuginfod servers (DEBUGINFOD_URLS) for the debug information of modules that have none
    #[arg(long, help_heading = PROGRAM)]
    debuginfod: bool,

    /// Sources that were in folder FROM when the program was compiled are in folder TO here; may be given again
    #[arg(long, value_name = "FROM=TO", value_parser = debug::source_folders, help_heading = PROGRAM)]
    source_map: Vec<SourceFolders>,

    /// Show values of your types as this Natvis file says; may be given again
    #[arg(long, value_name = "FILE", help_heading = PROGRAM)]
    natvis: Vec<PathBuf>,

    /// The side to play
    #[arg(long = "as", value_enum, value_name = "SIDE", help_heading = SESSION)]
    side: Option<As>,

    /// Play the adapter to each connection here, instead of on stdio: PORT, ADDRESS:PORT or unix:PATH
    #[arg(long, value_name = "ADDRESS", help_heading = SESSION, value_parser = OsStringValueParser::new().try_map(ends::address))]
    listen: Option<Address>,

    /// The session to play, where several are recorded: a number from 1
    #[arg(long, value_name = "NUMBER", help_heading = SESSION)]
    session: Option<usize>,

    /// Don't compare fields of this name; may be given again
    #[arg(long, value_name = "FIELD", help_heading = SESSION)]
    ignore: Vec<String>,

    /// How long to wait for each message of the adapter
    #[arg(long, value_name = "SECONDS", help_heading = SESSION, value_parser = clap::value_parser!(u32).range(1..))]
    timeout: Option<u32>,

    /// Write the shortest session that still breaks a rule
    #[arg(long, conflicts_with_all = ["side", "listen"], help_heading = SESSION)]
    minimize: bool,

    /// The rule that --minimize keeps broken, by the name that `dapple trace` shows; without it, the first that is broken
    #[arg(long, value_name = "RULE", requires = "minimize", help_heading = SESSION)]
    violation: Option<String>,

    /// Write the session here: the shortest one, or with --as client the one with the adapter of now
    #[arg(short, long, value_name = "FILE", help_heading = SESSION)]
    output: Option<PathBuf>,

    /// The recording: of a program, which `dapple record` has made, or of a session
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The adapter's command, for --as client and --minimize
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// The side to play.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum As {
    /// The adapter, to an editor: what was said then, without the program
    Adapter,
    /// The client, to the adapter COMMAND: whether it still says the same
    Client,
}

impl Options {
    fn patience(&self) -> Duration {
        Duration::from_secs(self.timeout.unwrap_or(10).into())
    }

    /// The first option given that belongs to the other kind of file.
    fn misplaced(&self, is_session: bool) -> Option<&'static str> {
        let of_programs = [
            ("--ex", !self.commands.is_empty()),
            ("--batch", self.batch),
            ("--log", self.log.is_some()),
            ("--debuginfod", self.debuginfod),
            ("--source-map", !self.source_map.is_empty()),
            ("--natvis", !self.natvis.is_empty()),
        ];
        let of_sessions = [
            ("--as", self.side.is_some()),
            ("--listen", self.listen.is_some()),
            ("--session", self.session.is_some()),
            ("--ignore", !self.ignore.is_empty()),
            ("--timeout", self.timeout.is_some()),
            ("--minimize", self.minimize),
            ("--output", self.output.is_some()),
            ("COMMAND", !self.command.is_empty()),
        ];
        let others: &[(&'static str, bool)] = match is_session {
            true => &of_programs,
            false => &of_sessions,
        };
        let mut given = others.iter().filter(|(_, given)| *given);
        given.next().map(|(name, _)| *name)
    }
}

/// Debugs the recording until the user leaves it, or plays the session, and returns the exit code.
///
/// # Errors
/// As those of [`debug::run`]; an option belongs to the other kind of file; the adapter can't be started.
pub fn run(options: Options) -> anyhow::Result<u8> {
    // What can't be read is reported by the debugger.
    let is_session = session::is_session(&options.file).unwrap_or(false);
    if let Some(option) = options.misplaced(is_session) {
        let file = options.file.display();
        match is_session {
            true => bail!(
                "{option} is for recorded programs, and {file} is a recorded session of the protocol"
            ),
            false => bail!("{option} is for recorded sessions of the protocol, and {file} is none"),
        }
    }
    if is_session {
        return session::run(&options);
    }
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
