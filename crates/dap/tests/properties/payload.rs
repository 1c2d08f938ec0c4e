//! A payload that is decoded, encoded and decoded again is the same, whether it is decoded as the payload of a message or as a type, and
//! what is wrong with it is repaired soundly.

use dapple_dap::AnyMessage;
use dapple_dap::envelope::{Envelope, EnvelopeError, Kind};
use dapple_dap::message::{Raw, decode_leniently, decode_or_default};
use dapple_dap::types::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// Decodes and encodes the text of one message by its envelope and its type.
pub fn decoding_is_stable(text: &str) {
    let whole = AnyMessage::decode(text);
    let envelope = match Envelope::parse(text) {
        Ok(envelope) => envelope,
        Err(error) => {
            assert!(whole.is_err(), "{whole:?}");
            return readable(&error.to_string(), &error);
        }
    };
    let payload = payload_is_stable(&envelope);
    if let Kind::Request { arguments: raw, .. }
    | Kind::Response { body: raw, .. }
    | Kind::Event { body: raw, .. } = &envelope.kind
    {
        // Whatever the message is: objects in lists in objects, closed enumerations, and fields that are kept unread.
        repairs_are_sound::<Capabilities>(*raw);
        repairs_are_sound::<StackTraceResponse>(*raw);
        repairs_are_sound::<ModuleEventBody>(*raw);
        repairs_are_sound::<ExceptionInfoResponse>(*raw);
        repairs_are_sound::<LaunchRequestArguments>(*raw);
        repairs_are_sound::<SetBreakpointsArguments>(*raw);
    }
    match &whole {
        Ok(whole) => {
            assert_eq!(whole.seq(), envelope.seq);
            assert_eq!(whole.name(), envelope.name());
            let found = payload.unwrap_or_else(|| panic!("no payload of {whole:?}"));
            let shown = match whole {
                AnyMessage::Request { request, .. } => format!("{request:?}"),
                AnyMessage::Response { response, .. } => format!("{response:?}"),
                AnyMessage::Failure { error, .. } => format!("{error:?}"),
                AnyMessage::Event { event, .. } => format!("{event:?}"),
                _ => unreachable!("there are three kinds"),
            };
            assert_eq!(shown, found);
            let mut bytes = Vec::new();
            whole.encode_into(&mut bytes).expect("it can be written");
            let text = String::from_utf8(bytes).expect("JSON is UTF-8");
            let (_, text) = text.split_once("\r\n\r\n").expect("it has a header");
            assert_eq!(AnyMessage::decode(text).as_ref(), Ok(whole));
        }
        Err(_) => assert_eq!(payload, None),
    }
}

/// The payload's debug output, if it can be decoded.
fn payload_is_stable(envelope: &Envelope<'_>) -> Option<String> {
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
        Kind::Response { body, .. } => stable(
            *body,
            decode_or_default::<ErrorResponse>,
            dapple_dap::message::encode,
        ),
        Kind::Event { event, body } => {
            stable(*body, |raw| AnyEvent::decode(event, raw), AnyEvent::encode)
        }
        _ => unreachable!("there are three kinds"),
    }
}

fn stable<T: PartialEq + std::fmt::Debug + Serialize>(
    raw: Option<&RawValue>,
    decode: impl Fn(Option<&RawValue>) -> Result<T, dapple_dap::message::DecodeError>,
    encode: impl Fn(&T) -> Result<Option<Raw>, serde_json::Error>,
) -> Option<String> {
    let first = match decode(raw) {
        Ok(first) => first,
        Err(error) => {
            assert!(!error.message.is_empty(), "it says what was expected");
            return None;
        }
    };
    let encoded = encode(&first).expect("what was decoded can be encoded");
    let encoded = encoded.as_ref().map(Raw::as_raw_value);
    let by_serde_json = serde_json::to_string(&first).expect("what was decoded can be encoded");
    assert_eq!(encoded.map_or("null", RawValue::get), by_serde_json);
    let second = decode(encoded)
        .unwrap_or_else(|error| panic!("{encoded:?} was written and cannot be read: {error}"));
    assert_eq!(first, second);
    let again = encode(&second).expect("what was decoded can be encoded");
    let texts = [encoded, again.as_ref().map(Raw::as_raw_value)].map(|raw| raw.map(RawValue::get));
    assert_eq!(texts[0], texts[1]);
    Some(format!("{first:?}"))
}

/// What can be read strictly needs no repair. What was repaired is of the right shape, unless a value was kept that cannot be sent.
fn repairs_are_sound<T: PartialEq + std::fmt::Debug + Serialize + DeserializeOwned>(
    raw: Option<&RawValue>,
) {
    let strict = decode_or_default::<T>(raw);
    let (value, repairs) = match (&strict, decode_leniently::<T>(raw)) {
        (Ok(strict), Ok((value, repairs))) => {
            assert_eq!((&value, repairs), (strict, vec![]));
            return;
        }
        (Err(strict), Err(error)) => return assert_eq!(strict, &error),
        (Ok(_), Err(error)) => panic!("only the lenient reader refuses it: {error}"),
        (Err(_), Ok(read)) => read,
    };
    assert!(!repairs.is_empty(), "it was not read as it is: {raw:?}");
    for repair in &repairs {
        let text = repair.to_string();
        assert!(!text.is_empty() && text.len() < 1000, "{text}");
    }
    if let Ok(encoded) = Raw::new(&value) {
        let again = decode_or_default::<T>(Some(encoded.as_raw_value()));
        assert_eq!(again.as_ref(), Ok(&value), "{encoded:?}");
    }
}

/// Asserts that an error message is neither empty nor as long as the input.
fn readable(message: &str, error: &EnvelopeError) {
    assert!(!message.is_empty() && message.len() < 500, "{error:?}");
}
