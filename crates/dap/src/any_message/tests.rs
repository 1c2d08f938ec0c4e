//! Compares messages decoded in one pass with those decoded in two stages.

use super::{AnyMessage, Parts};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Asserts that the fast path and decoding in two stages agree, and returns whether the fast path read the message.
fn agrees(text: &str) -> bool {
    let mut parts = Parts::default();
    let quick = parts.read(text).and(parts.whole);
    let slow = AnyMessage::decode_in_two_stages(text);
    if let Some(quick) = &quick {
        assert_eq!(Ok(quick), slow.as_ref(), "{text}");
    }
    assert_eq!(AnyMessage::decode(text), slow);
    quick.is_some()
}

/// Calls `each` once for each order of the fields, with the JSON object that has them in that order. `before` is the text of the
/// fields placed so far.
fn in_each_order(fields: &[(String, Value)], before: &str, each: &mut impl FnMut(&str)) {
    if fields.is_empty() {
        return each(&format!("{{{}}}", before.trim_end_matches(',')));
    }
    for i in 0..fields.len() {
        let mut rest = fields.to_vec();
        let (key, value) = rest.remove(i);
        let before = format!("{before}{}:{value},", Value::from(key));
        in_each_order(&rest, &before, each);
    }
}

fn fields(message: Value) -> Vec<(String, Value)> {
    match message {
        Value::Object(fields) => fields.into_iter().collect(),
        _ => Vec::new(),
    }
}

#[test]
fn messages_are_read_on_the_way_whatever_the_order_of_their_keys() {
    let variables = json!({"variables": [{"name": "\"command\":\"next\"", "value": "ü", "variablesReference": 0}]});
    for message in [
        json!({"seq": 1, "type": "request", "command": "next", "arguments": {"threadId": 7}}),
        json!({"seq": 1, "type": "request", "command": "threads"}),
        json!({"seq": 1, "type": "request", "command": "threads", "arguments": null}),
        json!({"seq": 1, "type": "request", "command": "vendor/x", "arguments": [1]}),
        json!({"seq": 1, "type": "event", "event": "stopped", "body": {"reason": "step"}}),
        json!({"seq": 1, "type": "event", "event": "initialized", "extra": 0}),
        json!({"seq": 1, "type": "event", "event": "vendor/x", "body": {"success": true}}),
        json!({"seq": 1, "type": "response", "request_seq": 2, "success": true, "command": "variables", "body": variables}),
        json!({"seq": 1, "type": "response", "request_seq": 2, "success": true, "command": "next", "body": null}),
        json!({"seq": 1, "type": "response", "request_seq": 2, "success": false, "command": "next", "message": "no",
            "body": {"error": {"id": 1, "format": "no"}}}),
        json!({"seq": 1, "type": "response", "request_seq": 2, "success": false, "command": "next", "body": {}}),
    ] {
        in_each_order(&fields(message), "", &mut |text| {
            assert!(agrees(text), "{text}");
        });
    }
}

#[test]
fn a_wrong_guess_does_no_harm() {
    let body = json!({"threads": [{"id": 1, "name": "x"}]});
    for (message, misleading) in [
        (json!("\"command\":\"next\""), r#""command":"next""#),
        (json!("no"), r#""event":"stopped""#),
        (json!("no"), r#""success":false"#),
    ] {
        let text = format!(
            r#"{{"body":{body},"command":"threads","message":{message},"request_seq":1,"seq":2,"success":true,"type":"response","x":{{{misleading}}}}}"#
        );
        agrees(&text);
        assert!(AnyMessage::decode(&text).is_ok(), "{text}");
    }
    // Misplaced fields: an event's name in a response, a second command, a body in a request, arguments in an event. Both decoders must
    // agree on them.
    for text in [
        r#"{"body":{},"event":"terminated","command":"next","request_seq":1,"seq":2,"success":true,"type":"response"}"#,
        r#"{"seq":1,"command":"next","command":"threads","type":"request"}"#,
        r#"{"seq":1,"command":"threads","body":{},"type":"request"}"#,
        r#"{"seq":1,"event":"stopped","arguments":{"threadId":1},"type":"event"}"#,
    ] {
        agrees(text);
    }
}

#[test]
fn errors_say_what_and_where() {
    for (text, error) in [
        ("[]", "not a JSON object: expected `{` at the start"),
        (
            r#"{"seq":1,"type":"request"}"#,
            "`command`: missing in this request, expected a string",
        ),
        (
            r#"{"seq":1,"type":"event","event":"exited","body":{"exitCode":"0"}}"#,
            "exited: `exitCode`: invalid type: string \"0\", expected i64",
        ),
        (
            r#"{"seq":1,"type":"event","event":"exited"}"#,
            "exited: missing field `exitCode`",
        ),
    ] {
        let found = AnyMessage::decode(text).expect_err(text).to_string();
        assert_eq!(found, error);
    }
}

#[test]
fn what_was_read_is_written_again() {
    for message in [
        json!({"seq": 1, "type": "request", "command": "next", "arguments": {"threadId": 7}}),
        json!({"seq": 2, "type": "request", "command": "threads"}),
        json!({"seq": 3, "type": "event", "event": "vendor/x", "body": {"a": 1}}),
        json!({"seq": 4, "type": "response", "request_seq": 2, "success": true, "command": "threads", "body": {"threads": []}}),
        json!({"seq": 5, "type": "response", "request_seq": 2, "success": true, "command": "next", "message": "odd"}),
        json!({"seq": 6, "type": "response", "request_seq": 2, "success": false, "command": "next", "message": "no",
            "body": {"error": {"id": 1, "format": "no"}}}),
    ] {
        let decoded = AnyMessage::decode(&message.to_string()).expect("it is a message");
        assert_eq!(decoded.seq(), message["seq"]);
        let name = message.get("event").or(message.get("command"));
        assert_eq!(Some(decoded.name()), name.and_then(Value::as_str));
        let mut bytes = b"before".to_vec();
        decoded.encode_into(&mut bytes).expect("it can be written");
        let text = String::from_utf8(bytes).expect("it is UTF-8");
        let (header, body) = text.split_once("\r\n\r\n").expect("it has a header");
        assert_eq!(header, format!("beforeContent-Length: {}", body.len()));
        assert_eq!(serde_json::from_str::<Value>(body).ok(), Some(message));
    }
}

/// A value for a field: right, wrong or odd.
fn piece() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        json!(null),
        json!(true),
        json!(false),
        json!(1),
        json!("request"),
        json!("response"),
        json!("event"),
        json!("threads"),
        json!("stopped"),
        json!("next"),
        json!("\"command\":\"next\""),
        json!({}),
        json!({"threads": []}),
        json!({"reason": "step"}),
        json!({"threadId": 1, "body": {"event": "stopped"}}),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn odd_messages_are_read_as_in_two_stages(
        fields in prop::collection::vec((prop::sample::select(vec![
            "seq", "type", "command", "event", "request_seq", "success", "message", "arguments", "body", "x",
        ]), piece()), 0..9)
    ) {
        let fields: Vec<String> = fields.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
        agrees(&format!("{{{}}}", fields.join(",")));
        agrees(&format!("{{\"seq\":1,\"type\":\"response\",\"request_seq\":1,{}}}", fields.join(",")));
    }
}
