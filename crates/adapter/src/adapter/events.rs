//! Events of the engine as events of the protocol.

use crate::adapter::{Adapter, Phase};
use crate::clients;
use crate::console::{say, send_output};
use crate::handlers::exceptions;
use crate::output::TextStream;
use crate::to_dap;
use dapple_dap::server::{ClientConventions, Outbox, Progress};
use dapple_dap::types::{
    BreakpointEvent, BreakpointEventBody, BreakpointEventReason, ExitedEvent, ModuleEvent,
    ModuleEventBody, ModuleEventReason, OutputEvent, OutputEventBody, ProcessEvent, StoppedEvent,
    TerminatedEvent, ThreadEvent, ThreadEventBody, ThreadEventReason,
};
use dapple_engine::ThreadId;
use dapple_engine::event::{ExitStatus, Stop, StopReason, Stream, Written};
use dapple_engine::modules::ModuleInfo;
use dapple_engine::session::ProcessInfo;
use dapple_engine::session::watching::{DataBreakpointState, DataRefusal};
use std::path::Path;

/// The error for references to values from before an exec.
const REPLACED: &str = "the program that this value was of has begun another (exec)";

impl Adapter {
    /// Passes an event of the engine on to the client.
    pub fn send_event(
        &mut self,
        event: dapple_engine::Event,
        outbox: &Outbox,
        client: &ClientConventions,
    ) {
        use dapple_engine::Event;
        match event {
            Event::Stopped(stops) => self.send_stops(&stops, outbox),
            Event::ThreadStarted(thread) => send_thread(outbox, ThreadEventReason::Started, thread),
            Event::ThreadExited(thread) => send_thread(outbox, ThreadEventReason::Exited, thread),
            Event::ModuleLoaded(info) => {
                send_module(outbox, ModuleEventReason::New, &info);
                self.disassembled.code_changes();
                self.sources_come(info.id);
            }
            Event::ModuleChanged(info) => {
                send_module(outbox, ModuleEventReason::Changed, &info);
                self.sources_come(info.id);
            }
            Event::ModuleUnloaded(info) => {
                send_module(outbox, ModuleEventReason::Removed, &info);
                self.disassembled.code_changes();
                self.sources_go(info.id, outbox, client);
            }
            Event::BreakpointChanged(state) => self.send_breakpoint(&state, outbox, client),
            Event::DataBreakpointChanged(state) => self.send_data_breakpoint(&state, outbox),
            Event::Output { stream, bytes } => self.send_program_output(stream, bytes, outbox),
            Event::Logged(logged) => self.send_logged(&[logged], outbox, client),
            Event::LoggedLines(logged) => self.send_logged_lines(logged, outbox, client),
            Event::Signalled {
                thread,
                description,
                ..
            } => say(outbox, &format!("thread {thread}: {description}")),
            Event::DebugInfoWarnings(warnings) => warn(outbox, &warnings),
            Event::PresentationWarnings(problems) => {
                let of_files = |problem| to_dap::presentation_problem(problem, &self.visualizers);
                warn(outbox, &problems.iter().map(of_files).collect::<Vec<_>>());
            }
            Event::PastDiverted => say(
                outbox,
                "the past stays as it was: what you change or call here is in a copy, which is dropped when the program moves",
            ),
            Event::SystemCallsRefused(names) => {
                let names = names.join(", ");
                say(outbox, &format!("not done in this copy: {names}"));
            }
            Event::Indexing {
                module,
                done,
                total,
            } => self.send_indexing(&module, done, total, outbox),
            Event::Indexed { .. } => {
                self.indexing = None;
                self.tasks_can_be_found(outbox);
            }
            Event::Fetching { module, source } => {
                self.send_fetching(&module, source.as_deref(), outbox);
            }
            Event::Fetched { .. } => self.fetched.progress = None,
            Event::SourceFetched {
                build_id,
                source,
                file,
            } => self.source_fetched((build_id, source), file, outbox),
            Event::Forked { process, name } => self.send_forked(process, &name, outbox),
            Event::Followed(process) => self.followed(process, outbox),
            Event::RuntimesKnown(runtimes) => exceptions::send_filters(self, runtimes, outbox),
            Event::LeaksNotLookedFor => say(outbox, to_dap::LEAKS),
            Event::Executed => self.executed(outbox),
            Event::Lost(why) => self.send_loss(&why, outbox),
            Event::Exited(status) => self.send_exit(status, outbox),
            other => tracing::warn!(?other, "an event of a kind that is not passed on"),
        }
    }

    fn send_program_output(&mut self, stream: Stream, bytes: Written, outbox: &Outbox) {
        let text = self.stream(stream).push(&bytes);
        let body = OutputEventBody::new(text).with_category(to_dap::category(stream));
        // Keeps `bytes` until the message is sent: the program's output is not read while too much of it is unsent.
        if !body.output.is_empty() {
            outbox.event_keeping::<OutputEvent>(body, Some(Box::new(bytes)));
        }
    }

    /// The engine debugs a child process now, in place of the process that has forked it.
    fn followed(&mut self, process: ProcessInfo, outbox: &Outbox) {
        outbox.event::<ProcessEvent>(to_dap::process(&process));
        if let Some(debuggee) = &mut self.debuggee {
            debuggee.goes_on_with(process);
        }
    }

    /// The process has replaced its program (exec).
    fn executed(&mut self, outbox: &Outbox) {
        self.kept.end(REPLACED);
        if let Some(debuggee) = &self.debuggee {
            outbox.event::<ProcessEvent>(to_dap::process(debuggee.process()));
        }
    }

    /// Shows the progress of indexing a module, to clients that support progress.
    fn send_indexing(&mut self, module: &Path, done: u64, total: u64, outbox: &Outbox) {
        let progress = self.indexing.get_or_insert_with(|| {
            let name = module.file_name().unwrap_or(module.as_os_str());
            Progress::start(outbox, format!("Indexing {}", name.to_string_lossy()))
        });
        progress.update(None, Some(100.0 * done as f64 / total.max(1) as f64));
    }

    fn send_stops(&mut self, stops: &[Stop], outbox: &Outbox) {
        // The stop at the entry is part of the start: `start_when_ready` reports it to the client if the user wants to see it.
        let stops: Vec<&Stop> = stops
            .iter()
            .filter(|stop| stop.reason != StopReason::Entry)
            .collect();
        let Some(first) = stops.first() else { return };
        if self.phase == Phase::PartlyRunning {
            // References to values of held threads belong to the previous stop.
            self.resumed();
        }
        self.phase = Phase::Stopped;
        self.stopped_thread = Some(first.thread);
        let arrived = stops.iter().filter(|stop| stop.reason.is_arrival());
        self.arrived = arrived.map(|stop| stop.thread).collect();
        let in_runtime = stops.iter().filter(|stop| stop.reason.is_in_runtime());
        self.in_runtime = in_runtime.map(|stop| stop.thread).collect();
        for (index, stop) in stops.into_iter().enumerate() {
            let mut ids = stop.reason.breakpoints().to_vec();
            if let StopReason::Data(hits) = &stop.reason {
                ids.extend(hits.iter().map(|hit| hit.breakpoint));
                for why in hits.iter().filter_map(|hit| hit.undecided.as_ref()) {
                    say(outbox, why);
                }
            }
            let at_main = self.main_stop.is_among(&ids);
            // Temporary breakpoints have no id that the client knows.
            let ids = ids.into_iter();
            let ids: Vec<i64> = ids.filter_map(|id| self.breakpoints.known_id(id)).collect();
            let all = |is: &dyn Fn(i64) -> bool| !ids.is_empty() && ids.iter().all(|id| is(*id));
            if let StopReason::Undecided { why, .. } = &stop.reason {
                say(outbox, why);
            }
            let hit = to_dap::Hit {
                all_functions: all(&|id| self.breakpoints.is_function(id)),
                all_instructions: all(&|id| self.breakpoints.is_instruction(id)),
                at_main: ids.is_empty() && at_main,
                ids,
            };
            outbox.event::<StoppedEvent>(to_dap::stopped(
                stop,
                index == 0,
                hit,
                self.function_names,
            ));
        }
    }

    /// Reports that watched data was found, moved or lost.
    pub fn send_data_breakpoint(&mut self, state: &DataBreakpointState, outbox: &Outbox) {
        let id = self.breakpoints.client_id(state.id);
        let reason = match &state.refused {
            Some(DataRefusal::Gone(why)) => {
                say(outbox, why);
                self.data.forget(id);
                BreakpointEventReason::Removed
            }
            _ => BreakpointEventReason::Changed,
        };
        let breakpoint = to_dap::data_breakpoint(state, id);
        outbox.event::<BreakpointEvent>(BreakpointEventBody::new(reason, breakpoint));
    }

    fn finish_output(&mut self, outbox: &Outbox) {
        for stream in [Stream::Stdout, Stream::Stderr] {
            let text = self.stream(stream).finish();
            send_output(outbox, to_dap::category(stream), text);
        }
    }

    fn forget_debuggee(&mut self) {
        self.resumed();
        self.phase = Phase::Ended;
        self.debuggee = None;
        self.untraced = None;
        self.fetched.progress = None;
    }

    /// The process can't be reached any more: nobody knows whether it has exited.
    fn send_loss(&mut self, why: &str, outbox: &Outbox) {
        self.finish_output(outbox);
        say(
            outbox,
            &format!("the program can't be reached any more: {why}"),
        );
        self.forget_debuggee();
        outbox.event::<TerminatedEvent>(Default::default());
    }

    fn send_exit(&mut self, status: ExitStatus, outbox: &Outbox) {
        self.finish_output(outbox);
        // In a restart, the user would take this message for the end of the new run.
        if !self.begun_again {
            match status {
                ExitStatus::Signal(number) => {
                    let name = dapple_engine::signals::name(number);
                    say(outbox, &format!("killed by {name}"));
                }
                ExitStatus::Code(code) => {
                    if !outbox.client().is_some_and(|it| clients::is_terminal(&it)) {
                        say(outbox, &format!("program exited with code {code}"));
                    }
                }
            }
        }
        self.forget_debuggee();
        outbox.event::<ExitedEvent>(to_dap::exited(status));
        outbox.event::<TerminatedEvent>(Default::default());
    }

    fn stream(&mut self, stream: Stream) -> &mut TextStream {
        match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        }
    }
}

/// Sends each warning as a message of the debugger.
fn warn(outbox: &Outbox, warnings: &[String]) {
    for warning in warnings {
        say(outbox, &format!("warning: {warning}"));
    }
}

/// Sends a `module` event.
pub fn send_module(outbox: &Outbox, reason: ModuleEventReason, info: &ModuleInfo) {
    outbox.event::<ModuleEvent>(ModuleEventBody::new(reason, to_dap::module(info)));
}

fn send_thread(outbox: &Outbox, reason: ThreadEventReason, thread: ThreadId) {
    outbox.event::<ThreadEvent>(ThreadEventBody::new(reason, i64::from(thread.0)));
}
