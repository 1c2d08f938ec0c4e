//! Keeps a recorded or replayed thread on the tracer's processor while it goes from one system call soon to the next.
//!
//! Two switches between threads on one processor are cheaper than interrupts and wake-ups across two ([`affinity`](crate::linux::affinity)), and the trap
//! for instructions that read the processor's time need not be turned on and off ([`TimeTrap`]). Both end where the wait for an event does: whoever
//! runs the process, and threads that it starts, know nothing of them.

use crate::ThreadId;
use crate::linux::affinity::{Set, Tracer};
use crate::linux::alarm::Alarm;
use crate::linux::monotonic::Monotonic;
use crate::linux::time_trap::TimeTrap;
use rustc_hash::FxHashMap;
use std::time::Duration;

/// A run shorter than this is short, and suggests that the next one is, too.
const SOON: Duration = Duration::from_micros(500);
/// After so many short runs in succession in one wait, it is worth it.
const WORTH_IT: u32 = 8;
/// How long it lasts before the next wait begins: a thread that runs on may go to another processor then.
const LONGEST: Duration = Duration::from_millis(10);

/// The threads that are kept on the tracer's processor.
#[derive(Debug, Default)]
pub(in crate::linux) struct Together {
    /// How many runs in succession were short in this wait.
    short: u32,
    /// When the last event has come.
    last: Option<Monotonic>,
    tracer: Option<Tracer>,
    /// The affinity that each had before.
    pinned: FxHashMap<ThreadId, Set>,
    alarm: Alarm,
}

impl Together {
    /// A thread has stopped, and is likely to run on. Returns the trap that the tracer is to have until the end of the wait, if that begins now.
    pub(in crate::linux) fn stops(&mut self, thread: ThreadId) -> Option<TimeTrap> {
        let now = Monotonic::now();
        let last = self.last.replace(now);
        let is_short = last.is_some_and(|last| now.since(last) < SOON);
        self.short = if is_short { self.short + 1 } else { 0 };
        if self.short < WORTH_IT {
            self.let_go(thread);
            return None;
        }
        let begins = self.tracer.is_none();
        self.pin(thread)?;
        if begins {
            self.alarm.ring_every(LONGEST);
        }
        begins.then(TimeTrap::begin).flatten()
    }

    /// Gives a thread its own affinity back.
    fn let_go(&mut self, thread: ThreadId) {
        if let Some(before) = self.pinned.remove(&thread) {
            self.restore(thread, &before);
        }
    }

    /// Gives all threads of the process their own affinity back: one of them asks for it, or passes it on to what it makes.
    pub(in crate::linux) fn let_all_go(&mut self) {
        for (thread, before) in std::mem::take(&mut self.pinned) {
            self.restore(thread, &before);
        }
    }

    /// The wait is over: all have their own affinity again, the tracer, too.
    pub(in crate::linux) fn ends(&mut self) {
        self.short = 0;
        self.let_all_go();
        if let Some(tracer) = self.tracer.take() {
            tracer.unpin();
            self.alarm.end();
        }
    }

    fn pin(&mut self, thread: ThreadId) -> Option<()> {
        if self.pinned.contains_key(&thread) {
            return Some(());
        }
        let before = Set::of(thread.0).ok()?;
        let tracer = match &self.tracer {
            Some(tracer) => tracer,
            None => self.tracer.insert(Tracer::pin()?),
        };
        if tracer.takes(thread, &before) {
            self.pinned.insert(thread, before);
        }
        Some(())
    }

    fn restore(&self, thread: ThreadId, before: &Set) {
        if let Some(tracer) = &self.tracer {
            tracer.gives_back(thread, before);
        }
    }
}

impl Drop for Together {
    fn drop(&mut self) {
        self.ends();
    }
}

/// Whether a system call tells of its thread's affinity, sets it, or makes a thread or process that has the same.
pub(super) fn shows_affinity(number: u64) -> bool {
    matches!(
        number.cast_signed(),
        libc::SYS_sched_getaffinity
            | libc::SYS_sched_setaffinity
            | libc::SYS_clone
            | libc::SYS_clone3
            | libc::SYS_fork
            | libc::SYS_vfork
            | libc::SYS_execve
            | libc::SYS_execveat
    )
}
