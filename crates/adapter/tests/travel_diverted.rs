//! What is changed in the past, or called there, is in a copy that is thrown away.

use crate::support::{Fixture, Session, Stopped};
use dapple_adapter::{WhoArguments, WhoRequest};
use dapple_dap::types::*;
use serde_json::json;

/// A recorded session that has run to the end of `main`, and back to a mark.
fn back_at(fixture: &Fixture, mark: &str) -> (Session, Stopped) {
    let session = Session::new();
    session.launch(fixture, json!({"record": true}));
    session.set_breakpoints(fixture, &[mark, "last"]);
    session.configured();
    let stop = session.stopped_at(fixture, mark, StoppedEventReason::Breakpoint);
    session.resume(stop.thread);
    let last = session.stopped_at(fixture, "last", StoppedEventReason::Breakpoint);
    session.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(last.thread));
    let stop = session.stopped_at(fixture, mark, StoppedEventReason::Breakpoint);
    session.set_breakpoints(fixture, &["last"]);
    (session, stop)
}

fn set(session: &Session, frame: &StackFrame, name: &str, value: &str) {
    let assignment = SetExpressionArguments::new(name, value).with_frame_id(frame.id);
    session.ok::<SetExpressionRequest>(assignment);
}

fn over(session: &Session, stop: &Stopped) -> Stopped {
    session.ok::<NextRequest>(NextArguments::new(stop.thread));
    session.stopped(StoppedEventReason::Step)
}

/// The program goes on to its end as it was.
fn goes_on(session: &Session, fixture: &Fixture, stop: &Stopped) {
    session.resume(stop.thread);
    let last = session.stopped_at(fixture, "last", StoppedEventReason::Breakpoint);
    assert_eq!(session.evaluate(&last.top, "level"), "3");
    session.ok::<StepBackRequest>(StepBackArguments::new(last.thread));
    session.stopped(StoppedEventReason::Step);
    session.resume(last.thread);
    session.stopped_at(fixture, "last", StoppedEventReason::Breakpoint);
    session.resume(last.thread);
    assert_eq!(session.exit_code(), 0);
}

#[test]
fn functions_are_called_in_the_past_without_changing_it() {
    let fixture = Fixture::new("diverted.c");
    let (session, stop) = back_at(&fixture, "second");
    assert_eq!(session.evaluate(&stop.top, "scaled(4)"), "70");
    session.wait_for_written(OutputEventCategory::Console, "the past stays as it was");
    // What the function has changed is there until the program moves.
    assert_eq!(session.evaluate(&stop.top, "level"), "7");
    let frame = EvaluateArguments::new("made(3, 4)").with_frame_id(stop.top.id);
    let point = session.ok::<EvaluateRequest>(frame);
    let fields = session.variables(point.variables_reference);
    let shown: Vec<&str> = fields.iter().map(|field| &*field.value).collect();
    assert!(shown.join(" ").contains('3'), "{fields:?}");
    session.ok::<StepBackRequest>(StepBackArguments::new(stop.thread));
    let before = session.stopped(StoppedEventReason::Step);
    assert_eq!(session.evaluate(&before.top, "level"), "3");
    assert_eq!(session.evaluate(&before.top, "scaled(1)"), "40");
    goes_on(&session, &fixture, &before);
}

#[test]
fn variables_are_set_in_the_past_until_the_program_moves() {
    let fixture = Fixture::new("diverted.c");
    let (session, stop) = back_at(&fixture, "first");
    assert_eq!(session.evaluate(&stop.top, "level"), "2");
    set(&session, &stop.top, "level", "50");
    assert_eq!(session.evaluate(&stop.top, "level"), "50");
    assert_eq!(session.evaluate(&stop.top, "scaled(1)"), "510");
    let next = over(&session, &stop);
    assert_eq!(session.evaluate(&next.top, "level"), "2");
    set(&session, &next.top, "kept", "0");
    goes_on(&session, &fixture, &next);
}

#[test]
fn what_a_function_says_is_heard_and_what_it_does_outside_is_not_done() {
    let fixture = Fixture::new("diverted.c");
    let (session, stop) = back_at(&fixture, "second");
    assert_eq!(session.evaluate(&stop.top, "said(\"hello\")"), "5");
    session.wait_for_output("said hello\n");
    assert_eq!(session.evaluate(&stop.top, "stored()"), "-1");
    let refused = "not done in this copy: openat";
    session.wait_for_written(OutputEventCategory::Console, refused);
    let never = std::path::Path::new("/tmp/never-made-by-a-copy");
    assert!(!never.exists());
    goes_on(&session, &fixture, &stop);
}

#[test]
fn a_bookmark_of_a_changed_moment_is_of_that_moment() {
    use dapple_adapter::{
        GoToMomentArguments, GoToMomentRequest, Moment, SetBookmarkArguments, SetBookmarkRequest,
    };
    let fixture = Fixture::new("diverted.c");
    let (session, stop) = back_at(&fixture, "first");
    set(&session, &stop.top, "level", "50");
    let mark = session.ok::<SetBookmarkRequest>(SetBookmarkArguments::default());
    let next = over(&session, &stop);
    let to = Moment::Bookmark(mark.bookmark);
    session.ok::<GoToMomentRequest>(GoToMomentArguments { to });
    let again = session.stopped(StoppedEventReason::Goto);
    assert_eq!(session.evaluate(&again.top, "level"), "2");
    goes_on(&session, &fixture, &next);
}

#[test]
fn threads_that_wait_in_the_past_can_call_functions() {
    let fixture = Fixture::new("travel_table_threads.c");
    let session = Session::new();
    session.launch(&fixture, json!({"record": true, "args": ["mutex", "x"]}));
    session.set_breakpoints(&fixture, &["mutex_unlocks", "main_last"]);
    session.configured();
    let first = session.stopped_at(&fixture, "mutex_unlocks", StoppedEventReason::Breakpoint);
    session.set_breakpoints(&fixture, &["main_last"]);
    session.resume(first.thread);
    let last = session.stopped_at(&fixture, "main_last", StoppedEventReason::Breakpoint);
    session.set_breakpoints(&fixture, &["mutex_unlocks", "main_last"]);
    session.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(last.thread));
    let stop = session.stopped_at(&fixture, "mutex_unlocks", StoppedEventReason::Breakpoint);
    assert_ne!(stop.thread, last.thread);
    // The first thread waits for another one to end.
    let joins = session.stack(last.thread).remove(0);
    let noted = session.evaluate(&joins, "writes");
    session.evaluate(&joins, "note(1, 2)");
    let more: i64 = noted.parse().expect("a number");
    assert_eq!(
        session.evaluate(&stop.top, "writes"),
        (more + 1).to_string()
    );
    session.evaluate(&stop.top, "note(1, 2)");
    // The mutex is held, and its holder doesn't run.
    let locks = EvaluateArguments::new("pthread_mutex_lock(&mutex)").with_frame_id(joins.id);
    let waits = session.send::<EvaluateRequest>(locks).expect("it is sent");
    let cancel = CancelArguments::new().with_request_id(waits.seq());
    session.ok::<CancelRequest>(cancel);
    waits.wait().expect_err("it never comes back");
    session.ok::<StepBackRequest>(StepBackArguments::new(stop.thread));
    let before = session.stopped(StoppedEventReason::Step);
    // The line that has noted the last one is about to run.
    assert_eq!(
        session.evaluate(&before.top, "writes"),
        (more - 1).to_string()
    );
    session.set_breakpoints(&fixture, &["main_last"]);
    session.resume(before.thread);
    session.stopped_at(&fixture, "main_last", StoppedEventReason::Breakpoint);
    session.resume(last.thread);
    assert_eq!(session.exit_code(), 0);
}

#[test]
fn a_function_that_aborts_in_the_past_is_given_up() {
    let fixture = Fixture::new("diverted.c");
    let (session, stop) = back_at(&fixture, "first");
    let aborts = EvaluateArguments::new("abort()").with_frame_id(stop.top.id);
    let refusal = session.refused::<EvaluateRequest>(aborts);
    assert!(refusal.sentence.contains("SIGABRT"), "{refusal:?}");
    assert_eq!(session.evaluate(&stop.top, "level"), "2");
    let exits = EvaluateArguments::new("exit(3)").with_frame_id(stop.top.id);
    session.refused::<EvaluateRequest>(exits);
    assert_eq!(session.evaluate(&stop.top, "level"), "2");
    goes_on(&session, &fixture, &stop);
}

#[test]
fn a_watch_that_calls_a_function_leaves_the_way_back() {
    let fixture = Fixture::new("diverted.c");
    let session = Session::new();
    session.launch(&fixture, json!({"record": true}));
    session.set_breakpoints(&fixture, &["first", "second"]);
    session.configured();
    let first = session.stopped_at(&fixture, "first", StoppedEventReason::Breakpoint);
    session.resume(first.thread);
    let stop = session.stopped_at(&fixture, "second", StoppedEventReason::Breakpoint);
    let watch = |frame: &StackFrame, expression: &str| {
        let watch = EvaluateArguments::new(expression).with_frame_id(frame.id);
        let watch = watch.with_context(EvaluateArgumentsContext::Watch);
        session.ok::<EvaluateRequest>(watch)
    };
    assert_eq!(watch(&stop.top, "scaled(4)").result, "70");
    let point = watch(&stop.top, "made(3, 4)");
    let fields = session.variables(point.variables_reference);
    assert_eq!(fields[0].value, "3", "{fields:?}");
    let who = WhoArguments {
        name: "level".to_owned(),
        frame_id: Some(stop.top.id),
        ..WhoArguments::default()
    };
    let write = session.ok::<WhoRequest>(who).write.expect("a write");
    assert_eq!((write.before.as_deref(), &*write.after), (Some("2"), "3"));
    assert_eq!(watch(&stop.top, "scaled(4)").result, "70");
    // Back, and forward into the present.
    session.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(stop.thread));
    let first = session.stopped_at(&fixture, "first", StoppedEventReason::Breakpoint);
    assert_eq!(watch(&first.top, "scaled(1)").result, "30");
    session.resume(first.thread);
    let stop = session.stopped_at(&fixture, "second", StoppedEventReason::Breakpoint);
    assert_eq!(session.evaluate(&stop.top, "level"), "3");
    // What is set after a watch is set in the present.
    assert_eq!(watch(&stop.top, "scaled(4)").result, "70");
    set(&session, &stop.top, "level", "9");
    assert_eq!(session.evaluate(&stop.top, "level"), "9");
    assert_eq!(watch(&stop.top, "scaled(1)").result, "100");
    session.set_breakpoints(&fixture, &["last"]);
    session.resume(stop.thread);
    let last = session.stopped_at(&fixture, "last", StoppedEventReason::Breakpoint);
    assert_eq!(session.evaluate(&last.top, "level"), "9");
    session.resume(last.thread);
    assert_eq!(session.exit_code(), 1);
    assert_eq!(session.output(OutputEventCategory::Stdout), "9 second\n");
}
