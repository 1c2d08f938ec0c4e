//! This library, used as by its own server and client: the envelope first, then the payload by its name.

use anyhow::{Result, bail};
use dapple_dap::codec::encode_envelope;
use dapple_dap::envelope::{Envelope, Kind};
use dapple_dap::message;
use dapple_dap::types::{AnyEvent, AnyRequest, AnyResponse, ErrorResponse};

/// A decoded message.
pub enum Typed<'a> {
    /// A request.
    Request(i64, AnyRequest),
    /// A response of one that succeeded.
    Response(Envelope<'a>, AnyResponse),
    /// A response of one that failed.
    Failure(Envelope<'a>, ErrorResponse),
    /// An event.
    Event(i64, AnyEvent),
}

/// Decodes the envelope and the payload.
pub fn decode(text: &str) -> Result<Typed<'_>> {
    let envelope = Envelope::parse(text)?;
    let seq = envelope.seq;
    Ok(match &envelope.kind {
        Kind::Request { command, arguments } => {
            Typed::Request(seq, AnyRequest::decode(command, *arguments)?)
        }
        Kind::Response {
            success: true,
            command,
            body,
            ..
        } => {
            let body = AnyResponse::decode(command, *body)?;
            Typed::Response(envelope, body)
        }
        Kind::Response { body, .. } => {
            let body = message::decode_or_default(*body)?;
            Typed::Failure(envelope, body)
        }
        Kind::Event { event, body } => Typed::Event(seq, AnyEvent::decode(event, *body)?),
        _ => bail!("a kind of message that is not known here"),
    })
}

impl Typed<'_> {
    /// Writes the whole message with its header.
    pub fn encode(&self, bytes: &mut Vec<u8>) -> serde_json::Result<()> {
        match self {
            Self::Request(seq, payload) => {
                let kind = Kind::Request {
                    command: payload.name().into(),
                    arguments: Some(payload),
                };
                encode_envelope(bytes, &Envelope { seq: *seq, kind })
            }
            Self::Response(envelope, payload) => response(bytes, envelope, payload),
            Self::Failure(envelope, payload) => response(bytes, envelope, payload),
            Self::Event(seq, payload) => {
                let kind = Kind::Event {
                    event: payload.name().into(),
                    body: Some(payload),
                };
                encode_envelope(bytes, &Envelope { seq: *seq, kind })
            }
        }
    }
}

fn response<P: serde::Serialize>(
    bytes: &mut Vec<u8>,
    received: &Envelope<'_>,
    payload: &P,
) -> serde_json::Result<()> {
    let Kind::Response {
        request_seq,
        success,
        command,
        message,
        ..
    } = &received.kind
    else {
        return Ok(());
    };
    let kind = Kind::Response {
        request_seq: *request_seq,
        success: *success,
        command: (&**command).into(),
        message: message.as_deref().map(Into::into),
        body: Some(payload),
    };
    encode_envelope(
        bytes,
        &Envelope {
            seq: received.seq,
            kind,
        },
    )
}
