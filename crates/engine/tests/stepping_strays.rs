//! Steps through code that the compiler attributes to another line, and breakpoints on such lines.

use crate::walking;
use crate::walking::table;
use dapple_engine::session::{LineBreakpoint, Resolution};

table! {
    strays_at_o0: "strays.cpp" &["-O0"];
    strays_at_o0_with_units_of_types: "strays.cpp" &["-O0", "-fdebug-types-section"];
    strays_at_o0_without_columns: "strays.cpp" &["-O0", "-gno-column-info"];
    "
    run start           → start, main, 1
    into                → list, lists, 2
    over                → second list, lists, 2
    over                → counted, lists, 2
    over                → 28: if (sink > 100), lists, 2
    over                → lists return, lists, 2
    over                → lists end, lists, 2
    over                → start, main, 1
    over                → call destroys, main, 1
    over                → call captures, main, 1

    # A breakpoint is before the first element.
    run list            → list, lists, 2
    into                → word, Word, 3
    run second list     → second list, lists, 2
    into                → word, Word, 3
    out                 → second list, lists, 2
    into                → word, Word, 3

    # What destroys locals is the closing brace's.
    run destroys end    → destroys end, destroys, 2
    into                → word's end, ~Word, 3
    out                 → destroys return, destroys, 2
    over                → call destroys, main, 1
    "
}

#[test]
fn captures_at_o0() {
    let rows = "
    run call plain      → call plain, captures, 2
    into                → uncaptured, operator(), 3
    over                → captured, operator(), 3
    over                → both captured, operator(), 3
    over                → lambda return, operator(), 3
    over                → lambda end, operator(), 3
    over                → call plain, captures, 2
    over                → call kept, captures, 2
    into                → first captured, operator(), 3
    over                → function return, operator(), 3
    out                 → call kept, captures, 2
    over                → captures return, captures, 2

    # On the opening line: where it is made, and where its body begins.
    run function        → function, captures, 2
    break function      →
    continue            → breakpoint first captured, operator(), 3
    over                → function return, operator(), 3
    continue            → exit 0
    ";
    walking::check(&walking::program("strays.cpp", &["-O0"]), rows);
}

#[test]
fn coroutine_at_o0() {
    let rows = "
    run start           → start, main, 1
    over                → first, main, 1
    over                → between, main, 1
    over                → second, main, 1
    over                → end, main, 1

    run first           → first, main, 1
    into                → for, squares, 2
    over                → square, squares, 2
    over                → yield, squares, 2
    # The generator is suspended, and resumed by the second call.
    over                → after yield, squares, 2
    over                → for, squares, 2
    over                → after loop, squares, 2
    over                → closing, squares, 2
    over                → end, main, 1

    run second          → second, main, 1
    into                → yield, squares, 2
    over                → after yield, squares, 2
    ";
    walking::check(
        &walking::program("coroutine.cpp", &["-O0", "-std=c++20"]),
        rows,
    );
}

#[test]
fn a_breakpoint_on_a_lambdas_opening_line_is_told_there() {
    let fixture = walking::program("strays.cpp", &["-O0"]);
    let debuggee = fixture.launch();
    let line = fixture.line("function");
    let asked = LineBreakpoint {
        line,
        ..LineBreakpoint::default()
    };
    let session = debuggee.session();
    let states = session.set_line_breakpoints(&fixture.source, vec![asked]);
    let states = states.unwrap();
    let Resolution::Resolved {
        position,
        addresses,
        remark,
        ..
    } = &states[0].resolution
    else {
        panic!("it has no place");
    };
    assert_eq!(position.as_ref().map(|at| at.line), Some(line));
    assert_eq!(addresses.len(), 2, "where it is made, and its body");
    assert_eq!(*remark, None);
}
