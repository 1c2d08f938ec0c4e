//! What the threads behind a stub are to do, and what they have done: joins the engine's view, in which each thread runs and stops by
//! itself, with that of a stub, where one thread's stop stops all.
//!
//! The engine resumes and interrupts threads one by one. What it has asked for is only noted, and sent in one packet when it waits for
//! an event. When the stub reports a thread's stop, all others still count as running, since nobody has asked for their stop: if they are
//! interrupted, they stop without a packet; if not, they run on at the next wait. There is no I/O in this module.

use crate::ThreadId;
use crate::exit_status::ExitStatus;
use crate::process::Resume;
use crate::wait_event::{WaitEvent, What};
use std::collections::{BTreeMap, VecDeque};

/// What a thread is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wish {
    /// Stay where it is.
    Stay,
    /// Run, and get a signal first unless that is 0.
    Run(Resume, i32),
}

/// A thread behind the stub.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Thread {
    wish: Wish,
    /// The engine waits for its stop.
    interrupted: bool,
}

const STAYS: Thread = Thread {
    wish: Wish::Stay,
    interrupted: false,
};

/// The threads, and the events that the engine has yet to take.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    threads: BTreeMap<ThreadId, Thread>,
    events: VecDeque<WaitEvent>,
    /// The stub was told to resume threads, and has not reported a stop since.
    running: bool,
}

impl Schedule {
    /// Threads that stand still.
    pub(super) fn at_rest(threads: impl IntoIterator<Item = ThreadId>) -> Schedule {
        Schedule {
            threads: threads.into_iter().map(|thread| (thread, STAYS)).collect(),
            ..Schedule::default()
        }
    }

    /// Whether the stub runs threads, so that no other packet may be sent.
    pub(super) fn is_running(&self) -> bool {
        self.running
    }

    /// Whether no thread is left.
    pub(super) fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }

    /// Whether this is one of the threads.
    pub(super) fn has(&self, thread: ThreadId) -> bool {
        self.threads.contains_key(&thread)
    }

    /// Whether this is one of the threads, or has an event yet to be taken.
    pub(super) fn has_thread_or_event(&self, thread: ThreadId) -> bool {
        self.has(thread) || self.event(Some(thread)).is_some()
    }

    /// The threads.
    pub(super) fn threads(&self) -> impl Iterator<Item = ThreadId> {
        self.threads.keys().copied()
    }

    /// Whether a thread is stopped as the engine sees it.
    pub(super) fn is_stopped(&self, thread: ThreadId) -> bool {
        let known = self.threads.get(&thread);
        known.is_some_and(|known| known.wish == Wish::Stay)
    }

    /// Notes that a thread is to run. `false`: there is no such thread.
    pub(super) fn resume(&mut self, thread: ThreadId, how: Resume, signal: i32) -> bool {
        let Some(known) = self.threads.get_mut(&thread) else {
            return false;
        };
        known.wish = Wish::Run(how, signal);
        true
    }

    /// Notes that a thread is to stop. If the stub doesn't run, it stops at once. `false`: there is no such thread.
    pub(super) fn interrupt(&mut self, thread: ThreadId) -> bool {
        let Some(known) = self.threads.get_mut(&thread) else {
            return false;
        };
        known.interrupted = known.wish != Wish::Stay;
        if !self.running {
            self.stop_interrupted();
        }
        true
    }

    /// Whether a thread runs whose stop is waited for, so that the stub has to be interrupted.
    pub(super) fn needs_interrupt(&self) -> bool {
        self.running && self.threads.values().any(|known| known.interrupted)
    }

    fn stop_interrupted(&mut self) {
        for (id, known) in &mut self.threads {
            if std::mem::take(&mut known.interrupted) {
                known.wish = Wish::Stay;
                self.events.push_back(WaitEvent {
                    thread: *id,
                    what: What::Interrupted {
                        trap_pending: false,
                    },
                });
            }
        }
    }

    /// The oldest event, of any thread or of one, which is taken: the thread stays until it is resumed.
    pub(super) fn take_event(&mut self, thread: Option<ThreadId>) -> Option<WaitEvent> {
        let is_for = |event: &WaitEvent| thread.is_none_or(|thread| event.thread == thread);
        let index = self.events.iter().position(is_for)?;
        let event = self.events.remove(index)?;
        if let Some(known) = self.threads.get_mut(&event.thread) {
            known.wish = Wish::Stay;
        }
        Some(event)
    }

    /// The oldest event, of any thread or of one, which stays.
    pub(super) fn event(&self, thread: Option<ThreadId>) -> Option<WaitEvent> {
        let is_for = |event: &&WaitEvent| thread.is_none_or(|thread| event.thread == thread);
        self.events.iter().find(is_for).copied()
    }

    /// What each thread that is to run has to do, but for those that have an event. Empty: none is, or the stub runs already.
    pub(super) fn wishes(&self) -> Vec<(ThreadId, Resume, i32)> {
        let wishes = self.threads.iter().filter(|_| !self.running);
        let wishes = wishes.filter(|(id, _)| self.event(Some(**id)).is_none());
        let running = wishes.filter_map(|(id, known)| match known.wish {
            Wish::Run(how, signal) => Some((*id, how, signal)),
            Wish::Stay => None,
        });
        running.collect()
    }

    /// The threads that are to run.
    pub(super) fn runners(&self) -> impl Iterator<Item = ThreadId> {
        let runners = self.threads.iter();
        let runners = runners.filter(|(_, known)| known.wish != Wish::Stay);
        runners.map(|(id, _)| *id)
    }

    /// Whether a thread stays while others run.
    pub(super) fn has_resting(&self) -> bool {
        self.threads.values().any(|known| known.wish == Wish::Stay)
    }

    /// The stub runs these threads, as [`Schedule::wishes`] has said. Their signals were delivered, and aren't again.
    pub(super) fn runs(&mut self, threads: impl IntoIterator<Item = ThreadId>) {
        self.running = true;
        for thread in threads {
            if let Some(Wish::Run(_, signal)) = self.wish_of(thread) {
                *signal = 0;
            }
        }
    }

    fn wish_of(&mut self, thread: ThreadId) -> Option<&mut Wish> {
        let known = self.threads.get_mut(&thread)?;
        Some(&mut known.wish)
    }

    /// The stub has stopped all threads, and can be asked why before [`Schedule::stopped`] says what has happened.
    pub(super) fn rests(&mut self) {
        self.running = false;
    }

    /// The stub has stopped all threads. Those that were interrupted have stopped now, but for the one that has an event of its own.
    pub(super) fn stopped(&mut self, event: Option<WaitEvent>) {
        self.running = false;
        if let Some(event) = event {
            if let Some(known) = self.threads.get_mut(&event.thread) {
                *known = STAYS;
            }
            self.events.push_back(event);
        }
        self.stop_interrupted();
    }

    /// Besides what [`Schedule::stopped`] is about to tell, this has happened to another thread.
    pub(super) fn also_stopped(&mut self, event: WaitEvent) {
        if let Some(known) = self.threads.get_mut(&event.thread) {
            *known = STAYS;
            self.events.push_back(event);
        }
    }

    /// Whether a thread was last told to make one step.
    pub(super) fn steps(&self, thread: ThreadId) -> bool {
        let known = self.threads.get(&thread);
        known.is_some_and(|known| matches!(known.wish, Wish::Run(Resume::Step, _)))
    }

    /// A thread was found that was not known. The engine hears of it as the kernel would tell it: some thread that runs has made it, and it is
    /// stopped at its start.
    pub(super) fn born(&mut self, child: ThreadId) {
        if self.has(child) {
            return;
        }
        let runs = |known: &Thread| known.wish != Wish::Stay;
        let mut makers = self.threads.iter();
        let maker = makers.find(|(_, known)| runs(known)).map(|(id, _)| *id);
        let maker = maker.or_else(|| self.threads.keys().next().copied());
        self.threads.insert(child, STAYS);
        if let Some(maker) = maker {
            self.events.push_back(WaitEvent {
                thread: maker,
                what: What::NewThread(child),
            });
        }
        self.events.push_back(WaitEvent {
            thread: child,
            what: What::Interrupted {
                trap_pending: false,
            },
        });
    }

    /// A thread has ended.
    pub(super) fn ended(&mut self, thread: ThreadId, status: ExitStatus) {
        if self.threads.remove(&thread).is_some() {
            self.events.retain(|event| event.thread != thread);
            self.events.push_back(WaitEvent {
                thread,
                what: What::Exited(status),
            });
        }
    }

    /// The process has ended: all threads, that of the process last.
    pub(super) fn process_ended(&mut self, process: ThreadId, status: ExitStatus) {
        self.running = false;
        let all: Vec<ThreadId> = self.threads().filter(|it| *it != process).collect();
        for thread in all {
            self.ended(thread, status);
        }
        self.threads.insert(process, STAYS);
        self.ended(process, status);
    }

    /// The process executes another program, in a thread with the process's id: all others have ended.
    pub(super) fn executed(&mut self, process: ThreadId) {
        let others: Vec<ThreadId> = self.threads().filter(|it| *it != process).collect();
        for thread in others {
            self.ended(thread, ExitStatus::Code(0));
        }
        self.threads.insert(process, STAYS);
        self.stopped(Some(WaitEvent {
            thread: process,
            what: What::Executed { former: process },
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ThreadId = ThreadId(1);
    const B: ThreadId = ThreadId(2);
    const C: ThreadId = ThreadId(3);

    fn trap(thread: ThreadId) -> WaitEvent {
        WaitEvent {
            thread,
            what: What::Signal(libc::SIGTRAP),
        }
    }

    fn interrupted(thread: ThreadId) -> Option<WaitEvent> {
        Some(WaitEvent {
            thread,
            what: What::Interrupted {
                trap_pending: false,
            },
        })
    }

    #[test]
    fn one_stop_leaves_the_others_running_until_they_are_interrupted() {
        let mut schedule = Schedule::at_rest([A, B]);
        assert!(schedule.resume(A, Resume::Continue, 0) && schedule.resume(B, Resume::Step, 10));
        let wishes = vec![(A, Resume::Continue, 0), (B, Resume::Step, 10)];
        assert_eq!(schedule.wishes(), wishes);
        schedule.runs([A, B]);
        assert_eq!(schedule.wishes(), []);
        schedule.stopped(Some(trap(A)));
        assert_eq!(schedule.take_event(None), Some(trap(A)));
        assert!(schedule.is_stopped(A) && !schedule.is_stopped(B));
        // The signal was delivered.
        assert_eq!(schedule.wishes(), [(B, Resume::Step, 0)]);
        assert!(schedule.interrupt(B) && !schedule.needs_interrupt());
        assert_eq!(schedule.take_event(None), interrupted(B));
        assert_eq!(schedule.wishes(), []);
    }

    #[test]
    fn who_runs_is_interrupted_by_the_stub() {
        let mut schedule = Schedule::at_rest([A, B, C]);
        for thread in [A, B, C] {
            schedule.resume(thread, Resume::Continue, 0);
        }
        schedule.runs([A, B, C]);
        schedule.interrupt(A);
        schedule.interrupt(B);
        assert!(schedule.needs_interrupt());
        assert_eq!(schedule.event(None), None);
        // Another stop comes first. `A` has its own event, and is not said to have been interrupted, too.
        schedule.stopped(Some(trap(A)));
        assert_eq!(schedule.take_event(Some(B)), interrupted(B));
        assert_eq!(schedule.take_event(None), Some(trap(A)));
        assert_eq!(schedule.take_event(None), None);
        assert_eq!(schedule.wishes(), [(C, Resume::Continue, 0)]);
    }

    #[test]
    fn a_signal_is_kept_for_a_thread_that_runs_later() {
        let mut schedule = Schedule::at_rest([A, B]);
        schedule.resume(A, Resume::Continue, 0);
        schedule.resume(B, Resume::Continue, 10);
        schedule.runs([A]);
        schedule.stopped(None);
        let wishes = [(A, Resume::Continue, 0), (B, Resume::Continue, 10)];
        assert_eq!(schedule.wishes(), wishes);
    }

    #[test]
    fn a_new_thread_has_a_maker_that_runs() {
        let mut schedule = Schedule::at_rest([A, B]);
        schedule.resume(B, Resume::Continue, 0);
        schedule.runs([B]);
        schedule.stopped(None);
        schedule.born(C);
        let made = WaitEvent {
            thread: B,
            what: What::NewThread(C),
        };
        assert_eq!(schedule.take_event(None), Some(made));
        assert_eq!(schedule.take_event(None), interrupted(C));
        schedule.born(C);
        assert_eq!(schedule.take_event(None), None);
    }

    #[test]
    fn a_new_thread_with_the_lowest_number_has_another_as_its_maker() {
        let mut schedule = Schedule::at_rest([B]);
        schedule.born(A);
        let made = WaitEvent {
            thread: B,
            what: What::NewThread(A),
        };
        assert_eq!(schedule.take_event(None), Some(made));
        assert_eq!(schedule.take_event(None), interrupted(A));
    }

    #[test]
    fn the_process_ends_last() {
        let mut schedule = Schedule::at_rest([A, B]);
        let status = ExitStatus::Code(3);
        schedule.process_ended(A, status);
        let ends = std::iter::from_fn(|| schedule.take_event(None));
        assert_eq!(
            ends.collect::<Vec<_>>(),
            [B, A].map(|thread| WaitEvent {
                thread,
                what: What::Exited(status)
            })
        );
        assert!(schedule.is_empty());
    }
}
