//! What is decoded and encoded again is the same when it is decoded once more.

use dapple_dap::envelope::{Envelope, EnvelopeError, Kind};
use dapple_dap::message::{Raw, decode_or_default};
use dapple_dap::types::{AnyEvent, AnyRequest, AnyResponse, ErrorResponse};
use serde_json::value::RawValue;

/// Takes the text of one message through its envelope and its type.
pub fn decoding_is_stable(text: &str) {
    let envelope = match Envelope::parse(text) {
        Ok(envelope) => envelope,
        Err(error) => return readable(&error.to_string(), &error),
    };
    match &envelope.kind {
        Kind::Request { command, arguments } => stable(
            *arguments,
            |raw| AnyRequest::decode(command, raw),
            AnyRequest::encode,
        ),
        Kind::Response {
            success: true,
            command,
            body,
            ..
        } => stable(
            *body,
            |raw| AnyResponse::decode(command, raw),
            AnyResponse::encode,
        ),
        Kind::Response { body, .. } => {
            stable(
                *body,
                decode_or_default::<ErrorResponse>,
                dapple_dap::message::encode,
            );
        }
        Kind::Event { event, body } => {
            stable(*body, |raw| AnyEvent::decode(event, raw), AnyEvent::encode);
        }
        _ => unreachable!("there are three kinds"),
    }
}

fn stable<T: PartialEq + std::fmt::Debug>(
    raw: Option<&RawValue>,
    decode: impl Fn(Option<&RawValue>) -> Result<T, dapple_dap::message::DecodeError>,
    encode: impl Fn(&T) -> Result<Option<Raw>, serde_json::Error>,
) {
    let first = match decode(raw) {
        Ok(first) => first,
        Err(error) => {
            assert!(!error.message.is_empty(), "it says what was expected");
            return;
        }
    };
    let encoded = encode(&first).expect("what was decoded can be encoded");
    let encoded = encoded.as_ref().map(Raw::as_raw_value);
    let second = decode(encoded)
        .unwrap_or_else(|error| panic!("{encoded:?} was written and cannot be read: {error}"));
    assert_eq!(first, second);
    let again = encode(&second).expect("what was decoded can be encoded");
    let texts = [encoded, again.as_ref().map(Raw::as_raw_value)].map(|raw| raw.map(RawValue::get));
    assert_eq!(texts[0], texts[1]);
}

/// An error message says something, and not all of what came.
fn readable(message: &str, error: &EnvelopeError) {
    assert!(!message.is_empty() && message.len() < 500, "{error:?}");
}
