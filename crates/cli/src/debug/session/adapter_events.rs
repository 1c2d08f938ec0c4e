//! Dispatches the adapter's events, and handles all but stops.

use dapple_dap::types::{
    self, AnyEvent, BreakpointEventReason, OutputEventCategory, ThreadEventReason,
};

use super::{Session, State};
use crate::debug::render;
use crate::debug::screen::Stream;
use crate::debug::style::Role;
use crate::debug::styled::Styled;

impl Session {
    pub(super) fn adapter_event(&mut self, event: AnyEvent) {
        match event {
            AnyEvent::Output(output) => self.output(&output),
            AnyEvent::Stopped(stop) => self.stopped(&stop),
            AnyEvent::Continued(_) => {
                if matches!(self.process.state, State::Stopped(_)) {
                    self.process.state = State::Running;
                }
            }
            AnyEvent::Exited(exit) => {
                if self.process.number == 1 {
                    self.exit_code = Some(exit.exit_code);
                }
                let who = match self.has_children() {
                    true => self.this_process(),
                    false => "program".to_owned(),
                };
                let text = format!("{who} exited with code {}", exit.exit_code);
                let text = self.screen.style.paint(Role::Reason, &text);
                self.screen.print(&text);
            }
            AnyEvent::Terminated(_) => {
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

    pub(super) fn launched(&mut self, outcome: Result<(), String>) {
        if let Err(message) = &outcome {
            self.screen.print_error(message);
            if self.process.number > 1 {
                // Further errors of its adapter would add nothing.
                let _ = self.close_link();
            }
            self.process.state = State::Over;
        }
        self.process.launch = outcome;
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
        match &output.category {
            Some(OutputEventCategory::Stdout) => {
                self.screen.program_output(Stream::Out, &output.output)
            }
            Some(OutputEventCategory::Stderr) => {
                self.screen.program_output(Stream::Err, &output.output)
            }
            Some(OutputEventCategory::Telemetry) => {}
            _ => {
                let text = output.output.trim_end();
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
        let Some(breakpoint) = changed
            .breakpoint
            .id
            .and_then(|id| self.breakpoints.by_id(id))
        else {
            return;
        };
        let was_verified = breakpoint
            .answer
            .as_ref()
            .is_some_and(|answer| answer.verified);
        if changed.reason == BreakpointEventReason::Removed {
            breakpoint.answer = None;
            return;
        }
        breakpoint.answer = Some(changed.breakpoint.into());
        let now = breakpoint.clone();
        if !was_verified && now.answer.as_ref().is_some_and(|answer| answer.verified) {
            let text = render::breakpoint(&now, self.screen.style);
            self.screen.print(&text);
        }
    }
}
