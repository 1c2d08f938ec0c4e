//! Methods of Rust's standard library that only compute: the debugger answers them without running the program, with the value and the type
//! that the compiled program prints.

use crate::support::{Fixture, Session};
use dapple_dap::client::ClientError;
use dapple_dap::types::*;
use serde_json::json;
use std::process::Command;

/// The value and the type in a hover's answer. A hover never runs the program.
fn hovered(session: &Session, frame: i64, expression: &str) -> (String, String) {
    let arguments = EvaluateArguments::new(expression).with_frame_id(frame);
    let arguments = arguments.with_context(EvaluateArgumentsContext::Hover);
    match session.request::<EvaluateRequest>(arguments) {
        Ok(answer) => (answer.result, answer.r#type.unwrap_or_default()),
        Err(ClientError::Failed(failure)) => (format!("error: {failure}"), String::new()),
        Err(error) => panic!("{error}"),
    }
}

/// A type's name without paths and without references: values show what a reference points to.
fn short(name: &str) -> String {
    let mut short = String::new();
    for part in name.split_inclusive(['<', '>', ',', '&', ' ', '[', ';']) {
        short.push_str(part.rsplit("::").next().unwrap_or(part));
    }
    short.replace('&', "")
}

#[test]
fn methods_that_only_compute_are_answered_as_the_program_does() {
    let fixture = Fixture::new("answered.rs");
    let run = Command::new(fixture.program()).output().expect("it runs");
    let written = String::from_utf8(run.stdout).expect("text");
    let session = Session::started(&fixture, json!({}), &["told"]);
    let stop = session.stopped_at(&fixture, "told", StoppedEventReason::Breakpoint);
    let mut wrong = Vec::new();
    let mut compared = 0;
    for line in written.lines() {
        let [expression, value, type_name] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        if expression == "called" {
            continue;
        }
        compared += 1;
        let (answer, of) = hovered(&session, stop.top.id, expression);
        let is_slice = of.starts_with("[u8; ") && type_name == "&[u8]";
        let is_same = is_slice || short(&of) == short(type_name);
        if answer != value || !is_same {
            wrong.push(format!(
                "{expression}: {answer} ({of}), compiled {value} ({type_name})"
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(compared > 150, "{compared}");
    session.disconnect();
}

#[test]
fn what_would_panic_or_is_of_another_type_is_an_error() {
    let fixture = Fixture::new("answered.rs");
    let session = Session::started(&fixture, json!({}), &["told"]);
    let stop = session.stopped_at(&fixture, "told", StoppedEventReason::Breakpoint);
    for (expression, expected) in [
        ("tiny.abs()", "overflow"),
        ("byte.pow(2)", "overflow"),
        ("whole.rem_euclid(zero)", "division by zero"),
        ("whole.wrapping_div(0)", "division by zero"),
        ("zero.ilog2()", "logarithm"),
        ("byte.wrapping_add(300)", "`300` does not fit a `u8`"),
        (
            "byte.wrapping_add(by)",
            "`by` is a `u32`, and a `u8` is taken",
        ),
        ("byte.clamp(5, 4)", "the first bound is above the second"),
        ("text.find(7)", "`7` is neither a text nor a character"),
        ("none.unwrap()", "`none` is `None`"),
        (
            "whole.checked_sub(41).unwrap()",
            "`whole.checked_sub(41)` is `None`",
        ),
        ("numbers.trim()", "functions can't be called here"),
        ("text.wrapping_add(1)", "functions can't be called here"),
        // A method of the program itself, which would have to be called.
        ("own.trim()", "functions can't be called here"),
    ] {
        let (answer, _) = hovered(&session, stop.top.id, expression);
        assert!(
            answer.starts_with("error: ") && answer.contains(expected),
            "{expression}: {answer}"
        );
    }
    for (expression, expected) in [
        ("own.trim()", "9"),
        ("own.wrapping_add(1)", "1010"),
        ("boxed_own.trim()", "8"),
    ] {
        assert_eq!(
            session.evaluate(&stop.top, expression),
            expected,
            "{expression}"
        );
    }
    session.disconnect();
}

#[test]
fn conditions_use_them() {
    let fixture = Fixture::new("answered.rs");
    let condition = "word.trim_end().ends_with('c') && count.wrapping_sub(4) > 1000";
    let each = SourceBreakpoint::new(fixture.line("each")).with_condition(condition);
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let breakpoints = SetBreakpointsArguments::new(Source::new().with_path(fixture.path()));
    session.ok::<SetBreakpointsRequest>(breakpoints.with_breakpoints(vec![each]));
    session.configured();
    let stop = session.stopped_at(&fixture, "each", StoppedEventReason::Breakpoint);
    assert_eq!(session.evaluate(&stop.top, "word"), "\"xyc\"");
    session.disconnect();
}
