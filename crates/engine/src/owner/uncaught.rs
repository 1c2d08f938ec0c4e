//! Exceptions of C++ that nothing catches, met where the runtime gives up: `std::terminate`, and what that calls.
//!
//! Why there: a program's throws cost nothing, however many. Where no handler was found the unwinder has run nothing yet, and
//! the stack is as it was at the throw. Where a `noexcept` function is what ends it, the destructors up to there have run; then
//! the stack below is gone, unless there were none, and that is said.

use super::Owner;
use crate::event::ExceptionKind;
use crate::{Address, ThreadId};
use dapple_arch::Memory;
use dapple_inspect::exceptions::given_up::{self, GivenUp, Way};
use dapple_inspect::exceptions::{BreakMode, Exception};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction};

/// How many of the runtime's frames there may be between who gives up and who throws.
const MOST_FRAMES: usize = 16;
/// The longest `std::terminate` that is read, in bytes and instructions.
const TERMINATE: usize = 96;
const TERMINATE_INSTRUCTIONS: usize = 24;
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
        let GivenUp { index, way, object } = given_up::find(frames.get(1..)?, self.space())?;
        if object.is_none() && way == Way::Rethrown {
            // `throw;` where nothing is being handled.
            return None;
        }
        if self.threads.was_reported(thread, object) {
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
        let why = given_up::why(frames.get(index + 1)?, way, object, self.space());
        let verb = way.verb();
        let gone = way.gone();
        let end = format!("{verb}, {why}{gone}{note}");
        self.threads.set_reported(thread, object);
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

    /// What was thrown that a thread is about to end the program for; `None`: nothing.
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
