//! Values that were shown in the debug console can be expanded after the program has run on: they show the current contents, or say why
//! they can't.

use crate::support::{Fixture, Session, Stopped, named};
use dapple_dap::types::*;
use serde_json::json;

/// The answer for an expression in the client's console.
#[track_caller]
fn typed(session: &Session, frame: &StackFrame, expression: &str) -> EvaluateResponse {
    let arguments = EvaluateArguments::new(expression)
        .with_frame_id(frame.id)
        .with_context(EvaluateArgumentsContext::Repl);
    let shown = session.ok::<EvaluateRequest>(arguments);
    assert!(shown.variables_reference > 0, "{shown:?}");
    shown
}

/// The children of a value, one line each.
#[track_caller]
fn lines(session: &Session, reference: i64) -> Vec<String> {
    let all = session.variables(reference);
    let line = |one: &Variable| format!("{} = {}", one.name, without_addresses(&one.value));
    all.iter().map(line).collect()
}

fn without_addresses(text: &str) -> String {
    let words = text
        .split(' ')
        .filter(|word| !word.starts_with("0x5") && !word.starts_with("0x7f"));
    words.collect::<Vec<_>>().join(" ")
}

/// The reason why a value can't be expanded.
#[track_caller]
fn why(session: &Session, reference: i64) -> String {
    let arguments = VariablesArguments::new(reference);
    session
        .refused::<VariablesRequest>(arguments)
        .message
        .expect("a reason")
}

#[track_caller]
fn on(session: &Session, stop: &Stopped, fixture: &Fixture, name: &str) -> Stopped {
    session.resume(stop.thread);
    session.stopped_at(fixture, name, StoppedEventReason::Breakpoint)
}

#[test]
fn what_the_console_has_shown_is_opened_later_as_far_as_it_is_there() {
    let fixture = Fixture::new("kept.cpp");
    let session = Session::started(
        &fixture,
        json!({}),
        &["first", "inner", "deleted", "between", "last"],
    );
    let first = session.stopped_at(&fixture, "first", StoppedEventReason::Breakpoint);
    let in_main = ["point", "list", "owned", "named", "mapped", "origin"];
    let [point, list, owned, map, mapped, origin] =
        in_main.map(|name| typed(&session, &first.top, name).variables_reference);
    let next = session.variables(list);
    let next = named(&next, "next").variables_reference;
    let scope = session.scope(&first.top, "Locals").variables_reference;
    let inner = on(&session, &first, &fixture, "inner");

    // References of the previous stop: those of scopes are invalid, those of console values are still valid.
    assert!(why(&session, scope).contains("good until the program runs on"));
    assert_eq!(lines(&session, point), ["x = 1", "y = 2"]);
    assert_eq!(lines(&session, next), ["value = 20", "next = 0x0"]);
    assert_eq!(
        lines(&session, origin),
        ["[changed since] = {x = 1, y = 0}", "x = 1", "y = 0"]
    );
    assert_eq!(
        lines(&session, map)[..2],
        ["[\"a\"] = {x = 1, y = 2}", "[\"b\"] = {x = 3, y = 4}"]
    );
    let stepped = typed(&session, &inner.top, "local").variables_reference;
    let in_inner = ["local", "*own", "own", "numbers", "node", "*node", "given"];
    let [local, target, own, numbers, node, item, given] =
        in_inner.map(|name| typed(&session, &inner.top, name).variables_reference);
    session.ok::<NextRequest>(NextArguments::new(inner.thread));
    let inner = session.stopped(StoppedEventReason::Step);
    assert_eq!(lines(&session, stepped), ["x = 1", "y = 7"]);
    assert_eq!(
        lines(&session, given),
        ["[changed since] = {x = 2, y = 2}", "x = 2", "y = 2"]
    );

    let deleted = on(&session, &inner, &fixture, "deleted");
    for freed in [node, item] {
        assert!(
            why(&session, freed).contains("has been freed since"),
            "{}",
            why(&session, freed)
        );
    }
    assert_eq!(lines(&session, numbers)[..2], ["[0] = 1", "[1] = 2"]);
    let between = on(&session, &deleted, &fixture, "between");
    for ended in [local, target, own, numbers, stepped] {
        let why = why(&session, ended);
        assert!(
            why.contains("the frame of this value has ended") && why.contains("`inner`"),
            "{why}"
        );
    }
    assert_eq!(
        lines(&session, given),
        ["[changed since] = {x = 2, y = 2}", "x = 2", "y = 2"]
    );
    assert_eq!(lines(&session, mapped)[0], "x = 5");

    let inner = on(&session, &between, &fixture, "inner");
    // Another call uses the same stack memory.
    assert!(
        why(&session, local).contains("has ended"),
        "{}",
        why(&session, local)
    );
    let deleted = on(&session, &inner, &fixture, "deleted");
    let last = on(&session, &deleted, &fixture, "last");
    assert!(
        why(&session, mapped).contains("no longer readable at 0x"),
        "{}",
        why(&session, mapped)
    );
    assert!(
        why(&session, owned).contains("has been freed since"),
        "{}",
        why(&session, owned)
    );
    assert_eq!(
        lines(&session, list)[..2],
        ["[changed since] = {value = 11, next =", "value = 11"]
    );
    assert_eq!(
        lines(&session, point)[0],
        "[changed since] = {x = 4, y = 2}"
    );

    // Setting a child of an old value changes the program's variable.
    let set = SetVariableArguments::new(list, "value", "77");
    session.ok::<SetVariableRequest>(set);
    assert_eq!(session.evaluate(&last.top, "list->value"), "77");
    session.resume(last.thread);
    assert_eq!(session.exit_code(), 0);
    assert_eq!(why(&session, point), "the program has ended");
    session.disconnect();
}

#[test]
fn values_of_rust_programs_are_opened_later() {
    let fixture = Fixture::new("kept.rs");
    let session = Session::started(
        &fixture,
        json!({}),
        &["first", "inner", "deleted", "between", "last"],
    );
    let first = session.stopped_at(&fixture, "first", StoppedEventReason::Breakpoint);
    let in_main = ["point", "shared", "named", "list"];
    let [point, shared, map, list] =
        in_main.map(|name| typed(&session, &first.top, name).variables_reference);
    let element = session.variables(list);
    let element = named(&element, "[0]").variables_reference;
    let inner = on(&session, &first, &fixture, "inner");
    assert_eq!(lines(&session, point), ["x = 1", "y = 2"]);
    assert_eq!(
        lines(&session, map)[0],
        "[\"a\"] = kept::Point { x: 1, y: 2 }".replace("kept::", "")
    );
    let in_inner = ["local", "numbers", "boxed", "given"];
    let [local, numbers, boxed, given] =
        in_inner.map(|name| typed(&session, &inner.top, name).variables_reference);
    let deleted = on(&session, &inner, &fixture, "deleted");
    assert!(
        why(&session, boxed).contains("has been freed since"),
        "{}",
        why(&session, boxed)
    );
    assert_eq!(lines(&session, local), ["x = 1", "y = 7"]);
    on(&session, &deleted, &fixture, "between");
    for ended in [local, numbers] {
        assert!(
            why(&session, ended).contains("has ended"),
            "{}",
            why(&session, ended)
        );
    }
    assert_eq!(
        lines(&session, given),
        ["[changed since] = Point { x: 2, y: 2 }", "x = 2", "y = 2"]
    );
    assert_eq!(lines(&session, shared)[..2], ["x = 5", "y = 6"]);
    assert_eq!(
        lines(&session, element),
        [
            "[changed since] = Point { x: 12, y: 11 }",
            "x = 12",
            "y = 11"
        ]
    );
    session.disconnect();
}

/// Runs `kept.c` with a log point and breakpoints.
fn logging(fixture: &Fixture, message: &str, stops: &[&str]) -> Session {
    let session = Session::new();
    session.launch(fixture, json!({}));
    let log = SourceBreakpoint::new(fixture.line("look")).with_log_message(message);
    let stops = stops
        .iter()
        .map(|name| SourceBreakpoint::new(fixture.line(name)));
    let all = std::iter::once(log).chain(stops).collect();
    let source = Source::new().with_path(fixture.path());
    let arguments = SetBreakpointsArguments::new(source).with_breakpoints(all);
    for breakpoint in session.ok::<SetBreakpointsRequest>(arguments).breakpoints {
        assert!(breakpoint.verified, "{breakpoint:?}");
    }
    session.configured();
    session
}

#[test]
fn what_a_log_point_has_written_is_opened_when_the_program_stops() {
    let fixture = Fixture::new("kept.c");
    let session = logging(&fixture, "turn {turn}: {item}, {copy}", &["looked", "many"]);
    let told = session.wait_for::<OutputEvent>();
    let told = if told.output.starts_with("turn 0") {
        told
    } else {
        panic!("{told:?}")
    };
    let reference = told.variables_reference.expect("values to be opened");
    // The message is a single child, for clients that show the children instead of the text, also while the program runs.
    let message = session.variables(reference);
    assert_eq!(message.len(), 1, "{message:?}");
    assert_eq!(format!("{}\n", message[0].value), told.output);
    let values = session.variables(message[0].variables_reference);
    assert_eq!(
        values
            .iter()
            .map(|one| one.name.as_str())
            .collect::<Vec<_>>(),
        ["item", "copy"]
    );
    let looked = session.stopped_at(&fixture, "looked", StoppedEventReason::Breakpoint);
    let item = values[0].variables_reference;
    assert_eq!(lines(&session, item)[..2], ["number = 1", "name = \"one\""]);
    let next = session.variables(item);
    let next = named(&next, "next").variables_reference;
    assert!(why(&session, values[1].variables_reference).contains("`look` has returned"));
    session.resume(looked.thread);
    let many = session.stopped_at(&fixture, "many", StoppedEventReason::Breakpoint);
    assert!(
        why(&session, item).contains("has been freed since"),
        "{}",
        why(&session, item)
    );
    assert_eq!(lines(&session, next)[..2], ["number = 2", "name = \"two\""]);
    // There are many messages. Only the values of the latest can be expanded.
    assert!(why(&session, i64::from(i32::MAX) - 1).contains("are kept"));
    session.resume(many.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn old_values_are_forgotten_with_a_reason() {
    let fixture = Fixture::new("kept.c");
    let session = Session::started(&fixture, json!({}), &["look", "looked"]);
    let stop = session.stopped_at(&fixture, "look", StoppedEventReason::Breakpoint);
    let first = typed(&session, &stop.top, "copy").variables_reference;
    assert_eq!(lines(&session, first)[0], "number = 1");
    for _ in 0..2 {
        let table = typed(&session, &stop.top, "table").variables_reference;
        assert_eq!(session.variables(table).len(), 10_000);
    }
    let why = why(&session, first);
    assert!(why.contains("only the last 20000 values"), "{why}");
    session.ok::<NextRequest>(NextArguments::new(stop.thread));
    session.stopped(StoppedEventReason::Step);
    session.disconnect();
}

#[test]
fn values_are_not_read_while_the_program_runs() {
    let fixture = Fixture::new("kept.cpp");
    let session = Session::started(&fixture, json!({"args": ["and", "waits"]}), &["first"]);
    let first = session.stopped_at(&fixture, "first", StoppedEventReason::Breakpoint);
    let point = typed(&session, &first.top, "point").variables_reference;
    session.resume(first.thread);
    assert_eq!(why(&session, point), "notStopped");
    session.wait_for_output("20\n");
    session.ok::<PauseRequest>(PauseArguments::new(first.thread));
    session.stopped(StoppedEventReason::Pause);
    assert_eq!(lines(&session, point)[1..], ["x = 4", "y = 2"]);
    session.disconnect();
}

#[test]
fn values_of_a_program_that_is_another_say_so() {
    let fixture = Fixture::new("kept.cpp");
    let session = Session::started(&fixture, json!({"args": ["again"]}), &["first", "exec"]);
    let first = session.stopped_at(&fixture, "first", StoppedEventReason::Breakpoint);
    let point = typed(&session, &first.top, "point").variables_reference;
    let exec = on(&session, &first, &fixture, "exec");
    assert_eq!(lines(&session, point).len(), 3);
    let again = on(&session, &exec, &fixture, "first");
    assert!(
        why(&session, point).contains("(exec)"),
        "{}",
        why(&session, point)
    );
    let point = typed(&session, &again.top, "point").variables_reference;
    session.ok::<RestartRequest>(RestartArguments::new());
    assert!(
        why(&session, point).contains("started again"),
        "{}",
        why(&session, point)
    );
    session.disconnect();
}
