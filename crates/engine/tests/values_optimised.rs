//! Values in optimized programs: a variable has the same value as without optimization, or the reason why it is missing.
//!
//! `values_library` does the same for the C++ library, and `optimised` for variables that change often.

use crate::support::optimised::{Comparison, compare};
use crate::support::{Fixture, Outcome, clang, fixture, fixture_by, listing};
use dapple_engine::session::LineBreakpoint;
use expect_test::expect_file;
use std::collections::BTreeMap;

/// The values at each stop that the program reaches. The optimizer may have removed the code of some.
fn shown(fixture: &Fixture, stops: &[&str], depth: usize) -> BTreeMap<String, String> {
    let mut debuggee = fixture.launch();
    let lines = stops.iter().map(|stop| LineBreakpoint {
        line: fixture.line(stop),
        ..LineBreakpoint::default()
    });
    let set = debuggee
        .session()
        .set_line_breakpoints(&fixture.source, lines.collect());
    set.expect("breakpoints");
    let mut shown = BTreeMap::new();
    loop {
        debuggee.resume();
        let Outcome::Stopped(reasons) = debuggee.wait() else {
            return shown;
        };
        let thread = reasons[0].thread;
        let place = debuggee.place(thread);
        if stops.contains(&place.as_str()) {
            shown.entry(place).or_insert_with(|| {
                listing::locals_live_and_post_mortem(debuggee.session(), thread, depth)
            });
        }
    }
}

/// Compares the values. Only the `known` ones may be wrong, because the compiler describes them wrongly.
fn compared(optimised: &Fixture, expected: &Fixture, stops: &[&str], known: &[&str]) -> Comparison {
    let (shown, expected) = (shown(optimised, stops, 1), shown(expected, stops, 1));
    assert_eq!(expected.len(), stops.len());
    let mut comparison = Comparison::default();
    for (stop, text) in &shown {
        compare(text, &expected[stop], &mut comparison);
    }
    comparison
        .wrong
        .retain(|wrong| !known.iter().any(|known| wrong.starts_with(known)));
    println!(
        "{:?} at {} stops: {comparison:#?}",
        optimised.binary,
        shown.len()
    );
    assert!(
        comparison.wrong.is_empty(),
        "{:?}: {:#?}",
        optimised.binary,
        comparison.wrong
    );
    comparison
}

const LIBRARY: [&str; 9] = [
    "numbers",
    "texts",
    "containers",
    "owners",
    "times",
    "iterators",
    "objects",
    "shapes",
    "enums",
];

/// rustc describes these as stored in memory before it has stored them.
const LATER: [&str; 5] = [
    "pointer: *const [i32]",
    "array_2d: ",
    "parse_error: ",
    "waiting: Iter",
    "most: Range",
];

#[test]
fn values_of_rust() {
    let expected = fixture("values_std.rs", &[]);
    for level in ["opt-level=2", "opt-level=3"] {
        let optimised = fixture("values_std.rs", &["-C", level]);
        let comparison = compared(&optimised, &expected, &LIBRARY, &LATER);
        assert!(comparison.same >= 175, "{level}: {comparison:?}");
    }
    let stops = [
        "tables",
        "trees",
        "sequences",
        "cuts",
        "channels",
        "threads",
        "wakers",
        "functions",
        "errors",
    ];
    let expected = fixture("values_more.rs", &[]);
    for level in ["opt-level=2", "opt-level=3"] {
        let optimised = fixture("values_more.rs", &["-C", level]);
        let comparison = compared(&optimised, &expected, &stops, &LATER);
        assert!(comparison.same >= 95, "{level}: {comparison:?}");
    }
    let stops = [
        "scalars",
        "texts",
        "sequences",
        "choices",
        "structures",
        "shared",
    ];
    let expected = fixture("values.rs", &[]);
    for level in ["opt-level=2", "opt-level=3"] {
        let optimised = fixture("values.rs", &["-C", level]);
        let comparison = compared(&optimised, &expected, &stops, &LATER);
        assert!(comparison.same >= 105, "{level}: {comparison:?}");
    }
}

const KINDS: [&str; 4] = ["scalars", "aggregates", "texts", "lengths"];

#[test]
fn values_of_c() {
    let expected = fixture("values_more.c", &[]);
    let at_all: String = KINDS
        .iter()
        .zip(shown_in_order(&expected))
        .map(|(stop, text)| format!("// {stop}\n{text}"))
        .collect();
    expect_file!["values/c_all_kinds.txt"].assert_eq(&at_all);
    let compared_of = |optimised: &Fixture, expected| compared(optimised, expected, &KINDS, &[]);
    let by_gcc = compared_of(&fixture("values_more.c", &["-O2"]), &expected);
    assert_eq!((by_gcc.missing, by_gcc.unnamed), (0, 0), "{by_gcc:?}");
    if let Some(compiler) = clang() {
        let expected = fixture_by(&compiler, "values_more.c", &["-O0"]);
        let comparison = compared_of(&fixture_by(&compiler, "values_more.c", &["-O2"]), &expected);
        assert!(comparison.same >= 48, "{comparison:?}");
    }
}

fn shown_in_order(fixture: &Fixture) -> Vec<String> {
    let mut shown = shown(fixture, &KINDS, 2);
    KINDS
        .iter()
        .map(|stop| shown.remove(*stop).expect("a stop"))
        .collect()
}

#[test]
fn values_of_cpp() {
    let stops = ["language", "strings", "containers", "owners", "main"];
    let expected = fixture("values.cpp", &[]);
    let comparison = compared(&fixture("values.cpp", &["-O2"]), &expected, &stops, &[]);
    assert!(comparison.same > 20, "{comparison:?}");
}
