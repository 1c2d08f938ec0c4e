//! What no client should send.

use serde_json::{Value, json};

use super::setup::{at_stop, disconnect, initialize};
use crate::rules;
use crate::talk::{Failed, Talk};

/// Unknown commands and fields, arguments of wrong types, and bytes that are no message, at a stop.
pub(super) fn bad_input(talk: &mut Talk<'_>) {
    if let Some(stop) = at_stop(talk) {
        let unknown = talk.ask("dapple/noSuchRequest", json!({}));
        talk.expects(rules::UNKNOWN_COMMAND_SUCCEEDS, unknown.is_err(), || {
            "a request that no adapter has succeeded: `dapple/noSuchRequest`".to_owned()
        });
        for (command, arguments) in [
            ("stackTrace", json!({"threadId": "one"})),
            ("stackTrace", json!([])),
            ("variables", json!({"variablesReference": {}})),
            ("scopes", Value::Null),
            ("setBreakpoints", json!({"source": 7, "breakpoints": 7})),
            ("evaluate", json!({"expression": 7})),
        ] {
            bad_arguments(talk, command, arguments);
        }
        let more = json!({"threadId": stop.thread, "levels": 1, "dappleUnknown": {"a": [1]}});
        if let Err(Failed::Error(reason)) = talk.ask("stackTrace", more) {
            talk.finds(
                rules::UNKNOWN_FIELD_FAILS,
                format!("a request with a field more failed: {reason}"),
            );
        }
        malformed(talk);
    }
    disconnect(talk);
}

fn bad_arguments(talk: &mut Talk<'_>, command: &str, arguments: Value) {
    if talk.is_gone() {
        return;
    }
    let asked = talk.ask(command, arguments.clone());
    talk.expects(rules::BAD_ARGUMENTS_SUCCEED, asked.is_err(), || {
        format!("`{command}` succeeded with the arguments {arguments}")
    });
}

/// A body that is not JSON: the adapter may say what it likes, but goes on.
fn malformed(talk: &mut Talk<'_>) {
    if talk.is_gone() {
        return;
    }
    talk.send_bytes(b"Content-Length: 9\r\n\r\n{\"seq\": 1");
    talk.ask("threads", Value::Null).ok();
}

/// Requests before `initialize`, and `initialize` twice.
pub(super) fn wrong_time(talk: &mut Talk<'_>) {
    let early = talk.ask("threads", Value::Null);
    talk.expects(rules::EARLY_REQUEST_SUCCEEDS, early.is_err(), || {
        "`threads` succeeded before `initialize`".to_owned()
    });
    if talk.is_gone() || initialize(talk).is_none() {
        return;
    }
    let again = talk.ask("initialize", json!({"adapterID": talk.options.adapter_id}));
    talk.expects(rules::SECOND_INITIALIZE_SUCCEEDS, again.is_err(), || {
        "a second `initialize` succeeded".to_owned()
    });
    disconnect(talk);
}
