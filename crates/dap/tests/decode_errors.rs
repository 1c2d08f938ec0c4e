//! The length of errors about payloads: the wrong value may have a megabyte, the message stays readable.

mod wire;

use dapple_dap::Server;
use dapple_dap::message::{DecodeError, Raw};
use dapple_dap::types::*;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use wire::{Wire, request};

/// No error may be as long as this.
const LONG: usize = 400;

fn error<T: serde::de::DeserializeOwned + std::fmt::Debug>(payload: &Value) -> DecodeError {
    let raw = Raw::new(payload).expect("it is JSON");
    raw.decode::<T>().expect_err("the payload is wrong")
}

fn huge() -> String {
    "x".repeat(1 << 20)
}

/// The start of [`huge`] that an error shows.
fn start() -> String {
    "x".repeat(60)
}

#[test]
fn a_huge_string_in_the_wrong_place_is_told_by_its_start() {
    let line = error::<SourceBreakpoint>(&json!({"line": huge()}));
    assert_eq!(
        line.to_string(),
        format!(
            "`line`: invalid type: string \"{}…\", expected i64",
            start()
        )
    );
    let granularity = error::<NextArguments>(&json!({"threadId": 1, "granularity": huge()}));
    assert_eq!(
        granularity.to_string(),
        format!(
            "`granularity`: \"{}…\" is not one of statement, line, instruction",
            start()
        )
    );
}

#[test]
fn a_huge_value_of_ones_own_enumeration_is_told_by_its_start() {
    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Console {
        Internal,
        External,
    }
    let console = error::<Console>(&json!(huge()));
    assert_eq!(
        console.to_string(),
        format!(
            "unknown variant `{}…`, expected `internal` or `external`",
            start()
        )
    );
    assert!(matches!(
        [json!("internal"), json!("external")]
            .map(|value| Raw::new(&value).expect("JSON").decode().expect("a console")),
        [Console::Internal, Console::External]
    ));
}

#[test]
fn a_huge_name_on_the_way_to_the_fault_is_cut_in_its_middle() {
    let name = format!("first{}last", huge());
    let error = error::<BTreeMap<String, BTreeMap<String, i64>>>(&json!({name: {"port": "no"}}));
    assert!(error.path.starts_with("firstxxx"), "{}", error.path);
    assert!(error.path.ends_with("xxxlast.port"), "{}", error.path);
    assert!(error.path.len() < 200, "{}", error.path.len());
    assert_eq!(error.message, "invalid type: string \"no\", expected i64");
}

#[test]
fn what_is_short_is_told_whole() {
    for value in ["", "word", "\"quoted\"", "a `tick`", &"é".repeat(30)] {
        let error = error::<SourceBreakpoint>(&json!({"line": value}));
        assert_eq!(
            error.message,
            format!("invalid type: string {value:?}, expected i64")
        );
    }
}

#[test]
fn no_text_is_cut_within_a_character_and_none_makes_an_error_long() {
    let pieces = [
        "é",
        "€",
        "🦀",
        "\"",
        "\\",
        "`",
        "\n",
        "\u{1}",
        ".",
        " at line 1",
    ];
    for piece in pieces {
        for before in 0..8 {
            let text = "x".repeat(before) + &piece.repeat(10_000);
            let errors = [
                error::<SourceBreakpoint>(&json!({"line": text})),
                error::<NextArguments>(&json!({"threadId": 1, "granularity": text})),
                error::<BTreeMap<String, i64>>(&json!({text.clone(): "no"})),
                error::<BTreeMap<String, BTreeMap<String, i64>>>(&json!({"a": {text: "no"}})),
            ];
            for error in errors {
                let shown = error.to_string();
                assert!(shown.len() < LONG, "{piece:?}: {} bytes", shown.len());
            }
        }
    }
}

#[test]
fn the_response_to_a_huge_mistake_is_small() {
    let server = Server::<()>::builder()
        .on::<NextRequest>(|_, _, _| Ok(Empty))
        .build();
    let mut wire = Wire::initialized(server, ());
    let arguments = json!({"threadId": huge()}).to_string();
    let answer = wire.say(&request(2, "next", &arguments));
    assert_eq!(
        answer,
        format!(
            "2: next failed: bad arguments for `next`: `threadId`: invalid type: string \"{}…\", expected i64",
            start()
        )
    );
}
