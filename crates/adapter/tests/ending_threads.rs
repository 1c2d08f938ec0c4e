//! `terminateThreads`: the effects on the other threads and on pending signals.

use crate::support;
use crate::support::{Fixture, Session};
use dapple_dap::types::*;
use serde_json::json;

/// Makes signals of this name stop the program.
fn stop_at(session: &Session, signal: &str) {
    let option = ExceptionFilterOptions::new("signals").with_condition(signal);
    let arguments =
        SetExceptionBreakpointsArguments::new(Vec::new()).with_filter_options(vec![option]);
    session.ok::<SetExceptionBreakpointsRequest>(arguments);
}

fn end(session: &Session, threads: &[i64]) {
    let arguments = TerminateThreadsArguments::new().with_thread_ids(threads.to_vec());
    session.ok::<TerminateThreadsRequest>(arguments);
}

fn refused(session: &Session, threads: Option<Vec<i64>>) -> String {
    let mut arguments = TerminateThreadsArguments::new();
    arguments.thread_ids = threads;
    session
        .refused::<TerminateThreadsRequest>(arguments)
        .sentence
}

fn threads(session: &Session) -> Vec<i64> {
    let threads = session.ok::<ThreadsRequest>(Default::default()).threads;
    threads.into_iter().map(|thread| thread.id).collect()
}

#[test]
fn a_signal_for_the_process_that_the_thread_was_about_to_take_is_taken_by_another() {
    let fixture = Fixture::new("ended_threads.c");
    for (args, handled) in [(vec![], "handled 1"), (vec!["queue"], "handled 5")] {
        let session = Session::new();
        session.launch(&fixture, json!({"args": args}));
        stop_at(&session, "SIGUSR1");
        session.configured();
        if args.is_empty() {
            session.wait_for_output("waiting");
            support::running::kill("-USR1", session.process_id() as i32);
        }
        let stop = session.stopped(StoppedEventReason::Exception);
        assert_eq!(threads(&session)[1], stop.thread);
        stop_at(&session, "!SIGUSR1");
        end(&session, &[stop.thread]);
        session.resume(threads(&session)[0]);
        assert_eq!(session.exit_code(), 0);
        let output = session.output(OutputEventCategory::Stdout);
        assert!(output.ends_with(&format!("{handled}\n")), "{output}");
        session.disconnect();
    }
}

#[test]
fn a_signal_that_comes_for_the_process_while_a_thread_ends_is_taken_by_another() {
    let fixture = Fixture::new("ended_threads.c");
    let session = Session::started(&fixture, json!({}), &[]);
    session.wait_for_output("waiting");
    let [main, other] = threads(&session)[..] else {
        panic!("two threads")
    };
    session.ok::<PauseRequest>(PauseArguments::new(main));
    session.stopped(StoppedEventReason::Pause);
    support::running::kill("-USR1", session.process_id() as i32);
    end(&session, &[other]);
    session.resume(main);
    assert_eq!(session.exit_code(), 0);
    assert_eq!(
        session.output(OutputEventCategory::Stdout),
        "waiting\nhandled 1\n"
    );
    session.disconnect();
}

#[test]
fn what_cannot_be_ended_is_refused_and_all_go_on() {
    let fixture = Fixture::new("again.c");
    let session = Session::started(&fixture, json!({"args": ["thread"]}), &["waiting"]);
    let stop = session.stopped_at(&fixture, "waiting", StoppedEventReason::Breakpoint);
    session.set_breakpoints(&fixture, &[]);
    session.ok::<NextRequest>(NextArguments::new(stop.thread));
    session.stopped(StoppedEventReason::Step);
    let main = threads(&session)[0];
    for (ids, part) in [
        (None, "no threads are named"),
        (Some(vec![]), "no threads are named"),
        (Some(vec![1]), "no thread 1"),
        (Some(vec![-5]), "-5"),
        (Some(vec![stop.thread, main]), "the program's first"),
        (Some(vec![stop.thread, 1]), "no thread 1"),
    ] {
        let sentence = refused(&session, ids.clone());
        assert!(sentence.contains(part), "{ids:?}: {sentence}");
    }
    assert_eq!(
        threads(&session).len(),
        2,
        "a request that is refused ends none"
    );
    // A thread that is named twice is ended once.
    end(&session, &[stop.thread, stop.thread]);
    assert_eq!(threads(&session), [main]);
    assert!(refused(&session, Some(vec![stop.thread])).contains("no thread"));
    session.resume(main);
    assert_eq!(session.exit_code(), 0);
    assert_eq!(
        session.output(OutputEventCategory::Stdout),
        "joining\njoined\n"
    );
    session.disconnect();
}

#[test]
fn a_thread_whose_child_has_its_memory_is_refused_and_goes_on() {
    let fixture = Fixture::new("vforks.c");
    let session = Session::started(&fixture, json!({"stdin": "console"}), &[]);
    session.wait_for_output("waiting");
    let worker = threads(&session)[1];
    let sentence = refused(&session, Some(vec![worker]));
    assert!(
        sentence.contains("waits for its child (vfork), which has its memory"),
        "{sentence}"
    );
    let line = EvaluateArguments::new(">x").with_context(EvaluateArgumentsContext::Repl);
    session.ok::<EvaluateRequest>(line);
    assert_eq!(session.exit_code(), 5);
    assert_eq!(
        session.output(OutputEventCategory::Stdout),
        "waiting\nchild ended with 3\n"
    );
    session.disconnect();
}
