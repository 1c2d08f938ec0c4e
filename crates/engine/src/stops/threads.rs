//! The threads that the reducer knows, and how many of them have yet to stop.
//!
//! Each event asks whether all are stopped. With a thousand threads to stop, looking at each thread for each event would be a million
//! looks. So the running threads are counted when their states change, which happens only here.

use super::How;
use crate::ThreadId;
use std::collections::BTreeMap;
use std::collections::btree_map::{Iter, Values};

/// Where a thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Running,
    Stopped,
    /// Exiting: the thread runs no code of the program any more and is not waited for.
    Exiting,
}

/// A thread that is traced.
#[derive(Debug, Clone, Copy)]
pub(super) struct Thread {
    state: State,
    is_vfork_child: bool,
    pub(super) how: How,
    /// The thread is in a group stop (a stop signal came); SIGCONT ends that.
    pub(super) group_stop: bool,
    /// The vfork child that has the thread's memory: the thread can't run before the child has left it.
    pub(super) vfork_child: Option<ThreadId>,
    /// The thread stays stopped once it has its memory back.
    pub(super) waits_after_vfork: bool,
}

impl Thread {
    pub(super) fn new(state: State) -> Thread {
        Thread {
            state,
            is_vfork_child: false,
            how: How::Continue,
            group_stop: false,
            vfork_child: None,
            waits_after_vfork: false,
        }
    }

    /// A vfork child: no thread of the debuggee, but it runs in the debuggee's memory and so traps at inserted breakpoints.
    pub(super) fn new_vfork_child() -> Thread {
        Thread {
            is_vfork_child: true,
            ..Thread::new(State::Running)
        }
    }

    pub(super) fn state(&self) -> State {
        self.state
    }

    pub(super) fn is_vfork_child(&self) -> bool {
        self.is_vfork_child
    }

    /// Whether the thread has yet to stop before all are stopped.
    pub(super) fn is_awaited(&self) -> bool {
        self.state == State::Running && !self.is_vfork_child
    }
}

/// The threads by id.
#[derive(Debug, Default)]
pub(super) struct Threads {
    all: BTreeMap<ThreadId, Thread>,
    /// How many threads haven't stopped yet of those that have to before all are stopped ([`Thread::is_awaited`]).
    awaited: usize,
}

impl Threads {
    pub(super) fn get(&self, id: ThreadId) -> Option<&Thread> {
        self.all.get(&id)
    }

    /// For changing anything but the state.
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

    /// Forgets all threads but the vfork children that aren't exiting.
    pub(super) fn keep_vfork_children(&mut self) {
        let stays = |thread: &Thread| thread.is_vfork_child && thread.state != State::Exiting;
        self.all.retain(|_, thread| stays(thread));
        self.awaited = 0;
    }

    /// Whether any thread has yet to stop before all are stopped.
    pub(super) fn awaits_any(&self) -> bool {
        self.awaited > 0
    }

    pub(super) fn values(&self) -> Values<'_, ThreadId, Thread> {
        self.all.values()
    }

    pub(super) fn iter(&self) -> Iter<'_, ThreadId, Thread> {
        self.all.iter()
    }

    /// The number of awaited threads: as maintained, and as counted anew.
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
