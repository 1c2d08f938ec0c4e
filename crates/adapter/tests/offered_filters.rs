//! Exception filters that are offered to the client once the program's languages are known.

use crate::support::fixture::{Linking, Optimization};
use crate::support::running::Running;
use crate::support::{Fixture, Session};
use dapple_dap::types::*;
use serde_json::json;

const CPP: [&str; 3] = ["cpp_throw", "cpp_catch", "cpp_uncaught"];
const RUST: [&str; 4] = [
    "rust_panic",
    "rust_uncaught",
    "async_cancelled",
    "async_dropped",
];
const SIGNALS: [&str; 2] = ["faults", "signals"];

/// The filters in the next `capabilities` event, which must have no other capability.
fn offered(session: &Session) -> Vec<String> {
    let mut said = session.wait_for::<CapabilitiesEvent>().capabilities;
    let filters = said.exception_breakpoint_filters.take();
    assert_eq!(said, Capabilities::new());
    let filters = filters.expect("filters").into_iter();
    filters.map(|filter| filter.filter).collect()
}

/// The number of `capabilities` events that no test has taken yet.
fn events(session: &Session) -> usize {
    let events = session.untaken_events();
    let about = events.iter().filter(|event| event.event == "capabilities");
    about.count()
}

fn ran(fixture: &Fixture, args: &[&str]) -> Session {
    let session = Session::new();
    session.launch(fixture, json!({"args": args}));
    session.configured();
    session
}

#[test]
fn only_filters_of_the_programs_own_languages_are_offered_once_it_runs() {
    let (full, none) = (Optimization::Full, Optimization::None);
    let thread = Fixture::compiled_with(
        "gcc",
        "sanitized.c",
        &["-g", "-pthread", "-fsanitize=thread"],
    );
    let c = &SIGNALS[..];
    let cpp = &[&CPP[..], &SIGNALS].concat();
    let rust = &[&RUST[..], &SIGNALS].concat();
    let address = Fixture::compiled_with(
        "gcc",
        "sanitized.c",
        &["-g", "-pthread", "-fsanitize=address"],
    );
    let sanitized = &[&["sanitizers"][..], &SIGNALS].concat();
    for (fixture, expected) in [
        (Fixture::new("exit.c"), c),
        (Fixture::built("exit.c", none, Linking::Static), c),
        (Fixture::new("throws.cpp"), cpp),
        (Fixture::built("throws.cpp", full, Linking::Static), cpp),
        (Fixture::new("panics.rs"), rust),
        (Fixture::built("panics.rs", full, Linking::Static), rust),
        (thread, sanitized),
        (address, sanitized),
    ] {
        let session = ran(&fixture, &[]);
        assert_eq!(offered(&session), expected, "{}", fixture.program());
        while session.ends_or_stops() {
            session.resume(session.stopped(StoppedEventReason::Exception).thread);
        }
        session.exit_code();
        assert_eq!(events(&session), 0, "{}", fixture.program());
        session.disconnect();
    }
}

#[test]
fn a_language_that_comes_with_a_library_is_offered_from_then_on() {
    let host = Fixture::new("host.c");
    let flags = ["-g", "-shared", "-fPIC"];
    let (c, cpp) = (
        Fixture::library("plugin.c"),
        Fixture::compiled_with("g++", "plugin.cpp", &flags),
    );
    let session = ran(&host, &[&c.program()]);
    assert_eq!(offered(&session), SIGNALS);
    assert_eq!(session.exit_code(), 42);
    assert_eq!(events(&session), 0, "the library brings nothing");
    session.disconnect();

    let session = Session::new();
    session.launch(&host, json!({"args": [cpp.program()]}));
    session.set_breakpoints(&host, &["used"]);
    session.configured();
    assert_eq!(offered(&session), SIGNALS);
    assert_eq!(offered(&session), [&CPP[..], &SIGNALS].concat());
    let stop = session.stopped_at(&host, "used", StoppedEventReason::Breakpoint);
    session.resume(stop.thread);
    // The library was unloaded and is loaded again.
    let stop = session.stopped_at(&host, "used", StoppedEventReason::Breakpoint);
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 2);
    assert_eq!(events(&session), 0);
    session.disconnect();
}

#[test]
fn a_filter_that_is_not_offered_is_set_all_the_same_and_what_was_chosen_stays() {
    let host = Fixture::new("host.c");
    let cpp = Fixture::compiled_with("g++", "plugin.cpp", &["-g", "-shared", "-fPIC"]);
    for said_again in [None, Some(&["cpp_throw", "rust_panic"][..]), Some(&[])] {
        let session = Session::new();
        session.launch(&host, json!({"args": [cpp.program()], "stopAtEntry": true}));
        let set = |filters: &[&str]| {
            let filters = filters.iter().map(|filter| (*filter).to_owned()).collect();
            let arguments = SetExceptionBreakpointsArguments::new(filters);
            let answer = session.ok::<SetExceptionBreakpointsRequest>(arguments);
            answer.breakpoints.expect("answers")
        };
        set(&["cpp_throw"]);
        session.configured();
        assert_eq!(offered(&session), SIGNALS);
        let stop = session.stopped(StoppedEventReason::Entry);
        // After the event, one client sends nothing, another sends its filters again, and a third sends the offered filters that are on by
        // default.
        for answer in said_again.map(set).unwrap_or_default() {
            assert!(answer.verified, "{answer:?}");
        }
        session.resume(stop.thread);
        let stop = session.stopped(StoppedEventReason::Exception);
        let text = stop.event.text.unwrap_or_default();
        assert!(text.starts_with("std::out_of_range: too loud"), "{text}");
        session.disconnect();
    }
}

#[test]
fn of_a_process_that_runs_already_it_is_known_at_once_and_a_restart_says_nothing_new() {
    let fixture = Fixture::new("server.c");
    let running = Running::start(&fixture.binary, &[]);
    let session = Session::new();
    let arguments = serde_json::from_value(json!({"pid": running.pid()}));
    session.ok::<AttachRequest>(arguments.expect("arguments"));
    assert_eq!(offered(&session), SIGNALS);
    session.disconnect();

    let fixture = Fixture::new("throws.cpp");
    let session = Session::started(&fixture, json!({}), &["run"]);
    assert_eq!(offered(&session), [&CPP[..], &SIGNALS].concat());
    session.stopped_at(&fixture, "run", StoppedEventReason::Breakpoint);
    session.ok::<RestartRequest>(Default::default());
    session.stopped_at(&fixture, "run", StoppedEventReason::Breakpoint);
    assert_eq!(events(&session), 0);
    session.disconnect();
}
