//! The threads that the reducer knows, and how many of them are waited for until all are stopped.
//!
//! Each event asks whether that is so. With a thousand threads to stop, a look at all of them for each would be a million: so
//! those that run are counted as their states change, which happens here alone.

use super::How;
use crate::ThreadId;
use std::collections::BTreeMap;
use std::collections::btree_map::{Iter, Values};

/// Where a thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Running,
    Stopped,
    /// On its way out: it runs no code of the program any more and is not waited for.
    Leaving,
}

/// A thread that is traced.
#[derive(Debug, Clone, Copy)]
pub(super) struct Thread {
    state: State,
    guest: bool,
    pub(super) how: How,
    /// A stop signal holds the process: it goes on by SIGCONT.
    pub(super) group_stop: bool,
    /// The child that has its memory (vfork): it can't run before the child has let go.
    pub(super) lent_to: Option<ThreadId>,
    /// It is to go on no more once it has its memory back.
    pub(super) waits_after_vfork: bool,
}

impl Thread {
    pub(super) fn new(state: State) -> Thread {
        Thread {
            state,
            guest: false,
            how: How::Continue,
            group_stop: false,
            lent_to: None,
            waits_after_vfork: false,
        }
    }

    /// A child that runs in the debuggee's memory: no thread of the debuggee, but bound to trap on what is inserted.
    pub(super) fn new_vfork_child() -> Thread {
        Thread {
            guest: true,
            ..Thread::new(State::Running)
        }
    }

    pub(super) fn state(&self) -> State {
        self.state
    }

    pub(super) fn is_vfork_child(&self) -> bool {
        self.guest
    }

    /// Whether it has yet to stop before all are stopped.
    pub(super) fn is_awaited(&self) -> bool {
        self.state == State::Running && !self.guest
    }
}

/// The threads by id.
#[derive(Debug, Default)]
pub(super) struct Threads {
    all: BTreeMap<ThreadId, Thread>,
    /// How many of them are awaited.
    awaited: usize,
}

impl Threads {
    pub(super) fn get(&self, id: ThreadId) -> Option<&Thread> {
        self.all.get(&id)
    }

    /// For all but the state.
    pub(super) fn get_mut(&mut self, id: ThreadId) -> Option<&mut Thread> {
        self.all.get_mut(&id)
    }

    pub(super) fn set(&mut self, id: ThreadId, state: State) {
        if let Some(thread) = self.all.get_mut(&id) {
            self.awaited -= usize::from(thread.is_awaited());
            thread.state = state;
            self.awaited += usize::from(thread.is_awaited());
        }
    }

    pub(super) fn insert(&mut self, id: ThreadId, thread: Thread) {
        self.awaited += usize::from(thread.is_awaited());
        if let Some(before) = self.all.insert(id, thread) {
            self.awaited -= usize::from(before.is_awaited());
        }
    }

    pub(super) fn remove(&mut self, id: ThreadId) -> Option<Thread> {
        let thread = self.all.remove(&id)?;
        self.awaited -= usize::from(thread.is_awaited());
        Some(thread)
    }

    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.awaited = 0;
    }

    /// Forgets all but the children that run in the debuggee's memory.
    pub(super) fn keep_vfork_children(&mut self) {
        let stays = |thread: &Thread| thread.guest && thread.state != State::Leaving;
        self.all.retain(|_, thread| stays(thread));
        self.awaited = 0;
    }

    /// Whether any has yet to stop before all are stopped.
    pub(super) fn awaits_any(&self) -> bool {
        self.awaited > 0
    }

    pub(super) fn values(&self) -> Values<'_, ThreadId, Thread> {
        self.all.values()
    }

    pub(super) fn iter(&self) -> Iter<'_, ThreadId, Thread> {
        self.all.iter()
    }

    /// The number that is kept, and the one that a look at all gives.
    #[cfg(test)]
    pub(super) fn counts(&self) -> (usize, usize) {
        let awaited = self.all.values().filter(|thread| thread.is_awaited());
        (self.awaited, awaited.count())
    }
}

impl FromIterator<(ThreadId, Thread)> for Threads {
    fn from_iter<I: IntoIterator<Item = (ThreadId, Thread)>>(threads: I) -> Threads {
        let mut found = Threads::default();
        for (id, thread) in threads {
            found.insert(id, thread);
        }
        found
    }
}
