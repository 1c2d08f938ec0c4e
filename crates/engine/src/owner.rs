//! The thread that owns the debuggee. No other thread calls ptrace or waits for the debuggee. What needs no kernel is decided elsewhere,
//! by code without I/O.
//!
//! The owner thread is one of its own, or the one that uses the session (`session/keeper`): then the client's loop waits for the
//! debuggee, and neither a request nor a stop costs a switch between threads. Commands are closures that come through a queue and run
//! between two events; a [`Waker`] ends the wait for the debuggee. Their answers go back through channels of their own. What happens
//! without a command leaves as an [`Event`]. The debuggee's stops go through the reducer ([`crate::stops`]), whose actions are carried
//! out here.
//!
//! Two notes for each thread ([`threads`]) make breakpoints exact. `passed` is the site at its instruction pointer whose hit has been
//! counted: only then may the thread get past the site, otherwise it has yet to run into it. `skip` is the same across a signal handler:
//! the thread will return to that address with that stack pointer, and the hit must not be counted again.

mod activity;
mod affinity;
mod arguments;
pub(crate) mod assigning;
mod attach;
mod attached;
mod background;
mod breakpoint_calls;
mod breakpoint_hits;
mod breakpoint_locations;
pub(crate) mod commands;
mod core_dump;
mod debuginfod;
mod exceptions;
mod forks;
mod frame_ends;
pub(crate) mod goto;
mod indexing;
mod indirect_functions;
mod inferior_calls;
mod inlined_calls;
mod input;
mod insertion;
mod landings;
mod link_maps;
mod loader;
pub(crate) mod memory;
mod queries;
mod recursion;
mod restart_frame;
mod return_values;
mod signals;
mod single_thread;
mod state;
mod stepping;
mod stop_all;
mod temporary_breakpoints;
mod terminate_threads;
mod threads;
mod trap;
mod uncaught;
mod vfork_children;
mod warnings;
mod watch_hits;
mod watching;

use crate::breakpoints::model::Model;
use crate::breakpoints::site::PatchedMemory;
use crate::debug_info::DebugInfoOptions;
use crate::event::{self, Stop, StopReason};
use crate::step::Places;
use crate::stops::{Action, Actions, How, Mode, Stops};
use crate::{Error, Event, ThreadId};
use activity::Activity;
use crossbeam_channel::{Receiver, Sender};
use dapple_arch::registers::user::UserRegisters;
use dapple_inspect::modules::Modules;
use dapple_inspect::values::known::Known;
use dapple_target::exit_status::ExitStatus;
use dapple_target::launch::LaunchOptions;
use dapple_target::linux::guardian::Guardian;
use dapple_target::linux::live_process::LiveProcess;
use dapple_target::linux::output::Output;
use dapple_target::linux::wait::{self, Waker};
use dapple_target::linux::{launch, launcher};
use dapple_target::process::{Process, Resume, Waited};
use dapple_target::process_info::{ProcessInfo, Start};
use dapple_target::signals::SignalTable;
use dapple_target::wait_event::WaitEvent;
use state::{Debuggee, Leaving, Link, Loading, StopState};
use std::sync::Arc;
use threads::{Control, Threads};

/// Something to do on the owner thread.
pub(crate) type Command = Box<dyn FnOnce(&mut Owner) + Send>;

/// The receiving end of the commands, and how to wake the thread that receives them.
pub(crate) struct CommandQueue {
    pub(crate) sender: Sender<Command>,
    commands: Receiver<Command>,
    waker: Arc<Waker>,
    /// The owner thread is also the one that takes the session's events: it waits for both at once, and other threads' events must wake
    /// it.
    takes_events: bool,
}

impl CommandQueue {
    pub(crate) fn new(waker: Arc<Waker>, takes_events: bool) -> CommandQueue {
        let (sender, commands) = crossbeam_channel::unbounded();
        CommandQueue {
            sender,
            commands,
            waker,
            takes_events,
        }
    }

    /// The waker for events that come from other threads, if they need one.
    fn wakes(&self) -> Option<&Arc<Waker>> {
        self.takes_events.then_some(&self.waker)
    }
}

/// The debuggee and everything that the engine knows about it.
pub(crate) struct Owner {
    debuggee: Debuggee,
    children: forks::Children,
    link: Link,
    stops: Stops,
    actions: Actions,
    threads: Threads,
    memory: PatchedMemory,
    modules: Modules,
    known: Known,
    loading: Loading,
    breakpoints: Model,
    watches: watching::Watches,
    exceptions: exceptions::Exceptions,
    indirect_functions: indirect_functions::IndirectFunctions,
    signals: SignalTable,
    activity: Activity,
    /// Cache of the symbols that steps have looked up.
    places: Places,
    stop_wait: stop_all::StopWait,
    stop: StopState,
    leaving: Leaving,
}

/// The parts from which an owner is made.
struct Parts {
    debuggee: Debuggee,
    stops: Stops,
    process: Arc<dyn Process>,
    guardian: Option<Guardian>,
    output: Output,
    debug_info: DebugInfoOptions,
}

impl Owner {
    /// Starts a program. It is stopped at its entry point when this returns.
    pub(crate) fn launch(
        options: &LaunchOptions,
        debug_info: DebugInfoOptions,
        events: Sender<Event>,
        queue: CommandQueue,
    ) -> Result<(Owner, ProcessInfo), Error> {
        queue.waker.adopt_current_thread();
        let launched = match &options.launcher {
            Some(launcher) => launcher::take_over(options, launcher)?,
            None => launch::launch(options)?,
        };
        let refuse = |what: &str, e: std::io::Error| Error::Launch {
            program: options.program.clone(),
            reason: format!("{what}: {e}"),
        };
        let started = LiveProcess::open(launched.process, Arc::clone(&queue.waker))
            .map_err(|e| refuse("its memory can't be read", e))
            .and_then(|process| {
                let output =
                    Output::start(launched.output, &event::output_to(&events), queue.wakes());
                Ok((
                    process,
                    output.map_err(|e| refuse("its output can't be read", e))?,
                ))
            });
        let (process, output) = match started {
            Ok(started) => started,
            Err(error) => {
                wait::abandon(launched.process);
                return Err(error);
            }
        };
        let info = ProcessInfo {
            pid: launched.process.0,
            program: launched.program.clone(),
            start: Start::Launched,
            of_launched: true,
            stopped: false,
        };
        let mut stops = Stops::new(launched.process);
        stops.follow(options.follow_forks);
        let parts = Parts {
            debuggee: Debuggee {
                start: Start::Launched,
                of_launched: true,
            },
            stops,
            process: Arc::new(process),
            guardian: None,
            output,
            debug_info,
        };
        let mut owner = Owner::of(parts, events, queue);
        owner.link.input = launched.input;
        owner.threads.add(launched.process);
        owner.load_program(&launched.program);
        owner.tell(Event::ThreadStarted(launched.process));
        Ok((owner, info))
    }

    fn of(parts: Parts, events: Sender<Event>, queue: CommandQueue) -> Owner {
        let link = Link::new(queue, events, parts.output);
        let first = parts.process.id();
        Owner {
            children: forks::Children::default(),
            stops: parts.stops,
            actions: Actions::new(),
            threads: Threads::default(),
            memory: PatchedMemory::new(parts.process, parts.guardian),
            modules: Modules::default(),
            known: Known::default(),
            loading: Loading::new(parts.debug_info, &link.back),
            breakpoints: Model::default(),
            watches: watching::Watches::default(),
            exceptions: exceptions::Exceptions::default(),
            indirect_functions: indirect_functions::IndirectFunctions::default(),
            signals: SignalTable::default(),
            activity: Activity::default(),
            places: Places::default(),
            stop_wait: stop_all::StopWait::default(),
            stop: StopState::new(first),
            leaving: Leaving::default(),
            debuggee: parts.debuggee,
            link,
        }
    }

    /// Serves commands and the debuggee's events until the debuggee has ended or was detached.
    pub(crate) fn run(&mut self) {
        while !self.leaving.over {
            if self.attend() {
                continue;
            }
            match self.link.commands.recv() {
                Ok(command) => drop(self.obey(command)),
                Err(_) => self.abandon(),
            }
        }
    }

    /// Waits for an event of the debuggee or for the waker, and handles it. `false`: there is no tracee to wait for, only commands.
    pub(crate) fn attend(&mut self) -> bool {
        let one = self.stop_wait.next(&self.stops);
        match self.next_event(one) {
            Ok(Waited::Event(event)) => self.handle_event(event),
            Ok(Waited::Woken) => {
                self.stop_wait.tick();
                self.link.waker.take();
                self.unpin_long_running();
                if !self.activity.is_call() {
                    self.serve();
                }
                self.handle_pending_event();
            }
            Ok(Waited::NoThreads) if one.is_some() => self.stop_wait.was_in_vain(),
            // A child is being handed over to another tracer, which answers with a command.
            Ok(Waited::NoThreads) if self.has_only_children() => return false,
            Ok(Waited::NoThreads) => {
                let status = self.stops.last_exit();
                self.ended(status.unwrap_or(ExitStatus::Signal(libc::SIGKILL)));
            }
            Err(error) => {
                tracing::error!(%error, "waiting for the program failed");
                self.abandon();
            }
        }
        true
    }

    fn handle_event(&mut self, event: WaitEvent) {
        tracing::trace!(?event, "debuggee");
        self.noticed(event);
        self.activity_notices(event);
        self.stops.handle(event, &mut self.actions);
        self.perform();
    }

    /// Ends the session after a failure of the engine itself: nothing may stay inserted, and no thread pinned.
    pub(crate) fn abandon(&mut self) {
        if !self.leaving.over {
            self.threads.pinning.release();
            self.let_children_go();
            match self.debuggee.of_launched {
                true if self.has_only_children() => {}
                true => self.process().kill_after_failure(),
                // The kernel detaches it when this thread ends.
                false => {
                    self.memory.clean_own();
                    self.memory.keep_guardian();
                }
            }
            self.ended(ExitStatus::Signal(libc::SIGKILL));
        }
    }

    /// Whether the debuggee has ended or was detached.
    pub(crate) fn is_over(&self) -> bool {
        self.leaving.over
    }

    /// Whether all threads are stopped.
    pub(crate) fn is_held(&self) -> bool {
        self.stops.mode() == Mode::Stopped
    }

    fn serve(&mut self) {
        while !self.leaving.over
            && let Ok(command) = self.link.commands.try_recv()
        {
            self.obey(command);
        }
    }

    /// Runs a command and the actions that follow from it. `None`: the session is over.
    pub(crate) fn obey<R>(&mut self, command: impl FnOnce(&mut Owner) -> R) -> Option<R> {
        if self.leaving.over {
            return None;
        }
        let answer = command(self);
        self.perform();
        if !self.leaving.over {
            self.tell_warnings();
        }
        Some(answer)
    }

    fn tell(&self, event: Event) {
        // Fails only once the receiver is gone, which is when the session ends.
        let _ = self.link.events.send(event);
    }

    fn perform(&mut self) {
        while let Some(action) = self.actions.pop_front() {
            if self.leaving.over {
                self.actions.clear();
                return;
            }
            tracing::trace!(?action, "action");
            match action {
                Action::Run(thread, how, signal) => {
                    self.write_back(thread);
                    self.watch_before_run(thread);
                    let to_call = self.pin_for_run(thread, how);
                    if let Some(control) = self.threads.get_mut(thread) {
                        control.registers = None;
                        control.trap = None;
                        control.exception = None;
                    }
                    self.memory.put_back_all();
                    let how = match how {
                        How::Continue if to_call => Resume::UntilSystemCall,
                        How::Continue => Resume::Continue,
                        How::Step => Resume::Step,
                    };
                    // Fails only if the thread has died; the next wait reports that.
                    let _ = self.process().resume(thread, how, signal);
                }
                Action::Listen(thread) => {
                    let _ = self.process().stay_in_group_stop(thread);
                }
                Action::Interrupt(thread) => {
                    let _ = self.process().interrupt(thread);
                    self.stop_wait.asked(thread);
                }
                Action::Examine(thread, signal) => self.examine(thread, signal),
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
                    self.tell(Event::ThreadStarted(thread));
                }
                Action::Ended(thread) => {
                    self.thread_ended(thread);
                    self.tell(Event::ThreadExited(thread));
                }
                Action::Executed(thread) => self.executed(thread),
                Action::AllStopped => self.all_stopped(),
                Action::ProcessEnded(status) => self.process_ended(status),
            }
        }
    }

    /// The process itself. Reads of its memory show what was inserted.
    fn process(&self) -> &dyn Process {
        self.memory.process()
    }

    /// A stopped thread's registers; `None` when it has died.
    fn registers(&mut self, thread: ThreadId) -> Option<UserRegisters> {
        let control = self.threads.control(thread);
        if control.registers.is_none() {
            control.registers = self.memory.process().registers(thread).ok();
        }
        control.registers
    }

    fn set_registers(&mut self, thread: ThreadId, registers: UserRegisters) {
        // Refused only when the thread has died.
        let _ = self.process().set_registers(thread, &registers);
        let control = self.control(thread);
        control.registers = Some(registers);
        control.unwritten = false;
    }

    fn control(&mut self, thread: ThreadId) -> &mut Control {
        self.threads.control(thread)
    }

    /// Moves a thread that has stopped in the copy of an instruction (displaced stepping) to the corresponding address in the program.
    fn leave_copy(&mut self, thread: ThreadId) {
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
            // The kernel will restart the system call by moving the thread back to the instruction, whose hit was counted.
            control.skip = Some((copy.original, registers.sp()));
        }
        registers.set_pc(original);
        self.set_registers(thread, registers);
    }

    /// Records a stop to report, and stops all threads for it.
    fn report(&mut self, thread: ThreadId, reason: StopReason) {
        self.write_back(thread);
        let Some(reason) = self.activity_reports(thread, reason) else {
            return;
        };
        let address = self.registers(thread).map(|r| r.pc()).unwrap_or_default();
        let asks = self.asks(thread, address);
        if !(asks && reason.is_undecided_yet()) {
            self.stop.reports.retain(|r| r.thread != thread);
            self.stop.reports.push(Stop {
                thread,
                address,
                reason,
            });
        }
        self.stops.stop_all(&mut self.actions);
    }

    fn all_stopped(&mut self) {
        self.stop_wait.over();
        self.threads.pinning.all_stopped();
        self.unpark();
        for thread in self.stops.all_stopped() {
            self.leave_copy(thread);
        }
        if !self.stops.awaits_children() && !self.stops.has_vfork_children() {
            // All threads are stopped, no vfork child runs in this memory, and each forked child has been let go.
            self.memory.forget_removed();
            self.memory.caves.reclaim();
        }
        if self.activity_stopped() {
            return;
        }
        if self.succeed_if_due() {
            return self.go_on();
        }
        if self.leaving.detaching {
            self.threads.pinning.let_all_go();
            return self.detach();
        }
        self.end_requested_threads();
        self.decide_asked();
        let mut reports = std::mem::take(&mut self.stop.reports);
        reports.retain(|r| self.stops.is_live(r.thread));
        if let Some(asked) = self.stop.pause.take()
            && reports.is_empty()
        {
            let thread = asked
                .filter(|t| self.stops.is_live(*t))
                .or_else(|| self.stops.live().next());
            if let Some(thread) = thread {
                let address = self.registers(thread).map(|r| r.pc()).unwrap_or_default();
                reports.push(Stop {
                    thread,
                    address,
                    reason: self.pause_reason(),
                });
            }
        }
        let alone = self.threads.take_alone();
        if reports.is_empty() && self.stops.none_may_run() {
            reports.extend(self.last_runner_ended());
            if reports.is_empty() {
                return;
            }
        }
        let Some(first) = reports.first() else {
            // Nothing to report: the thread that stopped has died since, or one only needed the others stopped to get past its site.
            return self.run_alone(&alone);
        };
        let ended = self.activity.step().map(stepping::Stepping::ends_before);
        self.keep_returned(&reports);
        self.end_step();
        self.stop.current = first.thread;
        for report in &reports {
            self.mark_stop_seen(report);
        }
        let not_entered: Vec<_> = reports
            .iter()
            .filter_map(|r| self.stands_before(r, ended))
            .collect();
        self.threads.show(not_entered, self.lines_of(&reports));
        self.tell_stops(reports);
        self.remove_temporaries(|_| false);
    }

    /// A breakpoint set at the address where a thread is already stopped applies to the next arrival, not to this thread. One that is
    /// there already was asked, or has yet to be: a thread that has written watched data, has a signal pending or was paused may not have
    /// run into it.
    fn mark_stop_seen(&mut self, stop: &Stop) {
        if self.memory.site(stop.address).is_none() {
            self.control(stop.thread).passed = Some(stop.address);
        }
    }

    /// Reports a stop, and forgets what was known about the one before.
    fn tell_stops(&mut self, stops: Vec<Stop>) {
        self.stop.number += 1;
        self.stop.kept_temporaries.clear();
        if self.stops.mode() == Mode::Stopped {
            self.arm_again();
        }
        if !self.debuggee.of_launched && self.stops.mode() == Mode::Stopped {
            self.clean_for_stop();
        }
        self.threads.new_stop();
        self.link.output.drain();
        let behind_start = !stops.iter().any(|stop| stop.reason == StopReason::Entry);
        self.tell(Event::Stopped(stops));
        if behind_start {
            self.make_indexes();
        }
    }

    /// Lets all threads run.
    fn resume_all(&mut self) {
        // A child to follow may have come while all threads were stopped for the user.
        self.succeed_if_due();
        self.arm_again();
        self.refresh_watched();
        self.settle_steps();
        self.stops.run_only(None);
        self.stops.set_running();
        for thread in self.stops.all_stopped() {
            self.release(thread);
        }
    }

    /// Lets a stopped thread go on if the process runs. Otherwise the thread goes on together with the others.
    fn release(&mut self, thread: ThreadId) {
        if !self.stops.runs(thread) && !self.stops.is_vfork_child(thread) {
            return;
        }
        self.activity_runs(thread);
    }

    /// Runs a thread. If it is at a site whose hit was counted, gets it past that first.
    fn run_on(&mut self, thread: ThreadId, how: How) {
        let control = self.control(thread);
        let signal = std::mem::take(&mut control.signal);
        let passed = control.passed.take();
        let Some(site) = passed.filter(|site| self.memory.site(*site).is_some()) else {
            return self.stops.go(thread, how, signal, &mut self.actions);
        };
        let Some(registers) = self.registers(thread) else {
            return;
        };
        if registers.pc() != site {
            return self.stops.go(thread, how, signal, &mut self.actions);
        }
        if signal != 0 {
            // The signal's handler, if there is one, runs first. Afterwards the thread comes to the site again.
            self.control(thread).skip = Some((site, registers.sp()));
            return self.stops.go(thread, how, signal, &mut self.actions);
        }
        // The thread gets past the site now, so it does not come back from a handler.
        let sp = registers.sp();
        self.control(thread)
            .skip
            .take_if(|skip| *skip == (site, sp));
        match self.get_past(thread, site, registers) {
            trap::Past::Done if how == How::Step => self.stepped(thread),
            trap::Past::Done | trap::Past::InCopy => {
                self.stops.go(thread, how, 0, &mut self.actions);
            }
            trap::Past::OnlyAlone => {
                self.control(thread).passed = Some(site);
                self.threads.must_run_alone(thread);
                self.stops.stop_all(&mut self.actions);
            }
        }
    }

    fn thread_ended(&mut self, thread: ThreadId) {
        self.activity_lost(thread);
        self.stack_ended(thread);
        self.resolver_calls_ended(thread);
        self.threads.ended(thread);
    }

    /// The process runs another program (exec): nothing that was known about the old one holds.
    fn executed(&mut self, thread: ThreadId) {
        self.end_step();
        self.threads.executed(thread);
        self.stop.reports.clear();
        self.indirect_functions = indirect_functions::IndirectFunctions::default();
        match self.process().reopen(self.process().id()) {
            Ok(process) => {
                self.memory.needs_no_guardian();
                let guardian = self.guardian_of(process.id());
                self.memory = PatchedMemory::new(process, guardian);
            }
            Err(error) => {
                tracing::error!(%error, "the new program's memory can't be read");
                return self.abandon();
            }
        }
        self.load_new_program();
        self.activity_executed(thread);
    }

    /// Replaces the known modules by those of another program, in whose memory nothing is inserted yet.
    fn load_new_program(&mut self) {
        self.breakpoints.frames_gone();
        for module in std::mem::take(&mut self.modules).iter() {
            self.breakpoints.module_unloaded(module.id);
            self.tell(Event::ModuleUnloaded(module.info()));
        }
        let program = self.process().executable();
        self.load_program(&program);
        self.watch_new_program();
        self.tell(Event::Executed);
    }

    fn ended(&mut self, status: ExitStatus) {
        if self.leaving.over {
            return;
        }
        self.let_children_go();
        self.leaving.over = true;
        self.memory.needs_no_guardian();
        self.threads.pinning.forget_all();
        self.link.waker.abandon();
        match self.has_left_writers() {
            true => self.link.output.finish_and_discard(),
            false => self.link.output.finish(),
        }
        self.tell(Event::Exited(status));
    }
}
