//! Who takes what is thrown, found before anything runs: the search that the unwinder makes first (Itanium C++ ABI, exception
//! handling §1.3), over the same tables.
//!
//! Why at the throw: there the stack is whole, whatever takes the exception. Where nobody does, the unwinder gives up, or
//! has run destructors up to a `noexcept` function, and `std::terminate` sees only what is left.

use crate::Address;
use crate::exceptions::cpp::{Object, Space};
use crate::exceptions::rust;
use crate::frame::PhysicalFrame;
use crate::unwind;
use dapple_symbols::lsda::{Action, CaughtType, LandingPad, Thrown};
use dapple_symbols::module::demangle;
use dapple_symbols::sources::is_library_source;
use iced_x86::{Decoder, DecoderOptions, Mnemonic};

/// What becomes of an exception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// This function takes it.
    Caught {
        /// Its name.
        function: String,
        /// What takes it is a library's, not the user's.
        in_library: bool,
    },
    /// Nobody does: a sentence's end.
    Uncaught(String),
}

/// How far a handler is looked for.
const MOST_FRAMES: usize = 100_000;

/// What becomes of a C++ exception that a thread throws from its frame `first`. `object`: what is thrown, where it is known.
pub fn of_cpp(first: PhysicalFrame, object: Option<Object>, space: Space<'_>) -> Fate {
    for frame in frames(first, space).skip(1).take(MOST_FRAMES) {
        let Some(step) = look(&frame, space) else {
            break;
        };
        let taken = match step {
            Step::Passes => continue,
            Step::NotExpected => {
                return Fate::Uncaught(not_expected(&frame));
            }
            Step::Lands(pad) => taken_by(&pad, &frame, object, space),
        };
        match taken {
            Taken::Not => {}
            Taken::Caught(landing) => {
                return Fate::Caught {
                    function: function(&frame),
                    in_library: is_library(&frame, landing),
                };
            }
            Taken::Terminates => {
                return Fate::Uncaught(not_expected(&frame));
            }
        }
    }
    Fate::Uncaught("nothing catches it".to_owned())
}

/// What becomes of a panic. Where it is the standard library that catches it, at the end of a thread or the program,
/// that is nobody.
pub fn of_panic(first: PhysicalFrame, space: Space<'_>) -> Fate {
    /// How many callers may be between who catches and who asked for that.
    const NEAR: usize = 12;
    let mut frames = frames(first, space).skip(1).take(MOST_FRAMES);
    while let Some(frame) = frames.next() {
        let Some(step) = look(&frame, space) else {
            break;
        };
        let Step::Lands(pad) = step else { continue };
        let catches = |action: &Action| matches!(action, Action::Catch(CaughtType::Any));
        if !pad.actions.iter().any(catches) {
            continue;
        }
        let mut names = vec![function(&frame)];
        names.extend(frames.by_ref().take(NEAR).map(|frame| function(&frame)));
        if rust::is_caught_by_runtime(names.iter().map(String::as_str)) {
            return Fate::Uncaught("nothing of the program catches it".to_owned());
        }
        let own = rust::who_catches(names.iter().map(String::as_str));
        return Fate::Caught {
            function: own.to_owned(),
            in_library: false,
        };
    }
    Fate::Uncaught("nothing catches it".to_owned())
}

fn frames(first: PhysicalFrame, space: Space<'_>) -> impl Iterator<Item = PhysicalFrame> {
    std::iter::successors(Some(first), move |frame| {
        unwind::caller(frame, space.modules, space.memory)
    })
}

/// What a frame's tables say of what is thrown through it.
enum Step {
    Passes,
    NotExpected,
    Lands(LandingPad),
}

/// `None`: the unwinder can't get past it.
fn look(frame: &PhysicalFrame, _: Space<'_>) -> Option<Step> {
    let module = frame.module.as_ref()?;
    let at = module.to_file(frame.lookup);
    // Without call frame information the unwinder takes it for the end of the stack.
    module.module.unwind_rules(at).ok().flatten()?;
    // A table that can't be read is nobody's.
    let Ok(Some(table)) = module.module.exception_table(at) else {
        return Some(Step::Passes);
    };
    Some(match table.thrown_at(at) {
        Thrown::PassesThrough => Step::Passes,
        Thrown::NotExpected => Step::NotExpected,
        Thrown::Lands(pad) => Step::Lands(pad.clone()),
    })
}

enum Taken {
    Not,
    /// By the landing pad there.
    Caught(Address),
    Terminates,
}

fn taken_by(
    pad: &LandingPad,
    frame: &PhysicalFrame,
    object: Option<Object>,
    space: Space<'_>,
) -> Taken {
    let bias = frame.module.as_ref().map_or(0, |module| module.bias);
    let takes = |caught: &CaughtType| match object {
        Some(object) => space.is_caught_by(object, caught, bias),
        None => *caught == CaughtType::Any,
    };
    for action in pad.actions.iter() {
        match action {
            Action::Cleanup => {}
            Action::Catch(caught) if takes(caught) => {
                let landing = Address(pad.address.0.wrapping_add(bias));
                return match *caught == CaughtType::Any && terminates(landing, space) {
                    true => Taken::Terminates,
                    false => Taken::Caught(landing),
                };
            }
            Action::Filter(allowed) if !allowed.iter().any(takes) => return Taken::Terminates,
            Action::Catch(_) | Action::Filter(_) => {}
        }
    }
    Taken::Not
}

/// Whether a landing pad does nothing but end the program: clang's way to write `noexcept`.
fn terminates(landing: Address, space: Space<'_>) -> bool {
    const NEAR: usize = 4;
    let mut code = [0; 48];
    let length = match space.memory.read(landing, &mut code) {
        Ok(()) => code.len(),
        Err(end) => end.0.wrapping_sub(landing.0).min(code.len() as u64) as usize,
    };
    let mut instructions =
        Decoder::with_ip(64, &code[..length], landing.0, DecoderOptions::NONE).into_iter();
    let calls = instructions
        .by_ref()
        .take(NEAR)
        .find(|instruction| instruction.mnemonic() == Mnemonic::Call);
    calls.is_some_and(|call| {
        let target = Address(call.near_branch64());
        let module = space.modules.at(target);
        let symbol = module.and_then(|m| m.module.symbol_at(m.to_file(target)));
        symbol.is_some_and(|symbol| symbol.name == "__clang_call_terminate")
    })
}

/// That a function lets nothing through. Of the calls inlined into it nothing says which one that is.
pub(crate) fn not_expected(frame: &PhysicalFrame) -> String {
    let inlined = frame.module.as_ref().is_some_and(|module| {
        let calls = module.module.inlined_at(module.to_file(frame.lookup));
        !calls.is_empty()
    });
    let name = function(frame);
    match inlined {
        true => format!("{name}, or what is inlined there, is noexcept"),
        false => format!("{name} is noexcept"),
    }
}

/// Whether the code of a landing pad is a library's: by its source, or for want of one.
fn is_library(frame: &PhysicalFrame, landing: Address) -> bool {
    let Some(module) = &frame.module else {
        return true;
    };
    let row = module.module.row_at(module.to_file(landing));
    row.is_none_or(|row| is_library_source(&row.file))
}

/// The name of the function of a frame.
fn function(frame: &PhysicalFrame) -> String {
    let Some(module) = &frame.module else {
        return frame.pc.to_string();
    };
    let at = module.to_file(frame.lookup);
    if let Some(function) = module.module.function_at(at) {
        return function.name.clone();
    }
    match module.module.symbol_at(at) {
        Some(symbol) => demangle(&symbol.name),
        None => frame.pc.to_string(),
    }
}
