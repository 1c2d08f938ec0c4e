//! `dapple dap`: serves the debug adapter to a client, on stdio or, with `--listen`, to many clients at once on TCP or a Unix socket. With `--on`,
//! the adapter is at another place (`on`).
//!
//! SIGINT, SIGTERM and SIGHUP end every session as a `disconnect` would, so that no debuggee is left behind.

use std::convert::Infallible;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use crossbeam_channel::{Receiver, bounded};
use dapple_adapter::arguments::schema;
use dapple_adapter::{ServeOptions, apart, serve};
use dapple_dap::lifecycle::Side;
use dapple_dap::transport::listen::{ListenError, Reach};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::cache;
use crate::listening::{self, Address, Server};
use crate::on::{self, Place};
use crate::wire_log::WireLog;

/// The options of `dapple dap`.
#[derive(Args)]
pub struct Options {
    /// Serve each connection on this address its own session, instead of one session on stdio: HOST:PORT, or unix:PATH for a
    /// socket that only you can use
    #[arg(long, value_name = "ADDR", value_parser = OsStringValueParser::new().try_map(Address::parse))]
    pub listen: Option<Address>,

    /// End when there has been no session for this long
    #[arg(long, value_name = "SECONDS", requires = "listen", value_parser = clap::value_parser!(u32).range(1..))]
    pub idle_timeout: Option<u32>,

    /// Accept a --listen address that other machines can reach: anyone who connects can run programs as you
    #[arg(long, requires = "listen")]
    pub allow_remote: bool,

    /// Serve the adapter at this place, where the program is: ssh://USER@HOST:PORT, docker://NAME, podman://NAME,
    /// kubectl://NAMESPACE/POD/CONTAINER, or a command that runs others there, as in exec:'nsenter -t 1234 -a'
    #[arg(long, value_name = "PLACE", value_parser = Place::parse, conflicts_with_all = ["listen", "log", "far"])]
    pub on: Option<Place>,

    /// With --on, send this executable in place of the one that runs, as one that needs no libraries
    #[arg(long, value_name = "FILE", requires = "on")]
    pub far_binary: Option<PathBuf>,

    /// The client is on another machine: give it the texts of sources in place of their paths here
    #[arg(long, hide = true)]
    pub far: bool,

    /// Append every message to this file, which only you can read; `dapple schema validate` checks it
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,

    /// Print the JSON schema of launch configurations instead of serving
    #[arg(long, exclusive = true)]
    pub launch_schema: bool,
}

/// How long sessions may take to end after the process that the client started was killed.
const GRACE: Duration = Duration::from_secs(10);

/// Serves until the client disconnects; with `--listen`, until a signal ends the process or the idle timeout has passed.
pub fn run(options: Options) -> anyhow::Result<ExitCode> {
    if options.launch_schema {
        return print_launch_schema().map(|()| ExitCode::SUCCESS);
    }
    if let Some(place) = &options.on {
        return on::serve(place, options.far_binary.as_deref());
    }
    // A client may kill the process that it has started, so the adapter moves into another one. A user who types messages on a terminal
    // needs the adapter in the terminal's foreground process group, so it stays there.
    let apart = match options.listen.is_none() && !std::io::stdin().is_terminal() {
        true => apart::go_apart().ok(),
        false => None,
    };
    let front = apart.as_ref().and_then(|apart| apart.front().ok());
    // Removes directories that killed debuggers left behind. If the thread can't be started, the next start of the adapter does that.
    let cleaning = thread::Builder::new()
        .name("cleaning".to_owned())
        .spawn(dapple_adapter::private_folder::remove_abandoned);
    let outcome = serve_until_the_end(options, front);
    // The thread fails only by a panic, which has printed its own message.
    let _ = cleaning.map(thread::JoinHandle::join);
    if let Some(apart) = apart {
        apart.end_with(u8::from(outcome.is_err()));
    }
    outcome.map(|()| ExitCode::SUCCESS)
}

/// Prints the schema, as in the repository's `crates/adapter/launch-schema.json`.
fn print_launch_schema() -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(&schema::launch_schema())?;
    Ok(writeln!(std::io::stdout(), "{text}")?)
}

fn serve_until_the_end(options: Options, front: Option<apart::Front>) -> anyhow::Result<()> {
    // Standard output carries the protocol; the adapter's own messages go to standard error.
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .without_time()
        .with_target(false)
        .with_max_level(tracing::Level::WARN)
        .init();
    let log = WireLog::open_if(options.log.as_deref(), Side::Adapter)?;
    let shutdown = ended_by_signal(front)?;
    match options.listen {
        None => {
            let connection = log.options(1).stdio();
            serve(connection, serve_options(&shutdown, options.far))
                .context("the client's messages")
        }
        Some(address) => {
            let reach = match options.allow_remote {
                true => Reach::Anywhere,
                false => Reach::Loopback,
            };
            let idle = options.idle_timeout;
            let idle = idle.map(|seconds| Duration::from_secs(seconds.into()));
            listen(address, reach, idle, log, &shutdown)
        }
    }
}

fn serve_options(shutdown: &Receiver<Infallible>, is_far: bool) -> ServeOptions {
    ServeOptions {
        shutdown: shutdown.clone(),
        index_cache: cache::open_if_possible(),
        launcher: crate::in_terminal::command(),
        programs: crate::folders::programs(),
        is_far,
        ..ServeOptions::default()
    }
}

/// Serves every connection on a thread of its own, until a signal arrives or there has been no session for as long as `idle`; then waits
/// for the sessions to end.
fn listen(
    address: Address,
    reach: Reach,
    idle: Option<Duration>,
    log: WireLog,
    shutdown: &Receiver<Infallible>,
) -> anyhow::Result<()> {
    let server = Server::bind(address, reach).map_err(|error| match error {
        ListenError::NotLoopback { .. } => {
            anyhow::Error::new(error).context("--listen (see --allow-remote)")
        }
        _ => anyhow::Error::new(error).context("--listen"),
    })?;
    eprintln!("listening on {server}");
    let options = serve_options(shutdown, false);
    let session = move |number, connection| {
        if let Err(error) = serve(connection, options.clone()) {
            tracing::error!(connection = number, %error, "the session has ended");
        }
    };
    listening::serve(
        server,
        |number| log.options(number),
        session,
        idle,
        shutdown,
    )
}

/// The error message if a thread can't be started; the system's reason follows it.
const NO_THREAD: &str = "this process can't start a thread, for want of memory (`ulimit -v`) or since there are too many (`ulimit -u`)";

/// A channel that closes when a signal asks the process to end, or when the front process (which the client started) has ended while a session
/// has attached to a process. Without such a session, this process exits as soon as the front process has ended.
fn ended_by_signal(front: Option<apart::Front>) -> anyhow::Result<Receiver<Infallible>> {
    let mut signals =
        Signals::new([SIGINT, SIGTERM, SIGHUP]).context("cannot take care of signals")?;
    let (sender, receiver) = bounded(0);
    let handle = signals.handle();
    let wait = move || {
        signals.forever().next();
        drop(sender);
    };
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(wait)
        .context(NO_THREAD)?;
    if let Some(front) = front {
        let wait = move || {
            front.wait();
            if apart::guards_any() {
                // An attached process has to be detached first.
                handle.close();
                thread::park_timeout(GRACE);
            }
            // Launched programs are killed with this process.
            std::process::exit(1);
        };
        thread::Builder::new()
            .name("front".to_owned())
            .spawn(wait)
            .context(NO_THREAD)?;
    }
    Ok(receiver)
}
