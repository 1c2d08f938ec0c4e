//! Answers to breakpoints that were not set together in the recording: each one that was set there, alone or with others, gets its answer.

use serde_json::{Value, json};

use crate::session::{Content, Message};
use crate::words::items;

/// The body of a response to a request that sets breakpoints, put together from recorded responses. `None` for other requests.
pub(super) fn composed(messages: &[Message], command: &str, arguments: &Value) -> Option<Value> {
    let key = match command {
        "setBreakpoints" => "line",
        "setFunctionBreakpoints" => "name",
        "setDataBreakpoints" => "dataId",
        "setInstructionBreakpoints" => "instructionReference",
        "setExceptionBreakpoints" => return Some(Value::Null),
        _ => return None,
    };
    let path = |arguments: &Value| arguments.get("source")?.get("path").cloned();
    let answer = |wanted: &Value| {
        messages.iter().find_map(|message| {
            let Content::Response {
                command: recorded,
                body,
                request: Some(request),
                ..
            } = &message.content
            else {
                return None;
            };
            if recorded != command || path(&request.arguments) != path(arguments) {
                return None;
            }
            let asked = items(&request.arguments, "breakpoints");
            let at = asked
                .iter()
                .position(|one| one.get(key) == wanted.get(key))?;
            items(body, "breakpoints").get(at).cloned()
        })
    };
    let answers = items(arguments, "breakpoints").iter().map(|wanted| {
        answer(wanted).unwrap_or_else(|| {
            json!({"verified": false, "message": "the recording has no answer to this breakpoint"})
        })
    });
    Some(json!({"breakpoints": answers.collect::<Vec<_>>()}))
}
