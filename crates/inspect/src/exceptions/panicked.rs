//! Finds the Rust panic that ended a process, on the process's stack.
//!
//! `panic_with_hook` receives the payload and the location as arguments, and keeps them in registers or in its frame. Nothing describes
//! which words those are, so all are tried. A payload is recognized by its virtual table, which has to be one of `PanicPayload` by the
//! names of its functions.

use super::cpp::Space;
use super::rust;
use super::thrown::Thrown;
use super::{BreakMode, Exception};
use crate::Address;
use crate::frame::PhysicalFrame;
use std::path::Path;

/// A part of the mangled name of the function that all panics go through. Formerly it was called `rust_panic_with_hook`.
const PANICS: &str = "panic_with_hook";
/// How much of the frame of that function is searched, in words.
const MOST_WORDS: u64 = 128;
/// How many callers of that function are searched for the location, too: they belong to the start of the panic.
const CALLERS: usize = 4;

/// The largest distance from the end of that function's frame to the payload, in bytes. The payload is in a caller's frame.
const FARTHEST: u64 = 1 << 14;

/// Where a thread panics that has these frames, as `FILE:LINE:COLUMN`. `None`: it doesn't, or the location isn't found.
pub fn place(frames: &[PhysicalFrame], space: Space<'_>) -> Option<String> {
    let index = index_of_start(frames)?;
    let words = words_of(frames.get(index)?, space);
    place_at(&words, frames.get(index + 1..)?, space)
}

/// Which of the frames is that of the function that all panics go through.
fn index_of_start(frames: &[PhysicalFrame]) -> Option<usize> {
    let panics = |frame: &PhysicalFrame| frame.symbol().is_some_and(|name| name.contains(PANICS));
    frames.iter().position(panics)
}

/// The location, given the words of that function's frame, and its callers.
fn place_at(words: &[Address], callers: &[PhysicalFrame], space: Space<'_>) -> Option<String> {
    // The location's address is also in the frames of the function's callers, unlike that of an unrelated word.
    let callers = callers.iter().take(CALLERS);
    let callers = callers.flat_map(|frame| words_of(frame, space));
    let mut passed = callers.filter(|at| words.contains(at));
    passed.find_map(|at| rust::place(space.memory, at))
}

/// The panic that a program aborts for. `None`: there is none in `frames`, or neither its location nor its message is found.
pub(crate) fn at_abort(frames: &[PhysicalFrame], space: Space<'_>) -> Option<Exception> {
    let index = index_of_start(frames)?;
    let frame = frames.get(index)?;
    let words = words_of(frame, space);
    let place = place_at(&words, frames.get(index + 1..)?, space);
    let end = frame.cfa?;
    let is_near = |at: &&Address| (end.0..end.0.saturating_add(FARTHEST)).contains(&at.0);
    let tables: Vec<Address> = words
        .iter()
        .copied()
        .filter(|at| is_table(*at, space))
        .collect();
    let found = words.iter().filter(is_near).find_map(|data| {
        let mut tables = tables.iter();
        let table = tables.find(|table| rust::payload(space.memory, *data, **table).is_some())?;
        Some((*data, *table))
    });
    let message = found.and_then(|(data, table)| rust::message(space.memory, data, table));
    if place.is_none() && message.is_none() {
        return None;
    }
    Some(Exception {
        id: "panic".to_owned(),
        description: description(message.as_deref(), place.as_deref()),
        mode: BreakMode::Unhandled,
        thrown: found.map(|(data, table)| Thrown::Panic { data, table }),
        message,
        ..Exception::default()
    })
}

/// A panic's message, with its location on a second line. The location is a link (`FILE:LINE:COLUMN`) unless it is known that the file
/// doesn't exist.
pub fn description(message: Option<&str>, place: Option<&str>) -> String {
    let said = message.unwrap_or("Box<dyn Any>");
    let Some(place) = place else {
        return format!("{said}\npanicked");
    };
    let mut parts = place.rsplitn(3, ':');
    let (_column, line, file) = (parts.next(), parts.next(), parts.next());
    match (file, line) {
        (Some(file), Some(line)) if Path::new(file).is_absolute() && !Path::new(file).is_file() => {
            format!("{said}\npanicked in {file}, line {line}")
        }
        // Only the client knows the folder of a relative path.
        _ => format!("{said}\npanicked at {place}"),
    }
}

/// The words in a frame's callee-saved registers and in the frame itself.
fn words_of(frame: &PhysicalFrame, space: Space<'_>) -> Vec<Address> {
    let machine = frame.registers.machine();
    let kept = machine.callee_saved();
    let kept = kept.filter_map(|number| frame.registers.get(number));
    let mut words: Vec<Address> = kept.map(Address).collect();
    if let (Some(sp), Some(end)) = (frame.registers.sp(), frame.cfa) {
        let size = space.memory.address_size();
        let count = (end.0.saturating_sub(sp.0) / size).min(MOST_WORDS);
        let at = |index: u64| space.memory.place_behind(sp, index.cast_signed());
        let read = (0..count).filter_map(|index| space.memory.read_address(at(index)).ok());
        words.extend(read.map(Address));
    }
    words
}

/// Whether a virtual table is one of `PanicPayload`. Its fifth entry is `take_box` then: the first four are those of every table and that
/// of `Display`.
fn is_table(at: Address, space: Space<'_>) -> bool {
    const TAKES: i64 = 4;
    let slot = space.memory.place_behind(at, TAKES);
    let function = space.memory.read_address(slot);
    let Ok(function) = function.map(Address) else {
        return false;
    };
    let Some(module) = space.modules.at(function) else {
        return false;
    };
    let symbol = module.module.symbol_at(module.to_file(function));
    symbol.is_some_and(|symbol| symbol.name.contains("8take_box"))
}
