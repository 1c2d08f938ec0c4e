//! The thread that owns the debuggee. No other thread calls ptrace or waits for the debuggee. Decisions that don't need the kernel are made
//! in other modules, by code without I/O.
//!
//! The owner thread is a separate thread, or the one that uses the session (`session/keeper`). In the latter case the client's loop waits
//! for the debuggee, and neither a request nor a stop costs a switch between threads. Commands are closures that run between two events of
//! the debuggee. Those from other threads come through a queue: a [`Waker`] ends the wait for the debuggee, and each answer goes back
//! through a channel. What happens without a command is sent as an [`Event`]. The debuggee's stops go through the reducer
//! ([`crate::stops`]), whose actions are carried out here.
//!
//! Two notes for each thread ([`threads`]) make breakpoints exact. `passed` is the site at the thread's instruction pointer, once the hit
//! has been counted: only then may the thread get past the site, otherwise it has yet to run into it. `skip` keeps this while the thread
//! runs a signal handler: once it returns to that address with that stack pointer, the hit must not be counted again.

mod activity;
mod affinity;
mod arguments;
pub(crate) mod assigning;
mod attach;
mod attached;
mod awaiting;
mod background;
mod backwards;
pub(crate) mod bookmarks;
mod breakpoint_calls;
mod breakpoint_hits;
mod breakpoint_locations;
mod checkpoints;
pub(crate) mod commands;
mod core_dump;
mod debuginfod;
mod diverted;
mod exceptions;
mod forks;
mod frame_ends;
pub(crate) mod goto;
pub(crate) mod history;
mod hit_counts;
mod in_trampolines;
mod indexing;
mod indirect_functions;
mod inferior_calls;
mod inlined_calls;
mod input;
mod insertion;
mod interruptions;
mod jumps;
mod landings;
mod laps;
pub(crate) mod last_write;
mod link_maps;
mod loader;
mod logging;
pub(crate) mod memory;
mod pass_counts;
mod past_jumps;
mod pauses;
mod queries;
mod recursion;
mod remote;
mod repeated_instructions;
mod repeated_lines;
mod restart_frame;
mod return_values;
mod running;
mod same_memory;
mod signals;
mod single_thread;
mod sites;
mod spans;
mod state;
pub(crate) mod step_back;
mod step_back_again;
mod stepping;
mod stop_all;
mod stub_conditions;
mod stub_steps;
mod task_steps;
mod temporary_breakpoints;
mod terminate_threads;
mod threads;
mod trap;
mod trap_handler;
mod travel;
mod turns;
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
use crate::stops::{Actions, Stops};
use crate::{Error, Event, ThreadId};
use activity::Activity;
use crossbeam_channel::{Receiver, Sender};
use dapple_inspect::modules::Modules;
use dapple_inspect::values::known::Known;
use dapple_target::exit_status::ExitStatus;
use dapple_target::launch::LaunchOptions;
use dapple_target::linux::guardian::Guardian;
use dapple_target::linux::live_process::LiveProcess;
use dapple_target::linux::output::Output;
use dapple_target::linux::wait::{self, Waker};
use dapple_target::linux::{launch, launcher};
use dapple_target::process::{Process, Waited};
use dapple_target::process_info::{ProcessInfo, Start};
use dapple_target::signals::SignalTable;
use dapple_target::wait_event::WaitEvent;
use history::History;
use state::{Debuggee, Leaving, Link, Loading, StopState};
use std::sync::Arc;
use threads::Threads;

/// Something to do on the owner thread.
pub(crate) type Command = Box<dyn FnOnce(&mut Owner) + Send>;

/// The receiving end of the commands, and how to wake the thread that receives them.
pub(crate) struct CommandQueue {
    pub(crate) sender: Sender<Command>,
    commands: Receiver<Command>,
    waker: Arc<Waker>,
    /// Whether the owner thread also receives the session's events. It then waits for the debuggee and for events at once, so whatever other
    /// thread sends an event must wake it.
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

    /// The waker that a thread which sends an event must use. `None`: sending an event wakes its receiver by itself.
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
    history: history::History,
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
    /// Starts a program. It is stopped before its first instruction when this returns.
    pub(crate) fn launch(
        options: &LaunchOptions,
        debug_info: DebugInfoOptions,
        events: Sender<Event>,
        queue: CommandQueue,
    ) -> Result<(Owner, ProcessInfo), Error> {
        queue.waker.adopt_current_thread();
        let (recording, own) = history::file::opened(options)?.unzip();
        let launched = match &options.launcher {
            Some(launcher) => launcher::take_over(options, launcher)?,
            None => launch::launch(own.as_ref().unwrap_or(options))?,
        };
        let refuse_because = |what: &str, why: &str| Error::Launch {
            program: options.program.clone(),
            reason: format!("{what}: {why}"),
        };
        let refuse = |what: &str, e: std::io::Error| refuse_because(what, &e.to_string());
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
        let started = started.and_then(|(process, output)| {
            let begun = match (recording, options.record) {
                (Some(recording), _) => {
                    history::file::begun(process, recording, options.checkpoints, &queue.waker)
                        .map_err(|why| history::file::not_replayed(options, &why))?
                }
                (None, true) => history::begun(process, options.checkpoints)
                    .map_err(|why| refuse_because("it can't be recorded", &why))?,
                (None, false) => (Arc::new(process), History::none(options.checkpoints)),
            };
            Ok((begun.0, output, begun.1))
        });
        let (process, output, history) = match started {
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
                forbids_calls: false,
            },
            stops,
            process,
            guardian: None,
            output,
            debug_info,
        };
        let mut owner = Owner::of(parts, events, queue);
        owner.history = history;
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
            history: history::History::default(),
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

    /// Waits for an event of the debuggee or for the waker, and handles what came. `false`: there is no tracee to wait for; only a command
    /// can bring the session further.
    pub(crate) fn attend(&mut self) -> bool {
        let one = self.stop.wait.next(&self.stops);
        match self.next_event(one) {
            Ok(Waited::Event(event)) => self.handle_event(event),
            Ok(Waited::Woken) => {
                self.stop.wait.tick();
                self.lap_ticks();
                self.checkpoint_ticks();
                self.log_regularly();
                self.link.waker.take();
                self.unpin_long_running();
                // These are parts of a command themselves.
                if !self.activity.is_call() && self.write_search().is_none() {
                    self.serve();
                }
                self.handle_pending_event();
            }
            Ok(Waited::NoThreads) if one.is_some() => self.stop.wait.was_in_vain(),
            // A child is being handed over to another tracer, which answers with a command.
            Ok(Waited::NoThreads) if self.has_only_children() => return false,
            Ok(Waited::NoThreads) => {
                let status = self.stops.last_exit();
                self.ended(status.unwrap_or(ExitStatus::Signal(libc::SIGKILL)));
            }
            Err(error) => {
                tracing::error!(%error, "waiting for the program failed");
                self.leaving.lost = Some(error.to_string());
                self.abandon();
            }
        }
        true
    }

    /// Waits for the debuggee's events and handles them within a command, until `done` returns `true`; it is called before each wait. Ends
    /// early if the session is over or no tracee is left.
    fn attend_until(&mut self, mut done: impl FnMut(&mut Owner) -> bool) {
        while !self.leaving.over && !done(self) {
            if !self.attend() {
                return;
            }
        }
    }

    fn handle_event(&mut self, event: WaitEvent) {
        tracing::trace!(?event, "debuggee");
        self.noticed(event);
        self.activity_notices(event);
        self.handle_stop(event);
        self.perform();
    }

    /// Ends the session after a failure of the engine itself, or when the [`Session`](crate::Session) value was dropped. A debuggee that
    /// was launched is killed. From one that was attached to, everything inserted is taken out.
    pub(crate) fn abandon(&mut self) {
        if !self.leaving.over {
            self.threads.pinning.release();
            self.let_children_go();
            match self.debuggee.of_launched {
                true if self.has_only_children() => {}
                true => self.process().kill_after_failure(),
                // The kernel detaches the process when this thread ends.
                false => {
                    self.memory.clean_own();
                    self.memory.keep_guardian();
                }
            }
            self.ended(ExitStatus::Signal(libc::SIGKILL));
        }
    }

    /// Makes a thread the one that has stopped last.
    fn set_current(&mut self, thread: ThreadId) {
        self.stop.current = thread;
    }

    /// Whether the debuggee has ended or was detached.
    pub(crate) fn is_over(&self) -> bool {
        self.leaving.over
    }

    fn serve(&mut self) {
        while !self.leaving.over
            && let Ok(command) = self.link.commands.try_recv()
        {
            self.obey(command);
        }
    }

    /// Runs a command and the actions that follow from it. `None`: the session was over already.
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
        // Fails only if nobody receives events any more, which is when the session ends.
        let _ = self.link.events.send(event);
    }

    /// Records a stop to report, and stops all threads for it. During an inferior call, the call decides what becomes of the stop.
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
        self.stop_all();
    }

    /// The stops to report once all threads are stopped, which aren't reported now.
    /// The data breakpoints whose data was accessed, as the present stop says.
    fn accessed_now(&self) -> Vec<i64> {
        self.stop.accessed().to_vec()
    }

    fn take_reports(&mut self) -> Vec<Stop> {
        std::mem::take(&mut self.stop.reports)
    }

    /// Sets the stops to report.
    fn set_reports(&mut self, reports: Vec<Stop>) {
        self.stop.reports = reports;
    }

    /// Whether a pause was asked for, which isn't reported now.
    fn takes_pause(&mut self) -> bool {
        self.stop.pause.take().is_some()
    }

    /// A thread was asked to stop.
    fn asked_to_stop(&mut self, thread: ThreadId) {
        self.stop.wait.asked(thread);
    }

    /// Whether all threads have stopped for more than to let some of them go on alone.
    fn is_to_report(&self) -> bool {
        !self.stop.reports.is_empty() || self.stop.pause.is_some() || self.leaving.detaching
    }

    fn all_stopped(&mut self) {
        self.stop.wait.over();
        self.threads.pinning.all_stopped();
        self.unpark();
        for thread in self.stopped_threads() {
            self.leave_copy(thread);
        }
        if !self.stops.awaits_children() && !self.stops.has_vfork_children() {
            // No thread or vfork child is in a copy, and no forked child is left that may have the bytes of removed sites.
            self.memory.forget_removed();
            self.memory.caves.reclaim();
            self.memory.reclaim_trampolines();
        }
        self.all_logged();
        self.make_jumps();
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
        reports.retain(|r| self.is_live(r.thread));
        if let Some(asked) = self.stop.pause.take()
            && reports.is_empty()
        {
            if !self.goes_to_jump_place() {
                self.stop.pause = Some(asked);
                self.run_alone(&[]);
                return self.stop_all();
            }
            let thread = asked
                .filter(|t| self.is_live(*t))
                .or_else(|| self.live_threads().next());
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
            // Nothing to report. Either the thread that stopped has died since; or its breakpoint's condition calls a function, and doesn't
            // hold; or the threads were stopped only for a moment, for example to get one of them past its site.
            self.take_due_checkpoint();
            return self.run_alone(&alone);
        };
        let ended = self.activity.step().map(stepping::Stepping::ends_before);
        let ended = self.take_stepped_back().or(ended);
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

    /// Notes that a thread's stop at an address without a site is reported: if a breakpoint is set there now, the thread doesn't hit it by
    /// going on, only when it comes there again. Nothing is noted if there is a site: the thread has run into it already, or has yet to (if
    /// it has accessed watched data, has a signal pending or was paused).
    fn mark_stop_seen(&mut self, stop: &Stop) {
        if self.site(stop.address).is_none() {
            self.control(stop.thread).passed = Some(stop.address);
        }
    }

    /// Reports a stop, and forgets what was known about the stop before. Tries refused breakpoints again, and takes inserted bytes out of a
    /// process that was attached to. Begins to make indexes, unless this is the stop at the program's start or after attaching.
    fn tell_stops(&mut self, stops: Vec<Stop>) {
        self.stop.begins(&stops);
        if self.is_stopped() {
            self.arm_again();
        }
        if self.is_stopped() && (!self.dies_with_debugger() || self.is_recorded()) {
            self.clean_for_stop();
        }
        self.settle_in_present(self.stop.current);
        self.end_checkpoints();
        self.keep_moment();
        self.threads.new_stop();
        self.link.output.drain();
        let behind_start = !stops.iter().any(|stop| stop.reason == StopReason::Entry);
        self.tell(Event::Stopped(stops));
        if behind_start {
            self.make_indexes();
        }
    }

    fn thread_ended(&mut self, thread: ThreadId) {
        self.activity_lost(thread);
        self.stack_ended(thread);
        self.resolver_calls_ended(thread);
        self.threads.ended(thread);
    }

    /// The process runs another program (exec): forgets what was known about the old program, and loads the new one.
    fn executed(&mut self, thread: ThreadId) {
        self.end_step();
        self.threads.executed(thread);
        self.stop.reports.clear();
        self.indirect_functions = indirect_functions::IndirectFunctions::default();
        match self.process().reopen(self.process().id()) {
            Ok(process) => {
                self.memory.needs_no_guardian();
                let guardian = self.guardian_of(process.id());
                self.begin_memory(process, guardian);
            }
            Err(error) => {
                tracing::error!(%error, "the new program's memory can't be read");
                return self.abandon();
            }
        }
        self.load_new_program();
        self.handle_traps_of_executed(thread);
        self.activity_executed(thread);
    }

    /// Replaces the known modules by those of another program, in whose memory nothing is inserted yet.
    fn load_new_program(&mut self) {
        self.forget_modules();
        let program = self.process().executable();
        self.load_program(&program);
        self.watch_new_program();
        self.tell(Event::Executed);
    }

    fn ended(&mut self, status: ExitStatus) {
        if self.leaving.over {
            return;
        }
        self.tell_logged();
        self.let_children_go();
        self.leaving.over = true;
        self.memory.needs_no_guardian();
        self.threads.pinning.forget_all();
        self.link.waker.abandon();
        match self.has_left_writers() {
            true => self.link.output.finish_and_discard(),
            false => self.link.output.finish(),
        }
        let lost = self.leaving.lost.take().map(Event::Lost);
        self.tell(lost.unwrap_or(Event::Exited(status)));
    }
}
