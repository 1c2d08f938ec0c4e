//! Pins a thread that soon stops again, and the tracer, to one CPU.
//!
//! A stop takes two switches between threads. On one CPU they are context switches. Across two CPUs, each is an interrupt to the other CPU
//! and a wake-up from idle, and the kernel prefers an idle CPU for a thread that it wakes: measured 16 against 70 µs for a breakpoint whose
//! thread continues at once. So both threads are pinned to the tracer's CPU while stops are frequent.
//!
//! A pinned thread can't observe the pinning by system calls of its own. It is pinned while it executes one instruction that is no system
//! call, or while it runs up to its next system call (PTRACE_SYSCALL). There it gets its affinity back, before it can query it or pass it on
//! to a child. A timer restores the affinity of a thread that runs long or stays stopped.

use crate::ThreadId;
use crate::linux::alarm::Alarm;
use std::io;
use std::time::{Duration, Instant};

/// A run shorter than this is short, and suggests that the next one is, too.
const SOON: Duration = Duration::from_micros(500);
/// After so many short runs in succession, pinning is tried.
const WORTH_IT: u32 = 4;
/// How many short runs to wait after a failed try, at least and at most: the number doubles with each failed try.
const PATIENCE: (u32, u32) = (8, 4096);
/// After so many short runs in succession the failed tries are forgotten.
const GOOD: u32 = 256;
/// How often it is checked whether pinned threads run long; a run of this length is long.
const TICK: Duration = Duration::from_millis(5);
/// The most pinned threads: more of them on one CPU only wait for each other.
const MOST: usize = 2;

/// Statistics of a thread's runs, for predicting whether the next one is short.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pace {
    /// When it was last resumed to run on, unless it has stopped since.
    ran: Option<Instant>,
    /// Whether its last stop was a trap, so that it is not in a system call.
    trapped: bool,
    /// How many runs in succession were short.
    short: u32,
    /// How many short runs to wait before the next try.
    wait: u32,
    /// The `wait` after the next failed try.
    patience: u32,
}

impl Pace {
    /// Records that the thread has stopped; `trapped` says whether by a trap.
    pub fn stopped(&mut self, trapped: bool) {
        self.trapped = trapped;
        let Some(ran) = self.ran.take() else { return };
        if !trapped || ran.elapsed() > SOON {
            self.short = 0;
            return;
        }
        self.short = self.short.saturating_add(1);
        self.wait = self.wait.saturating_sub(1);
        if self.short > GOOD {
            self.patience = PATIENCE.0;
        }
    }

    /// Whether the thread is likely to stop soon.
    fn is_brisk(&self) -> bool {
        self.trapped && self.short >= WORTH_IT && self.wait == 0
    }

    /// Records a failed try: the thread was pinned and ran long, it came to a system call, or it could not be pinned.
    pub fn was_in_vain(&mut self) {
        self.short = 0;
        self.wait = self.patience.max(PATIENCE.0);
        self.patience = (self.wait * 2).min(PATIENCE.1);
    }
}

/// How a thread is about to be resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Run {
    /// For one instruction that is no system call.
    Instruction,
    /// For one instruction that may be a system call.
    MaybeCall,
    /// Until its next event.
    On,
}

/// The pinned threads, and the tracer's affinity before it was pinned.
#[derive(Debug)]
pub struct Pinning {
    tracer: Option<Tracer>,
    pinned: Vec<Pinned>,
    /// When pinning was last tried, or [`Pinning::all_stopped`] was last called.
    last: Instant,
    alarm: Alarm,
    armed: bool,
}

/// The current thread, pinned to its processor.
#[derive(Debug)]
pub(super) struct Tracer {
    before: Set,
    processor: usize,
    only: Set,
}

#[derive(Debug)]
struct Pinned {
    thread: ThreadId,
    before: Set,
    /// When it was last continued; `None` if it is stopped or executes a single instruction.
    runs: Option<Instant>,
}

impl Default for Pinning {
    /// Nothing is pinned.
    fn default() -> Pinning {
        Pinning {
            tracer: None,
            pinned: Vec::new(),
            last: Instant::now(),
            alarm: Alarm::default(),
            armed: false,
        }
    }
}

impl Pinning {
    /// Call before a stopped thread is resumed: pins the thread if it is likely to stop soon, otherwise unpins it. If this returns `true`, the
    /// caller must make the thread stop at its next system call and call [`Pinning::calls`] there.
    pub fn before(&mut self, thread: ThreadId, run: Run, pace: &mut Pace) -> bool {
        let (pin, runs) = match run {
            Run::Instruction => (true, None),
            Run::MaybeCall => (false, None),
            Run::On => {
                let now = Instant::now();
                pace.ran = Some(now);
                (pace.is_brisk(), Some(now))
            }
        };
        if !pin {
            self.let_go(thread);
            return false;
        }
        if self.pin(thread, runs).is_none() {
            pace.was_in_vain();
            return false;
        }
        if !self.armed {
            self.armed = self.alarm.ring_every(TICK);
        }
        runs.is_some()
    }

    /// Whether threads are pinned and the timer bounds how long.
    pub fn stops_soon(&self) -> bool {
        self.armed && !self.pinned.is_empty()
    }

    /// Unpins a thread that is about to make a system call, and records a failed try.
    pub fn calls(&mut self, thread: ThreadId, pace: &mut Pace) {
        pace.was_in_vain();
        self.let_go(thread);
    }

    /// Unpins a thread: restores its affinity.
    pub fn let_go(&mut self, thread: ThreadId) {
        if let Some(index) = self
            .pinned
            .iter()
            .position(|pinned| pinned.thread == thread)
        {
            let pinned = self.pinned.swap_remove(index);
            self.restore(&pinned);
        }
    }

    /// Forgets a thread that has ended.
    pub fn forget(&mut self, thread: ThreadId) {
        self.pinned.retain(|pinned| pinned.thread != thread);
    }

    /// Forgets all threads, which have ended, and unpins the tracer.
    pub fn forget_all(&mut self) {
        self.pinned.clear();
        self.release();
    }

    /// Records that all threads have stopped. They stay pinned until the timer fires, because a next step may come soon.
    pub fn all_stopped(&mut self) {
        if !self.pinned.is_empty() {
            self.last = Instant::now();
            self.pinned.iter_mut().for_each(|pinned| pinned.runs = None);
        }
    }

    /// Unpins all threads of the program. The tracer stays pinned until the timer fires, because a next step may come soon.
    pub fn let_all_go(&mut self) {
        for pinned in std::mem::take(&mut self.pinned) {
            self.restore(&pinned);
        }
    }

    /// Unpins all threads and the tracer.
    pub fn release(&mut self) {
        self.let_all_go();
        if let Some(tracer) = self.tracer.take() {
            tracer.unpin();
        }
        if std::mem::take(&mut self.armed) {
            self.alarm.end();
        }
    }

    /// Call when the tracer was woken, possibly by the timer. Unpins the threads that have been running for long, and returns them. Then, if no
    /// other pinned thread runs, and a while has passed since a thread was last pinned or all last stopped, unpins the rest and the tracer.
    pub fn tick(&mut self) -> Vec<ThreadId> {
        if !self.armed {
            return Vec::new();
        }
        let long = |pinned: &Pinned| pinned.runs.is_some_and(|since| since.elapsed() >= TICK);
        let (over, pinned) = std::mem::take(&mut self.pinned).into_iter().partition(long);
        self.pinned = pinned;
        let over: Vec<Pinned> = over;
        for pinned in &over {
            self.restore(pinned);
        }
        let at_rest = self.pinned.iter().all(|pinned| pinned.runs.is_none());
        if at_rest && self.last.elapsed() >= TICK {
            self.release();
        }
        over.into_iter().map(|pinned| pinned.thread).collect()
    }

    fn pin(&mut self, thread: ThreadId, runs: Option<Instant>) -> Option<()> {
        if let Some(pinned) = self
            .pinned
            .iter_mut()
            .find(|pinned| pinned.thread == thread)
        {
            pinned.runs = runs;
            self.last = runs.unwrap_or_else(Instant::now);
            return Some(());
        }
        self.last = runs.unwrap_or_else(Instant::now);
        if self.pinned.len() >= MOST {
            return None;
        }
        let before = Set::of(thread.0).ok()?;
        let tracer = match &self.tracer {
            Some(tracer) => tracer,
            None => self.tracer.insert(Tracer::pin()?),
        };
        if !tracer.takes(thread, &before) {
            return None;
        }
        self.pinned.push(Pinned {
            thread,
            before,
            runs,
        });
        Some(())
    }

    /// Restores the affinity, unless something else has changed it meanwhile.
    fn restore(&self, pinned: &Pinned) {
        if let Some(tracer) = &self.tracer {
            tracer.gives_back(pinned.thread, &pinned.before);
        }
    }
}

impl Drop for Pinning {
    fn drop(&mut self) {
        self.release();
    }
}

impl Tracer {
    /// Pins the current thread to its current CPU.
    pub(super) fn pin() -> Option<Tracer> {
        let before = Set::of(0).ok()?;
        // SAFETY: takes no arguments; a negative result means an error.
        let processor = usize::try_from(unsafe { libc::sched_getcpu() }).ok()?;
        let only = Set::only(processor)?;
        only.give(0).ok()?;
        Some(Tracer {
            before,
            processor,
            only,
        })
    }

    /// Restores the thread's own affinity.
    pub(super) fn unpin(self) {
        let _ = self.before.give(0);
    }

    /// Pins a thread of that affinity to the same processor. Returns whether it is pinned.
    pub(super) fn takes(&self, thread: ThreadId, before: &Set) -> bool {
        before.has(self.processor) && self.only.give(thread.0).is_ok()
    }

    /// Restores the affinity of such a thread, unless something else has changed it meanwhile.
    pub(super) fn gives_back(&self, thread: ThreadId, before: &Set) {
        if Set::of(thread.0).is_ok_and(|now| now == self.only) {
            let _ = before.give(thread.0);
        }
    }
}

/// A set of CPUs that a thread may run on (sched_setaffinity(2)).
#[derive(Clone, Copy)]
pub(super) struct Set(libc::cpu_set_t);

impl std::fmt::Debug for Set {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} processors", self.count())
    }
}

impl PartialEq for Set {
    fn eq(&self, other: &Set) -> bool {
        // SAFETY: compares two initialised sets.
        unsafe { libc::CPU_EQUAL(&self.0, &other.0) }
    }
}

impl Set {
    /// The affinity of a thread; 0 for the current one.
    pub(super) fn of(thread: i32) -> io::Result<Set> {
        // SAFETY: an all-zero set is a valid, empty one; the kernel writes a set of the given size.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            match libc::sched_getaffinity(thread, size_of::<libc::cpu_set_t>(), &mut set) {
                0 => Ok(Set(set)),
                _ => Err(io::Error::last_os_error()),
            }
        }
    }

    fn only(processor: usize) -> Option<Set> {
        if processor >= libc::CPU_SETSIZE as usize {
            return None;
        }
        // SAFETY: an all-zero set is a valid, empty one; the number is within its size.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(processor, &mut set);
            Some(Set(set))
        }
    }

    fn count(&self) -> i32 {
        // SAFETY: counts the bits of an initialised set.
        unsafe { libc::CPU_COUNT(&self.0) }
    }

    /// Whether the set contains a CPU; `processor` comes from [`Set::only`] and is within range.
    fn has(&self, processor: usize) -> bool {
        // SAFETY: the number is within the set's size, as `only` has checked.
        unsafe { libc::CPU_ISSET(processor, &self.0) }
    }

    /// Sets the affinity of a thread; 0 for the current one.
    fn give(&self, thread: i32) -> io::Result<()> {
        // SAFETY: the kernel reads a set of the given size.
        match unsafe { libc::sched_setaffinity(thread, size_of::<libc::cpu_set_t>(), &self.0) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}
