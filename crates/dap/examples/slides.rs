//! An asynchronous debug adapter, on Tokio: it shows the lines of a file one by one, and stops at breakpoints like any debugger.
//!
//! Editors start it with `{"program": "slides.txt"}` as the arguments of `launch`. The expression `next` has its
//! value when the next line was shown, however long that takes.

use std::{future::ready, sync::Arc, time::Duration};

use dapple_dap::async_server::{AsyncContext, AsyncServer};
use dapple_dap::types::*;
use dapple_dap::{Failure, Outbox};
use tokio::{sync::Notify, task::AbortHandle};

#[derive(Default)]
struct Show {
    path: String,
    lines: Vec<String>,
    shown: usize,
    breakpoints: Vec<i64>,
    task: Option<AbortHandle>,
    next: Arc<Notify>,
}

impl Show {
    fn line(&self) -> i64 {
        self.shown as i64 + 1
    }

    /// Shows a line. `true`: there are more to be shown.
    fn step(&mut self, one_line: bool, outbox: &Outbox) -> bool {
        let line = self.lines.get(self.shown).map_or("", String::as_str);
        let body = OutputEventBody::new(format!("{line}\n"));
        outbox.event::<OutputEvent>(body.with_category(OutputEventCategory::Stdout));
        self.shown += 1;
        self.next.notify_waiters();
        if self.shown >= self.lines.len() {
            outbox.event::<ExitedEvent>(ExitedEventBody::new(0));
            outbox.event::<TerminatedEvent>(TerminatedEventBody::new());
        } else if self.breakpoints.contains(&self.line()) {
            self.stop(StoppedEventReason::Breakpoint, outbox);
        } else if one_line {
            self.stop(StoppedEventReason::Step, outbox);
        } else {
            return true;
        }
        false
    }

    fn stop(&mut self, reason: StoppedEventReason, outbox: &Outbox) {
        self.task.take().inspect(AbortHandle::abort);
        outbox.event::<StoppedEvent>(StoppedEventBody::new(reason).with_thread_id(1));
    }

    /// Runs the show on a task, which gets to this state between two of the client's messages.
    fn run(&mut self, one_line: bool, context: AsyncContext<Self>) -> Result<Empty, Failure> {
        let show = async move {
            loop {
                // Its events leave after the response to this request.
                let outbox = context.outbox().clone();
                let step = context.with(move |show, _| show.step(one_line, &outbox));
                if step.await != Ok(true) {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        self.task = Some(tokio::spawn(show).abort_handle());
        Ok(Empty)
    }
}

fn server() -> AsyncServer<Show> {
    AsyncServer::builder()
        .on::<LaunchRequest>(|show: &mut Show, arguments, context| {
            let path = arguments.other.get("program");
            show.path = path.ok_or(Failure::new("no `program`"))?.decode()?;
            let text = std::fs::read_to_string(&show.path)?;
            show.lines = text.lines().map(str::to_owned).collect();
            context.outbox().event::<InitializedEvent>(Empty);
            Ok(Empty)
        })
        .on::<SetBreakpointsRequest>(|show, arguments, _| {
            let is_program = arguments.source.path.as_ref() == Some(&show.path);
            let asked = arguments.breakpoints.unwrap_or_default().into_iter();
            let lines: Vec<_> = asked.map(|breakpoint| breakpoint.line).collect();
            let set = lines.iter();
            let set = set.map(|line| Breakpoint::new(is_program).with_line(*line));
            let answer = SetBreakpointsResponse::new(set.collect());
            if is_program {
                show.breakpoints = lines;
            }
            Ok(answer)
        })
        .on_async::<ConfigurationDoneRequest, _>(|show, _, context| ready(show.run(false, context)))
        .on_async::<NextRequest, _>(|show, _, context| ready(show.run(true, context)))
        .on_async::<ContinueRequest, _>(|show, _, context| {
            let runs = show.run(false, context);
            ready(runs.map(|_| ContinueResponse::new()))
        })
        .on::<ScopesRequest>(|_, _, _| Ok(ScopesResponse::new(vec![])))
        .on::<PauseRequest>(|show, _, context| {
            if show.task.is_some() {
                show.stop(StoppedEventReason::Pause, context.outbox());
            }
            Ok(Empty)
        })
        .on::<ThreadsRequest>(|_, _, _| Ok(ThreadsResponse::new(vec![Thread::new(1, "show")])))
        .on::<StackTraceRequest>(|show, _, _| {
            let source = Source::new().with_path(show.path.clone());
            let frame = StackFrame::new(1, "show", show.line(), 1).with_source(source);
            Ok(StackTraceResponse::new(vec![frame]))
        })
        .on_async::<EvaluateRequest, _>(|show, arguments, context| {
            let next = show.next.clone().notified_owned();
            async move {
                let next = (arguments.expression == "next").then_some(next);
                let next = next.ok_or(Failure::new("only `next` has a value"))?;
                context.unless_cancelled(next).await?;
                let line = context.with(|show, _| show.line()).await?;
                Ok(EvaluateResponse::new(line.to_string(), 0))
            }
        })
        .build()
}

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(server().serve_stdio(|_| Show::default()));
}
