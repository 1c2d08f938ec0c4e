//! Progress of work that usually finishes at once and sometimes takes long.

use std::convert::Infallible;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::outbox::Outbox;
use super::progress::Progress;

/// How long work may take before it is shown.
const LONG: Duration = Duration::from_millis(500);
/// How often the thread checks whether the user has cancelled the work.
const TICK: Duration = Duration::from_millis(50);

/// Progress that the client shows only if the work takes more than half a second.
///
/// The work may run on the session's own thread, since another thread sends the progress. The progress ends when this value is
/// dropped. If the client does not show progress, nothing is sent.
#[derive(Debug)]
#[must_use = "it ends when it is dropped"]
pub struct LateProgress {
    /// Dropped before `thread` is joined: the closed channel ends the thread.
    work: Option<Sender<Infallible>>,
    thread: Option<JoinHandle<()>>,
}

impl LateProgress {
    /// Starts the progress of work that begins now.
    pub fn start(outbox: &Outbox, title: impl Into<String>) -> Self {
        Self::start_with(outbox, title.into(), None)
    }

    /// As [`start`](Self::start), but the user can cancel the work once its progress is shown. Then `cancel` is called, on another
    /// thread.
    pub fn start_cancellable(
        outbox: &Outbox,
        title: impl Into<String>,
        cancel: impl FnOnce() + Send + 'static,
    ) -> Self {
        Self::start_with(outbox, title.into(), Some(Box::new(cancel)))
    }

    fn start_with(outbox: &Outbox, title: String, cancel: Option<Cancel>) -> Self {
        let client = outbox.client();
        if !client.is_some_and(|client| client.supports("supportsProgressReporting")) {
            return LateProgress {
                work: None,
                thread: None,
            };
        }
        let (work, ended) = bounded(0);
        let outbox = outbox.clone();
        let thread = std::thread::Builder::new().name("progress".into());
        let thread = thread.spawn(move || show_if_late(&ended, &outbox, title, cancel));
        LateProgress {
            work: Some(work),
            thread: thread.ok(),
        }
    }
}

impl Drop for LateProgress {
    fn drop(&mut self) {
        drop(self.work.take());
        // Joined so that the progress's end is sent before the work's result.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

type Cancel = Box<dyn FnOnce() + Send>;

/// Sends the progress of the work if it takes longer than [`LONG`]. The channel `ended` is closed at the work's end.
fn show_if_late(
    ended: &Receiver<Infallible>,
    outbox: &Outbox,
    title: String,
    cancel: Option<Cancel>,
) {
    if ended.recv_timeout(LONG) != Err(RecvTimeoutError::Timeout) {
        return;
    }
    let Some(cancel) = cancel else {
        let _shown = Progress::start(outbox, title);
        // Nothing is ever sent on the channel: this waits for the work's end.
        let _ = ended.recv();
        return;
    };
    let shown = Progress::start_cancellable(outbox, title);
    while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
        if shown.cancelled().is_cancelled() {
            cancel();
            let _ = ended.recv();
            return;
        }
    }
}
