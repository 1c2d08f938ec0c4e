//! Steps over lines that loop: they end where they would with a stop at each instruction, but without the cost of stopping in each
//! iteration.

use crate::support::{Debuggee, Fixture, fixture};
use crate::walking::table;
use dapple_engine::ThreadId;
use dapple_engine::session::StepKind::{Into, Out, Over};

table! {
    loops_in_c_at_o0: "loops.c" &["-O0"];
    "
    run start           → start, main, 1
    over                → one line, main, 1
    over                → while, main, 1
    over                → calls, main, 1
    over                → inlined, main, 1
    over                → call early, main, 1
    over                → set, main, 1
    over                → jumps, main, 1
    over                → set, main, 1
    over                → call recursion, main, 1
    over                → print, main, 1
    over                → end, main, 1

    run calls           → calls, main, 1
    into                → twice, twice, 2
    out                 → calls, main, 1
    run call early      → call early, main, 1
    into                → early, early, 2
    out                 → call early, main, 1
    run early           → early, early, 2
    over                → early end, early, 2
    over                → call early, main, 1

    run recursion       → recursion, fibonacci, 2
    over                → recursion end, fibonacci, 2
    run squares end     → squares end, squares, 2
    out                 → inlined, main, 1
    "
}

table! {
    loops_in_rust_at_o0: "loops.rs" &["-Copt-level=0"];
    loops_in_rust_at_o2: "loops.rs" &["-Copt-level=2"];
    "
    run count           → count, main, 1
    over                → start, main, 1
    over                → sum, main, 1
    over                → position, main, 1
    over                → collect, main, 1
    over                → fold, main, 1
    over                → drop, main, 1
    over                → text, main, 1
    "
}

/// Starts the program and runs to a line. Removes the breakpoint.
fn at<'a>(fixture: &'a Fixture, arguments: &[&str], line: &str) -> (Debuggee<'a>, ThreadId) {
    let mut debuggee = fixture.launch_with(arguments);
    debuggee.break_at(&[line]);
    let (thread, place) = debuggee.run_to_breakpoint();
    assert_eq!(place, line);
    let session = debuggee.session();
    session
        .set_line_breakpoints(&fixture.source, Vec::new())
        .unwrap();
    (debuggee, thread)
}

/// Steps over the lines, and checks where each step ends.
fn over_all(fixture: &Fixture, arguments: &[&str], lines: &[&str]) {
    let (mut debuggee, thread) = at(fixture, arguments, lines[0]);
    let mut way = vec![lines[0].to_owned()];
    for line in &lines[1..] {
        way.push(debuggee.step(thread, Over));
        assert_eq!(way.last().map(String::as_str), Some(*line), "{way:?}");
    }
}

// With a stop in each iteration, these would take minutes.
#[test]
fn millions_of_turns_on_one_line_are_run_at_once() {
    let lines = ["one line", "while", "calls", "inlined", "call early", "set"];
    let at_o0 = fixture("stepping/loops.c", &["-O0"]);
    over_all(&at_o0, &["5000000", "4"], &lines);
    let lines = [
        "count", "start", "sum", "position", "collect", "fold", "drop", "text",
    ];
    for flags in [["-Copt-level=0"], ["-Copt-level=2"]] {
        let fixture = fixture("stepping/loops.rs", &flags);
        over_all(&fixture, &["300000"], &lines);
    }
}

#[test]
fn a_step_into_what_a_loop_calls_is_not_run_past() {
    let fixture = fixture("stepping/loops.c", &["-O0"]);
    let (mut debuggee, thread) = at(&fixture, &["5000000", "4"], "calls");
    for turn in 0..40 {
        assert_eq!(debuggee.step(thread, Into), "twice", "turn {turn}");
        assert_eq!(debuggee.step(thread, Out), "calls", "turn {turn}");
    }
}

// gcc copies a loop's first test to each entry of the loop.
#[test]
fn a_line_that_the_compiler_has_copied_is_stopped_at_whichever_way_it_is_come_to() {
    for optimisation in ["-O1", "-O2", "-O3"] {
        let fixture = fixture("stepping/loops.c", &[optimisation]);
        for arguments in [&[][..], &["50", "4"]] {
            for line in ["one line", "calls", "print"] {
                at(&fixture, arguments, line);
            }
        }
    }
}
