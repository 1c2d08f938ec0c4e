//! Any location expressions, evaluated in any frame.
#![no_main]

#[path = "../../tests/properties/mod.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|input: &[u8]| properties::location::any_expression_ends(input));
