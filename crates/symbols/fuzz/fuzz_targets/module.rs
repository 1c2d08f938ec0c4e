//! Any file, asked everything. Changes keep the file's headers and go into one of the sections that a debugger reads, so that most of
//! them get past the first checks.
#![no_main]

#[path = "../../tests/properties/mod.rs"]
mod properties;

use libfuzzer_sys::fuzzer_mutate;
use properties::elf_file::{Place, places};

libfuzzer_sys::fuzz_target!(|input: &[u8]| properties::module::any_bytes_are_answered_for(input));

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let places = places(&data[..size]);
    let seed = seed as usize;
    match places.get(seed / 16 % (places.len() + 1)) {
        Some(place) if seed % 16 != 0 => mutate_section(data, size, max_size, place),
        _ => fuzzer_mutate(data, size, max_size),
    }
});

/// A section that outgrows its place moves to the end of the file, if it isn't loaded.
fn mutate_section(data: &mut [u8], size: usize, max_size: usize, place: &Place) -> usize {
    const GROWTH: usize = 64;
    let length = place.bytes.len();
    let room = match place.loaded {
        false => (size + length + GROWTH <= max_size).then_some(GROWTH),
        true => None,
    };
    let mut section = data[place.bytes.clone()].to_vec();
    section.resize(length + room.unwrap_or(0), 0);
    let limit = section.len();
    let changed = fuzzer_mutate(&mut section, length, limit);
    let section = &section[..changed];
    let (start, end) = match changed <= length {
        true => (place.bytes.start, size),
        false => (size, size + changed),
    };
    data[start..start + changed].copy_from_slice(section);
    let numbers = [start as u64, changed as u64].map(u64::to_le_bytes).concat();
    data[place.header + 24..place.header + 40].copy_from_slice(&numbers);
    end
}
