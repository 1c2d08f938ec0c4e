//! Progress of work that usually finishes at once and sometimes takes long.

use std::convert::Infallible;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::outbox::Outbox;
use super::progress::Progress;

/// How long work may take before it is shown.
const LONG: Duration = Duration::from_millis(500);
/// How often the cancellation by the user is polled.
const TICK: Duration = Duration::from_millis(50);

/// Progress of work that the client shows only if it takes more than half a second.
///
/// The work may run on the session's own thread, since another thread sends the progress. The progress ends when this is dropped.
/// For a client that does not show progress it does nothing.
#[derive(Debug)]
#[must_use = "it ends when it is dropped"]
pub struct LateProgress {
    /// Dropped first: the channel's end stops the `teller` thread.
    over: Option<Sender<Infallible>>,
    teller: Option<JoinHandle<()>>,
}

impl LateProgress {
    /// Starts the progress of work that begins now.
    pub fn start(outbox: &Outbox, title: impl Into<String>) -> Self {
        Self::told_by(outbox, title.into(), None)
    }

    /// As [`start`](Self::start), for work that the user can cancel: `cancel` is then called on another thread.
    pub fn start_cancellable(
        outbox: &Outbox,
        title: impl Into<String>,
        cancel: impl FnOnce() + Send + 'static,
    ) -> Self {
        Self::told_by(outbox, title.into(), Some(Box::new(cancel)))
    }

    fn told_by(outbox: &Outbox, title: String, cancel: Option<Cancel>) -> Self {
        let client = outbox.client();
        if !client.is_some_and(|client| client.supports("supportsProgressReporting")) {
            return LateProgress {
                over: None,
                teller: None,
            };
        }
        let (over, work) = bounded(0);
        let outbox = outbox.clone();
        let teller = std::thread::Builder::new().name("progress".into());
        let teller = teller.spawn(move || tell(&work, &outbox, title, cancel));
        LateProgress {
            over: Some(over),
            teller: teller.ok(),
        }
    }
}

impl Drop for LateProgress {
    fn drop(&mut self) {
        drop(self.over.take());
        // Joined so that the progress's end is sent before the work's result.
        if let Some(teller) = self.teller.take() {
            let _ = teller.join();
        }
    }
}

type Cancel = Box<dyn FnOnce() + Send>;

fn tell(work: &Receiver<Infallible>, outbox: &Outbox, title: String, cancel: Option<Cancel>) {
    if work.recv_timeout(LONG) != Err(RecvTimeoutError::Timeout) {
        return;
    }
    let Some(cancel) = cancel else {
        let _shown = Progress::start(outbox, title);
        // Nothing is ever sent on the channel: this waits for the work's end.
        let _ = work.recv();
        return;
    };
    let shown = Progress::start_cancellable(outbox, title);
    while work.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
        if shown.cancelled().is_cancelled() {
            cancel();
            let _ = work.recv();
            return;
        }
    }
}
