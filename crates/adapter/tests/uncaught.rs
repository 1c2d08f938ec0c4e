//! Uncaught C++ exceptions with the default filters: each way in which the runtime terminates the program, and the effect on the program's
//! other throws.

use crate::support::fixture::{Linking, Optimization};
use crate::support::{Fixture, Session, file_of};
use dapple_dap::types::*;
use serde_json::json;

/// The thread and text of a stop, and the mark of the innermost stack frame in the program's own source.
fn stopped(session: &Session, fixture: &Fixture) -> (i64, String, String) {
    let stop = session.stopped(StoppedEventReason::Exception);
    let stack = session.stack(stop.thread);
    let own = stack
        .iter()
        .find(|frame| file_of(frame) == Some(fixture.path()));
    let mark = own.map_or_else(String::new, |frame| fixture.mark_of(frame.line));
    (stop.thread, stop.event.text.unwrap_or_default(), mark)
}

fn launched(fixture: &Fixture, args: &[&str]) -> Session {
    let session = Session::new();
    session.launch(fixture, json!({"args": args}));
    session.configured();
    session
}

#[test]
fn each_way_of_the_runtime_to_give_up_is_told_where_the_stack_still_is() {
    let ways: [(Optimization, Linking); 3] = [
        (Optimization::None, Linking::Pie),
        (Optimization::Full, Linking::Fixed),
        (Optimization::None, Linking::Static),
    ];
    let cases = [
        (
            "plain",
            "std::runtime_error: too far (thrown, nothing catches it)",
            "thrower",
            "",
        ),
        (
            "straight",
            "std::runtime_error: too far (thrown, ",
            "thrower",
            "",
        ),
        (
            "destructor",
            "std::logic_error: in a destructor (thrown, ",
            "destructor",
            "",
        ),
        (
            "again",
            "std::runtime_error: too far (rethrown, nothing catches it)",
            "again",
            "",
        ),
        ("own", "Refused (thrown, nothing catches it)", "own", ""),
        (
            "thread",
            "std::runtime_error: too far (thrown, nothing catches it)",
            "thrower",
            "",
        ),
        (
            "cleaned",
            "std::runtime_error: too far (thrown, ",
            "}",
            "cleaned\n",
        ),
    ];
    for (optimization, linking) in ways {
        let fixture = Fixture::built("uncaught.cpp", optimization, linking);
        for (how, begins, place, written) in cases {
            let session = launched(&fixture, &[how]);
            let (thread, text, mark) = stopped(&session, &fixture);
            assert!(text.starts_with(begins), "{how} {linking:?}: {text}");
            assert_eq!(
                text.contains(" is noexcept"),
                ["straight", "cleaned", "destructor"].contains(&how),
                "{text}"
            );
            // With optimization, the throw may be inlined into another function, at another line.
            if optimization == Optimization::None {
                assert_eq!(mark, place, "{how} {linking:?}");
            }
            let info = session.ok::<ExceptionInfoRequest>(ExceptionInfoArguments::new(thread));
            assert_eq!(info.break_mode, ExceptionBreakMode::Unhandled);
            session.resume(thread);
            let (thread, text, _) = stopped(&session, &fixture);
            assert!(
                text.starts_with("SIGABRT"),
                "told once: {how} {linking:?}: {text}"
            );
            session.resume(thread);
            assert_eq!(session.exit_code(), 134, "{how} {linking:?}");
            let output = session.output(OutputEventCategory::Stdout);
            assert_eq!(output, format!("caught 10\n{written}"), "{how} {linking:?}");
            session.disconnect();
        }
    }
}

// VS Code shows an exception at the first frame whose source isn't deemphasized, and requests its details only then.
#[test]
fn the_first_frame_with_a_source_that_is_not_set_back_is_the_users() {
    let fixture = Fixture::new("uncaught.cpp");
    let session = launched(&fixture, &["plain"]);
    let (thread, ..) = stopped(&session, &fixture);
    let frames = session.stack(thread);
    let set_back = |frame: &&StackFrame| {
        let source = frame.source.as_ref();
        source.is_some_and(|source| {
            source.presentation_hint == Some(SourcePresentationHint::Deemphasize)
        })
    };
    assert!(
        frames.iter().any(|frame| {
            set_back(&frame)
                && frame
                    .source
                    .as_ref()
                    .is_some_and(|source| source.path.is_none())
        }),
        "{frames:#?}"
    );
    let shown = frames
        .iter()
        .find(|frame| frame.source.is_some() && !set_back(frame));
    let path = shown.and_then(|frame| frame.source.as_ref()?.path.clone());
    assert_eq!(path, Some(fixture.path()), "{frames:#?}");
    session.disconnect();
}

#[test]
fn what_destructors_have_run_for_says_that_its_functions_are_left() {
    let fixture = Fixture::new("uncaught.cpp");
    let session = launched(&fixture, &["cleaned"]);
    let (_, text, _) = stopped(&session, &fixture);
    assert!(
        text.contains("cleaned is noexcept; it has left the functions above"),
        "{text}"
    );
    session.disconnect();

    // If throws stop, too, this is known at the throw, and reported once.
    let session = Session::new();
    session.launch(&fixture, json!({"args": ["cleaned", "0"]}));
    let filters = vec![
        "cpp_throw".to_owned(),
        "cpp_uncaught".to_owned(),
        "faults".to_owned(),
    ];
    session.ok::<SetExceptionBreakpointsRequest>(SetExceptionBreakpointsArguments::new(filters));
    session.configured();
    let (thread, text, mark) = stopped(&session, &fixture);
    assert_eq!(
        (text.as_str(), mark.as_str()),
        (
            "std::runtime_error: too far (thrown, cleaned is noexcept)",
            "thrower"
        )
    );
    session.resume(thread);
    let (thread, text, _) = stopped(&session, &fixture);
    assert!(text.starts_with("SIGABRT"), "{text}");
    session.resume(thread);
    assert_eq!(session.exit_code(), 134);
    session.disconnect();
}

#[test]
fn a_terminate_handler_of_the_programs_runs_after_the_stop() {
    let fixture = Fixture::new("uncaught.cpp");
    let session = launched(&fixture, &["handler"]);
    let (thread, text, mark) = stopped(&session, &fixture);
    assert!(text.contains("nothing catches it"), "{text}");
    assert_eq!(mark, "thrower");
    session.resume(thread);
    assert_eq!(session.exit_code(), 9);
    assert_eq!(
        session.output(OutputEventCategory::Stdout),
        "caught 10\nhandled\n"
    );
    session.disconnect();
}

#[test]
fn an_end_without_an_exception_is_no_exception() {
    let fixture = Fixture::new("uncaught.cpp");
    for (how, place) in [
        ("nothing", "nothing"),
        ("terminate", "terminate"),
        ("joinable", ""),
    ] {
        let session = launched(&fixture, &[how]);
        let (thread, text, mark) = stopped(&session, &fixture);
        assert!(text.starts_with("SIGABRT"), "{how}: {text}");
        assert!(place.is_empty() || mark == place, "{how}: {mark}");
        session.resume(thread);
        assert_eq!(session.exit_code(), 134, "{how}");
        session.disconnect();
    }
}

#[test]
fn conditions_of_the_filter_choose_types_and_look_at_who_throws() {
    let fixture = Fixture::new("uncaught.cpp");
    for (how, condition, stops) in [
        ("plain", "std::runtime_error", true),
        ("plain", "std::logic_error", false),
        ("own", "Refused if argc == 2", true),
        ("own", "Refused if argc == 3", false),
    ] {
        let session = Session::new();
        session.launch(&fixture, json!({"args": [how]}));
        let option = ExceptionFilterOptions::new("cpp_uncaught").with_condition(condition);
        let arguments =
            SetExceptionBreakpointsArguments::new(Vec::new()).with_filter_options(vec![option]);
        session.ok::<SetExceptionBreakpointsRequest>(arguments);
        session.configured();
        let (mut thread, text, _) = stopped(&session, &fixture);
        assert_eq!(
            !text.starts_with("SIGABRT"),
            stops,
            "{how} {condition}: {text}"
        );
        if stops {
            session.resume(thread);
            (thread, _, _) = stopped(&session, &fixture);
        }
        session.resume(thread);
        assert_eq!(session.exit_code(), 134);
        session.disconnect();
    }
}
