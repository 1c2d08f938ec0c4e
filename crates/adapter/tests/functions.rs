//! Function breakpoints by name, in C, C++ and Rust: set before the launch, while the program runs, and in libraries.

use crate::support::fixture::{Linking, Optimization};
use crate::support::{Fixture, Session, Stopped, file_of};
use dapple_dap::types::*;
use serde_json::json;

/// Replaces the function breakpoints.
#[track_caller]
fn set(session: &Session, names: &[&str]) -> Vec<Breakpoint> {
    let wanted = names.iter().map(|name| FunctionBreakpoint::new(*name));
    let arguments = SetFunctionBreakpointsArguments::new(wanted.collect());
    let breakpoints = session.ok::<SetFunctionBreakpointsRequest>(arguments);
    assert_eq!(breakpoints.breakpoints.len(), names.len());
    breakpoints.breakpoints
}

/// The ids of breakpoints.
fn ids(breakpoints: &[Breakpoint]) -> Vec<i64> {
    let ids = breakpoints.iter().map(|breakpoint| breakpoint.id);
    ids.collect::<Option<Vec<i64>>>().expect("each has an id")
}

/// Waits for a stop in the function, at `breakpoints` and no others.
#[track_caller]
fn stopped_in(session: &Session, function: &str, breakpoints: &[&Breakpoint]) -> Stopped {
    let stop = session.stopped(StoppedEventReason::FunctionBreakpoint);
    assert_eq!(stop.top.name, function);
    let hit = stop.event.hit_breakpoint_ids.clone().unwrap_or_default();
    let wanted = breakpoints.iter().filter_map(|breakpoint| breakpoint.id);
    assert_eq!(hit, wanted.collect::<Vec<i64>>());
    stop
}

#[test]
fn a_function_stops_past_its_prologue_each_time_it_is_called() {
    let fixture = Fixture::new("tour.c");
    let session = Session::new();
    assert_eq!(
        session.capabilities().supports_function_breakpoints,
        Some(true)
    );
    session.launch(&fixture, json!({}));
    let breakpoints = set(&session, &["classify", "main"]);
    for breakpoint in &breakpoints {
        assert!(breakpoint.verified, "{breakpoint:?}");
        let source = breakpoint.source.as_ref().expect("a source");
        assert_eq!(source.path, Some(fixture.path()));
        assert!(breakpoint.instruction_reference.is_some());
    }
    let [classify, main] = &breakpoints[..] else {
        unreachable!()
    };
    session.configured();
    let stop = stopped_in(&session, "main", &[main]);
    assert_eq!(Some(stop.top.line), main.line);
    session.resume(stop.thread);
    for celsius in ["31.833333333333332", "20.166666666666668", "0.5"] {
        let stop = stopped_in(&session, "classify", &[classify]);
        assert_eq!(Some(stop.top.line), classify.line);
        assert_eq!(file_of(&stop.top), Some(fixture.path()));
        let argument = session.variable(&stop.top, "Locals", "celsius");
        assert_eq!(argument.value, celsius);
        let stack = session.stack(stop.thread);
        assert_eq!(stack[1].name, "main");
        session.resume(stop.thread);
    }
    assert_eq!(session.exit_code(), 3);
    session.disconnect();
}

#[test]
fn setting_again_replaces_all_and_keeps_the_ids_of_those_that_stay() {
    let fixture = Fixture::new("tour.c");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let lines = session.set_breakpoints(&fixture, &["print"]);
    let first = set(&session, &["main", "add", "classify"]);
    let again = set(&session, &["classify", "mean", "main"]);
    let (was, now) = (ids(&first), ids(&again));
    assert_eq!((now[0], now[2]), (was[2], was[0]));
    assert!(!was.contains(&now[1]) && Some(now[1]) != lines[0].id);
    session.configured();
    // `add` is called first, but its breakpoint was removed.
    let stop = stopped_in(&session, "main", &[&again[2]]);
    session.resume(stop.thread);
    let stop = stopped_in(&session, "mean", &[&again[1]]);
    assert!(set(&session, &[]).is_empty());
    session.resume(stop.thread);
    // Line breakpoints are a separate set, which stays.
    let stop = session.stopped_at(&fixture, "print", StoppedEventReason::Breakpoint);
    assert_eq!(
        stop.event.hit_breakpoint_ids,
        lines[0].id.map(|id| vec![id])
    );
    session.disconnect();
}

#[test]
fn a_place_of_several_breakpoints_names_them_all() {
    let fixture = Fixture::new("recursion.c");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let functions = set(&session, &["fact", "fact", "fa*"]);
    session.configured();
    let stop = stopped_in(&session, "fact", &functions.iter().collect::<Vec<_>>());
    let line = session
        .set_lines(&fixture.path(), &[stop.top.line])
        .remove(0);
    assert!(line.verified);
    session.resume(stop.thread);
    // If a line breakpoint is also hit, the stop's reason is `breakpoint`.
    let stop = session.stopped(StoppedEventReason::Breakpoint);
    let mut hit = stop.event.hit_breakpoint_ids.expect("breakpoints");
    hit.sort_unstable();
    let mut all = ids(&functions);
    all.extend(line.id);
    assert_eq!(hit, all);
    session.disconnect();
}

#[test]
fn functions_set_before_the_launch_are_found_by_it() {
    let fixture = Fixture::new("tour.c");
    let session = Session::new();
    let early = set(&session, &["classify", "nowhere"]);
    assert!(
        early.iter().all(|breakpoint| !breakpoint.verified),
        "{early:?}"
    );
    session.launch(&fixture, json!({}));
    let changed = session.wait_for::<BreakpointEvent>();
    assert_eq!(changed.reason, BreakpointEventReason::Changed);
    assert!(changed.breakpoint.verified, "{changed:?}");
    assert_eq!(changed.breakpoint.id, early[0].id);
    assert!(changed.breakpoint.source.is_some());
    session.configured();
    stopped_in(&session, "classify", &[&early[0]]);
    session.disconnect();
}

#[test]
fn a_name_that_is_not_found_is_told_with_similar_ones_and_leaves_the_others_alone() {
    let fixture = Fixture::new("tour.c");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let breakpoints = set(
        &session,
        &["clasify", "", "classify", "no_such_thing_at_all"],
    );
    let about: Vec<_> = breakpoints
        .iter()
        .map(|one| (one.verified, one.reason.clone(), one.message.as_deref()))
        .collect();
    let none = "no module that is loaded has a function";
    assert_eq!(
        about,
        [
            (
                false,
                Some(BreakpointReason::Pending),
                Some(&*format!("{none} clasify; a similar name is classify"))
            ),
            (
                false,
                Some(BreakpointReason::Failed),
                Some("the name is empty")
            ),
            (true, None, None),
            (
                false,
                Some(BreakpointReason::Pending),
                Some(&*format!("{none} no_such_thing_at_all"))
            ),
        ]
    );
    ids(&breakpoints);
    session.configured();
    stopped_in(&session, "classify", &[&breakpoints[2]]);
    session.disconnect();
}

/// Stops at each call of `name` until the program ends. Returns the breakpoint, and the marks of the stops in their order.
#[track_caller]
fn calls(fixture: &Fixture, name: &str) -> (Breakpoint, Vec<String>) {
    let session = Session::new();
    session.launch(fixture, json!({}));
    let breakpoint = set(&session, &[name]).remove(0);
    assert!(breakpoint.verified, "{name}: {breakpoint:?}");
    session.configured();
    let mut marks = Vec::new();
    while session.ends_or_stops() {
        let stop = session.stopped(StoppedEventReason::FunctionBreakpoint);
        assert_eq!(file_of(&stop.top), Some(fixture.path()), "{:?}", stop.top);
        marks.push(fixture.mark_of(stop.top.line));
        session.resume(stop.thread);
    }
    session.exit_code();
    session.disconnect();
    (breakpoint, marks)
}

/// Checks for each name where it stops, the line of the breakpoint, and its message.
#[track_caller]
fn check(fixture: &Fixture, cases: &[(&str, &str, &[&str], Option<&str>)]) {
    for (name, line, marks, message) in cases {
        let (breakpoint, passed) = calls(fixture, name);
        assert_eq!(passed, *marks, "{name}");
        let told = breakpoint.line.expect("a line");
        assert_eq!(fixture.mark_of(told), *line, "{name}: {breakpoint:?}");
        assert_eq!(breakpoint.message.as_deref(), *message, "{name}");
        let source = breakpoint.source.and_then(|source| source.path);
        assert_eq!(source, Some(fixture.path()), "{name}");
    }
}

#[test]
fn a_name_in_cpp_is_all_overloads_methods_and_instances_unless_it_says_more() {
    let text = "plane::area(const std::string &)";
    let areas =
        format!("4 places: plane::area(int), plane::area(int, int), {text}, plane::Square::area()");
    check(
        &Fixture::new("functions.cpp"),
        &[
            (
                "area",
                "one",
                &["one", "two", "text", "method"],
                Some(&areas),
            ),
            ("plane::area(int)", "one", &["one"], None),
            ("area(int, int)", "two", &["two"], None),
            ("area(const std::string &)", "text", &["text"], None),
            ("Square::area", "method", &["method"], None),
            (
                "plane::Square::Square",
                "constructor",
                &["constructor"],
                None,
            ),
            (
                "largest",
                "largest",
                &["largest", "largest"],
                Some("2 places: largest<int>(int, int), largest<double>(double, double)"),
            ),
            ("largest<double>", "largest", &["largest"], None),
            ("hidden", "hidden", &["hidden"], None),
            ("operator+", "plus", &["plus"], None),
            // Only the program's own `main`, not one in a namespace.
            ("main", "main", &["main"], None),
            ("other::main", "other main", &["other main"], None),
        ],
    );
}

#[test]
fn a_stop_is_before_an_inlined_call_that_begins_where_the_function_does() {
    let fixture = Fixture::new("functions.cpp");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let breakpoint = set(&session, &["both"]).remove(0);
    assert_eq!(breakpoint.line, Some(fixture.line("both")));
    session.configured();
    let stop = stopped_in(&session, "both", &[&breakpoint]);
    assert_eq!(Some(stop.top.line), breakpoint.line);
    let argument = session.variable(&stop.top, "Locals", "value");
    assert_eq!(argument.value, "1");
    assert_eq!(session.stack(stop.thread)[1].name, "main");

    // Stepping into an inlined function executes no instruction, and stepping out of it ends on the same line.
    let inside = session.step_in(&stop, &fixture, "twice");
    let stack = session.stack(inside.thread);
    assert_eq!((&*stack[0].name, &*stack[1].name), ("twice", "both"));
    assert_eq!(stack[1].line, fixture.line("both"));
    let said = session.step_in(&inside, &fixture, "say");
    let twice = session.step_out(&said, &fixture, "twice");
    let back = session.step_out(&twice, &fixture, "both");
    assert_eq!(back.top.name, "both");
    session.disconnect();
}

#[test]
fn stepping_from_before_an_inlined_call_passes_or_leaves_it() {
    let fixture = Fixture::new("functions.cpp");
    let at_both = || {
        let session = Session::new();
        session.launch(&fixture, json!({}));
        let breakpoint = set(&session, &["both"]).remove(0);
        session.configured();
        let stop = stopped_in(&session, "both", &[&breakpoint]);
        (session, stop)
    };
    let (session, stop) = at_both();
    let after = session.next(&stop, &fixture, "end of both");
    assert_eq!(after.top.name, "both");
    session.disconnect();

    let (session, stop) = at_both();
    session.ok::<StepOutRequest>(StepOutArguments::new(stop.thread));
    let outside = session.stopped(StoppedEventReason::Step);
    assert_eq!(outside.top.name, "main");
    session.disconnect();
}

#[test]
fn a_stop_at_a_function_and_what_is_inlined_there_is_in_the_latter() {
    let fixture = Fixture::new("functions.cpp");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let breakpoints = set(&session, &["both", "twice"]);
    session.configured();
    for function in ["twice", "twice", "both"] {
        let stop = session.stopped(StoppedEventReason::FunctionBreakpoint);
        let stack = session.stack(stop.thread);
        assert!(
            stack[0].name == "twice" && (function == "twice" || stack[1].name == "both"),
            "{stack:?}"
        );
        let hit = stop.event.hit_breakpoint_ids.clone().unwrap_or_default();
        let owner = breakpoints.iter().filter_map(|one| one.id);
        let expected = if function == "both" { 2 } else { 1 };
        assert_eq!(owner.filter(|id| hit.contains(id)).count(), expected);
        session.resume(stop.thread);
    }
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn inlined_copies_are_places_of_a_function() {
    for optimization in [Optimization::None, Optimization::Full] {
        let fixture = Fixture::built("functions.cpp", optimization, Linking::Pie);
        check(
            &fixture,
            &[(
                "twice",
                "twice",
                &["twice", "twice", "twice"],
                Some("3 places: twice(int)"),
            )],
        );
    }
    let fixture = Fixture::built("functions.rs", Optimization::Full, Linking::Pie);
    check(
        &fixture,
        &[(
            "halve",
            "halve",
            &["halve", "halve"],
            Some("2 places: functions::halve"),
        )],
    );
}

#[test]
fn a_name_in_rust_is_all_methods_and_instances_unless_it_says_more() {
    check(
        &Fixture::new("functions.rs"),
        &[
            (
                "total",
                "function",
                &["function", "method", "method"],
                Some("2 places: functions::orders::total, functions::orders::Order::total"),
            ),
            ("Order::total", "method", &["method", "method"], None),
            ("functions::orders::total", "function", &["function"], None),
            (
                "Stack::put",
                "put",
                &["put", "put"],
                Some("2 places: functions::Stack<u8>::put, functions::Stack<String>::put"),
            ),
            ("Stack<String>::put", "put", &["put"], None),
            ("Order::fmt", "fmt", &["fmt"], None),
            (
                "larger",
                "larger",
                &["larger", "larger"],
                Some("2 places: functions::larger<u32>, functions::larger<f64>"),
            ),
            ("larger<f64>", "larger", &["larger"], None),
        ],
    );
}

#[test]
fn a_bare_name_is_the_users_own_functions_and_says_how_many_libraries_have() {
    let fixture = Fixture::new("functions.rs");
    let (own, passed) = calls(&fixture, "fmt");
    assert_eq!(passed, ["fmt"]);
    let told = own.message.expect("a message");
    let count = told
        .strip_prefix("libraries have ")
        .and_then(|rest| rest.strip_suffix(" more functions of that name: **::fmt is all of them"));
    let count: usize = count.and_then(|count| count.parse().ok()).expect(&told);
    assert!(count > 10, "{told}");

    let session = Session::new();
    session.launch(&fixture, json!({}));
    let all = set(&session, &["**::fmt"]).remove(0);
    let places = all.message.expect("a message");
    let places = places.split(' ').next().and_then(|n| n.parse().ok());
    assert!(places > Some(count), "{places:?} and {count}");
    session.configured();
    let stop = session.stopped(StoppedEventReason::FunctionBreakpoint);
    // The library formats a number before it calls the program's own `fmt`.
    assert_ne!(file_of(&stop.top), Some(fixture.path()), "{:?}", stop.top);
    session.disconnect();

    let fixture = Fixture::new("members.cpp");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let [own, all] = &set(&session, &["get", "**::get"])[..] else {
        panic!("two breakpoints");
    };
    let told = |one: &Breakpoint| one.message.clone().unwrap_or_default();
    let users = "2 places: shop::Price::get(), Arrow<Price>::get(); libraries have ";
    assert!(told(own).starts_with(users), "{own:?}");
    assert!(told(own).ends_with(": **::get is all of them"), "{own:?}");
    assert!(told(all).contains("std::"), "{all:?}");
    assert!(!told(all).contains("libraries"), "{all:?}");
    session.disconnect();
}

#[test]
fn main_of_a_rust_program_is_the_users_alone() {
    for optimization in [Optimization::None, Optimization::Full] {
        let fixture = Fixture::built("functions.rs", optimization, Linking::Pie);
        check(
            &fixture,
            &[
                ("main", "main", &["main"], None),
                ("functions::main", "main", &["main"], None),
                ("orders::main", "inner main", &["inner main"], None),
            ],
        );
    }
}

#[test]
fn a_function_of_a_library_is_found_each_time_that_is_loaded() {
    let (host, library) = (Fixture::new("host.c"), Fixture::library("plugin.c"));
    let session = Session::new();
    let arguments = json!({"args": [library.program()]});
    session.launch(&host, arguments);
    let breakpoint = set(&session, &["shout"]).remove(0);
    assert_eq!(
        (breakpoint.verified, breakpoint.message.as_deref()),
        (false, Some("no module that is loaded has a function shout"))
    );
    session.configured();
    for _ in 0..2 {
        let changed = session.wait_for::<BreakpointEvent>();
        assert_eq!(changed.reason, BreakpointEventReason::Changed);
        assert!(changed.breakpoint.verified, "{changed:?}");
        assert_eq!(changed.breakpoint.id, breakpoint.id);
        assert_eq!(changed.breakpoint.line, Some(library.line("shout")));
        let stop = stopped_in(&session, "shout", &[&breakpoint]);
        assert_eq!(stop.top.line, library.line("shout"));
        session.resume(stop.thread);
        // The breakpoint is unverified again when the library is unloaded.
        let changed = session.wait_for::<BreakpointEvent>();
        assert!(!changed.breakpoint.verified, "{changed:?}");
        assert_eq!(changed.breakpoint.id, breakpoint.id);
    }
    assert_eq!(session.exit_code(), 42);
    session.disconnect();
}

#[test]
fn a_function_is_found_while_the_program_runs() {
    let fixture = Fixture::new("sleepless.c");
    let session = Session::started(&fixture, json!({}), &[]);
    session.wait_for_output("awake");
    let breakpoint = set(&session, &["spin"]).remove(0);
    assert!(breakpoint.verified, "{breakpoint:?}");
    session.disconnect();
}

#[test]
fn a_name_of_something_else_says_what_it_is() {
    let fixture = Fixture::new("functions.cpp");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let names = ["kept", "plane::area(", "plane::area(long)", "shape"];
    let breakpoints = set(&session, &names);
    assert!(
        breakpoints.iter().all(|one| !one.verified),
        "{breakpoints:?}"
    );
    let messages: Vec<_> = breakpoints
        .iter()
        .map(|one| one.message.as_deref().unwrap_or_default())
        .collect();
    assert_eq!(
        messages,
        [
            "kept is a variable and not a function",
            "`(` is not closed in plane::area(",
            "no function plane::area(long) has these parameters; there is plane::area(int), plane::area(int, int), \
             plane::area(const std::string &)",
            "shape is a type and not a function",
        ]
    );
    session.disconnect();
}

#[test]
fn a_function_that_the_compiler_has_left_no_code_of_says_so() {
    let cpp = Fixture::built("functions.cpp", Optimization::Full, Linking::Pie);
    let rust = Fixture::new("functions.rs");
    let cases = [
        (
            &cpp,
            "Plain::Plain",
            "no module that is loaded has code of Plain::Plain: the compiler has left none",
        ),
        (
            &rust,
            "Order",
            "Order is a type and not a function; Order::* are its functions",
        ),
    ];
    for (fixture, name, message) in cases {
        let session = Session::new();
        session.launch(fixture, json!({}));
        let breakpoint = set(&session, &[name]).remove(0);
        assert_eq!(breakpoint.message.as_deref(), Some(message));
        session.disconnect();
    }
}

#[test]
fn without_debugging_and_after_the_end_a_function_is_not_looked_for() {
    let fixture = Fixture::new("tour.c");
    let session = Session::new();
    session.launch(&fixture, json!({"noDebug": true}));
    let breakpoint = set(&session, &["main"]).remove(0);
    let message = breakpoint.message.as_deref();
    assert_eq!(
        (breakpoint.verified, message),
        (
            false,
            Some("the program runs without debugging (`noDebug`)")
        )
    );
    session.configured();
    assert_eq!(session.exit_code(), 3);
    session.disconnect();

    let session = Session::new();
    session.launch(&fixture, json!({}));
    let before = set(&session, &["length"]).remove(0);
    session.configured();
    let stop = stopped_in(&session, "length", &[&before]);
    assert!(set(&session, &[]).is_empty());
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 3);
    let after = set(&session, &["length"]).remove(0);
    let message = after.message.as_deref();
    assert_eq!(
        (after.verified, message),
        (false, Some("no program is running"))
    );
    session.disconnect();
}

#[test]
fn the_address_that_is_told_is_the_one_of_the_line() {
    let fixture = Fixture::built("functions.cpp", Optimization::Full, Linking::Pie);
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let breakpoint = set(&session, &["area"]).remove(0);
    assert_eq!(fixture.mark_of(breakpoint.line.expect("a line")), "one");
    let alone = set(&session, &["plane::area(int)"]).remove(0);
    assert_eq!(
        breakpoint.instruction_reference,
        alone.instruction_reference
    );
    session.disconnect();
}

#[test]
fn any_text_is_answered() {
    let fixture = Fixture::new("functions.cpp");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let long = "a::".repeat(5_000) + "a";
    let longer = long.repeat(10);
    let deep = "f<".repeat(5_000);
    let names = [
        &*long,
        &*longer,
        &*deep,
        "\0",
        "日本語",
        "<",
        ">",
        "::",
        "a::",
        "operator",
        "operator<",
        "operator()",
        "main()",
        "main(",
        "-",
        "0x1139",
        "*0x1139",
        "functions.cpp:20",
        "  main  ",
        "***",
        "~",
        "{",
        "(",
        "$",
        "_Z4bothi",
        "_ZL4bothi",
    ];
    let breakpoints = set(&session, &names);
    let found: Vec<&str> = names
        .into_iter()
        .zip(&breakpoints)
        .filter(|(_, breakpoint)| breakpoint.verified)
        .map(|(name, _)| name)
        .collect();
    assert_eq!(found, ["  main  ", "***", "_ZL4bothi"]);
    let mut all = ids(&breakpoints);
    all.dedup();
    assert_eq!(all.len(), names.len());
    for (name, breakpoint) in names.iter().zip(&breakpoints) {
        let length = breakpoint.message.as_deref().unwrap_or_default().len();
        assert!(length < 1000, "{length} bytes about {} bytes", name.len());
    }
    session.disconnect();
}
