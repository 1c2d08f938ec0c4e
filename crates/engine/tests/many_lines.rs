//! Breakpoints on many lines at once.

use crate::support::{Fixture, inline};
use dapple_engine::session::{LineBreakpoint, Resolution};
use std::fmt::Write;
use std::ops::Range;
use std::time::{Duration, Instant};

/// A program of functions of ten lines each, in which every line has code.
fn program(name: &str, functions: u32) -> Fixture {
    let mut text = String::from("static volatile int total;\n");
    for function in 0..functions {
        let _ = writeln!(text, "static void work{function}(void) {{");
        for _ in 0..8 {
            text.push_str("    total++;\n");
        }
        text.push_str("}\n");
    }
    text.push_str("int main(void) {\n    work0();\n    return total;\n}\n");
    inline(name, &text, &[])
}

/// The shortest time to set breakpoints on these lines, and how many of them stay at their own line without a remark.
fn time(fixture: &Fixture, lines: Range<u32>) -> (Duration, usize) {
    let debuggee = fixture.launch();
    let set = |lines: Range<u32>| {
        let wanted = lines.map(|line| LineBreakpoint {
            line,
            ..LineBreakpoint::default()
        });
        let wanted = wanted.collect();
        let session = debuggee.session();
        let states = session.set_line_breakpoints(&fixture.source, wanted);
        states.expect("it is stopped")
    };
    let mut best = (Duration::MAX, 0);
    for _ in 0..5 {
        set(0..0);
        // Debug information that is read only once is read now.
        set(2..3);
        let start = Instant::now();
        let states = set(lines.clone());
        let took = start.elapsed();
        let there = |r: &Resolution| matches!(r, Resolution::Resolved { remark: None, .. });
        let exact = states.iter().filter(|state| there(&state.resolution));
        best = best.min((took, exact.count()));
    }
    best
}

#[test]
fn a_line_of_a_long_file_takes_no_longer_than_one_of_a_short_file() {
    let (short, long) = (program("short.c", 20), program("long.c", 1000));
    // The lines of the twenty function headers have a remark about where their breakpoints are.
    let (few, exact) = time(&short, 2..202);
    assert_eq!(exact, 180);
    let (many, exact) = time(&long, 2..202);
    assert_eq!(exact, 180);
    assert!(many < few * 8, "{many:?} against {few:?} for 200 lines");
}
