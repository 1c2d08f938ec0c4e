//! What the debuggee's stops mean for the set of its threads: a pure reducer, `(state, event) → actions`.
//!
//! Responsible for: which threads exist, which run, which must be interrupted or waited for until all are stopped, and
//! how each goes on. Not responsible for: why a thread trapped (breakpoint, step, the program's own instruction). Such
//! stops are handed out as [`Action::Examine`] and answered by [`Stops::go`] or [`Stops::stop_all`].
//!
//! The trick worth knowing: nothing is remembered about interrupts that were sent. Any other stop makes the kernel
//! forget an interrupt, unless it was sent after that stop, so a memory of it would be wrong either way. An interrupt's
//! stop that nobody waits for is just resumed from, and every [`Stops::stop_all`] interrupts every running thread.
//!
//! Single threads may run while the others are held ([`Stops::run_only`]). What they begin is held, too, from its
//! first instruction on. It is no lock: others are let go at any time. When the last of those that may run has ended,
//! nothing could ever happen any more, so all are stopped then.
//!
//! What becomes of children is decided by [`Stops::follow`]: one with a copy of the memory at its first stop, one that shares the
//! memory (vfork) at its exec, before which it can't be told from its maker by what is inserted. A child that is
//! not let go at once is in no set of threads: it stays where it is until somebody takes it, or it is killed.

mod children;
mod threads;

use crate::ThreadId;
use dapple_target::exit_status::ExitStatus;
use dapple_target::follow_forks::FollowForks;
use dapple_target::wait_event::{WaitEvent, What};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use threads::{State, Thread, Threads};

/// How a thread runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// Until something happens.
    Continue,
    /// One instruction.
    Step,
}

/// What is to be done, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Let a thread run, delivering the signal unless 0.
    Run(ThreadId, How, i32),
    /// Leave it in its group stop (PTRACE_LISTEN).
    Listen(ThreadId),
    /// Ask it to stop.
    Interrupt(ThreadId),
    /// It has this signal: find out why and answer.
    Examine(ThreadId, i32),
    /// A child with a copy of the memory waits at its start: take what was inserted out of its copy and let it go.
    ReleaseCopy(ThreadId),
    /// A child that has shared our memory runs another program now: let it go.
    ReleaseVforkChild(ThreadId),
    /// A child waits, and stays so: it is to be debugged, too.
    KeepChild(ThreadId, Memory),
    /// A child waits, and stays so: it is to be debugged in place of its maker's process, all threads of which are being stopped.
    Succeed {
        child: ThreadId,
        maker: ThreadId,
        memory: Memory,
    },
    /// A child that was held is gone.
    KeptChildEnded(ThreadId),
    /// A thread began.
    Started(ThreadId),
    /// A thread ended.
    Ended(ThreadId),
    /// The process runs another program; its only thread waits for [`Stops::go`].
    Executed(ThreadId),
    /// All threads are stopped.
    AllStopped,
    /// The process is gone.
    ProcessEnded(ExitStatus),
}

/// What a child's memory is, where it is let go or held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memory {
    /// A copy of ours, with what was inserted into that.
    Copy,
    /// Another program's.
    Own,
}

/// Actions in order.
pub(crate) type Actions = VecDeque<Action>;

/// The process as a whole, as its user sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Threads run; single ones may be stopped for the engine's own reasons.
    Running,
    /// All are asked to stop; some have.
    Stopping,
    /// All are stopped.
    Stopped,
}

/// The threads of the debuggee.
#[derive(Debug)]
pub(crate) struct Stops {
    leader: ThreadId,
    threads: Threads,
    /// In the order of their beginning.
    order: Vec<ThreadId>,
    mode: Mode,
    /// While the process runs, only these do; `None`: all.
    only: Option<Vec<ThreadId>>,
    follow: FollowForks,
    /// Children that were told of but have not shown up, with who made them; they are dealt with when they do.
    copies: FxHashMap<ThreadId, ThreadId>,
    /// Children that wait to be taken.
    kept_children: FxHashSet<ThreadId>,
    /// One of these takes the place of the debuggee.
    succeeded: bool,
    /// What threads did before their maker told of them.
    aside: FxHashMap<ThreadId, Vec<What>>,
    /// How the last thread that is gone has ended.
    last_exit: Option<ExitStatus>,
}

impl Stops {
    /// A process whose only thread is stopped at its exec.
    pub(crate) fn new(leader: ThreadId) -> Stops {
        Stops {
            leader,
            threads: Threads::from_iter([(leader, Thread::new(State::Stopped))]),
            order: vec![leader],
            mode: Mode::Stopped,
            only: None,
            follow: FollowForks::Parent,
            copies: FxHashMap::default(),
            kept_children: FxHashSet::default(),
            succeeded: false,
            aside: FxHashMap::default(),
            last_exit: None,
        }
    }

    /// A process whose threads run and have all been asked to stop; [`Action::AllStopped`] tells when they have.
    pub(crate) fn stopping(leader: ThreadId, threads: &[ThreadId]) -> Stops {
        let running = |id: &ThreadId| (*id, Thread::new(State::Running));
        Stops {
            threads: threads.iter().map(running).collect(),
            order: threads.to_vec(),
            mode: Mode::Stopping,
            ..Stops::new(leader)
        }
    }

    /// How a process has ended of which nothing is left, and whose first thread isn't ours to wait for: it had ended before the
    /// others were taken over. To the last one the kernel gives the process's own status.
    pub(crate) fn last_exit(&self) -> Option<ExitStatus> {
        self.last_exit
    }

    /// What becomes of children now.
    pub(crate) fn follow_now(&self) -> FollowForks {
        self.follow
    }

    /// Whether the process runs.
    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    /// Whether a thread has yet to stop before all are stopped.
    pub(crate) fn awaits(&self, thread: ThreadId) -> bool {
        self.threads.get(thread).is_some_and(Thread::is_awaited)
    }

    /// The threads that are not on their way out, oldest first.
    pub(crate) fn live(&self) -> impl Iterator<Item = ThreadId> {
        self.order.iter().copied().filter(|id| self.is_live(*id))
    }

    /// Whether this is a thread of the debuggee, and not on its way out.
    pub(crate) fn is_live(&self, thread: ThreadId) -> bool {
        self.threads
            .get(thread)
            .is_some_and(|t| !t.is_vfork_child() && t.state() != State::Leaving)
    }

    /// Whether a stop signal holds the process.
    pub(crate) fn is_group_stopped(&self) -> bool {
        self.threads.values().any(|t| t.group_stop)
    }

    /// Whether a stop signal holds a thread.
    pub(crate) fn is_in_group_stop(&self, thread: ThreadId) -> bool {
        self.threads.get(thread).is_some_and(|t| t.group_stop)
    }

    /// What a stopped thread did that was let go on only to stop again at once, before its next instruction.
    pub(crate) fn stepped_aside(&mut self, event: WaitEvent, actions: &mut Actions) {
        match event.what {
            What::Interrupted { .. } => {
                if let Some(known) = self.threads.get_mut(event.thread) {
                    known.how = How::Continue;
                }
            }
            _ => self.handle(event, actions),
        }
    }

    /// Whether this is a child that shares our memory.
    pub(crate) fn is_vfork_child(&self, thread: ThreadId) -> bool {
        self.threads.get(thread).is_some_and(Thread::is_vfork_child)
    }

    /// How the thread was last let run.
    pub(crate) fn last_run(&self, thread: ThreadId) -> How {
        self.threads.get(thread).map_or(How::Continue, |t| t.how)
    }

    /// Every traced thread that is stopped, vfork children among them: for taking leave.
    pub(crate) fn all_stopped(&self) -> Vec<ThreadId> {
        let stopped = |t: &Thread| t.state() == State::Stopped;
        self.threads
            .iter()
            .filter(|(_, t)| stopped(t))
            .map(|(id, _)| *id)
            .collect()
    }

    /// Whether children have been told of that have not shown up, or have shown up and are not told of.
    pub(crate) fn awaits_children(&self) -> bool {
        !self.copies.is_empty() || !self.aside.is_empty()
    }

    /// The process has ended, and the children that shared its memory were let go.
    pub(crate) fn forget_vfork_children(&mut self) {
        self.threads.clear();
    }

    /// Whether children share our memory: they may run in it while all else is stopped.
    pub(crate) fn has_vfork_children(&self) -> bool {
        self.threads.values().any(Thread::is_vfork_child)
    }

    /// Children that share our memory and run in it now.
    pub(crate) fn running_vfork_children(&self) -> Vec<ThreadId> {
        let running = |t: &Thread| t.is_vfork_child() && t.state() == State::Running;
        self.threads
            .iter()
            .filter(|(_, t)| running(t))
            .map(|(id, _)| *id)
            .collect()
    }

    /// Takes in an event; appends what is to be done.
    pub(crate) fn handle(&mut self, event: WaitEvent, actions: &mut Actions) {
        let WaitEvent { thread, what } = event;
        if let What::Exited(status) = what {
            return self.exited(thread, status, actions);
        }
        if let Some(maker) = self.copies.remove(&thread) {
            self.copied(thread, maker, actions);
            return self.check_all_stopped(actions);
        }
        if self.kept_children.contains(&thread) {
            if what == What::Exiting {
                // It was killed.
                actions.push_back(Action::Run(thread, How::Continue, 0));
            }
            return;
        }
        if let What::Executed { former } = what {
            return self.executed(thread, former, actions);
        }
        let may_run = self.may_run(thread);
        let Some(known) = self.threads.get(thread).copied() else {
            if what == What::Exiting {
                // It was killed, its maker probably with it: that may never tell of it.
                actions.push_back(Action::Run(thread, How::Continue, 0));
            }
            self.aside.entry(thread).or_default().push(what);
            return;
        };
        let running = (self.mode == Mode::Running && may_run) || known.is_vfork_child();
        match what {
            What::Exited(_) | What::Executed { .. } => {}
            What::Exiting => {
                let told = known.is_vfork_child() || known.state() == State::Leaving;
                self.threads.set(thread, State::Leaving);
                actions.push_back(Action::Run(thread, How::Continue, 0));
                if !told {
                    actions.push_back(Action::Ended(thread));
                }
                self.runs_no_more(thread);
                self.check_all_stopped(actions);
            }
            What::Signal(signal) => {
                self.threads.set(thread, State::Stopped);
                actions.push_back(Action::Examine(thread, signal));
                self.check_all_stopped(actions);
            }
            What::Interrupted { trap_pending: true } => {
                // The trap comes next; no instruction is executed before it.
                actions.push_back(Action::Run(thread, How::Continue, 0));
            }
            What::Interrupted {
                trap_pending: false,
            } => {
                self.set_group_stop(thread, false);
                if running {
                    self.threads.set(thread, State::Running);
                    actions.push_back(Action::Run(thread, known.how, 0));
                } else {
                    self.threads.set(thread, State::Stopped);
                    self.check_all_stopped(actions);
                }
            }
            What::Group(_) => {
                self.set_group_stop(thread, true);
                if running {
                    actions.push_back(Action::Listen(thread));
                } else {
                    self.threads.set(thread, State::Stopped);
                    self.check_all_stopped(actions);
                }
            }
            What::SystemCall => {
                // No place to stay: its registers are half the call's. The stop made the kernel forget an interrupt.
                if !running {
                    actions.push_back(Action::Interrupt(thread));
                }
                actions.push_back(Action::Run(thread, How::Continue, 0));
            }
            What::NewThread(child) => {
                self.resume_or_stay(thread, actions);
                self.born(thread, child, actions);
                self.check_all_stopped(actions);
            }
            What::NewProcess {
                child,
                shares_memory: false,
            } => {
                self.threads.set(thread, State::Stopped);
                let seen = self.aside.remove(&child);
                let dead = seen.as_ref().is_some_and(|seen| seen.iter().any(is_end));
                // A step goes on in the child, from here.
                let is_left = self.follow == FollowForks::Child && self.may_succeed(thread);
                if !is_left || dead {
                    self.resume_or_stay(thread, actions);
                }
                match seen {
                    Some(_) if dead => actions.push_back(Action::ReleaseCopy(child)),
                    Some(_) => self.copied(child, thread, actions),
                    None => {
                        self.copies.insert(child, thread);
                    }
                }
                self.check_all_stopped(actions);
            }
            What::NewProcess {
                child,
                shares_memory: true,
            } => {
                self.threads.set(thread, State::Stopped);
                if let Some(known) = self.threads.get_mut(thread) {
                    known.lent_to = Some(child);
                }
                self.threads.insert(child, Thread::new_vfork_child());
                self.replay(child, actions);
                self.check_all_stopped(actions);
            }
            What::Other => {
                self.resume_or_stay(thread, actions);
                self.check_all_stopped(actions);
            }
        }
    }

    /// Lets a stopped thread go on, now if the process runs, else with the others. `signal` is for now only: the
    /// caller keeps it otherwise.
    pub(crate) fn go(&mut self, thread: ThreadId, how: How, signal: i32, actions: &mut Actions) {
        let runs = self.mode == Mode::Running && self.may_run(thread);
        let Some(known) = self.threads.get_mut(thread) else {
            return;
        };
        if known.state() != State::Stopped || (!runs && !known.is_vfork_child()) {
            return;
        }
        known.how = how;
        if known.lent_to.is_some() {
            return;
        }
        if known.waits_after_vfork {
            return self.stop_all(actions);
        }
        let group_stop = known.group_stop;
        self.threads.set(thread, State::Running);
        if group_stop {
            // A stop signal still holds it. When SIGCONT has come meanwhile, listening ends at once.
            actions.push_back(Action::Listen(thread));
        } else {
            actions.push_back(Action::Run(thread, how, signal));
        }
    }

    /// The process runs from now on: what [`Stops::go`] is called for goes, unless it is held.
    pub(crate) fn set_running(&mut self) {
        self.mode = Mode::Running;
    }

    /// Decides who runs while the process does: all, or `thread` and, if others are held already, those that run now.
    /// Where all run, all go on running.
    pub(crate) fn run_only(&mut self, thread: Option<ThreadId>) {
        match (thread, self.mode, &mut self.only) {
            (None, ..) => self.only = None,
            (Some(_), Mode::Running, None) => {}
            (Some(thread), Mode::Running, Some(only)) => {
                if !only.contains(&thread) {
                    only.push(thread);
                }
            }
            (Some(thread), ..) => self.only = Some(vec![thread]),
        }
    }

    /// Which threads may run, where not all may.
    pub(crate) fn runners(&self) -> Option<Vec<ThreadId>> {
        self.only.clone()
    }

    /// Lets only those run that might before ([`Stops::runners`]).
    pub(crate) fn set_runners(&mut self, runners: Option<Vec<ThreadId>>) {
        self.only = runners;
    }

    /// Whether the process runs, but not all of its threads may.
    pub(crate) fn runs_only_some(&self) -> bool {
        self.mode == Mode::Running && self.only.is_some()
    }

    /// Whether a child has a thread's memory, and it waits for that.
    pub(crate) fn has_lent(&self, thread: ThreadId) -> bool {
        self.threads
            .get(thread)
            .is_some_and(|t| t.lent_to.is_some())
    }

    /// Whether a thread that has lent its memory is to go on no more: when it has that back, and the process runs, all are stopped.
    pub(crate) fn wait_after_vfork(&mut self, thread: ThreadId, waits_after_vfork: bool) {
        if let Some(known) = self.threads.get_mut(thread) {
            known.waits_after_vfork = waits_after_vfork;
        }
    }

    /// Whether a thread is stopped and stays so, though the process may run.
    pub(crate) fn is_held(&self, thread: ThreadId) -> bool {
        let stopped = self
            .threads
            .get(thread)
            .is_some_and(|t| t.state() == State::Stopped);
        stopped && !self.runs(thread)
    }

    /// Whether a thread is to run now, unless something in it has to be looked at.
    pub(crate) fn runs(&self, thread: ThreadId) -> bool {
        self.mode == Mode::Running && self.may_run(thread)
    }

    /// Whether all were stopped because each that might run has ended.
    pub(crate) fn none_may_run(&self) -> bool {
        self.only.as_ref().is_some_and(Vec::is_empty)
    }

    fn may_run(&self, thread: ThreadId) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(&thread))
    }

    /// A thread has ended: when it was the last that might run, all are stopped.
    fn runs_no_more(&mut self, thread: ThreadId) {
        let Some(only) = &mut self.only else { return };
        only.retain(|id| *id != thread);
        if only.is_empty() && self.mode == Mode::Running {
            self.mode = Mode::Stopping;
        }
    }

    /// Stops all threads; [`Action::AllStopped`] tells when they are.
    pub(crate) fn stop_all(&mut self, actions: &mut Actions) {
        if self.mode != Mode::Running {
            return;
        }
        self.mode = Mode::Stopping;
        for (&id, thread) in self.threads.iter() {
            if thread.is_awaited() {
                actions.push_back(Action::Interrupt(id));
            }
        }
        self.check_all_stopped(actions);
    }

    fn set_group_stop(&mut self, thread: ThreadId, held: bool) {
        if let Some(known) = self.threads.get_mut(thread) {
            known.group_stop = held;
        }
    }

    fn resume_or_stay(&mut self, thread: ThreadId, actions: &mut Actions) {
        let runs = self.runs(thread);
        let Some(known) = self.threads.get(thread).copied() else {
            return;
        };
        if runs || known.is_vfork_child() {
            self.threads.set(thread, State::Running);
            actions.push_back(Action::Run(thread, known.how, 0));
        } else {
            self.threads.set(thread, State::Stopped);
        }
    }

    fn born(&mut self, maker: ThreadId, child: ThreadId, actions: &mut Actions) {
        if self.is_vfork_child(maker) {
            self.threads.insert(child, Thread::new_vfork_child());
            return self.replay(child, actions);
        }
        // Its first stop is still to come or lies aside; until then it counts as running.
        self.threads.insert(child, Thread::new(State::Running));
        self.order.push(child);
        actions.push_back(Action::Started(child));
        self.replay(child, actions);
    }

    fn replay(&mut self, child: ThreadId, actions: &mut Actions) {
        for what in self.aside.remove(&child).unwrap_or_default() {
            self.handle(
                WaitEvent {
                    thread: child,
                    what,
                },
                actions,
            );
        }
    }

    fn exited(&mut self, thread: ThreadId, status: ExitStatus, actions: &mut Actions) {
        if let Some(maker) = self.copies.remove(&thread) {
            if self.follow == FollowForks::Child && !self.succeeded {
                // It has waited for that.
                self.resume_or_stay(maker, actions);
            }
            return self.check_all_stopped(actions);
        }
        if self.kept_children.remove(&thread) {
            actions.push_back(Action::KeptChildEnded(thread));
            return;
        }
        if let Some(aside) = self.aside.get_mut(&thread) {
            // Its maker may still tell of it.
            aside.push(What::Exited(status));
        }
        if thread == self.leader {
            // The kernel tells of the leader last, whichever thread died last. Children that have its memory may still run.
            self.threads.keep_vfork_children();
            self.order.clear();
            // Nobody is left who could tell of these.
            for (child, seen) in self.aside.drain() {
                if !seen.iter().any(is_end) {
                    actions.push_back(Action::ReleaseCopy(child));
                }
            }
            actions.push_back(Action::ProcessEnded(status));
            return;
        }
        let Some(known) = self.threads.remove(thread) else {
            return;
        };
        self.order.retain(|id| *id != thread);
        if !known.is_vfork_child() {
            self.last_exit = Some(status);
        }
        if known.is_vfork_child() {
            self.take_back(thread, actions);
        } else if known.state() != State::Leaving {
            actions.push_back(Action::Ended(thread));
        }
        self.runs_no_more(thread);
        self.check_all_stopped(actions);
    }

    fn executed(&mut self, thread: ThreadId, former: ThreadId, actions: &mut Actions) {
        if self.threads.get(thread).is_some_and(Thread::is_vfork_child) {
            self.threads.remove(thread);
            return self.left_with_exec(thread, actions);
        }
        if thread != self.leader {
            self.aside.entry(thread).or_default().push(What::Other);
            return;
        }
        // All other threads are gone, `former` without a status of its own: it goes on as the leader.
        let others: Vec<ThreadId> = self
            .order
            .iter()
            .copied()
            .filter(|id| *id != self.leader)
            .collect();
        for other in others {
            if self
                .threads
                .remove(other)
                .is_some_and(|t| t.state() != State::Leaving)
            {
                actions.push_back(Action::Ended(other));
            }
        }
        self.order = vec![self.leader];
        self.only = None;
        self.aside.remove(&former);
        let was_leaving = self
            .threads
            .get(self.leader)
            .is_none_or(|t| t.state() == State::Leaving);
        if was_leaving {
            actions.push_back(Action::Started(self.leader));
        }
        self.threads
            .insert(self.leader, Thread::new(State::Stopped));
        actions.push_back(Action::Executed(self.leader));
        self.check_all_stopped(actions);
    }

    /// The child `guest` no longer uses our memory: its maker goes on.
    fn take_back(&mut self, guest: ThreadId, actions: &mut Actions) {
        let Some(maker) = self.maker_of(guest) else {
            return;
        };
        let Some(&thread) = self.threads.get(maker) else {
            return;
        };
        if let Some(thread) = self.threads.get_mut(maker) {
            thread.lent_to = None;
        }
        if thread.waits_after_vfork {
            return self.stop_all(actions);
        }
        let may_run = self.only.as_ref().is_none_or(|only| only.contains(&maker));
        if (self.mode == Mode::Running && may_run) || thread.is_vfork_child() {
            self.threads.set(maker, State::Running);
            actions.push_back(Action::Run(maker, thread.how, 0));
        }
    }

    fn check_all_stopped(&mut self, actions: &mut Actions) {
        if self.mode != Mode::Stopping || self.threads.awaits_any() {
            return;
        }
        // One that is born meanwhile may take the debuggee's place: nothing else must be told before.
        if self.follow == FollowForks::Child && !self.copies.is_empty() {
            return;
        }
        self.mode = Mode::Stopped;
        actions.push_back(Action::AllStopped);
    }
}

/// Whether a thread that did this is gone, or about to be.
fn is_end(what: &What) -> bool {
    matches!(what, What::Exiting | What::Exited(_))
}

#[cfg(test)]
#[path = "stops_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "stops_orders_tests.rs"]
mod orders_tests;

#[cfg(test)]
#[path = "stops_single_tests.rs"]
mod single_tests;

#[cfg(test)]
#[path = "stops_random_tests.rs"]
mod random_tests;

#[cfg(test)]
#[path = "stops_forks_tests.rs"]
mod forks_tests;
