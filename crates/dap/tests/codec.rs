//! The codec on whole streams: any pieces, junk in the headers, wrong lengths.

use dapple_dap::codec::{CodecError, Decoder, encode};
use dapple_dap::envelope::{Envelope, EnvelopeError, Kind};
use proptest::prelude::*;

/// All messages and errors that a decoder returns, in order.
fn read(decoder: &mut Decoder) -> Vec<Result<String, CodecError>> {
    let mut found = Vec::new();
    loop {
        match decoder.next() {
            Ok(None) => return found,
            Ok(Some(text)) => found.push(Ok(text)),
            Err(error) => found.push(Err(error)),
        }
    }
}

fn read_all(bytes: &[u8]) -> Vec<Result<String, CodecError>> {
    let mut decoder = Decoder::new();
    decoder.push(bytes);
    read(&mut decoder)
}

fn frame(text: &str) -> Vec<u8> {
    format!("Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes()
}

#[test]
fn encoding_writes_the_length_in_bytes_and_no_other_header() {
    let bytes = encode(&"ü").expect("a string is JSON");
    assert_eq!(
        String::from_utf8(bytes).expect("UTF-8"),
        "Content-Length: 4\r\n\r\n\"ü\""
    );
    let long = "x".repeat(100_000);
    assert_eq!(encode(&long).expect("JSON"), frame(&format!("\"{long}\"")));
}

#[test]
fn header_names_have_no_case_and_unknown_headers_are_skipped() {
    for headers in [
        "content-length:2\r\n\r\n",
        "CONTENT-LENGTH :   2  \r\n\r\n",
        "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2\r\n\r\n",
        "Content-Length: 2\r\nX: y\r\nContent-Length: 2\r\n\r\n",
        "Content-Length: 2\n\n",
        "\r\n\r\nContent-Length: 2\r\n\r\n",
    ] {
        let bytes = [headers.as_bytes(), b"{}"].concat();
        assert_eq!(read_all(&bytes), [Ok("{}".to_owned())], "{headers:?}");
    }
}

#[test]
fn a_line_that_is_no_header_is_reported_and_the_message_behind_it_is_read() {
    let found = read_all(b"starting up...\nContent-Length: 2\r\n\r\n{}");
    assert_eq!(
        found,
        [
            Err(CodecError::NotAHeader {
                line: "starting up...".to_owned()
            }),
            Ok("{}".to_owned())
        ]
    );
}

/// The bytes after the bad header are skipped up to the next message, whose header stands on the line on which the skipped body ends.
#[test]
fn a_length_that_cannot_be_read_is_skipped_with_what_follows() {
    for value in [
        "-1",
        "+1",
        "1e3",
        "0x10",
        "",
        "99999999999999999999999",
        "1 2",
        "\u{1b}[0m",
    ] {
        let mut bytes = format!("Content-Length: {value}\r\n\r\n{{\"a\":1}}").into_bytes();
        bytes.extend(frame("{}"));
        bytes.extend(frame("[]"));
        let mut decoder = Decoder::new();
        decoder.push(&bytes);
        let found = read(&mut decoder);
        assert!(
            matches!(
                found.as_slice(),
                [Err(CodecError::BadLength { .. }), Ok(first), Ok(second)]
                    if first == "{}" && second == "[]"
            ),
            "{value:?}: {found:?}"
        );
        assert!(decoder.is_between_messages());
    }
}

#[test]
fn two_lengths_and_no_length_are_skipped_with_what_follows() {
    let whole = |begin: &str| {
        let mut bytes = begin.as_bytes().to_vec();
        bytes.extend(frame("{}"));
        read_all(&bytes)
    };
    let next = || Ok("{}".to_owned());
    assert_eq!(
        whole("Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"),
        [
            Err(CodecError::TwoLengths {
                first: 2,
                second: 3
            }),
            next()
        ]
    );
    assert_eq!(
        whole("Content-Type: x\r\n\r\n{\"text\": \"a\\nb\"}"),
        [Err(CodecError::NoLength), next()]
    );
}

/// The length was too short, so that the rest of the message stands in front of the next message's header.
#[test]
fn what_is_left_of_a_message_takes_no_other_with_it() {
    let mut bytes = b"Content-Length: 1\r\n\r\n{\"a\": 1}".to_vec();
    bytes.extend(frame("[]"));
    let found = read_all(&bytes);
    assert!(
        matches!(
            found.as_slice(),
            [Ok(first), Err(CodecError::NotAHeader { .. }), Ok(second)] if first == "{" && second == "[]"
        ),
        "{found:?}"
    );
}

#[test]
fn headers_that_do_not_end_are_told_once_and_skipped() {
    let mut decoder = Decoder::new();
    let mut found = Vec::new();
    for _ in 0..100 {
        decoder.push(&[b'a'; 1000]);
        found.extend(read(&mut decoder));
    }
    assert_eq!(found, [Err(CodecError::HeadersTooLong)]);
    decoder.push(&frame("{}"));
    assert_eq!(decoder.next(), Ok(Some("{}".to_owned())));
}

#[test]
fn a_message_behind_garbage_is_read_however_the_bytes_come() {
    let long = "#".repeat(20_000);
    let garbage: [&[u8]; 8] = [
        b"starting the adapter...\r\n",
        b"no line's end",
        b"info: no line's end",
        b"Content-Length: many\r\n\r\n{\"seq\":1}",
        b"Content-Length: many",
        b"Content-Type: json\r\n\r\n{\"seq\":1}",
        b"Content-Length: 3\r\nContent-Length: 4\r\n\r\n{}",
        long.as_bytes(),
    ];
    for garbage in garbage {
        let mut all = garbage.to_vec();
        all.extend(frame("{\"a\":1}"));
        all.extend(frame("{\"b\":2}"));
        let near = garbage.len().saturating_sub(70)..all.len() + 1;
        for at in (0..40).chain(near) {
            let mut decoder = Decoder::new();
            let mut texts = Vec::new();
            for piece in [&all[..at.min(all.len())], &all[at.min(all.len())..]] {
                decoder.push(piece);
                texts.extend(read(&mut decoder).into_iter().flatten());
            }
            assert_eq!(
                texts,
                ["{\"a\":1}", "{\"b\":2}"],
                "{} and {at} bytes",
                String::from_utf8_lossy(&garbage[..garbage.len().min(50)])
            );
        }
    }
}

#[test]
fn a_message_over_the_limit_ends_the_stream_at_once() {
    let mut decoder = Decoder::with_limit(10);
    decoder.push(b"Content-Length: 3000000\r\n\r\n");
    let error = decoder.next().expect_err("too long");
    assert_eq!(
        error,
        CodecError::TooLong {
            length: 3_000_000,
            limit: 10
        }
    );
    assert!(error.is_fatal() && decoder.is_lost());
    decoder.push(&frame("{}"));
    assert_eq!(decoder.next(), Ok(None), "nothing is read behind it");
}

#[test]
fn ten_gigabytes_are_claimed_and_not_allocated() {
    let mut decoder = Decoder::new();
    decoder.push(b"Content-Length: 10000000000\r\n\r\n{}");
    assert!(matches!(
        decoder.next(),
        Err(CodecError::TooLong {
            length: 10_000_000_000,
            ..
        })
    ));
    assert_eq!(decoder.next(), Ok(None));
}

#[test]
fn a_message_that_is_not_utf8_is_reported_and_the_next_is_read() {
    let mut bytes = b"Content-Length: 4\r\n\r\n\"a\xff\"".to_vec();
    bytes.extend(frame("{}"));
    assert_eq!(
        read_all(&bytes),
        [
            Err(CodecError::NotUtf8 {
                length: 4,
                offset: 2
            }),
            Ok("{}".to_owned())
        ]
    );
}

proptest! {
    #[test]
    fn any_pieces_give_the_same_messages(
        texts in prop::collection::vec(".{0,80}", 0..8),
        junk in prop::collection::vec("[A-Z][a-z-]{0,12}: [ -~]{0,20}", 0..3),
        cuts in prop::collection::vec(1usize..40, 1..30),
    ) {
        let mut stream = Vec::new();
        for text in &texts {
            for line in junk.iter().filter(|line| !line.to_lowercase().starts_with("content-length")) {
                stream.extend(line.as_bytes());
                stream.extend(b"\r\n");
            }
            stream.extend(frame(text));
        }
        let mut decoder = Decoder::new();
        let mut found = Vec::new();
        let mut rest = &stream[..];
        for &cut in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, behind) = rest.split_at(cut.min(rest.len()));
            decoder.push(piece);
            found.extend(read(&mut decoder));
            rest = behind;
        }
        let expected: Vec<_> = texts.into_iter().map(Ok).collect();
        prop_assert_eq!(found, expected);
        prop_assert!(decoder.is_between_messages());
    }

    #[test]
    fn garbage_never_panics_and_pieces_do_not_matter(
        bytes in prop::collection::vec(prop_oneof![
            any::<u8>(),
            Just(b'\n'), Just(b'\r'), Just(b':'), Just(b'1'),
        ], 0..300),
        prefix in prop_oneof![Just(""), Just("Content-Length: 5\r\n"), Just("Content-Length: 500\r\n\r\n")],
    ) {
        let stream = [prefix.as_bytes(), &bytes].concat();
        let mut whole = Decoder::with_limit(100);
        whole.push(&stream);
        let at_once = read(&mut whole);
        let mut decoder = Decoder::with_limit(100);
        let mut bit_by_bit = Vec::new();
        for byte in &stream {
            decoder.push(std::slice::from_ref(byte));
            bit_by_bit.extend(read(&mut decoder));
        }
        prop_assert_eq!(at_once, bit_by_bit);
        prop_assert_eq!(whole.is_lost(), decoder.is_lost());
    }

    #[test]
    fn an_envelope_is_read_or_refused_but_never_panics(text in "[{}\\[\\]\":,a-z0-9 ]{0,60}") {
        let _ = Envelope::parse(&text);
    }
}

#[test]
fn an_envelope_borrows_its_payload_whatever_the_order_of_keys() {
    let text = r#"{"body":{"threads":[ ]},"command":"threads","request_seq":3,"seq":9,"success":true,"type":"response"}"#;
    let envelope = Envelope::parse(text).expect("a response");
    assert_eq!((envelope.seq, envelope.name()), (9, "threads"));
    let Kind::Response {
        request_seq: 3,
        success: true,
        message: None,
        body: Some(body),
        ..
    } = envelope.kind
    else {
        panic!("not the response: {envelope:?}");
    };
    assert_eq!(body.get(), r#"{"threads":[ ]}"#);
    let range = text.as_bytes().as_ptr_range();
    assert!(
        range.contains(&body.get().as_ptr()),
        "the body is a part of the text"
    );
}

#[test]
fn a_null_payload_is_an_absent_one_and_escapes_in_names_are_read() {
    let envelope = Envelope::parse(
        r#"{"seq":1,"type":"request","command":"thr\u0065ads","arguments":null,"x":[1]}"#,
    );
    let Ok(Envelope {
        kind: Kind::Request {
            command,
            arguments: None,
        },
        ..
    }) = envelope
    else {
        panic!("not the request: {envelope:?}");
    };
    assert_eq!(command, "threads");
}

#[test]
fn a_wrong_envelope_names_the_field_and_who_could_be_answered() {
    let cases = [
        (
            r#"{"type":"request","command":"a"}"#,
            "`seq`: missing, expected an integer",
            None,
        ),
        (
            r#"{"seq":"1","type":"request","command":"a"}"#,
            "`seq`: expected an integer, found \"1\"",
            None,
        ),
        (
            r#"{"seq":1.5,"type":"request","command":"a"}"#,
            "`seq`: expected an integer, found 1.5",
            None,
        ),
        (
            r#"{"seq":4,"command":"a"}"#,
            "`type`: missing, expected `request`, `response` or `event`",
            Some(4),
        ),
        (
            r#"{"seq":4,"type":"call"}"#,
            "`type`: expected `request`, `response` or `event`, found `call`",
            Some(4),
        ),
        (
            r#"{"seq":4,"type":"request"}"#,
            "`command`: missing in this request, expected a string",
            Some(4),
        ),
        (
            r#"{"seq":4,"type":"request","command":{"a":1}}"#,
            "`command`: expected a string, found an object",
            Some(4),
        ),
        (
            r#"{"seq":4,"type":"response","command":"a","request_seq":"x","success":true}"#,
            "`request_seq`: expected an integer, found \"x\"",
            None,
        ),
        (
            r#"{"seq":4,"type":"response","command":"a","request_seq":1}"#,
            "`success`: missing in this response, expected a boolean",
            None,
        ),
        (
            r#"{"seq":4,"type":"event"}"#,
            "`event`: missing in this event, expected a string",
            None,
        ),
    ];
    for (text, expected, answer) in cases {
        let error = Envelope::parse(text).expect_err(text);
        assert_eq!(error.to_string(), expected, "{text}");
        let EnvelopeError::Shape { answer_to, .. } = error else {
            panic!("{text}: {error:?}")
        };
        assert_eq!(answer_to, answer, "{text}");
    }
    for text in ["", "[]", "null", "{", "{\"seq\":1", "{\"seq\":1,}", "\u{0}"] {
        let error = Envelope::parse(text).expect_err(text);
        assert!(
            matches!(error, EnvelopeError::NotJson { .. }),
            "{text:?}: {error:?}"
        );
    }
}

#[test]
fn deep_nesting_is_passed_over() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let text = format!(r#"{{"seq":1,"type":"event","event":"x","other":{deep},"body":{deep}}}"#);
    let envelope = Envelope::parse(&text).expect("an event");
    assert_eq!(envelope.name(), "x");
}
