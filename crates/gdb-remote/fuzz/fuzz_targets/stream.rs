//! A stream of any bytes, in pieces.
#![no_main]

#[allow(dead_code, reason = "each target tries one of them")]
#[path = "../../tests/properties.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|input: &[u8]| properties::any_stream_is_decoded(input));
