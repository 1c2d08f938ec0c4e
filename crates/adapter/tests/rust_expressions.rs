//! Expressions in Rust programs: name lookup, comparisons, references and methods follow the rules of Rust.

use crate::support::{Fixture, Session, Stopped};
use dapple_dap::client::ClientError;
use dapple_dap::types::*;
use serde_json::json;

fn begin() -> (Session, Stopped) {
    let fixture = Fixture::new("looked_up.rs");
    let session = Session::started(&fixture, json!({}), &["looked up"]);
    let stop = session.stopped_at(&fixture, "looked up", StoppedEventReason::Breakpoint);
    (session, stop)
}

fn check(context: EvaluateArgumentsContext, expected: &[(&str, &str)]) {
    let (session, stop) = begin();
    for (expression, value) in expected {
        let arguments = EvaluateArguments::new(*expression).with_frame_id(stop.top.id);
        let answer =
            match session.request::<EvaluateRequest>(arguments.with_context(context.clone())) {
                Ok(answer) => answer.result,
                Err(ClientError::Failed(failure)) => format!("error: {failure}"),
                Err(error) => panic!("{error}"),
            };
        assert!(answer.starts_with(value), "{expression}: {answer}");
    }
    session.disconnect();
}

#[test]
fn elements_are_looked_up_by_references_and_give_options() {
    check(
        EvaluateArgumentsContext::Hover,
        &[
            ("map[&1]", "\"one\""),
            ("map.get(&5)", "Some(\"five\")"),
            ("map.get(&5).unwrap()", "\"five\""),
            ("map.get(&5).is_some()", "true"),
            ("map.get(&7).is_none()", "true"),
            (
                "map.get(&7).unwrap()",
                "error: column 10: `map` has no key 7",
            ),
            ("tree.get(\"a\").unwrap().x", "9"),
            ("tree.get(\"b\").is_some()", "false"),
            ("numbers.first().is_some()", "true"),
            ("numbers.first().unwrap()", "1"),
            ("numbers.get(2).is_none()", "false"),
            ("numbers.get(9).is_none()", "true"),
            ("empty.last().is_none()", "true"),
            ("numbers.get(nothing).is_none()", "error: "),
        ],
    );
}

#[test]
fn structs_are_compared_part_by_part() {
    check(
        EvaluateArgumentsContext::Hover,
        &[
            ("part == same", "true"),
            ("part != same", "false"),
            ("part == other", "false"),
            ("part != longer", "true"),
            ("part.kind == same.kind", "true"),
            ("part.kind == other.kind", "false"),
            ("&part == &same", "true"),
            ("part == numbers", "error: "),
            ("part < same", "error: "),
        ],
    );
}

#[test]
fn references_to_containers_are_passed_as_slices_and_own_methods_come_first() {
    check(
        EvaluateArgumentsContext::Watch,
        &[
            ("total(&numbers)", "6"),
            ("total(&empty)", "0"),
            ("total(&numbers[1..])", "5"),
            ("total(&text)", "error: "),
            ("length(&text)", "3"),
            ("length(&*text)", "3"),
            ("length(\"four\")", "4"),
            ("wrapped.as_str()", "\"its own\""),
            ("(&wrapped).as_str()", "\"its own\""),
            ("boxed.as_str()", "\"its own\""),
            ("wrapped.len()", "42"),
            ("text.as_str()", "\"hey\""),
            // Neither `Rc` nor its contents have this method.
            ("counted.as_str()", "error: "),
        ],
    );
    // Without calls, the answer is an error, not the result of another method.
    check(
        EvaluateArgumentsContext::Hover,
        &[("wrapped.as_str()", "error: "), ("text.len()", "3")],
    );
}

#[test]
fn a_length_is_a_usize() {
    let (session, stop) = begin();
    let arguments = EvaluateArguments::new("numbers.len()").with_frame_id(stop.top.id);
    let answer = session.ok::<EvaluateRequest>(arguments);
    assert_eq!(answer.result, "3");
    assert_eq!(answer.r#type.as_deref(), Some("usize"));
    session.disconnect();
}
