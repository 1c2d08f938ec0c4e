//! The body of a `stopped` event.

use crate::function_names::FunctionNames;
use dapple_dap::types::{StoppedEventBody, StoppedEventReason};
use dapple_engine::event::{ExceptionKind, Stop, StopReason};
use dapple_engine::session::watching::{Access, DataHit};

/// The breakpoints that a thread has stopped at.
#[derive(Debug, Default)]
pub struct Hit {
    /// The ids that the client knows.
    pub ids: Vec<i64>,
    /// Whether all are function breakpoints.
    pub all_functions: bool,
    /// Whether all are instruction breakpoints.
    pub all_instructions: bool,
    /// Whether this is only the stop at `main` that the launch asked for.
    pub at_main: bool,
}

/// The body of a `stopped` event. Of several stops, only the `first` has `allThreadsStopped` and gets the client's focus.
pub fn stopped(stop: &Stop, first: bool, hit: Hit, names: FunctionNames) -> StoppedEventBody {
    let Shown {
        reason,
        description,
        text,
    } = shown(stop, &hit, names);
    let mut body = StoppedEventBody::new(reason)
        .with_thread_id(i64::from(stop.thread.0))
        .with_description(description)
        .with_all_threads_stopped(first);
    body.text = text;
    if !hit.ids.is_empty() {
        body = body.with_hit_breakpoint_ids(hit.ids);
    }
    if !first {
        body = body.with_preserve_focus_hint(true);
    }
    body
}

/// What a `stopped` event says about the reason of the stop.
struct Shown {
    reason: StoppedEventReason,
    description: String,
    text: Option<String>,
}

impl Shown {
    fn new(reason: StoppedEventReason, description: &str) -> Shown {
        Shown {
            reason,
            description: description.to_owned(),
            text: None,
        }
    }

    fn with_text(self, text: impl Into<String>) -> Shown {
        Shown {
            text: Some(text.into()),
            ..self
        }
    }
}

fn shown(stop: &Stop, hit: &Hit, names: FunctionNames) -> Shown {
    use StoppedEventReason as Reason;
    match &stop.reason {
        StopReason::Entry => Shown::new(Reason::Entry, "Stopped at entry"),
        StopReason::Breakpoint(_) => at_breakpoint(hit),
        StopReason::Undecided { why, .. } => {
            let description = "Stopped at a breakpoint whose condition can't be evaluated";
            Shown::new(breakpoint_reason(hit), description).with_text(why)
        }
        StopReason::Step => Shown::new(Reason::Step, "Stopped after a step"),
        StopReason::FutureDropped { function, place } => {
            let file = place.file.file_name().unwrap_or_default().to_string_lossy();
            let line = place.line;
            let function = names.name(function);
            Shown::new(Reason::Step, "Stopped: the future is dropped").with_text(format!(
                "`{function}` was suspended at {file}:{line} and is dropped here"
            ))
        }
        StopReason::CoroutineDestroyed { function, place } => {
            let file = place.file.file_name().unwrap_or_default().to_string_lossy();
            let line = place.line;
            Shown::new(Reason::Step, "Stopped: the coroutine is destroyed").with_text(format!(
                "`{function}` was suspended at {file}:{line} and is destroyed here"
            ))
        }
        StopReason::NotAwaited => Shown::new(Reason::Step, "Stopped: the future is suspended")
            .with_text(
                "no debug register is free to notice when it is resumed; remove a data breakpoint",
            ),
        StopReason::Pause => Shown::new(Reason::Pause, "Paused"),
        StopReason::Data(hits) => data_accessed(hits),
        StopReason::DataGone { names, .. } => {
            let names = quoted(names);
            Shown::new(Reason::DataBreakpoint, "Watched data is gone")
                .with_text(format!("the function was left whose frame had {names}"))
        }
        StopReason::Goto => Shown::new(Reason::Goto, "Moved there"),
        StopReason::Restarted => {
            Shown::new(Reason::Other("restart".into()), "Restarted the function")
        }
        StopReason::LastRunnerEnded => Shown::new(Reason::Pause, "Paused")
            .with_text("the only thread that was running has ended"),
        StopReason::Beginning => Shown::new(Reason::Entry, "At the beginning of the recording"),
        StopReason::Present => Shown::new(Reason::Goto, "At the present"),
        StopReason::Bookmark(number) => Shown::new(Reason::Goto, &format!("At bookmark {number}")),
        StopReason::RecordingEnds { why } => {
            let reason = Reason::Other("end of the recording".into());
            Shown::new(reason, "At the end of the recording").with_text(why)
        }
        StopReason::NotReplayed { why } => {
            Shown::new(Reason::Pause, "Stopped where it was").with_text(why)
        }
        StopReason::Signal { description, .. } => {
            Shown::new(Reason::Exception, "Stopped by a signal").with_text(description)
        }
        StopReason::Trap => Shown::new(Reason::Exception, "Stopped by a trap instruction")
            .with_text(format!(
                "the program executed a trap instruction of its own before {}",
                stop.address
            )),
        StopReason::Exception {
            kind, description, ..
        } => Shown::new(Reason::Exception, at_exception(*kind)).with_text(description),
        other => {
            tracing::warn!(?other, "a stop of a kind without a name in the protocol");
            Shown::new(Reason::Pause, "Stopped")
        }
    }
}

fn at_breakpoint(hit: &Hit) -> Shown {
    if hit.at_main {
        let description = "Stopped at the beginning of main";
        return Shown::new(StoppedEventReason::Entry, description);
    }
    let reason = breakpoint_reason(hit);
    let description = match reason {
        StoppedEventReason::FunctionBreakpoint => "Stopped at a function breakpoint",
        StoppedEventReason::InstructionBreakpoint => "Stopped at an instruction breakpoint",
        _ => "Stopped at a breakpoint",
    };
    Shown::new(reason, description)
}

fn breakpoint_reason(hit: &Hit) -> StoppedEventReason {
    if hit.all_functions {
        StoppedEventReason::FunctionBreakpoint
    } else if hit.all_instructions {
        StoppedEventReason::InstructionBreakpoint
    } else {
        StoppedEventReason::Breakpoint
    }
}

fn at_exception(kind: ExceptionKind) -> &'static str {
    match kind {
        ExceptionKind::Throw | ExceptionKind::Rethrow => "Stopped at a throw",
        ExceptionKind::Uncaught => "Stopped at a throw that nothing catches",
        ExceptionKind::Catch => "Stopped at a catch",
        ExceptionKind::Panic => "Stopped at a panic",
        ExceptionKind::Cancelled => "Stopped: a future is dropped",
        ExceptionKind::Report => "Stopped at a sanitizer's report",
    }
}

/// An access to watched data, with the old and new values, and the statement that made it.
fn data_accessed(hits: &[DataHit]) -> Shown {
    let accesses: Vec<String> = hits.iter().map(access).collect();
    let shown = Shown::new(StoppedEventReason::DataBreakpoint, &accesses.join("; "));
    let Some(position) = hits.first().and_then(|hit| hit.position.as_ref()) else {
        return shown;
    };
    let name = super::file_name(&position.file);
    shown.with_text(format!("by the statement at {name}:{}", position.line))
}

fn access(hit: &DataHit) -> String {
    let DataHit { name, new, .. } = hit;
    match (&hit.old, hit.access) {
        (Some(old), _) => format!("`{name}` changed from {old} to {new}"),
        (None, Access::Change | Access::Write) => {
            format!("`{name}` was written, and is still {new}")
        }
        (None, Access::Read) => format!("`{name}` was read: {new}"),
        (None, Access::ReadWrite) => format!("`{name}` was read, or written unchanged: {new}"),
    }
}

fn quoted(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
