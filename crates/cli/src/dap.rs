//! `dapple dap`: serves the debug adapter to a client, on stdio or, with `--listen`, to many clients at once on TCP.
//!
//! SIGINT, SIGTERM and SIGHUP end every session as a `disconnect` would, so that no debuggee is left behind.

use std::convert::Infallible;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use anyhow::Context;
use clap::Args;
use crossbeam_channel::{Receiver, bounded};
use dapple_adapter::{ServeOptions, serve};
use dapple_dap::transport::listen::{AcceptError, Reach, TcpServer};
use dapple_dap::transport::{self, Direction};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// What `dapple dap` can be told.
#[derive(Args)]
pub struct Options {
    /// Serve each connection on this address its own session, instead of one session on stdio
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<SocketAddr>,

    /// Accept a --listen address that other machines can reach: anyone who connects can run programs as you
    #[arg(long, requires = "listen")]
    pub allow_remote: bool,

    /// Append every message to this file, which only you can read
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
}

/// Serves until the client is gone; with `--listen`, until the process is ended.
pub fn run(options: Options) -> anyhow::Result<()> {
    // Standard output carries the protocol; what the adapter has to say beside it goes to standard error.
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .without_time()
        .with_target(false)
        .with_max_level(tracing::Level::WARN)
        .init();
    let log = options.log.as_deref().map(WireLog::open).transpose()?;
    let shutdown = ended_by_signal()?;
    match options.listen {
        None => {
            let connection = wire(log.as_ref(), 1).stdio();
            serve(connection, serve_options(&shutdown));
            Ok(())
        }
        Some(address) => {
            let reach = match options.allow_remote {
                true => Reach::Anywhere,
                false => Reach::Loopback,
            };
            listen(address, reach, log, &shutdown)
        }
    }
}

fn serve_options(shutdown: &Receiver<Infallible>) -> ServeOptions {
    ServeOptions {
        shutdown: shutdown.clone(),
        ..ServeOptions::default()
    }
}

/// Serves every connection on a thread of its own until a signal comes, then waits for the sessions to end.
fn listen(
    address: SocketAddr,
    reach: Reach,
    log: Option<Arc<WireLog>>,
    shutdown: &Receiver<Infallible>,
) -> anyhow::Result<()> {
    let server = TcpServer::bind(address, reach).map_err(|error| match reach {
        Reach::Loopback => anyhow::Error::new(error).context("--listen (see --allow-remote)"),
        Reach::Anywhere => anyhow::Error::new(error).context("--listen"),
    })?;
    eprintln!("listening on {}", server.address()?);
    let sessions = Arc::new(Mutex::new(Vec::new()));
    let (failed, failure) = bounded(1);
    let accepting = {
        let (sessions, shutdown) = (sessions.clone(), shutdown.clone());
        move || failed.send(accept(&server, log, &shutdown, &sessions))
    };
    thread::Builder::new()
        .name("accept".to_owned())
        .spawn(accepting)?;
    let outcome = crossbeam_channel::select! {
        recv(shutdown) -> _ => Ok(()),
        recv(failure) -> error => error.unwrap_or_else(|_| Err(anyhow::anyhow!("the accepting thread failed"))),
    };
    let sessions = std::mem::take(&mut *sessions.lock().unwrap_or_else(PoisonError::into_inner));
    for session in sessions {
        // A session that panicked has said so on stderr; the others still end in order.
        session.join().ok();
    }
    outcome
}

/// Takes connections until the system refuses to give any.
fn accept(
    server: &TcpServer,
    log: Option<Arc<WireLog>>,
    shutdown: &Receiver<Infallible>,
    sessions: &Mutex<Vec<JoinHandle<()>>>,
) -> anyhow::Result<()> {
    for number in 1.. {
        let connection = match server.accept(wire(log.as_ref(), number)) {
            Ok(connection) => connection,
            Err(AcceptError::Io(error)) if is_passing(&error) => continue,
            Err(AcceptError::Io(error)) => return Err(error).context("cannot accept connections"),
            Err(refused) => {
                tracing::warn!("{refused}");
                continue;
            }
        };
        let options = serve_options(shutdown);
        let session = thread::Builder::new()
            .name(format!("session-{number}"))
            .spawn(move || serve(connection, options))?;
        let mut sessions = sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|session| !session.is_finished());
        sessions.push(session);
    }
    Ok(())
}

/// Errors of one connection that was gone before it was accepted, accept(2).
fn is_passing(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionReset | Interrupted
    )
}

/// A channel that closes when a signal asks the process to end.
fn ended_by_signal() -> anyhow::Result<Receiver<Infallible>> {
    let mut signals =
        Signals::new([SIGINT, SIGTERM, SIGHUP]).context("cannot take care of signals")?;
    let (sender, receiver) = bounded(0);
    let wait = move || {
        signals.forever().next();
        drop(sender);
    };
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(wait)?;
    Ok(receiver)
}

/// How a session's connection is made.
fn wire(log: Option<&Arc<WireLog>>, session: u64) -> transport::Options {
    match log.cloned() {
        None => transport::Options::new(),
        Some(log) => transport::Options::new()
            .tap(move |direction, message| log.write(session, direction, message)),
    }
}

/// Every message of every session, a line each: the session's number, `<-` received or `->` sent, the JSON.
struct WireLog(Mutex<File>);

impl WireLog {
    fn open(path: &Path) -> anyhow::Result<Arc<WireLog>> {
        // Messages hold whatever the debugged program does.
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(path);
        let file = file.with_context(|| format!("cannot open the log {}", path.display()))?;
        Ok(Arc::new(WireLog(Mutex::new(file))))
    }

    fn write(&self, session: u64, direction: Direction, message: &[u8]) {
        let arrow = match direction {
            Direction::Received => "<-",
            Direction::Sent => "->",
        };
        let mut line = format!("{session} {arrow} ").into_bytes();
        // Newlines in JSON text stand between tokens only.
        line.extend(
            message
                .iter()
                .map(|byte| if *byte == b'\n' { b' ' } else { *byte }),
        );
        line.push(b'\n');
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A full disk must not end the session.
        file.write_all(&line).ok();
    }
}
