//! Messages to be sent, and their JSON.

use std::borrow::Cow;

use crate::message::Raw;

/// A payload: JSON text, or nothing.
pub type Payload = Option<Raw>;

/// A message to be sent; its number is assigned by the [`Writer`](super::Writer).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Outgoing {
    /// A request.
    Request {
        /// Its command.
        command: Cow<'static, str>,
        /// Its arguments.
        arguments: Payload,
    },
    /// A response to a request that succeeded.
    Success {
        /// The request's number.
        request_seq: i64,
        /// The request's command.
        command: Cow<'static, str>,
        /// The result.
        body: Payload,
    },
    /// A response to a request that failed.
    Failure {
        /// The request's number.
        request_seq: i64,
        /// The request's command.
        command: Cow<'static, str>,
        /// The error in short.
        message: String,
        /// Details, in the form of `ErrorResponse`.
        body: Payload,
    },
    /// An event.
    Event {
        /// Its name.
        event: Cow<'static, str>,
        /// Its body.
        body: Payload,
    },
}

impl Outgoing {
    pub(super) fn payload(&self) -> Option<&Raw> {
        match self {
            Self::Request {
                arguments: payload, ..
            }
            | Self::Success { body: payload, .. }
            | Self::Failure { body: payload, .. }
            | Self::Event { body: payload, .. } => payload.as_ref(),
        }
    }

    /// The whole message as JSON. The payload's text is copied as it is.
    pub(crate) fn to_json(&self, seq: i64) -> String {
        let capacity = 128 + self.payload().map_or(0, |raw| raw.text().len());
        let mut json = String::with_capacity(capacity);
        let mut text = |part: &str| json.push_str(part);
        text("{\"seq\":");
        text(&seq.to_string());
        let payload_key = match self {
            Self::Request { command, .. } => {
                text(",\"type\":\"request\",\"command\":");
                text(&quoted(command));
                ",\"arguments\":"
            }
            Self::Success {
                request_seq,
                command,
                ..
            } => {
                text(",\"type\":\"response\",\"request_seq\":");
                text(&request_seq.to_string());
                text(",\"success\":true,\"command\":");
                text(&quoted(command));
                ",\"body\":"
            }
            Self::Failure {
                request_seq,
                command,
                message,
                ..
            } => {
                text(",\"type\":\"response\",\"request_seq\":");
                text(&request_seq.to_string());
                text(",\"success\":false,\"command\":");
                text(&quoted(command));
                text(",\"message\":");
                text(&quoted(message));
                ",\"body\":"
            }
            Self::Event { event, .. } => {
                text(",\"type\":\"event\",\"event\":");
                text(&quoted(event));
                ",\"body\":"
            }
        };
        if let Some(payload) = self.payload() {
            text(payload_key);
            text(payload.text());
        }
        text("}");
        json
    }
}

/// A JSON string. Writing one cannot fail.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_else(|_| "\"\"".to_owned())
}
