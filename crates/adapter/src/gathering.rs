//! Telling of a stop that follows at once together with the answer to what has let the program run.
//!
//! A client is woken by each of the two otherwise, which takes longer than many a step. Where it asks again as soon as it has its
//! answer, as scripts do, and threads stop soon after they have been let run, the answer is kept back for as long as that takes.

use dapple_dap::transport::Writer;
use dapple_engine::session::Session;
use std::time::{Duration, Instant};

/// An answer that has been kept back for longer goes as soon as the session's thread is awake: a stop wakes it, and the alarm of held
/// threads does after some milliseconds.
const LONGEST: Duration = Duration::from_millis(1);

/// The way to the client.
#[derive(Debug)]
pub struct Gathering {
    outgoing: Writer,
    /// The client asks again as soon as it has its answer.
    pub client_is_quick: bool,
    /// What is sent is kept back since then.
    since: Option<Instant>,
}

impl Gathering {
    pub fn new(outgoing: Writer) -> Self {
        Gathering {
            outgoing,
            client_is_quick: false,
            since: None,
        }
    }

    /// Threads have been let run.
    pub fn resumed(&mut self, debuggee: &Session) {
        if self.client_is_quick && debuggee.stops_soon() {
            self.outgoing.gather();
            self.since = Some(Instant::now());
        }
    }

    /// Something has happened that is to be told of in its turn, or nothing for now: what was kept back goes when it is
    /// time, or when nobody would wake this thread then.
    pub fn flush_if_due(&mut self, debuggee: Option<&Session>) {
        if let Some(since) = self.since
            && (since.elapsed() > LONGEST || !debuggee.is_some_and(Session::stops_soon))
        {
            self.flush();
        }
    }

    /// What was kept back goes.
    pub fn flush(&mut self) {
        if self.since.take().is_some() {
            self.outgoing.send_gathered();
        }
    }
}
