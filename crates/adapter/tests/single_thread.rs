//! Running one thread while the others stay stopped.

use crate::support::{Fixture, Session, Stopped};
use dapple_dap::types::*;
use serde_json::json;

/// A session that is stopped at the first turn. Its workers then do `after`. Returns the worker's index, too.
fn at_a_turn(fixture: &Fixture, after: &str) -> (Session, Stopped, i64) {
    let session = Session::started(fixture, json!({"args": [after]}), &["turn"]);
    let stop = session.stopped_at(fixture, "turn", StoppedEventReason::Breakpoint);
    // The other worker may have stopped there at the same time. Its event came before the answer with the stack.
    while session
        .untaken_events()
        .iter()
        .any(|event| event.is::<StoppedEvent>())
    {
        session.wait_for::<StoppedEvent>();
    }
    let me = session.evaluate(&stop.top, "me").parse().expect("a number");
    (session, stop, me)
}

fn run_alone(session: &Session, thread: i64) {
    let arguments = ContinueArguments::new(thread).with_single_thread(true);
    let answer = session.ok::<ContinueRequest>(arguments);
    assert_eq!(answer.all_threads_continued, Some(false));
}

/// The number of turns of each worker. Needs a frame for the evaluation.
fn counts(session: &Session, frame: &StackFrame) -> [i64; 2] {
    ["counts[0]", "counts[1]"].map(|of| session.evaluate(frame, of).parse().expect("a number"))
}

fn threads(session: &Session) -> Vec<i64> {
    let threads = session.ok::<ThreadsRequest>(Default::default()).threads;
    threads.into_iter().map(|thread| thread.id).collect()
}

#[test]
fn one_thread_runs_from_stop_to_stop_while_the_others_stand_still() {
    let fixture = Fixture::new("alone.c");
    let (session, stop, me) = at_a_turn(&fixture, "end");
    let other = counts(&session, &stop.top)[1 - me as usize];
    for turn in 1..4 {
        run_alone(&session, stop.thread);
        let again = session.stopped_at(&fixture, "turn", StoppedEventReason::Breakpoint);
        assert_eq!(again.thread, stop.thread);
        let counts = counts(&session, &again.top);
        assert_eq!(
            (counts[me as usize], counts[1 - me as usize]),
            (turn, other)
        );
    }
    session.set_breakpoints(&fixture, &[]);
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    assert_eq!(session.output(OutputEventCategory::Stdout), "4 4 0\n");
    session.disconnect();
}

#[test]
fn the_end_of_the_only_thread_that_runs_is_a_stop_of_the_others() {
    let fixture = Fixture::new("alone.c");
    let (session, stop, me) = at_a_turn(&fixture, "end");
    session.set_breakpoints(&fixture, &[]);
    run_alone(&session, stop.thread);
    let paused = session.stopped(StoppedEventReason::Pause);
    assert_ne!(paused.thread, stop.thread);
    assert!(!threads(&session).contains(&stop.thread));
    assert!(
        paused
            .event
            .text
            .as_deref()
            .is_some_and(|text| text.contains("has ended")),
        "{:?}",
        paused.event
    );
    assert_eq!(counts(&session, &paused.top)[me as usize], 4);
    session.resume(paused.thread);
    assert_eq!(session.exit_code(), 0);
    assert_eq!(session.output(OutputEventCategory::Stdout), "4 4 0\n");
    session.disconnect();
}

#[test]
fn a_held_thread_shows_its_stack_and_the_running_one_does_not() {
    let fixture = Fixture::new("alone.c");
    let (session, stop, _) = at_a_turn(&fixture, "meet");
    session.set_breakpoints(&fixture, &[]);
    let main = threads(&session)[0];
    let before = session.stack(main);
    run_alone(&session, stop.thread);
    // The thread soon waits for the other worker, which stays stopped, so no event comes by itself.
    let refusal = session.refused::<StackTraceRequest>(StackTraceArguments::new(stop.thread));
    assert_eq!(refusal.message.as_deref(), Some("notStopped"));
    let refusal = session.refused::<ScopesRequest>(ScopesArguments::new(stop.top.id));
    assert_eq!(refusal.message.as_deref(), Some("notStopped"));
    let held = session.stack(main);
    let names = |stack: &[StackFrame]| stack.iter().map(|f| f.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&before), names(&held));
    let of_main = before
        .iter()
        .find(|frame| frame.name == "main")
        .expect("main");
    assert_eq!(session.evaluate(of_main, "argc"), "2");
    let indexes = session.variable(of_main, "Locals", "indexes");
    assert_eq!(session.variables(indexes.variables_reference).len(), 2);

    // Any thread can be resumed, and then all threads run.
    session.resume(main);
    assert_eq!(session.exit_code(), 0);
    assert_eq!(session.output(OutputEventCategory::Stdout), "4 4 0\n");
    session.disconnect();
}

#[test]
fn a_second_thread_is_let_run_beside_the_first() {
    let fixture = Fixture::new("alone.c");
    let (session, stop, _) = at_a_turn(&fixture, "meet");
    session.set_breakpoints(&fixture, &[]);
    let all = threads(&session);
    assert_eq!(all.len(), 3);
    run_alone(&session, stop.thread);
    let other = all[1..]
        .iter()
        .find(|id| **id != stop.thread)
        .expect("the other worker");
    run_alone(&session, *other);
    // Both workers meet and end. The first thread stays stopped all the time.
    let paused = session.stopped(StoppedEventReason::Pause);
    assert_eq!((paused.thread, threads(&session)), (all[0], vec![all[0]]));
    assert_eq!(session.output(OutputEventCategory::Stdout), "");
    session.resume(paused.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn a_pause_stops_the_one_that_runs_and_is_told_for_it() {
    let fixture = Fixture::new("alone.c");
    let (session, stop, me) = at_a_turn(&fixture, "meet");
    session.set_breakpoints(&fixture, &[]);
    run_alone(&session, stop.thread);
    session.ok::<PauseRequest>(PauseArguments::new(stop.thread));
    let paused = session.stopped(StoppedEventReason::Pause);
    assert_eq!(paused.thread, stop.thread);
    let stack = session.stack(paused.thread);
    let work = stack
        .iter()
        .find(|frame| frame.name == "work")
        .expect("work");
    let other = counts(&session, work)[1 - me as usize];
    assert!(other <= 1, "{other}");
    session.resume(paused.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn a_thread_begun_by_the_one_that_runs_is_held_before_its_first_instruction() {
    let fixture = Fixture::new("alone.c");
    let (session, stop, _) = at_a_turn(&fixture, "spawn");
    session.set_breakpoints(&fixture, &["spawned"]);
    run_alone(&session, stop.thread);
    // The new thread is reported, but doesn't run.
    let known = threads(&session);
    let started = loop {
        let event = session.wait_for::<ThreadEvent>();
        if event.reason == ThreadEventReason::Started && !known[..3].contains(&event.thread_id) {
            break event.thread_id;
        }
    };
    session.ok::<PauseRequest>(PauseArguments::new(stop.thread));
    let paused = session.stopped(StoppedEventReason::Pause);
    let stack = session.stack(started);
    assert!(
        !stack.iter().any(|frame| frame.name == "spawn"),
        "{stack:?}"
    );
    session.resume(paused.thread);
    let hit = session.stopped_at(&fixture, "spawned", StoppedEventReason::Breakpoint);
    session.set_breakpoints(&fixture, &[]);
    session.resume(hit.thread);
    assert_eq!(session.exit_code(), 0);
    assert_eq!(session.output(OutputEventCategory::Stdout), "4 4 2\n");
    session.disconnect();
}

#[test]
fn an_exit_or_exec_of_the_one_that_runs_is_the_processs() {
    let fixture = Fixture::new("alone.c");
    for (after, code) in [("exit", 5), ("exec", 6)] {
        let (session, stop, _) = at_a_turn(&fixture, after);
        session.set_breakpoints(&fixture, &[]);
        run_alone(&session, stop.thread);
        assert!(!session.ends_or_stops(), "{after}");
        assert_eq!(session.exit_code(), code, "{after}");
        session.disconnect();
    }
}

#[test]
fn a_thread_that_does_not_exist_is_refused_and_nothing_runs() {
    let fixture = Fixture::new("alone.c");
    let (session, stop, _) = at_a_turn(&fixture, "end");
    let refusal =
        session.refused::<ContinueRequest>(ContinueArguments::new(1).with_single_thread(true));
    let said = format!("{refusal:?}");
    assert!(said.contains("there is no thread 1"), "{said}");
    assert_eq!(session.stack(stop.thread)[0].name, "turn");
    session.set_breakpoints(&fixture, &[]);
    run_alone(&session, stop.thread);
    session.stopped(StoppedEventReason::Pause);
    session.disconnect();
}

#[test]
fn a_program_with_held_threads_is_asked_to_end_and_left() {
    let fixture = Fixture::new("alone.c");
    let (session, stop, _) = at_a_turn(&fixture, "meet");
    session.set_breakpoints(&fixture, &[]);
    run_alone(&session, stop.thread);
    session.ok::<TerminateRequest>(Default::default());
    assert_eq!(session.exit_code(), 128 + 15);
    session.disconnect();
}

#[test]
fn steps_of_one_thread_leave_the_others_where_they_are() {
    let fixture = Fixture::new("alone.c");
    let (session, stop, me) = at_a_turn(&fixture, "end");
    session.set_breakpoints(&fixture, &[]);
    let other = counts(&session, &stop.top)[1 - me as usize];
    let out = StepOutArguments::new(stop.thread).with_single_thread(true);
    session.ok::<StepOutRequest>(out);
    let mut stop = session.stopped(StoppedEventReason::Step);
    for _ in 0..4 {
        let next = NextArguments::new(stop.thread).with_single_thread(true);
        session.ok::<NextRequest>(next);
        stop = session.stopped(StoppedEventReason::Step);
        let into = StepInArguments::new(stop.thread).with_single_thread(true);
        session.ok::<StepInRequest>(into);
        stop = session.stopped(StoppedEventReason::Step);
    }
    let counts = counts(&session, &stop.top);
    assert!(counts[me as usize] > 1, "{counts:?}");
    assert_eq!(counts[1 - me as usize], other, "{counts:?}");
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    assert_eq!(session.output(OutputEventCategory::Stdout), "4 4 0\n");
    session.disconnect();
}

#[test]
fn a_step_that_waits_for_a_held_thread_is_paused_or_goes_on_with_all() {
    let fixture = Fixture::new("alone.c");
    for pause in [true, false] {
        let (session, stop, _) = at_a_turn(&fixture, "meet");
        session.set_breakpoints(&fixture, &["after"]);
        run_alone(&session, stop.thread);
        let stop = session.stopped_at(&fixture, "after", StoppedEventReason::Breakpoint);
        session.set_breakpoints(&fixture, &[]);
        let mut at = stop;
        for _ in 0..2 {
            let next = NextArguments::new(at.thread).with_single_thread(true);
            session.ok::<NextRequest>(next);
            at = session.stopped(StoppedEventReason::Step);
        }
        // The next line is `sem_wait`, and no running thread posts the semaphore.
        let next = NextArguments::new(at.thread).with_single_thread(true);
        session.ok::<NextRequest>(next);
        let refusal = session.refused::<StackTraceRequest>(StackTraceArguments::new(at.thread));
        assert_eq!(refusal.message.as_deref(), Some("notStopped"));
        if pause {
            session.ok::<PauseRequest>(PauseArguments::new(at.thread));
            let paused = session.stopped(StoppedEventReason::Pause);
            assert_eq!(paused.thread, at.thread);
            session.resume(paused.thread);
        } else {
            // The step ends when the other threads run.
            session.resume(at.thread);
            let stop = session.stopped(StoppedEventReason::Step);
            assert_eq!((stop.thread, stop.top.name.as_str()), (at.thread, "work"));
            session.resume(stop.thread);
        }
        assert_eq!(session.exit_code(), 0);
        session.disconnect();
    }
}

#[test]
fn a_breakpoint_met_by_a_step_of_one_thread_stops_it_there() {
    let fixture = Fixture::new("alone.c");
    let (session, stop, me) = at_a_turn(&fixture, "end");
    let other = counts(&session, &stop.top)[1 - me as usize];
    let out = StepOutArguments::new(stop.thread).with_single_thread(true);
    session.ok::<StepOutRequest>(out);
    let mut stop = session.stopped(StoppedEventReason::Step);
    loop {
        let next = NextArguments::new(stop.thread).with_single_thread(true);
        session.ok::<NextRequest>(next);
        let event = session.wait_for::<StoppedEvent>();
        assert_eq!(event.thread_id, Some(stop.thread));
        assert_eq!(event.all_threads_stopped, Some(true));
        stop.top = session.stack(stop.thread).remove(0);
        if event.reason == StoppedEventReason::Breakpoint {
            break;
        }
    }
    assert_eq!(
        (stop.top.name.as_str(), stop.top.line),
        ("turn", fixture.line("turn"))
    );
    assert_eq!(counts(&session, &stop.top)[1 - me as usize], other);
    session.disconnect();
}

#[test]
fn the_end_of_a_thread_in_a_step_of_its_own_is_a_stop_of_the_others() {
    let fixture = Fixture::new("alone.c");
    let (session, stop, _) = at_a_turn(&fixture, "end");
    session.set_breakpoints(&fixture, &["after"]);
    run_alone(&session, stop.thread);
    let stop = session.stopped_at(&fixture, "after", StoppedEventReason::Breakpoint);
    session.set_breakpoints(&fixture, &[]);
    let out = StepOutArguments::new(stop.thread).with_single_thread(true);
    session.ok::<StepOutRequest>(out);
    let event = session.wait_for::<StoppedEvent>();
    // If the C library has debug information, the function returns to a source line of the library and the step ends there.
    let left = match event.reason {
        StoppedEventReason::Step => {
            run_alone(&session, stop.thread);
            session.stopped(StoppedEventReason::Pause).thread
        }
        _ => event.thread_id.expect("a thread"),
    };
    assert_ne!(left, stop.thread);
    assert!(!threads(&session).contains(&stop.thread));
    session.resume(left);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}
