//! Any line program, in a program of one unit.
#![no_main]

#[path = "../../tests/properties/mod.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|input: &[u8]| properties::lines::any_line_program_is_answered_for(input));
