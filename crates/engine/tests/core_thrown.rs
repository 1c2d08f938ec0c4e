//! The exception that ended a process: the same while the process lives, and in its core file.

use crate::support::{Fixture, fixture, listing};
use dapple_engine::Session;
use dapple_engine::event::StopReason;

/// Runs to the abort. Returns the stop's description and the exception's value, and checks that a core file has the same.
fn abort(fixture: &Fixture, arguments: &[&str]) -> (String, String) {
    let mut debuggee = fixture.launch_with(arguments);
    debuggee.resume();
    let stop = debuggee.expect_stop()[0].clone();
    let StopReason::Signal { description, .. } = &stop.reason else {
        panic!("{arguments:?}: {stop:?}");
    };
    let live = debuggee.session();
    let core = listing::core_of(live);
    let (remains, told) = listing::post_mortem(&core, None);
    let told = told.iter().any(|event| match event {
        dapple_engine::Event::Stopped(stops) => {
            stops[0].reason == stop.reason && stops[0].thread == stop.thread
        }
        _ => false,
    });
    assert!(told, "{arguments:?}: it is told otherwise of the core file");
    let exception = |session: &Session| session.exception(stop.thread).expect("asked");
    let without_stack = |session: &Session| {
        // Paths in the core file have their symbolic links resolved, so the stack traces differ.
        let mut exception = exception(session).expect("an exception");
        exception.stack_trace = None;
        exception
    };
    assert_eq!(
        without_stack(&remains),
        without_stack(live),
        "{arguments:?}"
    );
    let shown = exception(live).expect("an exception");
    assert_eq!(shown.id, "SIGABRT");
    assert_eq!(&shown.description, description);
    let mut values = String::new();
    if let Some(expression) = shown.expression {
        let value = |session: &Session| {
            let frame = listing::innermost(session, stop.thread);
            listing::value(session, frame, &expression, 3)
        };
        values = value(live);
        assert_eq!(values, value(&remains), "{arguments:?}");
    }
    let description = description.strip_prefix("SIGABRT: the program aborts");
    (description.expect("an abort").to_owned(), values)
}

#[test]
fn an_exception_that_nothing_catches_is_there_when_the_program_aborts_and_afterwards() {
    let far = ": std::runtime_error: too far (thrown, ";
    for flags in [&[][..], &["-O1"], &["-static"]] {
        let fixture = fixture("uncaught.cpp", flags);
        for (argument, expected, value) in [
            (
                "plain",
                &*format!("{far}nothing catches it)"),
                "\"too far\"",
            ),
            (
                "straight",
                &*format!("{far}straight is noexcept)"),
                "\"too far\"",
            ),
            (
                "own",
                ": Refused (thrown, nothing catches it)",
                "\"no reason\"",
            ),
            (
                "again",
                ": std::runtime_error: too far (rethrown, nothing catches it)",
                "\"too far\"",
            ),
            ("nothing", ": std::terminate was called", ""),
            ("joinable", ": std::terminate was called", ""),
        ] {
            let (said, values) = abort(&fixture, &[argument]);
            // An inlined function has no frame of its own.
            let said = said.replace("main, or what is inlined there, is", "straight is");
            assert_eq!(said, expected, "{argument} {flags:?}");
            assert!(values.contains(value), "{argument} {flags:?}: {values}");
            assert_eq!(values.is_empty(), value.is_empty(), "{argument}: {values}");
        }
    }
}

#[test]
fn a_panic_that_aborts_is_there_with_its_place_and_payload() {
    for flags in [&["-Cpanic=abort"][..], &["-Cpanic=abort", "-O"]] {
        let fixture = fixture("panics.rs", flags);
        for (what, mark, expected, value) in [
            ("literal", "literal", "just so", "\"just so\""),
            ("formatted", "formatted", "because of \"formatted\"", ""),
            (
                "string",
                "string",
                "a string of its own",
                "\"a string of its own\"",
            ),
            (
                "unwrap",
                "unwrap",
                "called `Result::unwrap()` on an `Err` value: ParseIntError { kind: InvalidDigit }",
                "\"called `Result::unwrap()` on an `Err` value: ",
            ),
        ] {
            let (said, values) = abort(&fixture, &["plain", what]);
            let line = fixture.line(mark);
            let source = fixture.source.display();
            let begins = format!(": {expected}\npanicked at {source}:{line}:");
            assert!(said.starts_with(&begins), "{what} {flags:?}: {said}");
            assert!(values.contains(value), "{what} {flags:?}: {values}");
        }
    }
}
