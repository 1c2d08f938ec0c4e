//! Changes to an index of a small program, with and without right checksums.
#![no_main]

#[path = "../../tests/properties/mod.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|input: &[u8]| properties::index::any_index_is_checked(input));
