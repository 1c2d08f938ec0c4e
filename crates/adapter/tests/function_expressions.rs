//! Function breakpoints by a regular expression on full names, in C, C++ and Rust, and in libraries.

use crate::support::fixture::fixtures_folder;
use crate::support::{Fixture, Session, text};
use dapple_dap::types::*;
use serde_json::json;
use std::process::Command;

/// Sets one function breakpoint.
#[track_caller]
fn set(session: &Session, name: &str) -> Breakpoint {
    let wanted = vec![FunctionBreakpoint::new(name)];
    let arguments = SetFunctionBreakpointsArguments::new(wanted);
    let mut set = session.ok::<SetFunctionBreakpointsRequest>(arguments);
    assert_eq!(set.breakpoints.len(), 1);
    set.breakpoints.remove(0)
}

/// The functions that the program stops in until it ends.
fn stops(session: &Session) -> Vec<String> {
    session.configured();
    let mut stops = Vec::new();
    while session.ends_or_stops() {
        let stop = session.stopped(StoppedEventReason::FunctionBreakpoint);
        stops.push(stop.top.name.clone());
        session.resume(stop.thread);
    }
    session.exit_code();
    stops
}

/// Runs the program with one breakpoint. Returns the breakpoint and the functions in which it stops.
fn run(fixture: &Fixture, name: &str) -> (Breakpoint, Vec<String>) {
    let session = Session::new();
    session.launch(fixture, json!({}));
    let set = set(&session, name);
    let stops = stops(&session);
    session.disconnect();
    (set, stops)
}

#[test]
fn an_expression_is_all_functions_whose_full_names_it_matches() {
    let fixture = Fixture::new("functions.cpp");
    let (set, stops) = run(&fixture, r"/re ^plane::(area|.*hidden)$");
    assert!(set.verified, "{set:?}");
    let message = set.message.expect("it is in several places");
    assert!(message.starts_with("4 places: "), "{message}");
    let [one, two, three, four] = &stops[..] else {
        panic!("{stops:?}");
    };
    assert_eq!([one, two, three], ["plane::area"; 3]);
    assert!(four.ends_with("hidden"), "{four}");

    // Parameters are matched only if the expression has parentheses.
    let (set, stops) = run(&fixture, r"/re area\(int(, int)?\)$");
    assert!(set.verified, "{set:?}");
    assert_eq!(stops, ["plane::area", "plane::area"]);
}

#[test]
fn an_expression_is_about_copies_that_were_inlined_too() {
    let fixture = Fixture::new("functions.cpp");
    let (set, stops) = run(&fixture, "/re ^tw.ce$");
    assert!(set.verified, "{set:?}");
    assert_eq!(stops, ["twice"; 3]);
}

#[test]
fn the_users_functions_come_first_and_a_path_is_about_all() {
    let fixture = Fixture::new("functions.rs");
    let (set, stops) = run(&fixture, "/re (^|:)fmt$");
    assert!(set.verified, "{set:?}");
    assert_eq!(stops.len(), 1, "{stops:?}");
    let told = set.message.expect("libraries have some, too");
    let others = "more functions that it matches: an expression with `::` is about those, too";
    assert!(told.starts_with("libraries have "), "{told}");
    assert!(told.ends_with(others), "{told}");

    let session = Session::new();
    session.launch(&fixture, json!({}));
    let all = self::set(&session, "/re ::fmt$").message;
    let all = all.expect("there are many");
    let places = all.split(' ').next().and_then(|count| count.parse().ok());
    assert!(places > Some(10), "{all}");
    session.disconnect();
}

#[test]
fn an_expression_is_asked_of_libraries_that_are_loaded_later() {
    let (host, library) = (Fixture::new("host.c"), Fixture::library("plugin.c"));
    let session = Session::new();
    let arguments = json!({ "args": [text(&library.binary)] });
    session.launch(&host, arguments);
    let set = set(&session, "/re ^(greet|sh.*t)$");
    assert!(!set.verified);
    let message = "no module that is loaded has a function whose full name matches the regular expression `^(greet|sh.*t)$`";
    assert_eq!(set.message.as_deref(), Some(message));
    assert_eq!(stops(&session), ["greet", "shout", "greet", "shout"]);
    session.disconnect();
}

#[test]
fn what_is_no_expression_is_told_with_its_place_and_leaves_the_others_alone() {
    let fixture = Fixture::new("tour.c");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let wanted = ["/re cla(ss", "main", "/re"].map(FunctionBreakpoint::new);
    let arguments = SetFunctionBreakpointsArguments::new(wanted.into());
    let set = session.ok::<SetFunctionBreakpointsRequest>(arguments);
    let verified: Vec<bool> = set.breakpoints.iter().map(|one| one.verified).collect();
    assert_eq!(verified, [false, true, false]);
    assert_eq!(set.breakpoints[0].reason, Some(BreakpointReason::Failed));
    assert_eq!(
        set.breakpoints[0].message.as_deref(),
        Some("the regular expression `cla(ss` can't be read: unclosed group, at character 4")
    );
    session.disconnect();
}

#[test]
fn so_many_functions_are_told_and_not_all_stopped_in() {
    let folder = fixtures_folder();
    let stem = format!("many-functions-{}", std::process::id());
    let (source, program) = (folder.join(format!("{stem}.c")), folder.join(&stem));
    let one = |index: usize| format!("int counted_{index}(int n) {{ return n + {index}; }}\n");
    let mut code: String = (0..1200).map(one).collect();
    code += "int main(void) { return counted_1199(0) != 1199; }\n";
    std::fs::write(&source, code).expect("a source");
    let arguments = ["-g", "-o", &text(&program), &text(&source)];
    let compiled = Command::new("gcc").args(arguments).status();
    assert!(compiled.expect("the compiler runs").success());

    let session = Session::new();
    let arguments = json!({ "program": text(&program) });
    session.ok::<LaunchRequest>(dapple_dap::testing::launch_arguments(&arguments));
    session.wait_for::<InitializedEvent>();
    let message = set(&session, "/re ^counted_").message.expect("a message");
    assert!(message.starts_with("1000 places: counted_"), "{message}");
    let beyond = "it matches 200 functions more, in which it does not stop: there are too many";
    assert!(message.ends_with(beyond), "{message}");
    assert_eq!(stops(&session), ["counted_1199"]);
    session.disconnect();
    let _ = (std::fs::remove_file(source), std::fs::remove_file(program));
}
