//! Runs the threads: which of them run, their registers, and how they go on.
//!
//! The owner's other modules run and stop threads by the methods here. The reducer ([`crate::stops`]) knows which threads run, and queues
//! actions; [`Owner::perform`] carries these out by [`Process`].

use super::{Owner, trap};
use crate::stops::{Action, How, Mode, Stops};
use crate::{Address, Event, ThreadId};
use dapple_arch::registers::user::UserRegisters;
use dapple_target::follow_forks::FollowForks;
use dapple_target::process::{Process, Resume};
use dapple_target::wait_event::{WaitEvent, What};

/// The most sites that a thread is expected to come back to.
const MOST_RETURNS: usize = 64;

impl Owner {
    // Which threads run, as the reducer `stops` knows it.

    pub(super) fn mode(&self) -> Mode {
        self.stops.mode()
    }

    /// Whether threads have vfork children, which use the process's memory.
    pub(super) fn has_vfork_children(&self) -> bool {
        self.stops.has_vfork_children()
    }

    /// Whether all threads are stopped.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stops.mode() == Mode::Stopped
    }

    /// The debuggee's threads that have not ended and are not exiting, oldest first.
    pub(super) fn live_threads(&self) -> impl Iterator<Item = ThreadId> {
        self.stops.live()
    }

    /// Whether this is a thread of the debuggee, and not exiting.
    pub(super) fn is_live(&self, thread: ThreadId) -> bool {
        self.stops.is_live(thread)
    }

    /// Every traced thread that is stopped, vfork children included.
    pub(super) fn stopped_threads(&self) -> Vec<ThreadId> {
        self.stops.all_stopped()
    }

    /// Whether a thread is stopped and stays stopped until it is released, even if other threads run.
    pub(super) fn stays_stopped(&self, thread: ThreadId) -> bool {
        self.stops.stays_stopped(thread)
    }

    /// Whether the process runs, but some of its threads must stay stopped.
    pub(super) fn runs_only_some(&self) -> bool {
        self.stops.runs_only_some()
    }

    /// Whether this is a vfork child, which shares the debuggee's memory.
    pub(super) fn is_vfork_child(&self, thread: ThreadId) -> bool {
        self.stops.is_vfork_child(thread)
    }

    /// Whether a thread can't run before its vfork child, which uses its memory, has executed a program or ended.
    pub(super) fn waits_for_vfork_child(&self, thread: ThreadId) -> bool {
        self.stops.waits_for_vfork_child(thread)
    }

    /// Whether a stop signal has stopped a thread (a group stop).
    pub(super) fn is_in_group_stop(&self, thread: ThreadId) -> bool {
        self.stops.is_in_group_stop(thread)
    }

    /// Whether a stop signal has stopped the process (a group stop).
    pub(super) fn is_group_stopped(&self) -> bool {
        self.stops.is_group_stopped()
    }

    /// How a thread was most recently resumed.
    pub(super) fn last_run(&self, thread: ThreadId) -> How {
        self.stops.last_run(thread)
    }

    /// Whether the kernel has reported only one of the two events of a new child or thread: its parent's fork or clone, and its first stop.
    pub(super) fn awaits_children(&self) -> bool {
        self.stops.awaits_children()
    }

    /// Whether all threads were stopped because each that might run has ended.
    pub(super) fn none_may_run(&self) -> bool {
        self.stops.none_may_run()
    }

    /// The vfork children that run in the debuggee's memory.
    pub(super) fn running_vfork_children(&self) -> Vec<ThreadId> {
        self.stops.running_vfork_children()
    }

    // Requests to the reducer. They take effect when [`Owner::perform`] carries out the queued actions.

    /// Hands an event to the reducer.
    pub(super) fn handle_stop(&mut self, event: WaitEvent) {
        if let What::NewProcess {
            shares_memory: true,
            ..
        } = event.what
        {
            self.stop_counting();
        }
        self.stops.handle(event, &mut self.actions);
    }

    /// Stops all threads.
    pub(super) fn stop_all(&mut self) {
        self.stops.stop_all(&mut self.actions);
    }

    /// All threads were asked to stop, and the process that is shown from now on has them stopped.
    pub(super) fn have_all_stopped(&mut self) {
        self.actions.push_back(Action::AllStopped);
    }

    /// Resumes a stopped thread if it may run now, and delivers `signal` to it unless that is 0. If the thread may not run now, does
    /// nothing: the thread has to be released later.
    pub(super) fn go(&mut self, thread: ThreadId, how: How, signal: i32) {
        self.stops.go(thread, how, signal, &mut self.actions);
    }

    /// Sets what becomes of children that are forked from now on.
    pub(super) fn follow(&mut self, follow: FollowForks) {
        self.stops.follow(follow);
    }

    /// Continues with other threads, those of another process that stands for this one. Returns the former ones.
    pub(super) fn exchange_stops(&mut self, mut stops: Stops) -> Stops {
        stops.follow(self.stops.follow_now());
        stops.set_runners(self.stops.runners());
        std::mem::replace(&mut self.stops, stops)
    }

    /// Notes that the process runs again after a stop for the debugger's own purposes. The same threads may run as before, but each has yet
    /// to be released.
    pub(super) fn run_again(&mut self) {
        self.log_while_running(true);
        self.stops.set_running();
    }

    /// Notes that the process runs from now on. `only`: besides threads that run already, only this one may run ([`Stops::run_only`]);
    /// `None`: all may. Each thread has yet to be released.
    ///
    /// [`Stops::run_only`]: crate::stops::Stops::run_only
    pub(super) fn set_running(&mut self, only: Option<ThreadId>) {
        self.keep_jumps_from_threads();
        self.handle_traps();
        self.log_while_running(true);
        self.stops.run_only(only);
        self.stops.set_running();
    }

    /// The process itself. Reads of its memory show inserted bytes and copies; other reads of the owner's don't.
    pub(super) fn process(&self) -> &dyn Process {
        self.memory.process()
    }

    /// A stopped thread's registers. `None`: the thread has died.
    pub(super) fn registers(&mut self, thread: ThreadId) -> Option<UserRegisters> {
        let control = self.threads.control(thread);
        if control.registers.is_none() {
            control.registers = self.memory.process().registers(thread).ok();
        }
        control.registers
    }

    pub(super) fn set_registers(&mut self, thread: ThreadId, registers: UserRegisters) {
        if !self.dies_with_debugger() {
            self.memory.make_way_for(registers.pc());
        }
        // Fails only if the thread has died. Its exit event follows.
        let _ = self.process().set_registers(thread, &registers);
        let control = self.control(thread);
        control.registers = Some(registers);
        control.unwritten = false;
    }

    pub(super) fn perform(&mut self) {
        while let Some(action) = self.actions.pop_front() {
            if let Some(why) = self.process().lost() {
                self.leaving.lost = Some(why);
                self.abandon();
            }
            if self.is_over() {
                self.actions.clear();
                return;
            }
            tracing::trace!(?action, "action");
            match action {
                Action::Run(thread, how, signal) => {
                    if signal != 0 {
                        self.will_be_interrupted(thread);
                    }
                    self.check_new_thread(thread);
                    self.enter_trampoline(thread, how);
                    self.write_back(thread);
                    self.watch_before_run(thread);
                    let to_call = self.pin_for_run(thread, how);
                    self.put_sites_back();
                    if let Some(control) = self.threads.get_mut(thread) {
                        control.registers = None;
                        control.trap = None;
                        control.found_full = None;
                        control.exception = None;
                    }
                    let how = match how {
                        How::Continue if to_call => Resume::UntilSystemCall,
                        How::Continue => Resume::Continue,
                        How::Step => Resume::Step,
                    };
                    // Fails only if the thread has died. The next wait reports that it has.
                    let _ = self.process().resume(thread, how, signal);
                }
                Action::Listen(thread) => {
                    let _ = self.process().stay_in_group_stop(thread);
                }
                Action::Interrupt(thread) => {
                    let _ = self.process().interrupt(thread);
                    self.asked_to_stop(thread);
                }
                Action::Examine(thread, signal) => self.examine(thread, signal),
                Action::ReplayEnds(thread) => self.replay_ended(thread),
                Action::TurnAhead(thread) => self.turn_ahead(thread),
                Action::KernelWrote(thread) => self.kernel_wrote(thread),
                Action::ReleaseCopy(child) => self.release_copy(child),
                Action::ReleaseVforkChild(child) => {
                    self.threads.let_go(child);
                    let _ = self.process().detach(child, 0);
                }
                Action::KeepChild(child, memory) => self.keep_child(child, memory),
                Action::Succeed {
                    child,
                    maker,
                    memory,
                } => self.will_be_succeeded(child, maker, memory),
                Action::KeptChildEnded(child) => self.kept_child_ended(child),
                Action::Started(thread) => {
                    self.threads.add(thread);
                    self.check_own_id_of(thread);
                    self.tell_of_thread(Event::ThreadStarted(thread));
                }
                Action::Ended(thread) => {
                    self.tell_logged();
                    self.waits_no_more(Some(thread));
                    self.thread_ended(thread);
                    self.tell_of_thread(Event::ThreadExited(thread));
                }
                Action::Executed(thread) => self.executed(thread),
                Action::AllStopped if self.has_found_threads() => {}
                Action::AllStopped => self.all_stopped(),
                Action::ProcessEnded(status) => self.process_ended(status),
            }
        }
    }

    /// All threads that are known have stopped: whether there are others, or some have ended. [`Action::AllStopped`] follows again then.
    fn has_found_threads(&mut self) -> bool {
        let found = self.process().find_threads();
        for event in &found {
            self.handle_stop(*event);
        }
        if !found.is_empty() {
            self.have_all_stopped();
        }
        !found.is_empty()
    }

    /// Tells that a thread has begun or ended: not a second time, in the past.
    fn tell_of_thread(&mut self, event: Event) {
        if !self.is_in_past() {
            self.tell(event);
        }
    }

    /// Lets all threads run from a stop.
    pub(super) fn resume_all(&mut self) {
        // A child to follow may have come while all threads were stopped for the user.
        self.succeed_if_due();
        self.arm_again();
        self.refresh_watched();
        self.settle_steps();
        self.set_running(None);
        self.begin_checkpoints();
        self.waits_no_more(None);
        for thread in self.stopped_threads() {
            self.release(thread);
        }
    }

    /// Lets a stopped thread go on, if it may run now (a vfork child always may). If it may not, it stays stopped until it is released when
    /// it may.
    pub(super) fn release(&mut self, thread: ThreadId) {
        if !self.stops.runs(thread) && !self.is_vfork_child(thread) {
            return;
        }
        self.activity_runs(thread);
    }

    /// Runs a thread. If it is at a site whose hit was counted, gets it past the site first.
    pub(super) fn run_on(&mut self, thread: ThreadId, how: How) {
        let control = self.control(thread);
        let signal = std::mem::take(&mut control.signal);
        let passed = control.passed.take();
        let Some(site) = passed.filter(|site| self.site(*site).is_some()) else {
            return self.go(thread, how, signal);
        };
        let Some(registers) = self.registers(thread) else {
            return;
        };
        // Where its turn may end, it has to run into the site. So it has behind a system call that isn't over: the kernel may let it call again,
        // from two bytes before where it is.
        if registers.pc() != site
            || self.may_end_turn(thread, site)
            || self.is_amid_repeated(thread, site)
            || self.is_in_call(thread, &registers)
        {
            return self.go(thread, how, signal);
        }
        if signal != 0 {
            // The signal's handler, if there is one, runs first. Then the thread comes to the site again, and that is no new hit.
            self.memory.take_jumps_out(site..site.offset(1));
            self.will_come_back(thread, site, registers.sp());
            return self.go(thread, how, signal);
        }
        // The thread gets past the site now, so it won't come back to the site from a signal handler.
        let sp = registers.sp();
        self.has_come_back(thread, site, sp);
        match self.get_past(thread, site, registers) {
            trap::Past::Done if how == How::Step => self.stepped(thread),
            trap::Past::Done | trap::Past::InCopy => {
                self.go(thread, how, 0);
            }
            trap::Past::OnlyAlone if self.is_alone_behind_stub(thread) => {
                self.step_past(thread, site, how);
            }
            trap::Past::OnlyAlone => {
                self.control(thread).passed = Some(site);
                self.threads.must_run_alone(thread);
                self.stop_all();
            }
        }
    }

    /// Whether a thread is behind a system call that it makes again, or, in the past, whose result it has yet to get.
    fn is_in_call(&self, thread: ThreadId, registers: &UserRegisters) -> bool {
        let in_past = self.history_live();
        registers.restarts_system_call() || in_past.is_some_and(|live| live.is_in_call(thread))
    }

    /// Notes that a thread will come to a site again without a new hit.
    fn will_come_back(&mut self, thread: ThreadId, site: Address, sp: u64) {
        // It has to stop there, so that it is known that it came.
        self.memory.take_condition_out(site);
        let all = &mut self.control(thread).comes_back;
        if !all.contains(&(site, sp)) {
            if all.len() >= MOST_RETURNS {
                // A thread that leaves handlers by jumps from ever other depths never comes back to these.
                all.remove(0);
            }
            all.push((site, sp));
        }
    }

    /// Whether a thread at a site has come back there from a signal handler. Notes that it has.
    pub(super) fn has_come_back(&mut self, thread: ThreadId, site: Address, sp: u64) -> bool {
        let all = &mut self.control(thread).comes_back;
        let found = all.contains(&(site, sp));
        // Where the thread has the same stack pointer elsewhere, it has left the handler another way.
        all.retain(|noted| noted.1 != sp);
        found
    }

    /// Moves a thread that has stopped in the copy of an instruction (displaced stepping) to the corresponding address in the program.
    pub(super) fn leave_copy(&mut self, thread: ThreadId) {
        if self.leave_trampoline(thread) {
            return;
        }
        if self.memory.caves.is_unused() {
            return;
        }
        let Some(mut registers) = self.registers(thread) else {
            return;
        };
        let Some((copy, original)) = self.memory.caves.original(registers.pc()) else {
            return;
        };
        let control = self.control(thread);
        if original == copy.original {
            control.passed = Some(original);
        } else if registers.restarts_system_call() {
            // The kernel will restart the system call by moving the thread back to the site. That is no new hit.
            self.will_come_back(thread, copy.original, registers.sp());
        }
        if original != copy.original {
            registers.leave_system_call(copy.behind(), original);
        }
        registers.set_pc(original);
        self.set_registers(thread, registers);
    }
}
