//! Expressions that are names of types or functions: the console, a watch and a hover describe the type or function.

use crate::support::{Fixture, Session};
use dapple_dap::types::*;
use serde_json::json;

/// Checks the descriptions of names at the fixture's mark in each context, and the `type` field of the answers.
fn check(name: &str, expected: &[(&str, &str)]) {
    let fixture = Fixture::new(name);
    let session = Session::started(&fixture, json!({}), &["end"]);
    let stop = session.stopped_at(&fixture, "end", StoppedEventReason::Breakpoint);
    for (expression, text) in expected {
        for context in [
            EvaluateArgumentsContext::Repl,
            EvaluateArgumentsContext::Hover,
            EvaluateArgumentsContext::Watch,
        ] {
            let arguments = EvaluateArguments::new(*expression)
                .with_frame_id(stop.top.id)
                .with_context(context);
            let answer = session.ok::<EvaluateRequest>(arguments);
            assert_eq!(answer.r#type.as_deref(), Some(*text), "{expression}");
            // A function's result may be its address.
            let is_address = answer.result.starts_with("0x");
            assert!(is_address || answer.result == *text, "{}", answer.result);
        }
    }
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn cpp_types_and_functions_say_what_they_are() {
    check(
        "formats.cpp",
        &[
            (
                "Header",
                "struct Header {char magic[4]; unsigned short version;} (6 bytes)",
            ),
            (
                "struct Header",
                "struct Header {char magic[4]; unsigned short version;} (6 bytes)",
            ),
            ("Colour", "enum Colour {Red, Green} (4 bytes)"),
            (
                "Reader",
                "typedef int (*Reader)(const char *, unsigned int) (8 bytes)",
            ),
            (
                "File",
                "class File : Header {Reader reader; unsigned int open:1;} (24 bytes)",
            ),
            ("unsigned short", "unsigned short (2 bytes)"),
            ("reads", "int reads(const char *name, unsigned int length)"),
            ("File::read", "int File::read(const char *name)"),
        ],
    );
}

#[test]
fn c_types_say_what_they_are_with_one_keyword() {
    let slot = "struct Slot {union Held held; enum Level level;} (8 bytes)";
    let level = "enum Level {Low, High} (4 bytes)";
    check(
        "enumerators.c",
        &[
            ("Slot", slot),
            ("struct Slot", slot),
            ("Held", "union Held {int number; char letter;} (4 bytes)"),
            ("Level", level),
            ("enum Level", level),
        ],
    );
}

#[test]
fn rust_types_and_functions_say_what_they_are() {
    check(
        "formats.rs",
        &[
            (
                "Header",
                "struct formats::Header { magic: [u8; 4], version: u16 } (6 bytes)",
            ),
            (
                "Shape",
                "enum formats::Shape { Empty, Circle(f64), Rectangle { width: u32, height: u32 } } (16 bytes)",
            ),
            ("area", "fn formats::area(shape: &formats::Shape) -> f64"),
            (
                "Vec<i32>",
                "struct Vec<i32> { buf: RawVec<i32>, len: usize } (24 bytes)",
            ),
            ("u16", "u16 (2 bytes)"),
        ],
    );
}

#[test]
fn a_variable_of_a_types_name_is_shown_as_itself() {
    let fixture = Fixture::new("formats.cpp");
    let session = Session::started(&fixture, json!({}), &["end"]);
    let stop = session.stopped_at(&fixture, "end", StoppedEventReason::Breakpoint);
    assert_eq!(session.evaluate(&stop.top, "header.version"), "513");
    // A name that exists nowhere is still an error.
    let arguments = EvaluateArguments::new("Nothing").with_frame_id(stop.top.id);
    let refused = session.refused::<EvaluateRequest>(arguments);
    assert!(
        refused.sentence.contains("no variable `Nothing` here"),
        "{}",
        refused.sentence
    );
    session.disconnect();
}
