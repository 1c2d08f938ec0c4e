//! Answers queries about stopped threads: implements [`Inspect`] (stacks, values, memory, code) and [`Live`] for a live process.
//!
//! [`crate::postmortem`] implements [`Inspect`] for core files, so that both are shown alike. What changes the process needs the owner, and
//! is refused for a core file.

use super::Owner;
use crate::stops::Mode;
use crate::{Error, ThreadId};
use dapple_arch::Memory;
use dapple_arch::registers::user::UserRegisters;
use dapple_inspect::exceptions::Exception;
use dapple_inspect::frame::{Frame, StackCache};
use dapple_inspect::inspect::threads::ThreadInfo;
use dapple_inspect::inspect::{Inspect, Stacks};
use dapple_inspect::live::Live;
use dapple_inspect::modules::Modules;
use dapple_inspect::tasks::{TaskTable, is_task};
use dapple_inspect::values::NamedValue;
use dapple_inspect::values::known::Known;
use dapple_target::memory_map::Mapping;
use std::sync::Arc;
use std::time::Duration;

/// Why a request for a thread with this id can't be answered: there is none.
pub(super) fn no_such_thread(thread: ThreadId) -> Error {
    match is_task(thread) {
        false => Error::NoSuchThread(thread),
        true => Error::Refused(
            "this is a task, not a thread: no thread's registers or stack belong to it".into(),
        ),
    }
}

impl Owner {
    pub(super) fn require_stopped(&self) -> Result<(), Error> {
        match self.mode() {
            Mode::Stopped => Ok(()),
            Mode::Running | Mode::Stopping => Err(Error::NotStopped),
        }
    }

    pub(super) fn require_thread(&self, thread: ThreadId) -> Result<(), Error> {
        self.require_stopped()?;
        if !self.is_live(thread) {
            return Err(no_such_thread(thread));
        }
        Ok(())
    }

    /// The thread that does what is asked for a thread or task, or for neither: for a task, which has no thread of its own, the current one.
    pub(super) fn thread_for(&self, asked: Option<ThreadId>) -> ThreadId {
        let thread = asked.filter(|thread| !is_task(*thread));
        thread.unwrap_or(self.current())
    }

    /// A stopped thread's frames, innermost first, by its present registers. Unlike [`Inspect::stacks`], caches nothing, so it can be used
    /// while a stop isn't reported yet. Empty if the thread has died.
    pub(super) fn frames_now(&mut self, thread: ThreadId) -> impl Iterator<Item = Frame> {
        let registers = self.registers(thread);
        let mut stack = registers.map(|r| StackCache::new(thread, 0, r.to_dwarf()));
        let (modules, memory) = (self.modules(), self.memory());
        (0..).map_while(move |index| stack.as_mut()?.frame(modules, memory, index))
    }
}

impl Inspect for Owner {
    fn memory(&self) -> &dyn Memory {
        &self.memory
    }

    fn modules(&self) -> &Modules {
        &self.modules
    }

    fn known(&self) -> &Known {
        &self.known
    }

    fn task_table(&self) -> &TaskTable {
        self.threads.tasks()
    }

    fn stacks(&mut self) -> Stacks<'_> {
        Stacks {
            requested: self.threads.stacks(),
            modules: &self.modules,
            memory: &self.memory,
        }
    }

    fn new_stack(&mut self, thread: ThreadId) -> Option<StackCache> {
        let registers = self.registers(thread)?;
        let vectors = self.process().vectors(thread).ok().map(Arc::new);
        let stack = StackCache::new(thread, self.stop.number, registers.to_dwarf())
            .with_vectors(vectors)
            .before_calls(self.calls_not_entered(thread))
            .at_line(self.threads.line(thread));
        Some(stack)
    }

    fn stop_number(&self) -> u64 {
        self.stop.number
    }

    fn current(&self) -> ThreadId {
        self.stop.current
    }

    fn threads(&self) -> Vec<ThreadInfo> {
        self.live_threads()
            .map(|id| ThreadInfo {
                id,
                name: self.process().thread_name(id),
            })
            .collect()
    }

    fn mappings(&self) -> Vec<Mapping> {
        self.process().mappings()
    }

    fn live(&self) -> &dyn Live {
        self
    }

    fn exception_of(&self, thread: ThreadId) -> Option<&Arc<Exception>> {
        self.threads.get(thread)?.exception.as_ref()
    }

    fn returned_value(&self) -> Option<&(ThreadId, NamedValue)> {
        self.threads.returned()
    }

    /// As [`Owner::require_stopped`], but also succeeds while only some threads may run and the others are stopped.
    fn require_some_stopped(&self) -> Result<(), Error> {
        match self.runs_only_some() {
            true => Ok(()),
            false => self.require_stopped(),
        }
    }

    /// Requires that the thread is stopped. Other threads may run.
    fn require_thread_stopped(&self, thread: ThreadId) -> Result<(), Error> {
        self.require_some_stopped()?;
        if !self.is_live(thread) {
            return Err(no_such_thread(thread));
        }
        if !self.stays_stopped(thread) {
            return Err(Error::NotStopped);
        }
        Ok(())
    }
}

impl Live for Owner {
    fn of(&self, thread: ThreadId) -> Option<(UserRegisters, Vec<u8>)> {
        let known = self.threads.get(thread)?.registers;
        let registers = known.or_else(|| self.process().registers(thread).ok())?;
        let extended = self.process().extended_state(thread).unwrap_or_default();
        Some((registers, extended))
    }

    fn memory_stamp(&self) -> Option<u64> {
        self.require_stopped()
            .is_ok()
            .then(|| self.process().changes())
    }

    fn monotonic_time(&self) -> Option<Duration> {
        if !self.process().is_local() {
            return None;
        }
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        Duration::try_from(now).ok()
    }

    fn thread_pointers(&self, most: usize) -> Vec<(ThreadId, u64)> {
        let is_first = |thread: &ThreadId| *thread == self.process().id();
        let first = self.live_threads().filter(is_first);
        let others = self.live_threads().filter(|thread| !is_first(thread));
        let of = |thread: ThreadId| {
            let known = self.threads.get(thread)?.registers;
            let registers = known.or_else(|| self.process().registers(thread).ok())?;
            let pointer = registers.to_dwarf().thread_pointer()?;
            Some((thread, pointer))
        };
        first.chain(others).take(most).filter_map(of).collect()
    }
}
