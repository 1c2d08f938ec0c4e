//! One debugging session: what is known about the program, and the loop in which everything happens.
//!
//! The loop waits for one of three things: a command, something from the adapter, Ctrl-C. Commands are asked for only
//! while the program does not run; a command that resumes it just says so and returns, and the stop that follows is an
//! event like any other. So nothing here ever waits for the program.

mod news;
mod places;
mod processes;
mod stops;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use dapple_dap::client::Pending;
use dapple_dap::message::Request;
use dapple_dap::types::{
    self, AnyEvent, ConfigurationDoneRequest, DisconnectArguments, DisconnectRequest,
    PauseArguments, PauseRequest, StartDebuggingRequestArguments,
};

use super::breakpoints::Breakpoints;
use super::commands::{self, Flow};
use super::complete::Completer;
use super::exceptions::Exceptions;
use super::input::{Input, Line, Next, PROMPT};
use super::link::{Adapter, Attach, Link, Program, Start};
use super::screen::Screen;
use super::source_view::Sources;
use crate::wire_log::WireLog;

pub use processes::{Finishing, Process};
pub use stops::Stop;

/// How long a program that we launched may take to stop by the terminal's own SIGINT.
const INTERRUPT_PATIENCE: Duration = Duration::from_secs(2);

/// The senders live as long as the session, so this is never seen.
const NO_INPUT: &str = "the session has lost its input";

/// Something the session has to deal with.
#[derive(Debug)]
pub enum Event {
    /// A line was read, or there are no more.
    Line(Line),
    /// The adapter sent an event. Those of an earlier run's adapter are told by the number of the run.
    Adapter(u32, Box<AnyEvent>),
    /// The adapter's answer to `launch`, which may come late.
    Launched(u32, Result<(), String>),
    /// The adapter is gone.
    Gone(u32),
    /// The adapter asks for a session for another process.
    Asked(u32, Box<StartDebuggingRequestArguments>),
    /// Ctrl-C while no line was being read.
    Interrupt,
}

/// Where the program is in its life.
#[derive(Debug)]
pub enum State {
    /// A child whose adapter doesn't take breakpoints yet.
    Starting,
    /// Held before its first instruction, waiting for `run`.
    Ready,
    /// Running; what came before is out of date.
    Running,
    /// Stopped.
    Stopped(Box<Stop>),
    /// Ended, killed or never there.
    Over,
}

/// The session.
pub struct Session {
    /// What the user sees.
    pub screen: Screen,
    /// Source texts.
    pub sources: Sources,
    /// What is debugged.
    pub program: Program,
    /// What the user asked to stop at.
    pub breakpoints: Breakpoints,
    /// At which exceptions and signals.
    pub exceptions: Exceptions,
    /// Which code steps don't enter.
    pub skip: Vec<String>,
    /// The process that the user looks at.
    pub process: Process,
    /// How the program ended; `None` as long as it has not.
    pub exit_code: Option<i64>,
    others: Vec<Process>,
    /// The program is let go, not ended.
    lets_go: bool,
    /// The process is only looked at for a moment: the user looks at another one.
    aside: bool,
    last_number: u32,
    adapter: Adapter,
    log: WireLog,
    last_run: u32,
    input: Input,
    completer: Completer,
    asked: bool,
    /// When to pause the program if Ctrl-C has not stopped it by then.
    pause_at: Option<Instant>,
    last_command: String,
    events: Receiver<Event>,
    /// Taken from there, and not dealt with yet.
    waiting: VecDeque<Event>,
    sender: Sender<Event>,
}

impl Session {
    /// A session that has not begun.
    pub fn new(
        screen: Screen,
        program: Program,
        adapter: Adapter,
        log: WireLog,
        input: Input,
        completer: Completer,
        (sender, events): (Sender<Event>, Receiver<Event>),
    ) -> Self {
        Self {
            screen,
            sources: Sources::default(),
            program,
            breakpoints: Breakpoints::default(),
            exceptions: Exceptions::default(),
            skip: vec!["std".to_owned()],
            process: Process::new(1, None, 0, State::Over),
            exit_code: None,
            others: Vec::new(),
            lets_go: false,
            aside: false,
            last_number: 1,
            adapter,
            log,
            last_run: 0,
            input,
            completer,
            asked: false,
            pause_at: None,
            last_command: String::new(),
            events,
            waiting: VecDeque::new(),
            sender,
        }
    }

    /// Runs the session to its end.
    ///
    /// # Errors
    /// The program can't be started, the adapter is gone, or a command failed with `--batch`.
    pub fn run(&mut self) -> anyhow::Result<()> {
        let outcome = self.start().and_then(|()| self.main_loop());
        self.screen.prompt_answered();
        let ended = self.disconnect();
        outcome.and(ended)
    }

    fn main_loop(&mut self) -> anyhow::Result<()> {
        loop {
            while let Some(event) = self
                .waiting
                .pop_front()
                .or_else(|| self.events.try_recv().ok())
            {
                if self.handle(event)? == Flow::Quit {
                    return Ok(());
                }
            }
            if !matches!(self.process.state, State::Running | State::Starting) && !self.asked {
                match self.input.next() {
                    Next::Scripted(line) => {
                        self.screen.say(&format!("{PROMPT}{line}"));
                        if self.execute(&line)? == Flow::Quit {
                            return Ok(());
                        }
                        continue;
                    }
                    Next::Asked => {
                        if self.input.is_interactive() {
                            self.screen.prompt_shown(self.completer.clone());
                        }
                        self.asked = true;
                    }
                    Next::NoMore => return Ok(()),
                }
            }
            let Some(event) = self.wait()? else { continue };
            if self.handle(event)? == Flow::Quit {
                return Ok(());
            }
        }
    }

    fn handle(&mut self, event: Event) -> anyhow::Result<Flow> {
        match event {
            Event::Line(line) => {
                self.asked = false;
                self.screen.prompt_answered();
                match line {
                    Line::Command(line) => return self.execute(&line),
                    Line::Cleared => {}
                    Line::End => return commands::run(self, "quit"),
                }
            }
            Event::Interrupt => self.interrupt(),
            Event::Adapter(run, event) => self.in_process(run, |session| {
                session.adapter_event(*event);
                Ok(())
            })?,
            Event::Launched(run, outcome) => self.in_process(run, |session| {
                session.launched(outcome);
                Ok(())
            })?,
            Event::Gone(run) => self.in_process(run, Self::adapter_gone)?,
            Event::Asked(run, asked) if self.has_session(run) => self.open_child(&asked),
            Event::Asked(..) => {}
        }
        Ok(Flow::Go)
    }

    fn adapter_gone(&mut self) -> anyhow::Result<()> {
        if self.process.link.take().is_none() {
            return Ok(());
        }
        self.process.state = State::Over;
        if self.has_children() {
            let process = self.this_process();
            let text = format!("the debug adapter of {process} ended unexpectedly");
            self.screen.complain(&text);
            return Ok(());
        }
        bail!("the debug adapter ended unexpectedly");
    }

    /// Runs a command. Its failure is told and, with `--batch`, the end.
    fn execute(&mut self, line: &str) -> anyhow::Result<Flow> {
        let mut line = line.trim().to_owned();
        if line.is_empty() {
            if self.last_command.is_empty() {
                return Ok(Flow::Go);
            }
            line.clone_from(&self.last_command);
        }
        self.last_command = if commands::repeats(&line) {
            line.clone()
        } else {
            String::new()
        };
        match commands::run(self, &line) {
            Ok(flow) => Ok(flow),
            Err(error) if self.input.is_batch() => Err(error),
            Err(error) => {
                self.screen.complain(&format!("{error:#}"));
                Ok(Flow::Go)
            }
        }
    }

    /// The link to the adapter, for requests.
    pub fn link(&self) -> anyhow::Result<&Link> {
        self.process
            .link
            .as_ref()
            .context("the program is not running; `run` starts it")
    }

    /// Whether the adapter is ours, and takes what is of no other.
    pub fn is_own_adapter(&self) -> bool {
        matches!(self.adapter, Adapter::Own)
    }

    /// Whether the adapter gives variables and its own output colours, as it was asked where we show any.
    pub fn takes_styling(&self) -> bool {
        let link = self.process.link.as_ref();
        let has_any = |link: &Link| link.capabilities().supports_ansi_styling == Some(true);
        self.screen.style.is_enabled() && link.is_some_and(has_any)
    }

    /// Sends a request and waits for its answer.
    pub fn request<R: Request>(&self, arguments: R::Arguments) -> anyhow::Result<R::Response> {
        self.link()?.request::<R>(arguments)
    }

    /// As [`Self::request`], of what may run functions of the program: Ctrl-C ends it.
    pub fn request_that_runs<R: Request>(
        &mut self,
        arguments: R::Arguments,
    ) -> anyhow::Result<R::Response>
    where
        R::Response: Send + 'static,
        Pending<R>: Send + 'static,
    {
        let pending = self.link()?.send::<R>(arguments)?;
        let request = pending.seq();
        let (answered, answer) = crossbeam_channel::bounded(1);
        std::thread::spawn(move || answered.send(pending.wait_for(Duration::MAX)));
        let mut cancel_at = crossbeam_channel::never();
        let mut was_interrupted = false;
        loop {
            crossbeam_channel::select! {
                recv(answer) -> outcome => return Ok(outcome.context(NO_INPUT)??),
                recv(self.events) -> event => match event.context(NO_INPUT)? {
                    // As `interrupt` says of a program that runs.
                    Event::Interrupt if self.has_our_terminal() && !was_interrupted => {
                        was_interrupted = true;
                        cancel_at = crossbeam_channel::after(INTERRUPT_PATIENCE);
                    }
                    Event::Interrupt => self.link()?.cancel(request),
                    event => self.waiting.push_back(event),
                },
                recv(cancel_at) -> _ => self.link()?.cancel(request),
            }
        }
    }

    /// Starts an adapter and has it load the program, which is then ready to run with all breakpoints in place.
    pub fn start(&mut self) -> anyhow::Result<()> {
        // What was watched was of the process before.
        self.process.watches.clear();
        self.last_run += 1;
        self.process.run = self.last_run;
        (self.process.number, self.last_number, self.process.id) = (1, 1, None);
        self.exit_code = None;
        self.process.launch = Ok(());
        let link = Link::open(
            &self.adapter,
            self.log.options(self.process.run.into()),
            Start::Program(&self.program, &self.skip),
            self.program.follow_forks,
            self.input.program_stdin(),
            self.screen.style,
            (self.process.run, &self.sender),
        )?;
        self.process.link = Some(link);
        // `initialized` says that breakpoints can be set, but an adapter that can't launch never sends it: its answer to
        // the launch says why then, also where `terminated` comes first. Ours says it before it builds, and answers when
        // the program is there; others may wait for us with their answer.
        let (mut takes_breakpoints, mut is_there) = (false, !self.is_own_adapter());
        while !(takes_breakpoints && is_there) {
            let event = match self.waiting.pop_front() {
                Some(event) => event,
                None => self.events.recv().context(NO_INPUT)?,
            };
            match event {
                Event::Adapter(run, event) if run == self.process.run => match *event {
                    AnyEvent::Initialized(_) => takes_breakpoints = true,
                    AnyEvent::Terminated(_) => {}
                    event => self.adapter_event(event),
                },
                Event::Launched(run, Err(message)) if run == self.process.run => {
                    // What is left of the adapter has nothing more to say than this.
                    let _ = self.disconnect();
                    bail!(message);
                }
                Event::Launched(run, outcome) if run == self.process.run => {
                    self.launched(outcome);
                    is_there = true;
                }
                Event::Interrupt => bail!("interrupted while the program was being loaded"),
                event => {
                    self.handle(event)?;
                }
            }
        }
        self.process.state = State::Ready;
        for file in self.breakpoints.files() {
            self.tell_breakpoints(&file)?;
        }
        self.tell_function_breakpoints()?;
        if self.program.attach.is_some() {
            // It is held by its first stop.
            self.let_run()?;
        }
        self.tell_exceptions()?;
        Ok(())
    }

    /// The program was told to go on.
    pub fn resumed(&mut self) {
        self.process.state = State::Running;
        self.process.finishing = None;
        self.process.by_instruction = false;
        self.process.listed = None;
        if self.input.is_interactive() {
            self.screen.share();
        }
    }

    /// Lets a program that is ready run.
    pub fn let_run(&mut self) -> anyhow::Result<()> {
        self.resumed();
        self.request::<ConfigurationDoneRequest>(types::ConfigurationDoneArguments::default())?;
        self.process.launch.clone().map_err(anyhow::Error::msg)
    }

    /// Ends the process that the user looks at, or lets it go, and its adapter.
    fn close_link(&mut self) -> anyhow::Result<()> {
        let Some(link) = self.process.link.take() else {
            return Ok(());
        };
        self.process.state = State::Over;
        self.breakpoints.forget_answers();
        let ends = self.program.attach.is_none() && !self.lets_go;
        let arguments = DisconnectArguments::new().with_terminate_debuggee(ends);
        let answer = link.request::<DisconnectRequest>(arguments);
        link.close();
        // Output that was on its way still belongs to the user; other news of it no longer matter.
        for event in std::mem::take(&mut self.waiting)
            .into_iter()
            .chain(self.events.try_iter().collect::<Vec<_>>())
        {
            match event {
                Event::Adapter(run, event) if run == self.process.run => {
                    if let AnyEvent::Output(output) = *event {
                        self.output(&output);
                    }
                }
                Event::Launched(run, _) | Event::Gone(run) if run == self.process.run => {}
                event => self.waiting.push_back(event),
            }
        }
        self.process.run = 0;
        answer
            .map(|_| ())
            .context("the adapter did not end in order")
    }

    /// Says what the end of the session meant for the program.
    pub fn say_how_it_was_left(&mut self) {
        self.screen.say(match (&self.program.attach, self.lets_go) {
            // Nothing has become of it.
            (Some(Attach::Core { .. }), _) => return,
            (Some(Attach::Process { .. }), _) | (None, true) => "the program was let go",
            (None, false) => "the program was ended",
        });
    }

    /// Lets the program run on without a debugger.
    pub fn let_go(&mut self) -> anyhow::Result<()> {
        self.lets_go = true;
        let outcome = self.disconnect();
        self.say_how_it_was_left();
        self.lets_go = false;
        outcome
    }

    /// The next event. `None`: it was time to pause the program.
    fn wait(&mut self) -> anyhow::Result<Option<Event>> {
        if let Some(event) = self.waiting.pop_front() {
            return Ok(Some(event));
        }
        let Some(deadline) = self.pause_at else {
            return Ok(Some(self.events.recv().context(NO_INPUT)?));
        };
        match self.events.recv_deadline(deadline) {
            Ok(event) => Ok(Some(event)),
            Err(RecvTimeoutError::Timeout) => {
                self.pause();
                Ok(None)
            }
            Err(RecvTimeoutError::Disconnected) => bail!(NO_INPUT),
        }
    }

    /// Ctrl-C. The terminal gives it to the program as well where that shares our process group, and then the program
    /// stops by itself; a pause on top would be a second stop for one key. So that comes only if nothing else does, or
    /// at the second key.
    fn interrupt(&mut self) {
        if !matches!(self.process.state, State::Running) {
            return;
        }
        match self.pause_at {
            None if self.has_our_terminal() => {
                self.pause_at = Some(Instant::now() + INTERRUPT_PATIENCE)
            }
            _ => self.pause(),
        }
    }

    /// Whether the program gets the terminal's signals, too.
    fn has_our_terminal(&self) -> bool {
        self.is_own_adapter() && self.program.attach.is_none()
    }

    fn pause(&mut self) {
        self.pause_at = None;
        let Some(link) = &self.process.link else {
            return;
        };
        // Asking for the threads first would wait, in some adapters, for the stop that is asked for here.
        let thread = link.known_thread().unwrap_or_default();
        // That there is none any more, or that it has stopped by itself, is told by events.
        let _ = self.request::<PauseRequest>(PauseArguments::new(thread));
    }
}
