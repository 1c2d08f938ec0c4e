//! The two ends that are traced: the editor's and the adapter's, on stdio, TCP or a Unix socket.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::listening::Address;
use dapple_dap::transport::listen::{check_tcp_peer, check_unix_peer, is_loopback};

/// For how long connecting is tried: the adapter may still be starting.
const STARTING: Duration = Duration::from_secs(10);

/// The pause between two tries. The kernel doesn't notify when a process starts to listen.
const PAUSE: Duration = Duration::from_millis(20);

/// Where one end's bytes come from and go to.
pub struct End {
    pub input: Box<dyn Read + Send>,
    pub output: Output,
}

/// An output whose reader sees its end when it is dropped.
pub enum Output {
    Pipe(File),
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Pipe(file) => file.write(bytes),
            Self::Tcp(stream) => stream.write(bytes),
            Self::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        // None of them has a buffer.
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // The other half of a socket is still read.
        match self {
            Self::Pipe(_) => {}
            Self::Tcp(stream) => drop(stream.shutdown(Shutdown::Write)),
            Self::Unix(stream) => drop(stream.shutdown(Shutdown::Write)),
        }
    }
}

impl End {
    /// This process's standard input and output. Both are replaced by /dev/null, so that closing the end closes them.
    pub fn stdio() -> Result<Self> {
        let cannot = "cannot take over standard input and output";
        let input = io::stdin().as_fd().try_clone_to_owned().context(cannot)?;
        let output = io::stdout().as_fd().try_clone_to_owned().context(cannot)?;
        let null = File::options().read(true).write(true).open("/dev/null");
        let null = null.context(cannot)?;
        rustix::stdio::dup2_stdin(&null).context(cannot)?;
        rustix::stdio::dup2_stdout(&null).context(cannot)?;
        Ok(Self {
            input: Box::new(File::from(input)),
            output: Output::Pipe(File::from(output)),
        })
    }

    pub fn child(input: ChildStdin, output: ChildStdout) -> Self {
        let input = std::os::fd::OwnedFd::from(input);
        Self {
            input: Box::new(File::from(std::os::fd::OwnedFd::from(output))),
            output: Output::Pipe(File::from(input)),
        }
    }

    /// Closes the end's socket in both directions when it is called, to wake threads that wait for it. Pipes are closed by their owner.
    pub fn closer(&self) -> Box<dyn FnOnce() + Send> {
        match &self.output {
            Output::Pipe(_) => Box::new(|| {}),
            Output::Tcp(stream) => {
                let stream = stream.try_clone();
                Box::new(move || drop(stream.map(|stream| stream.shutdown(Shutdown::Both))))
            }
            Output::Unix(stream) => {
                let stream = stream.try_clone();
                Box::new(move || drop(stream.map(|stream| stream.shutdown(Shutdown::Both))))
            }
        }
    }

    fn tcp(stream: TcpStream) -> io::Result<Self> {
        // Small messages are not to wait for others.
        stream.set_nodelay(true)?;
        Ok(Self {
            input: Box::new(stream.try_clone()?),
            output: Output::Tcp(stream),
        })
    }

    fn unix(stream: UnixStream) -> io::Result<Self> {
        Ok(Self {
            input: Box::new(stream.try_clone()?),
            output: Output::Unix(stream),
        })
    }
}

/// An address to listen on: as for `dapple dap`, or only a port.
pub fn address(text: OsString) -> Result<Address, String> {
    match text.to_str().and_then(|text| text.parse::<u16>().ok()) {
        Some(port) => Ok(Address::Tcp((Ipv4Addr::LOCALHOST, port).into())),
        None => Address::parse(text),
    }
}

/// Connects to an adapter that listens, or is about to.
pub fn connect(text: &OsString) -> Result<End> {
    let start = Instant::now();
    loop {
        let error = match try_to_connect(text) {
            Ok(end) => return Ok(end),
            Err(error) => error,
        };
        let passes = matches!(
            error.kind(),
            io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound
        );
        if !passes || start.elapsed() > STARTING {
            return Err(error)
                .with_context(|| format!("cannot connect to the adapter at {}", text.display()));
        }
        std::thread::park_timeout(PAUSE);
    }
}

fn try_to_connect(text: &OsString) -> io::Result<End> {
    if let Some(path) = text.as_bytes().strip_prefix(b"unix:") {
        let path = Path::new(std::ffi::OsStr::from_bytes(path));
        return End::unix(UnixStream::connect(path)?);
    }
    let text = text.to_str().unwrap_or_default();
    let addresses: Vec<SocketAddr> = match text.parse::<u16>() {
        Ok(port) => vec![(Ipv4Addr::LOCALHOST, port).into()],
        Err(_) => text.to_socket_addrs()?.collect(),
    };
    let mut refused = io::Error::other("the name has no address");
    for address in addresses {
        match TcpStream::connect_timeout(&address, STARTING) {
            Ok(stream) => return End::tcp(stream),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

/// A listening socket for editors.
pub enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, std::path::PathBuf),
}

impl Listener {
    /// Listens; on an address that other machines can reach only if that is allowed.
    pub fn bind(address: &Address, allow_remote: bool) -> Result<Self> {
        match address {
            Address::Tcp(address) => {
                if !allow_remote && !is_loopback(address.ip()) {
                    bail!(
                        "--listen: {address} can be reached from other machines, which could run programs here; listen on 127.0.0.1 \
                         or [::1], or allow it by --allow-remote"
                    );
                }
                let listener = TcpListener::bind(address);
                let listener = listener.with_context(|| format!("--listen: {address}"))?;
                Ok(Self::Tcp(listener))
            }
            Address::Unix(path) => {
                let listener = UnixListener::bind(path);
                let listener =
                    listener.with_context(|| format!("--listen: unix:{}", path.display()))?;
                Ok(Self::Unix(listener, path.clone()))
            }
        }
    }

    /// The address in the form that `--listen` takes.
    pub fn name(&self) -> String {
        match self {
            Self::Tcp(listener) => match listener.local_addr() {
                Ok(address) => address.to_string(),
                Err(error) => format!("an unknown port: {error}"),
            },
            Self::Unix(_, path) => format!("unix:{}", path.display()),
        }
    }

    /// Waits up to a time for the next editor of this user. Others are turned away.
    pub fn accept_within(&self, time: Duration) -> Result<Option<End>> {
        let cannot = "cannot accept connections";
        let mut ready = [match self {
            Self::Tcp(listener) => PollFd::new(listener, PollFlags::IN),
            Self::Unix(listener, _) => PollFd::new(listener, PollFlags::IN),
        }];
        let time = Timespec::try_from(time).context(cannot)?;
        match poll(&mut ready, Some(&time)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(None),
            Ok(_) => {}
            Err(error) => return Err(error).context(cannot),
        }
        match self {
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept().context(cannot)?;
                match check_tcp_peer(&stream) {
                    Ok(()) => return Ok(Some(End::tcp(stream).context(cannot)?)),
                    Err(refused) => eprintln!("dapple: {refused}"),
                }
            }
            Self::Unix(listener, _) => {
                let (stream, _) = listener.accept().context(cannot)?;
                match check_unix_peer(&stream) {
                    Ok(()) => return Ok(Some(End::unix(stream).context(cannot)?)),
                    Err(refused) => eprintln!("dapple: {refused}"),
                }
            }
        }
        Ok(None)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            fs::remove_file(path).ok();
        }
    }
}
