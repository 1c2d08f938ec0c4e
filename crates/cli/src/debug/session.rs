//! One debugging session: what is known about the program, and the loop in which everything happens.
//!
//! The loop waits for one of three things: a command, something from the adapter, Ctrl-C. Commands are asked for only
//! while the program does not run; a command that resumes it just says so and returns, and the stop that follows is an
//! event like any other. So nothing here ever waits for the program.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use dapple_dap::message::Request;
use dapple_dap::types::{
    self, AnyEvent, BreakpointEventReason, ConfigurationDoneRequest, DisconnectArguments,
    DisconnectRequest, OutputEventCategory, PauseArguments, PauseRequest, SetBreakpointsArguments,
    SetBreakpointsRequest, SetFunctionBreakpointsArguments, SetFunctionBreakpointsRequest, Source,
    StackFrame, StackTraceArguments, StackTraceRequest, StoppedEventBody, StoppedEventReason,
    Thread, ThreadEventReason, ThreadsRequest,
};

use super::breakpoints::{Breakpoints, Stay};
use super::commands::{self, Flow};
use super::complete::{self, Completer};
use super::input::{Input, Line, Next, PROMPT};
use super::link::{Adapter, Link, Program};
use super::render;
use super::screen::{Screen, Stream};
use super::source_view::Sources;
use super::style::Role;

/// How long the program may take to stop by the terminal's own SIGINT.
const INTERRUPT_PATIENCE: Duration = Duration::from_millis(300);

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
    /// Ctrl-C while no line was being read.
    Interrupt,
}

/// Where the program is in its life.
#[derive(Debug)]
pub enum State {
    /// Held before its first instruction, waiting for `run`.
    Ready,
    /// Running; what came before is out of date.
    Running,
    /// Stopped.
    Stopped(Box<Stop>),
    /// Ended, killed or never there.
    Over,
}

/// A stop: the thread and frame that the user looks at.
#[derive(Debug)]
pub struct Stop {
    /// The thread.
    pub thread: i64,
    /// Its innermost frames, as far as they have been needed.
    pub frames: Vec<StackFrame>,
    /// Whether there are no more frames than these.
    pub complete: bool,
    /// The index of the selected frame.
    pub selected: usize,
}

impl Stop {
    /// The selected frame.
    pub fn frame(&self) -> Option<&StackFrame> {
        self.frames.get(self.selected)
    }
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
    /// Where the program is in its life.
    pub state: State,
    /// The file and last line shown, from where `list` goes on.
    pub listed: Option<(PathBuf, usize)>,
    adapter: Adapter,
    link: Option<Link>,
    run: u32,
    launch: Result<(), String>,
    input: Input,
    completer: Completer,
    asked: bool,
    /// When to pause the program if Ctrl-C has not stopped it by then.
    pause_at: Option<Instant>,
    last_command: String,
    events: Receiver<Event>,
    sender: Sender<Event>,
}

impl Session {
    /// A session that has not begun.
    pub fn new(
        screen: Screen,
        program: Program,
        adapter: Adapter,
        input: Input,
        completer: Completer,
        (sender, events): (Sender<Event>, Receiver<Event>),
    ) -> Self {
        Self {
            screen,
            sources: Sources::default(),
            program,
            breakpoints: Breakpoints::default(),
            state: State::Over,
            listed: None,
            adapter,
            link: None,
            run: 0,
            launch: Ok(()),
            input,
            completer,
            asked: false,
            pause_at: None,
            last_command: String::new(),
            events,
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
            while let Ok(event) = self.events.try_recv() {
                if self.handle(event)? == Flow::Quit {
                    return Ok(());
                }
            }
            if !matches!(self.state, State::Running) && !self.asked {
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
            Event::Adapter(run, event) if run == self.run => self.adapter_event(*event),
            Event::Launched(run, outcome) if run == self.run => self.launched(outcome),
            Event::Gone(run) if run == self.run && self.link.is_some() => {
                self.link = None;
                self.state = State::Over;
                bail!("the debug adapter ended unexpectedly");
            }
            Event::Adapter(..) | Event::Launched(..) | Event::Gone(_) => {}
        }
        Ok(Flow::Go)
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

    // The adapter.

    /// The link to the adapter, for requests.
    pub fn link(&self) -> anyhow::Result<&Link> {
        self.link
            .as_ref()
            .context("the program is not running; `run` starts it")
    }

    /// Sends a request and waits for its answer.
    pub fn request<R: Request>(&self, arguments: R::Arguments) -> anyhow::Result<R::Response> {
        self.link()?.request::<R>(arguments)
    }

    /// Starts an adapter and has it load the program, which is then ready to run with all breakpoints in place.
    pub fn start(&mut self) -> anyhow::Result<()> {
        self.run += 1;
        self.launch = Ok(());
        let link = Link::open(
            &self.adapter,
            &self.program,
            self.input.program_stdin(),
            self.run,
            &self.sender,
        )?;
        self.link = Some(link);
        // `initialized` says that breakpoints can be set, but an adapter that can't launch never sends it: its answer to
        // the launch says why then, also where `terminated` comes first.
        loop {
            match self.events.recv().context(NO_INPUT)? {
                Event::Adapter(run, event) if run == self.run => match *event {
                    AnyEvent::Initialized(_) => break,
                    AnyEvent::Terminated(_) => {}
                    event => self.adapter_event(event),
                },
                Event::Launched(run, Err(message)) if run == self.run => {
                    // What is left of the adapter has nothing more to say than this.
                    let _ = self.disconnect();
                    bail!(message);
                }
                Event::Interrupt => bail!("interrupted while the program was being loaded"),
                event => {
                    self.handle(event)?;
                }
            }
        }
        self.state = State::Ready;
        for file in self.breakpoints.files() {
            self.tell_breakpoints(&file)?;
        }
        self.tell_function_breakpoints()?;
        Ok(())
    }

    /// The program was told to go on.
    pub fn resumed(&mut self) {
        self.state = State::Running;
        self.listed = None;
    }

    /// Looks at another thread.
    pub fn select_thread(&mut self, thread: i64) -> anyhow::Result<()> {
        *self.stop_mut()? = Stop {
            thread,
            frames: Vec::new(),
            complete: false,
            selected: 0,
        };
        Ok(())
    }

    /// The source files that mean something by now, the one in view first.
    pub fn known_files(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = self.current_file().into_iter().collect();
        let frames = match &self.state {
            State::Stopped(stop) => &stop.frames[..],
            _ => &[],
        };
        let frames = frames
            .iter()
            .filter_map(render::source_of)
            .map(|(path, _)| path);
        for file in self
            .program
            .source
            .clone()
            .into_iter()
            .chain(frames)
            .chain(self.breakpoints.files())
        {
            if !files.contains(&file) {
                files.push(file);
            }
        }
        files
    }

    /// Lets a program that is ready run.
    pub fn let_run(&mut self) -> anyhow::Result<()> {
        self.resumed();
        self.request::<ConfigurationDoneRequest>(types::ConfigurationDoneArguments::default())?;
        self.launch.clone().map_err(anyhow::Error::msg)
    }

    /// Ends the program, if it is there, and the adapter.
    pub fn disconnect(&mut self) -> anyhow::Result<()> {
        let Some(link) = self.link.take() else {
            return Ok(());
        };
        self.state = State::Over;
        self.breakpoints.forget_answers();
        let arguments = DisconnectArguments::new().with_terminate_debuggee(true);
        let answer = link.request::<DisconnectRequest>(arguments);
        link.close();
        // Output that was on its way still belongs to the user; other news no longer matter.
        while let Ok(event) = self.events.try_recv() {
            if let Event::Adapter(run, event) = event
                && run == self.run
                && let AnyEvent::Output(output) = *event
            {
                self.output(&output);
            }
        }
        self.run += 1;
        answer
            .map(|_| ())
            .context("the adapter did not end in order")
    }

    fn launched(&mut self, outcome: Result<(), String>) {
        if let Err(message) = &outcome {
            self.screen.complain(message);
            self.state = State::Over;
        }
        self.launch = outcome;
    }

    fn adapter_event(&mut self, event: AnyEvent) {
        match event {
            AnyEvent::Output(output) => self.output(&output),
            AnyEvent::Stopped(stop) => self.stopped(&stop),
            AnyEvent::Continued(_) => {
                if matches!(self.state, State::Stopped(_)) {
                    self.state = State::Running;
                }
            }
            AnyEvent::Exited(exit) => {
                let text = format!("program exited with code {}", exit.exit_code);
                let text = self.screen.style.paint(Role::Reason, &text);
                self.screen.say(&text);
            }
            AnyEvent::Terminated(_) => {
                self.state = State::Over;
                if let Err(error) = self.disconnect() {
                    self.screen.complain(&format!("{error:#}"));
                }
            }
            AnyEvent::Thread(thread) if thread.reason == ThreadEventReason::Started => {
                self.note_thread(thread.thread_id);
            }
            AnyEvent::Process(process) => {
                if let Some(id) = process.system_process_id {
                    self.note_thread(id);
                }
            }
            AnyEvent::Breakpoint(changed) => self.breakpoint_changed(changed),
            _ => {}
        }
    }

    /// The first thread known: on Linux the main one has the process's id.
    fn note_thread(&self, id: i64) {
        if let Some(link) = &self.link
            && link.known_thread().is_none()
        {
            link.set_known_thread(id);
        }
    }

    fn output(&mut self, output: &types::OutputEventBody) {
        match &output.category {
            Some(OutputEventCategory::Stdout) => {
                self.screen.program_output(Stream::Out, &output.output)
            }
            Some(OutputEventCategory::Stderr) => {
                self.screen.program_output(Stream::Err, &output.output)
            }
            Some(OutputEventCategory::Telemetry) => {}
            _ => {
                let text = self
                    .screen
                    .style
                    .paint(Role::Aside, output.output.trim_end());
                self.screen.say(&text);
            }
        }
    }

    fn breakpoint_changed(&mut self, changed: types::BreakpointEventBody) {
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
            self.screen.say(&text);
        }
    }

    /// The next event. `None`: it was time to pause the program.
    fn wait(&mut self) -> anyhow::Result<Option<Event>> {
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
        if !matches!(self.state, State::Running) {
            return;
        }
        match (&self.adapter, self.pause_at) {
            (Adapter::Own, None) => self.pause_at = Some(Instant::now() + INTERRUPT_PATIENCE),
            _ => self.pause(),
        }
    }

    fn pause(&mut self) {
        self.pause_at = None;
        let Some(link) = &self.link else { return };
        // Asking for the threads first would wait, in some adapters, for the stop that is asked for here.
        let thread = link.known_thread().unwrap_or_default();
        // That there is none any more, or that it has stopped by itself, is told by events.
        let _ = self.request::<PauseRequest>(PauseArguments::new(thread));
    }

    // Stops.

    fn stopped(&mut self, body: &StoppedEventBody) {
        if let (State::Stopped(stop), Some(thread)) = (&self.state, body.thread_id)
            && stop.thread != thread
        {
            let text = format!("thread {thread} also {}", render::stop_reason(body, &[]));
            self.screen.say(&text);
            return;
        }
        self.pause_at = None;
        let mut numbers = Vec::new();
        let mut over = Vec::new();
        for id in body.hit_breakpoint_ids.iter().flatten() {
            if let Some(breakpoint) = self.breakpoints.by_id(*id) {
                breakpoint.hits = breakpoint.hits.saturating_add(1);
                numbers.push(breakpoint.number);
                if breakpoint.stay == Stay::Once {
                    over.push(breakpoint.number);
                }
            }
        }
        let threads = self.threads().unwrap_or_default();
        let id = body
            .thread_id
            .or_else(|| threads.first().map(|thread| thread.id))
            .unwrap_or_default();
        let previous = self.link.as_ref().and_then(Link::known_thread);
        if let Some(link) = &self.link {
            link.set_known_thread(id);
        }
        let stop = Stop {
            thread: id,
            frames: Vec::new(),
            complete: false,
            selected: 0,
        };
        self.state = State::Stopped(Box::new(stop));
        // That a step stopped where it was asked to stop is not news.
        let expected =
            body.reason == StoppedEventReason::Step && previous.is_none_or(|thread| thread == id);
        if !expected {
            let reason = format!("stopped {}", render::stop_reason(body, &numbers));
            let thread = render::thread(id, &threads);
            self.screen.say(&format!(
                "{}, {thread}",
                self.screen.style.paint(Role::Reason, &reason)
            ));
        }
        for number in over {
            if let Err(error) = self.delete_breakpoint(number) {
                self.screen.complain(&format!("{error:#}"));
            }
        }
        if let Err(error) = self.show_selected() {
            self.screen.complain(&format!("{error:#}"));
        }
    }

    /// The threads there are.
    pub fn threads(&self) -> anyhow::Result<Vec<Thread>> {
        Ok(self
            .request::<ThreadsRequest>(dapple_dap::message::Empty)?
            .threads)
    }

    /// The stop, or a sentence that says why there is none.
    pub fn stop(&self) -> anyhow::Result<&Stop> {
        match &self.state {
            State::Stopped(stop) => Ok(stop),
            State::Ready => bail!("the program has not been started yet; `run` starts it"),
            State::Running => bail!("the program is running"),
            State::Over => bail!("the program is not running; `run` starts it"),
        }
    }

    /// The same, to change what is selected.
    pub fn stop_mut(&mut self) -> anyhow::Result<&mut Stop> {
        self.stop()?;
        match &mut self.state {
            State::Stopped(stop) => Ok(stop),
            _ => bail!("the program is not stopped"),
        }
    }

    /// Makes sure that `count` frames are there, or all.
    pub fn load_frames(&mut self, count: usize) -> anyhow::Result<()> {
        let stop = self.stop()?;
        let (thread, have) = (stop.thread, stop.frames.len());
        if stop.complete || have >= count {
            return Ok(());
        }
        let wanted = count - have;
        let arguments = StackTraceArguments::new(thread)
            .with_start_frame(i64::try_from(have)?)
            .with_levels(i64::try_from(wanted)?);
        let answer = self.request::<StackTraceRequest>(arguments)?;
        let stop = self.stop_mut()?;
        stop.complete = answer.stack_frames.len() < wanted;
        stop.frames.extend(answer.stack_frames);
        Ok(())
    }

    /// Selects a frame by its number and shows it.
    pub fn select_frame(&mut self, index: usize) -> anyhow::Result<()> {
        self.load_frames(index.saturating_add(1))?;
        let stop = self.stop_mut()?;
        if index >= stop.frames.len() {
            match stop.frames.len() {
                0 => bail!("this thread has no frames"),
                count => bail!("there is no frame {index}; the outermost is {}", count - 1),
            }
        }
        stop.selected = index;
        self.show_selected()
    }

    /// Shows where the selected frame is, with the source around it.
    pub fn show_selected(&mut self) -> anyhow::Result<()> {
        self.load_frames(self.stop()?.selected + 1)?;
        let Some(frame) = self.stop()?.frame().cloned() else {
            self.screen.say("this thread has no frames to show");
            return Ok(());
        };
        let place = render::frame(&frame, self.screen.style);
        self.screen.say(&place);
        self.refresh_names(&frame);
        let Some((path, line)) = render::source_of(&frame) else {
            self.screen.say(
                &self
                    .screen
                    .style
                    .paint(Role::Aside, "no source for this function"),
            );
            return Ok(());
        };
        self.show_lines(&path, line.saturating_sub(3), line + 3, Some(line))
    }

    /// Shows lines of a file; that the file can't be read is told in the place of its text.
    pub fn show_lines(
        &mut self,
        path: &Path,
        first: usize,
        last: usize,
        current: Option<usize>,
    ) -> anyhow::Result<()> {
        match self.sources.lines(path) {
            Ok(lines) => {
                let text =
                    super::source_view::window(&lines, first, last, current, self.screen.style);
                self.screen.say(&text);
                self.listed = Some((path.to_owned(), last));
            }
            Err(error) => {
                let text = self.screen.style.paint(Role::Aside, &format!("{error:#}"));
                self.screen.say(&text);
            }
        }
        Ok(())
    }

    fn refresh_names(&mut self, frame: &StackFrame) {
        if !self.input.is_interactive() {
            return;
        }
        let variables = commands::variables_of(self, frame).unwrap_or_default();
        let file = render::source_of(frame).map(|(path, _)| path);
        let functions = file.as_deref().and_then(|path| {
            self.sources
                .lines(path)
                .ok()
                .map(|lines| complete::functions_in(path, &lines))
        });
        let mut names = self.completer.names();
        names.variables = variables;
        if let Some(file) = file.filter(|file| !names.files.contains(file)) {
            names.files.push(file);
            names.functions.extend(functions.into_iter().flatten());
        }
    }

    /// The file that a bare line number means: the selected frame's, else the program's own source.
    pub fn current_file(&self) -> Option<PathBuf> {
        let frame = match &self.state {
            State::Stopped(stop) => stop.frame().and_then(render::source_of),
            _ => None,
        };
        frame
            .map(|(path, _)| path)
            .or_else(|| self.program.source.clone())
    }

    // Breakpoints.

    /// Tells the adapter the breakpoints of a file.
    pub fn tell_breakpoints(&mut self, file: &Path) -> anyhow::Result<()> {
        if self.link.is_none() {
            return Ok(());
        }
        let name = file
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let mut source = Source::new().with_path(file.to_string_lossy().into_owned());
        source.name = name;
        let arguments =
            SetBreakpointsArguments::new(source).with_breakpoints(self.breakpoints.in_file(file));
        let answer = self.request::<SetBreakpointsRequest>(arguments)?;
        self.breakpoints.answered(Some(file), answer.breakpoints);
        Ok(())
    }

    /// Tells the adapter the breakpoints on functions, if it takes any.
    pub fn tell_function_breakpoints(&mut self) -> anyhow::Result<()> {
        let Some(link) = &self.link else {
            return Ok(());
        };
        if link.capabilities().supports_function_breakpoints != Some(true) {
            return Ok(());
        }
        let arguments = SetFunctionBreakpointsArguments::new(self.breakpoints.functions());
        let answer = self.request::<SetFunctionBreakpointsRequest>(arguments)?;
        self.breakpoints.answered(None, answer.breakpoints);
        Ok(())
    }

    /// Removes a breakpoint, here and in the adapter.
    pub fn delete_breakpoint(&mut self, number: u32) -> anyhow::Result<()> {
        let removed = self
            .breakpoints
            .remove(number)
            .with_context(|| format!("there is no breakpoint {number}"))?;
        match removed.place {
            super::breakpoints::Place::Line(file, _) => self.tell_breakpoints(&file),
            super::breakpoints::Place::Function(_) => self.tell_function_breakpoints(),
        }
    }
}
