//! Reads the client's messages on the thread that traces the debuggee.
//!
//! Waking a sleeping thread takes longer than most requests. For a client that sends its next request as soon as it has a response, as scripts
//! do, the thread polls for a short time in place of sleeping. It doesn't poll for other clients.

use dapple_dap::transport::{Connection, OwnInput};
use dapple_engine::session::{Session, readable};
use std::time::{Duration, Instant};

/// How long the thread polls for the next request.
const AWAKE: Duration = Duration::from_micros(100);
/// If a client sends a request within this time after a response, the thread polls for a request after the next response too. The time is
/// `AWAKE` plus the time that it takes to wake this thread.
const SOON: Duration = Duration::from_micros(200);
/// How often messages are looked for while stops follow each other closely.
const OFTEN: Duration = Duration::from_millis(1);

/// The client's messages.
pub(super) struct Input<'a> {
    connection: &'a Connection,
    own: Own,
    /// Whether a signal wakes this thread when input comes.
    wakes: bool,
    /// Since when this thread has waited only for the client; `None` while the debuggee runs.
    idle_since: Option<Instant>,
    /// Whether the client's latest request came within [`SOON`].
    stays_awake: bool,
    /// Whether there is another processor for the client.
    can_stay_awake: bool,
    /// When input was last looked for.
    looked: Instant,
}

/// Whether to look for input although a stop is about to follow. `since` is the time since input was last looked for.
fn is_due(since: Duration) -> bool {
    since >= OFTEN
}

/// Who reads the input.
enum Own {
    /// The connection's thread.
    No,
    /// This thread.
    Reads(OwnInput),
    /// The connection's thread: this kind of input can't be taken over.
    Never,
}

impl<'a> Input<'a> {
    pub(super) fn new(connection: &'a Connection) -> Self {
        Input {
            connection,
            own: Own::No,
            wakes: false,
            idle_since: None,
            stays_awake: false,
            can_stay_awake: std::thread::available_parallelism().is_ok_and(|count| count.get() > 1),
            looked: Instant::now(),
        }
    }

    /// Passes on input that has come, and polls for it if the client is quick. Returns whether any has come. If not, the caller should wait for
    /// `debuggee`: input, a stop or the alarm of pinned threads ends that wait.
    pub(super) fn read(&mut self, debuggee: &Session) -> bool {
        if !self.take() {
            return false;
        }
        let stops_soon = debuggee.stops_soon();
        if stops_soon && !is_due(self.looked.elapsed()) {
            return false;
        }
        let come = self.has_come()
            || (self.expects(debuggee) && self.comes_soon())
            // From here on, input wakes the thread. If a stop is expected, the stop or the alarm of pinned threads wakes it instead.
            || (!stops_soon && self.wake_on_input(true) && self.has_come());
        if come && let Some(since) = self.idle_since.take() {
            self.stays_awake = self.can_stay_awake && since.elapsed() < SOON;
        }
        come
    }

    /// Whether the client sends its next request as soon as it has a response.
    pub(super) fn client_is_quick(&self) -> bool {
        self.stays_awake
    }

    /// Whether a request is expected at once, and nothing else.
    fn expects(&mut self, debuggee: &Session) -> bool {
        if !debuggee.is_held() {
            self.idle_since = None;
            return false;
        }
        self.idle_since.get_or_insert_with(Instant::now);
        self.stays_awake
    }

    /// Polls for a request.
    fn comes_soon(&mut self) -> bool {
        // A signal to this thread would take longer than polling.
        self.wake_on_input(false);
        while self.idle_since.is_some_and(|since| since.elapsed() < AWAKE) {
            if self.has_come() {
                return true;
            }
            // The client may need this processor.
            std::thread::yield_now();
        }
        false
    }

    /// Whether it is time to look for input.
    pub(super) fn is_due(&self) -> bool {
        is_due(self.looked.elapsed())
    }

    /// Passes on input that has come. Returns whether there was any.
    fn has_come(&mut self) -> bool {
        self.looked = Instant::now();
        matches!(&self.own, Own::Reads(input) if input.read())
    }

    /// Sets whether input wakes this thread. Returns whether that has changed.
    fn wake_on_input(&mut self, wanted: bool) -> bool {
        if self.wakes == wanted {
            return false;
        }
        if let Own::Reads(input) = &self.own
            && let Err(error) = readable::tell(input, wanted)
        {
            tracing::warn!(%error, "the client may be heard late");
        }
        self.wakes = wanted;
        true
    }

    /// Takes over the input from the connection's thread, if possible.
    fn take(&mut self) -> bool {
        if matches!(self.own, Own::No) {
            let taken = self.connection.take_input();
            let taken = taken.filter(|input| {
                readable::prepare(input)
                    .and_then(|()| readable::tell(input, true))
                    .is_ok()
            });
            self.wakes = taken.is_some();
            self.own = taken.map_or(Own::Never, Own::Reads);
        }
        matches!(self.own, Own::Reads(_))
    }

    /// Gives the input back to the connection's thread.
    pub(super) fn give_back(&mut self) {
        self.idle_since = None;
        if matches!(self.own, Own::Reads(_)) {
            self.own = Own::No;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_due;
    use std::time::Duration;

    /// Looking for a message is a system call, so it isn't done at each stop.
    #[test]
    fn a_message_is_found_soon_however_fast_stops_follow_each_other() {
        let (stop, second) = (Duration::from_micros(10), Duration::from_secs(1));
        let (mut since, mut time, mut looks) = (Duration::ZERO, Duration::ZERO, 0);
        while time < second {
            (since, time) = (since + stop, time + stop);
            if is_due(since) {
                (since, looks) = (Duration::ZERO, looks + 1);
            }
        }
        // At least every 2 ms, and at most at one stop in ten.
        assert!((500..=10_000).contains(&looks), "{looks} times in a second");
    }
}
