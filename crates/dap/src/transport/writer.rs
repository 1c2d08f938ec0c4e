//! The sending half of a connection.
//!
//! Any thread may send. A message gets its number and its place in the queue in one step, under one lock. The sending thread
//! writes the bytes that the kernel takes at once, where the system allows that (`nonblocking`). A thread of its own (`writing`) writes the rest, all queued bytes
//! in one call.
//!
//! A peer that does not read fills the queue, and then senders block. Output is different: beyond 64 KiB it waits in a queue of
//! its own (`backlog`), its sender does not block, and other messages overtake it. If the peer is gone, sending fails.

#[cfg(all(feature = "tokio", feature = "server"))]
mod unblocking;

use std::any::Any;
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::backlog::{self, Backlog};
use super::incoming_notifier::IncomingNotifier;
use super::nonblocking::{Direct, Nudge};
use super::outgoing::Outgoing;
use super::writing::{self, Watch};
use super::{Closed, Direction, Incoming, Message, Tap, deadline};
use crate::cancel::Cancellations;
use crate::codec;

#[cfg(all(feature = "tokio", feature = "server"))]
pub(crate) use unblocking::Room;

/// How many unread bytes are queued for a peer before senders wait.
const QUEUE_LIMIT: usize = 16 << 20;

/// How many unread bytes are queued before output waits in the backlog.
pub(super) const AHEAD_OF_OUTPUT: usize = 64 << 10;

/// With a full queue, a peer that has closed its sending end and has read nothing for this long counts as gone.
const HALF_CLOSED: Duration = Duration::from_secs(2);

/// How often [`HALF_CLOSED`] is checked.
const HALF_CLOSED_CHECK: Duration = Duration::from_millis(200);

/// A peer that has read nothing for this long counts as not reading.
const STALLED: Duration = Duration::from_millis(250);

/// How many bytes [`Writer::gather`] keeps back at most.
const GATHER_LIMIT: usize = 16 << 10;

/// The peer is gone, or this end was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the connection is closed")]
pub struct SendError;

/// Sends messages on a connection, from any thread. Clones send on the same connection.
///
/// Messages are numbered in the order in which they leave. A peer that does not read fills the queue, and then sending blocks, except
/// for [output](Self::send_output). If the peer is gone, sending fails.
#[derive(Clone)]
pub struct Writer {
    queue: Arc<Closing>,
}

/// The writers' reference to the queue, which closes the queue when the last writer is dropped. The writing thread refers to the
/// queue itself.
struct Closing(Arc<Queue>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.queue.0.lock();
        f.debug_struct("Writer")
            .field("sent", &state.seq)
            .field("closed", &state.closed)
            .finish()
    }
}

pub(super) struct Queue {
    state: Mutex<State>,
    /// Signalled when there is something to write, or the queue is closed.
    pub(super) filled: Condvar,
    /// Signalled when something was written, or the peer is gone.
    pub(super) drained: Condvar,
    /// In place of `filled`, for a writing thread that watches its output.
    pub(super) nudge: Option<Nudge>,
    /// Whether the peer has closed its sending end.
    has_closed: OnceLock<Box<dyn Fn() -> bool + Send + Sync>>,
    /// Gets an item when the backlog is no longer full.
    has_room: (Sender<()>, Receiver<()>),
    /// What tasks wait for.
    #[cfg(all(feature = "tokio", feature = "server"))]
    signals: unblocking::Signals,
}

pub(super) struct State {
    /// The number of the last message queued.
    seq: i64,
    /// Bytes to be written.
    pub(super) bytes: Vec<u8>,
    /// Output that follows `bytes`.
    backlog: Backlog,
    /// Whether the oldest output of the backlog may be left out if the peer does not read.
    sheds: bool,
    /// When the peer last read something.
    taken: Instant,
    /// True while the writing thread writes bytes that it took from this queue.
    pub(super) writing: bool,
    /// True while the writing thread watches its output.
    pub(super) at_descriptor: bool,
    /// True while messages are kept back; see [`Writer::gather`].
    gathering: bool,
    /// Senders never wait for room; see [`Writer::never_block`].
    #[cfg(all(feature = "tokio", feature = "server"))]
    never_blocks: bool,
    /// True if nothing more can be sent.
    pub(super) closed: bool,
    /// True if the peer has closed its reading end, or counts as gone.
    pub(super) failed: bool,
    tap: Option<Tap>,
    /// Writes without blocking, if the output allows that. Dropped when nothing more is to be sent, since it keeps the output open.
    direct: Option<Direct>,
    /// Set for a peer in this process; `bytes` is not used then.
    peer: Option<Peer>,
}

/// A peer in this process, which gets the messages directly.
pub(super) struct Peer {
    incoming: Sender<Incoming>,
    cancellations: Arc<Cancellations>,
    notifier: IncomingNotifier,
}

impl Peer {
    pub(super) fn new(
        incoming: Sender<Incoming>,
        cancellations: &Arc<Cancellations>,
        notifier: &IncomingNotifier,
    ) -> Self {
        Self {
            incoming,
            cancellations: Arc::clone(cancellations),
            notifier: notifier.clone(),
        }
    }

    /// Fails when the peer is gone.
    fn send(&self, incoming: Incoming) -> Result<(), SendError> {
        self.incoming.send(incoming).map_err(|_| SendError)?;
        self.notifier.notify();
        Ok(())
    }
}

impl Queue {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the queue; queued messages are still written.
    fn close(&self) {
        let mut state = self.lock();
        if !state.closed {
            state.closed = true;
            state.direct = None;
            if let Some(peer) = state.peer.take() {
                peer.cancellations.closed();
                peer.send(Incoming::Closed(Closed::ByPeer)).ok();
            }
        }
        self.wake(&mut state);
        self.wake_senders();
        self.signal_closed();
    }

    /// Wakes all that wait until the peer has read, or is gone.
    fn wake_senders(&self) {
        self.drained.notify_all();
        #[cfg(all(feature = "tokio", feature = "server"))]
        self.signals.drained.notify_waiters();
    }

    fn signal_closed(&self) {
        #[cfg(all(feature = "tokio", feature = "server"))]
        self.signals.closed.notify_waiters();
    }

    /// Wakes the writing thread or task.
    fn wake(&self, state: &mut State) {
        #[cfg(all(feature = "tokio", feature = "server"))]
        self.signals.filled.notify_one();
        match &self.nudge {
            Some(nudge) if state.at_descriptor => {
                state.at_descriptor = false;
                nudge.wake();
            }
            _ => self.filled.notify_one(),
        }
    }

    /// Notes that the peer has just read, and wakes the threads that wait for room.
    pub(super) fn notify_drained(&self, state: &mut State) {
        state.taken = Instant::now();
        self.wake_senders();
    }

    /// Closes the queue of a peer that is gone, and discards the queued messages.
    pub(super) fn fail(&self, state: &mut State) {
        state.closed = true;
        state.failed = true;
        state.direct = None;
        state.bytes = Vec::new();
        state.backlog = Backlog::default();
        self.has_room.0.try_send(()).ok();
        self.wake_senders();
        self.signal_closed();
    }

    /// Fails the queue of a peer that has closed its sending end and does not read.
    fn fail_if_half_closed(&self, state: &mut State) {
        let has_closed = || self.has_closed.get().is_some_and(|has_closed| has_closed());
        if state.taken.elapsed() > HALF_CLOSED && has_closed() {
            self.fail(state);
        }
    }

    /// Takes the queued bytes and, if they are few, output that follows them. The output gets its numbers here. Its JSON, which is long,
    /// is formatted later without the lock, unless a tap needs it now.
    pub(super) fn take(&self, state: &mut State, next: &mut Next) {
        next.bytes.clear();
        if state.keeps_back() {
            return;
        }
        std::mem::swap(&mut next.bytes, &mut state.bytes);
        let was_full = state.is_full();
        let mut expected = next.bytes.len();
        while expected < AHEAD_OF_OUTPUT / 2
            && let Some(message) = state.backlog.pop()
        {
            expected += backlog::size(&message);
            state.seq += 1;
            match &state.tap {
                None => next.messages.push((state.seq, message)),
                Some(tap) => {
                    let json = codec::outgoing_text(state.seq, &message);
                    tap(Direction::Sent, json.as_bytes());
                    frame(&mut next.bytes, &json);
                }
            }
        }
        if was_full && !state.is_full() {
            self.has_room.0.try_send(()).ok();
        }
    }
}

/// What the writing thread writes next.
#[derive(Default)]
pub(super) struct Next {
    bytes: Vec<u8>,
    /// Messages that follow `bytes`, with their numbers.
    messages: Vec<(i64, Outgoing)>,
}

impl Next {
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.messages.is_empty()
    }

    /// The queued bytes and the messages that follow them, as bytes.
    pub(super) fn bytes(&mut self) -> &[u8] {
        for (seq, message) in self.messages.drain(..) {
            codec::encode_outgoing(&mut self.bytes, seq, &message);
        }
        &self.bytes
    }
}

/// Adds a message with its header.
fn frame(bytes: &mut Vec<u8>, json: &str) {
    codec::write_header(bytes, json.len());
    bytes.extend_from_slice(json.as_bytes());
}

impl State {
    /// Whether the backlog has more than [`QUEUE_LIMIT`] bytes.
    fn is_full(&self) -> bool {
        self.backlog.bytes() > QUEUE_LIMIT
    }

    /// Whether senders of messages other than output have to wait.
    fn has_no_room(&self) -> bool {
        !self.closed && self.bytes.len() > QUEUE_LIMIT
    }

    /// Whether senders may block until the peer has read.
    fn blocks(&self) -> bool {
        #[cfg(all(feature = "tokio", feature = "server"))]
        if self.never_blocks {
            return false;
        }
        true
    }

    /// Whether the queued bytes are kept back; see [`Writer::gather`].
    fn keeps_back(&self) -> bool {
        let keeps = self.gathering && !self.closed;
        keeps && (1..GATHER_LIMIT).contains(&self.bytes.len())
    }

    /// Whether nothing is left to be written.
    pub(super) fn is_drained(&self) -> bool {
        self.bytes.is_empty() && !self.writing && self.backlog.is_empty()
    }

    /// Leaves out old output if `sheds` allows it and the peer does not read.
    fn shed(&mut self) {
        if self.sheds && self.taken.elapsed() > STALLED {
            self.backlog.shed();
        }
    }
}

impl Writer {
    pub(super) fn memory(peer: Peer, tap: Option<Tap>) -> Self {
        Self::new(tap, None, Some(peer))
    }

    /// Writes to `output`, on a thread of its own where writing blocks. `watch` reports when the peer closes its reading end.
    ///
    /// # Errors
    /// The thread cannot be started; the queue is closed then.
    pub(super) fn stream(
        output: impl Write + Send + 'static,
        direct: Option<Direct>,
        tap: Option<Tap>,
        watch: Watch,
        close: impl FnOnce() + Send + 'static,
    ) -> (Self, std::io::Result<()>) {
        let writer = Self::new(tap, direct, None);
        let started = writing::start(writer.queue.0.clone(), output, watch, close);
        if started.is_err() {
            writer.queue.0.close();
        }
        (writer, started)
    }

    fn new(tap: Option<Tap>, direct: Option<Direct>, peer: Option<Peer>) -> Self {
        let state = State {
            seq: 0,
            bytes: Vec::new(),
            backlog: Backlog::default(),
            sheds: false,
            taken: Instant::now(),
            writing: false,
            at_descriptor: false,
            gathering: false,
            #[cfg(all(feature = "tokio", feature = "server"))]
            never_blocks: false,
            closed: false,
            failed: false,
            tap,
            direct,
            peer,
        };
        Self {
            queue: Arc::new(Closing(Arc::new(Queue {
                state: Mutex::new(state),
                filled: Condvar::new(),
                drained: Condvar::new(),
                nudge: Nudge::new(),
                has_closed: OnceLock::new(),
                has_room: bounded(1),
                #[cfg(all(feature = "tokio", feature = "server"))]
                signals: unblocking::Signals::default(),
            }))),
        }
    }

    /// Sets the function that tells whether the peer has closed its sending end.
    pub(super) fn set_has_closed(&self, has_closed: impl Fn() -> bool + Send + Sync + 'static) {
        self.queue.0.has_closed.set(Box::new(has_closed)).ok();
    }

    /// Sends a message and returns its number.
    ///
    /// # Errors
    /// The connection is closed.
    pub fn send(&self, message: &Outgoing) -> Result<i64, SendError> {
        self.send_with(message, |_| {})
    }

    /// As [`send`](Self::send), but calls `register` with the message's number before the peer can answer. `register` must not send.
    ///
    /// # Errors
    /// The connection is closed; `register` was not called then.
    pub fn send_with(
        &self,
        message: &Outgoing,
        register: impl FnOnce(i64),
    ) -> Result<i64, SendError> {
        self.send_if(message, |seq| {
            register(seq);
            Ok(())
        })
    }

    /// As [`send_with`](Self::send_with), but `register` may refuse with an error: then nothing is sent, and no number is used up.
    pub(crate) fn send_if<E: From<SendError>>(
        &self,
        message: &Outgoing,
        register: impl FnOnce(i64) -> Result<(), E>,
    ) -> Result<i64, E> {
        let mut state = self.room()?;
        let seq = state.seq + 1;
        register(seq)?;
        state.seq = seq;
        self.queue_json(&mut state, codec::outgoing_text(seq, message));
        Ok(seq)
    }

    /// Sends output, or a message that has to follow all output. If the peer reads slowly, the message is queued in the backlog, and
    /// other messages overtake it. This never blocks. `kept` is dropped when the message leaves the backlog, or now if it isn't queued there.
    ///
    /// # Errors
    /// The connection is closed.
    pub fn send_output(
        &self,
        message: Outgoing,
        kept: Option<Box<dyn Any + Send>>,
    ) -> Result<(), SendError> {
        let mut state = self.queue.0.lock();
        if state.closed {
            return Err(SendError);
        }
        if state.backlog.is_empty() && state.bytes.len() <= AHEAD_OF_OUTPUT {
            state.seq += 1;
            let json = codec::outgoing_text(state.seq, &message);
            self.queue_json(&mut state, json);
        } else {
            state.backlog.push(message, kept);
            state.shed();
            #[cfg(all(feature = "tokio", feature = "server"))]
            self.bound(&mut state);
        }
        Ok(())
    }

    /// From now on, if the peer does not read, leaves out waiting output, oldest first, until about 256 KiB are left, and tells the peer
    /// how many lines were left out. For a peer that has asked to end the session.
    pub fn shed_output(&self) {
        let mut state = self.queue.0.lock();
        state.sheds = true;
        state.shed();
    }

    /// Whether more than 16 MiB of output wait. Then the caller should send no more output.
    pub fn is_full(&self) -> bool {
        self.queue.0.lock().is_full()
    }

    /// A channel that gets an item when the backlog [is no longer full](Self::is_full), or the peer is gone. Clones share the items.
    pub fn has_room(&self) -> Receiver<()> {
        self.queue.0.has_room.1.clone()
    }

    /// Sends any text as it is, with a header: for proxies, and for tests of bad input. No `seq` is assigned; the text has to have its own.
    ///
    /// # Errors
    /// The connection is closed.
    pub fn send_text(&self, text: &str) -> Result<(), SendError> {
        let mut state = self.room()?;
        self.queue_json(&mut state, text.to_owned());
        Ok(())
    }

    /// Waits until everything queued was written, the peer is gone, or `timeout` is over.
    pub fn flush(&self, timeout: Duration) {
        self.send_gathered();
        let until = deadline(timeout);
        let mut state = self.queue.0.lock();
        while !state.is_drained() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            (state, _) = self
                .queue
                .0
                .drained
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Closes the connection for sending. Queued messages are still written; this waits for that up to `timeout`.
    pub fn close(&self, timeout: Duration) {
        self.queue.0.close();
        if self.queue.0.lock().blocks() {
            self.flush(timeout);
        }
    }

    /// True if nothing can be sent any more.
    pub fn is_closed(&self) -> bool {
        self.queue.0.lock().closed
    }

    /// Waits until there is room for another message. Fails if the queue is closed, also because the peer has closed its sending end and
    /// does not read: such a peer counts as gone.
    fn room(&self) -> Result<MutexGuard<'_, State>, SendError> {
        let queue = &self.queue.0;
        let mut state = queue.lock();
        #[cfg(all(feature = "tokio", feature = "server"))]
        self.bound(&mut state);
        while state.has_no_room() && state.blocks() {
            queue.fail_if_half_closed(&mut state);
            if state.closed {
                break;
            }
            (state, _) = queue
                .drained
                .wait_timeout(state, HALF_CLOSED_CHECK)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if state.closed {
            Err(SendError)
        } else {
            Ok(state)
        }
    }

    fn queue_json(&self, state: &mut State, json: String) {
        if let Some(tap) = &state.tap {
            tap(Direction::Sent, json.as_bytes());
        }
        if let Some(peer) = &state.peer {
            peer.cancellations.note(&json);
            if peer.send(Incoming::Message(Message::new(json))).is_err() {
                state.closed = true;
                state.peer = None;
            }
            return;
        }
        // If no bytes are queued before these, no sender waits for room.
        let awaited = !state.bytes.is_empty();
        if !awaited && !state.writing {
            state.taken = Instant::now();
        }
        frame(&mut state.bytes, &json);
        if state.keeps_back() {
            return;
        }
        self.write(state, awaited);
    }

    /// Writes the queued bytes, on this thread or on the writing thread. `awaited`: another thread may wait until they are written.
    fn write(&self, state: &mut State, awaited: bool) {
        if !state.writing
            && let Some(direct) = &mut state.direct
        {
            let written = direct.write(&state.bytes);
            state.bytes.drain(..written);
            if state.bytes.is_empty() {
                if awaited {
                    self.queue.0.wake_senders();
                }
                // The writing thread may have left the backlog to follow these bytes.
                if state.backlog.is_empty() {
                    return;
                }
            }
        }
        self.queue.0.wake(state);
    }

    /// Keeps back messages from now on until [`send_gathered`](Self::send_gathered). Call it before a message that another will follow at
    /// once: the peer gets both together and is woken only once. At most 16 KiB are kept back, and closing the connection sends them.
    pub fn gather(&self) {
        self.queue.0.lock().gathering = true;
    }

    /// Sends the messages kept back.
    pub fn send_gathered(&self) {
        let mut state = self.queue.0.lock();
        state.gathering = false;
        if !state.bytes.is_empty() {
            self.write(&mut state, true);
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::super::Connection;
    use std::io::{ErrorKind, Read};
    use std::os::unix::net::UnixStream;

    #[test]
    fn what_is_gathered_comes_at_once_and_not_before() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let ours = Connection::unix(ours).unwrap();
        theirs.set_nonblocking(true).unwrap();
        let mut bytes = [0; 100];
        for _ in 0..2 {
            ours.outgoing.gather();
            ours.outgoing.send_text("{}").unwrap();
            ours.outgoing.send_text("[]").unwrap();
            let nothing = theirs.read(&mut bytes).unwrap_err();
            assert_eq!(nothing.kind(), ErrorKind::WouldBlock);
            ours.outgoing.send_gathered();
            let count = theirs.read(&mut bytes).unwrap();
            let both = b"Content-Length: 2\r\n\r\n{}Content-Length: 2\r\n\r\n[]";
            assert_eq!(&bytes[..count], both);
        }
        ours.outgoing.gather();
        ours.outgoing.send_text("{}").unwrap();
        drop(ours);
        let count = theirs.read(&mut bytes).unwrap();
        assert_eq!(&bytes[..count], b"Content-Length: 2\r\n\r\n{}");
    }
}
