//! The client's messages, read by the thread that has the debuggee.
//!
//! Waking a thread that waits takes longer than most requests do. A client that asks again as soon as it has its answer, as scripts
//! do, is waited for without going to sleep, as long as it keeps to that; nobody else's processor is kept busy.

use dapple_dap::transport::{Connection, OwnInput};
use dapple_engine::session::{Session, readable};
use std::time::{Duration, Instant};

/// How long the next request is waited for without going to sleep.
const AWAKE: Duration = Duration::from_micros(100);
/// Within what time a client has to ask again for that to be done next time: what it is given, and the waking of this thread.
const SOON: Duration = Duration::from_micros(200);
/// How long nobody looks for a message while stops follow each other at once.
const OFTEN: Duration = Duration::from_millis(1);

/// What the client sends.
pub(super) struct Input<'a> {
    connection: &'a Connection,
    own: Own,
    /// This thread is woken when something comes.
    told: bool,
    /// Since when the client has been waited for, while there was nothing else to wait for.
    idle_since: Option<Instant>,
    /// The client has asked again soon the last time.
    stays_awake: bool,
    /// There is a processor for the client meanwhile.
    can_stay_awake: bool,
    /// When it was last looked whether something has come.
    looked: Instant,
}

/// Whether it is to be looked for a message again, for this long after the last time, though a stop is about to follow.
fn is_due(since: Duration) -> bool {
    since >= OFTEN
}

/// Whether this thread reads.
enum Own {
    /// The connection's does.
    No,
    Reads(OwnInput),
    /// It can't: the input is of another kind.
    Never,
}

impl<'a> Input<'a> {
    pub(super) fn new(connection: &'a Connection) -> Self {
        Input {
            connection,
            own: Own::No,
            told: false,
            idle_since: None,
            stays_awake: false,
            can_stay_awake: std::thread::available_parallelism().is_ok_and(|count| count.get() > 1),
            looked: Instant::now(),
        }
    }

    /// Passes on what has come, and waits for it a little where that is worth it; false when `debuggee` is to be
    /// waited for, which ends when something comes.
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
            // What comes after this wakes. So does a stop that comes at once, and the alarm where it doesn't.
            || (!stops_soon && self.tell(true) && self.has_come());
        if come && let Some(since) = self.idle_since.take() {
            self.stays_awake = self.can_stay_awake && since.elapsed() < SOON;
        }
        come
    }

    /// Whether the client asks again as soon as it has its answer.
    pub(super) fn client_is_quick(&self) -> bool {
        self.stays_awake
    }

    /// Whether the next thing to happen is a request that follows at once.
    fn expects(&mut self, debuggee: &Session) -> bool {
        if !debuggee.is_held() {
            self.idle_since = None;
            return false;
        }
        self.idle_since.get_or_insert_with(Instant::now);
        self.stays_awake
    }

    /// Waits for a request without going to sleep.
    fn comes_soon(&mut self) -> bool {
        // An interrupt of this thread takes longer than what it does.
        self.tell(false);
        while self.idle_since.is_some_and(|since| since.elapsed() < AWAKE) {
            if self.has_come() {
                return true;
            }
            // The client may have to run on this very processor.
            std::thread::yield_now();
        }
        false
    }

    /// Whether it is time to look whether something has come.
    pub(super) fn is_due(&self) -> bool {
        is_due(self.looked.elapsed())
    }

    /// Passes on what has come.
    fn has_come(&mut self) -> bool {
        self.looked = Instant::now();
        matches!(&self.own, Own::Reads(input) if input.read())
    }

    /// Whether something that comes is to wake this thread; true when that has changed.
    fn tell(&mut self, wanted: bool) -> bool {
        if self.told == wanted {
            return false;
        }
        if let Own::Reads(input) = &self.own
            && let Err(error) = readable::tell(input, wanted)
        {
            tracing::warn!(%error, "the client may be heard late");
        }
        self.told = wanted;
        true
    }

    /// Takes over the reading, where that is possible.
    fn take(&mut self) -> bool {
        if matches!(self.own, Own::No) {
            let taken = self.connection.take_input();
            let taken = taken.filter(|input| {
                readable::prepare(input)
                    .and_then(|()| readable::tell(input, true))
                    .is_ok()
            });
            self.told = taken.is_some();
            self.own = taken.map_or(Own::Never, Own::Reads);
        }
        matches!(self.own, Own::Reads(_))
    }

    /// The connection's thread reads again, and tells of what it has read.
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

    /// A message is looked for now and then, not at each stop: that costs a system call.
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
        // Each 2 ms at least, and at one stop of ten at most.
        assert!((500..=10_000).contains(&looks), "{looks} times in a second");
    }
}
