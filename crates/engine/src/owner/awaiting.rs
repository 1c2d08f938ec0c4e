//! Lets a step wait until a suspended future is resumed or dropped. A debug register watches the number that tells the future's state: both
//! read it first, on whichever thread, and nothing else does. So other tasks that run the same code aren't slowed down, and code that was
//! inlined is noticed too.

use super::Owner;
use super::activity::Activity;
use super::stepping::Dropped;
use crate::breakpoints::site::Reason;
use crate::event::StopReason;
use crate::step::{Action, Touch};
use crate::stops::{How, Mode};
use crate::{Address, ThreadId, step};
use dapple_arch::registers::user::UserRegisters;
use dapple_arch::watch_slots::Slot;
use dapple_inspect::frame::FrameId;
use dapple_inspect::inspect::Inspect;
use dapple_inspect::unwind;
use dapple_inspect::values::coroutines::Activation;
use dapple_inspect::values::coroutines::made::MadeFuture;

/// How many coroutines of libraries are looked through for one of the user's.
const MOST_AWAITERS: usize = 16;

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

    /// The user's coroutine that awaits a C++ coroutine, directly or through coroutines of libraries.
    pub(super) fn awaiter_of(&self, own: &Activation) -> Option<Activation> {
        let mut next = own.continuation(&self.reader());
        for _ in 0..MOST_AWAITERS {
            let found = next.filter(|found| found.state != own.state)?;
            if step::is_users_coroutine(&found, &self.places, self.modules()) {
                return Some(found);
            }
            next = found.continuation(&self.reader());
        }
        None
    }

    /// A step begins: watches for the resumption of the C++ coroutines that it is about.
    pub(super) fn watch_coroutines(&mut self) {
        let stepping = self.activity.step();
        let coroutines = stepping.map(|stepping| stepping.step.coroutines());
        let slots: Vec<Slot> = coroutines.into_iter().flatten().map(slot_of).collect();
        if !slots.is_empty() {
            self.watches.of_states = slots;
            self.watch();
        }
    }

    /// Stops watching the states of coroutines for the step.
    pub(super) fn watch_no_states(&mut self) {
        if !std::mem::take(&mut self.watches.of_states).is_empty() {
            let _ = self.share_slots();
        }
    }

    /// Whether each state that the step waits for has a debug register.
    pub(super) fn watches_states(&self) -> bool {
        let mut slots = self.watches.of_states.iter();
        slots.all(|slot| self.watches.table.mask(&[*slot]) != 0)
    }

    /// The future is suspended whose body `thread` has stepped through: lets the program run until that is resumed.
    pub(super) fn await_resumption(&mut self, thread: ThreadId) {
        let Some(stepping) = self.activity.take_step() else {
            return;
        };
        let mut states: Vec<&Activation> = stepping.step.coroutines().collect();
        if states.is_empty() {
            states.extend(stepping.step.awaited());
        }
        let is_read = states.iter().all(|state| state.is_read_first());
        self.watches.of_states = states.into_iter().map(slot_of).collect();
        self.activity = Activity::Await(stepping);
        // Without a free debug register, the step waits at the entry of the body.
        self.watch();
        let is_watched = self.watches_states() && is_read;
        if !is_watched && !self.wait_at_entry() {
            self.end_step();
            return self.report(thread, StopReason::NotAwaited);
        }
        self.wait_for_made();
        if self.mode() == Mode::Running {
            self.run_on(thread, How::Continue);
        }
    }

    /// A step into a future that a function was given is behind that function's prologue, in `thread`: lets the program run until the
    /// future's body begins.
    pub(super) fn follow_future(&mut self, thread: ThreadId) {
        let (Some(registers), Some(mut stepping)) =
            (self.registers(thread), self.activity.take_step())
        else {
            return;
        };
        let frame = unwind::innermost(registers.to_dwarf(), self.modules(), self.memory());
        let parameter = stepping.step.followed_parameter();
        let made = parameter.and_then(|it| MadeFuture::given(&self.reader(), frame, it));
        let entry = made.as_ref().map(|made| made.entry);
        stepping.made = made;
        self.watch_no_states();
        self.activity = Activity::Await(stepping);
        let inserted = entry.map(|entry| self.insert_site(entry, Reason::Step).is_ok());
        if inserted != Some(true) {
            self.end_step();
            return self.report(thread, StopReason::NotAwaited);
        }
        if self.mode() == Mode::Running {
            self.run_on(thread, How::Continue);
        }
    }

    /// A thread with these registers is at a site of the step. If that is where the body of the followed future begins, the step goes on in
    /// the thread: `true`.
    fn began_followed(&mut self, thread: ThreadId, registers: UserRegisters) -> bool {
        let Activity::Await(stepping) = &self.activity else {
            return false;
        };
        let is_there = stepping.made.as_ref().is_some_and(|made| {
            made.entry == registers.pc() && made.is_begun(&registers.to_dwarf(), self.memory())
        });
        let Some(mut stepping) = is_there.then(|| self.activity.take_awaiting()).flatten() else {
            return false;
        };
        stepping.made = None;
        let action = stepping.step.begins_future(&self.context(registers));
        stepping.go_on_in(thread, action, registers.pc());
        self.activity = Activity::Step(stepping);
        self.watch_no_return();
        self.remove_sites(Reason::Step);
        true
    }

    /// A step into that waits may also end where a coroutine begins that it has made.
    fn wait_for_made(&mut self) {
        let Activity::Await(stepping) = &self.activity else {
            return;
        };
        if let Some(begin) = stepping.step.made()
            && let Err(error) = self.insert_site(begin, Reason::Step)
        {
            tracing::warn!(%begin, %error, "a step can't stop where a coroutine begins");
        }
    }

    /// A thread is at a site of the step. If that is where a coroutine begins that the step into of this thread has made, the step ends:
    /// `true`.
    pub(super) fn began_made(&mut self, thread: ThreadId, at: Address) -> bool {
        let Activity::Await(stepping) = &self.activity else {
            return false;
        };
        let is_there = stepping.thread == thread && stepping.step.made() == Some(at);
        if is_there {
            self.report(thread, StopReason::Step);
        }
        is_there
    }

    /// Without a free debug register, the step waits at the entry of the body, where each resumption of each future of this kind stops for
    /// a moment. That a Rust future is dropped isn't noticed. `false`: the body has no entry of its own, or no site can be inserted there.
    pub(super) fn wait_at_entry(&mut self) -> bool {
        let Activity::Await(stepping) = &self.activity else {
            return false;
        };
        let mut entries: Vec<Address> = Vec::new();
        for frame in stepping
            .step
            .coroutines()
            .filter_map(|it| it.frame.as_ref())
        {
            entries.extend([frame.resume, frame.destroy]);
        }
        if entries.is_empty() {
            self.watch_no_states();
            let Activity::Await(stepping) = &self.activity else {
                return false;
            };
            entries.extend(stepping.step.awaited_entry(&self.places, self.modules()));
        }
        let entries = entries.into_iter();
        let inserted = entries.map(|entry| self.insert_site(entry, Reason::Step).is_ok());
        inserted.fold(None, |all: Option<bool>, one| {
            Some(all.unwrap_or(true) && one)
        }) == Some(true)
    }

    /// A thread is at a site of the step. If that is the entry of the body that the step waits for, called for the awaited future, the step
    /// goes on in the thread: `true`.
    pub(super) fn entered_body(&mut self, thread: ThreadId) -> bool {
        let registers = self.registers(thread);
        let (Activity::Await(stepping), Some(registers)) = (&self.activity, registers) else {
            return false;
        };
        if stepping.made.is_some() {
            return self.began_followed(thread, registers);
        }
        let argument = registers.argument(0);
        let entered = |it: &Activation| Some(it.state.0) == argument;
        let Some(state) = stepping.step.find_activation(entered).map(|it| it.state) else {
            return false;
        };
        if self.touched_at(thread, registers.pc(), state) {
            self.remove_sites(Reason::Step);
        }
        true
    }

    /// A thread has made an access that the debug registers `hits` watch. If a step waits for that access, the step goes on in the thread.
    pub(super) fn state_is_touched(&mut self, thread: ThreadId, hits: u64) {
        let touched = |slot: &Slot| self.watches.table.mask(&[*slot]) & hits != 0;
        let Some(slot) = self.watches.of_states.iter().copied().find(touched) else {
            return;
        };
        let step = match &self.activity {
            Activity::Await(stepping) | Activity::Step(stepping) => &stepping.step,
            _ => return,
        };
        let watched = |it: &Activation| it.discriminant.0 == slot.address;
        let Some(state) = step.find_activation(watched).map(|it| it.state) else {
            return;
        };
        self.leave_copy(thread);
        // The processor reports the access after its instruction.
        let at = self
            .registers(thread)
            .map(|registers| registers.pc().offset(-1));
        if let Some(at) = at {
            self.touched_at(thread, at, state);
        }
    }

    /// A thread does something with the future at `state`, which a step waits for, by the instruction that has the byte `at`. `true`: the
    /// step goes on in the thread.
    fn touched_at(&mut self, thread: ThreadId, at: Address, state: Address) -> bool {
        let Some(registers) = self.registers(thread) else {
            return false;
        };
        let (mut stepping, waited) = match self.activity.take_awaiting() {
            Some(stepping) => (stepping, true),
            None => match self.activity.take_step() {
                Some(stepping) => (stepping, false),
                None => return false,
            },
        };
        let touched = stepping.step.find_activation(|it| it.state == state);
        let is_frame = touched.is_some_and(|it| it.frame.is_some());
        let place = touched.and_then(|activation| {
            let place = activation.suspended_at(self.memory()).cloned();
            Some((activation.function.clone(), place?))
        });
        let context = self.context(registers);
        let touch = match is_frame {
            true => stepping.step.frame_touched(&context, at, state),
            false => stepping.step.touched(&context, at),
        };
        match touch {
            Touch::Resumed(action) => stepping.go_on_in(thread, action, registers.pc()),
            Touch::Dropped(action) => {
                stepping.dropped = place.map(|(function, place)| Dropped {
                    function,
                    place,
                    is_frame,
                });
                let action = match action {
                    Action::Run => Action::Finished,
                    action => action,
                };
                stepping.go_on_in(thread, action, registers.pc());
            }
            Touch::Other => {
                self.activity = match waited {
                    true => Activity::Await(stepping),
                    false => Activity::Step(stepping),
                };
                return false;
            }
        }
        let is_cpp = stepping.step.coroutines().next().is_some();
        self.activity = Activity::Step(stepping);
        self.watch_no_return();
        if !is_cpp {
            self.watch_no_states();
        }
        // A thread that has stepped so far runs on.
        self.remove_sites(Reason::Step);
        true
    }
}

/// What a debug register watches to notice that a future is resumed.
fn slot_of(activation: &Activation) -> Slot {
    Slot {
        address: activation.discriminant.0,
        length: activation.size,
        reads: true,
    }
}
