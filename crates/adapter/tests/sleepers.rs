//! Programs with many sleeping threads: calls, steps and ends.

use crate::support::{Fixture, Session, Stopped};
use dapple_dap::types::*;
use serde_json::json;

/// Enough threads that the tracer uses another way to wait for all of them than for a few.
const MANY: usize = 500;

/// The console's answer to an expression.
fn typed(session: &Session, frame: &StackFrame, text: &str) -> String {
    let arguments = EvaluateArguments::new(text).with_frame_id(frame.id);
    let answer =
        session.request::<EvaluateRequest>(arguments.with_context(EvaluateArgumentsContext::Repl));
    match answer {
        Ok(answer) => answer.result,
        Err(error) => format!("error: {error}"),
    }
}

fn at_turn(fixture: &Fixture, arguments: serde_json::Value) -> (Session, Stopped) {
    let session = Session::started(fixture, arguments, &["turn"]);
    let stop = session.stopped_at(fixture, "turn", StoppedEventReason::Breakpoint);
    (session, stop)
}

/// The innermost frame of the newest thread, which sleeps.
fn sleeper(session: &Session) -> StackFrame {
    let threads = session.ok::<ThreadsRequest>(Default::default()).threads;
    assert_eq!(threads.len(), MANY + 1);
    let last = threads.last().expect("a thread").id;
    let stack = session.ok::<StackTraceRequest>(StackTraceArguments::new(last).with_levels(1));
    stack.stack_frames.into_iter().next().expect("a frame")
}

#[test]
fn calls_and_steps_among_many_sleeping_threads_come_back_in_any_order() {
    let fixture = Fixture::new("sleepers.c");
    for threads in ["one", "all"] {
        let arguments = json!({"args": [MANY.to_string()], "callThreads": threads});
        let (session, stop) = at_turn(&fixture, arguments);
        assert_eq!(typed(&session, &stop.top, "twice(21)"), "42");
        let stop = session.step_in(&stop, &fixture, "look");
        assert_eq!(typed(&session, &stop.top, "look(twice(1))"), "5");
        // If calls resume all threads, the first thread would run on during a call in another thread.
        let caller = match threads {
            "one" => sleeper(&session),
            _ => stop.top.clone(),
        };
        assert_eq!(typed(&session, &caller, "look(4)"), "9");
        let stop = session.next(&stop, &fixture, "doubled");
        assert_eq!(typed(&session, &stop.top, "twice(1)"), "2");
        let stop = session.step_in(&stop, &fixture, "twice");
        assert_eq!(typed(&session, &stop.top, "look(number)"), "1");
        let stop = session.step_out(&stop, &fixture, "doubled");
        let stop = session.next(&stop, &fixture, "returns");
        assert_eq!(typed(&session, &stop.top, "twice(doubled)"), "0");
        session.resume(stop.thread);
        let stop = session.stopped_at(&fixture, "turn", StoppedEventReason::Breakpoint);
        assert_eq!(typed(&session, &stop.top, "look(look(look(1)))"), "15");
        let stop = session.next(&stop, &fixture, "behind");
        session.set_breakpoints(&fixture, &[]);
        session.resume(stop.thread);
        assert_eq!(session.exit_code(), 0);
        let output = session.output(OutputEventCategory::Stdout);
        // Three turns and six calls.
        assert_eq!(output, "6 9 0\n");
        session.disconnect();
    }
}

#[test]
fn a_call_that_makes_a_copy_of_the_process_gives_its_locks_back() {
    let fixture = Fixture::new("sleepers.c");
    let (session, stop) = at_turn(&fixture, json!({}));
    let found = typed(&session, &stop.top, "copies()");
    session.set_breakpoints(&fixture, &[]);
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    assert!(
        found.contains("`copies` has made a copy of the process (fork)")
            && found.contains("the copy was killed"),
        "{found}"
    );
    session.disconnect();
}
