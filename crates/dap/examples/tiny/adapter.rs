//! The adapter: the handlers of the client's requests, and the events sent to it.
//!
//! One thread does everything. While the program is stopped it waits for the next message; while the program runs it handles messages
//! between two lines. So handlers never run at the same time and need no lock.

use std::path::PathBuf;

use dapple_dap::server::{Progress, References};
use dapple_dap::types::*;
use dapple_dap::{Connection, Context, Failure, Outbox, Server};
use serde::Deserialize;

use crate::language::{Machine, Ran};

/// The id of the only thread.
const THREAD: i64 = 1;
/// All variables are global, so one fixed reference names them.
const VARIABLES: i64 = 1;
/// How many bytes of a call's output are kept for the console.
const PRINTED_LIMIT: usize = 64 << 10;

/// One session's program.
#[derive(Default)]
struct Debuggee {
    machine: Option<Machine>,
    path: PathBuf,
    stop_on_entry: bool,
    configured: bool,
    /// Lines with their conditions.
    breakpoints: Vec<(i64, Option<String>)>,
    /// Where the run ends; `None` while the program is stopped.
    goal: Option<Goal>,
    /// Frames, each by the number of frames outside of it. They are valid until the next resume.
    frames: References<usize>,
}

/// Where a run ends, besides at a breakpoint.
enum Goal {
    Breakpoint,
    /// At the next line.
    Line,
    /// At the next line with no more than this many calls on the stack.
    Depth(usize),
}

/// Serves one client until it disconnects.
pub fn serve(connection: &Connection) {
    let mut session = server().start(connection);
    session.run_interpreter(&mut Debuggee::default(), Debuggee::run_line);
}

/// The handlers. The session answers `initialize`, `cancel` and `disconnect` by itself, and advertises the capabilities that have a
/// handler here.
fn server() -> Server<Debuggee> {
    Server::builder()
        .capabilities(|capabilities| {
            capabilities.supports_conditional_breakpoints = Some(true);
            capabilities.supports_evaluate_for_hovers = Some(true);
        })
        .on::<LaunchRequest>(Debuggee::launch)
        .on::<SetBreakpointsRequest>(Debuggee::set_breakpoints)
        .on::<ConfigurationDoneRequest>(|debuggee, _, context| {
            debuggee.configured = true;
            debuggee.begin(context.outbox());
            Ok(Empty)
        })
        .on::<ThreadsRequest>(|_, _, _| Ok(ThreadsResponse::new(vec![Thread::new(THREAD, "main")])))
        .on::<StackTraceRequest>(Debuggee::stack_trace)
        .on::<ScopesRequest>(|debuggee, arguments, _| {
            debuggee.frames.get(arguments.frame_id)?;
            Ok(ScopesResponse::new(vec![Scope::new(
                "Variables",
                VARIABLES,
                false,
            )]))
        })
        .on::<VariablesRequest>(Debuggee::variables)
        .on::<SetVariableRequest>(|debuggee, arguments, _| {
            let machine = debuggee.stopped()?;
            let value = machine.evaluate(&arguments.value).map_err(Failure::new)?;
            machine.variables.insert(arguments.name, value);
            Ok(SetVariableResponse::new(value.to_string()))
        })
        .on::<EvaluateRequest>(Debuggee::evaluate)
        .on::<ContinueRequest>(|debuggee, _, _| {
            debuggee.resume(|_| Goal::Breakpoint)?;
            Ok(ContinueResponse::new().with_all_threads_continued(true))
        })
        .on::<NextRequest>(|debuggee, _, _| debuggee.resume(Goal::Depth))
        .on::<StepInRequest>(|debuggee, _, _| debuggee.resume(|_| Goal::Line))
        .on::<StepOutRequest>(|debuggee, _, _| {
            // From the outermost frame, it runs to the end.
            debuggee.resume(|depth| depth.checked_sub(1).map_or(Goal::Breakpoint, Goal::Depth))
        })
        .on::<PauseRequest>(|debuggee, _, context| {
            if debuggee.goal.is_some() {
                debuggee.stop(StoppedEventReason::Pause, None, context.outbox());
            }
            Ok(Empty)
        })
        .on::<TerminateRequest>(|debuggee, _, context| {
            debuggee.end(0, context.outbox());
            Ok(Empty)
        })
        .build()
}

/// The arguments of `launch`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Launch {
    /// The file to run.
    program: PathBuf,
    #[serde(default)]
    stop_on_entry: bool,
}

impl Debuggee {
    fn launch(
        &mut self,
        arguments: LaunchRequestArguments,
        context: &mut Context,
    ) -> Result<Empty, Failure> {
        let launch: Launch = arguments.decode()?;
        let path = launch.program;
        let text = std::fs::read_to_string(&path)
            .map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
        self.machine = Some(Machine::load(&text).map_err(Failure::new)?);
        self.path = path;
        self.stop_on_entry = launch.stop_on_entry;
        // Breakpoints can be set now.
        context.outbox().event::<InitializedEvent>(Empty);
        self.begin(context.outbox());
        Ok(Empty)
    }

    /// Starts the program once both `launch` and `configurationDone` were handled, in either order.
    fn begin(&mut self, outbox: &Outbox) {
        let Some(machine) = self.machine.as_ref().filter(|_| self.configured) else {
            return;
        };
        let line = machine.line();
        if self.stop_on_entry {
            self.stop(StoppedEventReason::Entry, None, outbox);
        } else if self.is_breakpoint(line) {
            self.stop(StoppedEventReason::Breakpoint, None, outbox);
        } else {
            self.goal = Some(Goal::Breakpoint);
        }
    }

    fn set_breakpoints(
        &mut self,
        arguments: SetBreakpointsArguments,
        context: &mut Context,
    ) -> Result<SetBreakpointsResponse, Failure> {
        let machine = self
            .machine
            .as_ref()
            .ok_or(Failure::new("nothing is launched"))?;
        let conventions = context.conventions();
        let path = arguments.source.path.as_deref().unwrap_or_default();
        let ours = conventions.path_from_client(path) == self.path;
        let mut placed = Vec::new();
        let mut answers = Vec::new();
        for asked in arguments.breakpoints.unwrap_or_default() {
            let line = conventions.line_from_client(asked.line);
            answers.push(match machine.line_with_statement(line) {
                Some(line) if ours => {
                    placed.push((line, asked.condition));
                    Breakpoint::new(true).with_line(conventions.line_to_client(line))
                }
                Some(_) => {
                    Breakpoint::new(false).with_message("this file is not part of the program")
                }
                None => Breakpoint::new(false).with_message("no statement follows here"),
            });
        }
        if ours {
            self.breakpoints = placed;
        }
        Ok(SetBreakpointsResponse::new(answers))
    }

    fn stack_trace(
        &mut self,
        arguments: StackTraceArguments,
        context: &mut Context,
    ) -> Result<StackTraceResponse, Failure> {
        if arguments.thread_id != THREAD {
            return Err(Failure::new("there is no such thread"));
        }
        let path = context.conventions().path_to_client(&self.path);
        let stack = self.stopped()?.stack();
        let calls: Vec<_> = stack
            .iter()
            .map(|(name, line)| (name.to_string(), *line))
            .collect();
        let start = usize::try_from(arguments.start_frame.unwrap_or(0)).unwrap_or(0);
        let levels = usize::try_from(arguments.levels.unwrap_or(0)).unwrap_or(0);
        let levels = if levels == 0 { calls.len() } else { levels };
        let mut frames = Vec::new();
        for (index, (name, line)) in calls.iter().enumerate().skip(start).take(levels) {
            let id = self.frames.insert(calls.len() - 1 - index)?;
            let line = context.conventions().line_to_client(*line);
            let column = context.conventions().column_to_client(1);
            let source = Source::new().with_path(path.clone());
            frames.push(StackFrame::new(id, name, line, column).with_source(source));
        }
        Ok(StackTraceResponse::new(frames).with_total_frames(calls.len() as i64))
    }

    fn variables(
        &mut self,
        arguments: VariablesArguments,
        _: &mut Context,
    ) -> Result<VariablesResponse, Failure> {
        if arguments.variables_reference != VARIABLES {
            return Err(Failure::new("there are no such variables"));
        }
        let variables = self.stopped()?.variables.iter();
        let variables = variables.map(|(name, value)| Variable::new(name, value.to_string(), 0));
        Ok(VariablesResponse::new(variables.collect()))
    }

    /// Evaluates an expression or, in the console, a call. A call may take long, so it shows progress, and the client can cancel the
    /// request or the progress.
    fn evaluate(
        &mut self,
        arguments: EvaluateArguments,
        context: &mut Context,
    ) -> Result<EvaluateResponse, Failure> {
        let machine = self.stopped()?;
        let in_console = arguments.context == Some(EvaluateArgumentsContext::Repl);
        let label = arguments
            .expression
            .strip_prefix("call ")
            .filter(|_| in_console);
        let Some(label) = label else {
            let value = machine
                .evaluate(&arguments.expression)
                .map_err(Failure::new)?;
            return Ok(EvaluateResponse::new(value.to_string(), 0));
        };
        let mut progress = Progress::start_cancellable(context.outbox(), format!("call {label}"));
        let mut printed = String::new();
        let mut lines = 0_u64;
        let given_up = |progress: &Progress| {
            progress.cancelled().is_cancelled() || context.cancelled().is_cancelled()
        };
        let outcome = machine.call(label.trim(), |value| {
            if let Some(value) = value.filter(|_| printed.len() < PRINTED_LIMIT) {
                printed.push_str(&format!("{value}\n"));
            }
            lines += 1;
            if lines.is_multiple_of(1000) {
                progress.update(Some(format!("{lines} lines")), None);
            }
            !given_up(&progress)
        });
        if given_up(&progress) {
            return Err(Failure::cancelled());
        }
        outcome.map_err(Failure::new)?;
        Ok(EvaluateResponse::new(printed.trim_end(), 0))
    }

    /// The program, if it is stopped.
    fn stopped(&mut self) -> Result<&mut Machine, Failure> {
        if self.goal.is_some() {
            return Err(Failure::not_stopped());
        }
        self.machine
            .as_mut()
            .ok_or(Failure::new("there is no program"))
    }

    fn resume(&mut self, goal: impl FnOnce(usize) -> Goal) -> Result<Empty, Failure> {
        let depth = self.stopped()?.depth();
        self.goal = Some(goal(depth));
        self.frames.clear_generation();
        Ok(Empty)
    }

    /// If the program runs, runs one line and reports its output, or the stop or end, to the client. Returns whether it ran a line.
    fn run_line(&mut self, outbox: &Outbox) -> bool {
        let (Some(machine), Some(goal)) = (&mut self.machine, &self.goal) else {
            return false;
        };
        match machine.step() {
            Ok(Ran::On(printed)) => {
                if let Some(value) = printed {
                    outbox.output(OutputEventCategory::Stdout, format!("{value}\n"));
                }
                let reached = match goal {
                    Goal::Breakpoint => false,
                    Goal::Line => true,
                    Goal::Depth(depth) => machine.depth() <= *depth,
                };
                let line = machine.line();
                if self.is_breakpoint(line) {
                    self.stop(StoppedEventReason::Breakpoint, None, outbox);
                } else if reached {
                    self.stop(StoppedEventReason::Step, None, outbox);
                }
            }
            Ok(Ran::Ended) => self.end(0, outbox),
            // The program stays at its line: the client may set a missing variable and continue.
            Err(error) => self.stop(StoppedEventReason::Exception, Some(error), outbox),
        }
        true
    }

    fn is_breakpoint(&self, line: i64) -> bool {
        let holds = |condition: &String| {
            let value = self
                .machine
                .as_ref()
                .map(|machine| machine.evaluate(condition));
            // A condition that cannot be evaluated stops the program, so that the user notices the error.
            !matches!(value, Some(Ok(0)))
        };
        let mut here = self.breakpoints.iter().filter(|(at, _)| *at == line);
        here.any(|(_, condition)| condition.as_ref().is_none_or(holds))
    }

    fn stop(&mut self, reason: StoppedEventReason, text: Option<String>, outbox: &Outbox) {
        self.goal = None;
        let mut stopped = StoppedEventBody::new(reason)
            .with_thread_id(THREAD)
            .with_all_threads_stopped(true);
        stopped.text = text;
        outbox.event::<StoppedEvent>(stopped);
    }

    fn end(&mut self, exit_code: i64, outbox: &Outbox) {
        self.goal = None;
        if self.machine.take().is_some() {
            outbox.ended(exit_code);
        }
    }
}
