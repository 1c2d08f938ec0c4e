//! Any message as one typed value: for tracers, recorders, proxies and tests, which read all messages of either side.
//!
//! A program that knows which message to expect, or needs only some of them, is better served by the two stages of
//! [`Envelope`], as server and client are. Whether a message may be sent now is checked by [`crate::lifecycle`], not here.
//!
//! The trick worth knowing: the payload is decoded in the single pass over the message. For that, the message's name must be known
//! first. Some adapters sort their keys, so that the name follows the payload. Then the name is guessed from the message's end, and
//! the guess is checked when the name is read. If the single pass fails, the message is decoded in two stages, which also find the
//! error.

use serde::Deserialize;
use std::borrow::Cow;

use crate::codec;
use crate::envelope::{Envelope, EnvelopeError, Kind};
use crate::json::{self, Reader, Unsupported};
use crate::message::{self, DecodeError};
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
        fn response<'a, P>(
            request_seq: i64,
            success: bool,
            command: &'a str,
            message: &'a Option<String>,
            body: &'a P,
        ) -> Kind<'a, &'a P> {
            Kind::Response {
                request_seq,
                success,
                command: command.into(),
                message: message.as_deref().map(Into::into),
                body: Some(body),
            }
        }
        let seq = self.seq();
        match self {
            Self::Request { request, .. } => {
                let kind = Kind::Request {
                    command: request.name().into(),
                    arguments: Some(request),
                };
                codec::encode_envelope(bytes, &Envelope { seq, kind })
            }
            Self::Response {
                request_seq,
                message,
                response: body,
                ..
            } => {
                let kind = response(*request_seq, true, body.name(), message, body);
                codec::encode_envelope(bytes, &Envelope { seq, kind })
            }
            Self::Failure {
                request_seq,
                command,
                message,
                error,
                ..
            } => {
                let kind = response(*request_seq, false, command, message, error);
                codec::encode_envelope(bytes, &Envelope { seq, kind })
            }
            Self::Event { event, .. } => {
                let kind = Kind::Event {
                    event: event.name().into(),
                    body: Some(event),
                };
                codec::encode_envelope(bytes, &Envelope { seq, kind })
            }
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

#[cfg(test)]
mod tests;
