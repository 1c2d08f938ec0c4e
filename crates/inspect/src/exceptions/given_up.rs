//! Finds the C++ exception that nothing caught, on the stack of a thread in which the runtime ends the program.
//!
//! The runtime's functions between the throw and the end keep the address of the exception's header in a callee-saved register or in
//! their frame, both in a live process and in a core dump.

use super::cpp::{Object, Space};
use super::handlers::{self, Fate};
use super::{BreakMode, Exception};
use crate::frame::PhysicalFrame;
use crate::{Address, unwind};

/// How much of a frame is searched for the exception, in words.
const MOST_WORDS: u64 = 32;

/// The runtime function that the exception passed through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuntimeEntry {
    /// `throw`.
    Thrown,
    /// `throw;` in a handler.
    Rethrown,
    /// `_Unwind_Resume`, after a destructor.
    Resumed,
    /// `__clang_call_terminate`, called by a landing pad that only terminates the program.
    Ended,
    /// An internal function of the runtime, called by one of the others.
    Through,
}

/// The runtimes' functions, by their symbols. For `rethrow_exception`, it is the end of the symbol: the namespace differs between runtimes.
const RUNTIME_ENTRIES: [(&str, RuntimeEntry); 13] = [
    ("__cxa_throw", RuntimeEntry::Thrown),
    ("__cxa_rethrow", RuntimeEntry::Rethrown),
    (
        "17rethrow_exceptionNSt15__exception_ptr13exception_ptrE",
        RuntimeEntry::Rethrown,
    ),
    ("_Unwind_Resume", RuntimeEntry::Resumed),
    ("__clang_call_terminate", RuntimeEntry::Ended),
    ("_ZSt9terminatev", RuntimeEntry::Through),
    ("_ZN10__cxxabiv111__terminateEPFvvE", RuntimeEntry::Through),
    ("__cxa_call_terminate", RuntimeEntry::Through),
    ("__cxa_call_unexpected", RuntimeEntry::Through),
    ("__gxx_personality_v0", RuntimeEntry::Through),
    ("_Unwind_RaiseException", RuntimeEntry::Through),
    ("_Unwind_Resume_or_Rethrow", RuntimeEntry::Through),
    ("_Unwind_RaiseException_Phase2", RuntimeEntry::Through),
];

impl RuntimeEntry {
    /// The verb for what happened to the exception.
    pub fn verb(self) -> &'static str {
        match self {
            RuntimeEntry::Rethrown => "rethrown",
            _ => "thrown",
        }
    }

    /// Text to append to a message if part of the stack is already unwound; else empty.
    pub fn gone(self) -> &'static str {
        match self {
            RuntimeEntry::Resumed | RuntimeEntry::Ended => {
                "; it has left the functions above already: stop where it is thrown to see them"
            }
            _ => "",
        }
    }
}

/// Why the runtime ends the program.
#[derive(Debug)]
pub struct Termination {
    /// The index of the frame of the runtime function that the program called.
    pub index: usize,
    /// That function.
    pub way: RuntimeEntry,
    /// The exception, if found.
    pub object: Option<Object>,
}

/// The call by which the runtime has ended the program for an exception. `frames` begin with the runtime's innermost frame. `None`: a
/// function of the program has ended it, or none of the frames is of a known function of the runtime.
pub fn find(frames: &[PhysicalFrame], space: Space<'_>) -> Option<Termination> {
    let mut found = None;
    for (index, frame) in frames.iter().enumerate() {
        match way_of(frame) {
            Some(RuntimeEntry::Through) => {}
            Some(way) => {
                found = Some((index, way));
                break;
            }
            // A function with debug information is the program's, which ends itself. One without may be the runtime's, even if it has no
            // symbol.
            None if has_debug_information(frame) => break,
            None => {}
        }
    }
    let (index, way) = found?;
    let object = object_in(frames.get(..=index)?, space);
    Some(Termination { index, way, object })
}

/// Describes the exception that [`find`] finds. `frames` may begin with functions that end the process, such as `abort`. `None`: no
/// exception is found.
pub(crate) fn at_abort(frames: &[PhysicalFrame], space: Space<'_>) -> Option<Exception> {
    let start = frames.iter().position(|frame| way_of(frame).is_some())?;
    let frames = frames.get(start..)?;
    let Termination { index, way, object } = find(frames, space)?;
    let object = object?;
    let stack = frames.first()?.registers.sp()?.0;
    let why = why(frames.get(index)?, way, Some(object), space);
    let end = format!("{}, {why}{}", way.verb(), way.gone());
    Some(space.exception(object, stack, BreakMode::Unhandled, &end))
}

/// Why nothing catches the exception. `way` is the runtime function that the program called, and `frame` the frame of that function.
pub fn why(
    frame: &PhysicalFrame,
    way: RuntimeEntry,
    object: Option<Object>,
    space: Space<'_>,
) -> String {
    if way == RuntimeEntry::Ended {
        let caller = unwind::caller(frame, space.modules, space.memory);
        return caller.map_or_else(
            || "a function is noexcept".to_owned(),
            |caller| handlers::not_expected(&caller),
        );
    }
    match handlers::of_cpp(frame.clone(), object, space) {
        Fate::Uncaught(why) => why,
        // The tables say that a handler catches it, but the unwinder found none. The unwinder is right.
        Fate::Caught { .. } => "nothing catches it".to_owned(),
    }
}

/// The exception that the runtime's functions handle. Its header's address is taken from a callee-saved register in any of `frames`, or
/// else from the memory of the outermost one.
fn object_in(frames: &[PhysicalFrame], space: Space<'_>) -> Option<Object> {
    let kept = |frame: &PhysicalFrame| {
        let machine = frame.registers.machine();
        let kept = machine.callee_saved();
        let mut kept = kept.filter_map(|number| frame.registers.get(number));
        kept.find_map(|at| space.of_header(Address(at)))
    };
    if let Some(object) = frames.iter().rev().find_map(kept) {
        return Some(object);
    }
    let outermost = frames.last()?;
    let sp = outermost.registers.sp()?.0;
    let size = space.memory.address_size();
    let words = (outermost.cfa?.0.saturating_sub(sp) / size).min(MOST_WORDS);
    (0..words).find_map(|index| {
        let word = space
            .memory
            .read_address(Address(sp.wrapping_add(size * index)));
        space.of_header(Address(word.ok()?))
    })
}

fn has_debug_information(frame: &PhysicalFrame) -> bool {
    let module = frame.module.as_ref();
    module.is_some_and(|m| m.module.function_at(m.to_file(frame.lookup)).is_some())
}

fn way_of(frame: &PhysicalFrame) -> Option<RuntimeEntry> {
    let symbol = frame.symbol()?;
    let name = symbol.split('@').next().unwrap_or_default();
    let is = |end: &str| name == end || (end.starts_with("17") && name.ends_with(end));
    RUNTIME_ENTRIES
        .iter()
        .find(|(end, _)| is(end))
        .map(|(_, way)| *way)
}
