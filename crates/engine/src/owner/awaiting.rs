//! Lets a step wait until a suspended future is resumed or dropped. A debug register watches the number that tells the future's state: both
//! read it first, on whichever thread, and nothing else does. So other tasks that run the same code aren't slowed down, and code that was
//! inlined is noticed too.

use super::Owner;
use super::activity::Activity;
use crate::breakpoints::site::Reason;
use crate::event::StopReason;
use crate::step::{Action, Touch};
use crate::stops::{How, Mode};
use crate::{Address, ThreadId, step};
use dapple_arch::abi::FIRST_ARGUMENT;
use dapple_arch::watch_slots::Slot;
use dapple_inspect::frame::FrameId;
use dapple_inspect::inspect::Inspect;
use dapple_inspect::values::coroutines::Activation;

impl Owner {
    /// The activation of the asynchronous function that a stopped thread runs, in its innermost frame or around calls inlined into it.
    pub(super) fn activation_of(&mut self, thread: ThreadId) -> Option<Activation> {
        let registers = self.registers(thread)?;
        let inlined = step::calls_in_coroutine(&self.context(registers))?;
        let stop = self.stop_number();
        for index in 0..=inlined {
            let id = FrameId {
                stop,
                thread,
                index,
            };
            let frame = self.frame(id).ok()?;
            if let Some(activation) = Activation::of_frame(&self.reader(), &frame) {
                return Some(activation);
            }
        }
        None
    }

    /// The future is suspended whose body `thread` has stepped through: lets the program run until that is resumed.
    pub(super) fn await_resumption(&mut self, thread: ThreadId) {
        let Some(stepping) = self.activity.take_step() else {
            return;
        };
        let slot = stepping.step.awaited().map(|activation| Slot {
            address: activation.discriminant.0,
            length: activation.size,
            reads: true,
        });
        self.activity = Activity::Await(stepping);
        self.watches.of_step = slot;
        // Without a free debug register, it makes the step wait at the entry of the body.
        self.watch();
        let is_watched = self.watches.of_step.is_some();
        if !is_watched && !self.wait_at_entry() {
            self.end_step();
            return self.report(thread, StopReason::NotAwaited);
        }
        if self.mode() == Mode::Running {
            self.run_on(thread, How::Continue);
        }
    }

    /// Without a free debug register, the step waits at the entry of the body, where each resumption of each future of this kind stops for
    /// a moment. That the future is dropped isn't noticed. `false`: the body has no entry of its own, or no site can be inserted there.
    pub(super) fn wait_at_entry(&mut self) -> bool {
        self.watch_no_return();
        let Activity::Await(stepping) = &self.activity else {
            return false;
        };
        let entry = stepping.step.awaited_entry(&self.places, self.modules());
        entry.is_some_and(|entry| self.insert_site(entry, Reason::Step).is_ok())
    }

    /// A thread is at a site of the step. If that is the entry of the body that the step waits for, called for the awaited future, the step
    /// goes on in the thread: `true`.
    pub(super) fn entered_body(&mut self, thread: ThreadId) -> bool {
        let registers = self.registers(thread);
        let (Activity::Await(stepping), Some(registers)) = (&self.activity, registers) else {
            return false;
        };
        let state = stepping.step.awaited().map(|activation| activation.state.0);
        if state.is_none() || registers.to_dwarf().get(FIRST_ARGUMENT) != state {
            return false;
        }
        self.touched_at(thread, registers.pc());
        self.remove_sites(Reason::Step);
        true
    }

    /// A thread has made an access that the debug registers `hits` watch. If a step waits for that access, the step goes on in the thread.
    pub(super) fn state_is_touched(&mut self, thread: ThreadId, hits: u64) {
        let Activity::Await(_) = self.activity else {
            return;
        };
        let slot = self.watches.of_step;
        if slot.is_none_or(|slot| self.watches.table.mask(&[slot]) & hits == 0) {
            return;
        }
        self.leave_copy(thread);
        // The processor reports the access after its instruction.
        let at = self
            .registers(thread)
            .map(|registers| registers.pc().offset(-1));
        if let Some(at) = at {
            self.touched_at(thread, at);
        }
    }

    /// A thread does something with the future that a step waits for, by the instruction that has the byte `at`.
    fn touched_at(&mut self, thread: ThreadId, at: Address) {
        let Some(registers) = self.registers(thread) else {
            return;
        };
        let Some(mut stepping) = self.activity.take_awaiting() else {
            return;
        };
        let place = stepping.step.awaited().and_then(|activation| {
            let place = activation.suspended_at(self.memory()).cloned();
            Some((activation.function.clone(), place?))
        });
        match stepping.step.touched(&self.context(registers), at) {
            Touch::Resumed(action) => stepping.go_on_in(thread, action, registers.pc()),
            Touch::Dropped(action) => {
                stepping.dropped = place;
                let action = match action {
                    Action::Run => Action::Finished,
                    action => action,
                };
                stepping.go_on_in(thread, action, registers.pc());
            }
            Touch::Other => {
                self.activity = Activity::Await(stepping);
                return;
            }
        }
        self.activity = Activity::Step(stepping);
        self.watch_no_return();
    }
}
