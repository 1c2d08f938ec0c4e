//! Decoding of messages as Dapple does it, but with serde_json's reader alone: what Dapple's own reader has to be worth.

use std::borrow::Cow;

use anyhow::{Context as _, Result, bail};
use dapple_dap::types::{AnyEvent, AnyRequest, AnyResponse, ErrorResponse};
use serde::Deserialize;
use serde_json::Deserializer;
use serde_json::value::RawValue;

use crate::ours::Payload;

#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    command: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    event: Option<Cow<'a, str>>,
    #[serde(default)]
    success: Option<bool>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    body: Option<&'a RawValue>,
}

/// Decodes the envelope, then the payload, if there is one.
pub fn decode(text: &str) -> Result<Option<Payload>> {
    let wire: Wire<'_> = serde_json::from_str(text)?;
    let (Some(name), Some(payload)) = (wire.command.or(wire.event), wire.arguments.or(wire.body))
    else {
        return Ok(None);
    };
    let mut payload = Deserializer::from_str(payload.get());
    let payload = match (&*wire.kind, wire.success) {
        ("request", _) => Payload::Request(AnyRequest::read(&name, &mut payload)?),
        ("event", _) => Payload::Event(AnyEvent::read(&name, &mut payload)?),
        (_, Some(true)) => Payload::Response(AnyResponse::read(&name, &mut payload)?),
        (_, Some(false)) => Payload::Failure(ErrorResponse::deserialize(&mut payload)?),
        _ => bail!("a response without `success`"),
    };
    Ok(Some(payload))
}

/// Sends a message through bytes: encodes it, cuts it out of the stream, and has it decoded.
pub fn through<T>(
    stream: &mut dapple_dap::codec::Decoder,
    message: &dapple_dap::AnyMessage,
    decode: impl FnOnce(&str) -> Result<T>,
) -> Result<T> {
    let mut bytes = Vec::with_capacity(256);
    message.encode_into(&mut bytes)?;
    stream.push(&bytes);
    decode(&stream.next()?.context("a whole message was pushed")?)
}
