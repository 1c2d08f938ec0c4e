//! Threads of which one runs at a time, whatever whoever runs the process believes.
//!
//! A thread that is resumed waits for its turn. The one that has the turn keeps it until it stops, waits in a system call, or ends. Events of
//! threads that don't run are made up where somebody asks them to stop.

use crate::ThreadId;
use crate::process::Resume;
use crate::wait_event::{WaitEvent, What};
use std::collections::{BTreeMap, VecDeque};

/// Where a thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// It is stopped for whoever runs the process.
    Stopped,
    /// It was resumed so, with a signal unless that is 0, and waits for its turn.
    Ready(Resume, i32),
    /// It has the turn.
    Runs,
    /// It is in a system call that may take long, and has no turn.
    Calls,
    /// It has come back from there with this event, which is to be handled in its turn.
    Returned(What),
    /// It ends.
    Ends,
}

/// What is reported of a thread that was asked to stop.
pub(super) const INTERRUPTED: What = What::Interrupted {
    trap_pending: false,
};

/// The threads of a process.
#[derive(Debug, Default)]
pub(super) struct Turns {
    places: BTreeMap<ThreadId, Place>,
    /// The threads that wait for their turn: the longest first.
    waiting: VecDeque<ThreadId>,
    /// The thread that has the turn, or had it last.
    last: Option<ThreadId>,
    /// Whether that one has it before the others when it is ready.
    keeps: bool,
    made_up: VecDeque<WaitEvent>,
}

impl Turns {
    /// A new thread, which is stopped.
    pub(super) fn add(&mut self, thread: ThreadId) {
        self.places.insert(thread, Place::Stopped);
    }

    /// A thread is gone.
    pub(super) fn remove(&mut self, thread: ThreadId) {
        self.places.remove(&thread);
        self.waiting.retain(|one| *one != thread);
        self.last.take_if(|last| *last == thread);
    }

    /// Whether there is only one thread.
    pub(super) fn is_alone(&self) -> bool {
        self.places.len() <= 1
    }

    /// All threads.
    pub(super) fn threads(&self) -> impl Iterator<Item = ThreadId> {
        self.places.keys().copied()
    }

    /// Where a thread is. `None`: it is none of these.
    pub(super) fn place(&self, thread: ThreadId) -> Option<Place> {
        self.places.get(&thread).copied()
    }

    /// Notes where a thread is.
    pub(super) fn set(&mut self, thread: ThreadId, place: Place) {
        if !self.places.contains_key(&thread) {
            return;
        }
        self.places.insert(thread, place);
        let waits = matches!(place, Place::Ready(..) | Place::Returned(_));
        let is_in = self.waiting.contains(&thread);
        match (waits, is_in) {
            (true, false) => self.waiting.push_back(thread),
            (false, true) => self.waiting.retain(|one| *one != thread),
            _ => {}
        }
    }

    /// Whether a thread has the turn.
    pub(super) fn someone_runs(&self) -> bool {
        let mut places = self.places.values();
        places.any(|place| *place == Place::Runs)
    }

    /// Whether a thread waits for its turn.
    pub(super) fn someone_waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The thread that has the turn, or had it last.
    pub(super) fn last(&self) -> Option<ThreadId> {
        self.last
    }

    /// A thread gets the turn.
    pub(super) fn begin(&mut self, thread: ThreadId) {
        self.last = Some(thread);
        self.keeps = true;
    }

    /// The thread that had the turn last has it no more before the others.
    pub(super) fn pass(&mut self) {
        self.keeps = false;
    }

    /// Whether the thread that had the turn last has it before the others.
    pub(super) fn keeps(&self) -> bool {
        self.keeps
    }

    /// Who gets the turn next.
    pub(super) fn next(&self) -> Option<ThreadId> {
        let last = self
            .last
            .filter(|last| self.keeps && self.waiting.contains(last));
        last.or_else(|| self.waiting.front().copied())
    }

    /// A thread that doesn't run is asked to stop: it has.
    pub(super) fn stop(&mut self, thread: ThreadId) {
        self.set(thread, Place::Stopped);
        self.make_up(thread, INTERRUPTED);
    }

    /// Takes note of an event that nobody has reported yet.
    pub(super) fn make_up(&mut self, thread: ThreadId, what: What) {
        self.made_up.push_back(WaitEvent { thread, what });
    }

    /// Takes such an event: of one thread, or of any.
    pub(super) fn take_made_up(&mut self, thread: Option<ThreadId>) -> Option<WaitEvent> {
        let mut all = self.made_up.iter();
        let is_meant = |event: &WaitEvent| thread.is_none_or(|thread| thread == event.thread);
        let index = all.position(is_meant)?;
        self.made_up.remove(index)
    }

    /// Whether there is such an event.
    pub(super) fn has_made_up(&self) -> bool {
        !self.made_up.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_run_keeps_the_turn_until_it_is_passed() {
        let mut turns = Turns::default();
        let [one, two] = [ThreadId(1), ThreadId(2)];
        turns.add(one);
        turns.add(two);
        let ready = Place::Ready(Resume::Continue, 0);
        turns.set(two, ready);
        turns.set(one, ready);
        assert_eq!(turns.next(), Some(two));
        turns.begin(one);
        assert_eq!(turns.next(), Some(one));
        turns.pass();
        assert_eq!(turns.next(), Some(two));
        turns.set(two, Place::Calls);
        assert_eq!(turns.next(), Some(one));
        turns.remove(one);
        assert_eq!(turns.next(), None);
    }

    #[test]
    fn made_up_events_are_taken_by_their_threads() {
        let mut turns = Turns::default();
        let [one, two] = [ThreadId(1), ThreadId(2)];
        turns.make_up(one, What::Other);
        turns.make_up(two, What::Exiting);
        let taken = turns.take_made_up(Some(two)).map(|event| event.what);
        assert_eq!(taken, Some(What::Exiting));
        assert!(turns.take_made_up(Some(two)).is_none());
        assert_eq!(
            turns.take_made_up(None).map(|event| event.thread),
            Some(one)
        );
    }
}
