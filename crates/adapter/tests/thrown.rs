//! The value that a stop is about: the expression in `exceptionInfo` can be evaluated in any frame.

use crate::support::{Fixture, Session, named};
use dapple_dap::types::*;
use serde_json::json;

fn started(fixture: &Fixture, args: &[&str], filters: &[&str]) -> Session {
    let session = Session::new();
    session.launch(fixture, json!({"args": args}));
    let filters = filters.iter().map(|id| (*id).to_owned()).collect();
    let arguments = SetExceptionBreakpointsArguments::new(filters);
    session.ok::<SetExceptionBreakpointsRequest>(arguments);
    session.configured();
    session
}

fn details(session: &Session, thread: i64) -> ExceptionDetails {
    let arguments = ExceptionInfoArguments::new(thread);
    let info = session.ok::<ExceptionInfoRequest>(arguments);
    info.details.expect("details")
}

/// Waits for the stop. Evaluates its expression in each frame of the stack, and checks that the values are the same.
fn value(session: &Session) -> (i64, ExceptionDetails, EvaluateResponse) {
    let thread = session.stopped(StoppedEventReason::Exception).thread;
    let details = details(session, thread);
    let name = details.evaluate_name.clone().expect("an expression");
    let mut found: Option<EvaluateResponse> = None;
    let stack = session.stack(thread);
    for frame in stack.iter().take(3).chain(stack.last()) {
        let arguments = EvaluateArguments::new(name.clone()).with_frame_id(frame.id);
        let here = session.ok::<EvaluateRequest>(arguments);
        match &found {
            Some(first) => assert_eq!((&first.result, &first.r#type), (&here.result, &here.r#type)),
            None => found = Some(here),
        }
    }
    (thread, details, found.expect("a frame"))
}

fn children(session: &Session, value: &EvaluateResponse) -> Vec<Variable> {
    let arguments = VariablesArguments::new(value.variables_reference);
    session.ok::<VariablesRequest>(arguments).variables
}

#[test]
fn an_object_that_is_thrown_has_its_fields() {
    let fixture = Fixture::new("throws.cpp");
    // At the throw, and where the runtime terminates the program.
    for (args, filters) in [
        (&["own"][..], &["cpp_throw"][..]),
        (&["own"], &["cpp_catch"]),
        (&["x", "y"], &["cpp_uncaught"]),
    ] {
        let session = started(&fixture, args, filters);
        let (thread, _, value) = value(&session);
        assert_eq!(value.r#type.as_deref(), Some("my::Error"), "{filters:?}");
        let fields = children(&session, &value);
        let text = named(&fields, "text");
        assert_eq!(text.value, "\"it is my own\"", "{fields:?}");
        // A field's own expression evaluates to the field.
        let frame = &session.stack(thread)[1];
        let again = text.evaluate_name.as_deref().expect("an expression");
        assert_eq!(session.evaluate(frame, again), "\"it is my own\"");
        assert_eq!(session.evaluate(frame, "$exception.number + 1"), "2");
        session.disconnect();
    }
}

#[test]
fn standard_exceptions_say_what_they_are_about_and_so_do_their_causes() {
    let fixture = Fixture::new("throws.cpp");
    let session = started(&fixture, &["out_of_range"], &["cpp_throw"]);
    let (thread, details, out) = value(&session);
    assert!(
        out.result.starts_with("\"vector::_M_range_check"),
        "{out:?}"
    );
    assert_eq!(details.inner_exception, None);
    session.resume(thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();

    let session = started(&fixture, &["nested"], &["cpp_catch"]);
    let thread = session.stopped(StoppedEventReason::Exception).thread;
    session.resume(thread);
    let (thread, details, _) = value(&session);
    let inner = details.inner_exception.expect("the cause");
    let name = inner[0].evaluate_name.as_deref().expect("an expression");
    let frame = &session.stack(thread)[0];
    assert_eq!(session.evaluate(frame, name), "\"the cause\"");
    session.disconnect();
}

#[test]
fn numbers_and_texts_are_thrown_as_they_are() {
    let fixture = Fixture::new("throws.cpp");
    let session = started(&fixture, &["numbers"], &["cpp_throw"]);
    let (thread, _, number) = value(&session);
    assert_eq!(number.result, "42");
    assert_eq!(number.r#type.as_deref(), Some("int"));
    session.resume(thread);
    let (thread, _, text) = value(&session);
    assert!(text.result.ends_with("\"a text\""), "{text:?}");
    session.resume(thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn a_panics_payload_is_what_the_program_gave_it() {
    let fixture = Fixture::new("panics.rs");
    for (what, type_name, expected) in [
        ("literal", "&str", "\"just so\""),
        (
            "unwrap",
            "String",
            "\"called `Result::unwrap()` on an `Err` value: ",
        ),
        ("string", "String", "\"a string of its own\""),
        ("any", "i32", "7"),
    ] {
        let session = started(&fixture, &["plain", what], &["rust_panic"]);
        let (thread, _, value) = value(&session);
        assert!(value.result.starts_with(expected), "{what}: {value:?}");
        assert_eq!(value.r#type.as_deref(), Some(type_name), "{what}");
        session.resume(thread);
        assert_eq!(session.exit_code(), 101);
        session.disconnect();
    }
}

#[test]
fn a_fault_has_its_address_and_other_stops_have_nothing() {
    let fixture = Fixture::new("faults.c");
    let session = Session::new();
    session.launch(
        &fixture,
        json!({"args": ["write_field"], "stopOnEntry": true}),
    );
    session.configured();
    let stopped = session.stopped(StoppedEventReason::Entry);
    let frame = &session.stack(stopped.thread)[0];
    let arguments = EvaluateArguments::new("$exception").with_frame_id(frame.id);
    let refused = session.refused::<EvaluateRequest>(arguments);
    assert!(
        refused.to_string().contains("there is no `$exception`"),
        "{refused}"
    );
    session.resume(stopped.thread);
    let (_, _, address) = value(&session);
    assert_eq!(address.result, "0x10");
    session.disconnect();

    // A signal that was sent has no fault address.
    let session = Session::new();
    session.launch(&fixture, json!({"args": ["abort"]}));
    session.configured();
    let thread = session.stopped(StoppedEventReason::Exception).thread;
    assert_eq!(details(&session, thread).evaluate_name, None);
    session.disconnect();
}
