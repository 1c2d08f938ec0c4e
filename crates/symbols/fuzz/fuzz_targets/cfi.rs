//! Any call frame information, in a program of nothing else.
#![no_main]

#[path = "../../tests/properties/mod.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|input: &[u8]| properties::cfi::any_frame_section_is_answered_for(input));
