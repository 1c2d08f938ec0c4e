//! Sends the response to a resuming request together with the stop that follows at once.
//!
//! Separate messages would wake the client twice, which takes longer than many steps. The response is delayed until the stop only if the
//! client sends its next request as soon as it has a response, as scripts do, and threads stop soon after they are resumed.

use dapple_dap::transport::Writer;
use dapple_engine::session::Session;
use std::time::{Duration, Instant};

/// How long messages may be delayed. A message that has waited longer is sent when the session's thread next wakes up: at a stop, or at
/// the alarm for pinned threads after some milliseconds.
const LONGEST: Duration = Duration::from_millis(1);

/// The outgoing messages that may be delayed.
#[derive(Debug)]
pub struct DelayedMessages {
    outgoing: Writer,
    /// Whether the client sends its next request as soon as it has a response.
    pub client_is_quick: bool,
    /// Since when messages are delayed; `None` if they aren't.
    since: Option<Instant>,
}

impl DelayedMessages {
    pub fn new(outgoing: Writer) -> Self {
        DelayedMessages {
            outgoing,
            client_is_quick: false,
            since: None,
        }
    }

    /// Call when threads are resumed: delays messages if a stop is expected soon.
    pub fn resumed(&mut self, debuggee: &Session) {
        if self.client_is_quick && debuggee.stops_soon() {
            self.outgoing.gather();
            self.since = Some(Instant::now());
        }
    }

    /// Sends delayed messages if they are too old, or if no alarm would wake this thread to send them later.
    pub fn flush_if_due(&mut self, debuggee: Option<&Session>) {
        if let Some(since) = self.since
            && (since.elapsed() > LONGEST || !debuggee.is_some_and(Session::stops_soon))
        {
            self.flush();
        }
    }

    /// Sends delayed messages.
    pub fn flush(&mut self) {
        if self.since.take().is_some() {
            self.outgoing.send_gathered();
        }
    }
}
