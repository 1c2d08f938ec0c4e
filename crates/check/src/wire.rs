//! The bytes to and from an adapter, as they are.
//!
//! Nothing is refused here, since what a client must not send is sent, too. A thread reads what the adapter writes.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, unbounded};
use dapple_dap::client::end_child;
use dapple_dap::codec::Decoder;

/// How long is waited before an adapter is asked again whether it listens, or has ended.
const RETRY: Duration = Duration::from_millis(10);

/// What the adapter has written.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// A message's text.
    Text(String),
    /// Bytes that are no message.
    Malformed(String),
    /// Nothing more comes.
    Closed,
}

/// An adapter that was started: where its input goes and its output comes from, and its process, if it is one.
pub struct Started {
    /// What the adapter reads.
    pub input: Box<dyn Write + Send>,
    /// What the adapter writes.
    pub output: Box<dyn Read + Send>,
    /// Its process, which ends with the session.
    pub process: Option<Child>,
    /// The process that it is a part of, which may serve other clients. It is ended once the check is over.
    pub server: Option<Child>,
}

/// Starts an adapter, as often as a check needs one.
pub trait Adapter: Sync {
    /// Starts it anew.
    ///
    /// # Errors
    /// It can't be started.
    fn start(&self) -> io::Result<Started>;

    /// Connects once more to the adapter that was started last, for a session that it has asked for by `startDebugging`.
    ///
    /// # Errors
    /// It can't be connected to; by default, it never can.
    fn connect(&self) -> io::Result<Started> {
        Err(io::Error::other(
            "it takes one connection; an adapter that listens takes several",
        ))
    }
}

/// An adapter that is a program. It uses its standard input and output, or listens on TCP.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// The program and its arguments. It may be empty where an adapter listens already.
    pub command: Vec<String>,
    /// The address that it listens on, such as `127.0.0.1:4711`.
    pub connect: Option<String>,
    /// How long it may take until it listens.
    pub patience: Duration,
}

impl Program {
    /// An adapter on standard input and output.
    pub fn new(command: Vec<String>) -> Self {
        Self {
            command,
            connect: None,
            patience: Duration::from_secs(10),
        }
    }

    fn spawn(&self, uses_pipes: bool) -> io::Result<Option<Child>> {
        let Some((program, arguments)) = self.command.split_first() else {
            return Ok(None);
        };
        let pipe = || {
            if uses_pipes {
                Stdio::piped()
            } else {
                Stdio::null()
            }
        };
        let mut command = Command::new(program);
        command
            .args(arguments)
            .stdin(pipe())
            .stdout(pipe())
            .stderr(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn().map(Some)
    }

    /// Connects to the adapter, once it listens.
    fn connected(&self, address: &str) -> io::Result<TcpStream> {
        let until = Instant::now() + self.patience;
        loop {
            match TcpStream::connect(address) {
                Err(error)
                    if error.kind() == io::ErrorKind::ConnectionRefused
                        && Instant::now() < until =>
                {
                    std::thread::park_timeout(RETRY);
                }
                outcome => return outcome,
            }
        }
    }
}

impl Adapter for Program {
    fn start(&self) -> io::Result<Started> {
        let mut process = self.spawn(self.connect.is_none())?;
        if let Some(address) = &self.connect {
            let stream = match self.connected(address) {
                Ok(stream) => stream,
                Err(error) => {
                    kill(&mut process);
                    return Err(error);
                }
            };
            return over_tcp(stream, process);
        }
        let pipes = { process.as_mut() }.and_then(|it| it.stdin.take().zip(it.stdout.take()));
        let (input, output) = pipes.ok_or_else(|| io::Error::other("no command was given"))?;
        Ok(Started {
            input: Box::new(input),
            output: Box::new(output),
            process,
            server: None,
        })
    }

    fn connect(&self) -> io::Result<Started> {
        match &self.connect {
            Some(address) => over_tcp(self.connected(address)?, None),
            None => Err(io::Error::other(
                "it uses its standard input and output, and so takes one connection; start one that listens, with --connect",
            )),
        }
    }
}

fn over_tcp(stream: TcpStream, server: Option<Child>) -> io::Result<Started> {
    stream.set_nodelay(true).ok();
    Ok(Started {
        output: Box::new(stream.try_clone()?),
        input: Box::new(ClosedOnDrop(stream)),
        process: None,
        server,
    })
}

/// The writing end of a socket, whose peer notices that it is dropped.
struct ClosedOnDrop(TcpStream);

impl Write for ClosedOnDrop {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for ClosedOnDrop {
    fn drop(&mut self) {
        self.0.shutdown(Shutdown::Write).ok();
    }
}

/// Kills a process with its descendants.
fn kill(process: &mut Option<Child>) {
    if let Some(process) = process {
        end_child(process, Duration::ZERO).ok();
    }
}

/// A connection with an adapter that was started.
pub(crate) struct Wire {
    input: Option<Box<dyn Write + Send>>,
    incoming: Receiver<Incoming>,
    process: Option<Child>,
    server: Option<Child>,
}

impl Wire {
    pub(crate) fn new(started: Started) -> Self {
        let (sender, incoming) = unbounded();
        let mut output = started.output;
        std::thread::spawn(move || {
            let mut decoder = Decoder::new();
            let mut piece = vec![0; 64 << 10];
            loop {
                match output.read(&mut piece) {
                    Ok(0) | Err(_) => break,
                    Ok(length) => decoder.push(&piece[..length]),
                }
                loop {
                    let next = match decoder.next() {
                        Ok(None) => break,
                        Ok(Some(text)) => Incoming::Text(text),
                        Err(error) => Incoming::Malformed(error.to_string()),
                    };
                    if sender.send(next).is_err() || decoder.is_lost() {
                        return;
                    }
                }
            }
            sender.send(Incoming::Closed).ok();
        });
        Self {
            input: Some(started.input),
            incoming,
            process: started.process,
            server: started.server,
        }
    }

    /// Writes a message with its header.
    pub(crate) fn send(&mut self, text: &str) {
        let message = format!("Content-Length: {}\r\n\r\n{text}", text.len());
        self.send_bytes(message.as_bytes());
    }

    /// Writes bytes as they are. That the adapter reads no more shows when it is waited for.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        if let Some(input) = &mut self.input {
            input.write_all(bytes).and_then(|()| input.flush()).ok();
        }
    }

    /// Waits for what the adapter writes next. `None`: nothing has come in time.
    pub(crate) fn next(&self, until: Instant) -> Option<Incoming> {
        match self.incoming.recv_deadline(until) {
            Ok(incoming) => Some(incoming),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Incoming::Closed),
        }
    }

    /// Closes the adapter's input.
    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    /// Whether the adapter's process ends in time. An adapter without a process of its own does, when it closes its output.
    pub(crate) fn ends_within(&mut self, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        loop {
            match self.next(until) {
                Some(Incoming::Closed) => break,
                Some(_) => {}
                None => return false,
            }
        }
        let Some(process) = &mut self.process else {
            return true;
        };
        loop {
            match process.try_wait() {
                Ok(Some(_)) | Err(_) => return true,
                Ok(None) if Instant::now() >= until => return false,
                Ok(None) => std::thread::park_timeout(RETRY),
            }
        }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.input = None;
        kill(&mut self.process);
        kill(&mut self.server);
    }
}
