//! Waiting for many threads to stop, one after the other.
//!
//! For a wait for any thread the kernel looks at all of them, and each stop ends the waiter's sleep. With 500 threads that is
//! half of what a pause takes. So the threads that were asked to stop are waited for by their ids. One that can't stop, as it
//! waits in the kernel for what nobody may interrupt, or for another one to be attended to, ends that: from then on, until
//! all have stopped, whatever comes is waited for.

use crate::ThreadId;
use crate::stops::{Mode, Stops};
use dapple_target::linux::alarm::Alarm;
use std::time::{Duration, Instant};

/// From how many threads on it is worth an alarm.
const MANY: usize = 16;
/// How long all of them may take before whatever comes is waited for.
const PATIENCE: Duration = Duration::from_millis(20);

/// The threads that were asked to stop.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    asked: Vec<ThreadId>,
    alarm: Alarm,
    state: State,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nobody is waited for by its id, so far.
    #[default]
    Before,
    /// Each is since then, and the alarm is set.
    ById(Instant),
    /// No more, until all have stopped.
    InVain,
}

impl Gathering {
    /// A thread was asked to stop.
    pub(super) fn asked(&mut self, thread: ThreadId) {
        self.asked.push(thread);
    }

    /// Who is to be waited for; `None`: whatever comes.
    pub(super) fn next(&mut self, stops: &Stops) -> Option<ThreadId> {
        if stops.mode() != Mode::Stopping {
            self.over();
            return None;
        }
        if self.state == State::InVain || (self.state == State::Before && self.asked.len() < MANY) {
            return None;
        }
        while let Some(thread) = self.asked.last() {
            if !stops.awaits(*thread) {
                self.asked.pop();
                continue;
            }
            if self.state == State::Before {
                if !self.alarm.ring_every(PATIENCE) {
                    self.state = State::InVain;
                    return None;
                }
                self.state = State::ById(Instant::now());
            }
            return Some(*thread);
        }
        None
    }

    /// The thread is not to be waited for.
    pub(super) fn was_in_vain(&mut self) {
        if matches!(self.state, State::ById(_)) {
            self.alarm.end();
            self.state = State::InVain;
        }
    }

    /// The alarm may be what has ended the wait.
    pub(super) fn tick(&mut self) {
        if matches!(self.state, State::ById(since) if since.elapsed() >= PATIENCE) {
            self.was_in_vain();
        }
    }

    /// All have stopped, or nobody has to any more.
    pub(super) fn over(&mut self) {
        self.asked.clear();
        self.was_in_vain();
        self.state = State::Before;
    }
}
