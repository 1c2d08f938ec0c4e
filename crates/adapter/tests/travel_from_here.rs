//! A program that runs already is recorded from a stop on.

use crate::support::running::{Running, changed_text};
use crate::support::{Fixture, Session, Stopped};
use dapple_adapter::{DecidedRequest, RecordRequest};
use dapple_dap::client::RequestFailure;
use dapple_dap::message::Empty;
use dapple_dap::types::*;
use serde_json::json;

fn launched(arguments: &[&str], marks: &[&str]) -> (Fixture, Session) {
    let fixture = Fixture::new("recorded_midway.c");
    let session = Session::new();
    session.launch(&fixture, json!({"args": arguments}));
    session.set_breakpoints(&fixture, marks);
    session.configured();
    (fixture, session)
}

fn refuses(refused: &RequestFailure, why: &str) {
    let said = format!("{refused:?}");
    assert!(said.contains(why), "{said}");
}

fn at(session: &Session, fixture: &Fixture, mark: &str) -> Stopped {
    session.stopped_at(fixture, mark, StoppedEventReason::Breakpoint)
}

/// Back to where recording began, and forwards to the end, twice: what the program has computed of times and random bytes is the same again.
fn goes_back_and_forth(session: &Session, fixture: &Fixture, began: Option<&str>) {
    let last = at(session, fixture, "last");
    let total = session.evaluate(&last.top, "total");
    session.set_breakpoints(fixture, &["last"]);
    for _ in 0..2 {
        session.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(last.thread));
        let beginning = session.stopped(StoppedEventReason::Entry);
        if let Some(then) = began {
            assert_eq!(session.evaluate(&beginning.top, "total"), then);
        }
        session.resume(beginning.thread);
        let again = at(session, fixture, "last");
        assert_eq!(session.evaluate(&again.top, "total"), total);
    }
    session.resume(last.thread);
    assert_eq!(session.exit_code(), 0);
    session.wait_for_output(&format!("{total}\n"));
}

#[test]
fn threads_that_wait_and_compute_are_recorded_from_here_on() {
    let (fixture, session) = launched(&[], &["middle", "last"]);
    let middle = at(&session, &fixture, "middle");
    assert!(session.process_id() > 0);
    let typed = EvaluateArguments::new("record on").with_context(EvaluateArgumentsContext::Repl);
    let said = session.ok::<EvaluateRequest>(typed).result;
    assert!(said.contains("recorded from here on"), "{said}");
    let can_now = || {
        let can = session.wait_for::<CapabilitiesEvent>().capabilities;
        can.supports_step_back == Some(true)
    };
    while !can_now() {}
    let total = session.evaluate(&middle.top, "total");
    session.resume(middle.thread);
    goes_back_and_forth(&session, &fixture, Some(&total));
}

#[test]
fn a_program_whose_threads_all_sleep_is_recorded_from_a_pause_on() {
    let (fixture, session) = launched(&["sleeps"], &["last"]);
    session.wait_for_output("sleeps\n");
    let thread = session.process_id();
    session.ok::<PauseRequest>(PauseArguments::new(thread));
    session.stopped(StoppedEventReason::Pause);
    session.ok::<RecordRequest>(Empty);
    session.resume(thread);
    goes_back_and_forth(&session, &fixture, None);
}

#[test]
fn a_program_that_has_executed_another_one_is_recorded_anew() {
    let fixture = Fixture::new("recorded_midway.c");
    let session = Session::new();
    session.launch(&fixture, json!({"record": true, "args": ["executes"]}));
    session.set_breakpoints(&fixture, &["middle", "last"]);
    session.configured();
    let middle = at(&session, &fixture, "middle");
    let back = ReverseContinueArguments::new(middle.thread);
    let refused = session.refused::<ReverseContinueRequest>(back);
    refuses(&refused, "executed another program");
    session.ok::<RecordRequest>(Empty);
    let total = session.evaluate(&middle.top, "total");
    session.resume(middle.thread);
    goes_back_and_forth(&session, &fixture, Some(&total));
}

/// A breakpoint stops at each hundredth turn of a loop, forwards and back, while other threads take turns. `from_here`: the program is recorded from
/// the fourth stop on, not from its beginning.
fn counts_forwards_and_back(from_here: bool) {
    let fixture = Fixture::new("recorded_midway.c");
    let session = Session::new();
    session.launch(&fixture, json!({"record": !from_here}));
    let counted = fixture.breakpoint("loop").with_hit_condition("% 100");
    session.set_source(&fixture, vec![counted]);
    session.configured();
    let stops = |i: &str| {
        let stop = at(&session, &fixture, "loop");
        assert_eq!(session.evaluate(&stop.top, "i"), i);
        stop
    };
    for i in ["99", "199", "299"] {
        session.resume(stops(i).thread);
    }
    let thread = stops("399").thread;
    if from_here {
        session.ok::<RecordRequest>(Empty);
    }
    for i in ["499", "599"] {
        session.resume(thread);
        stops(i);
    }
    session.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(thread));
    stops("499");
    session.ok::<StepBackRequest>(StepBackArguments::new(thread));
    session.stopped(StoppedEventReason::Step);
    session.set_breakpoints(&fixture, &["last"]);
    session.resume(thread);
    at(&session, &fixture, "last");
    session.resume(thread);
    assert_eq!(session.exit_code(), 0);
}

#[test]
fn hits_that_were_counted_in_the_program_count_on_when_it_is_recorded() {
    counts_forwards_and_back(true);
}

#[test]
fn a_search_finds_its_end_where_a_condition_was_decided_before_recording() {
    let fixture = Fixture::new("writes_heap.c");
    let session = Session::new();
    session.launch(&fixture, json!({"stopOnEntry": false}));
    let late = fixture.breakpoint("writes").with_condition("i == 9000000");
    session.set_source(&fixture, vec![late]);
    session.configured();
    let stop = at(&session, &fixture, "writes");
    let decided = session.ok::<DecidedRequest>(Empty).breakpoints.remove(0);
    assert_eq!(decided.in_program, 1, "{decided:?}");
    session.ok::<RecordRequest>(Empty);
    session.set_breakpoints(&fixture, &["last"]);
    session.resume(stop.thread);
    at(&session, &fixture, "last");
    // Behind the loop, there is no `i`.
    let back = || {
        session.ok::<StepBackRequest>(StepBackArguments::new(stop.thread));
        session.stopped(StoppedEventReason::Step).top
    };
    back();
    let writes = back();
    assert_eq!(writes.line, fixture.line("writes"));
    assert_eq!(session.evaluate(&writes, "i"), "99999999");
    session.disconnect();
}

#[test]
fn hits_are_counted_back_where_a_search_takes_long() {
    let fixture = Fixture::new("recorded_midway.c");
    let session = Session::new();
    session.launch(&fixture, json!({"record": true, "args": ["long"]}));
    let counted = fixture.breakpoint("loop").with_hit_condition("% 5000");
    session.set_source(&fixture, vec![counted]);
    session.configured();
    let stops = |i: &str| {
        let stop = at(&session, &fixture, "loop");
        assert_eq!(session.evaluate(&stop.top, "i"), i);
        stop.thread
    };
    for i in ["4999", "9999"] {
        session.resume(stops(i));
    }
    let thread = stops("14999");
    let back = || session.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(thread));
    back();
    stops("9999");
    // Checkpoints are taken for this search, from which the next one can't run.
    session.ok::<StepBackRequest>(StepBackArguments::new(thread));
    session.stopped(StoppedEventReason::Step);
    back();
    stops("4999");
    session.disconnect();
}

#[test]
fn hits_are_counted_back_while_threads_take_turns() {
    counts_forwards_and_back(false);
}

#[test]
fn what_cannot_be_recorded_is_refused_with_a_reason() {
    let (fixture, session) = launched(&["shares"], &["middle", "last"]);
    let middle = at(&session, &fixture, "middle");
    let refused = session.refused::<RecordRequest>(Empty);
    refuses(&refused, "shares memory with others");
    session.resume(middle.thread);
    at(&session, &fixture, "last");
    session.resume(middle.thread);
    assert_eq!(session.exit_code(), 0);

    let (fixture, session) = launched(&[], &["middle"]);
    at(&session, &fixture, "middle");
    session.ok::<RecordRequest>(Empty);
    let refused = session.refused::<RecordRequest>(Empty);
    refuses(&refused, "recorded already");
}

#[test]
fn a_program_that_was_attached_to_is_recorded_and_let_go() {
    let fixture = Fixture::new("recorded_attached.c");
    let mut running = Running::start(&fixture.binary, &[]);
    assert_eq!(running.ask("work"), "worked 1");
    let session = Session::new();
    let arguments = json!({"pid": running.pid()});
    session.ok::<AttachRequest>(serde_json::from_value(arguments).expect("an object"));
    session.wait_for::<InitializedEvent>();
    session.set_breakpoints(&fixture, &["work"]);
    session.configured();
    let mut known = Vec::new();
    let thread = i64::from(running.pid());
    for worked in 2..6 {
        running.tell("work");
        let stop = at(&session, &fixture, "work");
        if worked == 2 {
            session.ok::<RecordRequest>(Empty);
        }
        known.push(session.evaluate(&stop.top, "total"));
        session.resume(thread);
        assert_eq!(running.line(), format!("worked {worked}"));
    }
    session.ok::<PauseRequest>(PauseArguments::new(thread));
    session.stopped(StoppedEventReason::Pause);
    let back = || session.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(thread));
    for total in known[1..].iter().rev() {
        back();
        let stop = at(&session, &fixture, "work");
        assert_eq!(session.evaluate(&stop.top, "total"), *total);
    }
    for total in &known[2..] {
        session.resume(thread);
        let stop = at(&session, &fixture, "work");
        assert_eq!(session.evaluate(&stop.top, "total"), *total);
    }
    session.disconnect();
    assert_eq!(running.status("TracerPid"), "0");
    assert_eq!(changed_text(running.pid()), Vec::<String>::new());
    assert_eq!(running.ask("work"), "worked 6");
}
