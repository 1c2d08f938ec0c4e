//! Steps in C++20's coroutines: over a `co_await` or `co_yield` that suspends, into the body that is awaited, out to the coroutine that
//! awaits. Breakpoints and locals in them.

use crate::awaits::{Tell, begun, check, take_debug_registers};
use crate::support::{Fixture, Session, Stopped};
use dapple_dap::types::*;
use serde_json::json;

/// As in [`crate::awaits`]; the task is the worker's `who`.
const ROWS: &str = r#"
# Two tasks run the same code by turns; each step stays in its task.
turns | worker | who == 1 | n total | 1
turns | worker | who == 2 | n total | 2
turns | worker | who == 2 | i leaf, n await, n after, n last | 2
turns | worker | who == 1 | i leaf, o worker, n total | 1
turns | worker | who == 1 | i leaf, n await, n after, o worker, n total | 1
turns | print | who == 1 | n total end | 1
# What makes a task doesn't run its body.
turns | make | - | n make two, n made | -
# Into the body that is resumed.
turns | turn | - | i worker begin, n for, n worker, i leaf | -
# A scheduler begins the task that is awaited.
posts | worker | who == 1 | i leaf, n await, n after, o worker, n total | 1
posts | worker | who == 2 | n total | 2
# Each resumption is on another thread.
threads | worker | who == 1 | n total | 1
threads | worker | who == 2 | i leaf, n await, n after, n last | 2
threads | worker | who == 2 | i leaf, o worker, n total | 2
# The task is resumed on another thread before the one that suspends it has left the body.
pool | worker | who == 2 | i leaf, n await, n after, n last | 2
pool | worker | who == 2 | i leaf, n await, o worker, n total | 2
# Recursion: the same function several times in one chain.
nested | nested | depth == 3 | n inner | -
nested | nested | depth == 1 | n inner | -
nested | innermost | - | i leaf, n await, n after, o innermost | -
nested | innermost | - | o nested, n inner | -
# Tasks that end without being suspended.
quick | quick | - | n quick two, n quick end | -
quick | quick | - | i at once, o quick, n quick two | -
# Methods, templates and lambdas.
pieces | of scale | - | i scale, n scaled, o of scale | -
pieces | of lambda | - | i lambda, n in lambda, o of lambda, n pieces end | -
# A coroutine that begins at once, and that nothing awaits.
detached | start detached | - | i detached, n detached await, n detached after, n detached leaf, n detached last | -
detached | start detached | - | n start other, n run detached | -
detached | detached leaf | who == 2 | i leaf, n await, n after, o detached leaf, n detached last | -
# A generator goes on when it is resumed.
numbers | next | - | i yield for, n square | -
numbers | while | - | n number, n while, n number | -
# What users write for their awaiters is stepped into, but not over.
turns | await | - | i ready, o await, i suspend | -
# A task that is destroyed while it is suspended.
destroyed | await | - | n gone | -
destroyed | worker | - | n gone | -
"#;

/// g++ has code on the line of the closing brace.
const GCC: &str = r#"
turns | worker | who == 1 | n total, n for, n worker, n total | 1
turns | total | who == 2 | n for, i worker, i leaf, n await, n after | 2
turns | last | - | n end, n worker, n total | -
turns | total end | who == 1 | n worker end, n turn | -
threads | worker | who == 1 | n total, n for, n worker, n total | 1
pool | worker | who == 1 | n total, n for, n worker, n total | 1
throws | try | - | n catch, n caught | -
throws | throws | - | o try, n catch | -
pieces | of scale | - | n of lambda, n pieces end | -
numbers | yield | - | n after yield, n yield for, n square, n yield | -
# Nothing awaits a generator: out of it is where it is resumed.
numbers | yield | - | o next end | -
numbers | last yield | - | n yield end, n next end | -
"#;

/// clang has code at the end of each turn of a loop.
const CLANG: &str = r#"
turns | worker | who == 1 | n total, n round, n for, n worker, n total | 1
turns | total | who == 2 | n round, n for, i worker, i leaf, n await, n after | 2
turns | last | - | n worker, n total | -
turns | total end | who == 1 | n next turn | -
threads | worker | who == 1 | n total, n round, n for, n worker, n total | 1
pool | worker | who == 1 | n total, n round, n for, n worker, n total | 1
pieces | of scale | - | n make lambda, n of lambda, n pieces end | -
numbers | yield | - | n after yield, n yield round, n yield for, n square, n yield | -
numbers | yield | - | o next | -
numbers | last yield | - | n next | -
"#;

/// In optimised code, some lines have no code of their own.
const GCC_OPTIMISED: &str = r#"
turns | worker | - | n total, n for, n worker, n total | -
turns | await | - | n after | -
turns | total | - | n for, i worker, i leaf, n await, n after | -
threads | worker | - | n total, n for, n worker, n total | -
pool | worker | who == 1 | n total, n for, n worker, n total | -
detached | start detached | - | i detached, n detached await, n detached after, n detached leaf, n detached last | -
numbers | yield | - | n after yield, n yield for, n square, n yield | -
destroyed | worker | - | n gone | -
"#;

const CLANG_OPTIMISED: &str = r#"
threads | worker | - | n for, n worker, n for | -
nested | nested | depth == 3 | n inner | -
quick | quick | - | n quick two, n quick end | -
throws | try | - | n catch, n caught | -
pieces | of scale | - | n of lambda, n pieces end | -
"#;

const BY_WHO: Tell = Tell {
    variable: "who",
    frames: &["worker", "leaf"],
};

const FLAGS: [&str; 4] = ["-std=c++20", "-g", "-pthread", "-O0"];
pub const OPTIMISED: [&str; 4] = ["-std=c++20", "-g", "-pthread", "-O2"];

pub fn with_gcc(flags: &[&str]) -> Fixture {
    Fixture::compiled_with("g++", "coroutines.cpp", flags)
}

/// The fixture compiled with clang, if that is installed.
fn with_clang(flags: &[&str]) -> Option<Fixture> {
    let runs = |name: &&str| {
        let version = std::process::Command::new(name).arg("--version").output();
        version.is_ok()
    };
    let clang = ["clang++-22", "clang++"].into_iter().find(runs)?;
    Some(Fixture::compiled_with(clang, "coroutines.cpp", flags))
}

/// The fixture compiled with each compiler.
pub fn fixtures() -> Vec<Fixture> {
    let clang = with_clang(&FLAGS);
    std::iter::once(with_gcc(&FLAGS)).chain(clang).collect()
}

#[test]
fn a_step_stays_in_its_coroutine_with_gcc() {
    let fixture = with_gcc(&FLAGS);
    check(&fixture, BY_WHO, ROWS);
    check(&fixture, BY_WHO, GCC);
}

#[test]
fn a_step_stays_in_its_coroutine_with_clang() {
    if let Some(fixture) = with_clang(&FLAGS) {
        check(&fixture, BY_WHO, ROWS);
        check(&fixture, BY_WHO, CLANG);
    }
}

#[test]
fn a_step_over_a_suspension_in_optimised_code_stays_in_its_coroutine() {
    check(&with_gcc(&OPTIMISED), BY_WHO, GCC_OPTIMISED);
    if let Some(fixture) = with_clang(&OPTIMISED) {
        check(&fixture, BY_WHO, CLANG_OPTIMISED);
    }
}

#[test]
fn a_step_that_ends_with_its_coroutine_says_so() {
    for fixture in fixtures() {
        let (session, stop) = begun(&fixture, "destroyed", "await", "-");
        let stop = session.next(&stop, &fixture, "gone");
        let line = fixture.line("await");
        let text = format!("`leaf` was suspended at coroutines.cpp:{line} and is destroyed here");
        assert_eq!(stop.event.text.as_deref(), Some(text.as_str()));
        session.disconnect();
    }
}

#[test]
fn the_stack_of_a_crash_counts_frames_and_not_the_texts_between_them() {
    for fixture in fixtures() {
        let session = Session::new();
        session.launch(&fixture, json!({"args": ["crashes"]}));
        session.configured();
        let stop = session.stopped_at(&fixture, "crash", StoppedEventReason::Exception);
        let frames = session.stack(stop.thread);
        let is_label = |frame: &&StackFrame| {
            frame.presentation_hint == Some(StackFramePresentationHint::Label)
        };
        assert!(frames.iter().any(|frame| is_label(&frame)), "{frames:#?}");
        let info = session.ok::<ExceptionInfoRequest>(ExceptionInfoArguments::new(stop.thread));
        let text = info.details.and_then(|details| details.stack_trace);
        let text = text.expect("a stack trace");
        assert!(text.contains("to_crash at "), "{text}");
        let (users, others): (Vec<&str>, Vec<&str>) =
            text.lines().partition(|line| line.contains(" at "));
        let folded = others[0]
            .split(' ')
            .next()
            .and_then(|count| count.parse().ok());
        let calls = frames.len() - frames.iter().filter(is_label).count();
        assert_eq!(Some(calls - users.len()), folded, "{text}");
        session.disconnect();
    }
}

#[test]
fn without_a_debug_register_a_step_waits_at_the_entry_of_the_body() {
    for fixture in fixtures() {
        let (session, stop) = begun(&fixture, "turns", "await", "-");
        take_debug_registers(&session, &stop);
        let stop = session.next(&stop, &fixture, "after");
        let stop = session.step_out(&stop, &fixture, "worker");
        session.next(&stop, &fixture, "total");
        session.disconnect();
    }
}

const BREAKPOINT: StoppedEventReason = StoppedEventReason::Breakpoint;
const FUNCTION: StoppedEventReason = StoppedEventReason::FunctionBreakpoint;

/// Where the breakpoints of a session stop, up to the program's end.
fn stops(session: &Session, fixture: &Fixture, reason: &StoppedEventReason) -> Vec<String> {
    let mut found = Vec::new();
    while session.ends_or_stops() {
        let stop = session.stopped(reason.clone());
        found.push(fixture.mark_of(stop.top.line));
        session.resume(stop.thread);
    }
    found
}

#[test]
fn a_breakpoint_in_a_body_stops_once_where_the_line_is_entered() {
    for fixture in fixtures() {
        for mark in ["leaf", "await", "after", "last"] {
            let session = Session::started(&fixture, json!({"args": ["turns"]}), &[mark]);
            assert_eq!(stops(&session, &fixture, &BREAKPOINT), [mark; 4]);
        }
        let marks = ["detached", "detached await", "detached after"];
        let session = Session::started(&fixture, json!({"args": ["detached"]}), &marks);
        let [one, two, three] = marks;
        assert_eq!(
            stops(&session, &fixture, &BREAKPOINT),
            [one, two, one, two, three, three]
        );
    }
}

#[test]
fn a_breakpoint_on_a_coroutine_or_its_opening_line_stops_where_its_body_begins() {
    for fixture in fixtures() {
        for name in ["leaf", "leaf(int, int)"] {
            let session = Session::new();
            session.launch(&fixture, json!({"args": ["turns"]}));
            let set = SetFunctionBreakpointsArguments::new(vec![FunctionBreakpoint::new(name)]);
            session.ok::<SetFunctionBreakpointsRequest>(set);
            session.configured();
            assert_eq!(stops(&session, &fixture, &FUNCTION), ["leaf"; 4], "{name}");
        }
        let session = Session::started(&fixture, json!({"args": ["turns"]}), &["leaf opening"]);
        assert_eq!(stops(&session, &fixture, &BREAKPOINT), ["leaf"; 4]);
    }
}

/// The names and values of a scope.
fn variables(session: &Session, stop: &Stopped, scope: &str) -> Vec<(String, String)> {
    let scope = session.scope(&stop.top, scope);
    let all = session.variables(scope.variables_reference);
    all.into_iter().map(|one| (one.name, one.value)).collect()
}

#[test]
fn locals_are_those_of_the_source() {
    let pair = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    for fixture in fixtures() {
        let (session, stop) = begun(&fixture, "threads", "total", "who == 2");
        let wanted = [
            ("who", "2"),
            ("n", "2"),
            ("total", "0"),
            ("i", "0"),
            ("got", "30"),
        ];
        assert_eq!(variables(&session, &stop, "Locals"), wanted.map(pair));
        let names: Vec<String> = session
            .stack(stop.thread)
            .into_iter()
            .map(|f| f.name)
            .collect();
        assert_eq!(names.first().map(String::as_str), Some("worker"));
        session.disconnect();
    }
}
