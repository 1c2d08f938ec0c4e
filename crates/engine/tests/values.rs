//! Values of stopped programs, as text.

mod support;

use expect_test::{ExpectFile, expect_file};
use support::{Fixture, fixture, listing};

/// Runs to a marked line and compares the locals there.
fn check(fixture: &Fixture, stop: &str, depth: usize, expected: ExpectFile) {
    let mut debuggee = fixture.launch();
    debuggee.break_at(&[stop]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let frame = listing::innermost(debuggee.session(), thread);
    expected.assert_eq(&listing::locals(debuggee.session(), frame, depth));
}

#[test]
fn c_scalars_are_shown() {
    check(
        &fixture("values.c", &[]),
        "scalars",
        1,
        expect_file!["values/c_scalars.txt"],
    );
}

#[test]
fn c_pointers_are_shown() {
    check(
        &fixture("values.c", &[]),
        "pointers",
        2,
        expect_file!["values/c_pointers.txt"],
    );
}

#[test]
fn c_aggregates_are_shown() {
    check(
        &fixture("values.c", &[]),
        "aggregates",
        2,
        expect_file!["values/c_aggregates.txt"],
    );
}

#[test]
fn rust_scalars_are_shown() {
    check(
        &fixture("values.rs", &[]),
        "scalars",
        1,
        expect_file!["values/rust_scalars.txt"],
    );
}

#[test]
fn rust_texts_are_shown() {
    check(
        &fixture("values.rs", &[]),
        "texts",
        1,
        expect_file!["values/rust_texts.txt"],
    );
}

#[test]
fn rust_sequences_are_shown() {
    check(
        &fixture("values.rs", &[]),
        "sequences",
        1,
        expect_file!["values/rust_sequences.txt"],
    );
}

#[test]
fn rust_enums_are_shown() {
    check(
        &fixture("values.rs", &[]),
        "choices",
        2,
        expect_file!["values/rust_enums.txt"],
    );
}

#[test]
fn rust_structures_are_shown() {
    check(
        &fixture("values.rs", &[]),
        "structures",
        2,
        expect_file!["values/rust_structures.txt"],
    );
}

#[test]
fn rust_shared_values_and_tables_are_shown() {
    check(
        &fixture("values.rs", &[]),
        "shared",
        1,
        expect_file!["values/rust_shared_values.txt"],
    );
}

#[test]
fn cpp_language_values_are_shown() {
    check(
        &fixture("values.cpp", &[]),
        "language",
        2,
        expect_file!["values/cpp_language_values.txt"],
    );
}

#[test]
fn cpp_strings_are_shown() {
    check(
        &fixture("values.cpp", &[]),
        "strings",
        1,
        expect_file!["values/cpp_strings.txt"],
    );
}

#[test]
fn cpp_containers_are_shown() {
    check(
        &fixture("values.cpp", &[]),
        "containers",
        1,
        expect_file!["values/cpp_containers.txt"],
    );
}

#[test]
fn cpp_owners_are_shown() {
    check(
        &fixture("values.cpp", &[]),
        "owners",
        1,
        expect_file!["values/cpp_owners.txt"],
    );
}
