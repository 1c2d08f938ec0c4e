//! The threads' ids here and at the stub, and what the stub has said of them.
//!
//! A thread's id here is the stub's number, if that is one that fits: then it is what the other machine's `ps` and `top` show. A stub without
//! threads has one thread, with the id 1.

use crate::ThreadId;
use dapple_gdb_remote::documents::Thread;
use dapple_gdb_remote::thread_id::{Id, ThreadId as StubThread};
use std::collections::{BTreeMap, BTreeSet};

/// The threads, by their ids here.
#[derive(Debug, Default)]
pub(super) struct Ids {
    stubs: BTreeMap<ThreadId, StubThread>,
    /// The same the other way round, by the stub's number and process: a stub may have many thousands.
    known: BTreeMap<(Id, Option<Id>), ThreadId>,
    /// Up to which number ids were given to threads whose own doesn't fit.
    given: i32,
    names: BTreeMap<ThreadId, String>,
}

impl Ids {
    /// The threads that a stub has listed. Without any, there is one.
    pub(super) fn new(listed: &[Thread]) -> Ids {
        let mut ids = Ids::default();
        for thread in listed {
            let known = ids.known(thread.id);
            let id = known.unwrap_or_else(|| ids.add(thread.id));
            ids.name(id, thread);
        }
        if listed.is_empty() {
            ids.insert(ThreadId(1), StubThread::ANY);
        }
        ids
    }

    fn name(&mut self, id: ThreadId, thread: &Thread) {
        if let Some(name) = thread.name.clone().or_else(|| thread.details.clone()) {
            self.names.insert(id, name);
        }
    }

    /// All threads.
    pub(super) fn all(&self) -> Vec<ThreadId> {
        self.stubs.keys().copied().collect()
    }

    /// Whether packets name threads: not for a stub without threads.
    pub(super) fn are_named(&self) -> bool {
        !self.known.contains_key(&key(StubThread::ANY))
    }

    /// The number of the process at the stub, with the multiprocess extensions.
    pub(super) fn process(&self) -> Option<u64> {
        self.stubs.values().next()?.process_number()
    }

    /// A thread's id at the stub.
    pub(super) fn stub(&self, thread: ThreadId) -> Option<StubThread> {
        self.stubs.get(&thread).copied()
    }

    /// The thread with this id at the stub, which may have left out the process.
    pub(super) fn known(&self, stub: StubThread) -> Option<ThreadId> {
        let sole = self.known.get(&key(StubThread::ANY));
        let known = sole.or_else(|| match stub.process {
            Some(_) => self.known.get(&key(stub)),
            None => {
                let mut from = self.known.range(key(stub)..);
                let first = from
                    .next()
                    .filter(|((number, _), _)| *number == stub.thread);
                first.map(|(_, id)| id)
            }
        });
        known.copied()
    }

    fn insert(&mut self, id: ThreadId, stub: StubThread) {
        self.stubs.insert(id, stub);
        self.known.insert(key(stub), id);
    }

    /// Adds a thread.
    pub(super) fn add(&mut self, stub: StubThread) -> ThreadId {
        let number = match stub.thread {
            Id::Number(number) => i32::try_from(number).ok(),
            Id::Any | Id::All => None,
        };
        let free = number.filter(|number| *number > 0 && !self.has(*number));
        let id = free.unwrap_or_else(|| {
            let free = (self.given + 1..i32::MAX).find(|number| !self.has(*number));
            self.given = free.unwrap_or(1);
            self.given
        });
        let id = ThreadId(id);
        self.insert(id, stub);
        id
    }

    fn has(&self, number: i32) -> bool {
        self.stubs.contains_key(&ThreadId(number))
    }

    /// A thread has ended.
    pub(super) fn forget(&mut self, thread: ThreadId) {
        if let Some(stub) = self.stubs.remove(&thread) {
            self.known.remove(&key(stub));
        }
        self.names.remove(&thread);
    }

    /// The process executes another program, in one thread.
    pub(super) fn executed(&mut self, process: ThreadId, stub: Option<StubThread>) {
        self.names.clear();
        let stub = stub.or_else(|| self.stub(process));
        self.stubs.clear();
        self.known.clear();
        self.insert(process, stub.unwrap_or(StubThread::ANY));
    }

    /// A thread's name; empty if the stub has none.
    pub(super) fn name_of(&self, thread: ThreadId) -> String {
        self.names.get(&thread).cloned().unwrap_or_default()
    }

    /// Takes the stub's list: adds threads that weren't known and returns them, and those that are in it no more.
    pub(super) fn compare(&mut self, listed: &[Thread]) -> (Vec<ThreadId>, Vec<ThreadId>) {
        let mut new = Vec::new();
        let mut there = BTreeSet::new();
        for thread in listed {
            let id = self.known(thread.id).unwrap_or_else(|| {
                let id = self.add(thread.id);
                new.push(id);
                id
            });
            there.insert(id);
            self.name(id, thread);
        }
        let gone = match listed.is_empty() {
            true => Vec::new(),
            false => self
                .all()
                .into_iter()
                .filter(|id| !there.contains(id))
                .collect(),
        };
        (new, gone)
    }
}

fn key(stub: StubThread) -> (Id, Option<Id>) {
    (stub.thread, stub.process)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(ids: &[&str]) -> Vec<Thread> {
        let threads = ids.iter().map(|id| Thread {
            id: StubThread::parse(id.as_bytes()).expect("an id"),
            core: None,
            name: Some(format!("name of {id}")),
            details: None,
            handle: None,
        });
        threads.collect()
    }

    #[test]
    fn ids_are_the_stubs_where_these_fit() {
        let mut ids = Ids::new(&listed(&["p10.10", "p10.2a", "pffffffffff.ffffffffff"]));
        assert_eq!(ids.all(), [ThreadId(1), ThreadId(0x10), ThreadId(0x2a)]);
        assert_eq!(ids.name_of(ThreadId(0x2a)), "name of p10.2a");
        let without_process = StubThread::parse(b"2a").expect("an id");
        assert_eq!(ids.known(without_process), Some(ThreadId(0x2a)));
        let (new, gone) = ids.compare(&listed(&["p10.10", "p10.2b"]));
        assert_eq!(new, [ThreadId(0x2b)]);
        assert_eq!(gone, [ThreadId(1), ThreadId(0x2a)]);
    }

    #[test]
    fn a_thread_that_is_listed_twice_is_one() {
        let mut ids = Ids::new(&listed(&["p1.2", "p1.2", "p1.fffffffff"]));
        assert_eq!(ids.all(), [ThreadId(1), ThreadId(2)]);
        ids.forget(ThreadId(2));
        let (new, gone) = ids.compare(&listed(&["p1.2", "p1.2"]));
        assert_eq!((new, gone), (vec![ThreadId(2)], vec![ThreadId(1)]));
    }

    #[test]
    fn a_stub_without_threads_has_one() {
        let ids = Ids::new(&[]);
        assert_eq!(ids.all(), [ThreadId(1)]);
        assert!(!ids.are_named());
        assert_eq!(ids.known(StubThread::ALL), Some(ThreadId(1)));
    }
}
