//! Exceptions of C++ that nothing catches, met where the runtime gives up: `std::terminate`, and what that calls.
//!
//! Why there: a program's throws cost nothing, however many. Where no handler was found the unwinder has run nothing yet, and
//! the stack is as it was at the throw. Where a `noexcept` function is what ends it, the destructors up to there have run; then
//! the stack below is gone, unless there were none, and that is said.

use super::Owner;
use crate::event::ExceptionKind;
use crate::exceptions::cpp::Object;
use crate::exceptions::handlers::{self, Fate};
use crate::exceptions::{BreakMode, Exception};
use crate::frame::PhysicalFrame;
use crate::memory::Memory;
use crate::{Address, ThreadId, unwind};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction};

/// How many of the runtime's frames there may be between who gives up and who throws.
const MOST_FRAMES: usize = 16;
/// The longest `std::terminate` that is read, in bytes and instructions.
const TERMINATE: usize = 96;
const TERMINATE_INSTRUCTIONS: usize = 24;
/// The registers that functions keep for their callers, by their DWARF numbers: rbx, rbp, r12 to r15.
const KEPT: [u16; 6] = [3, 6, 12, 13, 14, 15];
/// How much of a frame is looked through for the exception, in words.
const MOST_WORDS: u64 = 32;

/// By which function of the runtime an exception is on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Thrown,
    Rethrown,
    /// Behind a destructor.
    Resumed,
    /// A landing pad of clang's that only ends the program.
    Ended,
    /// Something between.
    Through,
}

/// What a function of the runtimes has to do with an exception; the ends of mangled names.
const WAYS: [(&str, Way); 13] = [
    ("__cxa_throw", Way::Thrown),
    ("__cxa_rethrow", Way::Rethrown),
    (
        "17rethrow_exceptionNSt15__exception_ptr13exception_ptrE",
        Way::Rethrown,
    ),
    ("_Unwind_Resume", Way::Resumed),
    ("__clang_call_terminate", Way::Ended),
    ("_ZSt9terminatev", Way::Through),
    ("_ZN10__cxxabiv111__terminateEPFvvE", Way::Through),
    ("__cxa_call_terminate", Way::Through),
    ("__cxa_call_unexpected", Way::Through),
    ("__gxx_personality_v0", Way::Through),
    ("_Unwind_RaiseException", Way::Through),
    ("_Unwind_Resume_or_Rethrow", Way::Through),
    ("_Unwind_RaiseException_Phase2", Way::Through),
];

/// Where `std::terminate` goes on to, which the runtime also calls by itself: the last that it calls.
pub(super) fn behind_terminate(start: Address, size: u64, memory: &dyn Memory) -> Option<Address> {
    let mut code = [0; TERMINATE];
    let length = match memory.read(start, &mut code) {
        Ok(()) => code.len(),
        Err(end) => end.0.wrapping_sub(start.0).min(code.len() as u64) as usize,
    };
    let size = match usize::try_from(size) {
        Ok(size @ 1..) => size.min(length),
        _ => length,
    };
    let decoder = Decoder::with_ip(64, &code[..size], start.0, DecoderOptions::NONE);
    let goes = |instruction: &Instruction| {
        matches!(
            instruction.flow_control(),
            FlowControl::Call | FlowControl::UnconditionalBranch
        )
    };
    let instructions = decoder.into_iter().take(TERMINATE_INSTRUCTIONS);
    let last = instructions.filter(goes).last()?;
    let target = last.near_branch64();
    let inside = (start.0..start.0 + size as u64).contains(&target);
    (target != 0 && !inside).then_some(Address(target))
}

impl Owner {
    /// A thread is about to end the program for an exception, or for something else.
    pub(super) fn gives_up(&mut self, thread: ThreadId) -> Option<(ExceptionKind, Exception)> {
        let frames = self.physical_frames(thread, MOST_FRAMES);
        let mut found = None;
        for (index, frame) in frames.iter().enumerate().skip(1) {
            match way_of(frame) {
                Some(Way::Through) => {}
                Some(way) => {
                    found = Some((index, way));
                    break;
                }
                // The program itself gives up. The runtime's functions needn't have names.
                None if has_debug_information(frame) => break,
                None => {}
            }
        }
        let (index, way) = found?;
        let object = self.object_in(&frames[1..=index]);
        if object.is_none() && way == Way::Rethrown {
            // `throw;` where nothing is being handled.
            return None;
        }
        if self.was_told(thread, object) {
            return None;
        }
        let filter = self.exceptions.filters.cpp_uncaught.clone()?;
        let mut note = String::new();
        let means = match object {
            Some(object) => self.means(Some(&filter), object),
            None => filter.mean(|_| false),
        };
        if !means || !self.holds(thread, Some(&filter), &mut note) {
            return None;
        }
        let why = self.why_uncaught(&frames[index], way, object);
        let verb = match way {
            Way::Rethrown => "rethrown",
            _ => "thrown",
        };
        let gone = match way {
            Way::Resumed | Way::Ended => {
                "; it has left the functions above already: stop where it is thrown to see them"
            }
            _ => "",
        };
        let end = format!("{verb}, {why}{gone}{note}");
        self.note_told(thread, object);
        let stack = self.registers(thread)?.sp();
        let exception = match object {
            Some(object) => self.cpp_exception(object, stack, BreakMode::Unhandled, &end),
            None => Exception {
                id: "an exception".to_owned(),
                description: format!("an exception ({end})"),
                mode: BreakMode::Unhandled,
                ..Exception::default()
            },
        };
        Some((ExceptionKind::Uncaught, exception))
    }

    /// What was thrown that a thread is about to end the program for; `None`: nothing.
    pub(super) fn given_up_for(&mut self, thread: ThreadId) -> Option<String> {
        let frames = self.physical_frames(thread, MOST_FRAMES);
        let is_end = |frame: &&PhysicalFrame| !matches!(way_of(frame), Some(Way::Through) | None);
        let index = frames.iter().skip(1).position(|frame| is_end(&frame))? + 1;
        let Some(object) = self.object_in(&frames[1..=index]) else {
            return Some("an exception".to_owned());
        };
        let stack = self.registers(thread)?.sp();
        Some(self.one_exception(object, stack).description)
    }

    fn why_uncaught(&self, frame: &PhysicalFrame, way: Way, object: Option<Object>) -> String {
        if way == Way::Ended {
            let caller = unwind::caller(frame, &self.modules, &self.memory);
            return caller.map_or_else(
                || "a function is noexcept".to_owned(),
                |caller| handlers::not_expected(&caller),
            );
        }
        match handlers::of_cpp(frame.clone(), object, self.space()) {
            Fate::Uncaught(why) => why,
            // The unwinder knows better.
            Fate::Caught(_) => "nothing catches it".to_owned(),
        }
    }

    /// The exception that the runtime's functions are about: in a register that one of them keeps, or in the outermost's frame.
    fn object_in(&self, frames: &[PhysicalFrame]) -> Option<Object> {
        let space = self.space();
        let kept = |frame: &PhysicalFrame| {
            let mut kept = KEPT
                .iter()
                .filter_map(|number| frame.registers.get(*number));
            kept.find_map(|at| space.of_header(Address(at)))
        };
        if let Some(object) = frames.iter().rev().find_map(kept) {
            return Some(object);
        }
        let outermost = frames.last()?;
        let sp = outermost.registers.get(dapple_symbols::cfi::RSP)?;
        let words = (outermost.cfa?.0.saturating_sub(sp) / 8).min(MOST_WORDS);
        (0..words).find_map(|index| {
            let word = self.memory.read_u64(Address(sp + 8 * index)).ok()?;
            space.of_header(Address(word))
        })
    }
}

fn has_debug_information(frame: &PhysicalFrame) -> bool {
    let module = frame.module.as_ref();
    module.is_some_and(|m| m.module.function_at(m.to_file(frame.lookup)).is_some())
}

fn way_of(frame: &PhysicalFrame) -> Option<Way> {
    let symbol = frame.symbol()?;
    let name = symbol.split('@').next().unwrap_or_default();
    let is = |end: &str| name == end || (end.starts_with("17") && name.ends_with(end));
    WAYS.iter().find(|(end, _)| is(end)).map(|(_, way)| *way)
}
