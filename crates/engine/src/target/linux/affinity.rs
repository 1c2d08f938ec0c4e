//! Keeping the tracer on the debuggee's processor while it steps, or comes to breakpoints that let it go on.
//!
//! A step is two thread switches, and so is such a breakpoint. On one processor they are two context switches, across two each is an interrupt to
//! the other and a wake-up from idle: measured 24 against 98 µs a step. The tracer moves, for a while; the debuggee's
//! own affinity is never touched.
//!
//! So it doesn't help on a machine with an idle processor: waking the debuggee, the kernel prefers that one to the tracer's.
//! Both held on one, 61,000 false conditions a second were measured, and 12,000 to 16,000 with the tracer alone held.

use crate::ThreadId;
use std::io;
use std::time::{Duration, Instant};

/// How many single steps are taken before the tracer moves: moving costs about as much as two.
const WORTH_IT: u32 = 6;
/// How many are taken before looking again where the debuggee is.
const LOOK_AGAIN: u32 = 512;

/// Threads that go on from breakpoints less often than this gain nothing.
const RARE: Duration = Duration::from_millis(2);

/// Where the current thread ran before, while it is held on a processor.
#[derive(Default)]
pub(crate) struct Affinity {
    before: Option<libc::cpu_set_t>,
    steps: u32,
    processor: Option<usize>,
    /// When a thread last went on from a breakpoint.
    went_on: Option<Instant>,
}

impl Affinity {
    /// A thread is about to execute a single instruction.
    pub(crate) fn before_step(&mut self, process: ThreadId, thread: ThreadId) {
        self.steps = self.steps.wrapping_add(1);
        if self.steps == WORTH_IT
            || (self.steps > WORTH_IT && self.steps.is_multiple_of(LOOK_AGAIN))
        {
            // Refused or unknown: steps are only slower.
            let _ = self.follow(process, thread);
        }
    }

    /// A thread goes on from a breakpoint that it has come to by itself.
    pub(crate) fn before_going_on(&mut self, process: ThreadId, thread: ThreadId) {
        let now = Instant::now();
        let before = self.went_on.replace(now);
        if before.is_none_or(|before| now.duration_since(before) > RARE) {
            self.release();
        }
        self.before_step(process, thread);
    }

    /// The steps are over: the thread may run where it could before.
    pub(crate) fn release(&mut self) {
        self.steps = 0;
        self.processor = None;
        if let Some(before) = self.before.take() {
            let _ = set(&before);
        }
    }

    fn follow(&mut self, process: ThreadId, thread: ThreadId) -> Option<()> {
        let processor = processor_of(process, thread)?;
        if self.processor == Some(processor) {
            return Some(());
        }
        let before = match self.before {
            Some(before) => before,
            None => get().ok()?,
        };
        // SAFETY: an all-zero set is a valid, empty one; the processor's number is within its size.
        let only = unsafe {
            let mut only: libc::cpu_set_t = std::mem::zeroed();
            if processor >= libc::CPU_SETSIZE as usize || !libc::CPU_ISSET(processor, &before) {
                return None;
            }
            libc::CPU_SET(processor, &mut only);
            only
        };
        set(&only).ok()?;
        self.before = Some(before);
        self.processor = Some(processor);
        Some(())
    }
}

fn get() -> io::Result<libc::cpu_set_t> {
    // SAFETY: the kernel writes a set of the size it is told.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        match libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) {
            0 => Ok(set),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

fn set(set: &libc::cpu_set_t) -> io::Result<()> {
    // SAFETY: the kernel reads a set of the size it is told.
    match unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), set) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The processor a thread runs on or ran on last (proc_pid_stat(5), field 39).
fn processor_of(process: ThreadId, thread: ThreadId) -> Option<usize> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/task/{thread}/stat")).ok()?;
    // The name, field 2, may contain anything; the fields after it are counted from 3.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(39 - 3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thread_is_held_where_it_is_and_released_to_where_it_may_be() {
        // SAFETY: getpid(2) and gettid(2) take nothing and can't fail.
        let (process, thread) = unsafe { (ThreadId(libc::getpid()), ThreadId(libc::gettid())) };
        // SAFETY: counts the bits of an initialised set.
        let count = |set: &libc::cpu_set_t| unsafe { libc::CPU_COUNT(set) };
        let before = get().unwrap();
        let mut affinity = Affinity::default();
        for _ in 0..WORTH_IT {
            affinity.before_step(process, thread);
        }
        assert_eq!(count(&get().unwrap()), 1);
        affinity.release();
        assert_eq!(count(&get().unwrap()), count(&before));
    }
}
