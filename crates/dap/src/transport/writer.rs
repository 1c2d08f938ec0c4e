//! The sending half of a connection.
//!
//! Any thread may send. A message gets its number and its place in the queue in one step, under one lock. What the system
//! takes at once is written right there (`direct`); for the rest there is a thread of its own, which writes what is queued,
//! as much as there is in one go. A peer that does not read fills the queue, and then whoever sends waits; a peer that is
//! gone makes sending fail, and nothing else.

use std::borrow::Cow;
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;

use super::bell::Bell;
use super::direct::Direct;
use super::{Closed, Direction, Incoming, Message, Tap};
use crate::cancel::Cancellations;
use crate::codec;
use crate::message::Raw;

/// How many unread bytes are queued for a peer before senders wait.
const QUEUE_LIMIT: usize = 16 << 20;

/// How many bytes are kept back for more to follow.
const GATHER_LIMIT: usize = 16 << 10;

/// A payload: JSON text, or nothing.
pub type Payload = Option<Raw>;

/// A message to be sent; its number is assigned by the [`Writer`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Outgoing {
    /// A request.
    Request {
        /// Its command.
        command: Cow<'static, str>,
        /// Its arguments.
        arguments: Payload,
    },
    /// A response to a request that succeeded.
    Success {
        /// The request's number.
        request_seq: i64,
        /// The request's command.
        command: Cow<'static, str>,
        /// The result.
        body: Payload,
    },
    /// A response to a request that failed.
    Failure {
        /// The request's number.
        request_seq: i64,
        /// The request's command.
        command: Cow<'static, str>,
        /// The error in short.
        message: String,
        /// Details, in the form of `ErrorResponse`.
        body: Payload,
    },
    /// An event.
    Event {
        /// Its name.
        event: Cow<'static, str>,
        /// Its body.
        body: Payload,
    },
}

/// The peer is gone, or this end was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the connection is closed")]
pub struct SendError;

/// Sends messages on a connection, from any thread. Clones send on the same one.
///
/// Messages are numbered as they are queued, so that numbers and order agree. A peer that does not read fills the queue, and then whoever
/// sends waits; a peer that is gone makes sending fail, and nothing else.
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

struct Queue {
    state: Mutex<State>,
    /// Signalled when there is something to write, or nothing will be any more.
    filled: Condvar,
    /// Signalled when something was written, or the peer is gone.
    drained: Condvar,
}

struct State {
    /// The number of the last message queued.
    seq: i64,
    /// Bytes to be written.
    bytes: Vec<u8>,
    /// True while the writing thread has bytes in its hands.
    writing: bool,
    /// True while what is sent is kept back.
    gathering: bool,
    /// True if nothing more can be sent.
    closed: bool,
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
    fn lock(&self) -> MutexGuard<'_, State> {
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
        self.filled.notify_all();
        self.drained.notify_all();
    }
}

impl Writer {
    pub(super) fn memory(peer: Peer, tap: Option<Tap>) -> Self {
        Self::new(tap, None, Some(peer))
    }

    pub(super) fn stream(
        output: impl Write + Send + 'static,
        direct: Option<Direct>,
        tap: Option<Tap>,
        close: impl FnOnce() + Send + 'static,
    ) -> Self {
        let writer = Self::new(tap, direct, None);
        let queue = writer.queue.0.clone();
        let spawned = thread::Builder::new()
            .name("dap-writer".to_owned())
            .spawn(move || {
                write_queue(&queue, output);
                close();
            });
        if let Err(error) = spawned {
            tracing::error!(%error, "cannot start the thread that writes messages");
            writer.queue.0.close();
        }
        writer
    }

    fn new(tap: Option<Tap>, direct: Option<Direct>, peer: Option<Peer>) -> Self {
        let state = State {
            seq: 0,
            bytes: Vec::new(),
            writing: false,
            gathering: false,
            closed: false,
            tap,
            direct,
            peer,
        };
        Self {
            queue: Arc::new(Closing(Arc::new(Queue {
                state: Mutex::new(state),
                filled: Condvar::new(),
                drained: Condvar::new(),
            }))),
        }
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
        while !state.bytes.is_empty() || state.writing {
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

    /// Waits until there is room for another message.
    fn room(&self) -> Result<MutexGuard<'_, State>, SendError> {
        let mut state = self.queue.0.lock();
        while !state.closed && state.bytes.len() > QUEUE_LIMIT {
            state = self
                .queue
                .0
                .drained
                .wait(state)
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
        codec::write_header(&mut state.bytes, json.len());
        state.bytes.extend_from_slice(json.as_bytes());
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
        self.queue.0.filled.notify_one();
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

/// The writing thread.
fn write_queue(queue: &Arc<Queue>, mut output: impl Write) {
    let mut bytes = Vec::new();
    let mut state = queue.lock();
    loop {
        if state.bytes.is_empty() {
            state.writing = false;
            queue.drained.notify_all();
            if state.closed {
                return;
            }
            state = queue
                .filled
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            continue;
        }
        bytes.clear();
        std::mem::swap(&mut bytes, &mut state.bytes);
        state.writing = true;
        drop(state);
        let written = output.write_all(&bytes).and_then(|()| output.flush());
        state = queue.lock();
        if let Err(error) = written {
            tracing::debug!(%error, "the peer takes no more messages");
            state.closed = true;
            state.direct = None;
            state.bytes = Vec::new();
        }
        queue.drained.notify_all();
    }
}

impl Outgoing {
    fn payload(&self) -> Option<&Raw> {
        match self {
            Self::Request {
                arguments: payload, ..
            }
            | Self::Success { body: payload, .. }
            | Self::Failure { body: payload, .. }
            | Self::Event { body: payload, .. } => payload.as_ref(),
        }
    }

    /// The whole message. The payload is text already and is copied.
    pub(crate) fn to_json(&self, seq: i64) -> String {
        let capacity = 128 + self.payload().map_or(0, |raw| raw.text().len());
        let mut json = String::with_capacity(capacity);
        let mut text = |part: &str| json.push_str(part);
        text("{\"seq\":");
        text(&seq.to_string());
        let payload_key = match self {
            Self::Request { command, .. } => {
                text(",\"type\":\"request\",\"command\":");
                text(&quoted(command));
                ",\"arguments\":"
            }
            Self::Success {
                request_seq,
                command,
                ..
            } => {
                text(",\"type\":\"response\",\"request_seq\":");
                text(&request_seq.to_string());
                text(",\"success\":true,\"command\":");
                text(&quoted(command));
                ",\"body\":"
            }
            Self::Failure {
                request_seq,
                command,
                message,
                ..
            } => {
                text(",\"type\":\"response\",\"request_seq\":");
                text(&request_seq.to_string());
                text(",\"success\":false,\"command\":");
                text(&quoted(command));
                text(",\"message\":");
                text(&quoted(message));
                ",\"body\":"
            }
            Self::Event { event, .. } => {
                text(",\"type\":\"event\",\"event\":");
                text(&quoted(event));
                ",\"body\":"
            }
        };
        if let Some(payload) = self.payload() {
            text(payload_key);
            text(payload.text());
        }
        text("}");
        json
    }
}

/// A JSON string. Writing one cannot fail.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_else(|_| "\"\"".to_owned())
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
