//! The thread that writes the bytes which the kernel does not take at once.
//!
//! While there is nothing to write, the thread can wait for the peer to close its reading end, on Linux. An adapter's connection ends
//! then, even if the adapter's input stays open for ever.

use std::io::{self, Write};
use std::sync::{Arc, MutexGuard, PoisonError, Weak};
use std::thread;

use crossbeam_channel::Sender;

use super::incoming_notifier::IncomingNotifier;
use super::nonblocking::Watched;
use super::writer::{Next, Queue, State};
use super::{Closed, Incoming};

/// How the thread learns that the peer has closed its reading end, and where it reports that.
#[derive(Default)]
pub(super) struct Watch {
    /// The output to watch. `None`: only a failed write tells.
    pub(super) output: Option<Watched>,
    /// Where to report that the peer is gone. `None`: only senders learn of it, by their errors.
    pub(super) close_reporter: Option<CloseReporter>,
}

/// The incoming channel, for reporting the end of the connection.
pub(super) struct CloseReporter {
    /// The reader drops the strong reference when it stops reading.
    pub(super) incoming: Weak<Sender<Incoming>>,
    pub(super) notifier: IncomingNotifier,
}

impl CloseReporter {
    fn report(&self) {
        if let Some(incoming) = self.incoming.upgrade()
            && incoming.send(Incoming::Closed(Closed::ByPeer)).is_ok()
        {
            self.notifier.notify();
        }
    }
}

/// Starts the thread; `close` is called when nothing more will be written.
pub(super) fn start(
    queue: Arc<Queue>,
    output: impl Write + Send + 'static,
    watch: Watch,
    close: impl FnOnce() + Send + 'static,
) -> io::Result<()> {
    let thread = thread::Builder::new().name("dap-writer".to_owned());
    let write = move || {
        let peer_is_gone = write_queue(&queue, output, &watch);
        close();
        if let Some(reporter) = &watch.close_reporter
            && peer_is_gone
        {
            reporter.report();
        }
    };
    thread.spawn(write).map(drop)
}

/// Writes until this end is closed and the queue is empty. `true`: the peer was gone before that.
fn write_queue(queue: &Queue, mut output: impl Write, watch: &Watch) -> bool {
    let mut next = Next::default();
    let mut state = queue.lock();
    loop {
        queue.take(&mut state, &mut next);
        if next.is_empty() {
            state.writing = false;
            queue.notify_drained(&mut state);
            if state.closed {
                return false;
            }
            state = wait(queue, state, watch);
            if state.failed {
                return true;
            }
            continue;
        }
        state.writing = true;
        drop(state);
        let written = output.write_all(next.bytes()).and_then(|()| output.flush());
        state = queue.lock();
        queue.notify_drained(&mut state);
        if let Err(error) = written {
            tracing::debug!(%error, "the peer takes no more messages");
            queue.fail(&mut state);
            state.writing = false;
            return true;
        }
    }
}

/// Waits until there is something to write, the queue is closed, or the peer has closed its reading end. May return early.
fn wait<'a>(
    queue: &'a Queue,
    mut state: MutexGuard<'a, State>,
    watch: &Watch,
) -> MutexGuard<'a, State> {
    let (Some(output), Some(nudge)) = (&watch.output, &queue.nudge) else {
        return queue
            .filled
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner);
    };
    state.at_descriptor = true;
    drop(state);
    let is_gone = output.wait(nudge);
    let mut state = queue.lock();
    state.at_descriptor = false;
    if is_gone {
        tracing::debug!("the peer reads no more");
        queue.fail(&mut state);
    }
    state
}
