//! The important parts of a message in a few words: arguments, results, what an event reports.
//!
//! What has no words of its own here, such as requests of an adapter's own, gets its first scalar fields.

mod events;
mod requests;
mod responses;

use serde_json::Value;

use crate::session::{Content, Message};
use crate::words::{listed, plain, quoted};

/// The details of a message, without its kind and name. Empty if there is nothing to say.
pub fn details(message: &Message) -> String {
    match &message.content {
        Content::Request {
            command, arguments, ..
        } => requests::details(command, arguments),
        Content::Response {
            command,
            success: true,
            body,
            request,
            ..
        } => {
            let arguments = request.as_ref().map(|request| &request.arguments);
            responses::details(command, arguments.unwrap_or(&Value::Null), body)
        }
        Content::Response { message, body, .. } => responses::error(message.as_deref(), body),
        Content::Event { event, body } => events::details(event, body),
        Content::Unreadable { reason } => plain(reason, 200),
    }
}

/// The first scalar fields of an object, with their names.
fn fields(value: &Value) -> String {
    let Value::Object(fields) = value else {
        return String::new();
    };
    let shown = fields.iter().filter_map(|(name, value)| {
        let value = match value {
            Value::String(text) => quoted(text),
            Value::Array(items) => format!("[{}]", items.len()),
            Value::Object(_) => "{…}".to_owned(),
            Value::Null => return None,
            other => other.to_string(),
        };
        Some(format!("{} {value}", plain(name, 40)))
    });
    listed(shown, 4)
}
