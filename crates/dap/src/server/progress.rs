//! Progress of long work, shown by the client.
//!
//! A [`Progress`] starts when it is made and ends when it is dropped, whatever happens in between, so that no client shows
//! one forever. Updates come as often as the work likes and leave at a rate that a client can take. For a client that
//! does not show progress it does nothing.

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

/// Work that goes on, shown by the client.
///
/// It ends when it is dropped, so that no client shows one forever. Updates may come as often as the work likes; they leave at most ten
/// times a second. For a client that does not show progress all of this does nothing.
#[derive(Debug)]
#[must_use = "it ends when it is dropped"]
pub struct Progress {
    /// Nothing if the client does not show it.
    shown: Option<Shown>,
    cancel: CancelToken,
}

#[derive(Debug)]
struct Shown {
    outbox: Outbox,
    id: String,
    last: Instant,
    /// An update that came too soon after the one before.
    held: Option<(Option<String>, Option<f64>)>,
    farewell: Option<String>,
}

impl Progress {
    /// Starts a progress with a title, such as `Reading symbols`.
    pub fn start(outbox: &Outbox, title: impl Into<String>) -> Self {
        Self::new(outbox, |id| ProgressStartEventBody::new(id, title))
    }

    /// Starts a progress that the user can cancel; the work is to look at [`cancelled`](Self::cancelled).
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

    /// Says where the work is: a message, a percentage from 0 to 100, or both.
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

    /// Tells whether the user cancelled it.
    pub fn cancelled(&self) -> &CancelToken {
        &self.cancel
    }

    /// Ends it with a message.
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
