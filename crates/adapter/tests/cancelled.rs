//! Stops at futures that are dropped before their end.

use crate::support::{Session, package};
use dapple_dap::types::*;
use serde_json::json;

/// The stops of a session with `cancelled` until it ends: id and description of the exception, and its stack.
fn stops(optimised: bool, filter: &str, condition: Option<&str>) -> Vec<(String, Vec<String>)> {
    let session = Session::new();
    let program = package::built("tasks", optimised).join("cancelled");
    let launch = json!({"program": program.display().to_string()});
    session.ok::<LaunchRequest>(dapple_dap::testing::launch_arguments(&launch));
    let mut option = ExceptionFilterOptions::new(filter);
    option.condition = condition.map(str::to_owned);
    let set = SetExceptionBreakpointsArguments::new(Vec::new()).with_filter_options(vec![option]);
    session.ok::<SetExceptionBreakpointsRequest>(set);
    session.configured();
    let mut stops = Vec::new();
    while session.ends_or_stops() {
        let stopped = session.stopped(StoppedEventReason::Exception);
        let asked = ExceptionInfoArguments::new(stopped.thread);
        let info = session.ok::<ExceptionInfoRequest>(asked);
        let description = info.description.expect("a description");
        let folder = package::folder("tasks").join("src/bin/");
        let description = description.replace(&*folder.to_string_lossy(), "");
        let trace = info.details.and_then(|details| details.stack_trace);
        let trace = trace.unwrap_or_default();
        let place = |line: &str| {
            line.find(" at ")
                .or(line.find(" in "))
                .unwrap_or(line.len())
        };
        let names = { trace.lines() }.map(|line| line[..place(line)].to_owned());
        stops.push((
            format!("{}: {description}", info.exception_id),
            names.collect(),
        ));
        session.ok::<ContinueRequest>(ContinueArguments::new(stopped.thread));
    }
    stops
}

const ABORTED: (&str, &str, &[&str]) = (
    "task cancelled: the task `cancelled::aborted (async)` is cancelled",
    "// inner",
    &["cancelled::inner (async)", "cancelled::aborted (async)"],
);
const LEFT: (&str, &str, &[&str]) = (
    "task cancelled: the task `cancelled::left (async)` is cancelled",
    "// serve",
    &[
        "cancelled::Service::serve (async)",
        "cancelled::left (async)",
    ],
);

/// Checks the stops. Expected are for each the description, the line of the source where the future is suspended (empty: it hasn't begun),
/// and its stack.
#[track_caller]
fn check(stops: &[(String, Vec<String>)], expected: &[(&str, &str, &[&str])]) {
    let source = package::folder("tasks").join("src/bin/cancelled.rs");
    let source = std::fs::read_to_string(source).expect("the source");
    let expected = expected.iter().map(|(description, mark, stack)| {
        let line = source.lines().position(|line| line.ends_with(mark));
        let suspended = match (mark, line) {
            (&"", _) => String::new(),
            (_, line) => format!(
                "\nsuspended at cancelled.rs:{}, waiting for a timer, 99 h left",
                line.expect("a line with the mark") + 1
            ),
        };
        let stack = stack.iter().map(|&name| name.to_owned());
        (format!("{description}{suspended}"), stack.collect())
    });
    assert_eq!(stops, expected.collect::<Vec<(String, Vec<String>)>>());
}

#[test]
fn a_task_that_is_aborted_stops_and_so_does_one_whose_runtime_ends() {
    check(&stops(false, "async_cancelled", None), &[ABORTED, LEFT]);
}

#[test]
fn any_future_that_is_dropped_before_its_end_can_stop() {
    let dropped = [
        ABORTED,
        (
            "future dropped: `cancelled::loser (async)` is dropped",
            "// loser",
            &["cancelled::loser (async)"],
        ),
        (
            "future dropped: `cancelled::late (async)` is dropped",
            "// late",
            &["cancelled::late (async)"],
        ),
        (
            "future dropped: `cancelled::unawaited (async)` is dropped before it has begun",
            "",
            &["cancelled::unawaited (async)"],
        ),
        LEFT,
    ];
    check(&stops(false, "async_dropped", None), &dropped);
    let condition = Some("!aborted*, !late*, !unawaited*, !cancelled::left*");
    check(&stops(false, "async_dropped", condition), &dropped[1..2]);
}

#[test]
fn without_the_filter_nothing_stops() {
    check(&stops(false, "faults", None), &[]);
}

#[test]
fn a_panic_in_a_task_says_which_task_it_is() {
    panics_in_task(false);
    panics_in_task(true);
}

fn panics_in_task(optimised: bool) {
    let session = Session::new();
    let program = package::built("tasks", optimised).join("panicking");
    let launch = json!({"program": program.display().to_string()});
    session.ok::<LaunchRequest>(dapple_dap::testing::launch_arguments(&launch));
    session.configured();
    let mut said = Vec::new();
    while session.ends_or_stops() {
        let stopped = session.stopped(StoppedEventReason::Exception);
        let asked = ExceptionInfoArguments::new(stopped.thread);
        let info = session.ok::<ExceptionInfoRequest>(asked);
        let description = info.description.expect("a description");
        let panicked = description.lines().nth(1).expect("a second line");
        let (_, task) = panicked.split_once(".rs:").expect("the place");
        said.push(task.to_owned());
        session.resume(stopped.thread);
    }
    // What the program prints: a task's number, and then that it isn't in a task.
    let number = session.output(OutputEventCategory::Stdout);
    let number = number.trim();
    assert_eq!(said, [format!("7:5 in task {number}"), "17:5".to_owned()]);
}
