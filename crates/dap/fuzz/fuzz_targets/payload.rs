//! Any text as a message: decoded as envelope and type, and encoded again.
#![no_main]

#[path = "../../tests/properties/payload.rs"]
mod payload;

libfuzzer_sys::fuzz_target!(|text: &str| payload::decoding_is_stable(text));
