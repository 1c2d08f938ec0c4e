//! What the debuggee's stops mean for the set of its threads: a pure reducer, `(state, event) → actions`.
//!
//! It knows which threads exist and which run, which must be interrupted or waited for until all are stopped, and how each continues.
//! It doesn't know why a thread trapped (breakpoint, step, the program's own instruction): it hands such stops out as
//! [`Action::Examine`], and the answer is [`Stops::go`] or [`Stops::stop_all`].
//!
//! The trick worth knowing: interrupts that were sent are not remembered. Any other stop makes the kernel forget an interrupt, unless the
//! interrupt was sent after the stop, so a record of it would be wrong in one of these cases. A thread that stops for an interrupt nobody
//! waits for is just resumed, and every [`Stops::stop_all`] interrupts every running thread of the debuggee.
//!
//! Single threads may run while the others stay stopped ([`Stops::run_only`]). Threads that they start stay stopped, too, from their first
//! instruction on. This is no lock: other threads may be resumed at any time. When the last thread that may run has ended, nothing could
//! ever happen any more, so all are stopped then.
//!
//! [`Stops::follow`] sets whether child processes are released. For a child with a copy of the memory, that is decided at its first stop.
//! For a vfork child, which shares the memory, it is decided at its exec; before that, inserted breakpoints affect both processes. A child
//! that is not released is in no set of threads: it stays stopped until it is taken over, released or killed.

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
    /// Until the next event.
    Continue,
    /// One instruction.
    Step,
}

/// What the owner has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Resume a thread, delivering the signal unless it is 0.
    Run(ThreadId, How, i32),
    /// Leave the thread in its group stop (PTRACE_LISTEN).
    Listen(ThreadId),
    /// Ask the thread to stop.
    Interrupt(ThreadId),
    /// The thread stopped with this signal: find out why and answer.
    Examine(ThreadId, i32),
    /// The thread can't be replayed any further.
    ReplayEnds(ThreadId),
    /// The thread is about to be replayed up to a place that has to be found.
    TurnAhead(ThreadId),
    /// In a replay, a system call of the thread has written memory that is watched.
    KernelWrote(ThreadId),
    /// A child with a copy of the memory is stopped at its start, or has died: remove the inserted breakpoints from its copy and release it.
    ReleaseCopy(ThreadId),
    /// A vfork child runs another program now: release it.
    ReleaseVforkChild(ThreadId),
    /// A child is stopped, and stays so: it is to be debugged, too.
    KeepChild(ThreadId, Memory),
    /// A child is stopped, and stays so: it is to be debugged in place of its parent, all threads of which are being stopped.
    Succeed {
        child: ThreadId,
        maker: ThreadId,
        memory: Memory,
    },
    /// A child that was kept stopped is gone.
    KeptChildEnded(ThreadId),
    /// A thread began.
    Started(ThreadId),
    /// A thread ended.
    Ended(ThreadId),
    /// The process runs another program; its only thread is stopped until [`Stops::go`].
    Executed(ThreadId),
    /// All threads are stopped.
    AllStopped,
    /// The process is gone.
    ProcessEnded(ExitStatus),
}

/// What memory a child has when it is released or kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memory {
    /// A copy of the debuggee's, including the inserted breakpoints.
    Copy,
    /// Another program's.
    Own,
}

/// Actions in order.
pub(crate) type Actions = VecDeque<Action>;

/// The process as a whole, as the user sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Threads run. Single ones may be stopped for the engine's own reasons.
    Running,
    /// All threads were asked to stop; some may not have stopped yet.
    Stopping,
    /// All threads are stopped.
    Stopped,
}

/// The threads of the debuggee.
#[derive(Debug)]
pub(crate) struct Stops {
    leader: ThreadId,
    threads: Threads,
    /// In the order in which they started.
    order: Vec<ThreadId>,
    mode: Mode,
    /// The only threads that may run while the process runs; `None`: all may.
    only: Option<Vec<ThreadId>>,
    follow: FollowForks,
    /// Children that their parent has reported but that have not stopped yet, with that parent. They are handled when they stop.
    expected_children: FxHashMap<ThreadId, ThreadId>,
    /// Children that stay stopped until they are taken over.
    kept_children: FxHashSet<ThreadId>,
    /// A child is taking the place of the debuggee.
    succeeded: bool,
    /// Events of threads and processes that their parent has not reported yet.
    early_events: FxHashMap<ThreadId, Vec<What>>,
    /// The exit status of the last thread that ended.
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
            expected_children: FxHashMap::default(),
            kept_children: FxHashSet::default(),
            succeeded: false,
            early_events: FxHashMap::default(),
            last_exit: None,
        }
    }

    /// A process whose threads are all stopped.
    pub(crate) fn at_rest(leader: ThreadId, threads: &[ThreadId]) -> Stops {
        let stopped = |id: &ThreadId| (*id, Thread::new(State::Stopped));
        Stops {
            threads: threads.iter().map(stopped).collect(),
            order: threads.to_vec(),
            ..Stops::new(leader)
        }
    }

    /// A process whose threads run and have all been asked to stop; [`Action::AllStopped`] comes when they have.
    pub(crate) fn stopping(leader: ThreadId, threads: &[ThreadId]) -> Stops {
        let running = |id: &ThreadId| (*id, Thread::new(State::Running));
        Stops {
            threads: threads.iter().map(running).collect(),
            order: threads.to_vec(),
            mode: Mode::Stopping,
            ..Stops::new(leader)
        }
    }

    /// The exit status of the last thread that ended. The kernel gives the process's own status to the last thread. It is needed if the
    /// leader can't be waited for, because it had ended before the other threads were attached to.
    pub(crate) fn last_exit(&self) -> Option<ExitStatus> {
        self.last_exit
    }

    /// What happens to children now.
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

    /// The threads that are not exiting, oldest first.
    pub(crate) fn live(&self) -> impl Iterator<Item = ThreadId> {
        self.order.iter().copied().filter(|id| self.is_live(*id))
    }

    /// Whether this is a thread of the debuggee, and not exiting.
    pub(crate) fn is_live(&self, thread: ThreadId) -> bool {
        self.threads
            .get(thread)
            .is_some_and(|t| !t.is_vfork_child() && t.state() != State::Exiting)
    }

    /// Whether the process is in a group stop.
    pub(crate) fn is_group_stopped(&self) -> bool {
        self.threads.values().any(|t| t.group_stop)
    }

    /// Whether a thread is in a group stop.
    pub(crate) fn is_in_group_stop(&self, thread: ThreadId) -> bool {
        self.threads.get(thread).is_some_and(|t| t.group_stop)
    }

    /// Takes in the event of a stopped thread that was resumed only to stop again at once, before its next instruction.
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

    /// Whether this is a vfork child, which shares the debuggee's memory.
    pub(crate) fn is_vfork_child(&self, thread: ThreadId) -> bool {
        self.threads.get(thread).is_some_and(Thread::is_vfork_child)
    }

    /// How the thread was last resumed.
    pub(crate) fn last_run(&self, thread: ThreadId) -> How {
        self.threads.get(thread).map_or(How::Continue, |t| t.how)
    }

    /// Every traced thread that is stopped, vfork children included: for detaching or killing.
    pub(crate) fn all_stopped(&self) -> Vec<ThreadId> {
        let stopped = |t: &Thread| t.state() == State::Stopped;
        self.threads
            .iter()
            .filter(|(_, t)| stopped(t))
            .map(|(id, _)| *id)
            .collect()
    }

    /// Whether a child was reported but has not stopped yet, or a child or thread has stopped but was not reported yet.
    pub(crate) fn awaits_children(&self) -> bool {
        !self.expected_children.is_empty() || !self.early_events.is_empty()
    }

    /// The process has ended, and its vfork children were released: forgets them.
    pub(crate) fn forget_vfork_children(&mut self) {
        self.threads.clear();
    }

    /// Whether there are vfork children: they may run in the debuggee's memory while all else is stopped.
    pub(crate) fn has_vfork_children(&self) -> bool {
        self.threads.values().any(Thread::is_vfork_child)
    }

    /// The vfork children that are running.
    pub(crate) fn running_vfork_children(&self) -> Vec<ThreadId> {
        let running = |t: &Thread| t.is_vfork_child() && t.state() == State::Running;
        self.threads
            .iter()
            .filter(|(_, t)| running(t))
            .map(|(id, _)| *id)
            .collect()
    }

    /// Takes in an event; appends the actions that follow from it.
    pub(crate) fn handle(&mut self, event: WaitEvent, actions: &mut Actions) {
        let WaitEvent { thread, what } = event;
        if let What::Exited(status) = what {
            return self.exited(thread, status, actions);
        }
        if let Some(maker) = self.expected_children.remove(&thread) {
            self.copied(thread, maker, actions);
            return self.check_all_stopped(actions);
        }
        if self.kept_children.contains(&thread) {
            if what == What::Exiting {
                // The child was killed.
                actions.push_back(Action::Run(thread, How::Continue, 0));
            }
            return;
        }
        if let What::Executed { former } = what {
            return self.executed(thread, former, actions);
        }
        let Some(known) = self.threads.get(thread).copied() else {
            if what == What::Exiting {
                // The thread was killed, probably with its parent, which then never reports it.
                actions.push_back(Action::Run(thread, How::Continue, 0));
            }
            self.early_events.entry(thread).or_default().push(what);
            return;
        };
        match what {
            What::NewThread(child) => {
                self.resume_or_stay(thread, actions);
                self.born(thread, child, actions);
                self.check_all_stopped(actions);
            }
            What::NewProcess {
                child,
                shares_memory: false,
            } => self.forked(thread, child, actions),
            What::NewProcess {
                child,
                shares_memory: true,
            } => self.vforked(thread, child, actions),
            _ => self.stopped(thread, known, what, actions),
        }
    }

    /// A known thread has stopped, and the event is about this thread alone: it has started no thread or process.
    fn stopped(&mut self, thread: ThreadId, known: Thread, what: What, actions: &mut Actions) {
        let may_run = self.mode == Mode::Running && self.may_run(thread);
        let running = may_run || known.is_vfork_child();
        match what {
            What::Exited(_)
            | What::Executed { .. }
            | What::NewThread(_)
            | What::NewProcess { .. } => {}
            What::Exiting => {
                let told = known.is_vfork_child() || known.state() == State::Exiting;
                self.threads.set(thread, State::Exiting);
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
            What::TurnAhead => {
                self.threads.set(thread, State::Stopped);
                actions.push_back(Action::TurnAhead(thread));
                self.check_all_stopped(actions);
            }
            What::KernelWrote => {
                self.threads.set(thread, State::Stopped);
                actions.push_back(Action::KernelWrote(thread));
                self.check_all_stopped(actions);
            }
            What::ReplayEnds => {
                self.threads.set(thread, State::Stopped);
                actions.push_back(Action::ReplayEnds(thread));
                self.check_all_stopped(actions);
            }
            What::Interrupted { trap_pending: true } => {
                // The trap follows; no instruction is executed before it.
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
                // A thread can't stay in this stop: its registers are partly the system call's. The stop made the kernel forget an
                // interrupt.
                if !running {
                    actions.push_back(Action::Interrupt(thread));
                }
                actions.push_back(Action::Run(thread, How::Continue, 0));
            }
            What::Other => {
                self.resume_or_stay(thread, actions);
                self.check_all_stopped(actions);
            }
        }
    }

    /// A thread has forked a process with a copy of the memory.
    fn forked(&mut self, thread: ThreadId, child: ThreadId, actions: &mut Actions) {
        self.threads.set(thread, State::Stopped);
        let seen = self.early_events.remove(&child);
        let dead = seen.as_ref().is_some_and(|seen| seen.iter().any(is_end));
        // The parent stays stopped at the fork: if the child takes its place, a step goes on in the child from this point.
        let is_left = self.follow == FollowForks::Child && self.may_succeed(thread);
        if !is_left || dead {
            self.resume_or_stay(thread, actions);
        }
        match seen {
            Some(_) if dead => actions.push_back(Action::ReleaseCopy(child)),
            Some(_) => self.copied(child, thread, actions),
            None => {
                self.expected_children.insert(child, thread);
            }
        }
        self.check_all_stopped(actions);
    }

    /// A thread has made a process that uses the same memory.
    fn vforked(&mut self, thread: ThreadId, child: ThreadId, actions: &mut Actions) {
        self.threads.set(thread, State::Stopped);
        if let Some(known) = self.threads.get_mut(thread) {
            known.vfork_child = Some(child);
        }
        self.threads.insert(child, Thread::new_vfork_child());
        self.replay(child, actions);
        self.check_all_stopped(actions);
    }

    /// Resumes a stopped thread with `signal` if it may run now, as a vfork child always may. Otherwise does nothing: the caller keeps the
    /// signal and resumes the thread with the others. A thread that is in a group stop stays there. One whose vfork child has its memory
    /// goes on, without the signal, when the child has left it. One that waits after its vfork stops all threads.
    pub(crate) fn go(&mut self, thread: ThreadId, how: How, signal: i32, actions: &mut Actions) {
        let runs = self.mode == Mode::Running && self.may_run(thread);
        let Some(known) = self.threads.get_mut(thread) else {
            return;
        };
        if known.state() != State::Stopped || (!runs && !known.is_vfork_child()) {
            return;
        }
        known.how = how;
        if known.vfork_child.is_some() {
            return;
        }
        if known.waits_after_vfork {
            return self.stop_all(actions);
        }
        let group_stop = known.group_stop;
        self.threads.set(thread, State::Running);
        if group_stop {
            // The thread is still in a group stop. If SIGCONT has come meanwhile, PTRACE_LISTEN ends at once.
            actions.push_back(Action::Listen(thread));
        } else {
            actions.push_back(Action::Run(thread, how, signal));
        }
    }

    /// The process runs from now on: [`Stops::go`] resumes a thread unless it is not allowed to run.
    pub(crate) fn set_running(&mut self) {
        self.mode = Mode::Running;
    }

    /// Decides which threads may run while the process does: all, or only `thread`. If the process already runs only some, `thread`
    /// joins them; if it runs all, all go on running.
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

    /// Which threads may run, if not all may.
    pub(crate) fn runners(&self) -> Option<Vec<ThreadId>> {
        self.only.clone()
    }

    /// Restores which threads may run, as [`Stops::runners`] gave it.
    pub(crate) fn set_runners(&mut self, runners: Option<Vec<ThreadId>>) {
        self.only = runners;
    }

    /// Whether the process runs, but not all of its threads may.
    pub(crate) fn runs_only_some(&self) -> bool {
        self.mode == Mode::Running && self.only.is_some()
    }

    /// Whether a vfork child has a thread's memory, and the thread waits for it.
    pub(crate) fn waits_for_vfork_child(&self, thread: ThreadId) -> bool {
        self.threads
            .get(thread)
            .is_some_and(|t| t.vfork_child.is_some())
    }

    /// Sets whether a vfork parent stays stopped once its child has left its memory: if the process runs then, all threads are stopped.
    pub(crate) fn wait_after_vfork(&mut self, thread: ThreadId, waits_after_vfork: bool) {
        if let Some(known) = self.threads.get_mut(thread) {
            known.waits_after_vfork = waits_after_vfork;
        }
    }

    /// Whether a thread is stopped and stays so, though the process may run.
    pub(crate) fn stays_stopped(&self, thread: ThreadId) -> bool {
        let stopped = self
            .threads
            .get(thread)
            .is_some_and(|t| t.state() == State::Stopped);
        stopped && !self.runs(thread)
    }

    /// Whether a thread is to run now, unless its stop has to be examined.
    pub(crate) fn runs(&self, thread: ThreadId) -> bool {
        self.mode == Mode::Running && self.may_run(thread)
    }

    /// Whether all threads were stopped because each that might run has ended.
    pub(crate) fn none_may_run(&self) -> bool {
        self.only.as_ref().is_some_and(Vec::is_empty)
    }

    fn may_run(&self, thread: ThreadId) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(&thread))
    }

    /// A thread has ended: if it was the last that might run, all are stopped.
    fn runs_no_more(&mut self, thread: ThreadId) {
        let Some(only) = &mut self.only else { return };
        only.retain(|id| *id != thread);
        if only.is_empty() && self.mode == Mode::Running {
            self.mode = Mode::Stopping;
        }
    }

    /// Stops all threads; [`Action::AllStopped`] comes when they are.
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
        // The thread's first stop is still to come or is in `early_events`; until then the thread counts as running.
        self.threads.insert(child, Thread::new(State::Running));
        self.order.push(child);
        actions.push_back(Action::Started(child));
        self.replay(child, actions);
    }

    fn replay(&mut self, child: ThreadId, actions: &mut Actions) {
        for what in self.early_events.remove(&child).unwrap_or_default() {
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
        if let Some(maker) = self.expected_children.remove(&thread) {
            if self.follow == FollowForks::Child && !self.succeeded {
                // The parent was kept stopped for this child.
                self.resume_or_stay(maker, actions);
            }
            return self.check_all_stopped(actions);
        }
        if self.kept_children.remove(&thread) {
            actions.push_back(Action::KeptChildEnded(thread));
            return;
        }
        if let Some(events) = self.early_events.get_mut(&thread) {
            // A parent may still report this thread or process.
            events.push(What::Exited(status));
        }
        if thread == self.leader {
            // The kernel reports the leader's exit last, whichever thread ended last. Vfork children may still run in its memory.
            self.threads.keep_vfork_children();
            self.order.clear();
            // No parent is left that could report these.
            for (child, seen) in self.early_events.drain() {
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
        } else if known.state() != State::Exiting {
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
            self.early_events
                .entry(thread)
                .or_default()
                .push(What::Other);
            return;
        }
        // All other threads are gone. `former`, which called exec, has no exit status of its own: it goes on as the leader.
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
                .is_some_and(|t| t.state() != State::Exiting)
            {
                actions.push_back(Action::Ended(other));
            }
        }
        self.order = vec![self.leader];
        self.only = None;
        self.early_events.remove(&former);
        let was_leaving = self
            .threads
            .get(self.leader)
            .is_none_or(|t| t.state() == State::Exiting);
        if was_leaving {
            actions.push_back(Action::Started(self.leader));
        }
        self.threads
            .insert(self.leader, Thread::new(State::Stopped));
        actions.push_back(Action::Executed(self.leader));
        self.check_all_stopped(actions);
    }

    /// The vfork child `guest` no longer uses the debuggee's memory: its parent goes on, if it may run.
    fn take_back(&mut self, guest: ThreadId, actions: &mut Actions) {
        let Some(maker) = self.maker_of(guest) else {
            return;
        };
        let Some(&thread) = self.threads.get(maker) else {
            return;
        };
        if let Some(thread) = self.threads.get_mut(maker) {
            thread.vfork_child = None;
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
        // A child that is yet to stop may take the debuggee's place: `AllStopped` must not come before that.
        if self.follow == FollowForks::Child && !self.expected_children.is_empty() {
            return;
        }
        self.mode = Mode::Stopped;
        actions.push_back(Action::AllStopped);
    }
}

/// Whether a thread with this event is gone, or about to be.
fn is_end(what: &What) -> bool {
    matches!(what, What::Exiting | What::Exited(_))
}

#[cfg(test)]
mod tests;
