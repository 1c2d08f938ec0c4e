//! Any text as a message, through its envelope and its type and back.
#![no_main]

#[path = "../../tests/properties/payload.rs"]
mod payload;

libfuzzer_sys::fuzz_target!(|text: &str| payload::decoding_is_stable(text));
