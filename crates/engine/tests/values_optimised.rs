//! Values in optimized programs: a variable has the same value as without optimization, or the reason why it is missing.
//!
//! `values_library` does the same for the C++ library, and `optimised` for variables that change often.

use crate::support::optimised::{Held, hold};
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
fn held(optimised: &Fixture, expected: &Fixture, stops: &[&str], known: &[&str]) -> Held {
    let (shown, expected) = (shown(optimised, stops, 1), shown(expected, stops, 1));
    assert_eq!(expected.len(), stops.len());
    let mut held = Held::default();
    for (stop, text) in &shown {
        hold(text, &expected[stop], &mut held);
    }
    held.wrong
        .retain(|wrong| !known.iter().any(|known| wrong.starts_with(known)));
    println!("{:?} at {} stops: {held:#?}", optimised.binary, shown.len());
    assert!(
        held.wrong.is_empty(),
        "{:?}: {:#?}",
        optimised.binary,
        held.wrong
    );
    held
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
        let held = held(&optimised, &expected, &LIBRARY, &LATER);
        assert!(held.same >= 175, "{level}: {held:?}");
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
        let held = held(&optimised, &expected, &stops, &LATER);
        assert!(held.same >= 95, "{level}: {held:?}");
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
        let held = held(&optimised, &expected, &stops, &LATER);
        assert!(held.same >= 105, "{level}: {held:?}");
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
    let held_of = |optimised: &Fixture, expected| held(optimised, expected, &KINDS, &[]);
    let by_gcc = held_of(&fixture("values_more.c", &["-O2"]), &expected);
    assert_eq!((by_gcc.missing, by_gcc.unnamed), (0, 0), "{by_gcc:?}");
    if let Some(compiler) = clang() {
        let expected = fixture_by(&compiler, "values_more.c", &["-O0"]);
        let held = held_of(&fixture_by(&compiler, "values_more.c", &["-O2"]), &expected);
        assert!(held.same >= 48, "{held:?}");
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
    let held = held(&fixture("values.cpp", &["-O2"]), &expected, &stops, &[]);
    assert!(held.same > 20, "{held:?}");
}
