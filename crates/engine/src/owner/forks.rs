//! What becomes of the debuggee's children: detached from, kept for another session, or debugged in the debuggee's place.
//!
//! The kernel makes the tracer of a parent the tracer of its child, but each session has its own thread that traces, perhaps in another
//! process. So a child that is debugged beside its parent is handed over. Everything inserted is taken out of the child's memory, and the
//! child stays traced until [`crate::forks`] has connected the two sessions. Then `target::linux::handover` changes the tracer: between the
//! two tracers, for milliseconds, the child sleeps in a system call. If both tracers are killed in that time, the child sleeps for a minute
//! and then runs on with all signals blocked, even if its program was launched.
//!
//! A child that is debugged in place of its parent (`FollowForks::Child`) needs no handover: the owner goes on with the child's memory,
//! sites included ([`PatchedMemory::move_to`]), and a step under way continues in the child from the fork.

use super::Owner;
use crate::forks::HandedOver;
use crate::stops::{Memory, Stops};
use crate::{Error, Event, ThreadId};
use dapple_target::exit_status::ExitStatus;
use dapple_target::linux::handover;
use dapple_target::process_info::ProcessInfo;

/// The children that are kept stopped for other sessions, or followed.
#[derive(Debug, Default)]
pub(super) struct Children {
    /// The child that takes the debuggee's place as soon as all of the debuggee's threads are stopped.
    successor: Option<Succession>,
    /// Whether processes that this session no longer traces may still write to the session's output pipes.
    left_writers: bool,
    /// How the debuggee has ended. Reported once no child is kept or expected any more.
    end: Option<ExitStatus>,
    /// The state to restore in the debuggee, if it was handed over to this session and still sleeps in the handover's system call.
    pub(super) parked: Option<handover::Parked>,
}

#[derive(Debug, Clone, Copy)]
struct Succession {
    child: ThreadId,
    maker: ThreadId,
    memory: Memory,
}

impl Owner {
    /// Detaches from a forked child, after taking everything inserted out of its memory. Kills it if the function of an inferior call has
    /// forked it.
    pub(super) fn release_copy(&mut self, child: ThreadId) {
        self.clean_copy(child);
        let _ = self.process().detach(child, 0);
        if self.is_calls_child(child) {
            // Killed only after the detach: otherwise its end would be reported to this tracer.
            let _ = self.process().signal(child, libc::SIGKILL);
        }
        self.end_if_due();
    }

    /// Takes everything inserted out of a forked child's memory, and moves its thread out of copied instructions.
    fn clean_copy(&self, child: ThreadId) {
        match self.process().reopen(child) {
            Ok(copy) => self.clean_memory(copy.as_ref()),
            Err(error) => tracing::warn!(%child, %error, "a child can't be cleaned"),
        }
        self.leave_copied_code(child);
        self.handle_no_traps_in(child);
        self.runs_unrecorded(child);
    }

    fn leave_copied_code(&self, child: ThreadId) {
        if let Ok(mut registers) = self.process().registers(child)
            && let Some((_, original)) = self.original_of(registers.pc())
        {
            registers.set_pc(original);
            let _ = self.process().set_registers(child, &registers);
        }
    }

    /// Keeps a child stopped at its start (a vfork child: at its exec), with nothing inserted, and reports it. If the debugger is about to
    /// detach, lets it go instead.
    pub(super) fn keep_child(&mut self, child: ThreadId, memory: Memory) {
        match memory {
            Memory::Copy => self.clean_copy(child),
            Memory::Own => self.threads.let_go(child),
        }
        if self.leaving.detaching {
            self.let_child_go(child);
            return;
        }
        self.tell(Event::Forked {
            process: child.0,
            name: self.process().thread_name(child),
        });
    }

    /// Called when a child that was kept stopped has ended, perhaps the one that was to take the debuggee's place.
    pub(super) fn kept_child_ended(&mut self, child: ThreadId) {
        let was_next = self
            .children
            .successor
            .take_if(|next| next.child == child)
            .is_some();
        if was_next {
            self.stops.forget_successor();
        }
        self.end_if_due();
    }

    /// Detaches from a kept child. `false`: it is not kept.
    pub(crate) fn let_child_go(&mut self, child: ThreadId) -> bool {
        if !self.stops.keeps_child(child) {
            return false;
        }
        self.stops.forget_child(child);
        let _ = self.process().detach(child, 0);
        self.end_if_due();
        true
    }

    /// Makes a kept child sleep without a tracer, for `tracer` to take it over.
    pub(crate) fn hand_child_over(
        &mut self,
        child: ThreadId,
        tracer: i32,
    ) -> Result<HandedOver, Error> {
        if !self.stops.keeps_child(child) {
            return Err(Error::Refused("it has ended meanwhile".into()));
        }
        let parked =
            handover::park(child, tracer, self.debuggee.of_launched).map_err(Error::Refused)?;
        // The child counts as kept until the other session traces it. If the handover fails, `take_child_back` follows.
        Ok(HandedOver(Box::new(parked)))
    }

    /// Called when the other session has taken over the child.
    pub(crate) fn child_was_taken(&mut self, child: ThreadId) {
        self.stops.forget_child(child);
        self.children.left_writers = true;
        self.end_if_due();
    }

    /// Called when the other session has not taken over the child: gives it its state from before the handover, and lets it go.
    pub(crate) fn take_child_back(&mut self, child: ThreadId, handed: &HandedOver) {
        self.stops.forget_child(child);
        handover::take_back(child, &handed.0);
        self.end_if_due();
    }

    /// Detaches from all children that are kept or expected, also from one that was to take the debuggee's place. Call when no session will
    /// debug them.
    pub(super) fn let_children_go(&mut self) {
        for child in self.stops.take_expected_children() {
            if self.process().wait_until_stopped(child) {
                self.clean_copy(child);
                let _ = self.process().detach(child, 0);
            }
        }
        if let Some(next) = self.children.successor.take()
            && next.memory == Memory::Copy
        {
            self.clean_copy(next.child);
        }
        for child in self.stops.kept_children() {
            self.stops.forget_child(child);
            let _ = self.process().detach(child, 0);
        }
    }

    /// Called when the debuggee has ended. A child that was to take its place does so now. Without one the session ends, but not before all
    /// children that wait to be taken over are: they need their tracer until then.
    pub(super) fn process_ended(&mut self, status: ExitStatus) {
        self.release_vfork_children();
        if let Some(next) = self.children.successor.take() {
            self.succeed_with(next);
            return self.go_on();
        }
        self.children.end = Some(status);
        self.end_if_due();
    }

    /// Detaches from vfork children that are left when the debuggee was killed.
    fn release_vfork_children(&mut self) {
        if self.stopped_threads().is_empty() && self.stops.running_vfork_children().is_empty() {
            return;
        }
        self.let_threads_go();
        self.stops.forget_vfork_children();
        self.children.left_writers = true;
    }

    fn end_if_due(&mut self) {
        if !self.stops.expects_children()
            && self.stops.kept_children().is_empty()
            && let Some(status) = self.children.end.take()
        {
            self.ended(status);
        }
    }

    /// Whether the debuggee has ended, and only children are left that are kept or expected.
    pub(super) fn has_only_children(&self) -> bool {
        self.children.end.is_some()
    }

    /// Ends the session if the debuggee has ended and only children are left. Returns whether that is so.
    pub(super) fn leave_only_children(&mut self) -> bool {
        let Some(status) = self.children.end.take() else {
            return false;
        };
        self.ended(status);
        true
    }

    /// Notes that `child`, which the thread `maker` has made, takes the debuggee's place once all of the debuggee's threads are stopped.
    pub(super) fn will_be_succeeded(&mut self, child: ThreadId, maker: ThreadId, memory: Memory) {
        if memory == Memory::Own {
            self.threads.let_go(child);
        }
        self.children.successor = Some(Succession {
            child,
            maker,
            memory,
        });
    }

    /// If a child is to take the debuggee's place: detaches from the old debuggee and makes the child the debuggee. Returns whether there is
    /// such a child. Call when all threads are stopped.
    pub(super) fn succeed_if_due(&mut self) -> bool {
        let Some(next) = self.children.successor.take() else {
            return false;
        };
        self.let_threads_go();
        self.succeed_with(next);
        true
    }

    /// Makes the child the debuggee. Unless the child runs another program, the modules stay known and the sites are inserted into it.
    fn succeed_with(&mut self, next: Succession) {
        let Succession {
            child,
            maker,
            memory,
        } = next;
        // The memory is switched first, so that nothing below is written to the old debuggee's memory.
        match (memory, self.process().reopen(child)) {
            (Memory::Copy, Ok(copy)) => {
                self.leave_copied_code(child);
                self.handle_no_traps_in(child);
                let guardian = self.guardian_of(child);
                self.move_memory(copy, guardian);
            }
            (Memory::Own, Ok(own)) => {
                self.release_guardian();
                let guardian = self.guardian_of(child);
                self.begin_memory(own, guardian);
            }
            (_, Err(error)) => {
                tracing::error!(%error, "the child's memory can't be read");
                let _ = self.process().detach(child, 0);
                return self.ended(ExitStatus::Signal(libc::SIGKILL));
            }
        }
        let former: Vec<ThreadId> = self.live_threads().collect();
        let follow = self.stops.followed();
        self.stops = Stops::new(child);
        self.stops.follow(follow);
        self.actions.clear();
        self.stop.current = child;
        self.children.left_writers = true;
        self.threads.succeeded(maker, child);
        match self.activity.step_mut() {
            Some(step) if step.thread == maker && memory == Memory::Copy => step.thread = child,
            Some(_) => self.end_step(),
            None => {}
        }
        if memory == Memory::Copy {
            self.breakpoints_follow(maker, child);
        }
        for thread in former {
            self.thread_ended(thread);
            self.tell(Event::ThreadExited(thread));
        }
        self.stop.reports.clear();
        self.tell(Event::Followed(ProcessInfo {
            pid: child.0,
            program: self.process().running_executable(),
            start: self.debuggee.start,
            of_launched: self.debuggee.of_launched,
            stopped: false,
        }));
        self.tell(Event::ThreadStarted(child));
        if memory == Memory::Own {
            self.load_new_program();
        }
    }

    /// Resumes a child that has taken the debuggee's place. If a pause was requested meanwhile, reports the pause instead.
    pub(super) fn go_on(&mut self) {
        if self.is_over() {
            return;
        }
        if self.is_stopped() && self.stop.pause.is_none() {
            self.resume_all();
        } else {
            self.all_stopped();
        }
    }

    /// Whether processes that this session does not trace may still write to its output pipes.
    pub(super) fn has_left_writers(&self) -> bool {
        self.children.left_writers
    }

    /// Restores the state from before the handover in a process that was handed over to this session. Call when all its threads are stopped.
    pub(super) fn unpark(&mut self) {
        let Some(parked) = self.children.parked.take() else {
            return;
        };
        if let Err(reason) = handover::unpark(self.process().id(), &parked) {
            tracing::warn!(reason, "a child that was handed over can't be used");
        }
        if let Some(control) = self.threads.get_mut(self.process().id()) {
            control.registers = None;
        }
    }
}
