//! The decoder on any bytes, cut into any pieces.
#![no_main]

#[path = "../../tests/properties/codec.rs"]
mod codec;

libfuzzer_sys::fuzz_target!(|input: &[u8]| codec::pieces_do_not_matter(input));
