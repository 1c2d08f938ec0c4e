//! The envelope of a message: its kind, number and name, around a payload.
//!
//! Decoding has two stages. An [`Envelope`] tells request, response and event apart and borrows the payload's text: routing,
//! tracing and proxying need no more. [`crate::message::decode`] turns the payload into a typed value on demand. Keys may come
//! in any order; adapters that sort theirs put `body` before `type`.
//!
//! This module does not judge whether a message may be sent now: that is [`crate::lifecycle`].

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json;

/// A received message, its payload not yet decoded, or a message to be [sent](crate::codec::encode_envelope) with any payload that
/// can be serialized.
#[derive(Debug, Clone)]
pub struct Envelope<'a, P = &'a RawValue> {
    /// The sender's number for this message. Senders should count from 1; a received number is kept as it is.
    pub seq: i64,
    /// The rest, by the kind of message.
    pub kind: Kind<'a, P>,
}

/// A message's `type`, with the fields of that type.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Kind<'a, P = &'a RawValue> {
    /// Asks the peer for something. The peer has to answer with one response.
    Request {
        /// The command.
        command: Cow<'a, str>,
        /// The arguments; their text if the message was received. `null` counts as absent.
        arguments: Option<P>,
    },
    /// Answers a request.
    Response {
        /// The request's `seq`.
        request_seq: i64,
        /// Whether `body` is the result. If not, it may hold details of the error.
        success: bool,
        /// The request's command.
        command: Cow<'a, str>,
        /// The error in short, if there is one.
        message: Option<Cow<'a, str>>,
        /// The body; its text if the message was received. `null` counts as absent.
        body: Option<P>,
    },
    /// Reports that something happened.
    Event {
        /// The event's name.
        event: Cow<'a, str>,
        /// The body; its text if the message was received. `null` counts as absent.
        body: Option<P>,
    },
}

/// Why a text is not a message of the protocol.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnvelopeError {
    /// The text is not JSON, or not an object.
    #[error("not a JSON object: {reason}")]
    NotJson {
        /// What the JSON parser found, and where.
        reason: String,
    },
    /// The text is a JSON object, but not of a message's shape.
    #[error("`{field}`: {reason}")]
    Shape {
        /// The field that is missing or wrong.
        field: &'static str,
        /// What was expected, and what was found.
        reason: String,
        /// The message's `seq` if an error response can be sent: `seq` is readable, and the message may be a request.
        answer_to: Option<i64>,
    },
}

/// All fields of an envelope, with their expected types.
#[derive(Deserialize)]
struct Wire<'a> {
    seq: i64,
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    command: Option<Text<'a>>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(default)]
    request_seq: Option<i64>,
    #[serde(default)]
    success: Option<bool>,
    #[serde(borrow, default)]
    message: Option<Text<'a>>,
    #[serde(borrow, default)]
    event: Option<Text<'a>>,
    #[serde(borrow, default)]
    body: Option<&'a RawValue>,
}

/// A string that borrows if it has no escapes. serde would copy a plain `Cow` inside an `Option`.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// The fields as raw values, to find the one that an error is about.
#[derive(Deserialize)]
struct Pieces<'a> {
    #[serde(borrow, default)]
    seq: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow, default)]
    command: Option<&'a RawValue>,
    #[serde(borrow, default)]
    request_seq: Option<&'a RawValue>,
    #[serde(borrow, default)]
    success: Option<&'a RawValue>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    event: Option<&'a RawValue>,
}

impl<'a> Envelope<'a> {
    /// Reads the envelope of a message's text.
    ///
    /// # Errors
    /// The text is not JSON, or a field of the envelope is missing or of the wrong type.
    pub fn parse(text: &'a str) -> Result<Self, EnvelopeError> {
        // serde would also accept an array, as the fields in order.
        if !text.trim_ascii_start().starts_with('{') {
            return Err(EnvelopeError::NotJson {
                reason: "expected `{` at the start".to_owned(),
            });
        }
        if let Some(wire) = Wire::quick(text) {
            return wire.into_envelope();
        }
        match serde_json::from_str::<Wire<'a>>(text) {
            Ok(wire) => wire.into_envelope(),
            Err(error) => Err(explain(text, &error)),
        }
    }
}

impl<P> Envelope<'_, P> {
    /// The command, or the event's name.
    pub fn name(&self) -> &str {
        self.kind.name()
    }
}

impl<'a, P> Kind<'a, P> {
    /// A request.
    pub fn request(command: impl Into<Cow<'a, str>>, arguments: Option<P>) -> Self {
        Self::Request {
            command: command.into(),
            arguments,
        }
    }

    /// A response to a request that succeeded. `request_seq` is the request's number.
    pub fn success(request_seq: i64, command: impl Into<Cow<'a, str>>, body: Option<P>) -> Self {
        Self::Response {
            request_seq,
            success: true,
            command: command.into(),
            message: None,
            body,
        }
    }

    /// A response to a request that failed: with the error in short, and its details in the form of `ErrorResponse`.
    pub fn failure(
        request_seq: i64,
        command: impl Into<Cow<'a, str>>,
        message: impl Into<Cow<'a, str>>,
        body: Option<P>,
    ) -> Self {
        Self::Response {
            request_seq,
            success: false,
            command: command.into(),
            message: Some(message.into()),
            body,
        }
    }

    /// An event.
    pub fn event(event: impl Into<Cow<'a, str>>, body: Option<P>) -> Self {
        Self::Event {
            event: event.into(),
            body,
        }
    }

    /// The command, or the event's name.
    pub fn name(&self) -> &str {
        match self {
            Self::Request { command, .. } | Self::Response { command, .. } => command,
            Self::Event { event, .. } => event,
        }
    }

    /// The arguments or the body.
    pub fn payload(&self) -> Option<&P> {
        match self {
            Self::Request { arguments, .. } => arguments.as_ref(),
            Self::Response { body, .. } | Self::Event { body, .. } => body.as_ref(),
        }
    }
}

impl<'a> Wire<'a> {
    /// Reads common input by the fast path. `None` if the fast path gives up: serde_json then reads the text or finds the error.
    fn quick(text: &'a str) -> Option<Self> {
        let (mut seq, mut kind, mut command, mut event) = (None, None, None, None);
        let (mut request_seq, mut success) = (None, None);
        let (mut message, mut arguments, mut body) = (None, None, None);
        json::read_object(text, |reader, key| match key {
            "seq" => reader.fill(&mut seq),
            "type" => reader.fill_string(&mut kind),
            "command" => reader.fill_string(&mut command),
            "arguments" => reader.fill::<&RawValue>(&mut arguments),
            "request_seq" => reader.fill(&mut request_seq),
            "success" => reader.fill(&mut success),
            "message" => reader.fill_string(&mut message),
            "event" => reader.fill_string(&mut event),
            "body" => reader.fill::<&RawValue>(&mut body),
            _ => reader.skip().map(drop),
        })?;
        Some(Self {
            seq: seq?,
            kind: kind?,
            command: command.map(Text),
            arguments,
            request_seq,
            success,
            message: message.map(Text),
            event: event.map(Text),
            body,
        })
    }

    fn into_envelope(self) -> Result<Envelope<'a>, EnvelopeError> {
        let seq = self.seq;
        let kind = &*self.kind;
        let missing = |field: &'static str, expected: &str| EnvelopeError::Shape {
            field,
            reason: format!("missing in this {kind}, expected {expected}"),
            answer_to: (kind == "request").then_some(seq),
        };
        let kind = match kind {
            "request" => Kind::Request {
                command: self
                    .command
                    .ok_or_else(|| missing("command", "a string"))?
                    .0,
                arguments: self.arguments.filter(|raw| !is_null(raw)),
            },
            "response" => Kind::Response {
                request_seq: self
                    .request_seq
                    .ok_or_else(|| missing("request_seq", "an integer"))?,
                success: self
                    .success
                    .ok_or_else(|| missing("success", "a boolean"))?,
                command: self
                    .command
                    .ok_or_else(|| missing("command", "a string"))?
                    .0,
                message: self.message.map(|text| text.0),
                body: self.body.filter(|raw| !is_null(raw)),
            },
            "event" => Kind::Event {
                event: self.event.ok_or_else(|| missing("event", "a string"))?.0,
                body: self.body.filter(|raw| !is_null(raw)),
            },
            other => {
                return Err(EnvelopeError::Shape {
                    field: "type",
                    reason: format!(
                        "expected `request`, `response` or `event`, found {}",
                        quoted(other)
                    ),
                    answer_to: Some(seq),
                });
            }
        };
        Ok(Envelope { seq, kind })
    }
}

fn is_null(raw: &RawValue) -> bool {
    raw.get() == "null"
}

/// The error about the first wrong field. The fields are checked in the order of this function, not in that of the text.
fn explain(text: &str, error: &serde_json::Error) -> EnvelopeError {
    let pieces = match serde_json::from_str::<Pieces<'_>>(text) {
        Ok(pieces) => pieces,
        // The error of this parse, not the one that was passed: that may quote a field's whole value, though the text is not JSON at all.
        Err(error) => {
            return EnvelopeError::NotJson {
                reason: error.to_string(),
            };
        }
    };
    let seq = pieces
        .seq
        .and_then(|raw| serde_json::from_str::<i64>(raw.get()).ok());
    let kind = pieces
        .kind
        .and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
    let answerable = matches!(kind.as_deref(), None | Some("request"));
    let shape = |field, reason| EnvelopeError::Shape {
        field,
        reason,
        answer_to: seq.filter(|_| answerable),
    };
    let wrong = |raw: Option<&RawValue>, expected: &str| match raw {
        None => format!("missing, expected {expected}"),
        Some(raw) => format!("expected {expected}, found {}", found(raw)),
    };
    if seq.is_none() {
        return shape("seq", wrong(pieces.seq, "an integer"));
    }
    if kind.is_none() {
        return shape(
            "type",
            wrong(pieces.kind, "`request`, `response` or `event`"),
        );
    }
    let texts = [
        ("command", pieces.command),
        ("message", pieces.message),
        ("event", pieces.event),
    ];
    for (field, raw) in texts {
        if raw
            .is_some_and(|raw| !is_null(raw) && serde_json::from_str::<String>(raw.get()).is_err())
        {
            return shape(field, wrong(raw, "a string"));
        }
    }
    if let Some(raw) = pieces.request_seq
        && serde_json::from_str::<i64>(raw.get()).is_err()
    {
        return shape("request_seq", wrong(Some(raw), "an integer"));
    }
    if let Some(raw) = pieces.success
        && serde_json::from_str::<bool>(raw.get()).is_err()
    {
        return shape("success", wrong(Some(raw), "a boolean"));
    }
    EnvelopeError::NotJson {
        reason: error.to_string(),
    }
}

/// The longest value that an error message shows, in bytes.
const SHOWN: usize = 40;

/// A string for an error message; a long one is not shown.
fn quoted(text: &str) -> String {
    if text.len() > SHOWN {
        "a long string".to_owned()
    } else {
        format!("`{text}`")
    }
}

/// A value for an error message: its text, or only its type if it is long, an object or an array.
fn found(raw: &RawValue) -> String {
    let text = raw.get();
    match text.as_bytes().first() {
        Some(b'{') => "an object".to_owned(),
        Some(b'[') => "an array".to_owned(),
        Some(b'"') if text.len() > SHOWN => "a long string".to_owned(),
        _ if text.len() > SHOWN => "a long number".to_owned(),
        _ => text.to_owned(),
    }
}
