//! The processes of a program that has children (`--follow-forks both`), each with a protocol session and an adapter of its own.
//!
//! The selected process is the session's `process`. While an event of another process is handled, the session's `process` is that other
//! one. A process that stops while no stopped process is selected becomes the selected one.

use std::mem::swap;
use std::path::PathBuf;

use anyhow::{Context, bail};
use dapple_dap::client::breakpoints::Breakpoints;
use dapple_dap::types::{
    ConfigurationDoneArguments, ConfigurationDoneRequest, StartDebuggingRequestArguments,
};

use super::steps::StepsLeft;
use super::{Session, State};
use crate::debug::commands::Watch;
use crate::debug::link::{Link, Start};
use crate::debug::results::{self, Frame, ProcessLine, process_name};
use crate::debug::style::Role;

/// The progress of `finish`. The protocol can only step out of the innermost frame, so several steps out may be needed for a frame further
/// out.
pub struct Finishing {
    /// The addresses of the frames, from the innermost to the caller of the one that shall return; `None` where the adapter gave none.
    pub addresses: Vec<Option<String>>,
    /// The index of the frame that the program has reached.
    pub reached: usize,
}

impl Finishing {
    /// Records that a step out has ended at `address`. Returns whether the frame that shall return has yet to do so. `false` also if no
    /// frame further out is known to have this address.
    pub fn is_inside(&mut self, address: Option<&str>) -> bool {
        let after = self.reached + 1;
        let rest = self.addresses.get(after..).unwrap_or_default();
        let found = rest.iter().position(|known| known.as_deref() == address);
        match found {
            Some(index) if address.is_some() => {
                self.reached = after + index;
                self.reached + 1 < self.addresses.len()
            }
            _ => false,
        }
    }
}

/// The state of one process.
pub struct Process {
    /// Its number, from 1.
    pub(super) number: u32,
    /// Its process id, if known.
    pub(super) id: Option<i64>,
    /// `false` if the adapter says that it runs on another machine.
    pub(super) is_local: bool,
    /// The number of its adapter's run, 0 after the adapter was closed.
    pub(super) run: u32,
    pub(super) link: Option<Link>,
    pub(super) launch: Result<(), String>,
    /// Its state.
    pub state: State,
    /// Set while a `finish` is in progress. When the last step out of it has ended, the return value is shown.
    pub finishing: Option<Finishing>,
    /// The step in progress is by one instruction: when the step has ended, the next instruction is shown instead of the source.
    pub by_instruction: bool,
    /// The steps that follow the one in progress.
    pub(super) steps_left: Option<StepsLeft>,
    /// The file and last line shown, from which `list` continues.
    pub listed: Option<(PathBuf, usize)>,
    /// Whether a thread has stopped for an exception or a signal, and it has not run on since.
    pub(super) is_at_failure: bool,
    /// Its adapter debugs nothing in this session: it has asked for another one, in which it does.
    pub(super) is_relay: bool,
    /// The adapter has said with which code it has exited.
    pub(super) has_exited: bool,
    /// Why it has stopped last.
    pub(super) cause: Option<results::Cause>,
    /// With `--json`: its end is told.
    pub(super) has_told_end: bool,
    /// Its watchpoints.
    pub watches: Vec<Watch>,
    /// While another process is selected: the breakpoints as this process's adapter has them.
    placed: Breakpoints,
}

impl Process {
    /// Its process id, if the adapter has said it.
    pub fn id(&self) -> Option<i64> {
        self.id
    }

    /// A process without a connection to its adapter, of which only these four facts are known yet.
    pub(super) fn new(number: u32, id: Option<i64>, run: u32, state: State) -> Self {
        Self {
            number,
            id,
            is_local: true,
            run,
            link: None,
            launch: Ok(()),
            state,
            finishing: None,
            by_instruction: false,
            steps_left: None,
            listed: None,
            is_at_failure: false,
            is_relay: false,
            has_exited: false,
            cause: None,
            has_told_end: false,
            watches: Vec::new(),
            placed: Breakpoints::new(),
        }
    }
}

impl Session {
    /// The id of the selected process, if that is on this machine as far as we know.
    pub fn local_process(&self) -> Option<i64> {
        let is_local = self.process.is_local && self.adapter.is_local();
        self.process.id.filter(|_| is_local)
    }

    /// Exchanges the selected process and the one at `index` of `others`.
    fn exchange(&mut self, index: usize) {
        let other = &mut self.others[index];
        swap(&mut self.process, other);
        swap(&mut self.process.placed, &mut other.placed);
        swap(&mut self.breakpoints.placed, &mut other.placed);
    }

    /// Whether the program has or had several processes.
    pub(super) fn has_children(&self) -> bool {
        self.last_number > 1
    }

    /// Whether `run` is the run of one of the processes.
    pub(super) fn has_session(&self, run: u32) -> bool {
        self.process.run == run || self.others.iter().any(|other| other.run == run)
    }

    /// Calls `act` while the process of this run is selected; does nothing if there is no such process. The process stays selected if `act`
    /// leaves it stopped and the process that was selected before is not stopped.
    pub(super) fn in_process(
        &mut self,
        run: u32,
        act: impl FnOnce(&mut Session) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let outcome = if run == self.process.run {
            act(self)
        } else if let Some(index) = self.others.iter().position(|other| other.run == run) {
            self.selected_for_event = matches!(self.process.state, State::Stopped(_));
            self.exchange(index);
            let outcome = act(self);
            if std::mem::take(&mut self.selected_for_event)
                || !matches!(self.process.state, State::Stopped(_))
            {
                self.exchange(index);
            }
            outcome
        } else {
            Ok(())
        };
        self.forget_ended();
        outcome
    }

    /// Calls `act` with each process selected: the selected one, then all others except those that are [`State::Starting`]. Returns the first
    /// error, after all calls.
    pub(super) fn in_each_process(
        &mut self,
        act: impl Fn(&mut Session) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut outcome = act(self);
        for index in 0..self.others.len() {
            self.exchange(index);
            if !matches!(self.process.state, State::Starting) {
                outcome = outcome.and(act(self));
            }
            self.exchange(index);
        }
        outcome
    }

    /// Removes processes that have ended. If the selected one has ended, selects another, if possible a stopped one, and shows it. If no other
    /// is left, the selected one stays: it is the program that can be run again.
    fn forget_ended(&mut self) {
        let is_over = |state: &State| matches!(state, State::Over);
        if is_over(&self.process.state) && !self.others.is_empty() {
            let stopped = |other: &Process| matches!(other.state, State::Stopped(_));
            let next = self.others.iter().position(stopped).unwrap_or(0);
            self.exchange(next);
            self.others.remove(next);
            // There is nothing to see in a relay, which ends by itself.
            if !self.process.is_relay {
                self.show_again();
            }
        }
        self.others.retain(|other| !is_over(&other.state));
    }

    /// Opens a session for a child, at the request of the adapter of the run `parent`.
    pub(super) fn open_child(&mut self, parent: u32, request: &StartDebuggingRequestArguments) {
        let id = request.configuration.get("pid");
        let id = id.and_then(|id| id.decode::<i64>().ok());
        self.last_run += 1;
        let run = self.last_run;
        let link = Link::open(self.opening(Start::Child(request), run));
        let link = match link {
            Ok(link) => link,
            Err(error) => {
                let text = format!("a child of the program can't be debugged: {error:#}");
                return self.screen.print_error(&text);
            }
        };
        if self.is_relayed(parent) {
            return self.replace_relay(id, run, link);
        }
        self.last_number += 1;
        let mut child = Process::new(self.last_number, id, run, State::Starting);
        child.link = Some(link);
        self.others.push(child);
        let name = process_name(self.last_number, id);
        let how = match self.is_own_adapter() {
            true => "was begun by a fork",
            false => "has a session of its own, which the adapter has asked for",
        };
        let text = format!("{name} {how}");
        let text = self.screen.style.paint(Role::Aside, &text);
        self.screen.print(&text);
    }

    /// Whether the session that asks for another one is the program's first, and the adapter has named no process and no thread in it: js-debug
    /// debugs only in the sessions that it asks for. The user sees the one that takes its place, and no child.
    fn is_relayed(&self, parent: u32) -> bool {
        let this = &self.process;
        let has_thread = this
            .link
            .as_ref()
            .is_some_and(|it| it.known_thread().is_some());
        let is_first = this.run == parent && this.number == 1 && self.last_number == 1;
        is_first && !self.is_own_adapter() && this.id.is_none() && !has_thread && !this.is_relay
    }

    /// The program is debugged in this session from now on.
    fn replace_relay(&mut self, id: Option<i64>, run: u32, link: Link) {
        let mut program = Process::new(1, id, run, State::Starting);
        program.link = Some(link);
        (self.process.is_relay, self.process.number) = (true, 0);
        self.others.push(program);
        self.exchange(self.others.len() - 1);
    }

    /// Sends all breakpoints, exception filters and skip patterns to a child's adapter, which now accepts them, and lets the child run.
    pub(super) fn configure_child(&mut self) -> anyhow::Result<()> {
        self.process.state = State::Running;
        for file in self.breakpoints.files() {
            self.send_breakpoints_here(&file)?;
        }
        self.send_function_breakpoints_here()?;
        self.send_exceptions_here()?;
        if self.is_own_adapter() {
            self.send_skip_here()?;
        }
        self.request::<ConfigurationDoneRequest>(ConfigurationDoneArguments::default())?;
        Ok(())
    }

    /// Selects another process that is stopped, if there is one. Call it after the selected one was resumed.
    pub fn select_stopped_process(&mut self) {
        let stopped = |other: &Process| matches!(other.state, State::Stopped(_));
        if let Some(index) = self.others.iter().position(stopped) {
            self.exchange(index);
            self.show_again();
        }
    }

    /// Selects the process with this number.
    ///
    /// # Errors
    /// There is no such process, or it has ended.
    pub fn select_process(&mut self, number: u32) -> anyhow::Result<()> {
        if number != self.process.number {
            let index = self.others.iter().position(|other| other.number == number);
            let index = index.with_context(|| {
                format!("there is no process {number}; `info processes` lists them")
            })?;
            self.exchange(index);
        }
        if matches!(self.process.state, State::Over) {
            bail!("the program is not running; `run` starts it");
        }
        self.show_again();
        Ok(())
    }

    /// Shows where the newly selected process is stopped, or that it is running.
    fn show_again(&mut self) {
        let mut text = process_name(self.process.number, self.process.id);
        match &self.process.state {
            State::Stopped(_) => {
                text += " is stopped";
                self.screen.print(&text);
                let looked = match self.stop() {
                    Ok(stop) if stop.frames.is_empty() => self.select_own_code(),
                    _ => Ok(()),
                };
                if let Err(error) = looked.and_then(|()| self.show_selected()) {
                    self.screen.print_error(&format!("{error:#}"));
                }
            }
            State::Over => {}
            _ => {
                text += " is running; Ctrl-C stops it";
                let text = self.screen.style.paint(Role::Aside, &text);
                self.screen.print(&text);
            }
        }
    }

    /// `process 2`, with its id if that is known.
    pub(super) fn this_process(&self) -> String {
        process_name(self.process.number, self.process.id)
    }

    /// The processes that haven't ended, in the order of their numbers.
    pub fn listed_processes(&self) -> Vec<ProcessLine> {
        let others = self.others.iter().filter(|other| !other.is_relay);
        let all = std::iter::once((&self.process, true)).chain(others.map(|other| (other, false)));
        let mut listed: Vec<ProcessLine> = all
            .filter_map(|(process, selected)| {
                let (state, frame) = match &process.state {
                    State::Ready => (results::State::NotStarted, None),
                    State::Starting | State::Running => (results::State::Running, None),
                    State::Stopped(stop) => (results::State::Stopped, stop.frame().map(Frame::of)),
                    State::Over => return None,
                };
                Some(ProcessLine {
                    number: process.number,
                    id: process.id,
                    state,
                    frame,
                    selected,
                })
            })
            .collect();
        listed.sort_by_key(|process| process.number);
        listed
    }

    /// Kills or detaches all processes and ends their adapters; the first process goes first, so that it creates no further children.
    ///
    /// # Errors
    /// An adapter failed to end properly.
    pub fn disconnect(&mut self) -> anyhow::Result<()> {
        if let Some(first) = self.others.iter().position(|other| other.number == 1) {
            self.exchange(first);
        }
        let mut outcome = self.close_link();
        while !self.others.is_empty() {
            self.exchange(self.others.len() - 1);
            self.others.pop();
            outcome = outcome.and(self.close_link());
        }
        outcome
    }
}
