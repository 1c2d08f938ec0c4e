//! The purpose for which the debuggee runs: a step, an inferior call, or neither.
//!
//! There is one activity at a time. During an inferior call, no command is served and no step is under way: if a breakpoint's condition or
//! message makes the call, the step is put aside until the call has returned ([`super::breakpoint_calls`]). For each event that activities
//! handle differently, this module has a method with an arm for each activity.

use super::Owner;
use super::backwards::Backwards;
use super::inferior_calls::InferiorCall;
use super::stepping::Stepping;
use super::travel::Travel;
use crate::breakpoints::site::Reason;
use crate::event::StopReason;
use crate::stops::How;
use crate::{Address, ThreadId};
use dapple_target::wait_event::WaitEvent;

#[derive(Debug, Default)]
pub(super) enum Activity {
    #[default]
    Free,
    Step(Box<Stepping>),
    /// A step waits until a future is resumed ([`super::awaiting`]). No thread runs for it.
    Await(Box<Stepping>),
    Call(InferiorCall),
    /// A search in the past.
    Travel(Box<Travel>),
    /// The process runs backwards, behind a stub that can do that.
    Backwards(Box<Backwards>),
}

impl Activity {
    pub(super) fn step(&self) -> Option<&Stepping> {
        match self {
            Activity::Step(step) => Some(step),
            _ => None,
        }
    }

    pub(super) fn step_mut(&mut self) -> Option<&mut Stepping> {
        match self {
            Activity::Step(step) => Some(step),
            _ => None,
        }
    }

    /// The step, if there is one and `thread` is the thread that steps.
    pub(super) fn step_of(&mut self, thread: ThreadId) -> Option<&mut Stepping> {
        self.step_mut().filter(|step| step.thread == thread)
    }

    pub(super) fn is_step_of(&self, thread: ThreadId) -> bool {
        self.step().is_some_and(|step| step.thread == thread)
    }

    /// Removes and returns the step, if there is one. An inferior call stays.
    pub(super) fn take_step(&mut self) -> Option<Box<Stepping>> {
        match std::mem::take(self) {
            Activity::Step(step) => Some(step),
            other => {
                *self = other;
                None
            }
        }
    }

    /// Takes the step out that waits for a future, if there is one.
    pub(super) fn take_awaiting(&mut self) -> Option<Box<Stepping>> {
        match std::mem::take(self) {
            Activity::Await(step) => Some(step),
            other => {
                *self = other;
                None
            }
        }
    }

    pub(super) fn call(&self) -> Option<&InferiorCall> {
        match self {
            Activity::Call(call) => Some(call),
            _ => None,
        }
    }

    pub(super) fn call_mut(&mut self) -> Option<&mut InferiorCall> {
        match self {
            Activity::Call(call) => Some(call),
            _ => None,
        }
    }

    pub(super) fn is_call(&self) -> bool {
        self.call().is_some()
    }

    /// Whether `thread` runs the function of an inferior call.
    pub(super) fn is_call_of(&self, thread: ThreadId) -> bool {
        self.call().is_some_and(|call| call.thread == thread)
    }
}

impl Owner {
    /// The search in the past that is under way.
    pub(super) fn search(&self) -> Option<&Travel> {
        match &self.activity {
            Activity::Travel(travel) => Some(travel),
            _ => None,
        }
    }

    /// As [`Owner::search`], to be changed.
    pub(super) fn search_mut(&mut self) -> Option<&mut Travel> {
        match &mut self.activity {
            Activity::Travel(travel) => Some(travel),
            _ => None,
        }
    }

    /// Takes the search out that is under way.
    pub(super) fn take_travel(&mut self) -> Option<Box<Travel>> {
        match std::mem::take(&mut self.activity) {
            Activity::Travel(travel) => Some(travel),
            other => {
                self.activity = other;
                None
            }
        }
    }

    /// A search begins, or goes on.
    pub(super) fn begin_travel(&mut self, travel: impl Into<Box<Travel>>) {
        self.activity = Activity::Travel(travel.into());
    }

    /// What the process runs backwards for, if it does.
    pub(super) fn backwards(&self) -> Option<&Backwards> {
        match &self.activity {
            Activity::Backwards(backwards) => Some(backwards),
            _ => None,
        }
    }

    /// As [`Owner::backwards`], to be changed.
    pub(super) fn backwards_mut(&mut self) -> Option<&mut Backwards> {
        match &mut self.activity {
            Activity::Backwards(backwards) => Some(backwards),
            _ => None,
        }
    }

    /// The process runs backwards from now on, or no more.
    pub(super) fn set_running_backwards(&mut self, backwards: Option<Backwards>) {
        self.activity = match backwards {
            Some(backwards) => Activity::Backwards(Box::new(backwards)),
            None => Activity::Free,
        };
    }

    /// Whether a function of the program is being called.
    pub(super) fn is_calling(&self) -> bool {
        self.activity.is_call()
    }

    /// Whether a thread runs the function of an inferior call.
    pub(super) fn is_calling_on(&self, thread: ThreadId) -> bool {
        self.activity.is_call_of(thread)
    }

    /// Whether a thread runs for a step, which no future has suspended.
    pub(super) fn has_stepping_thread(&self) -> bool {
        self.activity.step().is_some()
    }

    /// Whether a thread is the one that steps.
    pub(super) fn is_stepping(&self, thread: ThreadId) -> bool {
        self.activity.is_step_of(thread)
    }

    /// Whether a thread executes one instruction now, for the step under way.
    pub(super) fn is_single_stepping(&self, thread: ThreadId) -> bool {
        let step = self.activity.step();
        step.is_some_and(|step| step.is_single(thread))
    }

    /// The addresses at which the step under way needs its thread to stop. Empty if there is no step.
    pub(super) fn step_sites(&self) -> Vec<Address> {
        let sites = self.activity.step().map(Stepping::sites);
        sites.unwrap_or_default()
    }

    /// Called when the kernel has reported an event, before the reducer ([`crate::stops`]) handles it. Only inferior calls need that.
    pub(super) fn activity_notices(&mut self, event: WaitEvent) {
        match &self.activity {
            Activity::Call(_) => self.noticed_in_call(event),
            Activity::Free
            | Activity::Step(_)
            | Activity::Await(_)
            | Activity::Travel(_)
            | Activity::Backwards(_) => {}
        }
    }

    /// Called when a thread has a reason to stop. Returns the reason if it is to be reported. `None`: an inferior call has dealt with it.
    pub(super) fn activity_reports(
        &mut self,
        thread: ThreadId,
        reason: StopReason,
    ) -> Option<StopReason> {
        match &self.activity {
            Activity::Call(_) => {
                self.stopped_in_call(thread, reason);
                None
            }
            // What ends a step is decided once all threads have stopped: another thread's stop ends it, too.
            Activity::Free
            | Activity::Step(_)
            | Activity::Await(_)
            | Activity::Travel(_)
            | Activity::Backwards(_) => Some(reason),
        }
    }

    /// Called when all threads have stopped. `true`: an inferior call has dealt with that, and nothing is to be reported.
    pub(super) fn activity_stopped(&mut self) -> bool {
        match &self.activity {
            Activity::Call(_) => {
                self.all_stopped_in_call();
                true
            }
            Activity::Travel(_) => self.travel_stopped(),
            Activity::Backwards(_) => {
                if self.is_to_report() {
                    self.end_backwards();
                }
                false
            }
            Activity::Free | Activity::Step(_) | Activity::Await(_) => false,
        }
    }

    /// Called when a thread has ended.
    pub(super) fn activity_lost(&mut self, thread: ThreadId) {
        match &self.activity {
            Activity::Call(call) if call.thread == thread => self.thread_ended_in_call(),
            // The other threads run on. The client's request to step ends with the next stop, whatever its reason.
            Activity::Step(step) if step.thread == thread => self.end_step(),
            Activity::Free
            | Activity::Step(_)
            | Activity::Await(_)
            | Activity::Call(_)
            | Activity::Travel(_)
            | Activity::Backwards(_) => {}
        }
    }

    /// Called when the process runs another program (exec), in which `thread` is the only thread.
    pub(super) fn activity_executed(&mut self, thread: ThreadId) {
        match &self.activity {
            Activity::Call(_) => self.executed_in_call(thread),
            // The step has ended with the old program.
            Activity::Free
            | Activity::Step(_)
            | Activity::Await(_)
            | Activity::Travel(_)
            | Activity::Backwards(_) => self.release(thread),
        }
    }

    /// Lets a stopped thread go on: as the step needs it if it is the stepping thread, else without a step.
    pub(super) fn activity_runs(&mut self, thread: ThreadId) {
        match &self.activity {
            Activity::Step(step) if step.thread == thread => self.step_on(thread),
            Activity::Free
            | Activity::Step(_)
            | Activity::Await(_)
            | Activity::Call(_)
            | Activity::Travel(_)
            | Activity::Backwards(_) => self.run_on(thread, How::Continue),
        }
    }

    /// Ends the step, if there is one.
    pub(super) fn end_step(&mut self) {
        let waited = self.activity.take_awaiting().is_some();
        if waited || self.activity.take_step().is_some() {
            self.watch_no_return();
            self.watch_no_states();
            self.remove_sites(Reason::Step);
        }
    }
}
