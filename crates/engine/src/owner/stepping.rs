//! Carries out what [`crate::step`] decides: single steps, emulated instructions, and runs to an address with a site of the step's own.
//! While a thread runs to an address, the landing hooks ([`super::landings`]) have sites, so that the step can follow exceptions and jumps.
//! Those sites stay from one step to the next.

use super::Owner;
use super::activity::Activity;
use crate::breakpoints::site::Reason;
use crate::event::{Stop, StopReason};
use crate::step::SkipList;
use crate::step::options::StepTarget;
use crate::step::options::{StepKind, StepOptions};
use crate::step::{self, Action, Context, Landing, Step};
use crate::stops::{How, Mode};
use crate::{Address, Error, ThreadId};
use dapple_arch::instructions::LONGEST;
use dapple_arch::registers::user::UserRegisters;
use dapple_inspect::frame::FrameId;
use dapple_inspect::inspect::Inspect;
use dapple_inspect::tasks::is_task;
use dapple_inspect::values::coroutines::made::MadeFuture;
use dapple_symbols::functions::SourcePosition;

/// The most instructions that are emulated in succession, before other events get their turn.
const MOST_EMULATED: u32 = 64;
/// A step under way.
#[derive(Debug)]
pub(super) struct Stepping {
    pub(super) thread: ThreadId,
    pub(super) step: Step,
    /// What the thread does now.
    doing: Action,
    /// Where the single step under way began.
    from: Address,
    /// The step's first action was begun, and breakpoints where the thread stood were checked.
    begun: bool,
    /// Where the step began (address and stack pointer), if a site is there and a signal is delivered first. When the signal's handler
    /// returns there, the breakpoints there don't stop the thread: the user has seen the place.
    seen: Option<(Address, u64)>,
    /// Set if the single step delivers a signal that has a handler: the interrupted address, and the stack pointer there.
    interrupted: Option<(Address, Address)>,
    /// The landing of an exception or jump that is under way. Because of it, the thread may never reach the address that it runs to.
    taken: Option<Taken>,
    /// The thread has done its action, but the step has not judged it yet, because all threads were being stopped.
    arrived: bool,
    /// How many instructions were emulated since the thread last ran.
    emulated: u32,
    /// How often the thread has stopped in an inner activation of the call that is stepped over, since the step last tried to wait with a
    /// debug register ([`super::recursion`]).
    pub(super) inside: u32,
    /// The requested step. Set while the thread is first brought out of the sanitizer's runtime, where it had stopped at a report.
    then: Option<(StepKind, StepOptions)>,
    /// The future that the step waited for is being dropped.
    pub(super) dropped: Option<Dropped>,
    /// The future whose beginning the step waits for.
    pub(super) made: Option<MadeFuture>,
}

/// A future that is being dropped, or a C++ coroutine that is being destroyed.
#[derive(Debug)]
pub(super) struct Dropped {
    pub function: String,
    /// Where it was suspended.
    pub place: SourcePosition,
    /// It is a C++ coroutine.
    pub is_frame: bool,
}

/// The landing of an exception or jump that is under way.
#[derive(Debug, Clone, Copy)]
struct Taken {
    /// The address at which it lands.
    to: Address,
    how: Landing,
    /// The stack pointer at the landing hook, before the landing.
    from: Address,
}

impl Stepping {
    /// A step of `thread`, which is at `from`.
    pub(super) fn new(thread: ThreadId, step: Step, doing: Action, from: Address) -> Stepping {
        Stepping {
            thread,
            step,
            doing,
            from,
            begun: false,
            seen: None,
            interrupted: None,
            taken: None,
            arrived: false,
            emulated: 0,
            inside: 0,
            then: None,
            dropped: None,
            made: None,
        }
    }

    /// The future that the step waited for was resumed or dropped by `thread`, which is at `at`.
    pub(super) fn go_on_in(&mut self, thread: ThreadId, doing: Action, at: Address) {
        self.thread = thread;
        self.doing = doing;
        self.from = at;
        self.seen = None;
        self.interrupted = None;
        self.taken = None;
        self.arrived = false;
        self.inside = 0;
    }

    /// Whether `thread` executes a single instruction for this step.
    pub(super) fn is_single(&self, thread: ThreadId) -> bool {
        self.thread == thread && self.doing == Action::SingleStep
    }

    /// The stepping thread has come to `at`, where a breakpoint has yet to decide whether the thread stops. If it doesn't stop, the step
    /// goes on from `at`. `its_site`: the step has a site or a landing hook at `at`.
    pub(super) fn was_asked(&mut self, at: Address, its_site: bool) {
        match self.doing {
            Action::SingleStep => {
                self.from = at;
                self.arrived = true;
            }
            _ => self.arrived |= its_site,
        }
    }

    /// As [`Stepping::was_asked`], but it is a watchpoint that has yet to decide. `from` stays, so that the step then checks the
    /// breakpoints at the thread's address.
    pub(super) fn was_asked_of_access(&mut self) {
        self.arrived |= self.doing == Action::SingleStep;
    }

    /// The address at which an exception or jump will land.
    pub(super) fn landing(&self) -> Option<Address> {
        self.taken.map(|taken| taken.to)
    }

    /// The addresses at which the thread has to stop for this step.
    pub(super) fn sites(&self) -> Vec<Address> {
        let end = match self.doing {
            Action::RunTo { address, .. } => Some(address),
            _ => None,
        };
        end.into_iter()
            .chain(self.step.gates())
            .chain(self.landing())
            .collect()
    }

    /// The stepping thread, and how many inlined calls that begin at the step's end are not entered.
    pub(super) fn ends_before(&self) -> (ThreadId, usize) {
        (self.thread, self.step.before())
    }
}

impl Owner {
    pub(crate) fn start_step(
        &mut self,
        thread: ThreadId,
        kind: StepKind,
        options: StepOptions,
    ) -> Result<(), Error> {
        if is_task(thread) {
            return self.start_task_step(thread, kind, options);
        }
        self.require_thread(thread)?;
        self.drop_kept();
        if self.tell_put_off() {
            return Ok(());
        }
        let registers = self.registers(thread).ok_or(Error::NoSuchThread(thread))?;
        let before = self.calls_not_entered(thread);
        let activation = self.activation_of(thread);
        let awaiter = activation.as_ref().and_then(|own| self.awaiter_of(own));
        let context = self.context(registers);
        if kind == StepKind::Into
            && let Some(before) = step::enters_inlined(&context, before, options.target)
        {
            // The inlined code begins where the thread is: no instruction has to run.
            self.show([(thread, before)], []);
            self.tell_stops(vec![Stop {
                thread,
                address: registers.pc(),
                reason: StopReason::Step,
            }]);
            return Ok(());
        }
        let from = registers.pc();
        // At a sanitizer's report or a panic, the user is shown the frame with the error. From a report it goes on there; from a panic, where that
        // is caught.
        let is_report = self.exceptions.reports_at(from);
        let leaves = (is_report || self.exceptions.panics_at(from)) && kind.is_by_line();
        let leaving = leaves.then(|| Step::out_to_users(&context, options.pace));
        let leaving = leaving.filter(|(_, doing)| *doing != Action::Run);
        let then = (leaving.is_some() && is_report).then_some((kind, options));
        let begin = || Step::begin(kind, &context, before, options, activation, awaiter);
        let (step, doing) = leaving.unwrap_or_else(begin);
        self.activity = Activity::Step(Box::new(Stepping {
            then,
            ..Stepping::new(thread, step, doing, from)
        }));
        self.watch_coroutines();
        if options.alone {
            return self.resume_only(thread);
        }
        self.resume_all();
        Ok(())
    }

    /// Lets all threads go on for a step.
    pub(super) fn begin(&mut self, stepping: Stepping) {
        self.activity = Activity::Step(Box::new(stepping));
        self.resume_all();
    }

    pub(crate) fn set_skip(&mut self, list: SkipList) {
        self.places.skip(list);
    }

    pub(crate) fn step_targets(&mut self, frame: FrameId) -> Result<Vec<StepTarget>, Error> {
        let thread = self.frame(frame)?.id.thread;
        self.require_thread(thread)?;
        if frame.index > 0 {
            return Err(Error::Refused(
                "only what the innermost frame calls can be stepped into; this one waits for a call to return".into(),
            ));
        }
        let registers = self.registers(thread).ok_or(Error::NoSuchThread(thread))?;
        let before = self.calls_not_entered(thread);
        Ok(step::targets(&self.context(registers), before))
    }

    pub(super) fn context(&self, registers: UserRegisters) -> Context<'_> {
        Context {
            registers: registers.to_dwarf(),
            modules: self.modules(),
            memory: self.memory(),
            places: &self.places,
        }
    }

    /// Lets the stepping thread go on, at the step's start or after a stop that isn't reported. If the thread has done its action, the step
    /// judges that first.
    pub(super) fn step_on(&mut self, thread: ThreadId) {
        let arrived = self
            .activity
            .step_mut()
            .is_some_and(|stepping| std::mem::take(&mut stepping.arrived));
        if arrived {
            self.stepped(thread);
        } else {
            self.release_stepping(thread);
        }
    }

    /// The program goes on: forgets the last step's return value. Unless it goes on for a step, takes out the sites at landing hooks, which
    /// stay only from one step to the next.
    pub(super) fn settle_steps(&mut self) {
        self.set_returned(None);
        if self.activity.step().is_none() {
            self.remove_sites(Reason::Hook);
        }
    }

    /// Lets the stepping thread do the step's next action.
    pub(super) fn release_stepping(&mut self, thread: ThreadId) {
        let Some(registers) = self.registers(thread) else {
            return;
        };
        let (pc, signal) = (registers.pc(), self.control(thread).signal);
        let begins = self.activity.step_mut();
        let begins = begins.is_some_and(|step| !std::mem::replace(&mut step.begun, true));
        let unasked = begins && self.is_unasked(thread, pc);
        if signal == 0 && unasked {
            self.control(thread).passed = Some(pc);
            self.handle_internal_sites(thread, pc);
            let reason = self.stop_reason_at(thread, pc);
            if let Some(reason) = reason.filter(|reason| !reason.is_about_place()) {
                return self.report(thread, reason);
            }
        }
        let steps = self.activity.step();
        let steps = steps.is_some_and(|step| matches!(step.doing, Action::SingleStep));
        let catches = steps && signal != 0 && self.process().catches(signal);
        let Some(stepping) = self.activity.step_mut() else {
            return;
        };
        if signal != 0 && unasked {
            stepping.seen = Some((pc, registers.sp()));
        }
        match stepping.doing {
            Action::SingleStep => {
                stepping.from = pc;
                if catches {
                    stepping.interrupted = Some((pc, Address(registers.sp())));
                }
                if signal == 0 && stepping.step.may_emulate() && stepping.emulated < MOST_EMULATED {
                    stepping.emulated += 1;
                    if self.emulate(thread, registers) {
                        return self.stepped(thread);
                    }
                }
                if let Some(stepping) = self.activity.step_mut() {
                    stepping.emulated = 0;
                }
                self.run_on(thread, How::Step);
            }
            Action::RunTo { address, .. } => {
                stepping.emulated = 0;
                let gates: Vec<Address> = stepping.step.gates().collect();
                if let Err(error) = self.insert_site(address, Reason::Step) {
                    tracing::warn!(%address, %error, "a step can't go on where it should");
                    return self.report(thread, StopReason::Step);
                }
                for gate in gates {
                    if let Err(error) = self.insert_site(gate, Reason::Step) {
                        tracing::warn!(%gate, %error, "a step can't stop where a library calls");
                    }
                }
                self.insert_landing_hooks(Reason::Hook, "a step");
                self.run_on(thread, How::Continue);
            }
            Action::Await => self.await_resumption(thread),
            Action::Follow => self.follow_future(thread),
            Action::Finished => match (stepping.then.take(), stepping.dropped.take()) {
                (Some((kind, options)), _) => self.begin_behind_report(thread, kind, options),
                (None, Some(dropped)) => {
                    let (function, place) = (dropped.function, dropped.place);
                    let reason = match dropped.is_frame {
                        true => StopReason::CoroutineDestroyed { function, place },
                        false => StopReason::FutureDropped { function, place },
                    };
                    self.report(thread, reason);
                }
                (None, None) => self.report(thread, StopReason::Step),
            },
            Action::Run => {
                self.end_step();
                self.run_on(thread, How::Continue);
            }
        }
    }

    /// The thread has left the sanitizer's runtime and is in the user's code: the requested step begins there.
    fn begin_behind_report(&mut self, thread: ThreadId, kind: StepKind, options: StepOptions) {
        let Some(registers) = self.registers(thread) else {
            return;
        };
        self.set_returned(None);
        let (step, doing) = Step::begin(kind, &self.context(registers), 0, options, None, None);
        if let Some(stepping) = self.activity.step_mut() {
            stepping.step = step;
            stepping.doing = doing;
            stepping.from = registers.pc();
        }
        self.release_stepping(thread);
    }

    /// A thread has executed a single instruction, or the stepping thread has come to a site of the step or a landing hook. A thread that
    /// isn't stepping is resumed.
    pub(super) fn stepped(&mut self, thread: ThreadId) {
        if self.mode() != Mode::Running {
            // Another stop is under way. It ends the step, unless it is for the debugger's own purposes.
            if let Some(stepping) = self.activity.step_of(thread) {
                stepping.arrived = true;
            }
            return;
        }
        let Some(registers) = self.registers(thread) else {
            return;
        };
        let pc = registers.pc();
        if !self.activity.is_step_of(thread) {
            return self.release(thread);
        }
        let Some(mut stepping) = self.activity.take_step() else {
            return;
        };
        let entered_handler =
            stepping.interrupted.is_some() && stepping.doing == Action::SingleStep;
        let next = match (stepping.doing, stepping.interrupted.take()) {
            (Action::RunTo { address, height }, _) => {
                let next = self.came_to_step_site(&mut stepping, &registers, address, height);
                let Some(next) = next else {
                    self.activity = Activity::Step(stepping);
                    return self.run_on(thread, How::Continue);
                };
                next
            }
            (_, Some((pc, sp))) => stepping.step.signal_handler_entered(pc, sp),
            (_, None) => {
                self.control(thread).passed = Some(pc);
                if pc != stepping.from {
                    self.handle_internal_sites(thread, pc);
                    if let Some(reason) = self.stop_reason_at(thread, pc) {
                        self.activity = Activity::Step(stepping);
                        return self.report(thread, reason);
                    }
                }
                stepping.step.after(&self.context(registers))
            }
        };
        stepping.doing = next;
        self.activity = Activity::Step(stepping);
        if !entered_handler {
            // Breakpoints at this address were checked.
            self.control(thread).passed = Some(pc);
        }
        self.release_stepping(thread);
    }

    /// The stepping thread, which runs to `address` with the stack pointer at `height` (`None`: at any), has come to a site of its step
    /// or a landing hook. Returns the next action; `None`: the thread has to run on to `address`.
    fn came_to_step_site(
        &mut self,
        stepping: &mut Stepping,
        registers: &UserRegisters,
        address: Address,
        height: Option<Address>,
    ) -> Option<Action> {
        let (pc, sp) = (registers.pc(), Address(registers.sp()));
        let arrived = pc == address && height.is_none_or(|height| sp == height);
        // Also checked at `address`: the landing pad may be right behind a call that never returns.
        let taken = stepping.taken.filter(|taken| taken.to == pc);
        let landed = taken.filter(|taken| self.leaves(*taken, height, sp));
        if arrived || landed.is_some() {
            self.forget_sites(stepping, address);
            if let Some(taken) = landed {
                let context = self.context(*registers);
                return Some(stepping.step.landed(&context, taken.how, stepping.doing));
            }
            if let Some(left) = stepping.step.take_left(self.memory()) {
                self.note_returned(stepping.thread, left);
            }
            return Some(stepping.step.after(&self.context(*registers)));
        }
        if let Some(action) = stepping.step.at_gate(&self.context(*registers)) {
            self.forget_sites(stepping, address);
            // The step no longer knows the exits among which this one is.
            self.remove_sites(Reason::Step);
            return Some(action);
        }
        // The thread is in another activation of the function, or at a landing hook.
        self.land_next(stepping, registers);
        let site = self.site(pc);
        if site.is_some_and(|site| site.has(Reason::Step))
            && let Some(height) = height.filter(|height| sp < *height)
        {
            self.returned_inside(stepping, address, height);
        }
        None
    }

    /// Whether a signal handler has returned a thread to where its step began. The user has seen that place: breakpoints there don't stop
    /// the thread again. `true` only once.
    pub(super) fn is_seen(&mut self, thread: ThreadId, at: Address, sp: u64) -> bool {
        let stepping = self.activity.step_of(thread);
        let seen = stepping.and_then(|stepping| stepping.seen.take_if(|seen| *seen == (at, sp)));
        seen.is_some()
    }

    /// Emulates the next instruction if it transfers control or has no effect (`nop`, `endbr64`), without running the thread. `false`: it
    /// is another instruction, or memory that it needs can't be accessed.
    fn emulate(&mut self, thread: ThreadId, registers: UserRegisters) -> bool {
        let pc = registers.pc();
        let (buffer, length) = self.code_at(pc);
        let after = self.emulated_at(pc, &buffer[..length], &registers);
        if let Some(after) = after {
            self.set_registers(thread, after);
            self.emulated(thread, registers, after);
            self.frames_ended(thread);
        }
        after.is_some()
    }

    /// The code at an address, from the module's file if that can be told, and how much there is.
    pub(super) fn code_at(&self, pc: Address) -> ([u8; LONGEST], usize) {
        let mut buffer = [0; LONGEST];
        let mut length = 0;
        if let Some(module) = self.modules().at(pc) {
            let code = module.code_in_file(module.to_file(pc), buffer.len());
            length = code.len();
            buffer[..length].copy_from_slice(code);
        }
        if length == 0 {
            length = self.memory().read_some(pc, &mut buffer);
        }
        (buffer, length)
    }

    /// The thread has come to where the step goes on, at `address` or elsewhere: takes out the sites of its run.
    fn forget_sites(&mut self, stepping: &mut Stepping, address: Address) {
        self.watch_no_return();
        self.remove_site(address, Reason::Step);
        if let Some(taken) = stepping.taken.take() {
            self.remove_site(taken.to, Reason::Step);
        }
        if stepping.step.gates().next().is_some() {
            self.remove_sites(Reason::Step);
        }
    }

    /// If the thread is at a landing hook, or has landed in a frame that the step isn't about: replaces the pending landing by the next
    /// one, if its address is known.
    fn land_next(&mut self, stepping: &mut Stepping, registers: &UserRegisters) {
        let pc = registers.pc();
        let leap = self.leap(registers);
        let passed = stepping.taken.is_some_and(|taken| taken.to == pc);
        if leap.is_none() && !passed {
            return;
        }
        if let Some(old) = stepping.taken.take() {
            self.remove_site(old.to, Reason::Step);
        }
        if let Some((to, how)) = leap.and_then(|leap| Some((leap.to?, leap.how))) {
            let from = Address(registers.sp());
            match self.insert_site(to, Reason::Step) {
                Ok(()) => stepping.taken = Some(Taken { to, how, from }),
                Err(error) => {
                    tracing::warn!(%to, %error, "a step can't follow a throw or jump")
                }
            }
        }
    }

    /// Whether a thread that has landed, with the stack pointer at `sp`, has left all frames inside the one that the step waits for at
    /// `height`. Without a height, every landing counts.
    fn leaves(&self, taken: Taken, height: Option<Address>, sp: Address) -> bool {
        let Some(height) = height else {
            return true;
        };
        let deeper = sp < height;
        if deeper && taken.how == Landing::Thrown {
            // Caught in an inner frame, as most exceptions are: this saves reading the mappings.
            return false;
        }
        match self.is_one_stack(height, sp) {
            true => !deeper,
            // The landing is on another stack. The frames were left if the jump came from their stack (a signal handler's, say, to the
            // code that it has interrupted), but not if it was made on other stacks only.
            false => self.is_one_stack(height, taken.from),
        }
    }

    /// A thread has returned from a signal handler to a site whose hit was counted.
    pub(super) fn came_back(&mut self, thread: ThreadId) {
        let awaited = self
            .activity
            .step()
            .is_some_and(|s| s.thread == thread && matches!(s.doing, Action::RunTo { .. }));
        if awaited {
            return self.stepped(thread);
        }
        self.release(thread);
    }
}
