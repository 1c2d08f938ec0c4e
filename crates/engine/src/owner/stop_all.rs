//! Waits for many threads to stop, one after the other by their ids. With 500 threads that halves the time of a pause.
//!
//! In a wait for any thread, the kernel looks at all of them, and each stop wakes the tracer. A thread may be unable to stop: it sleeps
//! uninterruptibly in the kernel, or waits for another thread whose stop must be handled first. Then, after a timeout, the tracer waits
//! for any thread again until all have stopped.

use crate::ThreadId;
use crate::stops::{Mode, Stops};
use dapple_target::linux::alarm::Alarm;
use std::time::{Duration, Instant};

/// The least number of threads for which setting an alarm is worth it.
const MANY: usize = 16;
/// How long all threads together may take before the tracer waits for any thread again.
const PATIENCE: Duration = Duration::from_millis(20);

/// The threads that were asked to stop, and how they are waited for.
#[derive(Debug, Default)]
pub(super) struct StopWait {
    asked: Vec<ThreadId>,
    alarm: Alarm,
    state: State,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// No thread was waited for by its id yet during this stop.
    #[default]
    Before,
    /// Waiting by ids since this time; the alarm is set.
    ById(Instant),
    /// Waiting for any thread until all have stopped: waiting by ids took too long, or the alarm can't be set.
    InVain,
}

impl StopWait {
    /// A thread was asked to stop.
    pub(super) fn asked(&mut self, thread: ThreadId) {
        self.asked.push(thread);
    }

    /// The thread to wait for. `None`: any.
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

    /// Gives up waiting by ids.
    pub(super) fn was_in_vain(&mut self) {
        if matches!(self.state, State::ById(_)) {
            self.alarm.end();
            self.state = State::InVain;
        }
    }

    /// The wait was interrupted, perhaps by the alarm.
    pub(super) fn tick(&mut self) {
        if matches!(self.state, State::ById(since) if since.elapsed() >= PATIENCE) {
            self.was_in_vain();
        }
    }

    /// All threads have stopped, or no thread has to stop any more.
    pub(super) fn over(&mut self) {
        self.asked.clear();
        self.was_in_vain();
        self.state = State::Before;
    }
}
