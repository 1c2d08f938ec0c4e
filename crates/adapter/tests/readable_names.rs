//! Names of functions as people read them, in stack frames and messages, and the whole names where they are asked for.

use crate::support::{Fixture, Session, Stopped};
use dapple_dap::types::*;
use serde_json::json;

/// The names of a thread's innermost frames, as many as `count`.
fn names(session: &Session, stop: &Stopped, count: i64) -> Vec<String> {
    written(
        session,
        StackTraceArguments::new(stop.thread).with_levels(count),
    )
}

fn written(session: &Session, arguments: StackTraceArguments) -> Vec<String> {
    let frames = session.ok::<StackTraceRequest>(arguments).stack_frames;
    frames.into_iter().map(|frame| frame.name).collect()
}

/// At each stop of the table, checks the names of the innermost frames.
#[track_caller]
fn check(fixture: &Fixture, arguments: serde_json::Value, table: &[(&str, &[&str])]) {
    let marks: Vec<&str> = table.iter().map(|(mark, _)| *mark).collect();
    let mut unique = marks.clone();
    unique.sort_unstable();
    unique.dedup();
    let session = Session::started(fixture, arguments, &unique);
    for (mark, expected) in table {
        let stop = session.stopped_at(fixture, mark, StoppedEventReason::Breakpoint);
        let shown = names(&session, &stop, expected.len() as i64);
        assert_eq!(shown, *expected, "at {mark}");
        session.resume(stop.thread);
    }
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

/// The stops in the Rust fixture, and the names of the innermost frames there.
const RUST: &[(&str, &[&str])] = &[
    (
        "both",
        &["long_names::Holder<u8, u8>::both", "long_names::main"],
    ),
    ("both", &["long_names::Holder<…>::both", "long_names::main"]),
    (
        "name",
        &[
            "<long_names::Holder<A, B> as Named>::name",
            "long_names::main",
        ],
    ),
    (
        "shout",
        &[
            "<long_names::Holder<A, B> as Named>::shout (async)",
            "long_names::run",
        ],
    ),
    (
        "name",
        &[
            "<long_names::Holder<A, B> as Named>::name",
            "<long_names::Holder<A, B> as Named>::shout (async)",
        ],
    ),
    (
        "method",
        &["long_names::Holder<A, B>::later (async)", "long_names::run"],
    ),
    (
        "block",
        &[
            "{async block in long_names::Holder<A, B>::later}",
            "long_names::Holder<A, B>::later (async)",
        ],
    ),
    (
        "async closure",
        &["{async closure in long_names::Holder<A, B>::more}"],
    ),
    (
        "apply",
        &["long_names::apply<{closure in main}>", "long_names::main"],
    ),
    (
        "nested",
        &[
            "{closure in {closure in long_names::main}}",
            "{closure in long_names::main}",
            "long_names::apply<{closure in main}>",
        ],
    ),
    (
        "boxed",
        &[
            "{closure in long_names::main}",
            "core::ops::function::FnOnce::call_once<…>",
        ],
    ),
    (
        "plain",
        &[
            "long_names::plain (async)",
            "long_names::run<plain (async)>",
        ],
    ),
];

#[test]
fn names_of_rusts_functions_are_readable() {
    check(&Fixture::new("long_names.rs"), json!({}), RUST);
}

#[test]
fn names_in_the_new_mangling_are_readable() {
    let flags = ["-g", "--edition=2024", "-Csymbol-mangling-version=v0"];
    let fixture = Fixture::compiled_with("rustc", "long_names.rs", &flags);
    let table: &[(&str, &[&str])] = &[
        (
            "shout",
            &["<long_names::Holder<…> as Named>::shout (async)"],
        ),
        ("block", &["{async block in long_names::Holder<…>::later}"]),
        (
            "async closure",
            &["{async closure in long_names::Holder<…>::more}"],
        ),
        ("nested", &["{closure in {closure in long_names::main}}"]),
        ("plain", &["long_names::plain (async)"]),
    ];
    check(&fixture, json!({}), table);
}

#[test]
fn names_of_cpps_functions_are_readable() {
    let table: &[(&str, &[&str])] = &[
        ("put", &["shop::Index<int, char>::put", "main"]),
        ("put", &["shop::Index<…>::put", "main"]),
        (
            "lambda",
            &[
                "{lambda in {lambda in shop::twice<Order>}}",
                "{lambda in shop::twice<Order>}",
                "shop::twice<Order>",
                "main",
            ],
        ),
        ("lambda", &["{lambda in {lambda in shop::twice<Order>}}"]),
    ];
    check(&Fixture::new("long_names.cpp"), json!({}), table);
}

#[test]
fn names_are_whole_where_the_client_asks_for_everything() {
    let fixture = Fixture::new("long_names.rs");
    let session = Session::started(&fixture, json!({}), &["nested", "method"]);
    let stop = session.stopped_at(&fixture, "method", StoppedEventReason::Breakpoint);
    let whole = |stop: &Stopped, format: StackFrameFormat| {
        let arguments = StackTraceArguments::new(stop.thread).with_levels(1);
        written(&session, arguments.with_format(format)).remove(0)
    };
    let format = StackFrameFormat::new;
    let later = "long_names::Holder<A,B>::later::{async_fn#0}";
    assert_eq!(whole(&stop, format().with_include_all(true)), later);
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "nested", StoppedEventReason::Breakpoint);
    let nested = "long_names::main::{closure#0}::{closure#0}";
    assert_eq!(whole(&stop, format().with_include_all(true)), nested);
    assert_eq!(
        whole(
            &stop,
            format()
                .with_parameters(true)
                .with_parameter_types(true)
                .with_parameter_names(true)
        ),
        format!("{nested}(y: u32)")
    );
    // The other parts of a format say nothing of the name.
    assert_eq!(
        whole(&stop, format().with_line(true)),
        format!(
            "{{closure in {{closure in long_names::main}}}} Line {}",
            fixture.line("nested")
        )
    );
    session.disconnect();
}

#[test]
fn names_are_whole_where_the_configuration_wants_that() {
    let fixture = Fixture::new("long_names.rs");
    let table: &[(&str, &[&str])] = &[
        (
            "shout",
            &["<long_names::Holder<A,B> as long_names::Named>::shout::{async_fn#0}"],
        ),
        (
            "nested",
            &[
                "long_names::main::{closure#0}::{closure#0}",
                "long_names::main::{closure#0}",
            ],
        ),
    ];
    check(&fixture, json!({"wholeNames": true}), table);
}

#[test]
fn what_users_type_is_compared_with_the_whole_names() {
    let fixture = Fixture::new("long_names.rs");
    for (name, mark) in [
        ("main::{closure}::{closure}", "nested"),
        ("Holder<u8, u8>::both", "both"),
        // The name in Rust's old mangling, as other tools show it.
        ("Holder<A,B>::later::{{closure}}", "begin"),
        ("later::{async_fn#0}", "begin"),
        ("later::{async_fn#0}::{async_block#0}", "begin"),
        ("<Holder as Named>::shout", "shout"),
    ] {
        let session = Session::new();
        session.launch(&fixture, json!({}));
        let wanted = vec![FunctionBreakpoint::new(name)];
        let arguments = SetFunctionBreakpointsArguments::new(wanted);
        let set = session.ok::<SetFunctionBreakpointsRequest>(arguments);
        assert!(set.breakpoints[0].verified, "{name}: {set:?}");
        session.configured();
        session.stopped_at(&fixture, mark, StoppedEventReason::FunctionBreakpoint);
        session.disconnect();
    }
}
