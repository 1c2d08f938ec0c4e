//! The sending half of a connection.
//!
//! Any thread may send. A message gets its number and its place in the queue in one step, under one lock. What the system
//! takes at once is written right there (`direct`); for the rest there is a thread of its own (`writing`), which writes what
//! is queued, as much as there is in one go.
//!
//! A peer that does not read fills the queue, and then whoever sends waits. Output is different: beyond a little it waits by
//! itself (`backlog`), whoever sent it goes on, and other messages overtake it. A peer that is gone makes sending fail, and
//! nothing else.

use std::any::Any;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use rustix::event::{EventfdFlags, eventfd};

use super::backlog::{self, Backlog};
use super::bell::Bell;
use super::direct::Direct;
use super::outgoing::Outgoing;
use super::writing::{self, Watch};
use super::{Closed, Direction, Incoming, Message, Tap};
use crate::cancel::Cancellations;
use crate::codec;

/// How many unread bytes are queued for a peer before senders wait.
const QUEUE_LIMIT: usize = 16 << 20;

/// How many unread bytes are queued before output waits in the backlog.
pub(super) const AHEAD_OF_OUTPUT: usize = 64 << 10;

/// How long a peer that has closed its end may take to read more, once the queue is full.
const HALF_CLOSED: Duration = Duration::from_secs(2);

/// How often it is looked whether that is so.
const LOOK: Duration = Duration::from_millis(200);

/// A peer that has taken nothing for so long doesn't read.
const STALLED: Duration = Duration::from_millis(250);

/// How many bytes are kept back for more to follow.
const GATHER_LIMIT: usize = 16 << 10;

/// The peer is gone, or this end was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the connection is closed")]
pub struct SendError;

/// Sends messages on a connection, from any thread. Clones send on the same one.
///
/// Messages are numbered as they are queued, so that numbers and order agree. A peer that does not read fills the queue, and then whoever
/// sends waits, except for [output](Self::send_output); a peer that is gone makes sending fail, and nothing else.
#[derive(Clone)]
pub struct Writer {
    queue: Arc<Closing>,
}

/// The writers' share of the queue: when the last of them is gone, nobody can send any more. The writing thread has the
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
    /// Signalled when there is something to write, or nothing will be any more.
    pub(super) filled: Condvar,
    /// Signalled when something was written, or the peer is gone.
    pub(super) drained: Condvar,
    /// As `filled`, for a writing thread that waits for a descriptor.
    pub(super) nudge: Option<OwnedFd>,
    /// Whether the peer sends nothing any more.
    has_closed: OnceLock<Box<dyn Fn() -> bool + Send + Sync>>,
    /// Gets something when the backlog is no longer full.
    has_room: (Sender<()>, Receiver<()>),
}

pub(super) struct State {
    /// The number of the last message queued.
    seq: i64,
    /// Bytes to be written.
    pub(super) bytes: Vec<u8>,
    /// Output that is to follow.
    backlog: Backlog,
    /// Where nobody reads the backlog, its oldest part may be left out.
    sheds: bool,
    /// When the peer last took something.
    taken: Instant,
    /// True while the writing thread has bytes in its hands.
    pub(super) writing: bool,
    /// True while the writing thread waits at a descriptor.
    pub(super) at_descriptor: bool,
    /// True while what is sent is kept back.
    gathering: bool,
    /// True if nothing more can be sent.
    pub(super) closed: bool,
    /// True if the peer takes nothing any more.
    pub(super) failed: bool,
    tap: Option<Tap>,
    /// Writes without waiting, where that is possible. It keeps the peer's end open: gone when nothing more is to be sent.
    direct: Option<Direct>,
    /// Set for a peer in this process; `bytes` is not used then.
    peer: Option<Peer>,
}

/// A peer in this process: where its messages go.
pub(super) struct Peer {
    incoming: Sender<Incoming>,
    cancellations: Arc<Cancellations>,
    bell: Bell,
}

impl Peer {
    pub(super) fn new(
        incoming: Sender<Incoming>,
        cancellations: &Arc<Cancellations>,
        bell: &Bell,
    ) -> Self {
        Self {
            incoming,
            cancellations: Arc::clone(cancellations),
            bell: bell.clone(),
        }
    }

    /// Fails when the peer is gone.
    fn send(&self, incoming: Incoming) -> Result<(), SendError> {
        self.incoming.send(incoming).map_err(|_| SendError)?;
        self.bell.ring();
        Ok(())
    }
}

impl Queue {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the queue; what is in it is still written.
    fn close(&self) {
        let mut state = self.lock();
        if !state.closed {
            state.closed = true;
            state.direct = None;
            if let Some(peer) = state.peer.take() {
                peer.send(Incoming::Closed(Closed::ByPeer)).ok();
            }
        }
        self.wake(&mut state);
        self.drained.notify_all();
    }

    /// Gets the writing thread to look.
    fn wake(&self, state: &mut State) {
        match &self.nudge {
            Some(nudge) if state.at_descriptor => {
                state.at_descriptor = false;
                rustix::io::write(nudge, &1_u64.to_ne_bytes()).ok();
            }
            _ => self.filled.notify_one(),
        }
    }

    /// Tells who waits that the peer has taken something.
    pub(super) fn tell_drained(&self, state: &mut State) {
        state.taken = Instant::now();
        self.drained.notify_all();
    }

    /// The peer takes nothing any more.
    pub(super) fn fail(&self, state: &mut State) {
        state.closed = true;
        state.failed = true;
        state.direct = None;
        state.bytes = Vec::new();
        state.backlog = Backlog::default();
        self.has_room.0.try_send(()).ok();
        self.drained.notify_all();
    }

    /// Takes what is to be written next: the bytes that are queued and, where they are few, output that follows them. That has its
    /// numbers and not yet its text, which is long and needn't be made under the lock.
    pub(super) fn take(&self, state: &mut State, next: &mut Next) {
        next.bytes.clear();
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
                    let json = message.to_json(state.seq);
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
    /// What comes behind the bytes.
    messages: Vec<(i64, Outgoing)>,
}

impl Next {
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.messages.is_empty()
    }

    /// All of it as bytes.
    pub(super) fn bytes(&mut self) -> &[u8] {
        for (seq, message) in self.messages.drain(..) {
            frame(&mut self.bytes, &message.to_json(seq));
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
    /// Whether more output waits than should.
    fn is_full(&self) -> bool {
        self.backlog.bytes() > QUEUE_LIMIT
    }

    /// Nothing is left to be written.
    pub(super) fn is_drained(&self) -> bool {
        self.bytes.is_empty() && !self.writing && self.backlog.is_empty()
    }

    /// Leaves out output that nobody reads, where that may be.
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

    /// Writes to `output`, on a thread of its own where it has to wait. `watch`: tells when the peer takes nothing any more.
    ///
    /// # Errors
    /// The thread can't be started.
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
                nudge: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).ok(),
                has_closed: OnceLock::new(),
                has_room: bounded(1),
            }))),
        }
    }

    /// How to learn whether the peer has closed the way that it sends by.
    pub(super) fn ask_whether_closed(&self, has_closed: impl Fn() -> bool + Send + Sync + 'static) {
        self.queue.0.has_closed.set(Box::new(has_closed)).ok();
    }

    /// Sends a message and returns the number that it got.
    ///
    /// # Errors
    /// The connection is closed.
    pub fn send(&self, message: &Outgoing) -> Result<i64, SendError> {
        self.send_with(message, |_| {})
    }

    /// As [`send`](Self::send); `register` learns the number before the peer can possibly answer. It must not send.
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

    /// As [`send_with`](Self::send_with), unless `register` refuses: then nothing is sent, and no number is used up.
    pub(crate) fn send_if<E: From<SendError>>(
        &self,
        message: &Outgoing,
        register: impl FnOnce(i64) -> Result<(), E>,
    ) -> Result<i64, E> {
        let mut state = self.room()?;
        let seq = state.seq + 1;
        register(seq)?;
        state.seq = seq;
        self.queue_json(&mut state, message.to_json(seq));
        Ok(seq)
    }

    /// Sends an event with output, or one that has to come behind all output. Where the peer is slow to take what was sent it
    /// waits for its turn, and other messages overtake it; this never waits. `kept` lives until it is sent.
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
            let json = message.to_json(state.seq);
            self.queue_json(&mut state, json);
        } else {
            state.backlog.push(message, kept);
            state.shed();
        }
        Ok(())
    }

    /// From now on the oldest output is left out, and the peer is told how much, where it waits for a peer that doesn't read: for one
    /// that has asked for the end.
    pub fn shed_output(&self) {
        let mut state = self.queue.0.lock();
        state.sheds = true;
        state.shed();
    }

    /// Whether so much output waits that there should not be more: 16 MiB.
    pub fn is_full(&self) -> bool {
        self.queue.0.lock().is_full()
    }

    /// Gets something each time that there is room for output again.
    pub fn has_room(&self) -> Receiver<()> {
        self.queue.0.has_room.1.clone()
    }

    /// Sends a text as it is, with a header, whatever it says: for proxies, and for tests of bad input. Its `seq` is its
    /// own affair.
    ///
    /// # Errors
    /// The connection is closed.
    pub fn send_text(&self, text: &str) -> Result<(), SendError> {
        let mut state = self.room()?;
        self.queue_json(&mut state, text.to_owned());
        Ok(())
    }

    /// Waits until everything queued was handed to the system, the peer is gone, or `timeout` is over.
    pub fn flush(&self, timeout: Duration) {
        self.send_gathered();
        let until = Instant::now() + timeout;
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

    /// Closes the connection for sending. What is queued is still written; this waits for that up to `timeout`.
    pub fn close(&self, timeout: Duration) {
        self.queue.0.close();
        self.flush(timeout);
    }

    /// True if nothing can be sent any more.
    pub fn is_closed(&self) -> bool {
        self.queue.0.lock().closed
    }

    /// Waits until there is room for another message. A peer that sends nothing any more and doesn't read either is gone.
    fn room(&self) -> Result<MutexGuard<'_, State>, SendError> {
        let queue = &self.queue.0;
        let mut state = queue.lock();
        while !state.closed && state.bytes.len() > QUEUE_LIMIT {
            let has_closed = || {
                queue
                    .has_closed
                    .get()
                    .is_some_and(|has_closed| has_closed())
            };
            if state.taken.elapsed() > HALF_CLOSED && has_closed() {
                queue.fail(&mut state);
                break;
            }
            (state, _) = queue
                .drained
                .wait_timeout(state, LOOK)
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
            peer.cancellations.look_at(&json);
            if peer.send(Incoming::Message(Message::new(json))).is_err() {
                state.closed = true;
                state.peer = None;
            }
            return;
        }
        // Nobody waits for room where there has been all of it.
        let awaited = !state.bytes.is_empty();
        if !awaited && !state.writing {
            state.taken = Instant::now();
        }
        frame(&mut state.bytes, &json);
        if state.gathering && state.bytes.len() < GATHER_LIMIT {
            return;
        }
        self.write(state, awaited);
    }

    /// Writes what is queued, here or on the writing thread; `awaited`: somebody may wait for room.
    fn write(&self, state: &mut State, awaited: bool) {
        if !state.writing
            && let Some(direct) = &mut state.direct
        {
            let written = direct.write(&state.bytes);
            state.bytes.drain(..written);
            if state.bytes.is_empty() {
                if awaited {
                    self.queue.0.drained.notify_all();
                }
                return;
            }
        }
        self.queue.0.wake(state);
    }

    /// Keeps back what is sent from now on, until [`send_gathered`](Self::send_gathered): a peer that gets two messages at once is woken once. For one that
    /// is sent when the next will follow at once. More than 16 KiB are not kept back; closing the connection sends what is.
    pub fn gather(&self) {
        self.queue.0.lock().gathering = true;
    }

    /// Sends what was kept back.
    pub fn send_gathered(&self) {
        let mut state = self.queue.0.lock();
        state.gathering = false;
        if !state.bytes.is_empty() {
            self.write(&mut state, true);
        }
    }
}

#[cfg(test)]
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
