//! Log messages, and conditions of data breakpoints, that call functions of the program.

use crate::support::{Fixture, Session, Stopped};
use dapple_dap::types::*;
use serde_json::json;

fn at(fixture: &Fixture, mark: &str, message: &str) -> SourceBreakpoint {
    SourceBreakpoint::new(fixture.line(mark)).with_log_message(message)
}

#[track_caller]
fn started(fixture: &Fixture, wanted: Vec<SourceBreakpoint>) -> Session {
    let session = Session::new();
    session.launch(fixture, json!({}));
    let source = Source::new().with_path(fixture.path());
    let arguments = SetBreakpointsArguments::new(source).with_breakpoints(wanted);
    for breakpoint in session.ok::<SetBreakpointsRequest>(arguments).breakpoints {
        assert!(breakpoint.verified, "{breakpoint:?}");
    }
    session.configured();
    session
}

/// All log messages so far that end with `!`.
fn logged(session: &Session) -> Vec<String> {
    let text = session.output(OutputEventCategory::Console);
    let lines = text.lines().filter(|line| line.ends_with('!'));
    lines.map(str::to_owned).collect()
}

/// The messages of a log point until the program ends with exit code 0.
#[track_caller]
fn messages(fixture: &Fixture, mark: &str, message: &str) -> Vec<String> {
    let session = started(fixture, vec![at(fixture, mark, message)]);
    assert_eq!(session.exit_code(), 0, "{message}");
    let logged = logged(&session);
    session.disconnect();
    logged
}

#[test]
fn a_message_shows_what_functions_give_back_in_each_language() {
    let c = Fixture::new("condition_calls.c");
    assert_eq!(
        messages(&c, "call", "{i} {odd(i)} {odd(i + 1):#x}!"),
        [
            "0 0 0x1!", "1 1 0x0!", "2 0 0x1!", "3 1 0x0!", "4 0 0x1!", "5 1 0x0!"
        ]
    );
    let cpp = Fixture::new("condition_calls.cpp");
    let logged = messages(
        &cpp,
        "loop",
        "{item->name} {base->cost()} {item->is_heavy(3)}!",
    );
    assert_eq!(logged.len(), 6);
    assert_eq!(logged[3], "\"item 3\" 9 false!");
    assert_eq!(logged[4], "\"item 4\" 12 true!");
    let rust = Fixture::new("condition_calls.rs");
    let logged = messages(&rust, "loop", "{item.label()} {item.is_heavy(3)}!");
    assert_eq!(logged.len(), 6);
    assert_eq!(logged[3], "\"item 3 (3 kg)\" false!");
    assert_eq!(logged[4], "\"item 4 (4 kg)\" true!");
    // The calls leave nothing locked: the program tries the lock after each message.
    let logged = messages(&rust, "loop", "{locked(&shared).len()} {locked(&shared)}!");
    assert_eq!(logged[2], "2 len = 2 [0, 1]!");
    assert_eq!(logged.len(), 6);
}

#[test]
fn a_message_is_written_where_its_condition_and_hit_count_want_it() {
    let fixture = Fixture::new("condition_calls.c");
    let wanted = vec![
        at(&fixture, "call", "odd {i} {odd(i)}!").with_condition("odd(i)"),
        at(&fixture, "behind", "third {i} {odd(i)}!")
            .with_condition("i != 1")
            .with_hit_condition("3"),
        SourceBreakpoint::new(fixture.line("end")).with_condition("asked == 10"),
    ];
    let session = started(&fixture, wanted);
    let stop = session.stopped_at(&fixture, "end", StoppedEventReason::Breakpoint);
    assert_eq!(
        logged(&session),
        ["odd 1 1!", "odd 3 1!", "third 3 1!", "odd 5 1!"]
    );
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn that_a_message_calls_is_said_once() {
    let fixture = Fixture::new("condition_calls.c");
    let session = started(&fixture, vec![at(&fixture, "call", "{i} {odd(i)}!")]);
    assert_eq!(session.exit_code(), 0);
    let told = session.output(OutputEventCategory::Console);
    let slow = "the log message's `odd(i)` calls a function of the program: all threads are stopped for that, each time";
    assert_eq!(told.matches(slow).count(), 1, "{told}");
    session.disconnect();
}

#[test]
fn a_call_that_fails_is_told_in_its_place_and_the_program_goes_on() {
    let fixture = Fixture::new("condition_calls.c");
    let wanted = vec![
        at(&fixture, "call", "{i} {read_nowhere()} {odd(i)}!"),
        // A function that is called for a message neither stops at its breakpoints nor writes log messages.
        SourceBreakpoint::new(fixture.line("odd")),
        at(&fixture, "odd", "called!"),
    ];
    let session = started(&fixture, wanted);
    assert_eq!(session.exit_code(), 0);
    let logged = logged(&session);
    assert_eq!(logged.len(), 6, "{logged:?}");
    for (index, line) in logged.iter().enumerate() {
        let head = format!("{index} <`read_nowhere` ran into SIGSEGV");
        assert!(line.starts_with(&head), "{line}");
        assert!(line.ends_with(&format!("> {}!", index % 2)), "{line}");
    }
    session.disconnect();
}

#[test]
fn threads_that_come_together_each_write_theirs_and_a_step_goes_on() {
    let fixture = Fixture::new("condition_calls.c");
    let wanted = vec![
        SourceBreakpoint::new(fixture.line("call")).with_hit_condition("2"),
        at(&fixture, "twice", "twice {i} {odd(i)}!"),
        at(&fixture, "behind", "behind {odd(i)}!"),
        at(&fixture, "work", "{i} {odd(i)}!"),
    ];
    let session = started(&fixture, wanted);
    let stop = session.stopped_at(&fixture, "call", StoppedEventReason::Breakpoint);
    let stop = session.next(&stop, &fixture, "behind");
    assert_eq!(session.evaluate(&stop.top, "more"), "2");
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    let mut logged = logged(&session);
    let (mut by_threads, rest) = {
        let rest = logged.split_off(12.min(logged.len()));
        (rest, logged)
    };
    assert_eq!(rest[2..4], ["twice 1 1!", "behind 1!"]);
    let one = (0..40).map(|i| format!("{i} {}!", i % 2));
    let mut expected: Vec<String> = (0..4).flat_map(|_| one.clone()).collect();
    expected.sort();
    by_threads.sort();
    assert_eq!(by_threads, expected);
    session.disconnect();
}

/// Stops at a mark, and sets a data breakpoint on a static variable there.
#[track_caller]
fn watching(fixture: &Fixture, mark: &str, name: &str, condition: &str) -> (Session, Stopped, i64) {
    let session = Session::started(fixture, json!({}), &[mark]);
    let stop = session.stopped_at(fixture, mark, StoppedEventReason::Breakpoint);
    session.set_breakpoints(fixture, &[]);
    let arguments = DataBreakpointInfoArguments::new(name).with_frame_id(stop.top.id);
    let info = session.ok::<DataBreakpointInfoRequest>(arguments);
    let id = info.data_id.expect("it can be watched");
    let wanted = DataBreakpoint::new(id)
        .with_access_type(DataBreakpointAccessType::Write)
        .with_condition(condition);
    let set = session
        .ok::<SetDataBreakpointsRequest>(SetDataBreakpointsArguments::new(vec![wanted]))
        .breakpoints;
    assert!(set[0].verified, "{set:?}");
    (session, stop, set[0].id.expect("an id"))
}

/// The texts of the stops at accesses, until the program ends with exit code 0.
#[track_caller]
fn accesses(fixture: &Fixture, mark: &str, name: &str, condition: &str) -> Vec<String> {
    let (session, stop, id) = watching(fixture, mark, name, condition);
    session.resume(stop.thread);
    let mut said = Vec::new();
    while session.ends_or_stops() {
        let stop = session.stopped(StoppedEventReason::DataBreakpoint);
        assert_eq!(stop.event.hit_breakpoint_ids, Some(vec![id]));
        said.extend(stop.event.description.clone());
        session.resume(stop.thread);
    }
    assert_eq!(session.exit_code(), 0);
    let told = session.output(OutputEventCategory::Console);
    let slow = format!(
        "the condition `{condition}` calls a function of the program: all threads are stopped for that, each time"
    );
    assert_eq!(told.matches(&slow).count(), 1, "{told}");
    session.disconnect();
    said
}

#[test]
fn a_condition_on_data_calls_in_each_language() {
    let c = Fixture::new("condition_calls.c");
    assert_eq!(
        accesses(&c, "call", "total", "odd(total)"),
        [
            "`total` changed from 0 to 1",
            "`total` changed from 1 to 3",
            "`total` changed from 10 to 15"
        ]
    );
    let cpp = Fixture::new("condition_calls.cpp");
    assert_eq!(
        accesses(
            &cpp,
            "loop",
            "total",
            "item->is_heavy(3) && base->cost() > 12"
        ),
        ["`total` changed from 10 to 15"]
    );
    let rust = Fixture::new("condition_calls.rs");
    let condition = "is_odd(TOTAL) && locked(&shared).len() > 3";
    assert_eq!(
        accesses(&rust, "loop", "TOTAL", condition),
        ["`TOTAL` changed from 10 to 15"]
    );
}

#[test]
fn a_step_goes_on_over_data_whose_condition_does_not_hold() {
    let fixture = Fixture::new("condition_calls.c");
    for (condition, reason) in [
        ("odd(total) > 1", StoppedEventReason::Step),
        ("odd(total + 1)", StoppedEventReason::DataBreakpoint),
    ] {
        let (session, stop, _) = watching(&fixture, "add", "total", condition);
        // The first call doesn't change the watched variable.
        session.ok::<NextRequest>(NextArguments::new(stop.thread));
        let stop = session.stopped_at(&fixture, "added", StoppedEventReason::Step);
        session.set_breakpoints(&fixture, &["add"]);
        for value in [1, 3] {
            session.resume(stop.thread);
            let stop = session.stopped_at(&fixture, "add", StoppedEventReason::Breakpoint);
            session.ok::<NextRequest>(NextArguments::new(stop.thread));
            let stop = session.stopped_at(&fixture, "added", StoppedEventReason::Step);
            assert_eq!(session.evaluate(&stop.top, "total"), value.to_string());
        }
        session.resume(stop.thread);
        session.stopped_at(&fixture, "add", StoppedEventReason::Breakpoint);
        session.ok::<NextRequest>(NextArguments::new(stop.thread));
        session.stopped_at(&fixture, "added", reason);
        session.disconnect();
    }
}

#[test]
fn a_call_that_fails_for_data_stops_there_and_says_why() {
    let fixture = Fixture::new("condition_calls.c");
    let (session, stop, id) = watching(&fixture, "call", "total", "read_nowhere() == 1");
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "added", StoppedEventReason::DataBreakpoint);
    assert_eq!(stop.event.hit_breakpoint_ids, Some(vec![id]));
    let told = session.output(OutputEventCategory::Console);
    let why = "the breakpoint's condition `read_nowhere() == 1` can't be evaluated: `read_nowhere` ran into SIGSEGV";
    assert_eq!(told.matches(why).count(), 1, "{told}");
    assert_eq!(session.evaluate(&stop.top, "total"), "1");
    session.disconnect();
}
