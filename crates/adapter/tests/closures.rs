//! Calls of Rust's closures in the console and in a watch: the program runs them with the variables that they have captured.

use crate::support::{Fixture, Session, Stopped};
use dapple_dap::client::ClientError;
use dapple_dap::types::*;
use serde_json::json;

fn begin(mark: &str) -> (Session, Stopped) {
    let fixture = Fixture::new("closures.rs");
    let session = Session::started(&fixture, json!({}), &[mark]);
    let stop = session.stopped_at(&fixture, mark, StoppedEventReason::Breakpoint);
    (session, stop)
}

#[track_caller]
fn check(session: &Session, stop: &Stopped, expected: &[(&str, &str)]) {
    for (expression, value) in expected {
        let arguments = EvaluateArguments::new(*expression).with_frame_id(stop.top.id);
        let arguments = arguments.with_context(EvaluateArgumentsContext::Repl);
        let answer = match session.request::<EvaluateRequest>(arguments) {
            Ok(answer) => answer.result,
            Err(ClientError::Failed(failure)) => format!("error: {failure}"),
            Err(error) => panic!("{error}"),
        };
        match value.strip_prefix("error: ") {
            Some(part) => assert!(
                answer.starts_with("error: ") && answer.contains(part),
                "{expression}: {answer}"
            ),
            None => assert_eq!(answer, *value, "{expression}"),
        }
    }
}

#[test]
fn closures_are_called_with_what_they_have_captured() {
    let (session, stop) = begin("closures");
    check(
        &session,
        &stop,
        &[
            ("plain(41)", "42"),
            ("adds(5)", "15"),
            ("adds(5) + plain(1)", "17"),
            ("two(2, 3)", "23"),
            ("nothing()", "30"),
            ("length(4)", "7"),
            ("text(\"four\")", "7"),
            ("moves(5, point)", "Point { x: 6, y: 2, z: 3 }"),
            ("boxed(1)", "-9"),
            ("of_function(4)", "8"),
            ("borrowed(1)", "11"),
            ("pointer(4)", "8"),
            ("(button.pressed)(7)", "70"),
            ("(&adds)(5)", "15"),
        ],
    );
    // A change that the closure makes stays.
    check(
        &session,
        &stop,
        &[("counts(5)", "6"), ("counts(2)", "8"), ("count", "8")],
    );
    session.disconnect();
}

#[test]
fn a_closure_behind_a_generic_is_called() {
    let (session, stop) = begin("generic");
    check(
        &session,
        &stop,
        &[("f(1)", "11"), ("by_reference(2)", "12"), ("result", "14")],
    );
    session.disconnect();
}

#[test]
fn what_closure_is_not_called_has_its_reason() {
    let (session, stop) = begin("closures");
    check(
        &session,
        &stop,
        &[
            (
                "consumes()",
                "error: it has captured `owned` by value, and may give it away",
            ),
            (
                "opens()",
                "error: it has captured `on_heap` by value, and may give it away",
            ),
            ("adds()", "error: takes 1 argument, and 0 are given"),
            ("adds(1, 2)", "error: takes 1 argument, and 2 are given"),
            ("adds(point)", "error: "),
            ("base(1)", "error: `base` is no function, it is an `i32`"),
        ],
    );
    // A hover never calls anything.
    let arguments = EvaluateArguments::new("adds(5)").with_frame_id(stop.top.id);
    let hover = arguments.with_context(EvaluateArgumentsContext::Hover);
    let refused = session.refused::<EvaluateRequest>(hover).sentence;
    assert!(
        refused.contains("functions are not called here"),
        "{refused}"
    );
    session.disconnect();
}
