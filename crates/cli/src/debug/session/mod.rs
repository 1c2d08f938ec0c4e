//! One debugging session: the state of the program, and the event loop.
//!
//! The loop waits for a command, a message from the adapter, or Ctrl-C. It asks for commands only while the selected process doesn't run. A
//! command that resumes the program returns at once, and the stop that follows is an event like any other. So no command waits for a stop.

mod adapter_events;
mod configuration;
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

/// After Ctrl-C, how long a launched program may take to stop by the SIGINT that the terminal sends it too. If it doesn't stop by then, the
/// session requests a pause, or the cancellation of the request that waits.
const INTERRUPT_PATIENCE: Duration = Duration::from_secs(2);

/// The error if the channel of events is closed. That is not expected: the session itself keeps one of the channel's senders.
const NO_INPUT: &str = "the session has lost its input";

/// An event for the session's loop.
#[derive(Debug)]
pub enum Event {
    /// What the user answered at the prompt, or what was read from stdin instead.
    Line(Line),
    /// The adapter of the run with this number sent an event. Events of a run that is over are ignored.
    Adapter(u32, Box<AnyEvent>),
    /// The answer of this run's adapter to `launch` or `attach`. Some adapters answer only after `configurationDone`.
    Launched(u32, Result<(), String>),
    /// The adapter of this run has ended.
    AdapterEnded(u32),
    /// The adapter of this run requests a session for another process (`startDebugging`).
    StartDebugging(u32, Box<StartDebuggingRequestArguments>),
    /// A SIGINT. (At the line editor's prompt, Ctrl-C is a key and no signal.)
    Interrupt,
}

/// The state of the program.
#[derive(Debug)]
pub enum State {
    /// A child process whose adapter doesn't accept breakpoints yet.
    Starting,
    /// Loaded, with the breakpoints sent; `run` starts it.
    Ready,
    /// Running.
    Running,
    /// Stopped.
    Stopped(Box<Stop>),
    /// Ended, killed, detached or never started.
    Over,
}

/// The session.
pub struct Session {
    /// The terminal.
    pub screen: Screen,
    /// Source texts.
    pub sources: Sources,
    /// What is debugged.
    pub program: Program,
    /// The user's breakpoints.
    pub breakpoints: Breakpoints,
    /// The user's choice of exceptions and signals to stop at.
    pub exceptions: Exceptions,
    /// Patterns of code that steps don't enter.
    pub skip: Vec<String>,
    /// The selected process.
    pub process: Process,
    /// The exit code of the first process; `None` until it has exited.
    pub exit_code: Option<i64>,
    others: Vec<Process>,
    /// Whether [`Self::disconnect`] detaches the program instead of killing it.
    detaching: bool,
    /// `process` is selected only while its event is handled. Afterwards the process that the user has selected, which is stopped, takes its
    /// place again.
    selected_for_event: bool,
    last_number: u32,
    adapter: Adapter,
    log: WireLog,
    last_run: u32,
    input: Input,
    completer: Completer,
    /// A line was requested of `input`, and [`Event::Line`] has not answered yet.
    prompting: bool,
    /// The time at which the program is paused, if it hasn't stopped by the terminal's SIGINT before. `None` unless Ctrl-C was pressed.
    pause_at: Option<Instant>,
    last_command: String,
    events: Receiver<Event>,
    /// Events taken from `events` but not handled yet.
    waiting: VecDeque<Event>,
    sender: Sender<Event>,
}

impl Session {
    /// Creates a session that hasn't started.
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
            detaching: false,
            selected_for_event: false,
            last_number: 1,
            adapter,
            log,
            last_run: 0,
            input,
            completer,
            prompting: false,
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
    /// The program can't be started, the adapter ended unexpectedly or failed to disconnect, or, with `--batch`, a command failed.
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
            if !matches!(self.process.state, State::Running | State::Starting) && !self.prompting {
                match self.input.next() {
                    Next::Scripted(line) => {
                        self.screen.print(&format!("{PROMPT}{line}"));
                        if self.execute(&line)? == Flow::Quit {
                            return Ok(());
                        }
                        continue;
                    }
                    Next::Requested => {
                        if self.input.is_interactive() {
                            self.screen.prompt_shown(self.completer.clone());
                        }
                        self.prompting = true;
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
                self.prompting = false;
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
            Event::AdapterEnded(run) => self.in_process(run, Self::adapter_ended)?,
            Event::StartDebugging(run, child) if self.has_session(run) => self.open_child(&child),
            Event::StartDebugging(..) => {}
        }
        Ok(Flow::Go)
    }

    fn adapter_ended(&mut self) -> anyhow::Result<()> {
        if self.process.link.take().is_none() {
            return Ok(());
        }
        self.process.state = State::Over;
        if self.has_children() {
            let process = self.this_process();
            let text = format!("the debug adapter of {process} ended unexpectedly");
            self.screen.print_error(&text);
            return Ok(());
        }
        bail!("the debug adapter ended unexpectedly");
    }

    /// Runs a command. An empty line runs the last command again if [`commands::repeats`] allows that. An error is printed or, with
    /// `--batch`, returned.
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
                self.screen.print_error(&format!("{error:#}"));
                Ok(Flow::Go)
            }
        }
    }

    /// The connection to the selected process's adapter, for requests. The error says that there is none: the program is not running.
    pub fn link(&self) -> anyhow::Result<&Link> {
        self.process
            .link
            .as_ref()
            .context("the program is not running; `run` starts it")
    }

    /// Whether the adapter is Dapple's, which supports arguments and requests of its own.
    pub fn is_own_adapter(&self) -> bool {
        matches!(self.adapter, Adapter::Own)
    }

    /// Whether the values of variables and the adapter's own output may contain colours: this client shows colours, and the adapter has them.
    pub fn takes_styling(&self) -> bool {
        let link = self.process.link.as_ref();
        let has_any = |link: &Link| link.capabilities().supports_ansi_styling == Some(true);
        self.screen.style.is_enabled() && link.is_some_and(has_any)
    }

    /// Sends a request and waits for its answer.
    pub fn request<R: Request>(&self, arguments: R::Arguments) -> anyhow::Result<R::Response> {
        self.link()?.request::<R>(arguments)
    }

    /// As [`Self::request`], for requests that may call functions of the program. Ctrl-C cancels the request. If the program gets the
    /// terminal's SIGINT too, the request is cancelled only if no answer comes within [`INTERRUPT_PATIENCE`], or at the second Ctrl-C.
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
                    // As in `interrupt`: the program gets the terminal's SIGINT, too.
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

    /// Starts an adapter and makes it load the program, which is then ready to run, with all breakpoints sent. With `--attach` or `--core`, no
    /// `run` is needed: a stop follows.
    pub fn start(&mut self) -> anyhow::Result<()> {
        // Watchpoints belong to the previous process.
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
        // Waits for `initialized`: breakpoints can be set from then on. An adapter that can't launch may never send it; its error answer to
        // the launch ends the wait, even if `terminated` comes first. Dapple's adapter sends `initialized` before it builds the program, and
        // answers when the program exists, so its answer is waited for too. Other adapters may answer only after `configurationDone`.
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
                    // The launch's error is the one to report. What fails while disconnecting adds nothing to it.
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
            self.send_breakpoints(&file)?;
        }
        self.send_function_breakpoints()?;
        if self.program.attach.is_some() {
            // The process stops at once, without a `run`.
            self.finish_configuration()?;
        }
        self.send_exceptions()?;
        Ok(())
    }

    /// Records that the program was resumed.
    pub fn resumed(&mut self) {
        self.process.state = State::Running;
        self.process.finishing = None;
        self.process.by_instruction = false;
        self.process.listed = None;
        if self.input.is_interactive() {
            self.screen.share();
        }
    }

    /// Ends the configuration, which starts a program that is ready. Fails with the launch's error if the launch has failed by then.
    pub fn finish_configuration(&mut self) -> anyhow::Result<()> {
        self.resumed();
        self.request::<ConfigurationDoneRequest>(types::ConfigurationDoneArguments::default())?;
        self.process.launch.clone().map_err(anyhow::Error::msg)
    }

    /// Kills or detaches the selected process, and ends its adapter.
    fn close_link(&mut self) -> anyhow::Result<()> {
        let Some(link) = self.process.link.take() else {
            return Ok(());
        };
        self.process.state = State::Over;
        self.breakpoints.forget_answers();
        let ends = self.program.attach.is_none() && !self.detaching;
        let arguments = DisconnectArguments::new().with_terminate_debuggee(ends);
        let answer = link.request::<DisconnectRequest>(arguments);
        link.close();
        // Output that has already arrived is still shown; other events of this process no longer matter.
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
                Event::Launched(run, _) | Event::AdapterEnded(run) if run == self.process.run => {}
                event => self.waiting.push_back(event),
            }
        }
        self.process.run = 0;
        answer
            .map(|_| ())
            .context("the adapter did not end in order")
    }

    /// Prints whether the program was killed or detached; prints nothing after a core file.
    pub fn report_end(&mut self) {
        self.screen
            .print(match (&self.program.attach, self.detaching) {
                // There was no process.
                (Some(Attach::Core { .. }), _) => return,
                (Some(Attach::Process { .. }), _) | (None, true) => "detached from the program",
                (None, false) => "the program was ended",
            });
    }

    /// Detaches the program.
    pub fn detach(&mut self) -> anyhow::Result<()> {
        self.detaching = true;
        let outcome = self.disconnect();
        self.report_end();
        self.detaching = false;
        outcome
    }

    /// Waits for the next event. `None`: the time `pause_at` came first, and the pause was requested.
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

    /// Handles Ctrl-C while the program runs. If the program shares this process group, the terminal sends SIGINT to it as well, and it stops
    /// by itself; a pause would be a second stop for one key. So a pause is requested only if no stop comes in time, or at the second
    /// Ctrl-C. A program in another process group is paused at once.
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

    /// Whether the terminal's signals reach the program as well as this process.
    fn has_our_terminal(&self) -> bool {
        self.is_own_adapter() && self.program.attach.is_none()
    }

    fn pause(&mut self) {
        self.pause_at = None;
        let Some(link) = &self.process.link else {
            return;
        };
        // Requesting the threads first would, in some adapters, wait for the very stop that is requested here.
        let thread = link.known_thread().unwrap_or_default();
        // If the program has ended or stopped by itself, events report that.
        let _ = self.request::<PauseRequest>(PauseArguments::new(thread));
    }
}
