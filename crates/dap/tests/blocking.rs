//! Messages over blocking streams and as values, without a session.

use std::io::{BufReader, ErrorKind, Read};

use dapple_dap::message::{WithUnknown, as_data, from_data};
use dapple_dap::types::*;
use dapple_dap::{AnyMessage, codec};
use serde_json::json;

/// Gives one byte at a time.
struct Slowly<'a>(&'a [u8]);

impl Read for Slowly<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let (Some(place), Some((first, rest))) = (buffer.first_mut(), self.0.split_first()) else {
            return Ok(0);
        };
        *place = *first;
        self.0 = rest;
        Ok(1)
    }
}

#[test]
fn messages_are_read_one_by_one_however_the_bytes_come() {
    let texts = [
        r#"{"seq":1,"type":"request","command":"threads"}"#,
        r#"{"seq":2,"type":"event","event":"stopped","body":{"reason":"é"}}"#,
    ];
    let mut bytes = Vec::new();
    for text in texts {
        AnyMessage::decode(text)
            .expect("a message")
            .write(&mut bytes)
            .expect("memory");
    }
    bytes.extend_from_slice(b"rest");
    let mut whole = &bytes[..];
    for text in texts {
        assert_eq!(
            codec::read(&mut whole).expect("a message").as_deref(),
            Some(text)
        );
    }
    assert_eq!(whole, b"rest", "nothing beyond the messages is taken");
    let mut slow = BufReader::with_capacity(1, Slowly(&bytes[..bytes.len() - 4]));
    for text in texts {
        let message = AnyMessage::read(&mut slow).expect("a message");
        assert_eq!(message, Some(AnyMessage::decode(text).expect("a message")));
    }
    assert_eq!(AnyMessage::read(&mut slow).expect("the end"), None);
}

#[test]
fn a_text_that_is_no_message_is_an_error_and_the_next_one_is_read() {
    let mut bytes = Vec::new();
    codec::write(&mut bytes, &json!({"seq": 1, "type": "nothing"})).expect("memory");
    codec::write(
        &mut bytes,
        &json!({"seq": 2, "type": "event", "event": "initialized"}),
    )
    .expect("memory");
    let mut input = &bytes[..];
    let error = AnyMessage::read(&mut input).expect_err("no message");
    assert_eq!(error.kind(), ErrorKind::InvalidData);
    assert!(error.to_string().contains("found `nothing`"), "{error}");
    let next = AnyMessage::read(&mut input)
        .expect("a message")
        .expect("one more");
    assert_eq!(next.name(), "initialized");
    let error = codec::read(&mut &b"Content-Length: 9\r\n\r\n{}"[..]).expect_err("half of one");
    assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
    let error = codec::read(&mut &b"Content-Length: x\r\n\r\n{}"[..]).expect_err("no length");
    assert_eq!(error.kind(), ErrorKind::InvalidData);
}

#[test]
fn messages_as_values_keep_what_their_types_do_not_have_when_asked() {
    let data = json!({
        "seq": 3, "type": "response", "request_seq": 1, "success": true, "command": "stackTrace", "vendor": true,
        "body": {"stackFrames": [
            {"id": 1, "name": "main", "line": 1, "column": 1, "vendor/pc": "0x10", "source": {"path": "a.c", "vendor": null}},
            {"id": 2, "name": "start", "line": 0, "column": 0},
        ]},
    });
    let plain = AnyMessage::from_data(&data).expect("a message");
    let without = plain.as_data().expect("JSON");
    assert_eq!(without["body"]["stackFrames"][0].get("vendor/pc"), None);
    assert_eq!(
        without["body"]["stackFrames"][1],
        data["body"]["stackFrames"][1]
    );

    let mut kept = WithUnknown::<AnyMessage>::from_data(&data).expect("a message");
    assert_eq!(kept.value, plain);
    assert_eq!(kept.as_data().expect("JSON"), data);
    let paths: Vec<String> = kept.unknown().into_iter().map(|(path, _)| path).collect();
    assert_eq!(
        paths,
        [
            "body.stackFrames[0].source.vendor",
            "body.stackFrames[0].vendor/pc",
            "vendor"
        ]
    );
    // Whose they were is unknown once the list has another length.
    let AnyMessage::Response {
        response: AnyResponse::StackTrace(stack),
        ..
    } = &mut kept.value
    else {
        panic!("{kept:?}");
    };
    stack.stack_frames.remove(0);
    let data = kept.as_data().expect("JSON");
    assert_eq!(
        data["body"]["stackFrames"],
        json!([{"id": 2, "name": "start", "line": 0, "column": 0}])
    );
    assert_eq!(data["vendor"], true);
}

#[test]
fn payloads_as_values_keep_raw_parts_and_name_the_wrong_field() {
    let data = json!({"program": {"a": [1, 2.5]}, "noDebug": false});
    let arguments: LaunchRequestArguments = from_data(&data).expect("arguments");
    assert_eq!(as_data(&arguments).expect("JSON"), data);
    let error = from_data::<Thread>(&json!({"id": "1", "name": "main"})).expect_err("no number");
    assert_eq!(error.path, "id");
}
