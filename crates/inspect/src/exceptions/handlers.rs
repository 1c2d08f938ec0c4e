//! Predicts which handler catches an exception, before anything runs. Does what the unwinder's own search phase does (Itanium C++ ABI,
//! exception handling §1.3), with the same tables.
//!
//! This is done at the throw because the stack is still complete there. If nothing catches the exception, the unwinder gives up,
//! possibly after running destructors up to a `noexcept` function, and `std::terminate` sees only the rest of the stack.

use crate::Address;
use crate::exceptions::cpp::{Object, Space};
use crate::exceptions::rust;
use crate::frame::PhysicalFrame;
use crate::unwind;
use dapple_arch::code::{Flow, Instructions};
use dapple_symbols::lsda::{Action, CaughtType, LandingPad, Thrown};
use dapple_symbols::module::demangle;
use dapple_symbols::names::readable_name;
use dapple_symbols::sources::is_library_source;

/// What happens to an exception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// A function catches it.
    Caught {
        /// The function's name.
        function: String,
        /// The handler is in a library, not in the user's code.
        in_library: bool,
    },
    /// Nothing catches it. The text is the end of a sentence that says why.
    Uncaught(String),
}

/// The most frames searched for a handler.
const MOST_FRAMES: usize = 100_000;

/// What happens to a C++ exception that a thread throws from its frame `first`, whose callers are searched for a handler. If the exception
/// (`object`) isn't known, only a `catch (...)` counts as its handler.
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

/// What happens to a panic that a thread raises from its frame `first`. One that only the standard library catches, at the end of a thread
/// or of the program, counts as uncaught.
pub fn of_panic(first: PhysicalFrame, space: Space<'_>) -> Fate {
    /// How many callers of the catching function are looked at, to find whose function it works for.
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

/// What a frame's tables say about an exception that is thrown through it.
enum Step {
    Passes,
    NotExpected,
    Lands(LandingPad),
}

/// What the tables say about an exception that passes a call in `frame`. `None`: the unwinder can't unwind this frame.
fn look(frame: &PhysicalFrame, _: Space<'_>) -> Option<Step> {
    let module = frame.module.as_ref()?;
    let at = module.to_file(frame.lookup);
    // For the unwinder, a frame without call frame information is the end of the stack.
    module.module.unwind_rules(at).ok().flatten()?;
    // A table that can't be read is treated as absent.
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
    /// Caught by the landing pad at this address.
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

/// Whether a landing pad's first call is of the function that terminates the program, which is how clang implements `noexcept`.
fn terminates(landing: Address, space: Space<'_>) -> bool {
    const NEAR: usize = 4;
    let mut code = [0; 48];
    let length = match space.memory.read(landing, &mut code) {
        Ok(()) => code.len(),
        Err(end) => end.0.wrapping_sub(landing.0).min(code.len() as u64) as usize,
    };
    let instructions = Instructions::flows(
        space.modules.instruction_set(landing),
        &code[..length],
        landing,
    );
    let mut flows = instructions.take(NEAR).map(|instruction| instruction.flow);
    let called = flows.find_map(|flow| match flow {
        Flow::Call(target) => Some(target),
        _ => None,
    });
    called.flatten().is_some_and(|target| {
        let module = space.modules.at(target);
        let symbol = module.and_then(|m| m.module.symbol_at(m.to_file(target)));
        symbol.is_some_and(|symbol| symbol.name == "__clang_call_terminate")
    })
}

/// Says that a function is `noexcept`. If calls are inlined into it, it is unknown which of the functions is.
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

/// Whether a landing pad belongs to a library: its source does, or it has no source.
fn is_library(frame: &PhysicalFrame, landing: Address) -> bool {
    let Some(module) = &frame.module else {
        return true;
    };
    let row = module.module.row_at(module.to_file(landing));
    row.is_none_or(|row| is_library_source(&row.file))
}

/// The name of a frame's function, or its address.
fn function(frame: &PhysicalFrame) -> String {
    let Some(module) = &frame.module else {
        return frame.pc.to_string();
    };
    let at = module.to_file(frame.lookup);
    if let Some(function) = module.module.function_at(at) {
        return readable_name(&function.name);
    }
    match module.module.symbol_at(at) {
        Some(symbol) => readable_name(&demangle(&symbol.name)),
        None => frame.pc.to_string(),
    }
}
