//! Conditions about the callers, `$called_from("NAME")`, in C, C++ and Rust: inlined callers, deep stacks and wrong uses.

use crate::support::fixture::{Linking, Optimization};
use crate::support::{Fixture, Session};
use dapple_dap::types::*;
use serde_json::json;

const BOTH: [Optimization; 2] = [Optimization::None, Optimization::Full];

/// The arguments of the calls of `leaf` in which the condition holds.
#[track_caller]
fn passed(fixture: &Fixture, condition: &str) -> Vec<u32> {
    let session = Session::new();
    session.launch(fixture, json!({}));
    let mut wanted = SourceBreakpoint::new(fixture.line("leaf"));
    wanted.condition = Some(condition.to_owned());
    wanted.log_message = Some("leaf {n}".to_owned());
    let source = Source::new().with_path(fixture.path());
    let arguments = SetBreakpointsArguments::new(source).with_breakpoints(vec![wanted]);
    let set = session.ok::<SetBreakpointsRequest>(arguments).breakpoints;
    assert!(set[0].verified, "{condition}: {set:?}");
    session.configured();
    session.exit_code();
    let text = session.output(OutputEventCategory::Console);
    session.disconnect();
    let numbers = text.lines().filter_map(|line| line.strip_prefix("leaf "));
    let numbers = numbers.map(|number| number.parse::<u32>());
    numbers.collect::<Result<_, _>>().expect(&text)
}

#[track_caller]
fn check(name: &str, cases: &[(&str, &[u32])]) {
    for optimization in BOTH {
        let fixture = Fixture::built(name, optimization, Linking::Pie);
        for (condition, expected) in cases {
            let passed = passed(&fixture, condition);
            assert_eq!(passed, *expected, "{condition} ({optimization:?})");
        }
    }
}

#[test]
fn a_condition_in_c_is_about_all_callers() {
    check(
        "callers.c",
        &[
            (r#"!$called_from("quiet")"#, &[1, 3, 4, 5, 6]),
            (r#"$called_from("middle")"#, &[2, 4]),
            (r#"$called_from("wrapped")"#, &[3]),
            (
                r#"$called_from("deep") || $called_from("compare")"#,
                &[5, 6],
            ),
            (r#"$called_from("main") && n > 4"#, &[5, 6]),
            // A function doesn't count as its own caller.
            (r#"$called_from("leaf")"#, &[]),
            (r#"$called_from("/re ^(quiet|wrapped)$")"#, &[2, 3]),
            (r#"$called_from("nobody")"#, &[]),
        ],
    );
}

#[test]
fn a_condition_in_cpp_is_about_all_callers() {
    check(
        "callers.cpp",
        &[
            (r#"!$called_from("quiet")"#, &[1, 3, 4, 5, 6, 7]),
            (r#"$called_from("Cart::add")"#, &[2, 3]),
            (r#"$called_from("shop::put")"#, &[4, 5]),
            (r#"$called_from("put<char>")"#, &[5]),
            (r#"$called_from("Wrapped::Wrapped")"#, &[6]),
            (r#"$called_from("/re lambda")"#, &[7]),
        ],
    );
}

#[test]
fn a_condition_in_rust_is_about_all_callers() {
    check(
        "callers.rs",
        &[
            (r#"!$called_from("quiet")"#, &[1, 3, 4, 5, 6, 7]),
            (r#"$called_from("Cart::add")"#, &[2, 3]),
            (r#"$called_from("shop::put")"#, &[4, 5]),
            (r#"$called_from("callers::wrapped")"#, &[6]),
            (r#"$called_from("main::{closure}")"#, &[7]),
        ],
    );
}

#[test]
fn at_a_stop_it_is_about_the_frame_that_is_looked_at() {
    let fixture = Fixture::new("callers.c");
    let session = Session::started(&fixture, json!({}), &["leaf"]);
    let first = session.stopped_at(&fixture, "leaf", StoppedEventReason::Breakpoint);
    session.resume(first.thread);
    let stop = session.stopped_at(&fixture, "leaf", StoppedEventReason::Breakpoint);
    let stack = session.stack(stop.thread);
    for (frame, expected) in [("leaf", "true"), ("middle", "true"), ("quiet", "false")] {
        let frame = stack.iter().find(|one| one.name == frame).expect(frame);
        let value = session.evaluate(frame, r#"$called_from("quiet")"#);
        assert_eq!(value, expected, "{}", frame.name);
    }
    session.disconnect();
}

#[test]
fn a_mistake_in_it_is_told_with_the_breakpoint() {
    let fixture = Fixture::new("callers.c");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let form = r#"`$called_from` takes a function's name as a text: `$called_from("main")`"#;
    let cases = [
        ("$called_from", form),
        ("$called_from(main)", form),
        (r#"$called_from("f(")"#, "`(` is not closed in f("),
        (
            r#"$called_from("/re f(")"#,
            "unclosed group, at character 2",
        ),
    ];
    for (condition, why) in cases {
        let mut wanted = SourceBreakpoint::new(fixture.line("leaf"));
        wanted.condition = Some(condition.to_owned());
        let source = Source::new().with_path(fixture.path());
        let arguments = SetBreakpointsArguments::new(source).with_breakpoints(vec![wanted]);
        let set = session.ok::<SetBreakpointsRequest>(arguments).breakpoints;
        assert!(!set[0].verified, "{condition}");
        let told = set[0].message.as_deref().unwrap_or_default();
        assert!(told.contains(why), "{condition}: {told}");
    }
    session.disconnect();
}
