//! Signals and faults in whole sessions: which of them stop, how they are described, and which reach the program.

use crate::support::{Fixture, Session};
use dapple_dap::types::*;
use serde_json::json;

fn launched(
    fixture: &Fixture,
    arguments: serde_json::Value,
    filters: &[(&str, Option<&str>)],
) -> Session {
    let session = Session::new();
    session.launch(fixture, arguments);
    let answers = set_filters(&session, filters);
    assert!(answers.iter().all(|answer| answer.verified), "{answers:?}");
    session.configured();
    session
}

fn set_filters(session: &Session, filters: &[(&str, Option<&str>)]) -> Vec<Breakpoint> {
    let options = filters.iter().map(|(id, condition)| {
        let option = ExceptionFilterOptions::new(*id);
        match condition {
            Some(condition) => option.with_condition(*condition),
            None => option,
        }
    });
    let arguments =
        SetExceptionBreakpointsArguments::new(Vec::new()).with_filter_options(options.collect());
    let answer = session.ok::<SetExceptionBreakpointsRequest>(arguments);
    answer.breakpoints.expect("one answer for each filter")
}

fn info(session: &Session, thread: i64) -> ExceptionInfoResponse {
    session.ok::<ExceptionInfoRequest>(ExceptionInfoArguments::new(thread))
}

/// The faults: the program's argument, the signal and the exit code on a line, then parts of the description, a line each. An empty line ends
/// a case.
const FAULTS: &str = include_str!("faults.txt");

#[test]
fn a_fault_says_what_was_tried_on_which_address_and_why_that_cannot_be() {
    let fixture = Fixture::new("faults.c");
    for case in FAULTS.trim_end().split("\n\n") {
        let mut parts = case.lines();
        let first = parts.next().map(|line| line.split(' ').collect::<Vec<_>>());
        let Some([argument, id, code]) = first.as_deref() else {
            panic!("{case}: an argument, a signal and an exit code were expected");
        };
        let session = Session::new();
        session.launch(&fixture, json!({"args": [argument]}));
        session.configured();
        let stop = session.stopped(StoppedEventReason::Exception);
        let text = stop.event.text.clone().expect("what happened");
        for part in parts {
            assert!(text.contains(part), "{argument}: {text}");
        }
        let info = info(&session, stop.thread);
        assert_eq!(info.exception_id, *id, "{argument}");
        assert_eq!(
            info.description.as_deref(),
            Some(text.as_str()),
            "{argument}"
        );
        assert_eq!(info.break_mode, ExceptionBreakMode::Unhandled, "{argument}");
        let details = info.details.expect("details");
        assert!(
            details
                .message
                .is_some_and(|facts| facts.contains("si_code")),
            "{argument}"
        );
        let stack = details.stack_trace.expect("a stack");
        let own = ["main", "overflow", "deeper"]
            .iter()
            .any(|name| stack.contains(name));
        assert!(own, "{argument}: {stack}");
        session.resume(stop.thread);
        assert_eq!(session.exit_code().to_string(), *code, "{argument}");
        session.disconnect();
    }
}

#[test]
fn the_usual_programs_signals_pass_and_what_it_faults_by_itself_stops_first() {
    let fixture = Fixture::new("traffic.c");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    session.configured();
    let stop = session.stopped(StoppedEventReason::Exception);
    assert_eq!(
        stop.event.text.as_deref(),
        Some("SIGSEGV: sent by the program itself")
    );
    assert_eq!(
        info(&session, stop.thread).break_mode,
        ExceptionBreakMode::Always
    );
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 6);
    session.disconnect();
}

#[test]
fn signals_that_are_chosen_stop_are_told_or_kept_from_the_program() {
    let fixture = Fixture::new("traffic.c");
    let condition = "SIGUSR1, SIGRTMIN+3:stop:nopass, SIGUSR2:nopass, SIGTERM:print";
    let session = launched(&fixture, json!({}), &[("signals", Some(condition))]);
    for (text, id) in [
        ("SIGUSR1: sent by the program itself", "SIGUSR1"),
        (
            "SIGRTMIN+3: sent by the program itself (kept from the program)",
            "SIGRTMIN+3",
        ),
    ] {
        let stop = session.stopped(StoppedEventReason::Exception);
        assert_eq!(stop.event.text.as_deref(), Some(text));
        assert_eq!(info(&session, stop.thread).exception_id, id);
        session.resume(stop.thread);
    }
    // The program handles SIGSEGV, so it doesn't stop without the filter for faults.
    assert_eq!(session.exit_code(), 4);
    let output = session.output(OutputEventCategory::Stdout);
    assert_eq!(output, "10 came\n11 came\n15 came\n28 came\n");
    let console = session.output(OutputEventCategory::Console);
    assert!(
        console.contains("SIGTERM: sent by the program itself\n"),
        "{console}"
    );
    session.disconnect();
}

#[test]
fn without_a_list_all_stop_that_are_not_everyday() {
    let fixture = Fixture::new("traffic.c");
    let session = launched(&fixture, json!({}), &[("signals", None), ("faults", None)]);
    for id in ["SIGUSR1", "SIGUSR2", "SIGTERM", "SIGRTMIN+3", "SIGSEGV"] {
        let stop = session.stopped(StoppedEventReason::Exception);
        assert_eq!(info(&session, stop.thread).exception_id, id);
        session.resume(stop.thread);
    }
    assert_eq!(session.exit_code(), 6);
    session.disconnect();
}

#[test]
fn the_launch_says_what_becomes_of_signals_too_and_filters_come_on_top() {
    let fixture = Fixture::new("traffic.c");
    let arguments = json!({"signals": {"SIGUSR2": "stop", "SIGTERM": "nopass"}});
    let session = launched(&fixture, arguments, &[("signals", Some("SIGWINCH"))]);
    for id in ["SIGUSR2", "SIGWINCH"] {
        let stop = session.stopped(StoppedEventReason::Exception);
        assert_eq!(info(&session, stop.thread).exception_id, id);
        session.resume(stop.thread);
    }
    assert_eq!(session.exit_code(), 5);
    session.disconnect();
}

#[test]
fn filters_set_before_the_launch_and_while_the_program_runs_hold() {
    let fixture = Fixture::new("sleepless.c");
    let session = Session::new();
    let answers = set_filters(&session, &[("signals", Some("SIGURG"))]);
    assert!(answers[0].verified);
    session.launch(&fixture, json!({}));
    session.configured();
    session.wait_for_output("awake");
    let process = session.process_id();
    send(process, "URG");
    let stop = session.stopped(StoppedEventReason::Exception);
    let text = stop.event.text.expect("what happened");
    assert!(text.starts_with("SIGURG: sent by process "), "{text}");
    session.resume(stop.thread);
    set_filters(&session, &[("signals", Some("SIGUSR1:stop:nopass"))]);
    send(process, "URG");
    send(process, "USR1");
    let stop = session.stopped(StoppedEventReason::Exception);
    assert_eq!(info(&session, stop.thread).exception_id, "SIGUSR1");
    session.resume(stop.thread);
    // Passed on, SIGUSR1 would have killed the program. An unhandled signal that isn't chosen does kill it.
    send(process, "USR2");
    assert_eq!(session.exit_code(), 128 + 12);
    session.disconnect();
}

fn send(process: i64, signal: &str) {
    let status = std::process::Command::new("kill")
        .args([&format!("-{signal}"), &process.to_string()])
        .status();
    assert!(status.is_ok_and(|status| status.success()));
}

#[test]
fn filters_that_cannot_be_are_refused_with_a_sentence_each() {
    let session = Session::new();
    let answers = set_filters(
        &session,
        &[
            ("everything", None),
            ("signals", Some("SIGFOO")),
            ("signals", Some("SIGUSR1:sometimes")),
            ("faults", Some("x > 3")),
            ("signals", Some("SIGKILL")),
        ],
    );
    let messages: Vec<String> = answers
        .into_iter()
        .map(|answer| {
            assert!(!answer.verified);
            assert_eq!(answer.reason, Some(BreakpointReason::Failed));
            answer.message.expect("why not")
        })
        .collect();
    for (message, part) in messages.iter().zip([
        "no exception filter `everything`",
        "no signal `SIGFOO`",
        "`sometimes`",
        "takes no condition",
        "SIGKILL",
    ]) {
        assert!(message.contains(part), "{message}");
    }
    session.disconnect();
}

#[test]
fn a_program_run_without_debugging_meets_its_signals_unseen() {
    let fixture = Fixture::new("faults.c");
    let session = Session::new();
    session.launch(&fixture, json!({"args": ["read_null"], "noDebug": true}));
    session.configured();
    assert_eq!(session.exit_code(), 139);
    session.disconnect();
}

#[test]
fn there_is_no_exception_where_a_thread_has_stopped_for_something_else() {
    let fixture = Fixture::new("traffic.c");
    let session = Session::started(&fixture, json!({}), &["note"]);
    let stop = session.stopped_at(&fixture, "note", StoppedEventReason::Breakpoint);
    let failure = session.refused::<ExceptionInfoRequest>(ExceptionInfoArguments::new(stop.thread));
    assert!(
        failure.sentence.contains("not stopped for an exception"),
        "{failure:?}"
    );
    session.disconnect();
}

#[test]
fn the_filters_are_offered_with_what_people_read() {
    let session = Session::new();
    let capabilities = session.capabilities();
    let filters = capabilities.exception_breakpoint_filters.expect("filters");
    let on: Vec<(&str, bool)> = filters
        .iter()
        .map(|filter| (filter.filter.as_str(), filter.default == Some(true)))
        .collect();
    assert!(
        on.contains(&("faults", true)) && on.contains(&("signals", false)),
        "{on:?}"
    );
    assert_eq!(capabilities.supports_exception_info_request, Some(true));
    session.disconnect();
}
