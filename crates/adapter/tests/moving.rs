//! `goto`, `restartFrame` and `terminateThreads`: each by its effect on the program.

use crate::support::{Fixture, Session, Stopped, named};
use dapple_dap::types::*;
use serde_json::json;

fn targets(session: &Session, fixture: &Fixture, name: &str) -> Vec<GotoTarget> {
    let source = Source::new().with_path(fixture.path());
    let arguments = GotoTargetsArguments::new(source, fixture.line(name));
    session.ok::<GotoTargetsRequest>(arguments).targets
}

fn goto(session: &Session, fixture: &Fixture, stop: &Stopped, name: &str) -> Stopped {
    let target = targets(session, fixture, name)[0].id;
    session.ok::<GotoRequest>(GotoArguments::new(stop.thread, target));
    session.stopped_at(fixture, name, StoppedEventReason::Goto)
}

fn stopped_at(fixture: &Fixture, name: &str) -> (Session, Stopped) {
    let session = Session::started(fixture, json!({}), &[name]);
    let stop = session.stopped_at(fixture, name, StoppedEventReason::Breakpoint);
    session.set_breakpoints(fixture, &[]);
    (session, stop)
}

fn said(refusal: &dapple_dap::client::RequestFailure) -> String {
    format!("{refusal:?}")
}

#[test]
fn what_lies_between_is_not_executed_and_what_lies_before_is_again() {
    let fixture = Fixture::new("again.c");
    let (session, stop) = stopped_at(&fixture, "ten");
    let stop = goto(&session, &fixture, &stop, "hundred");
    session.set_breakpoints(&fixture, &["hundred", "print"]);
    // The breakpoint at the line to which `goto` moved the thread doesn't stop it now. The next arrival does.
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "print", StoppedEventReason::Breakpoint);
    assert_eq!(session.evaluate(&stop.top, "value"), "101");
    let stop = goto(&session, &fixture, &stop, "ten");
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "hundred", StoppedEventReason::Breakpoint);
    session.set_breakpoints(&fixture, &[]);
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    let output = session.output(OutputEventCategory::Stdout);
    assert_eq!(output, "value 211\nfound 17 calls 1\n");
    session.disconnect();
}

#[test]
fn a_place_in_another_function_or_without_code_is_refused() {
    let fixture = Fixture::new("again.c");
    let (session, stop) = stopped_at(&fixture, "ten");
    let target = &targets(&session, &fixture, "inner")[0];
    assert!(target.label.ends_with("in inner"), "{}", target.label);
    let refusal = session.refused::<GotoRequest>(GotoArguments::new(stop.thread, target.id));
    assert!(
        said(&refusal).contains("it is in `inner`, and the thread is in `main`"),
        "{refusal:?}"
    );
    let refusal = session.refused::<GotoRequest>(GotoArguments::new(stop.thread, 999));
    assert!(said(&refusal).contains("no target 999"), "{refusal:?}");
    let nowhere = GotoTargetsArguments::new(Source::new().with_path(fixture.path()), 2);
    let refusal = session.refused::<GotoTargetsRequest>(nowhere);
    assert!(said(&refusal).contains("no code on line 2"), "{refusal:?}");
    // The thread hasn't moved. A target is invalid once the program has run on.
    assert_eq!(session.stack(stop.thread)[0].line, fixture.line("ten"));
    let target = targets(&session, &fixture, "begin")[0].id;
    let stop = session.next(&stop, &fixture, "hundred");
    let refusal = session.refused::<GotoRequest>(GotoArguments::new(stop.thread, target));
    assert!(said(&refusal).contains("no target"), "{refusal:?}");
    session.disconnect();
}

#[test]
fn a_frame_is_begun_again_with_its_arguments_and_all_it_does_is_done_again() {
    let fixture = Fixture::new("again.c");
    let (session, stop) = stopped_at(&fixture, "inner-end");
    assert_eq!(session.evaluate(&stop.top, "sum"), "17");
    session.ok::<RestartFrameRequest>(RestartFrameArguments::new(stop.top.id));
    let again = session.stopped_at(
        &fixture,
        "inner",
        StoppedEventReason::Other("restart".into()),
    );
    assert_eq!(session.evaluate(&again.top, "pair.a + pair.b"), "7");
    assert_eq!(session.evaluate(&again.top, "factor"), "2.0");
    session.set_breakpoints(&fixture, &["outer-end"]);
    session.resume(again.thread);
    let stop = session.stopped_at(&fixture, "outer-end", StoppedEventReason::Breakpoint);
    session.set_breakpoints(&fixture, &[]);
    assert_eq!(
        (
            session.evaluate(&stop.top, "found"),
            session.evaluate(&stop.top, "calls")
        ),
        ("17".into(), "2".into())
    );
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    assert!(
        session
            .output(OutputEventCategory::Stdout)
            .ends_with("found 17 calls 2\n")
    );
    session.disconnect();
}

#[test]
fn an_outer_frame_is_begun_again_and_those_it_has_called_are_left() {
    let fixture = Fixture::new("again.c");
    let (session, stop) = stopped_at(&fixture, "sum");
    let stack = session.stack(stop.thread);
    assert_eq!(stack[1].name, "outer");
    session.ok::<RestartFrameRequest>(RestartFrameArguments::new(stack[1].id));
    let again = session.stopped_at(
        &fixture,
        "outer",
        StoppedEventReason::Other("restart".into()),
    );
    let names: Vec<String> = session
        .stack(again.thread)
        .into_iter()
        .map(|f| f.name)
        .collect();
    assert_eq!(names[..2], ["outer", "main"]);
    let arguments = session.variables(session.scope(&again.top, "Locals").variables_reference);
    assert_eq!(named(&arguments, "a").value, "5");
    session.resume(again.thread);
    assert_eq!(session.exit_code(), 0);
    assert!(
        session
            .output(OutputEventCategory::Stdout)
            .ends_with("found 17 calls 2\n")
    );
    session.disconnect();
}

#[test]
fn functions_of_other_languages_are_begun_again() {
    for (name, marker, text) in [
        ("again.rs", "sum", "found 17 calls 2\n"),
        ("again.cpp", "sum", "found 17 calls 2\n"),
    ] {
        let fixture = Fixture::new(name);
        let (session, stop) = stopped_at(&fixture, marker);
        session.ok::<RestartFrameRequest>(RestartFrameArguments::new(stop.top.id));
        let again = session.stopped(StoppedEventReason::Other("restart".into()));
        session.resume(again.thread);
        assert_eq!(session.exit_code(), 0, "{name}");
        assert_eq!(session.output(OutputEventCategory::Stdout), text, "{name}");
        session.disconnect();
    }
}

#[test]
fn a_frame_whose_function_nothing_is_known_of_is_refused() {
    let fixture = Fixture::new("again.c");
    let (session, stop) = stopped_at(&fixture, "inner");
    let stack = session.stack(stop.thread);
    let refusal = session.refused::<RestartFrameRequest>(RestartFrameArguments::new(999));
    assert!(said(&refusal).contains("no frame 999"), "{refusal:?}");
    assert_eq!(stack[0].name, "inner");
    session.disconnect();
}

#[test]
fn a_thread_is_ended_and_who_joins_it_goes_on() {
    let fixture = Fixture::new("again.c");
    for stopped in [true, false] {
        let session = Session::started(&fixture, json!({"args": ["thread"]}), &[]);
        session.wait_for_output("joining");
        let threads = session.ok::<ThreadsRequest>(Default::default()).threads;
        let (main, other) = (threads[0].id, threads[1].id);
        if stopped {
            session.ok::<PauseRequest>(PauseArguments::new(main));
            session.stopped(StoppedEventReason::Pause);
        }
        let first = TerminateThreadsArguments::new().with_thread_ids(vec![main]);
        let refusal = session.refused::<TerminateThreadsRequest>(first);
        assert!(
            said(&refusal).contains("the program's first"),
            "{refusal:?}"
        );
        let arguments = TerminateThreadsArguments::new().with_thread_ids(vec![other]);
        session.ok::<TerminateThreadsRequest>(arguments);
        loop {
            let event = session.wait_for::<ThreadEvent>();
            if event.reason == ThreadEventReason::Exited {
                assert_eq!(event.thread_id, other);
                break;
            }
        }
        if stopped {
            let stack = session.stack(main);
            assert!(!stack.is_empty(), "the others are still stopped");
            session.resume(main);
        }
        assert_eq!(session.exit_code(), 0);
        assert_eq!(
            session.output(OutputEventCategory::Stdout),
            "joining\njoined\n"
        );
        session.disconnect();
    }
}
