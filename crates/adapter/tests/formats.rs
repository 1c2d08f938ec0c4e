//! Formats behind an expression's comma: what they show, and the errors of formats that don't apply to a value.

use crate::support::setting::evaluated;
use crate::support::{Fixture, Session};
use dapple_dap::types::*;
use serde_json::json;

/// Checks the values of expressions at the fixture's mark.
fn check(name: &str, expected: &[(&str, &str)]) {
    let fixture = Fixture::new(name);
    let session = Session::started(&fixture, json!({}), &["end"]);
    let stop = session.stopped_at(&fixture, "end", StoppedEventReason::Breakpoint);
    let wrong: Vec<String> = expected
        .iter()
        .filter_map(|(expression, text)| {
            let said = evaluated(
                &session,
                &stop.top,
                expression,
                EvaluateArgumentsContext::Watch,
            );
            (said != *text).then(|| format!("{expression}: {said}\n    instead of: {text}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn cpp_values_are_shown_in_every_format_that_applies() {
    check(
        "formats.cpp",
        &[
            ("at,x[2]", "{0x102, 0xaabb}"),
            ("at,d[colour + 1]", "{258, 43707}"),
            ("at,[2],x", "{0x102, 0xaabb}"),
            ("numbers[0],y", "02 01 00 00"),
            ("numbers,y", "02 01 00 00 bb aa 00 00 07 00 00 00"),
            ("word,[8],Y", "64 61 70 70 6c 65 00 00  dapple.."),
            ("text,Y", "67 72 65 79  grey"),
            ("header,y", "{magic = 45 4c 46 21, version = 01 02}"),
            ("colour,y", "01 00 00 00"),
            ("word[0],y", "64"),
            ("numbers[0],X", "0x102"),
            ("numbers[1],X", "0xAABB"),
            ("header.version,z", "0x0201"),
            ("numbers[2],B", "true"),
            ("word[1],U", "U+0061"),
            // A format applies to the string that is the whole value. Strings inside another value stay readable.
            ("text,x", "{0x67, 0x72, 0x65, 0x79}"),
            ("header.magic,x", "{0x45, 0x4c, 0x46, 0x21}"),
            ("header,x", "{magic = \"ELF!\", version = 0x201}"),
            ("yes,x", "0x1"),
            ("yes,d", "1"),
            ("(int *)4096,d", "4096"),
        ],
    );
}

#[test]
fn rust_values_are_shown_in_every_format_that_applies() {
    check(
        "formats.rs",
        &[
            ("text,x", "[0x67, 0x72, 0x65, 0x79]"),
            ("owned,Y", "6d 61 72 65  mare"),
            ("numbers,y", "02 01 00 00 bb aa 00 00 07 00 00 00"),
            ("header,y", "Header { magic: 45 4c 46 21, version: 01 02 }"),
            ("yes,d", "1"),
            ("header.version,z", "0x0201"),
        ],
    );
}

#[test]
fn formats_that_do_not_apply_say_so() {
    check(
        "formats.cpp",
        &[
            (
                "numbers[0],s",
                "error: `numbers[0]` is an `int`: `s` (bytes as a text) does not apply to it",
            ),
            (
                "numbers,s",
                "error: `numbers` is an `int [3]`: `s` (bytes as a text) does not apply to it",
            ),
            (
                "ratio,x",
                "error: `ratio` is a `double`: `x` (hexadecimal) does not apply to it",
            ),
            (
                "ratio,c",
                "error: `ratio` is a `double`: `c` (a character) does not apply to it",
            ),
            (
                "yes,e",
                "error: `yes` is a `bool`: `e` (a float) does not apply to it",
            ),
            (
                "at,f",
                "error: `at` is an `int *`: `f` (a float) does not apply to it",
            ),
        ],
    );
    check(
        "formats.rs",
        &[
            (
                "header.version,s",
                "error: `header.version` is a `u16`: `s` (bytes as a text) does not apply to it",
            ),
            (
                "ratio,b",
                "error: `ratio` is an `f64`: `b` (binary) does not apply to it",
            ),
        ],
    );
}
