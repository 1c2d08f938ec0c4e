//! Connections over asynchronous streams, whose tasks read and write in place of threads.
//!
//! One task reads ahead as a connection's thread does, and acts on `cancel` requests as it reads them. The other one writes
//! (`writer/unblocking`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::incoming_notifier::IncomingNotifier;
use super::own_input::{Delivered, Passing};
use super::{
    Budget, Closed, Connection, Decoder, Incoming, Options, READ_AHEAD, READ_AHEAD_BYTES, Reader,
    Writer,
};
use crate::cancel::Cancellations;

/// The task that reads. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct Reading {
    task: AbortHandle,
    budget: Arc<Budget>,
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Options {
    /// A connection over asynchronous streams, for [`AsyncServer`](crate::async_server::AsyncServer): two tasks read and write. Sending never
    /// blocks; with more than 64 MiB queued, a peer that does not read counts as gone, and the oldest output is left out.
    ///
    /// # Panics
    /// There is no runtime, or it has no time enabled.
    pub fn asynchronous(
        self,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Connection {
        let cancellations = Arc::new(Cancellations::default());
        let (sender, incoming) = crossbeam_channel::bounded(READ_AHEAD);
        let notifier = IncomingNotifier::default();
        let outgoing = Writer::task(output, self.tap.clone());
        let budget = Arc::<Budget>::default();
        let reader = Reader {
            sender: Arc::new(sender),
            notifier: notifier.clone(),
            tap: self.tap,
            cancellations: cancellations.clone(),
            budget: budget.clone(),
        };
        let ended = Arc::new(AtomicBool::new(false));
        let has_ended = ended.clone();
        outgoing.set_has_closed(move || has_ended.load(Ordering::Acquire));
        let reading = reader.read(input, Decoder::with_limit(self.limit), ended);
        Connection {
            incoming,
            outgoing,
            shared: None,
            cancellations,
            notifier,
            reading: Some(Reading {
                task: tokio::spawn(reading).abort_handle(),
                budget,
            }),
        }
    }
}

impl Connection {
    /// A connection over asynchronous streams; see [`Options::asynchronous`].
    ///
    /// # Panics
    /// There is no runtime, or it has no time enabled.
    pub fn asynchronous(
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Options::new().asynchronous(input, output)
    }

    /// Takes the next incoming item, if there is one.
    pub(crate) fn take_incoming(&self) -> Option<Incoming> {
        let incoming = self.incoming.try_recv().ok()?;
        if let Some(reading) = &self.reading {
            reading.budget.taken.notify_one();
        }
        Some(incoming)
    }
}

impl Reader {
    async fn read(
        self,
        mut input: impl AsyncRead + Unpin,
        mut decoder: Decoder,
        ended: Arc<AtomicBool>,
    ) {
        let mut piece = vec![0; 64 << 10];
        let closed = loop {
            match input.read(&mut piece).await {
                Ok(0) => break Closed::at_end_of(&decoder),
                Ok(length) => decoder.push(&piece[..length]),
                Err(error) => break Closed::Broken(error.to_string()),
            }
            match self.deliver_all(&mut decoder).await {
                Ok(()) => {}
                Err(Some(closed)) => break closed,
                Err(None) => return,
            }
        };
        ended.store(true, Ordering::Release);
        self.close(closed, Passing::AtOnce);
        self.notifier.notify();
    }

    /// Passes on the whole messages in the decoder, and waits until not too much is read ahead. The errors are those of
    /// [`deliver`](Self::deliver).
    async fn deliver_all(&self, decoder: &mut Decoder) -> Result<(), Option<Closed>> {
        loop {
            let delivered = self.deliver(decoder, Passing::AtOnce);
            self.notifier.notify();
            let is_full = self.budget.lock().used > READ_AHEAD_BYTES;
            match delivered? {
                Delivered::All if !is_full => return Ok(()),
                // A loop of the user's own takes items of the channel directly. If those are `Incoming::Malformed`, nothing notifies.
                _ => {
                    let taken = self.budget.taken.notified();
                    timeout(Writer::RECHECK, taken).await.ok();
                }
            }
        }
    }
}
