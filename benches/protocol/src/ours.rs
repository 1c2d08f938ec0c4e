//! Dapple's protocol crate, used as its server and client do: decodes the envelope first, and then the payload by its name.

use anyhow::{Result, bail};
use dapple_dap::envelope::{Envelope, Kind};
use dapple_dap::message;
use dapple_dap::types::{AnyEvent, AnyRequest, AnyResponse, ErrorResponse};

/// A payload.
#[allow(clippy::large_enum_variant, dead_code)]
pub enum Payload {
    /// The arguments of a request.
    Request(AnyRequest),
    /// The body of a successful response.
    Response(AnyResponse),
    /// The body of an error response.
    Failure(ErrorResponse),
    /// The body of an event.
    Event(AnyEvent),
}

/// Decodes the envelope, then the payload.
pub fn decode_in_two_stages(text: &str) -> Result<(Envelope<'_>, Payload)> {
    let envelope = Envelope::parse(text)?;
    let payload = match &envelope.kind {
        Kind::Request { command, arguments } => {
            Payload::Request(AnyRequest::decode(command, *arguments)?)
        }
        Kind::Response {
            success: true,
            command,
            body,
            ..
        } => Payload::Response(AnyResponse::decode(command, *body)?),
        Kind::Response { body, .. } => Payload::Failure(message::decode_or_default(*body)?),
        Kind::Event { event, body } => Payload::Event(AnyEvent::decode(event, *body)?),
        _ => bail!("a kind of message that is not known here"),
    };
    Ok((envelope, payload))
}
