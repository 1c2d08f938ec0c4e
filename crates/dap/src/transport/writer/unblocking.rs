//! Sending from tasks, which must not block: waiting for room is a future, and a peer that does not read for too long counts as gone.
//!
//! A writer that never blocks accepts each message. Tasks wait for [room](Writer::wait_for_room) before they send. If enough is sent
//! without waiting, output is left out; of other messages, too many end the connection. So the queues are bounded in any case.

use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{Mutex, MutexGuard, Notify, futures::Notified};
use tokio::time::{sleep, timeout};

use super::super::CLOSE_TIMEOUT;
use super::super::either::either;
use super::{HALF_CLOSED_CHECK, Next, Queue, SendError, State, Tap, Writer};

/// How many bytes may wait for a peer that does not read, in each of the two queues.
const LOST_LIMIT: usize = 64 << 20;

/// What tasks wait for.
#[derive(Debug, Default)]
pub(super) struct Signals {
    /// There is something to write, or the queue is closed. Only the writing task waits for it.
    pub(super) filled: Notify,
    /// Something was written, or the queue is closed.
    pub(super) drained: Notify,
    /// The queue is closed.
    pub(super) closed: Notify,
    /// Held by the task that waits for room, so that tasks send one by one.
    turn: Mutex<()>,
    /// The same for tasks that send output.
    output_turn: Mutex<()>,
}

/// Whether a message may be sent without waiting for the peer to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    /// It may.
    Free,
    /// Enough is queued.
    None,
    /// Nothing can be sent any more.
    Closed,
}

/// The permission to send one message, from [`Writer::wait_for_room`].
#[derive(Debug)]
#[must_use = "the next task may send when this is dropped"]
pub(crate) struct Turn<'a>(
    #[expect(dead_code, reason = "held until it is dropped")] MutexGuard<'a, ()>,
);

impl Writer {
    /// From now on, no sender waits for the peer to read, nor does closing.
    pub(crate) fn never_block(&self) {
        self.queue.0.lock().never_blocks = true;
    }

    /// Keeps the queues of a writer that never blocks within bounds: leaves out output, and fails the queue if that isn't enough.
    pub(super) fn bound(&self, state: &mut State) {
        if !state.never_blocks || state.closed {
            return;
        }
        if state.backlog.bytes() > LOST_LIMIT {
            state.backlog.shed();
        }
        if state.bytes.len().max(state.backlog.bytes()) > LOST_LIMIT {
            tracing::warn!("the peer does not read, and counts as gone");
            self.queue.0.fail(state);
        }
    }

    /// Whether there is room for a message other than output.
    pub(crate) fn room_now(&self) -> Room {
        let mut state = self.queue.0.lock();
        if state.has_no_room() {
            self.queue.0.fail_if_half_closed(&mut state);
        }
        match state.closed {
            true => Room::Closed,
            false if state.has_no_room() => Room::None,
            false => Room::Free,
        }
    }

    /// Waits until there is room for a message other than output, and for the messages of tasks that have waited longer.
    ///
    /// # Errors
    /// The connection is closed.
    pub(crate) async fn wait_for_room(&self) -> Result<Turn<'_>, SendError> {
        let turn = self.queue.0.signals.turn.lock().await;
        self.wait_until(|| true).await?;
        Ok(Turn(turn))
    }

    /// As [`wait_for_room`](Self::wait_for_room), for output, which other messages overtake.
    ///
    /// # Errors
    /// The connection is closed.
    pub(crate) async fn wait_for_room_for_output(&self) -> Result<Turn<'_>, SendError> {
        let turn = self.queue.0.signals.output_turn.lock().await;
        self.wait_until(|| !self.is_full()).await?;
        Ok(Turn(turn))
    }

    /// Waits until there is room for messages other than output, and `is_ready`.
    async fn wait_until(&self, is_ready: impl Fn() -> bool) -> Result<(), SendError> {
        loop {
            // Created before looking, so that a change right after the look is not missed.
            let drained = self.drained();
            match self.room_now() {
                Room::Closed => return Err(SendError),
                Room::Free if is_ready() => return Ok(()),
                _ => {}
            }
            timeout(HALF_CLOSED_CHECK, drained).await.ok();
        }
    }

    /// A future that is ready when something was written from now on, or the connection is closed. Even if that does not happen, look at
    /// [`room_now`](Self::room_now) again after [`Writer::RECHECK`].
    pub(crate) fn drained(&self) -> Notified<'_> {
        self.queue.0.signals.drained.notified()
    }

    /// How often to look whether a peer that does not read is gone.
    pub(crate) const RECHECK: Duration = HALF_CLOSED_CHECK;

    /// A future that is ready when the connection was closed for sending from now on.
    pub(crate) fn closing(&self) -> Notified<'_> {
        self.queue.0.signals.closed.notified()
    }

    /// Closes the connection for sending, and waits until all is written, up to the time that closing may take.
    pub(crate) async fn finish(&self) {
        self.queue.0.close();
        let written = async {
            loop {
                let drained = self.drained();
                if self.queue.0.lock().is_drained() {
                    return;
                }
                drained.await;
            }
        };
        timeout(CLOSE_TIMEOUT, written).await.ok();
    }

    /// Writes to `output` on a task.
    ///
    /// # Panics
    /// There is no runtime.
    pub(in super::super) fn task(
        output: impl AsyncWrite + Send + Unpin + 'static,
        tap: Option<Tap>,
    ) -> Self {
        let writer = Self::new(tap, None, None);
        writer.never_block();
        let queue = writer.queue.0.clone();
        tokio::spawn(async move {
            let overdue = async {
                queue.closed().await;
                sleep(CLOSE_TIMEOUT).await;
            };
            either(queue.write_to(output), overdue).await;
            let mut state = queue.lock();
            state.writing = false;
            queue.fail(&mut state);
        });
        writer
    }
}

impl Queue {
    /// Waits until the queue is closed.
    async fn closed(&self) {
        loop {
            let closed = self.signals.closed.notified();
            if self.lock().closed {
                return;
            }
            closed.await;
        }
    }

    /// Writes until the queue is closed and empty, or the peer is gone.
    async fn write_to(&self, mut output: impl AsyncWrite + Unpin) {
        let mut next = Next::default();
        loop {
            let is_closed = {
                let mut state = self.lock();
                self.take(&mut state, &mut next);
                state.writing = !next.is_empty();
                if !state.writing {
                    self.notify_drained(&mut state);
                }
                state.closed
            };
            if next.is_empty() {
                if is_closed {
                    output.shutdown().await.ok();
                    return;
                }
                self.signals.filled.notified().await;
                continue;
            }
            let bytes = next.bytes();
            let written = match output.write_all(bytes).await {
                Ok(()) => output.flush().await,
                Err(error) => Err(error),
            };
            if let Err(error) = written {
                return tracing::debug!(%error, "the peer takes no more messages");
            }
            self.notify_drained(&mut self.lock());
        }
    }
}
