//! Any message as one typed value: for tracers, recorders, proxies and tests, which read all messages of either side.
//!
//! A program that knows which message to expect, or needs only some of them, is better served by two stages, as server and client
//! are: [`Envelope::parse`], then [`message::decode`] for the payload. Whether a message may be sent now
//! is checked by [`crate::lifecycle`], not here.
//!
//! The trick worth knowing: the payload is decoded in the single pass over the message. For that, the message's name must be known
//! first. Some adapters sort their keys, so that the name follows the payload. Then the name is guessed from the message's end, and
//! the guess is checked when the name is read. If the single pass fails, the message is decoded in two stages, which also find the
//! error.

use serde::de::Deserializer;
use serde::ser::{Error as _, Serializer};
use serde::{Deserialize, Serialize, de};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::io::{self, BufRead, Write};

use crate::codec;
use crate::envelope::{Envelope, EnvelopeError, Kind};
use crate::json::{self, Reader, Unsupported};
use crate::message::{self, DecodeError, Raw};
use crate::types::{AnyEvent, AnyRequest, AnyResponse, ErrorResponse};

/// Any message, with its payload.
///
/// ```
/// use dapple_dap::AnyMessage;
/// use dapple_dap::types::{AnyEvent, StoppedEventReason};
///
/// let text = r#"{"seq":7,"type":"event","event":"stopped","body":{"reason":"step"}}"#;
/// let message = AnyMessage::decode(text)?;
/// let AnyMessage::Event { seq: 7, event: AnyEvent::Stopped(body) } = &message else { panic!("{message:?}") };
/// assert_eq!(body.reason, StoppedEventReason::Step);
///
/// let mut bytes = Vec::new();
/// message.encode_into(&mut bytes)?;
/// assert_eq!(bytes, format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(
    clippy::large_enum_variant,
    reason = "short-lived; most are read once and taken apart"
)]
pub enum AnyMessage {
    /// Asks the peer for something.
    Request {
        /// The sender's number for this message.
        seq: i64,
        /// The request with its arguments.
        request: AnyRequest,
    },
    /// Answers a request that succeeded.
    Response {
        /// The sender's number for this message.
        seq: i64,
        /// The request's `seq`.
        request_seq: i64,
        /// The field `message`, which only a response to a failed request should have.
        message: Option<String>,
        /// The result.
        response: AnyResponse,
    },
    /// Answers a request that failed.
    Failure {
        /// The sender's number for this message.
        seq: i64,
        /// The request's `seq`.
        request_seq: i64,
        /// The request's command.
        command: String,
        /// The error in short, if there is one.
        message: Option<String>,
        /// The error's details.
        error: ErrorResponse,
    },
    /// Reports that something happened.
    Event {
        /// The sender's number for this message.
        seq: i64,
        /// The event with its body.
        event: AnyEvent,
    },
}

/// Why a text is not a message of the protocol.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MessageError {
    /// The envelope cannot be read.
    #[error(transparent)]
    Envelope(#[from] EnvelopeError),
    /// The payload does not have the shape that belongs to the message's name.
    #[error("{name}: {error}")]
    Payload {
        /// The command, or the event's name.
        name: String,
        /// What is wrong with the payload.
        error: DecodeError,
    },
}

impl AnyMessage {
    /// Reads a message's text.
    ///
    /// # Errors
    /// The text is not a message, or the payload does not have the shape that belongs to the message's name.
    pub fn decode(text: &str) -> Result<Self, MessageError> {
        // The result is filled in place, since returning a large message from function to function would move it each time.
        let mut parts = Parts::default();
        if parts.read(text).is_some()
            && let Some(message) = parts.whole
        {
            return Ok(message);
        }
        Self::decode_in_two_stages(text)
    }

    fn decode_in_two_stages(text: &str) -> Result<Self, MessageError> {
        let envelope = Envelope::parse(text)?;
        let seq = envelope.seq;
        let name = envelope.name().to_owned();
        let message = match envelope.kind {
            Kind::Request { command, arguments } => AnyRequest::decode(&command, arguments)
                .map(|request| Self::Request { seq, request }),
            Kind::Response {
                request_seq,
                success: true,
                command,
                message,
                body,
            } => AnyResponse::decode(&command, body).map(|response| Self::Response {
                seq,
                request_seq,
                message: message.map(Cow::into_owned),
                response,
            }),
            Kind::Response {
                request_seq,
                success: false,
                command,
                message,
                body,
            } => message::decode_or_default(body).map(|error| Self::Failure {
                seq,
                request_seq,
                command: command.into_owned(),
                message: message.map(Cow::into_owned),
                error,
            }),
            Kind::Event { event, body } => {
                AnyEvent::decode(&event, body).map(|event| Self::Event { seq, event })
            }
        };
        message.map_err(|error| MessageError::Payload { name, error })
    }

    /// Appends the message, with its header, to `bytes`.
    ///
    /// # Errors
    /// A value in the message cannot be written as JSON. `bytes` is unchanged then.
    pub fn encode_into(&self, bytes: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        codec::encode_envelope(bytes, &self.envelope())
    }

    /// Reads the next message from a blocking stream; `None` at its end. See [`codec::read`].
    ///
    /// ```
    /// use dapple_dap::AnyMessage;
    ///
    /// let mut bytes = Vec::new();
    /// AnyMessage::decode(r#"{"seq":1,"type":"request","command":"threads"}"#)?.write(&mut bytes)?;
    /// let mut input = &bytes[..];
    /// while let Some(message) = AnyMessage::read(&mut input)? {
    ///     assert_eq!(message.name(), "threads");
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`codec::read`]. [`InvalidData`](io::ErrorKind::InvalidData) with a [`MessageError`]: the text that was read is not a
    /// message. The next one can be read then.
    pub fn read(input: &mut impl BufRead) -> io::Result<Option<Self>> {
        let Some(text) = codec::read(input)? else {
            return Ok(None);
        };
        let message = Self::decode(&text);
        message
            .map(Some)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }

    /// Writes the message, with its header, to a blocking stream, and flushes it.
    ///
    /// # Errors
    /// The stream's. [`InvalidData`](io::ErrorKind::InvalidData): a value cannot be written as JSON; nothing was written then.
    pub fn write(&self, output: &mut impl Write) -> io::Result<()> {
        let mut bytes = Vec::new();
        self.encode_into(&mut bytes)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        output.write_all(&bytes)?;
        output.flush()
    }

    /// Reads a message that is a value already. Fields that the types do not have are lost;
    /// [`WithUnknown`](message::WithUnknown) keeps them.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn from_data(data: &Value) -> Result<Self, MessageError> {
        Self::decode(&data.to_string())
    }

    /// The message as a value.
    ///
    /// # Errors
    /// A value in the message cannot be written as JSON.
    pub fn as_data(&self) -> Result<Value, serde_json::Error> {
        serde_json::from_str(&self.text()?)
    }

    /// The message's JSON.
    fn text(&self) -> Result<String, serde_json::Error> {
        codec::envelope_text(&self.envelope())
    }

    fn envelope(&self) -> Envelope<'_, Payload<'_>> {
        let kind = match self {
            Self::Request { request, .. } => {
                Kind::request(request.name(), Some(Payload::Request(request)))
            }
            Self::Event { event, .. } => Kind::event(event.name(), Some(Payload::Event(event))),
            Self::Response {
                request_seq,
                message,
                response,
                ..
            } => Kind::Response {
                request_seq: *request_seq,
                success: true,
                command: response.name().into(),
                message: message.as_deref().map(Cow::Borrowed),
                body: Some(Payload::Response(response)),
            },
            Self::Failure {
                request_seq,
                command,
                message,
                error,
                ..
            } => Kind::Response {
                request_seq: *request_seq,
                success: false,
                command: command.into(),
                message: message.as_deref().map(Cow::Borrowed),
                body: Some(Payload::Failure(error)),
            },
        };
        Envelope {
            seq: self.seq(),
            kind,
        }
    }

    /// The sender's number for the message.
    pub fn seq(&self) -> i64 {
        match self {
            Self::Request { seq, .. }
            | Self::Response { seq, .. }
            | Self::Failure { seq, .. }
            | Self::Event { seq, .. } => *seq,
        }
    }

    /// The command, or the event's name.
    pub fn name(&self) -> &str {
        match self {
            Self::Request { request, .. } => request.name(),
            Self::Response { response, .. } => response.name(),
            Self::Failure { command, .. } => command,
            Self::Event { event, .. } => event.name(),
        }
    }
}

/// The fields that determine the type of a payload.
#[derive(Debug, Clone, Copy, PartialEq)]
enum About<'a> {
    Request(&'a str),
    Response(&'a str),
    Failure,
    Event(&'a str),
}

/// A message's fields as far as the fast path has read them.
#[derive(Default)]
struct Parts<'a> {
    seq: Option<i64>,
    kind: Option<Cow<'a, str>>,
    command: Option<Cow<'a, str>>,
    event: Option<Cow<'a, str>>,
    request_seq: Option<i64>,
    success: Option<bool>,
    message: Option<Cow<'a, str>>,
    /// The payload's key, if it was read, even if the payload was `null`.
    payload_key: Option<&'static str>,
    /// The type that the payload was decoded as.
    about: Option<About<'a>>,
    /// The message with its decoded payload. The other fields are filled in at the end.
    whole: Option<AnyMessage>,
}

impl<'a> Parts<'a> {
    /// Reads the message into `whole`. `None` if the fast path gives up: decoding in two stages then reads the message or finds the error.
    fn read(&mut self, text: &'a str) -> Option<()> {
        json::read_object(text, |reader, key| match key {
            "seq" => reader.fill(&mut self.seq),
            "type" => reader.fill_string(&mut self.kind),
            "command" => reader.fill_string(&mut self.command),
            "event" => reader.fill_string(&mut self.event),
            "request_seq" => reader.fill(&mut self.request_seq),
            "success" => reader.fill(&mut self.success),
            "message" => reader.fill_string(&mut self.message),
            "arguments" => self.read_payload("arguments", text, reader),
            "body" => self.read_payload("body", text, reader),
            _ => reader.skip().map(drop),
        })?;
        self.finish()
    }

    fn read_payload(
        &mut self,
        key: &'static str,
        text: &'a str,
        reader: &mut Reader<'a>,
    ) -> json::Result<()> {
        if self.payload_key.replace(key).is_some() {
            return Err(Unsupported);
        }
        if reader.null()? {
            return Ok(());
        }
        let about = match key {
            "arguments" => borrowed(&self.command).map(About::Request),
            _ => match (borrowed(&self.event), borrowed(&self.command), self.success) {
                (Some(event), None, None) => Some(About::Event(event)),
                (None, Some(command), Some(true)) => Some(About::Response(command)),
                (None, Some(_), Some(false)) => Some(About::Failure),
                _ => None,
            },
        };
        let about = about.or_else(|| guess(key, text)).ok_or(Unsupported)?;
        self.about = Some(about);
        self.whole = Some(match about {
            About::Request(name) => AnyMessage::Request {
                seq: 0,
                request: AnyRequest::read(name, reader)?,
            },
            About::Response(name) => AnyMessage::Response {
                seq: 0,
                request_seq: 0,
                message: None,
                response: AnyResponse::read(name, reader)?,
            },
            About::Failure => AnyMessage::Failure {
                seq: 0,
                request_seq: 0,
                command: String::new(),
                message: None,
                error: ErrorResponse::deserialize(reader)?,
            },
            About::Event(name) => AnyMessage::Event {
                seq: 0,
                event: AnyEvent::read(name, reader)?,
            },
        });
        Ok(())
    }

    /// Fills in the fields other than the payload. `None` if a field is missing, or if the fields show that the payload was decoded as
    /// the wrong type.
    fn finish(&mut self) -> Option<()> {
        let (about, key) = match (self.kind.as_deref()?, self.success) {
            ("request", _) => (About::Request(self.command.as_deref()?), "arguments"),
            ("response", Some(true)) => (About::Response(self.command.as_deref()?), "body"),
            ("response", Some(false)) => (About::Failure, "body"),
            ("event", _) => (About::Event(self.event.as_deref()?), "body"),
            _ => return None,
        };
        if self.payload_key.is_some_and(|found| found != key)
            || self.about.is_some_and(|assumed| assumed != about)
        {
            return None;
        }
        if self.about.is_none() {
            self.whole = Some(Self::without_payload(about)?);
        }
        let text = self.message.take().map(Cow::into_owned);
        match self.whole.as_mut()? {
            AnyMessage::Request { seq, .. } | AnyMessage::Event { seq, .. } => *seq = self.seq?,
            AnyMessage::Response {
                seq,
                request_seq,
                message,
                ..
            } => (*seq, *request_seq, *message) = (self.seq?, self.request_seq?, text),
            AnyMessage::Failure {
                seq,
                request_seq,
                command,
                message,
                ..
            } => {
                (*seq, *request_seq, *message) = (self.seq?, self.request_seq?, text);
                *command = self.command.take()?.into_owned();
            }
        }
        Some(())
    }

    fn without_payload(about: About<'_>) -> Option<AnyMessage> {
        Some(match about {
            About::Request(name) => AnyMessage::Request {
                seq: 0,
                request: AnyRequest::decode(name, None).ok()?,
            },
            About::Response(name) => AnyMessage::Response {
                seq: 0,
                request_seq: 0,
                message: None,
                response: AnyResponse::decode(name, None).ok()?,
            },
            About::Failure => AnyMessage::Failure {
                seq: 0,
                request_seq: 0,
                command: String::new(),
                message: None,
                error: ErrorResponse::new(),
            },
            About::Event(name) => AnyMessage::Event {
                seq: 0,
                event: AnyEvent::decode(name, None).ok()?,
            },
        })
    }
}

/// The string, if it was read and is borrowed from the text because it has no escapes.
fn borrowed<'a>(text: &Option<Cow<'a, str>>) -> Option<&'a str> {
    match text {
        Some(Cow::Borrowed(text)) => Some(text),
        _ => None,
    }
}

/// Guesses the payload's type from the keys at the message's end. `None` if the keys that determine the type are not there.
fn guess<'a>(payload_key: &str, text: &'a str) -> Option<About<'a>> {
    // Long enough for the fields that may follow a payload, unless one is a long error `message`.
    const END: usize = 200;
    let start = text.len().saturating_sub(END);
    let end = (start..start + 4).find_map(|start| text.get(start..))?;
    let value = |key: &str| {
        end.rmatch_indices(key).find_map(|(at, _)| {
            let behind = end[at + key.len()..].trim_ascii_start();
            Some(behind.strip_prefix(':')?.trim_ascii_start())
        })
    };
    let name = |key| value(key)?.strip_prefix('"')?.split('"').next();
    if payload_key == "arguments" {
        return name("\"command\"").map(About::Request);
    }
    match (name("\"event\""), name("\"command\"")) {
        (Some(event), None) => Some(About::Event(event)),
        (None, Some(command)) => Some(if value("\"success\"")?.starts_with("true") {
            About::Response(command)
        } else {
            About::Failure
        }),
        _ => None,
    }
}

/// A typed payload of any message.
enum Payload<'a> {
    Request(&'a AnyRequest),
    Response(&'a AnyResponse),
    Failure(&'a ErrorResponse),
    Event(&'a AnyEvent),
}

impl Serialize for Payload<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Request(request) => request.serialize(serializer),
            Self::Response(response) => response.serialize(serializer),
            Self::Failure(error) => error.serialize(serializer),
            Self::Event(event) => event.serialize(serializer),
        }
    }
}

/// As JSON only: the message is passed on as a text.
impl Serialize for AnyMessage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.text().map_err(S::Error::custom)?;
        Raw::from_text(text)
            .map_err(S::Error::custom)?
            .serialize(serializer)
    }
}

/// From JSON only, as it is written.
impl<'de> Deserialize<'de> for AnyMessage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        Self::decode(text.get()).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests;
