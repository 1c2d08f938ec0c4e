//! The one thread that owns the debuggee: it alone calls ptrace, it alone waits.
//!
//! Commands are closures that run on this thread between two events; what they find out goes back by channels of their
//! own. Events of the debuggee go through the reducer ([`crate::stops`]), whose actions are carried out here.
//!
//! Two notes kept for each thread make breakpoints exact. `passed` is the site whose hit has been accounted for: only
//! then may the thread get past it, else it has yet to run into it. `skip` is the same across a signal handler: the
//! thread will come back to that address with that stack pointer, and must not be counted again.

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
mod indexing;
mod indirect_functions;
mod inferior_calls;
mod inlined_calls;
mod input;
mod insertion;
mod link_maps;
mod loader;
pub(crate) mod memory;
pub(crate) mod moving;
mod queries;
mod recursion;
mod return_values;
mod signals;
mod single_thread;
mod stepping;
mod stop_all;
mod temporary_breakpoints;
mod trap;
mod uncaught;
mod vfork_children;
mod warnings;
mod watch_hits;
mod watching;

use crate::breakpoints::model::Model;
use crate::breakpoints::site::{PatchedMemory, Reason};
use crate::debug_info::DebugInfoOptions;
use crate::event::{self, Stop, StopReason};
use crate::indexing::Indexing;
use crate::step::Places;
use crate::stops::{Action, Actions, How, Mode, Stops};
use crate::{Address, Error, Event, ThreadId};
use crossbeam_channel::{Receiver, Sender};
use dapple_arch::registers::user::UserRegisters;
use dapple_inspect::exceptions::Exception;
use dapple_inspect::frame::StackCache;
use dapple_inspect::modules::Modules;
use dapple_inspect::values::{NamedValue, known::Known};
use dapple_symbols::functions::SourcePosition;
use dapple_target::exit_status::ExitStatus;
use dapple_target::launch::LaunchOptions;
use dapple_target::linux::affinity::{Pace, Pinning};
use dapple_target::linux::guardian::Guardian;
use dapple_target::linux::input::Input;
use dapple_target::linux::memory::ProcessMemory;
use dapple_target::linux::output::Output;
use dapple_target::linux::wait::{self, Waited, Waker};
use dapple_target::linux::{launch, launcher, process, ptrace};
use dapple_target::process_info::{ProcessInfo, Start};
use dapple_target::signals::SignalTable;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Something to do on the owner thread.
pub(crate) type Command = Box<dyn FnOnce(&mut Owner) + Send>;

/// The number of the hold at the start, before any stop was told.
const FIRST_STOP: u64 = 1;
/// Where commands come in.
pub(crate) struct CommandQueue {
    pub(crate) sender: Sender<Command>,
    commands: Receiver<Command>,
    waker: Arc<Waker>,
    /// The thread that keeps the debuggee is the one that takes its events: it waits for those in the same place.
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

    /// Who is to be woken for events that come from other threads.
    fn wakes(&self) -> Option<&Arc<Waker>> {
        self.takes_events.then_some(&self.waker)
    }
}

/// The debuggee and all that is known of it.
pub(crate) struct Owner {
    process: ThreadId,
    start: Start,
    /// It is, or descends from, what a debugger has launched: it ends with that.
    of_launched: bool,
    children: forks::Children,
    events: Sender<Event>,
    commands: Receiver<Command>,
    waker: Arc<Waker>,
    output: Output,
    input: Option<Input>,
    stops: Stops,
    actions: Actions,
    threads: FxHashMap<ThreadId, Control>,
    memory: PatchedMemory,
    modules: Modules,
    known: Known,
    last_module: u64,
    told: crate::warnings::Told,
    loader: link_maps::Loader,
    indexing: Indexing,
    /// For what works beside the session.
    back: background::Back,
    /// Dropped first: then nothing that works beside the session begins anything new.
    _beside: background::Ending,
    debuginfod: debuginfod::Debuginfod,
    breakpoints: Model,
    signals: SignalTable,
    /// With which signal the program was asked to end: that one is passed on, whatever becomes of others.
    ends_with: Option<i32>,
    watches: watching::Watches,
    exceptions: exceptions::Exceptions,
    indirect_functions: indirect_functions::IndirectFunctions,
    step: Option<stepping::Stepping>,
    /// A function that is called for the user.
    call: Option<inferior_calls::InferiorCall>,
    /// Down to where on a thread's stack calls of this stop have left what their values are in.
    left_on_stack: FxHashMap<ThreadId, u64>,
    /// What calls have given back and is shown still, and the threads that were called on.
    kept_temporaries: Vec<(ThreadId, dapple_inspect::values::Value)>,
    /// What the function has returned that a thread was stepped out of.
    returned: Option<(ThreadId, NamedValue)>,
    /// What steps have looked up.
    places: Places,
    pinning: Pinning,
    gathering: stop_all::Gathering,
    /// Stops to tell of once all threads are stopped.
    reports: Vec<Stop>,
    /// A pause was asked for; for this thread, if for one.
    pause: Option<Option<ThreadId>>,
    /// Counts the stops that were told; frames belong to one.
    stop_number: u64,
    /// Threads that are shown as they stand before inlined calls that begin where they have stopped, and how many.
    before_calls: FxHashMap<ThreadId, usize>,
    /// The lines whose breakpoints threads have stopped at.
    stopped_at_lines: FxHashMap<ThreadId, SourcePosition>,
    /// The thread that stopped last.
    current: ThreadId,
    stacks: FxHashMap<ThreadId, StackCache>,
    /// Threads that can only get past their site while no other runs.
    alone: Vec<ThreadId>,
    asking: breakpoint_calls::Asking,
    /// Threads that are to end as soon as all are stopped.
    ending: Vec<ThreadId>,
    /// All are being stopped to be let go.
    detaching: bool,
    /// And to be left stopped.
    suspend: bool,
    over: bool,
}

/// What an owner begins with.
struct Parts {
    process: ThreadId,
    stops: Stops,
    start: Start,
    of_launched: bool,
    memory: ProcessMemory,
    guardian: Option<Guardian>,
    output: Output,
    debug_info: DebugInfoOptions,
}

/// What is kept for each thread.
#[derive(Debug, Default)]
struct Control {
    /// Its registers, while it is stopped and once they were read.
    registers: Option<UserRegisters>,
    /// These are not the ones that the kernel has.
    unwritten: bool,
    /// What its SIGTRAP was, where that was found out before the stop was told of.
    trap: Option<trap::Trap>,
    /// The site at its instruction pointer that has been accounted for.
    passed: Option<Address>,
    /// The site and stack pointer that it will come back to from a signal handler.
    skip: Option<(Address, u64)>,
    /// The signal to deliver when it goes on; 0: none.
    signal: i32,
    /// What the stop it is in, or was in last, is about; for exceptions and signals.
    exception: Option<Arc<Exception>>,
    /// The version of what its debug registers watch; 0: nothing.
    watched: u32,
    /// Where the panic that is under way has happened.
    panic_place: Option<String>,
    /// What functions have to be called for before it goes on.
    asks: Vec<breakpoint_calls::Ask>,
    pace: Pace,
}

impl Owner {
    /// Starts a program; it is held at its entry when this returns.
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
        let started = ProcessMemory::open(launched.process)
            .map_err(|e| refuse("its memory can't be read", e))
            .and_then(|memory| {
                let output =
                    Output::start(launched.output, &event::output_to(&events), queue.wakes());
                Ok((
                    memory,
                    output.map_err(|e| refuse("its output can't be read", e))?,
                ))
            });
        let (memory, output) = match started {
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
            process: launched.process,
            stops,
            start: Start::Launched,
            of_launched: true,
            memory,
            guardian: None,
            output,
            debug_info,
        };
        let mut owner = Owner::of(parts, events, queue);
        owner.input = launched.input;
        owner.threads.insert(owner.process, Control::default());
        owner.load_program(&launched.program);
        owner.tell(Event::ThreadStarted(owner.process));
        Ok((owner, info))
    }

    fn of(parts: Parts, events: Sender<Event>, queue: CommandQueue) -> Owner {
        let (back, beside) = background::Back::new(queue.sender, Arc::clone(&queue.waker));
        let debuginfod = match parts.debug_info.debuginfod {
            true => debuginfod::Debuginfod::start(back.clone()),
            false => debuginfod::Debuginfod::default(),
        };
        Owner {
            process: parts.process,
            start: parts.start,
            of_launched: parts.of_launched,
            children: forks::Children::default(),
            events,
            commands: queue.commands,
            pinning: Pinning::default(),
            gathering: stop_all::Gathering::default(),
            waker: queue.waker,
            output: parts.output,
            input: None,
            stops: parts.stops,
            actions: Actions::new(),
            threads: FxHashMap::default(),
            memory: PatchedMemory::new(parts.memory, parts.guardian),
            modules: Modules::default(),
            known: Known::default(),
            last_module: 0,
            told: crate::warnings::Told::default(),
            loader: link_maps::Loader::default(),
            indexing: Indexing::new(parts.debug_info.index_cache),
            back,
            debuginfod,
            _beside: beside,
            breakpoints: Model::default(),
            signals: SignalTable::default(),
            ends_with: None,
            watches: watching::Watches::default(),
            exceptions: exceptions::Exceptions::default(),
            indirect_functions: indirect_functions::IndirectFunctions::default(),
            step: None,
            call: None,
            left_on_stack: FxHashMap::default(),
            kept_temporaries: Vec::new(),
            returned: None,
            places: Places::default(),
            reports: Vec::new(),
            pause: None,
            stop_number: FIRST_STOP,
            before_calls: FxHashMap::default(),
            stopped_at_lines: FxHashMap::default(),
            current: parts.process,
            stacks: FxHashMap::default(),
            alone: Vec::new(),
            asking: breakpoint_calls::Asking::default(),
            ending: Vec::new(),
            detaching: false,
            suspend: false,
            over: false,
        }
    }

    /// Serves commands and the debuggee's events until the debuggee is gone or left.
    pub(crate) fn run(&mut self) {
        while !self.over {
            if self.attend() {
                continue;
            }
            match self.commands.recv() {
                Ok(command) => drop(self.obey(command)),
                Err(_) => self.abandon(),
            }
        }
    }

    /// Waits for an event of the debuggee or to be woken, and deals with it; false when there is nothing to wait for but commands.
    pub(crate) fn attend(&mut self) -> bool {
        let one = self.gathering.next(&self.stops);
        match self.next_status(one) {
            Ok(Waited::Status(thread, status)) => self.deal_with(thread, status),
            Ok(Waited::Woken) => {
                self.gathering.tick();
                self.waker.take();
                self.unpin_long_running();
                if self.call.is_none() {
                    self.serve();
                }
                self.deal_with_what_is_there();
            }
            Ok(Waited::NoChildren) if one.is_some() => self.gathering.was_in_vain(),
            // One is between two tracers. Who has it now tells so at once.
            Ok(Waited::NoChildren) if self.has_only_children() => return false,
            Ok(Waited::NoChildren) => {
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

    fn deal_with(&mut self, thread: ThreadId, status: i32) {
        let event = wait::decode(thread, status);
        tracing::trace!(?event, "debuggee");
        self.noticed(event);
        self.noticed_in_call(event);
        self.stops.handle(event, &mut self.actions);
        self.perform();
    }

    /// The engine itself failed: nothing must be left behind.
    pub(crate) fn abandon(&mut self) {
        if !self.over {
            self.pinning.release();
            self.let_children_go();
            match self.of_launched {
                true if self.has_only_children() => {}
                true => wait::abandon(self.process),
                // It is let go with this thread's end.
                false => {
                    self.memory.clean_own();
                    self.memory.keep_guardian();
                }
            }
            self.ended(ExitStatus::Signal(libc::SIGKILL));
        }
    }

    /// Whether the debuggee is gone or left.
    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    /// Whether all threads are stopped.
    pub(crate) fn is_held(&self) -> bool {
        self.stops.mode() == Mode::Stopped
    }

    fn serve(&mut self) {
        while !self.over
            && let Ok(command) = self.commands.try_recv()
        {
            self.obey(command);
        }
    }

    /// Does what is asked, and what follows from it; nothing when the debuggee is gone.
    pub(crate) fn obey<R>(&mut self, command: impl FnOnce(&mut Owner) -> R) -> Option<R> {
        if self.over {
            return None;
        }
        let answer = command(self);
        self.perform();
        if !self.over {
            self.tell_warnings();
        }
        Some(answer)
    }

    fn tell(&self, event: Event) {
        // Nobody listens any more: the session's end is on its way.
        let _ = self.events.send(event);
    }

    fn perform(&mut self) {
        while let Some(action) = self.actions.pop_front() {
            if self.over {
                self.actions.clear();
                return;
            }
            tracing::trace!(?action, "action");
            match action {
                Action::Run(thread, how, signal) => {
                    self.write_back(thread);
                    self.watch_before_run(thread);
                    let to_call = self.pin_for_run(thread, how);
                    if let Some(control) = self.threads.get_mut(&thread) {
                        control.registers = None;
                        control.trap = None;
                        control.exception = None;
                    }
                    self.memory.put_back_all();
                    // A thread that is gone is told of by the next wait.
                    let _ = match how {
                        How::Continue if to_call => ptrace::cont_to_call(thread, signal),
                        How::Continue => ptrace::cont(thread, signal),
                        How::Step => ptrace::step(thread, signal),
                    };
                }
                Action::Listen(thread) => {
                    let _ = ptrace::listen(thread);
                }
                Action::Interrupt(thread) => {
                    let _ = ptrace::interrupt(thread);
                    self.gathering.asked(thread);
                }
                Action::Examine(thread, signal) => self.examine(thread, signal),
                Action::ReleaseCopy(child) => self.release_copy(child),
                Action::ReleaseVforkChild(child) => {
                    self.threads.remove(&child);
                    let _ = ptrace::detach(child, 0);
                }
                Action::KeepChild(child, memory) => self.keep_child(child, memory),
                Action::Succeed {
                    child,
                    maker,
                    memory,
                } => self.will_be_succeeded(child, maker, memory),
                Action::KeptChildEnded(child) => self.kept_child_ended(child),
                Action::Started(thread) => {
                    self.threads.entry(thread).or_default();
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

    /// A stopped thread's registers; `None` when it has died.
    fn registers(&mut self, thread: ThreadId) -> Option<UserRegisters> {
        let control = self.threads.entry(thread).or_default();
        if control.registers.is_none() {
            control.registers = ptrace::registers(thread).ok();
        }
        control.registers
    }

    fn set_registers(&mut self, thread: ThreadId, registers: UserRegisters) {
        // Refused only when the thread has died.
        let _ = ptrace::set_registers(thread, &registers);
        let control = self.control(thread);
        control.registers = Some(registers);
        control.unwritten = false;
    }

    fn control(&mut self, thread: ThreadId) -> &mut Control {
        self.threads.entry(thread).or_default()
    }

    /// Moves a thread that stopped inside a copied instruction to where it is in the program.
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
            // The kernel will move it back to the instruction, whose hit was counted.
            control.skip = Some((copy.original, registers.sp()));
        }
        registers.set_pc(original);
        self.set_registers(thread, registers);
    }

    /// Notes a stop to tell of, and stops all threads for it.
    fn report(&mut self, thread: ThreadId, reason: StopReason) {
        self.write_back(thread);
        if self.call.is_some() {
            return self.stopped_in_call(thread, reason);
        }
        let address = self.registers(thread).map(|r| r.pc()).unwrap_or_default();
        let asks = self.asks(thread, address);
        if !(asks && reason.is_undecided_yet()) {
            self.reports.retain(|r| r.thread != thread);
            self.reports.push(Stop {
                thread,
                address,
                reason,
            });
        }
        self.stops.stop_all(&mut self.actions);
    }

    fn all_stopped(&mut self) {
        self.gathering.over();
        self.pinning.all_stopped();
        self.unpark();
        for thread in self.stops.all_stopped() {
            self.leave_copy(thread);
        }
        if !self.stops.awaits_children() && !self.stops.has_vfork_children() {
            // Each thread stands, nobody else runs in this memory, and each child that was forked has been let go.
            self.memory.forget_removed();
            self.memory.caves.reclaim();
        }
        if self.call.is_some() {
            return self.gathered_in_call();
        }
        if self.succeed_if_due() {
            return self.go_on();
        }
        if self.detaching {
            self.pinning.let_all_go();
            return self.detach();
        }
        self.end_them();
        self.decide_asked();
        let mut reports = std::mem::take(&mut self.reports);
        reports.retain(|r| self.stops.is_live(r.thread));
        if let Some(asked) = self.pause.take()
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
        let alone = std::mem::take(&mut self.alone);
        if reports.is_empty() && self.stops.none_may_run() {
            reports.extend(self.last_runner_ended());
            if reports.is_empty() {
                return;
            }
        }
        let Some(first) = reports.first() else {
            // There's nothing to show: whoever stopped has died since, or wanted the others out of its way.
            return self.run_alone(&alone);
        };
        let ended = self.step.as_ref().map(stepping::Stepping::ends_before);
        self.keep_returned(&reports);
        self.end_step();
        self.current = first.thread;
        for report in &reports {
            self.stands(report);
        }
        self.before_calls = reports
            .iter()
            .filter_map(|r| self.stands_before(r, ended))
            .collect();
        self.stopped_at_lines = self.lines_of(&reports);
        self.tell_stops(reports);
        self.remove_temporaries(|_| false);
    }

    /// What is set from now on where a thread has stopped is for who comes there later. What is there already was asked, or has yet
    /// to be: a thread that has written watched data, is before a signal or was to pause may not have run into it.
    fn stands(&mut self, stop: &Stop) {
        if self.memory.site(stop.address).is_none() {
            self.control(stop.thread).passed = Some(stop.address);
        }
    }

    /// Tells of a stop; what was known of the one before is forgotten.
    fn tell_stops(&mut self, stops: Vec<Stop>) {
        self.stop_number += 1;
        self.left_on_stack.clear();
        self.kept_temporaries.clear();
        if self.stops.mode() == Mode::Stopped {
            self.arm_again();
        }
        if !self.of_launched && self.stops.mode() == Mode::Stopped {
            self.make_safe();
        }
        self.stacks.clear();
        self.output.drain();
        let behind_start = !stops.iter().any(|stop| stop.reason == StopReason::Entry);
        self.tell(Event::Stopped(stops));
        if behind_start {
            self.make_indexes();
        }
    }

    /// Lets all threads run.
    fn resume_all(&mut self) {
        // One that came while all were stopped for the user.
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

    /// Lets a stopped thread go on, if the process runs; else it goes with the others.
    fn release(&mut self, thread: ThreadId) {
        if !self.stops.runs(thread) && !self.stops.is_vfork_child(thread) {
            return;
        }
        if self.step.as_ref().is_some_and(|s| s.thread == thread) {
            self.step_on(thread);
        } else {
            self.run_on(thread, How::Continue);
        }
    }

    /// Runs a thread, past the site it stands on when that is accounted for.
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
            // The handler runs first, or there is none; either way the thread comes to the site again.
            self.control(thread).skip = Some((site, registers.sp()));
            return self.stops.go(thread, how, signal, &mut self.actions);
        }
        // It goes past now, so it does not come back.
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
                self.alone.push(thread);
                self.stops.stop_all(&mut self.actions);
            }
        }
    }

    fn thread_ended(&mut self, thread: ThreadId) {
        self.thread_ended_in_call(thread);
        self.pinning.forget(thread);
        self.stack_ended(thread);
        self.resolver_calls_ended(thread);
        self.threads.remove(&thread);
        self.stacks.remove(&thread);
        if self.step.as_ref().is_some_and(|s| s.thread == thread) {
            // The others run on; what ends them tells so.
            self.end_step();
        }
    }

    fn end_step(&mut self) {
        if self.step.take().is_some() {
            self.watch_no_return();
            self.memory.remove_everywhere(Reason::Step);
        }
    }

    /// The process runs another program: nothing that was known of the old one holds.
    fn executed(&mut self, thread: ThreadId) {
        self.end_step();
        self.pinning.forget_all();
        self.threads.clear();
        self.threads.insert(thread, Control::default());
        self.stacks.clear();
        self.reports.clear();
        self.indirect_functions = indirect_functions::IndirectFunctions::default();
        match ProcessMemory::open(self.process) {
            Ok(memory) => {
                self.memory.needs_no_guardian();
                let guardian = self.guardian_of(self.process, &memory);
                self.memory = PatchedMemory::new(memory, guardian);
            }
            Err(error) => {
                tracing::error!(%error, "the new program's memory can't be read");
                return self.abandon();
            }
        }
        self.load_new_program(thread);
        if !self.executed_in_call(thread) {
            self.release(thread);
        }
    }

    /// The modules of another program, in memory in which nothing is inserted, take the place of those that are known.
    fn load_new_program(&mut self, process: ThreadId) {
        self.breakpoints.frames_gone();
        for module in std::mem::take(&mut self.modules).iter() {
            self.breakpoints.module_unloaded(module.id);
            self.tell(Event::ModuleUnloaded(module.info()));
        }
        let program = process::executable(process).unwrap_or_default();
        self.load_program(&program);
        self.watch_new_program();
        self.tell(Event::Executed);
    }

    fn ended(&mut self, status: ExitStatus) {
        if self.over {
            return;
        }
        self.let_children_go();
        self.over = true;
        self.memory.needs_no_guardian();
        self.pinning.forget_all();
        self.waker.abandon();
        match self.has_left_writers() {
            true => self.output.finish_and_discard(),
            false => self.output.finish(),
        }
        self.tell(Event::Exited(status));
    }
}
