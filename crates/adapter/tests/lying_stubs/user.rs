//! A user's session with a stub that may lie: the same requests each time, whose failure is no mistake, but which have to be answered.

use crate::support::{Fixture, initialize_arguments};
use crossbeam_channel::{Receiver, RecvTimeoutError};
use dapple_adapter::{ServeOptions, serve};
use dapple_dap::client::{Client, ClientError, EventMessage};
use dapple_dap::message::Request;
use dapple_dap::testing::attach_arguments;
use dapple_dap::transport::Connection;
use dapple_dap::types::*;
use serde_json::json;
use std::time::{Duration, Instant};

/// How long anything may take: a silent stub is waited for by several packets, one after the other.
pub const LIMIT: Duration = Duration::from_secs(180);
/// How long the program runs before the user pauses it.
const IMPATIENCE: Duration = Duration::from_secs(3);

/// What a session has shown, one line for each answer.
#[derive(Debug, Default)]
pub struct Seen {
    pub lines: Vec<String>,
    /// Why there is no session, if `attach` was refused.
    pub refused: Option<String>,
    /// Why the program can't be reached any more.
    pub lost: Option<String>,
    pub exited: bool,
    pub terminated: bool,
    /// The longest time that an answer took, and for what.
    pub longest: (Duration, &'static str),
}

/// A session, with its adapter on a thread of its own.
struct User {
    client: Client,
    news: Receiver<EventMessage>,
    seen: Seen,
}

/// Goes through a session with the stub at `target`.
///
/// # Errors
/// What hasn't come to its end.
pub fn go_through(target: &str, fixture: &Fixture) -> Result<Seen, String> {
    let (ours, theirs) = Connection::memory();
    let (ended, end) = crossbeam_channel::bounded::<()>(0);
    let serving = std::thread::spawn(move || {
        let _ended = ended;
        let served = serve(theirs, ServeOptions::default());
        served.map_err(|closed| closed.to_string())
    });
    let client = Client::new(ours)
        .with_unadvertised_requests()
        .with_timeout(LIMIT);
    let news = client.subscribe();
    let mut user = User {
        client,
        news,
        seen: Seen::default(),
    };
    user.all(target, fixture)
        .map_err(|what| format!("{what}; seen: {:#?}", user.seen))?;
    let violations = user.client.violations();
    if !violations.is_empty() {
        return Err(format!("rules were broken: {violations:?}"));
    }
    let closed = user.client.wait_closed(LIMIT);
    closed.map_err(|error| format!("the adapter doesn't close the connection: {error}"))?;
    if end.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
        return Err("the adapter's thread doesn't end".to_owned());
    }
    let served = serving.join();
    served.map_err(|_| "the adapter has panicked".to_owned())??;
    Ok(user.seen)
}

/// What was asked has failed or succeeded; `Err` only if neither.
type Answered<T> = Result<Option<T>, String>;

impl User {
    fn ask<R: Request>(&mut self, arguments: R::Arguments) -> Answered<R::Response> {
        let begun = Instant::now();
        let answer = self.client.request::<R>(arguments);
        let took = begun.elapsed();
        if took > self.seen.longest.0 {
            self.seen.longest = (took, R::COMMAND);
        }
        match answer {
            Ok(response) => Ok(Some(response)),
            Err(ClientError::Failed(failure)) => {
                if failure.sentence.is_empty() {
                    return Err(format!("`{}` has failed without a reason", R::COMMAND));
                }
                self.note(format!("{}: {}", R::COMMAND, failure.sentence));
                if R::COMMAND == AttachRequest::COMMAND {
                    self.seen.refused = Some(failure.sentence);
                }
                Ok(None)
            }
            Err(error) => Err(format!("`{}`: {error}", R::COMMAND)),
        }
    }

    fn note(&mut self, line: String) {
        self.seen.lines.push(line);
    }

    fn all(&mut self, target: &str, fixture: &Fixture) -> Result<(), String> {
        self.ask::<InitializeRequest>(initialize_arguments())?;
        let arguments = attach_arguments(&json!({"target": target}));
        if self.ask::<AttachRequest>(arguments)?.is_some() {
            self.configure(fixture)?;
            if let Some(thread) = self.stop()? {
                self.look(thread, true)?;
            }
            for step in [Self::next, Self::step_in, Self::step_out] {
                self.step_by(step)?;
            }
            self.clear(fixture)?;
            self.watch()?;
            self.step_by(Self::resume)?;
            self.ask::<SetDataBreakpointsRequest>(SetDataBreakpointsArguments::new(Vec::new()))?;
            self.step_by(Self::resume)?;
            if self.seen.terminated {
                // What is asked now is refused, and not waited for.
                self.look(1, false)?;
            }
        }
        self.ask::<DisconnectRequest>(DisconnectArguments::new())?;
        while let Ok(event) = self.news.try_recv() {
            self.take(&event);
        }
        Ok(())
    }

    fn configure(&mut self, fixture: &Fixture) -> Result<(), String> {
        let line = SourceBreakpoint::new(fixture.line("add"));
        let source = Source::new().with_path(fixture.path());
        let arguments = SetBreakpointsArguments::new(source).with_breakpoints(vec![line]);
        if let Some(answer) = self.ask::<SetBreakpointsRequest>(arguments)? {
            let verified = answer.breakpoints.iter().all(|it| it.verified);
            self.note(format!("breakpoint: {verified}"));
        }
        self.ask::<ConfigurationDoneRequest>(Default::default())?;
        Ok(())
    }

    /// Waits for a stop or the end; pauses a program that runs for long. Returns the thread that has stopped.
    fn stop(&mut self) -> Answered<i64> {
        let begun = Instant::now();
        let mut paused = false;
        while !self.seen.terminated {
            let limit = if paused { LIMIT } else { IMPATIENCE };
            match self
                .news
                .recv_timeout(limit.saturating_sub(begun.elapsed()))
            {
                Ok(event) => {
                    if let Some(thread) = self.take(&event) {
                        return Ok(Some(thread));
                    }
                }
                Err(RecvTimeoutError::Timeout) if !paused => {
                    paused = true;
                    self.ask::<PauseRequest>(PauseArguments::new(0))?;
                }
                Err(error) => return Err(format!("neither a stop nor an end: {error}")),
            }
        }
        Ok(None)
    }

    /// Takes an event in. Returns the thread of a stop.
    fn take(&mut self, event: &EventMessage) -> Option<i64> {
        if let Some(stop) = event.body::<StoppedEvent>() {
            self.note(format!("stopped: {:?}", stop.reason));
            return Some(stop.thread_id.unwrap_or(0));
        }
        if let Some(output) = event.body::<OutputEvent>()
            && let Some((_, why)) = output.output.split_once("can't be reached any more: ")
        {
            self.seen.lost = Some(why.to_owned());
        }
        if let Some(exited) = event.body::<ExitedEvent>() {
            self.note(format!("exited: {}", exited.exit_code));
            self.seen.exited = true;
        }
        self.seen.terminated |= event.is::<TerminatedEvent>();
        None
    }

    /// Looks at all that a debugger shows of a stopped thread.
    fn look(&mut self, thread: i64, closely: bool) -> Result<(), String> {
        if let Some(answer) = self.ask::<ThreadsRequest>(Default::default())? {
            self.note(format!("threads: {}", answer.threads.len()));
        }
        self.ask::<ExceptionInfoRequest>(ExceptionInfoArguments::new(thread))?;
        let stack = self.ask::<StackTraceRequest>(StackTraceArguments::new(thread))?;
        let frames = stack.map(|stack| stack.stack_frames).unwrap_or_default();
        let names: Vec<_> = frames.iter().map(|frame| frame.name.clone()).collect();
        self.note(format!("stack: {}", names.join(" < ")));
        for frame in frames.iter().take(if closely { 2 } else { 1 }) {
            let scopes = self.ask::<ScopesRequest>(ScopesArguments::new(frame.id))?;
            for scope in scopes.map(|answer| answer.scopes).unwrap_or_default() {
                self.variables(&scope.name, scope.variables_reference, 2)?;
            }
            let expressions = ["*item", "item->name"];
            // Elsewhere they would be searched in all of the C library.
            for expression in expressions.into_iter().filter(|_| frame.name == "add") {
                let arguments = EvaluateArguments::new(expression).with_frame_id(frame.id);
                if let Some(value) = self.ask::<EvaluateRequest>(arguments)? {
                    self.note(format!("{expression}: {}", value.result));
                }
            }
        }
        if closely {
            self.look_around(&frames)?;
        }
        Ok(())
    }

    fn look_around(&mut self, frames: &[StackFrame]) -> Result<(), String> {
        if let Some(place) = frames
            .first()
            .and_then(|frame| frame.instruction_pointer_reference.clone())
        {
            self.ask::<DisassembleRequest>(DisassembleArguments::new(place.clone(), 8))?;
            self.ask::<ReadMemoryRequest>(ReadMemoryArguments::new(place, 300))?;
        }
        if let Some(frame) = frames.first() {
            let assign = EvaluateArguments::new("total = total + 0").with_frame_id(frame.id);
            self.ask::<EvaluateRequest>(assign)?;
        }
        if let Some(answer) = self.ask::<ModulesRequest>(ModulesArguments::new())? {
            self.note(format!("modules: {}", answer.modules.len()));
        }
        Ok(())
    }

    fn variables(&mut self, name: &str, reference: i64, depth: usize) -> Result<(), String> {
        if reference == 0 || depth == 0 {
            return Ok(());
        }
        let arguments = VariablesArguments::new(reference);
        let answer = self.ask::<VariablesRequest>(arguments)?;
        let variables = answer.map(|answer| answer.variables).unwrap_or_default();
        self.note(format!("{name}: {} variables", variables.len()));
        for variable in variables.iter().take(8) {
            self.variables(&variable.name, variable.variables_reference, depth - 1)?;
        }
        Ok(())
    }

    fn step_by(&mut self, step: fn(&mut User, i64) -> Answered<()>) -> Result<(), String> {
        if self.seen.terminated {
            return Ok(());
        }
        let threads = self.ask::<ThreadsRequest>(Default::default())?;
        let threads = threads.map(|answer| answer.threads).unwrap_or_default();
        // The newest thread runs the function with the breakpoint.
        let thread = threads.last().map_or(1, |thread| thread.id);
        if step(self, thread)?.is_some()
            && let Some(thread) = self.stop()?
        {
            self.look(thread, false)?;
        }
        Ok(())
    }

    fn next(&mut self, thread: i64) -> Answered<()> {
        let answer = self.ask::<NextRequest>(NextArguments::new(thread))?;
        Ok(answer.map(drop))
    }

    fn step_in(&mut self, thread: i64) -> Answered<()> {
        let answer = self.ask::<StepInRequest>(StepInArguments::new(thread))?;
        Ok(answer.map(drop))
    }

    fn step_out(&mut self, thread: i64) -> Answered<()> {
        let answer = self.ask::<StepOutRequest>(StepOutArguments::new(thread))?;
        Ok(answer.map(drop))
    }

    fn resume(&mut self, thread: i64) -> Answered<()> {
        let answer = self.ask::<ContinueRequest>(ContinueArguments::new(thread))?;
        Ok(answer.map(drop))
    }

    fn watch(&mut self) -> Result<(), String> {
        let arguments = DataBreakpointInfoArguments::new("total");
        let info = self.ask::<DataBreakpointInfoRequest>(arguments)?;
        let Some(id) = info.and_then(|info| info.data_id) else {
            return Ok(());
        };
        let arguments = SetDataBreakpointsArguments::new(vec![DataBreakpoint::new(id)]);
        if let Some(answer) = self.ask::<SetDataBreakpointsRequest>(arguments)? {
            let verified = answer.breakpoints.iter().all(|it| it.verified);
            self.note(format!("data breakpoint: {verified}"));
        }
        Ok(())
    }

    /// Takes the breakpoints at lines out.
    fn clear(&mut self, fixture: &Fixture) -> Result<(), String> {
        let source = Source::new().with_path(fixture.path());
        let none = SetBreakpointsArguments::new(source).with_breakpoints(Vec::new());
        self.ask::<SetBreakpointsRequest>(none)?;
        Ok(())
    }
}
