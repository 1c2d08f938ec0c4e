//! Progress of work that is usually done at once, and sometimes takes long.

use std::convert::Infallible;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::outbox::Outbox;
use super::progress::Progress;

/// How long work may take before it is shown.
const LONG: Duration = Duration::from_millis(500);
/// How often is looked whether the user has cancelled it.
const TICK: Duration = Duration::from_millis(50);

/// Work that the client shows only if it takes more than half a second.
///
/// It may be done by the session's own thread: the progress is told by another. It ends when this is dropped. For a client that does not show
/// progress it does nothing.
#[derive(Debug)]
#[must_use = "it ends when it is dropped"]
pub struct LateProgress {
    /// Dropped first: the teller ends by that.
    over: Option<Sender<Infallible>>,
    teller: Option<JoinHandle<()>>,
}

impl LateProgress {
    /// Begins the work.
    pub fn start(outbox: &Outbox, title: impl Into<String>) -> Self {
        Self::told_by(outbox, title.into(), None)
    }

    /// Begins work that the user can cancel: `cancel` is called when that is asked for, on a thread of its own.
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
        // Then its end is told before what comes of the work.
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
        // Nothing is ever sent: this is the work's end.
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
