//! Breakpoints on lines without code of their own: they stop at calls written there, move to the next line with code, or say why they
//! can't.

use crate::support::fixture::{Linking, Optimization};
use crate::support::{Fixture, Session};
use dapple_dap::types::*;
use serde_json::json;

fn optimised() -> Fixture {
    Fixture::built("gaps.c", Optimization::Full, Linking::Pie)
}

fn message(breakpoint: &Breakpoint) -> String {
    breakpoint.message.clone().unwrap_or_default()
}

#[test]
fn a_line_of_which_only_inlined_calls_are_left_stops_before_them() {
    let unoptimised = || Fixture::new("gaps.c");
    for (fixture, name, function) in [
        (optimised(), "call", "work"),
        (optimised(), "inner call", "twice"),
        (unoptimised(), "call", "work"),
        (unoptimised(), "inner call", "twice"),
    ] {
        let session = Session::new();
        session.launch(&fixture, json!({}));
        let set = session.set_breakpoints(&fixture, &[name]).remove(0);
        assert_eq!((set.line, &set.message), (Some(fixture.line(name)), &None));
        session.configured();
        for total in ["0", "6"] {
            let stop = session.stopped_at(&fixture, name, StoppedEventReason::Breakpoint);
            assert_eq!(stop.top.name, function);
            assert_eq!(session.evaluate(&stop.top, "total"), total);
            assert_eq!(stop.event.hit_breakpoint_ids, set.id.map(|id| vec![id]));
            session.resume(stop.thread);
        }
        assert_eq!(session.exit_code(), 0);
        assert_eq!(session.output(OutputEventCategory::Stdout), "12 18\n");
        session.disconnect();
    }
}

#[test]
fn a_step_into_goes_on_in_the_call_that_the_line_is_left_of() {
    let fixture = optimised();
    let session = Session::started(&fixture, json!({}), &["inner call"]);
    let stop = session.stopped_at(&fixture, "inner call", StoppedEventReason::Breakpoint);
    let stop = session.step_in(&stop, &fixture, "add");
    assert_eq!(stop.top.name, "add");
    assert_eq!(session.evaluate(&stop.top, "total"), "0");
    session.disconnect();
}

#[test]
fn a_line_without_code_moves_to_the_next_of_its_function_and_says_so() {
    let next = "sum";
    // Without optimization, the addition of the line `sum` follows the call. With it, the line begins at the first instruction of the
    // inlined call.
    for (fixture, total) in [(Fixture::new("gaps.c"), "6"), (optimised(), "0")] {
        let session = Session::new();
        session.launch(&fixture, json!({}));
        let lines = ["comment", "between"].map(|name| fixture.line(name));
        let set = session.set_lines(&fixture.path(), &lines);
        let (from, to) = (lines[0], fixture.line(next));
        assert!(set[0].verified && set[0].line == Some(to), "{:?}", set[0]);
        assert_eq!(
            message(&set[0]),
            format!("no code on line {from}; moved to line {to}, the next one with code")
        );
        assert!(
            !set[1].verified && set[1].line == Some(lines[1]),
            "{:?}",
            set[1]
        );
        assert!(
            message(&set[1]).contains("nearest lines with code are"),
            "{:?}",
            set[1]
        );
        session.configured();
        let stop = session.stopped_at(&fixture, next, StoppedEventReason::Breakpoint);
        assert_eq!(session.evaluate(&stop.top, "total"), total);
        session.disconnect();
    }
}

#[test]
fn a_line_of_which_no_statement_is_left_stops_at_its_instructions() {
    let fixture = optimised();
    let session = Session::started(&fixture, json!({}), &["last"]);
    let stop = session.stopped_at(&fixture, "last", StoppedEventReason::Breakpoint);
    assert_eq!(session.evaluate(&stop.top, "total"), "9");
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn a_place_is_offered_on_each_line_where_a_breakpoint_stays() {
    let fixture = optimised();
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let source = Source::new().with_path(fixture.path());
    let last = fixture.line("print") + 2;
    let arguments = BreakpointLocationsArguments::new(source, 1).with_end_line(last);
    let places = session.ok::<BreakpointLocationsRequest>(arguments);
    let offered: std::collections::BTreeSet<i64> =
        places.breakpoints.iter().map(|place| place.line).collect();
    let lines: Vec<i64> = (1..=last).collect();
    let set = session.set_lines(&fixture.path(), &lines);
    for (line, breakpoint) in lines.iter().zip(&set) {
        let stays = breakpoint.verified && breakpoint.message.is_none();
        assert_eq!(stays, offered.contains(line), "line {line}: {breakpoint:?}");
    }
    session.disconnect();
}

#[test]
fn a_line_without_code_moves_into_the_function_that_begins_before_the_rest_of_its_own() {
    let flags = ["-O0", "-O2"];
    let compilers = ["g++", "clang++-22"];
    let built = compilers.iter().flat_map(|compiler| {
        flags.map(|level| Fixture::compiled_with(compiler, "inner_functions.cpp", &["-g", level]))
    });
    for fixture in built {
        let session = Session::new();
        session.launch(&fixture, json!({}));
        // Moves at most to the line where the next statement ends, or to the line of a call's argument.
        let into = [
            ("in a class", "added"),
            ("further in a class", "twice"),
            ("in the function", "argument"),
            ("in a statement", "lambda"),
            ("behind", "return"),
        ];
        let lines = into.map(|(from, _)| fixture.line(from));
        let set = session.set_lines(&fixture.path(), &lines);
        for (one, (from, to)) in set.iter().zip(into) {
            let here = one.line.expect("a line");
            let wanted = fixture.line(from) + 1..=fixture.line(to);
            assert!(one.verified && wanted.contains(&here), "{from}: {one:?}");
            let moved = format!("moved to line {here}, the next one with code");
            assert!(message(one).ends_with(&moved), "{from}: {one:?}");
        }
        session.disconnect();
    }
}
