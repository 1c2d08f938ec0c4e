//! Values that Rust functions return to expressions are dropped, as the program itself would do.

use crate::support;
use crate::support::{Fixture, Session, Stopped};
use dapple_dap::client::ClientError;
use dapple_dap::types::*;
use serde_json::json;

fn begin() -> (Fixture, Session, Stopped) {
    let fixture = Fixture::new("temporaries.rs");
    let session = Session::started(&fixture, json!({}), &["ready", "after"]);
    let stop = session.stopped_at(&fixture, "ready", StoppedEventReason::Breakpoint);
    (fixture, session, stop)
}

fn answer(
    session: &Session,
    stop: &Stopped,
    expression: &str,
    context: EvaluateArgumentsContext,
) -> (String, i64) {
    let arguments = EvaluateArguments::new(expression).with_frame_id(stop.top.id);
    match session.request::<EvaluateRequest>(arguments.with_context(context)) {
        Ok(answer) => (answer.result, answer.variables_reference),
        Err(ClientError::Failed(failure)) => (format!("error: {failure}"), 0),
        Err(error) => panic!("{error}"),
    }
}

/// Runs to the end. Returns the program's output after the stop.
fn rest(session: Session, stop: &Stopped, fixture: &Fixture) -> String {
    session.ok::<ContinueRequest>(ContinueArguments::new(stop.thread));
    let stop = session.stopped_at(fixture, "after", StoppedEventReason::Breakpoint);
    session.ok::<ContinueRequest>(ContinueArguments::new(stop.thread));
    let code = session.exit_code();
    let output = session.output(OutputEventCategory::Stdout);
    let errors = session.output(OutputEventCategory::Stderr);
    assert_eq!(code, 0, "{output}\n{errors}");
    session.disconnect();
    let (_, rest) = output.split_once("3 7\n").expect("the first stop");
    rest.replace("ready\n", "")
}

#[test]
fn no_lock_borrow_or_count_stays_behind_a_watch() {
    let (fixture, session, stop) = begin();
    let of = |text: &str| answer(&session, &stop, text, EvaluateArgumentsContext::Watch).0;
    for _ in 0..2 {
        assert_eq!(of("shared.lock().unwrap().len()"), "3");
        assert_eq!(of("locked(&*shared)"), "len = 3 [1, 2, 3]");
        assert_eq!(of("readers.write()"), "Ok(6)");
        assert_eq!(of("Rc::clone(&counted)"), "7 (strong 2, weak 0)");
        assert_eq!(of("cell.borrow_mut()"), "41");
        assert_eq!(of("cell.borrow()"), "41");
    }
    assert_eq!(
        rest(session, &stop, &fixture),
        "lengths 4\nstrong 1\nkept before\ncell 42 before!\nyears 2\n"
    );
}

#[test]
fn what_is_shown_stays_until_the_program_goes_on() {
    let (fixture, session, stop) = begin();
    let of = |text: &str| answer(&session, &stop, text, EvaluateArgumentsContext::Repl);
    assert_eq!(of("noisy(4).0").0, "4");
    let (shown, reference) = of("person(50)");
    assert_eq!(shown, "Person { name: \"number 50\", years: 50 }");
    // Other values are made and dropped in between.
    assert_eq!(of("person(51).name.len()").0, "9");
    assert_eq!(
        of("person(52)").0,
        "Person { name: \"number 52\", years: 52 }"
    );
    let inside = session.ok::<VariablesRequest>(VariablesArguments::new(reference));
    let name = support::named(&inside.variables, "name");
    assert_eq!(name.value, "\"number 50\"");
    assert_eq!(
        rest(session, &stop, &fixture),
        "dropped 4\nlengths 4\nstrong 1\nkept before\ncell 41 before!\nyears 2\n"
            .replace("41", "42")
    );
}

#[test]
fn what_is_stored_is_not_dropped_and_what_fails_is() {
    let (fixture, session, stop) = begin();
    let of = |text: &str| answer(&session, &stop, text, EvaluateArgumentsContext::Repl).0;
    assert_eq!(of("kept = person(60).name"), "\"number 60\"");
    let failed = of("shared.lock().unwrap().nothing");
    assert!(
        failed.contains("no member") || failed.contains("no members"),
        "{failed}"
    );
    let twice = of("drop(shared.lock())");
    assert!(twice.starts_with("error: "), "{twice}");
    assert_eq!(of("shared.lock().unwrap()[1]"), "2");
    assert_eq!(
        rest(session, &stop, &fixture),
        "lengths 4\nstrong 1\nkept number 60\ncell 42 number 60!\nyears 2\n"
    );
}
