//! A session with a stub that sends any bytes.
#![no_main]

#[allow(dead_code, reason = "each target tries one of them")]
#[path = "../../tests/properties.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|input: &[u8]| properties::any_session_ends(input));
