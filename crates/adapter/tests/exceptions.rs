//! Exceptions and panics in whole sessions: where they stop, how they are described, and that the program goes on undisturbed.

use crate::support::fixture::{Linking, Optimization};
use crate::support::{Fixture, Session, Stopped, file_of};
use dapple_dap::types::*;
use serde_json::json;

type Filters<'a> = &'a [(&'a str, Option<&'a str>)];

fn set_filters(session: &Session, filters: Filters<'_>) {
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
    let answers = answer.breakpoints.expect("one answer for each filter");
    assert!(answers.iter().all(|answer| answer.verified), "{answers:?}");
}

fn started(fixture: &Fixture, args: &[&str], filters: Filters<'_>) -> Session {
    let session = Session::new();
    session.launch(fixture, json!({"args": args}));
    set_filters(&session, filters);
    session.configured();
    session
}

/// Waits for an exception's stop. Returns its text, and the mark of the innermost stack frame in the program's own source.
fn stop(session: &Session, fixture: &Fixture) -> (Stopped, String, String) {
    let stop = session.stopped(StoppedEventReason::Exception);
    let text = stop.event.text.clone().expect("what happened");
    let stack = session.stack(stop.thread);
    let own = stack
        .iter()
        .find(|frame| file_of(frame) == Some(fixture.path()));
    let mark = own.map_or_else(String::new, |frame| fixture.mark_of(frame.line));
    (stop, text, mark)
}

fn info(session: &Session, thread: i64) -> ExceptionInfoResponse {
    session.ok::<ExceptionInfoRequest>(ExceptionInfoArguments::new(thread))
}

#[test]
fn what_nothing_catches_stops_where_it_is_thrown_in_every_way_of_linking() {
    for (optimization, linking) in [
        (Optimization::None, Linking::Pie),
        (Optimization::Full, Linking::Fixed),
        (Optimization::None, Linking::Static),
    ] {
        let fixture = Fixture::built("throws.cpp", optimization, linking);
        // The filter is on by default.
        let session = Session::new();
        session.launch(&fixture, json!({"args": ["x", "y"]}));
        session.configured();
        let (stopped, text, mark) = stop(&session, &fixture);
        assert_eq!(
            text, "my::Error: it is my own (thrown, nothing catches it)",
            "{linking:?}"
        );
        assert_eq!(mark, "own", "{linking:?}");
        let info = info(&session, stopped.thread);
        assert_eq!(info.exception_id, "my::Error");
        assert_eq!(info.break_mode, ExceptionBreakMode::Unhandled);
        let details = info.details.expect("details");
        assert_eq!(details.message.as_deref(), Some("it is my own"));
        assert_eq!(details.type_name.as_deref(), Some("Error"));
        assert_eq!(details.full_type_name.as_deref(), Some("my::Error"));
        let stack = details.stack_trace.expect("a stack");
        assert!(stack.contains("own") && stack.contains("main"), "{stack}");
        session.resume(stopped.thread);
        // No destructor has run, because nothing catches the exception and the library doesn't unwind the stack.
        let (stopped, text, _) = stop(&session, &fixture);
        assert_eq!(
            text,
            "SIGABRT: the program aborts: my::Error: it is my own (thrown, nothing catches it)"
        );
        session.resume(stopped.thread);
        assert_eq!(session.exit_code(), 134);
        assert_eq!(session.output(OutputEventCategory::Stdout), "");
        session.disconnect();
    }
}

#[test]
fn what_is_caught_passes_unseen_until_throws_are_asked_for() {
    let fixture = Fixture::new("throws.cpp");
    for what in [
        "out_of_range",
        "own",
        "again",
        "nested",
        "carried",
        "numbers",
    ] {
        let session = started(&fixture, &[what], &[("cpp_uncaught", None)]);
        assert_eq!(session.exit_code(), 0, "{what}");
        session.disconnect();
    }
    let cases: &[(&str, &[(&str, &str)])] = &[
        (
            "out_of_range",
            &[(
                "std::out_of_range: vector::_M_range_check: __n (which is 7) >= this->size() (which is 3) (thrown, main catches it)",
                "at",
            )],
        ),
        (
            "own",
            &[("my::Error: it is my own (thrown, main catches it)", "own")],
        ),
        (
            "again",
            &[
                ("my::Refused: refused (thrown, again catches it)", "first"),
                ("my::Refused: refused (rethrown, main catches it)", "again"),
            ],
        ),
        (
            "carried",
            &[
                (
                    "std::invalid_argument: carried (thrown, carried catches it)",
                    "throw std::invalid_argument(\"carried\");",
                ),
                (
                    "std::invalid_argument: carried (rethrown, main catches it)",
                    "carried",
                ),
            ],
        ),
        (
            "numbers",
            &[
                ("int: 42 (thrown, numbers catches it)", "number"),
                ("char const*: a text (thrown, numbers catches it)", "text"),
            ],
        ),
    ];
    for (what, stops) in cases {
        let session = started(&fixture, &[what], &[("cpp_throw", None)]);
        for (expected, place) in *stops {
            let (stopped, text, mark) = stop(&session, &fixture);
            let text = text.replace("()", "");
            assert_eq!(
                (text.as_str(), mark.as_str()),
                (expected.replace("()", "").as_str(), *place),
                "{what}"
            );
            assert_eq!(
                info(&session, stopped.thread).break_mode,
                ExceptionBreakMode::Always
            );
            session.resume(stopped.thread);
        }
        assert_eq!(session.exit_code(), 0, "{what}");
        session.disconnect();
    }
}

#[test]
fn a_noexcept_function_and_a_threads_end_are_where_nothing_catches() {
    let fixture = Fixture::new("throws.cpp");
    for (what, part) in [("quiet", "quiet"), ("thread", "nothing catches it")] {
        let filters = [("cpp_throw", None), ("cpp_uncaught", None)];
        let session = started(&fixture, &[what], &filters);
        let (stopped, text, mark) = stop(&session, &fixture);
        assert!(
            text.starts_with("my::Error: it is my own (thrown, "),
            "{what}: {text}"
        );
        assert!(text.contains(part), "{what}: {text}");
        assert_eq!(mark, "own", "{what}");
        session.resume(stopped.thread);
        // The signal ends the program, so SIGABRT stops it although the filter for faults is off.
        let (stopped, text, _) = stop(&session, &fixture);
        assert!(text.starts_with("SIGABRT: "), "{what}: {text}");
        session.resume(stopped.thread);
        assert_eq!(session.exit_code(), 134, "{what}");
        session.disconnect();
    }
}

#[test]
fn a_catch_is_shown_where_it_is_and_nested_causes_are_told() {
    let fixture = Fixture::new("throws.cpp");
    let session = started(
        &fixture,
        &["nested"],
        &[("cpp_catch", Some("std::logic_error"))],
    );
    let (stopped, text, _) = stop(&session, &fixture);
    assert!(text.contains("the effect (caught)"), "{text}");
    let details = info(&session, stopped.thread).details.expect("details");
    let inner = details.inner_exception.expect("the cause");
    assert_eq!(inner.len(), 1);
    assert_eq!(
        inner[0].full_type_name.as_deref(),
        Some("std::runtime_error")
    );
    assert_eq!(inner[0].message.as_deref(), Some("the cause"));
    session.resume(stopped.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn conditions_choose_types_their_bases_and_leave_some_out() {
    let fixture = Fixture::new("throws.cpp");
    for (condition, stops) in [
        ("std::exception", true),
        ("out_of_range", true),
        ("std::*", true),
        ("std::runtime_error", false),
        ("range", false),
        ("!std::logic_error", false),
        ("std::runtime_error, out_of_*", true),
    ] {
        let session = started(
            &fixture,
            &["out_of_range"],
            &[("cpp_throw", Some(condition))],
        );
        if stops {
            let (stopped, _, mark) = stop(&session, &fixture);
            assert_eq!(mark, "at", "{condition}");
            session.resume(stopped.thread);
        }
        assert_eq!(session.exit_code(), 0, "{condition}");
        session.disconnect();
    }
}

#[test]
fn a_step_that_meets_a_throw_stops_there_if_that_was_asked_for_and_else_where_it_is_caught() {
    let fixture = Fixture::new("throws.cpp");
    let session = Session::new();
    session.launch(&fixture, json!({"args": ["own"]}));
    session.set_breakpoints(&fixture, &["run"]);
    set_filters(&session, &[("cpp_throw", None)]);
    session.configured();
    let stopped = session.stopped_at(&fixture, "run", StoppedEventReason::Breakpoint);
    session.ok::<NextRequest>(NextArguments::new(stopped.thread));
    let (stopped, text, mark) = stop(&session, &fixture);
    assert!(text.starts_with("my::Error"), "{text}");
    assert_eq!(mark, "own");
    set_filters(&session, &[]);
    session.resume(stopped.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();

    let session = Session::new();
    session.launch(&fixture, json!({"args": ["own"]}));
    session.set_breakpoints(&fixture, &["run"]);
    session.configured();
    let stopped = session.stopped_at(&fixture, "run", StoppedEventReason::Breakpoint);
    session.ok::<NextRequest>(NextArguments::new(stopped.thread));
    let after = session.stopped(StoppedEventReason::Step);
    assert!(after.top.line > fixture.line("run"), "{:?}", after.top);
    session.resume(after.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn a_panic_says_what_and_where() {
    let fixture = Fixture::new("panics.rs");
    let cases = [
        (
            "index",
            "index",
            "index out of bounds: the len is 3 but the index is 5",
        ),
        (
            "unwrap",
            "unwrap",
            "called `Result::unwrap()` on an `Err` value: ParseIntError { kind: InvalidDigit }",
        ),
        ("expect", "expect", "a prefix"),
        ("literal", "literal", "just so"),
        ("formatted", "formatted", "because of \"formatted\""),
        ("any", "any", "Box<dyn Any>"),
        ("string", "string", "a string of its own"),
        ("overflow", "overflow", "attempt to add with overflow"),
    ];
    for (what, place, message) in cases {
        // The filter is on by default.
        let session = Session::new();
        session.launch(&fixture, json!({"args": ["plain", what]}));
        session.configured();
        let (stopped, text, mark) = stop(&session, &fixture);
        let line = fixture.line(place);
        let below = text.strip_prefix(message);
        let below = below.and_then(|text| text.strip_prefix("\npanicked"));
        assert!(below.is_some_and(|rest| !rest.contains('\n')), "{text}");
        if what != "any" && what != "string" {
            assert!(text.contains(&format!("panics.rs:{line}:")), "{text}");
        }
        assert_eq!(mark, place, "{what}");
        let info = info(&session, stopped.thread);
        assert_eq!(info.exception_id, "panic");
        assert_eq!(info.break_mode, ExceptionBreakMode::Unhandled, "{what}");
        session.resume(stopped.thread);
        assert_eq!(session.exit_code(), 101, "{what}");
        session.disconnect();
    }
}

// The description that an editor shows in the exception's box, from its first line.
#[test]
fn a_panic_reads_from_its_message_to_the_users_frames_and_links_only_to_files() {
    let fixture = Fixture::new("panics.rs");
    for how in ["caught", "plain"] {
        let session = started(&fixture, &[how, "equal"], &[("rust_panic", None)]);
        let (stopped, text, _) = stop(&session, &fixture);
        let path = fixture.path();
        let line = fixture.line("equal");
        let mut expected = format!(
            "assertion `left == right` failed: of equal\n  left: [1, 2, 3]\n right: [1, 2, 5]\npanicked at {path}:{line}:13"
        );
        if how == "caught" {
            expected += "\npanics::main catches it";
        }
        assert_eq!(text, expected);
        let info = info(&session, stopped.thread);
        assert_eq!(info.description.as_deref(), Some(expected.as_str()));
        let stack = info.details.and_then(|details| details.stack_trace);
        let stack = stack.expect("a stack");
        let lines: Vec<&str> = stack.lines().collect();
        let (last, users) = lines.split_last().expect("lines");
        assert_eq!(users[0], format!("panics::work at {path}:{line}"));
        let own = |line: &&str| {
            let name = line.strip_prefix("{closure in ").unwrap_or(line);
            name.starts_with("panics::") && line.contains(&format!(" at {path}:"))
        };
        assert!(users.iter().all(own), "{stack}");
        let all = session.stack(stopped.thread).len();
        let folded = all - users.len();
        assert_eq!(
            *last,
            format!("{folded} frames of libraries or without a source: see the call stack")
        );
        session.disconnect();
    }
}

// The sources were built in another folder than the one they are in now.
#[test]
fn the_stack_of_a_panic_names_sources_where_they_are() {
    let fixture = Fixture::new("panics.rs");
    let path = fixture.path();
    let folder = std::path::Path::new(&path).parent().expect("a folder");
    for (to, expected) in [
        (json!(null), "panics::work in panics"),
        (json!(folder), &*format!("panics::work at {path}:")),
    ] {
        let session = Session::new();
        session.launch(
            &fixture,
            json!({"args": ["plain", "equal"], "sourceMap": {folder.to_str().expect("plain"): to}}),
        );
        session.configured();
        let stopped = session.stopped(StoppedEventReason::Exception);
        let details = info(&session, stopped.thread).details.expect("details");
        let stack = details.stack_trace.expect("a stack");
        let own = stack.lines().find(|line| line.starts_with("panics::work"));
        assert!(
            own.is_some_and(|line| line.starts_with(expected)),
            "{stack}"
        );
        // The compiler's own names of the library's sources don't exist as files.
        assert!(!stack.contains("/rustc/"), "{stack}");
        session.disconnect();
    }
}

#[test]
fn a_panic_is_told_in_optimised_and_static_programs_and_where_it_aborts() {
    for (optimization, linking) in [
        (Optimization::Full, Linking::Pie),
        (Optimization::None, Linking::Static),
    ] {
        let fixture = Fixture::built("panics.rs", optimization, linking);
        let session = started(&fixture, &["plain", "literal"], &[("rust_panic", None)]);
        let (stopped, text, _) = stop(&session, &fixture);
        let place = format!("panics.rs:{}:", fixture.line("literal"));
        assert!(
            text.contains(&place) && text.starts_with("just so\npanicked at "),
            "{text}"
        );
        session.resume(stopped.thread);
        assert_eq!(session.exit_code(), 101);
        session.disconnect();
    }
}

#[test]
fn a_panic_that_the_program_catches_stops_by_the_one_filter_and_not_by_the_other() {
    let fixture = Fixture::new("panics.rs");
    for (how, catches) in [("caught", true), ("thread", false), ("plain", false)] {
        let code = if how == "plain" { 101 } else { 0 };
        let session = started(&fixture, &[how, "index"], &[("rust_panic", None)]);
        let (stopped, text, mark) = stop(&session, &fixture);
        assert_eq!(mark, "index", "{how}");
        let last = text.lines().last().expect("a line");
        assert_eq!(last == "panics::main catches it", catches, "{how}: {text}");
        session.resume(stopped.thread);
        assert_eq!(session.exit_code(), code, "{how}");
        session.disconnect();

        let session = started(&fixture, &[how, "index"], &[("rust_uncaught", None)]);
        if !catches {
            let (stopped, _, _) = stop(&session, &fixture);
            assert_eq!(
                info(&session, stopped.thread).break_mode,
                ExceptionBreakMode::Unhandled
            );
            session.resume(stopped.thread);
        }
        assert_eq!(session.exit_code(), code, "{how}");
        session.disconnect();
    }
}

#[test]
fn a_step_from_a_panic_leads_to_the_users_code_that_catches_it_or_to_the_programs_end() {
    let fixture = Fixture::new("panics.rs");
    let panicked = |how: &str| {
        let session = Session::new();
        session.launch(&fixture, json!({"args": [how, "equal"]}));
        session.configured();
        let (stopped, _, mark) = stop(&session, &fixture);
        assert_eq!(mark, "equal");
        session.ok::<NextRequest>(NextArguments::new(stopped.thread));
        (session, stopped.thread)
    };
    let (session, thread) = panicked("caught");
    session.stopped_at(&fixture, "caught", StoppedEventReason::Step);
    session.resume(thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
    let (session, _) = panicked("plain");
    assert_eq!(session.exit_code(), 101);
    session.disconnect();
}

#[test]
fn a_panic_while_another_unwinds_and_one_that_is_resumed_are_told() {
    let fixture = Fixture::new("panics.rs");
    let session = started(
        &fixture,
        &["plain", "twice"],
        &[("rust_panic", None), ("faults", None)],
    );
    for (place, message) in [
        ("twice", "the first"),
        ("dropping", "panicked while dropping"),
    ] {
        let (stopped, text, mark) = stop(&session, &fixture);
        let begins = format!("{message}\npanicked at ");
        assert!(text.starts_with(&begins), "{text}");
        assert_eq!(mark, place);
        session.resume(stopped.thread);
    }
    let (stopped, text, _) = stop(&session, &fixture);
    assert!(text.starts_with("SIGABRT: the program aborts"), "{text}");
    session.resume(stopped.thread);
    assert_eq!(session.exit_code(), 134);
    session.disconnect();

    let session = started(&fixture, &["resumed", "literal"], &[("rust_panic", None)]);
    let (stopped, text, _) = stop(&session, &fixture);
    assert!(
        text.starts_with("just so\n") && text.ends_with("\npanics::main catches it"),
        "{text}"
    );
    session.resume(stopped.thread);
    let (stopped, text, mark) = stop(&session, &fixture);
    assert_eq!(text, "just so\npanicked");
    assert_eq!(mark, "resumed");
    session.resume(stopped.thread);
    assert_eq!(session.exit_code(), 101);
    session.disconnect();
}

#[test]
fn conditions_choose_panics_by_what_they_say_and_where() {
    let fixture = Fixture::new("panics.rs");
    for (condition, stops) in [
        ("panics.rs", true),
        ("index out of bounds", true),
        ("*panics.rs:*", true),
        ("main.rs", false),
        ("!out of bounds", false),
        ("overflow", false),
    ] {
        let session = started(
            &fixture,
            &["plain", "index"],
            &[("rust_panic", Some(condition))],
        );
        if stops {
            let (stopped, _, _) = stop(&session, &fixture);
            session.resume(stopped.thread);
        }
        assert_eq!(session.exit_code(), 101, "{condition}");
        session.disconnect();
    }
}

#[test]
fn a_condition_is_looked_at_where_the_program_throws() {
    let fixture = Fixture::new("throws.cpp");
    let fixture_rs = Fixture::new("panics.rs");
    for (condition, stops) in [
        ("if at == 5", true),
        ("if at > 5", false),
        ("out of bounds if at == 5", true),
        ("overflow if at == 5", false),
    ] {
        let session = started(
            &fixture_rs,
            &["plain", "index"],
            &[("rust_panic", Some(condition))],
        );
        if stops {
            let (stopped, _, mark) = stop(&session, &fixture_rs);
            assert_eq!(mark, "index", "{condition}");
            session.resume(stopped.thread);
        }
        assert_eq!(session.exit_code(), 101, "{condition}");
        session.disconnect();
    }
    // If the condition can't be evaluated, the program stops and the text says why.
    let session = started(
        &fixture,
        &["own"],
        &[("cpp_throw", Some("if nowhere == 1"))],
    );
    let (stopped, text, mark) = stop(&session, &fixture);
    assert_eq!(mark, "own");
    assert!(
        text.contains("the condition `nowhere == 1` has no value: "),
        "{text}"
    );
    session.resume(stopped.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn an_exception_at_a_breakpoint_is_told_as_one_with_the_breakpoint() {
    for (source, args, filter) in [
        ("throws.cpp", &["own"][..], "cpp_throw"),
        ("panics.rs", &["plain", "index"], "rust_panic"),
    ] {
        let fixture = Fixture::new(source);
        // Finds the address of the exception's stop with a run without the breakpoint.
        let session = started(&fixture, args, &[(filter, None)]);
        let (alone, told, _) = stop(&session, &fixture);
        assert_eq!(alone.event.hit_breakpoint_ids, None);
        let place = alone.top.instruction_pointer_reference.clone().unwrap();
        session.disconnect();

        let session = Session::new();
        session.launch(&fixture, json!({"args": args}));
        set_filters(&session, &[(filter, None)]);
        let wanted = vec![InstructionBreakpoint::new(place)];
        let arguments = SetInstructionBreakpointsArguments::new(wanted);
        let set = session.ok::<SetInstructionBreakpointsRequest>(arguments);
        let id = set.breakpoints[0].id.expect("an id");
        session.configured();
        let (stopped, text, _) = stop(&session, &fixture);
        assert_eq!(text, told, "{source}");
        assert_eq!(stopped.event.hit_breakpoint_ids, Some(vec![id]), "{source}");
        assert!(!info(&session, stopped.thread).exception_id.is_empty());
        session.disconnect();
    }
}
