//! Conditions that a program decides by itself which was attached to: the same stops as ever, and it lives on with its own code.

use crate::support::running::{Running, changed_text, kill};
use crate::support::{Fixture, PATIENCE, Session, Stopped};
use dapple_adapter::{DecidedBreakpoint, DecidedRequest};
use dapple_dap::types::*;
use serde_json::json;
use std::time::Instant;

/// How often each of two threads passes the breakpoint that counts hits, at a time.
const TURNS: i64 = 10_000;

/// A session with the program, which decides conditions by itself.
fn attached(running: &Running, fixture: &Fixture, wanted: Vec<SourceBreakpoint>) -> Session {
    let session = Session::new();
    let arguments = json!({"pid": running.pid(), "conditionsInProgram": true});
    let arguments = serde_json::from_value(arguments).expect("an object");
    session.ok::<AttachRequest>(arguments);
    session.wait_for::<InitializedEvent>();
    for breakpoint in session.set_source(fixture, wanted) {
        assert!(breakpoint.verified, "{breakpoint:?}");
    }
    session.configured();
    session
}

/// Waits until how breakpoints are decided is as wanted.
#[track_caller]
fn decided(session: &Session, is_wanted: impl Fn(&[DecidedBreakpoint]) -> bool) {
    let begin = Instant::now();
    loop {
        let answer = session.ok::<DecidedRequest>(Empty);
        if is_wanted(&answer.breakpoints) {
            return;
        }
        assert!(begin.elapsed() < PATIENCE, "{answer:?}");
    }
}

/// Waits for a stop, and skips the notices of threads that had stopped with the one before.
#[track_caller]
fn stopped(session: &Session) -> Stopped {
    loop {
        let event = session.wait_for::<StoppedEvent>();
        if event.all_threads_stopped == Some(true) {
            let thread = event.thread_id.expect("a stop names its thread");
            let top = session.stack(thread).remove(0);
            return Stopped { thread, top, event };
        }
    }
}

fn all_in_program(all: &[DecidedBreakpoint]) -> bool {
    !all.is_empty() && all.iter().all(|one| one.in_program > 0)
}

fn hurried() -> (Fixture, Running) {
    let fixture = Fixture::new("hurried.cpp");
    let running = Running::start(
        &fixture.binary,
        &[&TURNS.to_string(), "/dev/stdout", "alone"],
    );
    (fixture, running)
}

/// Lets the program end, whose results must be right.
#[track_caller]
fn ends_right(running: &mut Running) {
    assert_eq!(running.status("TracerPid"), "0");
    assert_eq!(changed_text(running.pid()), Vec::<String>::new());
    kill("-USR1", running.pid());
    let lines = [(); 3].map(|()| running.line());
    assert_eq!(lines[2], "right", "{lines:?}");
    assert!(running.child.wait().expect("its end").success());
}

#[test]
fn a_condition_stops_an_attached_program_where_it_holds() {
    let (fixture, mut running) = hurried();
    let wanted = |condition: &str| vec![fixture.breakpoint("add").with_condition(condition)];
    let session = attached(&running, &fixture, wanted("i == -1"));
    decided(&session, all_in_program);
    for i in [2500, 2000, 2999] {
        session.set_source(&fixture, wanted(&format!("i == {i}")));
        for is_last in [false, true] {
            let stop = stopped(&session);
            assert_eq!(stop.top.line, fixture.line("add"));
            assert_eq!(session.evaluate(&stop.top, "i"), i.to_string());
            let sum = i * (i - 1) / 2 * 3;
            assert_eq!(session.evaluate(&stop.top, "sum"), sum.to_string());
            if is_last {
                session.set_source(&fixture, wanted("i == -1"));
            }
            session.resume(stop.thread);
        }
        decided(&session, all_in_program);
    }
    session.disconnect();
    ends_right(&mut running);
}

#[test]
fn an_attached_program_is_let_go_at_a_stop_with_its_own_code() {
    let (fixture, mut running) = hurried();
    let never = [("add", "i == -1"), ("canary", "turns_of_each == -1")];
    let wanted = never.map(|(name, condition)| fixture.breakpoint(name).with_condition(condition));
    let session = attached(&running, &fixture, wanted.into());
    for _ in 0..3 {
        decided(&session, all_in_program);
        let pause = PauseArguments::new(running.pid().into());
        session.ok::<PauseRequest>(pause);
        session.resume(stopped(&session).thread);
    }
    let pause = PauseArguments::new(running.pid().into());
    session.ok::<PauseRequest>(pause);
    session.wait_for::<StoppedEvent>();
    session.disconnect();
    ends_right(&mut running);
}

#[test]
fn an_attached_program_is_let_go_while_it_runs_with_its_own_code() {
    let (fixture, mut running) = hurried();
    let counted = fixture
        .breakpoint("counted")
        .with_hit_condition("% 1000")
        .with_log_message("hit");
    let never = fixture.breakpoint("add").with_condition("i == -1");
    let session = attached(&running, &fixture, vec![counted, never]);
    decided(&session, all_in_program);
    session.disconnect();
    ends_right(&mut running);
}

#[test]
fn a_program_with_a_filter_of_system_calls_is_left_alone() {
    let (sandbox, fixture) = (Fixture::new("confined.c"), Fixture::new("hurried.cpp"));
    let program = fixture.program();
    let turns = TURNS.to_string();
    let arguments = ["filter", &program, &turns, "/dev/stdout", "alone"];
    let mut running = Running::start(&sandbox.binary, &arguments);
    let never = fixture.breakpoint("add").with_condition("i == -1");
    let session = attached(&running, &fixture, vec![never]);
    decided(&session, |all| {
        all.iter().any(|one| {
            let mut reasons = one.by_stops.iter();
            reasons.any(|reason| reason.contains("a filter of system calls (seccomp)"))
        })
    });
    session.disconnect();
    ends_right(&mut running);
}

#[test]
fn a_handler_that_waits_since_before_returns_to_the_instruction_that_it_has_interrupted() {
    let fixture = Fixture::new("interrupted_load.c");
    let mut running = Running::start(&fixture.binary, &[]);
    let never = fixture
        .breakpoint("load")
        .with_condition("turns_of_each == -1");
    let session = attached(&running, &fixture, vec![never]);
    let waits = "a signal handler may return right behind";
    decided(&session, |all| {
        all.iter().any(|one| one.by_stops == [waits])
    });
    assert_eq!(running.ask("return"), "returned");
    decided(&session, all_in_program);
    session.disconnect();
    assert_eq!(changed_text(running.pid()), Vec::<String>::new());
    assert_eq!(running.ask("end"), "right");
}
