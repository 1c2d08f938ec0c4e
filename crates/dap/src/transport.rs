//! A connection: messages in on a channel, messages out through one writer.
//!
//! A [`Connection`] runs over stdio, a TCP or Unix socket, any pair of streams, or to a second connection in the same
//! process ([`Connection::memory`]). A reader thread cuts the stream into messages. Sending blocks only while more than 16 MiB wait
//! for the peer to read them. [`listen`] decides who may connect. This module interprets no messages but `cancel`.
//!
//! Worth knowing: the writer assigns `seq` where it queues a message, so numbers and the order on the wire agree by construction.
//! The reader acts on `cancel` requests as it reads them, so that a handler learns of a cancellation while it is still busy.

#[cfg(all(feature = "tokio", feature = "server"))]
mod asynchronous;
mod backlog;
#[cfg(all(feature = "tokio", feature = "server"))]
mod either;
mod incoming_notifier;
pub mod listen;
mod nonblocking;
mod outgoing;
mod own_input;
mod writer;
mod writing;

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
#[cfg(unix)]
use std::os::unix::net::UnixStream;
#[cfg(feature = "client")]
use std::process::{ChildStdin, ChildStdout};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender};

use crate::cancel::Cancellations;
use crate::codec::{CodecError, DEFAULT_LIMIT, Decoder};
use crate::envelope::{Envelope, EnvelopeError};

#[cfg(all(feature = "tokio", feature = "server"))]
pub(crate) use either::either;
use incoming_notifier::IncomingNotifier;
use nonblocking::Ends;
pub use outgoing::Outgoing;
pub use own_input::OwnInput;
use own_input::{Delivered, Passing, Shared};
use writer::Peer;
#[cfg(all(feature = "tokio", feature = "server"))]
pub(crate) use writer::Room;
pub use writer::{SendError, Writer};
use writing::{CloseReporter, Watch};

/// An item received on a connection.
#[derive(Debug)]
#[non_exhaustive]
pub enum Incoming {
    /// A message.
    Message(Message),
    /// Bytes that are not a message; the stream goes on after them.
    Malformed(CodecError),
    /// The end: the peer closed the stream, the stream broke, or it cannot be read any further. Ignore items received after this one.
    Closed(Closed),
}

/// Why a connection ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Closed {
    /// The peer closed the connection between two messages or, at an adapter's end, closed only its reading end.
    #[error("the peer closed the connection")]
    ByPeer,
    /// The peer closed the connection in the middle of a message.
    #[error("the connection was closed in the middle of a message")]
    Truncated,
    /// Reading failed, or a thread of the connection cannot be started.
    #[error("the connection broke: {0}")]
    Broken(String),
    /// A message is over the limit, so that nothing more is read.
    #[error(transparent)]
    Lost(#[from] CodecError),
}

impl Closed {
    /// The reason for the connection's end if the stream has ended: it depends on whether a message is incomplete.
    fn at_end_of(decoder: &Decoder) -> Self {
        match decoder.is_between_messages() {
            true => Self::ByPeer,
            false => Self::Truncated,
        }
    }
}

/// A received message: its text, not yet parsed.
#[derive(Debug, Clone)]
pub struct Message {
    text: String,
    /// The message's share of the read-ahead budget, given back when the message is dropped.
    _share: Option<Arc<Share>>,
}

impl Message {
    /// A message with this JSON text.
    pub fn new(text: String) -> Self {
        Self { text, _share: None }
    }

    /// The JSON as received.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The JSON as received, by value.
    pub fn into_text(self) -> String {
        self.text
    }

    /// Reads the envelope.
    ///
    /// # Errors
    /// The text is not JSON or not of a message's shape.
    pub fn envelope(&self) -> Result<Envelope<'_>, EnvelopeError> {
        Envelope::parse(&self.text)
    }
}

/// Which way a message goes, from this end's point of view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the peer.
    Received,
    /// To the peer.
    Sent,
}

/// Called with the JSON of each message, in either direction, in the order on the wire. It runs on the thread that sends, writes or
/// reads the message: it should be quick and must not send on the same connection.
pub type Tap = Arc<dyn Fn(Direction, &[u8]) + Send + Sync>;

/// The time when `timeout` is over, counted from now. A timeout beyond what the clock can count, such as [`Duration::MAX`], ends in a
/// century.
pub(crate) fn deadline(timeout: Duration) -> Instant {
    const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
    let now = Instant::now();
    now.checked_add(timeout).unwrap_or_else(|| now + CENTURY)
}

/// Options of a connection, for callers that need more than [`Connection`]'s own constructors.
///
/// ```
/// use dapple_dap::transport::{Direction, Options};
///
/// let (sender, seen) = std::sync::mpsc::channel();
/// let tap = move |direction, message: &[u8]| sender.send((direction, message.to_vec())).unwrap();
/// let (connection, peer) = Options::new().limit(1 << 20).tap(tap).memory();
/// connection.outgoing.send_text("{}").unwrap();
/// assert_eq!(seen.recv().unwrap(), (Direction::Sent, b"{}".to_vec()));
/// # drop(peer);
/// ```
#[derive(Clone)]
pub struct Options {
    tap: Option<Tap>,
    limit: usize,
    /// When the peer closes its reading end, [`Incoming::Closed`] is received, even if the peer could still send.
    closes_with_peer_input: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tap: None,
            limit: DEFAULT_LIMIT,
            closes_with_peer_input: false,
        }
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("tap", &self.tap.is_some())
            .field("limit", &self.limit)
            .finish()
    }
}

/// How many received messages are queued for their handling. When that many are queued, the reader stops and the peer has to wait.
const READ_AHEAD: usize = 4096;

/// How long closing waits for the peer to read what was sent.
pub(crate) const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

impl Options {
    /// The defaults: no tap, messages up to 64 MiB.
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls `tap` with each message in either direction: for recorders and validators. There is one tap; a second replaces the first.
    pub fn tap(mut self, tap: impl Fn(Direction, &[u8]) + Send + Sync + 'static) -> Self {
        self.tap = Some(Arc::new(tap));
        self
    }

    /// Sets the longest message accepted, in bytes. A connection in memory has no limit.
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// For adapters, which are of no use to a peer that does not read: the connection ends when the peer closes its reading end.
    pub(crate) fn of_adapter(mut self) -> Self {
        self.closes_with_peer_input = true;
        self
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn into_parts(self) -> (Option<Tap>, usize) {
        (self.tap, self.limit)
    }

    /// A connection over this process's standard input and output, for an adapter. It ends when the peer closes either; on other systems
    /// than Linux, a closed output is noticed by the next message.
    pub fn stdio(self) -> Connection {
        let ends = Ends::of_stdio();
        self.of_adapter()
            .open(std::io::stdin(), std::io::stdout(), ends, || {})
    }

    /// A connection over a TCP stream.
    ///
    /// # Errors
    /// The stream's handle cannot be duplicated.
    pub fn tcp(self, stream: TcpStream) -> std::io::Result<Connection> {
        // Messages are small and the peer waits for each, so Nagle's algorithm would only delay them.
        stream.set_nodelay(true).ok();
        let (input, closer) = (stream.try_clone()?, stream.try_clone()?);
        let ends = Ends::of_socket(&stream);
        Ok(self.open(input, stream, ends, move || {
            closer.shutdown(Shutdown::Both).ok();
        }))
    }

    /// A connection over a Unix socket.
    ///
    /// # Errors
    /// The stream's handle cannot be duplicated.
    #[cfg(unix)]
    pub fn unix(self, stream: UnixStream) -> std::io::Result<Connection> {
        let (input, closer) = (stream.try_clone()?, stream.try_clone()?);
        let ends = Ends::of_socket(&stream);
        Ok(self.open(input, stream, ends, move || {
            closer.shutdown(Shutdown::Both).ok();
        }))
    }

    /// A connection over any two streams. `close` is called once nothing more will be written; it can wake a reader that dropping
    /// `output` does not wake.
    pub fn streams(
        self,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        close: impl FnOnce() + Send + 'static,
    ) -> Connection {
        self.open(input, output, Ends::default(), close)
    }

    /// A connection over the pipes of a child process.
    #[cfg(feature = "client")]
    pub(crate) fn child(self, output: ChildStdout, input: ChildStdin) -> Connection {
        let ends = Ends::of_child(&input);
        self.open(output, input, ends, || {})
    }

    fn open(
        self,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        ends: Ends,
        close: impl FnOnce() + Send + 'static,
    ) -> Connection {
        let cancellations = Arc::new(Cancellations::default());
        let (sender, incoming) = crossbeam_channel::bounded(READ_AHEAD);
        let sender = Arc::new(sender);
        let notifier = IncomingNotifier::default();
        let watch = Watch {
            output: ends.watched,
            close_reporter: self.closes_with_peer_input.then(|| CloseReporter {
                incoming: Arc::downgrade(&sender),
                notifier: notifier.clone(),
            }),
        };
        let (writer, writes) = Writer::stream(output, ends.direct, self.tap.clone(), watch, close);
        let reader = Reader {
            sender: sender.clone(),
            notifier: notifier.clone(),
            tap: self.tap,
            cancellations: cancellations.clone(),
            budget: Arc::default(),
        };
        let decoder = Decoder::with_limit(self.limit);
        let thread = thread::Builder::new().name("dap-reader".to_owned());
        let (shared, reads) = match ends.source {
            Some(source) => {
                let shared = Shared::new(source, reader, decoder);
                let of_thread = shared.clone();
                let of_tokens = Arc::downgrade(&shared);
                cancellations.set_read_pending(Arc::new(move || {
                    if let Some(shared) = of_tokens.upgrade() {
                        shared.read_pending();
                    }
                }));
                let of_writer = Arc::downgrade(&shared);
                writer.set_has_closed(move || {
                    of_writer.upgrade().is_none_or(|shared| shared.has_closed())
                });
                (Some(shared), thread.spawn(move || of_thread.run()))
            }
            None => (None, thread.spawn(move || reader.run(input, decoder))),
        };
        for (started, what) in [(reads.map(drop), "reads"), (writes, "writes")] {
            if let Err(error) = started {
                let broken = format!("the thread that {what} messages can't be started: {error}");
                sender
                    .try_send(Incoming::Closed(Closed::Broken(broken)))
                    .ok();
            }
        }
        Connection {
            incoming,
            outgoing: writer,
            shared,
            cancellations,
            notifier,
            #[cfg(all(feature = "tokio", feature = "server"))]
            reading: None,
        }
    }

    /// Two connected ends in this process. The tap sees the messages from the first end's point of view.
    pub fn memory(self) -> (Connection, Connection) {
        let (to_second, from_first) = crossbeam_channel::unbounded();
        let (to_first, from_second) = crossbeam_channel::unbounded();
        let [first, second] = [0, 1].map(|_| Arc::new(Cancellations::default()));
        let [first_notifier, second_notifier] = [0, 1].map(|_| IncomingNotifier::default());
        let sent = self.tap;
        let received = sent.clone().map(|tap| -> Tap {
            Arc::new(move |_: Direction, message: &[u8]| tap(Direction::Received, message))
        });
        let first_end = Connection {
            incoming: from_second,
            outgoing: Writer::memory(Peer::new(to_second, &second, &second_notifier), sent),
            shared: None,
            cancellations: first.clone(),
            notifier: first_notifier.clone(),
            #[cfg(all(feature = "tokio", feature = "server"))]
            reading: None,
        };
        let second_end = Connection {
            incoming: from_first,
            outgoing: Writer::memory(Peer::new(to_first, &first, &first_notifier), received),
            shared: None,
            cancellations: second,
            notifier: second_notifier,
            #[cfg(all(feature = "tokio", feature = "server"))]
            reading: None,
        };
        (first_end, second_end)
    }
}

/// One end of a connection.
///
/// Dropping a connection closes it. Messages that were sent are still written; the drop waits for that up to two seconds.
pub struct Connection {
    /// Messages from the peer, up to [`Incoming::Closed`].
    pub incoming: Receiver<Incoming>,
    /// Sends messages to the peer.
    pub outgoing: Writer,
    /// The input shared by the reader thread and [`OwnInput`], if it can be read without blocking.
    shared: Option<Arc<Shared>>,
    #[cfg_attr(
        not(feature = "server"),
        expect(dead_code, reason = "only servers handle what can be cancelled")
    )]
    pub(crate) cancellations: Arc<Cancellations>,
    notifier: IncomingNotifier,
    /// The task that reads, in place of a thread.
    #[cfg(all(feature = "tokio", feature = "server"))]
    reading: Option<asynchronous::Reading>,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection")
            .field("unread", &self.incoming.len())
            .field("outgoing", &self.outgoing)
            .finish_non_exhaustive()
    }
}

impl Connection {
    /// A connection over this process's standard input and output. Nothing else in the process may use the two then.
    pub fn stdio() -> Self {
        Options::new().stdio()
    }

    /// A connection over a TCP stream; see [`Options::tcp`].
    ///
    /// # Errors
    /// The stream's handle cannot be duplicated.
    pub fn tcp(stream: TcpStream) -> std::io::Result<Self> {
        Options::new().tcp(stream)
    }

    /// A connection over a Unix socket; see [`Options::unix`].
    ///
    /// # Errors
    /// The stream's handle cannot be duplicated.
    #[cfg(unix)]
    pub fn unix(stream: UnixStream) -> std::io::Result<Self> {
        Options::new().unix(stream)
    }

    /// Two connected ends in this process, for tests and for clients that host their adapter.
    pub fn memory() -> (Self, Self) {
        Options::new().memory()
    }

    /// Calls `notify` after each incoming item, and once now for the items received before: for a loop that cannot wait for a channel.
    /// `notify` is called on the thread that received the item and must not block. It is not called for items that the loop itself reads
    /// by [`OwnInput::read`]. A later call of `on_incoming` replaces the function.
    pub fn on_incoming(&self, notify: impl Fn() + Send + Sync + 'static) {
        self.notifier.set(notify);
    }

    /// Takes over the reading of the input from the connection's reader thread: for a loop that can wait for a descriptor and that
    /// wants to save the switch between threads. `None` if the input is neither a pipe nor a socket, if its descriptor is unknown, as with
    /// [`Options::streams`], or on another system than Linux: wait for [`Connection::incoming`] then.
    ///
    /// ```
    /// use std::net::{TcpListener, TcpStream};
    ///
    /// use dapple_dap::transport::{Connection, Incoming};
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let theirs = Connection::tcp(TcpStream::connect(listener.local_addr()?)?)?;
    /// let ours = Connection::tcp(listener.accept()?.0)?;
    /// theirs.outgoing.send_text("{}").unwrap();
    /// if let Some(input) = ours.take_input() {
    ///     while !input.read() && ours.incoming.is_empty() {
    ///         // Here the loop would wait for the descriptor and its other events.
    ///     }
    /// }
    /// assert!(matches!(ours.incoming.recv(), Ok(Incoming::Message(_))));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn take_input(&self) -> Option<OwnInput> {
        self.shared.as_ref().map(OwnInput::take)
    }

    /// Closes this end, as dropping it does.
    pub fn close(self) {}
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.outgoing.close(CLOSE_TIMEOUT);
    }
}

/// The reading half, on its own thread.
struct Reader {
    /// The only strong reference: when it is dropped, the incoming channel is closed.
    sender: Arc<Sender<Incoming>>,
    notifier: IncomingNotifier,
    tap: Option<Tap>,
    cancellations: Arc<Cancellations>,
    budget: Arc<Budget>,
}

/// How many bytes of received messages may wait for their handling. A single message may have more.
const READ_AHEAD_BYTES: usize = DEFAULT_LIMIT;

/// Counts the bytes of the messages that were read and not dropped yet.
#[derive(Debug, Default)]
struct Budget {
    state: Mutex<BudgetState>,
    freed: Condvar,
    /// Notified when a message was taken from the incoming channel or dropped, for a reader on a task.
    #[cfg(all(feature = "tokio", feature = "server"))]
    taken: tokio::sync::Notify,
}

#[derive(Debug, Default)]
struct BudgetState {
    used: usize,
    /// The reader waits for bytes to be freed.
    awaited: bool,
}

/// A message's share of the budget.
#[derive(Debug)]
struct Share {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Budget {
    fn lock(&self) -> MutexGuard<'_, BudgetState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a share for a message. With [`Passing::Waiting`], waits until there is room for it.
    fn take(self: &Arc<Self>, bytes: usize, passing: Passing) -> Arc<Share> {
        let mut state = self.lock();
        while passing == Passing::Waiting
            && state.used > 0
            && state.used.saturating_add(bytes) > READ_AHEAD_BYTES
        {
            state.awaited = true;
            state = self
                .freed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.awaited = false;
        state.used = state.used.saturating_add(bytes);
        Arc::new(Share {
            budget: self.clone(),
            bytes,
        })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut state = self.budget.lock();
        state.used = state.used.saturating_sub(self.bytes);
        if state.awaited {
            self.budget.freed.notify_one();
        }
        drop(state);
        #[cfg(all(feature = "tokio", feature = "server"))]
        self.budget.taken.notify_one();
    }
}

impl Reader {
    fn run(self, mut input: impl Read, mut decoder: Decoder) {
        let mut piece = vec![0; 64 << 10];
        let closed = loop {
            match input.read(&mut piece) {
                Ok(0) => break Closed::at_end_of(&decoder),
                Ok(length) => decoder.push(&piece[..length]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => break Closed::Broken(error.to_string()),
            }
            match self.deliver(&mut decoder, Passing::Waiting) {
                Ok(_) => {}
                Err(Some(closed)) => break closed,
                Err(None) => return,
            }
        };
        self.close(closed, Passing::Waiting);
    }

    /// Passes on the whole messages in the decoder. `Err(Some(…))`: the reason why reading has to stop. `Err(None)`: reading has to stop
    /// because the receiver was dropped.
    fn deliver(
        &self,
        decoder: &mut Decoder,
        passing: Passing,
    ) -> Result<Delivered, Option<Closed>> {
        loop {
            // One place is left for `Incoming::Closed`.
            if passing == Passing::AtOnce && self.sender.len() + 1 >= READ_AHEAD {
                return Ok(Delivered::Full);
            }
            let incoming = match decoder.next() {
                Ok(None) => return Ok(Delivered::All),
                Ok(Some(text)) => {
                    if let Some(tap) = &self.tap {
                        tap(Direction::Received, text.as_bytes());
                    }
                    self.cancellations.note(&text);
                    let share = self.budget.take(text.len(), passing);
                    Incoming::Message(Message {
                        text,
                        _share: Some(share),
                    })
                }
                Err(error) if error.is_fatal() => return Err(Some(Closed::Lost(error))),
                Err(error) => Incoming::Malformed(error),
            };
            self.pass_on(incoming, passing).map_err(|()| None)?;
        }
    }

    /// Passes on the end of the connection.
    fn close(&self, closed: Closed, passing: Passing) {
        self.cancellations.closed();
        self.pass_on(Incoming::Closed(closed), passing).ok();
    }

    fn pass_on(&self, incoming: Incoming, passing: Passing) -> Result<(), ()> {
        match passing {
            Passing::Waiting => {
                self.sender.send(incoming).map_err(drop)?;
                self.notifier.notify();
            }
            // `deliver` has checked that there is room. If there is none for `Incoming::Closed`, one was already passed on.
            Passing::AtOnce => self.sender.try_send(incoming).map_err(drop)?,
        }
        Ok(())
    }
}
