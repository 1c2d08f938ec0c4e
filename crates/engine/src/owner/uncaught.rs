//! Stops at C++ exceptions that nothing catches, where the runtime gives up: `std::terminate`, or the function that it calls.
//!
//! The site is there and not at the throw, because throws then cost nothing, however many the program makes. If no handler was found, the
//! unwinder has run nothing yet, and the stack is as it was at the throw. If a `noexcept` function ends the program, the destructors of the
//! frames inside it have run. If there were any, these frames are gone, and the description says so.

use super::Owner;
use crate::event::ExceptionKind;
use crate::{Address, ThreadId};
use dapple_arch::InstructionSet;
use dapple_arch::Memory;
use dapple_arch::code::{Decoded, Flow, Instructions};
use dapple_inspect::exceptions::given_up::{self, RuntimeEntry, Termination};
use dapple_inspect::exceptions::{BreakMode, Exception};

/// How many frames are searched for the runtime's function that gives up for an exception.
const MOST_FRAMES: usize = 16;
/// The longest `std::terminate` that is read, in bytes and instructions.
const TERMINATE: usize = 96;
const TERMINATE_INSTRUCTIONS: usize = 24;
/// The target of the last direct call or jump out of `std::terminate`, which begins at `start` and has `size` bytes (0: unknown). The
/// runtime also calls that function directly.
pub(super) fn terminate_target(
    set: InstructionSet,
    start: Address,
    size: u64,
    memory: &dyn Memory,
) -> Option<Address> {
    let mut code = [0; TERMINATE];
    let length = match memory.read(start, &mut code) {
        Ok(()) => code.len(),
        Err(end) => end.0.wrapping_sub(start.0).min(code.len() as u64) as usize,
    };
    let size = match usize::try_from(size) {
        Ok(size @ 1..) => size.min(length),
        _ => length,
    };
    let instructions = Instructions::flows(set, &code[..size], start);
    let goes = |instruction: Decoded| match instruction.flow {
        Flow::Call(target) | Flow::Jump(target) => target,
        _ => None,
    };
    let target = instructions
        .take(TERMINATE_INSTRUCTIONS)
        .filter_map(goes)
        .last()?;
    let inside = (start.0..start.0 + size as u64).contains(&target.0);
    (target.0 != 0 && !inside).then_some(target)
}

impl Owner {
    /// A thread is about to end the program: returns the exception that is the reason. `None`: there is none, no filter wants it, or a stop
    /// has reported it already.
    pub(super) fn gives_up(&mut self, thread: ThreadId) -> Option<(ExceptionKind, Exception)> {
        let frames = self.physical_frames(thread, MOST_FRAMES);
        let Termination { index, way, object } = given_up::find(frames.get(1..)?, self.space())?;
        if object.is_none() && way == RuntimeEntry::Rethrown {
            // `throw;` outside of a handler.
            return None;
        }
        if self.was_reported(thread, object) {
            return None;
        }
        let filter = self.exceptions.filters.cpp_uncaught.clone()?;
        let mut note = String::new();
        let means = match object {
            Some(object) => self.means(Some(&filter), object),
            None => filter.selects(|_| false),
        };
        if !means || !self.holds(thread, Some(&filter), &mut note) {
            return None;
        }
        let why = given_up::why(frames.get(index + 1)?, way, object, self.space());
        let verb = way.verb();
        let gone = way.gone();
        let end = format!("{verb}, {why}{gone}{note}");
        self.set_reported(thread, object);
        let stack = self.registers(thread)?.sp();
        let exception = match object {
            Some(object) => self
                .space()
                .exception(object, stack, BreakMode::Unhandled, &end),
            None => Exception {
                id: "an exception".to_owned(),
                description: format!("an exception ({end})"),
                mode: BreakMode::Unhandled,
                ..Exception::default()
            },
        };
        Some((ExceptionKind::Uncaught, exception))
    }

    /// Describes the exception for which a thread is about to end the program. `None`: there is none.
    pub(super) fn given_up_for(&mut self, thread: ThreadId) -> Option<String> {
        let frames = self.physical_frames(thread, MOST_FRAMES);
        let found = given_up::find(frames.get(1..)?, self.space())?;
        let Some(object) = found.object else {
            return Some("an exception".to_owned());
        };
        let stack = self.registers(thread)?.sp();
        Some(self.space().one_exception(object, stack).description)
    }
}
