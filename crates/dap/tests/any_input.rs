//! The properties that the fuzz targets check, on generated inputs and on the fuzzers' seeds.
//!
//! An input on which a fuzzer failed becomes a file in `fuzz/found`, and so a case of the first test.

mod properties;

use std::path::Path;

use properties::codec::pieces_do_not_matter;
use properties::payload::decoding_is_stable;
use properties::session::each_request_has_one_response;
use proptest::prelude::*;

/// The seeds of one fuzz target: name and content.
fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    files("seeds", target)
}

/// The inputs of a target in one of the folders.
fn files(kind: &str, target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz")
        .join(kind)
        .join(target);
    let files = std::fs::read_dir(&folder).expect("they are there");
    let mut seeds: Vec<_> = files
        .map(|file| {
            let path = file.expect("a file").path();
            let content = std::fs::read(&path).expect("it is readable");
            (path.display().to_string(), content)
        })
        .collect();
    seeds.sort();
    assert!(!seeds.is_empty(), "{} is empty", folder.display());
    seeds
}

fn text(seed: Vec<u8>) -> String {
    String::from_utf8(seed).expect("seeds of messages are text")
}

#[test]
fn every_seed_keeps_its_property() {
    // A failed test prints which seed it was.
    for (name, seed) in seeds("codec") {
        println!("{name}");
        pieces_do_not_matter(&seed);
    }
    for (name, seed) in seeds("payload") {
        println!("{name}");
        decoding_is_stable(&text(seed));
    }
    for (name, seed) in seeds("session") {
        println!("{name}");
        each_request_has_one_response(&text(seed));
    }
}

#[test]
fn what_a_fuzzer_found_is_mended() {
    for (name, input) in files("found", "payload") {
        println!("{name}");
        decoding_is_stable(&text(input));
    }
}

#[test]
fn the_seeds_of_payloads_are_messages_that_the_types_take() {
    use dapple_dap::envelope::{Envelope, Kind};
    use dapple_dap::types::{AnyEvent, AnyRequest, AnyResponse};
    for (name, seed) in seeds("payload") {
        let text = text(seed);
        let envelope = Envelope::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let error = match envelope.kind {
            Kind::Request { command, arguments } => AnyRequest::decode(&command, arguments).err(),
            Kind::Response {
                success: true,
                command,
                body,
                ..
            } => AnyResponse::decode(&command, body).err(),
            Kind::Event { event, body } => AnyEvent::decode(&event, body).err(),
            _ => None,
        };
        assert_eq!(error, None, "{name}");
    }
}

/// A stream of whole messages, parts of headers and random bytes.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        4 => ".{0,60}".prop_map(|text| format!("Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes()),
        1 => prop::sample::select(&[
            "Content-Length: ", "content-LENGTH:3", "\r\n", "\n", ":", "-1", "99999999999999999999", "4097", "X: y\r\n",
        ][..]).prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..20),
    ];
    prop::collection::vec(part, 0..10).prop_map(|parts| parts.concat())
}

/// Real messages with parts removed and others inserted.
fn spoiled_message() -> impl Strategy<Value = String> {
    let seeds: Vec<_> = seeds("payload")
        .into_iter()
        .map(|(_, seed)| text(seed))
        .collect();
    let token = prop_oneof![
        prop::sample::select(
            &[
                "null",
                "{}",
                "[]",
                "true",
                "-1",
                "1e999",
                "0.1",
                "9223372036854775808",
                "\"\"",
                "\"\\ud800\"",
                ",",
                ":",
                "}",
                "\"type\"",
                "\"body\":",
                "12.300000000000000711",
            ][..]
        )
        .prop_map(str::to_owned),
        "[ -~]{0,6}",
    ];
    let edit = (any::<prop::sample::Index>(), 0..12usize, token);
    (
        prop::sample::select(seeds),
        prop::collection::vec(edit, 0..3),
    )
        .prop_map(|(mut text, edits)| {
            for (at, length, token) in edits {
                let places: Vec<_> = text
                    .char_indices()
                    .map(|(at, _)| at)
                    .chain([text.len()])
                    .collect();
                let from = at.index(places.len());
                let to = (from + length).min(places.len() - 1);
                text.replace_range(places[from]..places[to], &token);
            }
            text
        })
}

fn arguments() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("{}"),
        Just("null"),
        Just("7"),
        Just("[[[[]]]]"),
        Just(r#"{"threadId":1,"singleThread":true}"#),
        Just(r#"{"threadId":"x"}"#),
        Just(r#"{"adapterID":"x"}"#),
        Just(
            r#"{"adapterID":"x","supportsRunInTerminalRequest":true,"supportsProgressReporting":true}"#
        ),
        Just(r#"{"expression":"now"}"#),
        Just(r#"{"expression":"later"}"#),
        Just(r#"{"expression":"never"}"#),
        Just(r#"{"expression":"flush"}"#),
        Just(r#"{"requestId":3}"#),
    ]
}

fn line() -> impl Strategy<Value = String> {
    let command = prop_oneof![
        4 => Just("initialize"),
        4 => Just("evaluate"),
        4 => Just("next"),
        2 => Just("launch"),
        2 => Just("modules"),
        1 => Just("cancel"),
        1 => Just("terminate"),
        1 => Just("disconnect"),
        1 => Just("fly"),
    ];
    let kind = prop_oneof![9 => Just("request"), 1 => Just("response"), 1 => Just("event"), 1 => Just("wish")];
    prop_oneof![
        9 => (1..9i64, 1..9i64, kind, command, arguments()).prop_map(|(seq, request, kind, command, arguments)| format!(
            r#"{{"command":"{command}","arguments":{arguments},"seq":{seq},"type":"{kind}","request_seq":{request},"success":true,"event":"x"}}"#
        )),
        1 => "[ -~]{0,20}",
        1 => Just(String::new()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_pieces_of_a_stream_do_not_matter(pieces in prop::collection::vec(any::<u8>(), 0..15), stream in stream()) {
        let count = u8::try_from(pieces.len()).expect("fewer than 16");
        pieces_do_not_matter(&[&[count], &pieces[..], &stream].concat());
    }

    #[test]
    fn a_message_that_is_read_can_be_written_and_read_again(text in spoiled_message()) {
        decoding_is_stable(&text);
    }

    #[test]
    fn a_fraction_is_kept_to_its_last_digit(fraction in 0.0..100.0f64) {
        decoding_is_stable(&format!(
            r#"{{"seq":1,"type":"event","event":"progressUpdate","body":{{"progressId":"1","percentage":{fraction:.25}}}}}"#
        ));
    }

    #[test]
    fn a_session_answers_each_request_once_and_keeps_the_rules(lines in prop::collection::vec(line(), 0..30)) {
        each_request_has_one_response(&lines.join("\n"));
    }
}
