//! The streams that stubs speak on: TCP, Unix sockets, serial lines, and the standard input and output of a child process. All are non-blocking.

use super::after;
use crate::error::Error;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{Mode, OFlags};
use rustix::net::{AddressFamily, SendFlags, SocketAddrUnix, SocketFlags, SocketType};
use rustix::termios::{self, ControlModes, InputModes, OptionalActions, QueueSelector};
use std::convert::Infallible;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::str::FromStr;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a child may take to end after its input was closed.
const GRACE: Duration = Duration::from_millis(500);

/// Where a stub is.
///
/// As text, as in gdb's `target remote`: `HOST:PORT` (also `tcp:HOST:PORT`, `:PORT` for this machine, `[::1]:PORT`), `unix:PATH` or a path
/// with a `/`, `|COMMAND`, and a device such as `/dev/ttyUSB0` for a serial line, also `serial:PATH`. Behind the device may be its speed:
/// `/dev/ttyUSB0@115200`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Address {
    /// A host's name or address, and a port.
    Tcp(String, u16),
    /// A Unix socket.
    Unix(PathBuf),
    /// A serial line: the device, and its speed in bits per second. Without one, the line's speed stays what it is.
    Serial(PathBuf, Option<u32>),
    /// A command for `sh`, which speaks the protocol on its standard input and output. It has a process group of its own; what it writes to
    /// the standard error goes to that of this process, through a pipe: gdbserver would give a terminal to its program. It is killed if it does not end half a second after the connection does.
    Command(String),
}

/// A text that is no address of a stub.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is none of HOST:PORT, unix:PATH, /dev/DEVICE and |COMMAND")]
pub struct NoAddress(String);

impl FromStr for Address {
    type Err = NoAddress;

    fn from_str(text: &str) -> Result<Address, NoAddress> {
        if let Some(command) = text.strip_prefix('|') {
            return Ok(Address::Command(command.trim_start().to_owned()));
        }
        if let Some(path) = text.strip_prefix("unix:") {
            return Ok(Address::Unix(path.into()));
        }
        let device = text.strip_prefix("serial:");
        let is_device = text.starts_with("/dev/") && !text.starts_with("/dev/shm/");
        if let Some(device) = device.or_else(|| Some(text).filter(|_| is_device)) {
            return Ok(match device.rsplit_once('@') {
                Some((path, speed)) => {
                    let speed = speed.parse().ok().filter(|speed| *speed > 0);
                    let speed = speed.ok_or_else(|| NoAddress(text.to_owned()))?;
                    Address::Serial(path.into(), Some(speed))
                }
                None => Address::Serial(device.into(), None),
            });
        }
        let network = text.strip_prefix("tcp:").unwrap_or(text);
        if let Some((host, port)) = network.rsplit_once(':')
            && let Ok(port) = port.parse()
        {
            let host = host.trim_start_matches('[').trim_end_matches(']');
            let host = if host.is_empty() { "localhost" } else { host };
            return Ok(Address::Tcp(host.to_owned(), port));
        }
        match text.contains('/') {
            true => Ok(Address::Unix(text.into())),
            false => Err(NoAddress(text.to_owned())),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp(host, port) if host.contains(':') => write!(f, "[{host}]:{port}"),
            Address::Tcp(host, port) => write!(f, "{host}:{port}"),
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
            Address::Serial(path, None) => write!(f, "serial:{}", path.display()),
            Address::Serial(path, Some(speed)) => write!(f, "serial:{}@{speed}", path.display()),
            Address::Command(command) => write!(f, "|{command}"),
        }
    }
}

/// A stream to a stub.
#[derive(Debug)]
pub(super) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
    Serial(File),
    /// Fields are dropped in this order, so that the child can end by itself.
    Child {
        input: ChildStdin,
        output: ChildStdout,
        _ended: Ended,
        errors: Errors,
    },
}

/// A child process, which is waited for when this is dropped, and killed if it does not end.
#[derive(Debug)]
pub(super) struct Ended(Child);

impl Stream {
    pub(super) fn connect(address: &Address, time: Duration) -> Result<Stream, Error> {
        let connect = || format!("connect to {address}");
        match address {
            Address::Tcp(host, port) => connect_tcp(host, *port, time, address),
            Address::Unix(path) => {
                let name = SocketAddrUnix::new(path)
                    .map_err(|error| Error::io(connect())(error.into()))?;
                // Non-blocking, since connect(2) waits without limit for a socket whose queue is full.
                let socket = rustix::net::socket_with(
                    AddressFamily::UNIX,
                    SocketType::STREAM,
                    SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
                    None,
                )
                .and_then(|socket| rustix::net::connect(&socket, &name).map(|()| socket))
                .map_err(|error| Error::io(connect())(error.into()))?;
                Stream::unix(UnixStream::from(socket))
            }
            Address::Serial(path, speed) => {
                let line = open_serial(path, *speed);
                let line = line.map_err(|error| Error::io(connect())(error.into()))?;
                Ok(Stream::Serial(line))
            }
            Address::Command(command) => {
                let mut child = Command::new("sh")
                    .args(["-c", command])
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .process_group(0)
                    .spawn()
                    .map_err(Error::io(format!("run {command}")))?;
                let streams = child.stdin.take().zip(child.stdout.take());
                let errors = Errors::pass_on(child.stderr.take());
                let ended = Ended(child);
                let (input, output) = streams.ok_or_else(|| {
                    Error::io(format!("run {command}"))(io::ErrorKind::BrokenPipe.into())
                })?;
                let stream = Stream::Child {
                    input,
                    output,
                    _ended: ended,
                    errors,
                };
                stream.set_nonblocking()?;
                Ok(stream)
            }
        }
    }

    pub(super) fn unix(socket: UnixStream) -> Result<Stream, Error> {
        let stream = Stream::Unix(socket);
        stream.set_nonblocking()?;
        Ok(stream)
    }

    pub(super) fn tcp(socket: TcpStream) -> Result<Stream, Error> {
        // Packets are small and each waits for an answer.
        socket
            .set_nodelay(true)
            .map_err(Error::io("set TCP_NODELAY"))?;
        let stream = Stream::Tcp(socket);
        stream.set_nonblocking()?;
        Ok(stream)
    }

    fn set_nonblocking(&self) -> Result<(), Error> {
        for end in [self.input(), self.output()] {
            rustix::io::ioctl_fionbio(end, true)
                .map_err(|error| Error::io("make a stream non-blocking")(error.into()))?;
        }
        Ok(())
    }

    pub(super) fn input(&self) -> BorrowedFd<'_> {
        match self {
            Stream::Tcp(socket) => socket.as_fd(),
            Stream::Unix(socket) => socket.as_fd(),
            Stream::Serial(line) => line.as_fd(),
            Stream::Child { output, .. } => output.as_fd(),
        }
    }

    pub(super) fn output(&self) -> BorrowedFd<'_> {
        match self {
            Stream::Tcp(socket) => socket.as_fd(),
            Stream::Unix(socket) => socket.as_fd(),
            Stream::Serial(line) => line.as_fd(),
            Stream::Child { input, .. } => input.as_fd(),
        }
    }

    /// What the stub's command has written to the standard error in the end, when it has closed the connection.
    pub(super) fn last_words(&self) -> String {
        match self {
            Stream::Child { errors, .. } => errors.last_words(),
            _ => String::new(),
        }
    }

    /// Sends without SIGPIPE, where the system can. A pipe cannot: Rust's programs ignore that signal.
    pub(super) fn write(&self, bytes: &[u8]) -> Result<usize, rustix::io::Errno> {
        match self {
            Stream::Tcp(_) | Stream::Unix(_) => {
                rustix::net::send(self.output(), bytes, SendFlags::NOSIGNAL)
            }
            Stream::Serial(_) | Stream::Child { .. } => rustix::io::write(self.output(), bytes),
        }
    }
}

/// Opens a serial line, and has it pass on all bytes as they are. What has come before is dropped: the boot messages of a board, for example.
fn open_serial(path: &Path, speed: Option<u32>) -> rustix::io::Result<File> {
    // Non-blocking, since open(2) waits for a modem's carrier. Not the terminal that controls this process: it would get signals from it.
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let line = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let mut settings = termios::tcgetattr(&line)?;
    settings.make_raw();
    // Without a modem's lines and without flow control; with a receiver.
    settings.control_modes |= ControlModes::CLOCAL | ControlModes::CREAD;
    settings.control_modes -= ControlModes::CRTSCTS | ControlModes::CSTOPB;
    settings.input_modes -= InputModes::IXOFF | InputModes::IXANY;
    if let Some(speed) = speed {
        settings.set_speed(speed)?;
    }
    termios::tcsetattr(&line, OptionalActions::Now, &settings)?;
    termios::tcflush(&line, QueueSelector::IFlush)?;
    Ok(line)
}

fn connect_tcp(host: &str, port: u16, time: Duration, address: &Address) -> Result<Stream, Error> {
    let connect = || format!("connect to {address}");
    let deadline = after(time);
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    let found = (host, port)
        .to_socket_addrs()
        .map_err(Error::io(connect()))?;
    for place in found {
        let left = deadline.map_or(time, |end| end.saturating_duration_since(Instant::now()));
        if left.is_zero() {
            break;
        }
        match TcpStream::connect_timeout(&place, left) {
            Ok(socket) => return Stream::tcp(socket),
            Err(error) => last = error,
        }
    }
    match last.kind() {
        io::ErrorKind::TimedOut => Err(Error::TimedOut {
            what: format!("connection to {address}"),
        }),
        _ => Err(Error::io(connect())(last)),
    }
}

/// What a child writes to its standard error, which a thread passes on to ours.
#[derive(Debug)]
pub(super) struct Errors {
    /// The end of it.
    kept: Arc<Mutex<Vec<u8>>>,
    /// Disconnects when all was passed on.
    over: Receiver<Infallible>,
}

impl Errors {
    /// How much is kept, in bytes.
    const KEPT: usize = 1000;

    fn pass_on(from: Option<ChildStderr>) -> Errors {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let (open, over) = std::sync::mpsc::channel();
        let keeping = Arc::clone(&kept);
        let pass_on = move || {
            let _open: Sender<Infallible> = open;
            let mut buffer = [0; 4096];
            let Some(mut from) = from else { return };
            while let Ok(count @ 1..) = from.read(&mut buffer) {
                let bytes = &buffer[..count];
                let mut kept = keeping.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(bytes);
                let surplus = kept.len().saturating_sub(Self::KEPT);
                if surplus > 0 {
                    // Whole lines, if there are any.
                    let behind = kept
                        .iter()
                        .skip(surplus - 1)
                        .position(|byte| *byte == b'\n');
                    kept.drain(..surplus + behind.unwrap_or(0));
                }
                drop(kept);
                let _ = io::stderr().write_all(bytes);
            }
        };
        // Without a thread, nothing reads it, and the child is told so by SIGPIPE.
        let _ = std::thread::Builder::new()
            .name("stub's errors".into())
            .spawn(pass_on);
        Errors { kept, over }
    }

    /// The end of it, as one line. Waits a little for what is still on its way.
    fn last_words(&self) -> String {
        let _ = self.over.recv_timeout(GRACE);
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&kept);
        let text = text.replace(|it: char| it.is_control() && it != '\n', " ");
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join(" / ")
    }
}

impl Drop for Ended {
    /// The child's input is closed by now, by which stubs end. Kills its process group if it does not.
    fn drop(&mut self) {
        if ended_in_time(&self.0) {
            let _ = self.0.wait();
            return;
        }
        let id = i32::try_from(self.0.id()).ok();
        if let Some(group) = id.and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        // It may have left its group.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Whether a child ends in its time of grace. Without pidfd_open(2), it is taken not to.
fn ended_in_time(child: &Child) -> bool {
    let Some(id) = i32::try_from(child.id())
        .ok()
        .and_then(rustix::process::Pid::from_raw)
    else {
        return false;
    };
    let Ok(descriptor) = rustix::process::pidfd_open(id, rustix::process::PidfdFlags::empty())
    else {
        return false;
    };
    let mut polled = [PollFd::new(&descriptor, PollFlags::IN)];
    let grace = Timespec::try_from(GRACE).ok();
    matches!(rustix::event::poll(&mut polled, grace.as_ref()), Ok(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_gdb_reads_them() {
        let read = |text: &str| text.parse::<Address>().map(|address| address.to_string());
        assert_eq!(read("host:1234"), Ok("host:1234".to_owned()));
        assert_eq!(read(":1234"), Ok("localhost:1234".to_owned()));
        assert_eq!(read("tcp:[::1]:1234"), Ok("[::1]:1234".to_owned()));
        assert_eq!(read("/run/stub"), Ok("unix:/run/stub".to_owned()));
        assert_eq!(read("unix:stub"), Ok("unix:stub".to_owned()));
        assert_eq!(read("| vgdb"), Ok("|vgdb".to_owned()));
        assert_eq!(read("/dev/ttyS0"), Ok("serial:/dev/ttyS0".to_owned()));
        let named = "serial:line@115200";
        assert_eq!(read(named), Ok(named.to_owned()));
        let fast = "/dev/tty@fast";
        assert_eq!(read(fast), Err(NoAddress(fast.to_owned())));
        assert_eq!(read("host"), Err(NoAddress("host".to_owned())));
        assert_eq!(read("host:99999"), Err(NoAddress("host:99999".to_owned())));
    }

    #[test]
    fn a_child_that_does_not_end_is_killed() {
        let command = Address::Command("trap '' HUP TERM; while :; do :; done".to_owned());
        let stream = Stream::connect(&command, GRACE).unwrap();
        let Stream::Child { _ended: ended, .. } = &stream else {
            panic!("no child")
        };
        let path = format!("/proc/{}", ended.0.id());
        assert!(std::fs::exists(&path).unwrap());
        drop(stream);
        assert!(!std::fs::exists(&path).unwrap());
    }
}
