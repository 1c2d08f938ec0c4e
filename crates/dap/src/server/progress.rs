//! Progress of long work, shown by the client.
//!
//! A [`Progress`] starts when it is created and ends when it is dropped, so that no client shows one forever. It may be updated as
//! often as the work likes; updates are sent at most ten times a second. For a client that does not show progress it does nothing.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::outbox::Outbox;
use crate::cancel::CancelToken;
use crate::types::{
    ProgressEndEvent, ProgressEndEventBody, ProgressStartEvent, ProgressStartEventBody,
    ProgressUpdateEvent, ProgressUpdateEventBody,
};

/// The shortest time between two updates.
const INTERVAL: Duration = Duration::from_millis(100);

/// Tells the progresses of this process apart.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// The progress of work under way, shown by the client.
///
/// The progress ends when this value is dropped, so that no client shows it forever. It may be updated as often as the work likes;
/// updates are sent at most ten times a second. If the client does not show progress, nothing is sent.
#[derive(Debug)]
#[must_use = "it ends when it is dropped"]
pub struct Progress {
    /// `None` if the client does not show progress.
    shown: Option<Shown>,
    cancel: CancelToken,
}

#[derive(Debug)]
struct Shown {
    outbox: Outbox,
    id: String,
    last: Instant,
    /// The newest update, if it was made less than [`INTERVAL`] after the start or the last update sent. The next update replaces it.
    held: Option<(Option<String>, Option<f64>)>,
    farewell: Option<String>,
}

impl Progress {
    /// Starts a progress with a title, such as `Reading symbols`.
    pub fn start(outbox: &Outbox, title: impl Into<String>) -> Self {
        Self::new(outbox, |id| ProgressStartEventBody::new(id, title))
    }

    /// Starts a progress that the user can cancel; the work has to check [`cancelled`](Self::cancelled).
    pub fn start_cancellable(outbox: &Outbox, title: impl Into<String>) -> Self {
        Self::new(outbox, |id| {
            ProgressStartEventBody::new(id, title).with_cancellable(true)
        })
    }

    fn new(outbox: &Outbox, body: impl FnOnce(String) -> ProgressStartEventBody) -> Self {
        let mut cancel = CancelToken::new();
        let shows = outbox
            .client()
            .is_some_and(|client| client.supports("supportsProgressReporting"));
        let shown = shows.then(|| {
            let id = format!("progress-{}", NEXT.fetch_add(1, Ordering::Relaxed));
            cancel = outbox.cancellations().begin_progress(id.clone());
            outbox.event::<ProgressStartEvent>(body(id.clone()));
            Shown {
                outbox: outbox.clone(),
                id,
                last: Instant::now(),
                held: None,
                farewell: None,
            }
        });
        Self { shown, cancel }
    }

    /// Reports how far the work is: a message, a percentage from 0 to 100, or both.
    pub fn update(&mut self, message: Option<String>, percentage: Option<f64>) {
        let Some(shown) = &mut self.shown else { return };
        let percentage = percentage
            .filter(|value| value.is_finite())
            .map(|value| value.clamp(0.0, 100.0));
        if shown.last.elapsed() < INTERVAL {
            shown.held = Some((message, percentage));
        } else {
            shown.send(message, percentage);
        }
    }

    /// Whether the user cancelled the work.
    pub fn cancelled(&self) -> &CancelToken {
        &self.cancel
    }

    /// Ends the progress with a message.
    pub fn finish(mut self, message: impl Into<String>) {
        if let Some(shown) = &mut self.shown {
            shown.farewell = Some(message.into());
        }
    }
}

impl Shown {
    fn send(&mut self, message: Option<String>, percentage: Option<f64>) {
        self.last = Instant::now();
        self.held = None;
        let mut body = ProgressUpdateEventBody::new(self.id.clone());
        body.message = message;
        body.percentage = percentage;
        self.outbox.event::<ProgressUpdateEvent>(body);
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        if let Some((message, percentage)) = self.held.take() {
            self.send(message, percentage);
        }
        let mut body = ProgressEndEventBody::new(self.id.clone());
        body.message = self.farewell.take();
        self.outbox.event::<ProgressEndEvent>(body);
        self.outbox.cancellations().end_progress(&self.id);
    }
}
