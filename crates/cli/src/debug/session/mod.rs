//! One debugging session: the state of the program, and the event loop.
//!
//! The loop waits for a command, a message from the adapter, or Ctrl-C. It asks for commands only while the selected process doesn't run, or with
//! `--json`. A
//! command that resumes the program returns at once, and the stop that follows is an event like any other. So no command waits for a stop.

mod adapter_events;
mod configuration;
mod ending;
mod faces;
mod interrupting;
mod processes;
mod scripts;
mod steps;
mod stops;

use std::collections::VecDeque;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use dapple_dap::client::Pending;
use dapple_dap::message::Request;
use dapple_dap::types::{
    self, AnyEvent, Capabilities, ConfigurationDoneRequest, DisconnectArguments,
    StartDebuggingRequestArguments,
};

use super::adapters::Adapter;
use super::adapters::process::Written;
use super::breakpoints::Breakpoints;
use super::commands::{self, Display, Examined, Flow, Values};
use super::complete::Completer;
use super::exceptions::Exceptions;
use super::full_screen::FullScreen;
use super::input::{Input, Line, Next, PROMPT, PROMPT_OF_BLOCK};
use super::interrupts::{Interrupts, tell_wait};
use super::link::{Link, Opening, Program, Start};
use super::results::{self, Failure, Record};
use super::screen::Screen;
use super::source_view::Sources;
use crate::wire_log::WireLog;

use adapter_events::is_of_program;
pub use processes::{Finishing, Process};
pub use scripts::{BlockOf, Origin, Scripted, Scripts};
pub use steps::{By, Way};
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
    /// An adapter has written something beside the protocol.
    AdapterWrote(Written, String),
    /// The adapter of this run requests a session for another process (`startDebugging`).
    StartDebugging(u32, Box<StartDebuggingRequestArguments>),
    /// A SIGINT. (At the line editor's prompt, Ctrl-C is a key and no signal.)
    Interrupt,
    /// The session has taken as long as it may (`--timeout`).
    TimeOver,
}

/// A command has failed, in a session that ends then (`--batch`).
#[derive(Debug)]
pub struct CommandFailed(pub anyhow::Error);

impl std::fmt::Display for CommandFailed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#}", self.0)
    }
}

impl std::error::Error for CommandFailed {}

/// There is no stop to look at.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NoStop(pub &'static str);

/// The session has taken as long as it may.
#[derive(Debug, thiserror::Error)]
#[error("the session has taken as long as it may (--timeout)")]
pub struct TimeOver;

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
    /// The user's own commands.
    pub scripts: Scripts,
    /// What is shown at each stop.
    pub displays: Vec<Display>,
    /// Values that were printed, and the user's own variables.
    pub values: Values,
    /// What memory was shown last.
    pub examined: Option<Examined>,
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
    /// The full screen, while it has the terminal.
    full_screen: Option<FullScreen>,
    /// A line was requested of `input`, and [`Event::Line`] has not answered yet.
    prompting: bool,
    /// The time at which the program is paused, if it hasn't stopped by the terminal's SIGINT before. `None` unless Ctrl-C was pressed.
    pause_at: Option<Instant>,
    last_command: String,
    events: Receiver<Event>,
    /// Events taken from `events` but not handled yet.
    waiting: VecDeque<Event>,
    sender: Sender<Event>,
    interrupts: Interrupts,
    /// How often Ctrl-C has asked for a stop that hasn't come.
    pauses: u32,
    /// Whether the session goes on after a command that has failed, also with `--batch`.
    pub keeps_going: bool,
    /// How many commands have failed.
    pub failed_commands: u32,
    /// Whether the session has ended while the program was stopped by an exception or a signal.
    pub has_ended_at_failure: bool,
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
        (sender, events, interrupts): (Sender<Event>, Receiver<Event>, Interrupts),
    ) -> Self {
        let rules = adapter.preset().map(|preset| preset.breakpoints);
        Self {
            screen,
            sources: Sources::default(),
            program,
            breakpoints: Breakpoints::new(rules.unwrap_or_default()),
            exceptions: Exceptions::default(),
            skip: vec!["std".to_owned()],
            scripts: Scripts::default(),
            displays: Vec::new(),
            values: Values::default(),
            examined: None,
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
            full_screen: None,
            prompting: false,
            pause_at: None,
            last_command: String::new(),
            events,
            waiting: VecDeque::new(),
            sender,
            interrupts,
            pauses: 0,
            keeps_going: false,
            failed_commands: 0,
            has_ended_at_failure: false,
        }
    }

    /// Runs the session to its end.
    ///
    /// # Errors
    /// The program can't be started, the adapter ended unexpectedly or failed to disconnect, or, with `--batch`, a command failed.
    pub fn run(&mut self) -> anyhow::Result<()> {
        let outcome = self.first_start().and_then(|()| self.main_loop());
        self.screen.prompt_answered();
        let is_stopped = matches!(self.process.state, State::Stopped(_));
        self.has_ended_at_failure = is_stopped && self.process.is_at_failure;
        let ended = self.disconnect();
        match ended {
            // How the program has ended says more.
            Err(error) if self.input.is_batch() && self.exit_code.is_some() => {
                self.screen.print_error(&format!("{error:#}"));
                outcome
            }
            ended => outcome.and(ended),
        }
    }

    /// Where somebody types, an adapter of somebody else that can't be started leaves the prompt: `run` tries again.
    fn first_start(&mut self) -> anyhow::Result<()> {
        let outcome = self.start();
        match outcome {
            Err(error) if self.input.is_interactive() && !self.is_adapter_here() => {
                self.screen.print_error(&format!("{error:#}"));
                Ok(())
            }
            outcome => outcome,
        }
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
            self.screen.record_notice();
            if self.screen.is_closed() {
                return Ok(());
            }
            let runs = matches!(self.process.state, State::Running | State::Starting);
            let is_due = !runs && self.screen.is_json() && self.input.has_scripted();
            if is_due || !self.prompting && (!runs || self.reads_ahead()) {
                let prompt = self.prompt();
                let next = match runs {
                    true => self.input.request(prompt),
                    false => self.input.next(prompt),
                };
                match next {
                    Next::Scripted(scripted) => {
                        if self.execute_scripted(scripted)? == Flow::Quit {
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
                    Next::NoMore => {
                        self.check_block(None)?;
                        return Ok(());
                    }
                }
            }
            let Some(event) = self.wait()? else { continue };
            if self.handle(event)? == Flow::Quit {
                return Ok(());
            }
        }
    }

    /// Whether commands are read while the program runs, too: a program that types them can't press Ctrl-C. They wait for the next stop, but for
    /// `interrupt`.
    fn reads_ahead(&self) -> bool {
        self.screen.is_json() && self.input.reads_stdin()
    }

    fn handle(&mut self, event: Event) -> anyhow::Result<Flow> {
        match event {
            Event::Line(line) => {
                self.prompting = false;
                self.screen.prompt_answered();
                let runs = matches!(self.process.state, State::Running | State::Starting);
                let waits = self.reads_ahead() && (runs || self.input.has_scripted());
                match line {
                    Line::End if self.full_screen.is_some() => self.leave_full_screen(),
                    Line::Command(line) if waits && commands::waits_for_stop(&line) => {
                        self.input.queue(line);
                    }
                    Line::Command(line) => return self.execute(&line),
                    Line::Cleared => self.scripts.drop_block(),
                    Line::End if waits && super::screen::has_reader() => self.input.ends(),
                    Line::End => {
                        self.check_block(None)?;
                        return commands::run(self, "quit");
                    }
                }
            }
            Event::Interrupt => {
                // The terminal has shown `^C`.
                self.screen.share();
                self.interrupt();
            }
            Event::TimeOver => bail!(TimeOver),
            Event::Adapter(run, event) => self.in_process(run, |session| {
                session.adapter_event(*event);
                Ok(())
            })?,
            Event::Launched(run, outcome) => {
                self.in_process(run, |session| session.launched(outcome))?
            }
            Event::AdapterEnded(run) => self.in_process(run, Self::adapter_ended)?,
            Event::AdapterWrote(written, text) => self.adapter_wrote(written, &text),
            Event::StartDebugging(run, child) if self.has_session(run) => {
                self.open_child(run, &child);
            }
            Event::StartDebugging(..) => {}
        }
        Ok(Flow::Go)
    }

    fn adapter_ended(&mut self) -> anyhow::Result<()> {
        let Some(how) = self.lose_adapter() else {
            return Ok(());
        };
        let whose = match self.has_children() {
            true => format!(" of {}", self.this_process()),
            false => String::new(),
        };
        let text = format!("the debug adapter{whose} ended unexpectedly{how}");
        if self.input.is_batch() && !self.has_children() {
            bail!(text);
        }
        let hint = match self.has_children() {
            true => "",
            false => "; `run` starts it anew",
        };
        self.screen.print_error(&format!("{text}{hint}"));
        Ok(())
    }

    /// The adapter of the selected process is gone, or to be ended: closes the connection. Returns how it has ended, as a part of a sentence. `None`:
    /// there was none.
    fn lose_adapter(&mut self) -> Option<String> {
        let link = self.process.link.take()?;
        self.record_end(None);
        self.process.state = State::Over;
        self.breakpoints.program_ended();
        self.breakpoints.placed.restarted();
        let how = link.how_ended();
        link.close();
        Some(how)
    }

    fn execute_scripted(&mut self, scripted: Scripted) -> anyhow::Result<Flow> {
        let Scripted {
            line,
            origin,
            depth,
            ends_file,
        } = scripted;
        self.scripts.depth = depth;
        if ends_file {
            let file = origin.place().map(|(file, _)| file);
            return self.check_block(file);
        }
        if origin == Origin::Option && !self.screen.is_json() {
            let prompt = self.prompt();
            self.screen.print(&format!("{prompt}{line}"));
        }
        self.execute_from(&line, &origin)
    }

    /// Runs a command. An empty line runs the last command again if [`commands::repeated`] allows that. An error is printed or, with
    /// `--batch`, returned.
    fn execute(&mut self, line: &str) -> anyhow::Result<Flow> {
        self.scripts.depth = 0;
        self.execute_from(line, &Origin::Option)
    }

    fn execute_from(&mut self, line: &str, origin: &Origin) -> anyhow::Result<Flow> {
        self.screen.record_notice();
        self.scripts.running = (line.trim().to_owned(), origin.clone());
        match self.try_to_execute(line) {
            Ok(flow) => {
                self.record_command(line, origin, None);
                Ok(flow)
            }
            Err(error) => self.failed(line, origin, error),
        }
    }

    /// At the end of a file, or of all lines: a block that lacks its `end` is an error of the line that has begun it.
    fn check_block(&mut self, file: Option<&Path>) -> anyhow::Result<Flow> {
        match self.scripts.unended(file) {
            Some((line, origin)) => {
                let error = anyhow!("`{line}` has no `end`");
                self.failed(&line, &origin, error)
            }
            None => Ok(Flow::Go),
        }
    }

    /// A command has failed: drops the lines behind it that depend on it. The error is printed or, with `--batch`, returned.
    fn failed(
        &mut self,
        line: &str,
        origin: &Origin,
        error: anyhow::Error,
    ) -> anyhow::Result<Flow> {
        // A script that looks at a crash, if there is one, succeeds where there is none.
        let is_over = error.is::<NoStop>() && self.exit_code.is_some() && self.input.is_batch();
        let is_batch = self.input.is_batch();
        let goes_on = is_over || is_batch && self.keeps_going || commands::is_aside(line);
        if !goes_on {
            self.input.drop_interposed();
        }
        let error = match origin.place() {
            Some((file, number)) => error.context(format!("{}:{number}", file.display())),
            None => error,
        };
        if matches!(origin, Origin::Script(..)) && !goes_on {
            self.input.drop_script();
        }
        self.failed_commands += u32::from(!is_over);
        self.record_command(line, origin, Some(&error));
        if is_batch && !goes_on {
            return Err(CommandFailed(error).into());
        }
        if !self.screen.is_json() {
            self.screen.print_error(&format!("{error:#}"));
        }
        Ok(Flow::Go)
    }

    /// With `--json`: writes the record of a command that was run.
    fn record_command(&mut self, line: &str, origin: &Origin, error: Option<&anyhow::Error>) {
        if !self.screen.is_json() {
            return;
        }
        let items = self.screen.take_items();
        let state = match self.process.state {
            State::Ready => results::State::NotStarted,
            State::Running | State::Starting => results::State::Running,
            State::Stopped(_) => results::State::Stopped,
            State::Over => results::State::Ended,
        };
        self.screen.record(&Record::Command(results::Ran {
            command: line.to_owned(),
            by: match origin {
                Origin::Option | Origin::Input | Origin::Script(..) => None,
                Origin::File(..) => Some(results::By::File),
                Origin::Breakpoint => Some(results::By::Breakpoint),
                Origin::Defined => Some(results::By::Defined),
            },
            error: error.map(Failure::of),
            items,
            state,
        }));
    }

    fn try_to_execute(&mut self, line: &str) -> anyhow::Result<Flow> {
        let mut line = line.trim().to_owned();
        if self.scripts.takes_down() && !commands::is_aside(&line) {
            self.take_down(&line)?;
            return Ok(Flow::Go);
        }
        if line.starts_with('#') {
            return Ok(Flow::Go);
        }
        if line.is_empty() {
            if self.last_command.is_empty() {
                return Ok(Flow::Go);
            }
            line.clone_from(&self.last_command);
        }
        let line = self.scripts.expanded(&line);
        if !commands::is_aside(&line) {
            self.last_command = commands::repeated(&line).unwrap_or_default();
        }
        if self.calls_defined(&line)? {
            return Ok(Flow::Go);
        }
        commands::run(self, &line)
    }

    /// What is shown where a line is typed.
    fn prompt(&self) -> &'static str {
        match self.scripts.takes_down() {
            true => PROMPT_OF_BLOCK,
            false => PROMPT,
        }
    }

    /// The connection to the selected process's adapter, for requests. The error says that there is none: the program is not running.
    pub fn link(&self) -> anyhow::Result<&Link> {
        self.process
            .link
            .as_ref()
            .ok_or_else(|| NoStop("the program is not running; `run` starts it").into())
    }

    /// Whether the adapter is Dapple's, which supports arguments and requests of its own.
    pub fn is_own_adapter(&self) -> bool {
        self.adapter.is_own()
    }

    /// Whether the adapter is the known one with this name.
    pub fn is_adapter(&self, name: &str) -> bool {
        self.adapter.preset().is_some_and(|it| it.name == name)
    }

    /// Whether the program, its files and its folders are at another place.
    pub fn is_elsewhere(&self) -> bool {
        self.adapter.place().is_some()
    }

    /// Whether the adapter is a part of this process, and the program a child of it.
    pub fn is_adapter_here(&self) -> bool {
        self.adapter.is_here()
    }

    /// Whether the adapter has a capability.
    pub fn offers(
        &self,
        capability: impl FnOnce(&Capabilities) -> Option<bool>,
    ) -> anyhow::Result<bool> {
        Ok(capability(&self.link()?.capabilities()) == Some(true))
    }

    /// Whether the adapter is started here, and inherits our environment. Otherwise somebody else has started it.
    pub fn starts_adapter(&self) -> bool {
        !matches!(self.adapter, Adapter::At(_, None))
    }

    /// Whether the values of variables and the adapter's own output may contain colours: this client shows colours, and the adapter has them.
    pub fn takes_styling(&self) -> bool {
        let link = self.process.link.as_ref();
        let has_any = |link: &Link| link.capabilities().supports_ansi_styling == Some(true);
        self.screen.terminal_style().is_enabled() && link.is_some_and(has_any)
    }

    /// Sends a request and waits for its answer.
    pub fn request<R: Request>(&self, arguments: R::Arguments) -> anyhow::Result<R::Response>
    where
        R::Response: Send + 'static,
        Pending<R>: Send + 'static,
    {
        self.link()?.request::<R>(arguments)
    }

    /// Starts an adapter and makes it load the program, which is then ready to run, with all breakpoints sent. With `--attach` or `--core`, no
    /// `run` is needed: a stop follows.
    pub fn start(&mut self) -> anyhow::Result<()> {
        // Watchpoints belong to the previous process.
        self.process.watches.clear();
        self.last_run += 1;
        self.process.run = self.last_run;
        (self.process.number, self.last_number, self.process.id) = (1, 1, None);
        (self.process.is_relay, self.process.has_exited) = (false, false);
        self.exit_code = None;
        self.process.launch = Ok(());
        self.process.has_told_end = false;
        let start = Start::Program(&self.program, &self.skip);
        let link = Link::open(self.opening(start, self.process.run))?;
        self.completer.set_search(link.name_search());
        if self.is_elsewhere() {
            let far = link.source_texts();
            self.sources.take_from(far, &self.program.source_map);
        }
        self.process.link = Some(link);
        let loaded = self.load();
        if loaded.is_err() && self.process.link.is_some() {
            // An adapter that has not got that far is of no use. What fails now adds nothing to the error.
            let _ = self.disconnect();
        }
        loaded
    }

    /// What a session with the adapter is opened with.
    fn opening<'o>(&'o self, start: Start<'o>, run: u32) -> Opening<'o> {
        let process = self.process.link.as_ref().and_then(Link::process);
        let options = self.log.options(run.into());
        Opening {
            adapter: &self.adapter,
            process,
            options,
            start,
            follow_forks: self.program.follow_forks,
            stdin: self.input.program_stdin(),
            shares_stdout: !self.screen.is_json(),
            style: self.screen.terminal_style(),
            run,
            events: &self.sender,
            interrupts: &self.interrupts,
        }
    }

    /// Waits until the adapter has loaded the program, and sends the breakpoints.
    fn load(&mut self) -> anyhow::Result<()> {
        // Waits for `initialized`: breakpoints can be set from then on. An adapter that can't launch may never send it; its error answer to
        // the launch ends the wait, even if `terminated` comes first. Dapple's adapter sends `initialized` before it builds the program, and
        // answers when the program exists, so its answer is waited for too. Other adapters may answer only after `configurationDone`.
        let (mut takes_breakpoints, mut is_there) = (false, !self.is_own_adapter());
        let mut slow = match self.is_own_adapter() {
            // It says what it builds.
            true => crossbeam_channel::never(),
            false => self.interrupts.slow(),
        };
        let mut typed = Vec::new();
        while !(takes_breakpoints && is_there) {
            self.screen.record_notice();
            let event = match self.waiting.pop_front() {
                Some(event) => event,
                None => crossbeam_channel::select! {
                    recv(self.events) -> event => event.context(NO_INPUT)?,
                    recv(slow) -> _ => {
                        slow = crossbeam_channel::never();
                        tell_wait();
                        continue;
                    }
                },
            };
            match event {
                Event::Adapter(run, event) if run == self.process.run => match *event {
                    AnyEvent::Initialized(_) => takes_breakpoints = true,
                    AnyEvent::Terminated(_) => {}
                    event => self.adapter_event(event),
                },
                Event::Launched(run, Err(message)) if run == self.process.run => bail!(message),
                Event::AdapterEnded(run) if run == self.process.run => {
                    let how = { self.process.link.as_ref() }.map(Link::how_ended);
                    let how = how.unwrap_or_default();
                    bail!("the debug adapter ended before it had loaded the program{how}");
                }
                Event::Launched(run, outcome) if run == self.process.run => {
                    self.launched(outcome)?;
                    is_there = true;
                }
                Event::Interrupt => bail!("interrupted while the program was being loaded"),
                // It is for afterwards.
                Event::Line(line) => typed.push(Event::Line(line)),
                event => {
                    self.handle(event)?;
                }
            }
        }
        for line in typed.into_iter().rev() {
            self.waiting.push_front(line);
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
        self.process.steps_left = None;
        self.process.is_at_failure = false;
        // What was written before is not of this run.
        self.screen.take_output();
        self.pauses = 0;
        self.input.drop_commands_of_breakpoint();
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
        self.breakpoints.placed.restarted();
        let mut arguments = DisconnectArguments::new();
        arguments.terminate_debuggee = self.ends_program();
        // js-debug doesn't answer in a session without a program, and nothing depends on it.
        let is_idle = matches!(self.process.state, State::Ready) || self.process.is_relay;
        let is_idle = is_idle && !self.is_own_adapter();
        self.process.state = State::Over;
        let answer = match link.disconnect(arguments, is_idle) {
            Err(_) if is_idle => Ok(()),
            answer => answer,
        };
        link.close();
        // Output that has already arrived is still shown; other events of this process no longer matter.
        for event in std::mem::take(&mut self.waiting)
            .into_iter()
            .chain(self.events.try_iter().collect::<Vec<_>>())
        {
            match event {
                Event::Adapter(run, event) if run == self.process.run => {
                    // What an adapter says about the end that was asked for adds nothing.
                    if let AnyEvent::Output(output) = *event
                        && (is_of_program(&output) || self.is_own_adapter())
                    {
                        self.output(&output);
                    }
                }
                Event::Launched(run, _) | Event::AdapterEnded(run) if run == self.process.run => {}
                event => self.waiting.push_back(event),
            }
        }
        self.process.run = 0;
        answer.context("the adapter did not end in order")
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
}
