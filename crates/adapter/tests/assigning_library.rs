//! Setting values of library types, in every kind of location that a program has: each change shows in the program's later output.

use crate::support::setting::{check, check_later_output, set, set_child, set_expression, typed};
use crate::support::{Fixture, Session, Stopped};
use dapple_dap::types::*;
use serde_json::json;

/// Stops in `inner`. Returns the caller's frame, too.
fn begin(fixture: &Fixture) -> (Session, Stopped, StackFrame) {
    let session = Session::started(fixture, json!({}), &["inner"]);
    let stop = session.stopped_at(fixture, "inner", StoppedEventReason::Breakpoint);
    let arguments = StackTraceArguments::new(stop.thread);
    let frames = session.ok::<StackTraceRequest>(arguments).stack_frames;
    let main = frames.into_iter().nth(1).expect("main");
    (session, stop, main)
}

#[test]
fn what_cpps_library_keeps_is_set_where_it_lies() {
    let fixture = Fixture::new("assigned_library.cpp");
    let (session, stop, main) = begin(&fixture);
    check(&session, &stop.top, set, &[("Locals/given", "40", "40")]);
    let lines = [
        ("Count::all", "= 11", "11"),
        ("Count::own", "+= 10", "12"),
        ("count.low", "= 6", "6"),
        ("count.high", "-= 7", "-9"),
        ("count.yes", "= true", "true"),
        ("count.kind", "= Count::Many", "Many"),
        ("count.seen", "++", "5"),
        ("deep::counter", "= 33", "33"),
        ("ages[\"grace\"]", "= 86", "86"),
        ("prices[2]", "*= 3", "4.5"),
        ("queue[2]", "= -3", "-3"),
        ("list.back()", "= 22", "22"),
        ("letters[1]", "= 'B'", "66 'B'"),
        ("*maybe", "= 77", "77"),
        ("pair.second", "= \"riap\"", "\"riap\""),
        ("owned->high", "= 15", "15"),
        ("shared->back()", "= 9", "9"),
        ("words[1]", "= \"gamma\"", "\"gamma\""),
        ("wide", "= \"ediw\"", "\"ediw\""),
        ("grid[1][0]", "= 30", "30"),
    ];
    check(&session, &main, typed, &lines);
    let children = [
        ("ages/[\"ada\"]", "37", "37"),
        ("two/0", "10", "10"),
        ("two/1", "0.25", "0.25"),
        ("pair/first", "-1", "-1"),
        ("bits/[1]", "true", "true"),
    ];
    check(&session, &main, set_child, &children);
    let expressions = [
        ("bits[0]", "false", "false"),
        ("atomic", "80", "80"),
        ("prices[1]", "prices[2] / 9", "0.5"),
    ];
    check(&session, &main, set_expression, &expressions);
    check_later_output(
        session,
        &stop,
        "count 11 12 low 6 high -9 yes 1 kind 9 seen 5
deep 33 ages 37 86 prices 0.5 4.5
queue -3 list 22 letters B maybe 77 either 1
two 10 0.25 pair -1 riap owned 15 shared 9
words alpha gamma bits 011 atomic 80
point 1 2 wide ediw grid 30 member 5 got 41 entry 2
",
    );
}

#[test]
fn what_rusts_library_keeps_is_set_where_it_lies() {
    let fixture = Fixture::new("assigned_library.rs");
    let (session, stop, main) = begin(&fixture);
    check(&session, &stop.top, set, &[("Locals/given", "40", "40")]);
    let lines = [
        ("shape.radius", "= 2.5", "2.5"),
        ("line.1", "+= 20", "22"),
        ("ages[\"grace\"]", "= 86", "86"),
        ("prices[1]", "*= 3.0", "1.5"),
        ("queue[2]", "= -3", "-3"),
        ("maybe", "= Some((7, 'ß'))", "Some((7, 'ß'))"),
        ("result", "= Ok(-4)", "Ok(-4)"),
        ("shared[1]", "= 20", "20"),
        ("boxed[0]", "= 65535", "65535"),
        ("words[1]", "= \"gama\"", "\"gama\""),
        ("row[1]", "= -128", "-128"),
        ("wide", "= 1 << 100", "1267650600228229401496703205376"),
        ("unit", "= wide as usize | 3", "3"),
        ("PLAIN", "= 10", "10"),
        ("FLAG", "= true", "true"),
        ("deep::LEVEL", "= 30", "30"),
    ];
    check(&session, &main, typed, &lines);
    let children = [("locked/data", "50", "50"), ("ages/[\"ada\"]", "37", "37")];
    check(&session, &main, set_child, &children);
    check_later_output(
        session,
        &stop,
        "shape Circle { radius: 2.5 } line Line(1, 22) ages {\"ada\": 37, \"grace\": 86} prices {1: 1.5}
queue [1, 2, -3] maybe Some((7, 'ß')) result Ok(-4) shared [1, 20]
locked Ok(50) boxed [65535, 7] words [\"alpha\", \"gama\"] row [3, -128]
wide 1267650600228229401496703205376 unit 3 got 40
plain 10 flag true own 2 deep 30
",
    );
}
