//! Adapters that are other programs: started, connected to and ended.
//!
//! Each is the leader of a session of its own, without a terminal: Ctrl-C is meant for the program that is debugged, and an adapter that has the
//! terminal but not its foreground is stopped by the kernel as soon as it reads from it or sets its modes.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use dapple_dap::client::end_child;
use dapple_dap::transport::{Connection, Options};

use super::{Address, Way};
use crate::debug::interrupts::Interrupts;

/// How long an adapter may take to end by itself.
const GRACE: Duration = Duration::from_secs(1);
/// How long one that listens may take until it does.
const STARTING: Duration = Duration::from_secs(20);
/// The pause between two tries to connect. The kernel doesn't tell when a process starts to listen.
const PAUSE: Duration = Duration::from_millis(20);
/// The most lines of a server's output in which its port is looked for.
const MOST_LINES: usize = 200;

/// Where an adapter has written something beside the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// To the stdout of one that listens. The programs of some have it, too.
    Output,
    /// To stderr.
    Errors,
}

/// Takes what adapters write beside the protocol.
#[derive(Clone)]
pub struct Listener {
    /// Whether it takes what is written to stderr. Otherwise they have ours.
    pub takes_errors: bool,
    /// Takes a text.
    pub told: Arc<dyn Fn(Written, String) + Send + Sync>,
}

impl Listener {
    fn errors(&self) -> Stdio {
        match self.takes_errors {
            true => Stdio::piped(),
            false => Stdio::inherit(),
        }
    }

    /// Reads the rest of an output on a thread, so that its writer doesn't wait.
    fn follow(&self, written: Written, output: impl Read + Send + 'static) {
        let told = Arc::clone(&self.told);
        let mut output = BufReader::new(output);
        thread::spawn(move || {
            while let Ok(bytes @ [_, ..]) = output.fill_buf() {
                let (text, count) = (String::from_utf8_lossy(bytes).into_owned(), bytes.len());
                output.consume(count);
                told(written, text);
            }
        });
    }
}

/// An adapter that runs. It is ended when this is dropped.
#[derive(Debug)]
pub struct AdapterProcess {
    /// `None`: it was started by somebody else.
    child: Option<Mutex<Child>>,
    /// Where it listens, if it does.
    address: Option<Address>,
}

impl AdapterProcess {
    /// Starts an adapter, if it isn't one that listens already, and connects to it. Ctrl-C ends the wait. `removed`: variables of our environment
    /// that it doesn't get, because the program may inherit them from it.
    ///
    /// # Errors
    /// It can't be started or connected to.
    pub fn start(
        way: &Way,
        removed: &[&str],
        options: Options,
        listener: &Listener,
        interrupts: &Interrupts,
    ) -> anyhow::Result<(Arc<Self>, Connection)> {
        match way {
            Way::Stdio(words) => {
                let mut child = spawn(words, removed, Stdio::piped(), listener)?;
                let (input, output) = (child.stdin.take(), child.stdout.take());
                let input = input.context("the adapter has no input")?;
                let output = output.context("the adapter has no output")?;
                let process = AdapterProcess {
                    child: Some(Mutex::new(child)),
                    address: None,
                };
                Ok((Arc::new(process), options.streams(output, input, || {})))
            }
            Way::Server(words) => {
                let mut child = spawn(words, removed, Stdio::null(), listener)?;
                let output = child.stdout.take().context("the adapter has no output")?;
                let mut process = AdapterProcess {
                    child: Some(Mutex::new(child)),
                    address: None,
                };
                let name = words.first().cloned().unwrap_or_default();
                let (ours, listener) = (interrupts, listener.clone());
                let listening = ours.wait("the start of the adapter", move || {
                    listens_at(output, &listener)
                })?;
                let address = listening.with_context(|| {
                    format!("`{}` does not say where it listens", name.display())
                })?;
                process.address = Some(address.into());
                let connection = process.connect(options, interrupts)?;
                Ok((Arc::new(process), connection))
            }
            Way::Listening(address, command) => {
                let words =
                    |command: &String| ["sh", "-c", &format!("exec {command}")].map(OsString::from);
                let child = command
                    .as_ref()
                    .map(|command| spawn(&words(command), removed, Stdio::null(), listener));
                let mut child = child.transpose()?;
                if let Some(output) = child.as_mut().and_then(|child| child.stdout.take()) {
                    listener.follow(Written::Output, output);
                }
                let process = AdapterProcess {
                    child: child.map(Mutex::new),
                    address: Some(address.clone()),
                };
                let connection = process.connect(options, interrupts)?;
                Ok((Arc::new(process), connection))
            }
        }
    }

    /// Whether it listens, and serves each connection its own session.
    pub fn listens(&self) -> bool {
        self.address.is_some()
    }

    /// Connects to an adapter that listens.
    ///
    /// # Errors
    /// It can't be reached.
    pub fn connect(&self, options: Options, interrupts: &Interrupts) -> anyhow::Result<Connection> {
        let address = self.address.clone().context("the adapter doesn't listen")?;
        let about = format!("can't connect to the adapter at {address}");
        let patience = match self.child.is_some() {
            true => STARTING,
            // Others may be about to start it.
            false => Duration::from_secs(2),
        };
        let connected = interrupts.wait("a connection", move || {
            let start = Instant::now();
            loop {
                let error = match connect_once(&address) {
                    Ok(stream) => return Ok(stream),
                    Err(error) => error,
                };
                let passes = matches!(
                    error.kind(),
                    io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound
                );
                if !passes || start.elapsed() > patience {
                    return Err(error);
                }
                thread::park_timeout(PAUSE);
            }
        })?;
        let connection = match connected.with_context(|| about.clone())? {
            Stream::Tcp(stream) => options.tcp(stream),
            Stream::Unix(stream) => options.unix(stream),
        };
        connection.context(about)
    }

    /// How it has ended, as the end of a sentence. `None`: it runs, or nothing is known.
    pub fn ended(&self) -> Option<String> {
        let mut child = self
            .child
            .as_ref()?
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let status = child.try_wait().ok()??;
        how(status)
    }
}

impl Drop for AdapterProcess {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let child = child.get_mut().unwrap_or_else(PoisonError::into_inner);
            // A server doesn't end because its clients are gone.
            let grace = match self.address {
                Some(_) => Duration::ZERO,
                None => GRACE,
            };
            // It is gone in any case.
            let _ = end_child(child, grace);
        }
    }
}

/// How a process has ended.
fn how(status: ExitStatus) -> Option<String> {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(0), _) => None,
        (Some(code), _) => Some(format!("with exit code {code}")),
        (None, Some(signal)) => {
            let name = signal_hook::low_level::signal_name(signal);
            Some(match name {
                Some(name) => format!("by {name}"),
                None => format!("by signal {signal}"),
            })
        }
        (None, None) => None,
    }
}

fn spawn(
    words: &[OsString],
    removed: &[&str],
    input: Stdio,
    listener: &Listener,
) -> anyhow::Result<Child> {
    let (program, arguments) = words.split_first().context("no adapter is given")?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(input).stdout(Stdio::piped());
    command.stderr(listener.errors());
    for name in removed {
        command.env_remove(name);
    }
    // SAFETY: setsid(2) is async-signal-safe, and nothing else is done between fork and exec.
    unsafe {
        command.pre_exec(|| Ok(rustix::process::setsid().map(drop)?));
    }
    let mut child = { command.spawn() }
        .with_context(|| format!("can't start the adapter `{}`", program.display()))?;
    if let Some(errors) = child.stderr.take() {
        listener.follow(Written::Errors, errors);
    }
    Ok(child)
}

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

fn connect_once(address: &Address) -> io::Result<Stream> {
    let text = match address {
        Address::Unix(path) => return UnixStream::connect(path).map(Stream::Unix),
        Address::Tcp(text) => text,
    };
    let mut refused = io::Error::other("the name has no address");
    for address in text.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, STARTING) {
            Ok(stream) => return Ok(Stream::Tcp(stream)),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

/// Reads where a server listens from its output. The rest of that may be the program's.
fn listens_at(output: ChildStdout, listener: &Listener) -> anyhow::Result<SocketAddr> {
    let mut lines = BufReader::new(output);
    for _ in 0..MOST_LINES {
        let mut line = String::new();
        if lines.read_line(&mut line)? == 0 {
            bail!("it has ended");
        }
        if let Some(address) = address_in(&line) {
            listener.follow(Written::Output, lines);
            return Ok(address);
        }
    }
    bail!("its first {MOST_LINES} lines have no address")
}

/// The first address with a port in a line, of this machine.
fn address_in(line: &str) -> Option<SocketAddr> {
    let words = line.split(|c: char| c.is_whitespace() || "\"'(),".contains(c));
    let addresses = words.filter_map(|word| word.trim_end_matches('.').parse().ok());
    { addresses }.find(|address: &SocketAddr| address.ip().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_say_where_they_listen() {
        let at = |line: &str| address_in(line).map(|address| address.to_string());
        assert_eq!(
            at("DAP server listening at: 127.0.0.1:37389\n").as_deref(),
            Some("127.0.0.1:37389")
        );
        assert_eq!(at("listening on [::1]:80.").as_deref(), Some("[::1]:80"));
        assert_eq!(at("version 1.2.3.4"), None);
        // Nobody is to be led elsewhere.
        assert_eq!(at("listening at 10.0.0.1:80"), None);
    }
}
