//! The processes of a program that has children (`--follow-forks both`), each in a session of its own with an adapter.
//!
//! The one that the user looks at is the session's; another one takes its place for as long as something is about it. Whatever stops
//! while the user looks at nothing is looked at.

use std::mem::swap;
use std::path::PathBuf;

use anyhow::{Context, bail};
use dapple_dap::types::{
    ConfigurationDoneArguments, ConfigurationDoneRequest, StartDebuggingRequestArguments,
};

use super::{Session, State};
use crate::debug::breakpoints::Answer;
use crate::debug::commands::Watch;
use crate::debug::link::{Link, Start};
use crate::debug::render;
use crate::debug::style::Role;

/// A frame that is to return. Clients can only ask for steps out of the innermost one, so there may be several of those.
pub struct Finishing {
    /// Where the frames are, from the innermost to the caller of the one that is to return.
    pub places: Vec<Option<String>>,
    /// The one that the program is in.
    pub reached: usize,
}

impl Finishing {
    /// Whether a step out that has come to `place` was of a frame further in.
    pub fn is_inside(&mut self, place: Option<&str>) -> bool {
        let after = self.reached + 1;
        let rest = self.places.get(after..).unwrap_or_default();
        let found = rest.iter().position(|known| known.as_deref() == place);
        match found {
            Some(index) if place.is_some() => {
                self.reached = after + index;
                self.reached + 1 < self.places.len()
            }
            _ => false,
        }
    }
}

/// What is known of one process.
pub struct Process {
    /// Its number, from 1.
    pub(super) number: u32,
    /// Its id, if that is known.
    pub(super) id: Option<i64>,
    /// The number of its adapter's run.
    pub(super) run: u32,
    pub(super) link: Option<Link>,
    pub(super) launch: Result<(), String>,
    /// Where it is in its life.
    pub state: State,
    /// A step out is under way: what is returned will be shown.
    pub finishing: Option<Finishing>,
    /// The step under way is by an instruction, which is shown where it ends.
    pub by_instruction: bool,
    /// The file and last line shown, from where `list` goes on.
    pub listed: Option<(PathBuf, usize)>,
    /// Which data is watched in it.
    pub watches: Vec<Watch>,
    /// What its adapter has said of breakpoints, while the user looks at another one.
    answers: Vec<(u32, Answer)>,
}

impl Process {
    /// One of which nothing else is known yet.
    pub(super) fn new(number: u32, id: Option<i64>, run: u32, state: State) -> Self {
        Self {
            number,
            id,
            run,
            link: None,
            launch: Ok(()),
            state,
            finishing: None,
            by_instruction: false,
            listed: None,
            watches: Vec::new(),
            answers: Vec::new(),
        }
    }
}

impl Session {
    /// Has the process that the user looks at and another one change places.
    fn exchange(&mut self, index: usize) {
        let other = &mut self.others[index];
        swap(&mut self.process, other);
        swap(&mut self.process.answers, &mut other.answers);
        self.breakpoints.exchange_answers(&mut other.answers);
    }

    /// Whether the program has several processes, or had.
    pub(super) fn has_children(&self) -> bool {
        self.last_number > 1
    }

    /// Whether a session is one of these processes'.
    pub(super) fn has_session(&self, run: u32) -> bool {
        self.process.run == run || self.others.iter().any(|other| other.run == run)
    }

    /// Does something with the process that an adapter's message is about. Where that has it stop, and the user looks at
    /// nothing else, it is what they look at from then on.
    pub(super) fn in_process(
        &mut self,
        run: u32,
        act: impl FnOnce(&mut Session) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let outcome = if run == self.process.run {
            act(self)
        } else if let Some(index) = self.others.iter().position(|other| other.run == run) {
            self.aside = matches!(self.process.state, State::Stopped(_));
            self.exchange(index);
            let outcome = act(self);
            if std::mem::take(&mut self.aside) || !matches!(self.process.state, State::Stopped(_)) {
                self.exchange(index);
            }
            outcome
        } else {
            Ok(())
        };
        self.forget_ended();
        outcome
    }

    /// Does the same for each process that takes it already; the first error is told.
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

    /// What has ended is no process any more. The last one stays, as the program that can be run again.
    fn forget_ended(&mut self) {
        let is_over = |state: &State| matches!(state, State::Over);
        if is_over(&self.process.state) && !self.others.is_empty() {
            let stopped = |other: &Process| matches!(other.state, State::Stopped(_));
            let next = self.others.iter().position(stopped).unwrap_or(0);
            self.exchange(next);
            self.others.remove(next);
            self.show_again();
        }
        self.others.retain(|other| !is_over(&other.state));
    }

    /// An adapter asks for a session for a child.
    pub(super) fn open_child(&mut self, asked: &StartDebuggingRequestArguments) {
        let id = asked.configuration.get("pid");
        let id = id.and_then(|id| id.decode::<i64>().ok());
        self.last_run += 1;
        let run = self.last_run;
        let link = Link::open(
            &self.adapter,
            self.log.options(run.into()),
            Start::Asked(asked),
            self.program.follow_forks,
            self.input.program_stdin(),
            self.screen.style,
            (run, &self.sender),
        );
        let link = match link {
            Ok(link) => link,
            Err(error) => {
                let text = format!("a child of the program can't be debugged: {error:#}");
                return self.screen.complain(&text);
            }
        };
        self.last_number += 1;
        let mut child = Process::new(self.last_number, id, run, State::Starting);
        child.link = Some(link);
        self.others.push(child);
        let name = process_name(self.last_number, id);
        let text = format!("{name} was begun by a fork");
        let text = self.screen.style.paint(Role::Aside, &text);
        self.screen.say(&text);
    }

    /// A child's adapter takes breakpoints: gives it all there are, and lets the child run.
    pub(super) fn configure_child(&mut self) -> anyhow::Result<()> {
        self.process.state = State::Running;
        for file in self.breakpoints.files() {
            self.tell_breakpoints_here(&file)?;
        }
        self.tell_function_breakpoints_here()?;
        self.tell_exceptions_here()?;
        if self.is_own_adapter() {
            self.tell_skip_here()?;
        }
        self.request::<ConfigurationDoneRequest>(ConfigurationDoneArguments::default())?;
        Ok(())
    }

    /// The process that the user looks at was let run: looks at another one that is stopped, if there is one.
    pub fn look_at_stopped(&mut self) {
        let stopped = |other: &Process| matches!(other.state, State::Stopped(_));
        if let Some(index) = self.others.iter().position(stopped) {
            self.exchange(index);
            self.show_again();
        }
    }

    /// Looks at the process with this number.
    ///
    /// # Errors
    /// There is none.
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

    /// Shows where the process is that the user looks at from now on.
    fn show_again(&mut self) {
        let mut text = process_name(self.process.number, self.process.id);
        match &self.process.state {
            State::Stopped(_) => {
                text += " is stopped";
                self.screen.say(&text);
                let looked = match self.stop() {
                    Ok(stop) if stop.frames.is_empty() => self.select_own_code(),
                    _ => Ok(()),
                };
                if let Err(error) = looked.and_then(|()| self.show_selected()) {
                    self.screen.complain(&format!("{error:#}"));
                }
            }
            State::Over => {}
            _ => {
                text += " is running; Ctrl-C stops it";
                let text = self.screen.style.paint(Role::Aside, &text);
                self.screen.say(&text);
            }
        }
    }

    /// `process 2`, with its id where that is known.
    pub(super) fn this_process(&self) -> String {
        process_name(self.process.number, self.process.id)
    }

    /// A line for each process, by their numbers.
    pub fn process_lines(&self) -> Vec<String> {
        let style = self.screen.style;
        let mut lines = Vec::new();
        let mut add = |number: u32, id, state: &State, mark: String| {
            let state = match state {
                State::Ready => "not started yet".to_owned(),
                State::Starting | State::Running => "running".to_owned(),
                State::Stopped(stop) => match stop.frame() {
                    Some(frame) => format!("stopped in {}", render::frame(frame, style)),
                    None => "stopped".to_owned(),
                },
                State::Over => return,
            };
            lines.push((
                number,
                format!("{mark} {}: {state}", process_name(number, id)),
            ));
        };
        add(
            self.process.number,
            self.process.id,
            &self.process.state,
            style.paint(Role::Current, "→"),
        );
        for other in &self.others {
            add(other.number, other.id, &other.state, " ".to_owned());
        }
        lines.sort();
        lines.into_iter().map(|(_, line)| line).collect()
    }

    /// Ends all processes, or lets them go, and their adapters: the program's own first, so that it has no further children.
    ///
    /// # Errors
    /// An adapter did not end in order.
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

fn process_name(number: u32, id: Option<i64>) -> String {
    match id {
        Some(id) => format!("process {number} ({id})"),
        None => format!("process {number}"),
    }
}
