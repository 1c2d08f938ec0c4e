//! Dispatches the adapter's events, and handles all but stops.

use anyhow::bail;
use dapple_dap::client::breakpoints::{BreakpointId, Change};
use dapple_dap::types::{
    self, AnyEvent, BreakpointEventReason, OutputEventCategory, ThreadEventReason,
};

use super::{Session, State};
use crate::debug::adapters::chatter;
use crate::debug::adapters::process::Written;
use crate::debug::results::{self, Item, Record};
use crate::debug::screen::{Stream, printable};
use crate::debug::style::Role;
use crate::debug::styled::Styled;

/// Whether an output is the program's.
pub(super) fn is_of_program(output: &types::OutputEventBody) -> bool {
    use OutputEventCategory::{Stderr, Stdout};
    matches!(output.category, Some(Stdout | Stderr))
}

impl Session {
    pub(super) fn adapter_event(&mut self, event: AnyEvent) {
        match event {
            AnyEvent::Output(output) => self.output(&output),
            AnyEvent::Stopped(stop) => self.stopped(&stop),
            AnyEvent::Continued(_) => {
                if matches!(self.process.state, State::Stopped(_)) {
                    self.process.state = State::Running;
                    let process = self.number_among_several();
                    self.screen
                        .record(&Record::Resumed(results::Resumed { process }));
                }
            }
            AnyEvent::Exited(exit) => {
                if self.process.number == 1 {
                    self.exit_code = Some(exit.exit_code);
                }
                self.exited(exit.exit_code);
            }
            AnyEvent::Terminated(_) => {
                self.ended();
                self.record_end(None);
                self.process.state = State::Over;
                self.breakpoints.program_ended();
                if let Err(error) = self.close_link() {
                    self.screen.print_error(&format!("{error:#}"));
                }
            }
            AnyEvent::Thread(thread) if thread.reason == ThreadEventReason::Started => {
                self.note_thread(thread.thread_id);
            }
            AnyEvent::Process(process) => {
                if let Some(id) = process.system_process_id {
                    self.note_thread(id);
                    self.process.id = Some(id);
                    self.process.is_local = process.is_local_process != Some(false);
                }
            }
            AnyEvent::Initialized(_) if matches!(self.process.state, State::Starting) => {
                if let Err(error) = self.configure_child() {
                    self.screen.print_error(&format!("{error:#}"));
                }
            }
            AnyEvent::Breakpoint(changed) => self.breakpoint_changed(changed),
            _ => {}
        }
    }

    /// Says that the selected process has ended, after adapters that don't say with which code.
    fn ended(&mut self) {
        let is_said = self.process.has_exited || self.process.is_relay || self.screen.is_json();
        let has_run = matches!(self.process.state, State::Running | State::Stopped(_));
        if is_said || !has_run || self.is_own_adapter() {
            return;
        }
        let who = match self.has_children() {
            true => self.this_process(),
            false => "the program".to_owned(),
        };
        let text = { self.screen.style }.paint(Role::Reason, &format!("{who} has ended"));
        self.screen.print(&text);
    }

    /// Shows what an adapter has written beside the protocol.
    pub(super) fn adapter_wrote(&mut self, written: Written, text: &str) {
        match written {
            Written::Output => self.screen.program_output(Stream::Out, text),
            Written::Errors => {
                let text = printable(text.trim_end());
                let text = self.screen.style.paint(Role::Aside, &text);
                self.screen.print(&text);
            }
        }
    }

    /// Says that the selected process has ended.
    fn exited(&mut self, code: i64) {
        self.process.has_exited = true;
        if self.screen.is_json() {
            return self.record_end(Some(code));
        }
        let who = match self.has_children() {
            true => self.this_process(),
            false => "program".to_owned(),
        };
        let text = format!("{who} exited with code {code}");
        let text = self.screen.style.paint(Role::Reason, &text);
        self.screen.print(&text);
    }

    /// With `--json`: writes the record of the selected process's end, unless it was written. `code`: its exit code, if that is known.
    pub(super) fn record_end(&mut self, code: Option<i64>) {
        if self.screen.is_json() && !std::mem::replace(&mut self.process.has_told_end, true) {
            self.screen.record_notice();
            let process = self.number_among_several();
            let exited = results::Exited { code, process };
            self.screen.record(&Record::Exited(exited));
        }
    }

    /// The number of the selected process, in a program that has several.
    fn number_among_several(&self) -> Option<u32> {
        self.has_children().then_some(self.process.number)
    }

    /// The adapter has answered the launch.
    ///
    /// # Errors
    /// It has refused it, and the session is over: it is a batch.
    pub(super) fn launched(&mut self, outcome: Result<(), String>) -> anyhow::Result<()> {
        if let Err(message) = &outcome {
            if self.input.is_batch() && self.process.number == 1 {
                self.process.state = State::Over;
                bail!(message.clone());
            }
            self.screen.print_error(message);
            self.record_end(None);
            if self.process.number > 1 {
                // Further errors of its adapter would add nothing.
                let _ = self.close_link();
            }
            self.process.state = State::Over;
        }
        self.process.launch = outcome;
        Ok(())
    }

    /// Records a thread, if none was recorded before. `id` may be the process's, which on Linux is also its
    /// main thread's.
    pub(super) fn note_thread(&self, id: i64) {
        if let Some(link) = &self.process.link
            && link.known_thread().is_none()
        {
            link.set_known_thread(id);
        }
    }

    pub(super) fn output(&mut self, output: &types::OutputEventBody) {
        let is_others = !self.is_own_adapter();
        // gdb says there that it hasn't read the program yet, for each breakpoint.
        if is_others && matches!(self.process.state, State::Ready) && is_of_program(output) {
            return;
        }
        match &output.category {
            // gdb says so as the program.
            Some(OutputEventCategory::Stdout)
                if self.is_adapter("gdb") && chatter::is_of_gdb(&output.output) => {}
            Some(OutputEventCategory::Stdout) => {
                self.screen.program_output(Stream::Out, &output.output)
            }
            Some(OutputEventCategory::Stderr) => {
                self.screen.program_output(Stream::Err, &output.output)
            }
            Some(OutputEventCategory::Telemetry) => {}
            _ => {
                let text = match is_others {
                    true => chatter::without_greetings(&output.output),
                    false => output.output.clone(),
                };
                let text = text.trim_end();
                if text.is_empty() && is_others {
                    return;
                }
                let text = match self.takes_styling() {
                    true => Styled::of(text),
                    false => Styled::plain(text),
                };
                let text = text.painted(self.screen.style, Some(Role::Aside));
                self.screen.print(&text);
            }
        }
    }

    pub(super) fn breakpoint_changed(&mut self, changed: types::BreakpointEventBody) {
        if changed.reason == BreakpointEventReason::Removed && changed.breakpoint.id.is_some() {
            let gone = changed.breakpoint.id;
            self.process.watches.retain(|watch| watch.id != gone);
        }
        let id = changed.breakpoint.id;
        let is_known = id.is_some_and(|id| self.breakpoints.by_id(id).is_some());
        if changed.reason == BreakpointEventReason::New && !is_known {
            return;
        }
        let verified: Vec<BreakpointId> = { self.breakpoints.placed.iter() }
            .filter(|entry| entry.is_verified())
            .map(|entry| entry.id)
            .collect();
        for change in self.breakpoints.placed.event(&changed) {
            let Change::Changed(id) = change else {
                continue;
            };
            if let Some(breakpoint) = self.breakpoints.get(id.0)
                && let Some(answer) = self.breakpoints.answer(id.0)
                && answer.verified
                && !verified.contains(&id)
            {
                let found = results::Breakpoint::of(breakpoint, Some(answer), self.screen.style);
                self.screen.show(Item::Breakpoint(found));
            }
        }
    }
}
